"""Decoding of bytes to text, with detection of the encoding.

The order is the one of the HTML Standard (https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding):
byte order mark, header, `<meta>` or XML declaration, detection. It differs in one point: a label that the bytes
contradict is overridden by one that they do not contradict, because servers often announce an encoding that their pages
do not use.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from groundwire.reading.encoding.detect import (
    MULTI_BYTE,
    WESTERN,
    decoded_text,
    detect,
    is_iso_2022_jp,
    name_of,
    utf8_letters,
)

EncodingSource = Literal["bom", "header", "meta", "detected", "default"]
"""The source of the encoding."""

PRESCAN: Final = 4_096  # bytes; the standard requires 1,024, but many pages have their <meta> after scripts
_FAR_PRESCAN: Final = 65_536  # bytes for a page without another declaration; a browser restarts for a late <meta>
_FIT_SAMPLE: Final = 1_000_000  # bytes; enough to judge, and replacing errors is slow

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
)
_HEADER_CHARSET = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']+))""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*", re.IGNORECASE)
_META_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)
_XML_DECLARATION = re.compile(rb"""\A\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([^"'>]+)["']""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The decoded text, and how it was decoded."""

    text: str
    """The text, without lone surrogates or NUL; U+FFFD replaces invalid bytes."""
    encoding: str
    """The encoding's name in the WHATWG Encoding Standard, in lower case."""
    source: EncodingSource
    """The source of the encoding."""
    warnings: tuple[str, ...] = ()
    """Labels that were ignored, and undecodable bytes."""


def decode(body: bytes, content_type: str = "") -> Decoded:
    """Decode a response body.

    Args:
        body: The bytes, without any content coding.
        content_type: The `Content-Type` header as received, possibly invalid.

    Returns:
        The text. No input raises.
    """
    warnings: list[str] = []
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], name, "bom", warnings)

    claims = list(_claims(body, content_type, warnings))
    if len(claims) > 1 and _is_better(body, claims[0][0], claims[1][0]):
        warnings.append(
            f"The {claims[0][1]} says {claims[0][0]}, a common server default; the page's own declaration is used."
        )
        claims.reverse()
    for name, source in claims:
        if (text := _text_if_it_fits(body, name)) is not None:
            return _decoded(body, name, source, warnings, text)
        warnings.append(f"The {source} says {name}, but the bytes do not match.")

    if (guess := detect(body)) is not None:
        return _decoded(body, guess, "detected", warnings)
    if claims:
        name, source = claims[0]
        return _decoded(body, name, source, [f"Some bytes are not in {name}, which the {source} says."])
    return _decoded(body, "windows-1252", "default", warnings)


def _claims(body: bytes, content_type: str, warnings: list[str]) -> Iterator[tuple[str, EncodingSource]]:
    """Yield the encodings stated by the header and the page, in order of precedence."""
    labels: list[tuple[str, EncodingSource]] = []
    if match := _HEADER_CHARSET.search(content_type[:1_000]):
        labels.append((match[1] or match[2] or match[3] or "", "header"))
    labels.extend((label, "meta") for label in _labels_inside(body[:PRESCAN], content_type))
    if not labels and utf8_letters(body[:_FAR_PRESCAN])[1]:
        labels.extend((label, "meta") for label in _labels_inside(body[:_FAR_PRESCAN], content_type))
    for label, source in labels:
        name = name_of(label)
        if name is None:
            printable = "".join(char if char.isalnum() or char in "-_." else "?" for char in label[:40])
            warnings.append(f"The {source} names an unknown encoding: {printable or 'none'}.")
        elif source == "meta" and name.startswith("utf-16"):
            yield "utf-8", source  # a page with an ASCII-readable <meta> is not in UTF-16
        else:
            yield name, source


def _labels_inside(head: bytes, content_type: str) -> Iterator[str]:
    """Yield the labels in the XML declaration and the `<meta>` elements at the beginning."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind and "html" not in kind and "xml" not in kind and not kind.endswith("octet-stream"):
        return  # a text about HTML may quote a <meta>
    if match := _XML_DECLARATION.match(head):
        yield match[1].decode("latin-1")
    for tag in _META.finditer(_COMMENT.sub(b"", head)):
        if match := _META_CHARSET.search(tag[0]):
            yield match[1].decode("latin-1")
            return


def _is_better(body: bytes, first: str, second: str) -> bool:
    """Whether the second label is right and the first is only a server default."""
    return first in WESTERN and second not in WESTERN and _fits(body, second) and detect(body) not in {None, *WESTERN}


def _text_if_it_fits(body: bytes, name: str) -> str | None:
    """Return the text of bytes in a stated encoding, or None if they are not plausible in it."""
    if name == "utf-8" and b"\x1b" not in body:  # nearly all pages, which are decoded once
        with suppress(UnicodeDecodeError):
            return body.decode()
    return decoded_text(body, name) if _fits(body, name) else None


def _fits(body: bytes, name: str) -> bool:
    """Whether the bytes are plausible in a stated encoding."""
    sample = body[:_FIT_SAMPLE]
    if is_iso_2022_jp(sample):
        return name == "iso-2022-jp"
    if sample.isascii():
        return not name.startswith("utf-16") or b"\0" in sample or len(sample) < 2
    letters = utf8_letters(sample)
    if name == "utf-8":
        return letters[1] <= letters[0]
    if letters[1] == 0 and not (name.startswith("utf-16") and b"\0" in sample):
        # UTF-8 is unlikely by chance: one letter of it in a Western text, a few in others, prove it
        return letters[0] < (1 if name in WESTERN else 6)
    if name in WESTERN:
        return True
    text = decoded_text(sample, name)
    bad = text.count("\ufffd")
    strange = len(text) - len(text.encode("ascii", "ignore"))
    return bad <= max(2, strange // (50 if name in MULTI_BYTE else 20))


def _decoded(body: bytes, name: str, source: EncodingSource, warnings: list[str], text: str | None = None) -> Decoded:
    text = decoded_text(body, name) if text is None else text
    if "\ufffd" in text and not (
        name == "utf-8" and b"\xef\xbf\xbd" in body and body.count(b"\xef\xbf\xbd") == text.count("\ufffd")
    ):
        warnings = [*warnings, "Some bytes could not be read and are shown as U+FFFD."]
    text = text.replace("\0", "\ufffd") if b"\0" in body else text
    return Decoded(text=text, encoding=name, source=source, warnings=tuple(warnings))
