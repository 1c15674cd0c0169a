"""Conversion of any readable content, decoded text or a body of any type, to Markdown and to a reader's result."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from groundwire.reading.block_pages.classify import SHELL, SoftBlock, ends_early, soft_block
from groundwire.reading.block_pages.empty_shell import FEW, is_shell, word_count
from groundwire.reading.documents.document import FILES, read_file
from groundwire.reading.documents.office_package import GZIP, gunzipped
from groundwire.reading.documents.simple_formats import read_notebook
from groundwire.reading.documents.tabular import read_delimited
from groundwire.reading.encoding.content_type import media_type
from groundwire.reading.encoding.decode import decode
from groundwire.reading.encoding.file_types import KindName, language_of
from groundwire.reading.extract import Extracted, extract, one_line
from groundwire.reading.extracted import Unreadable, UnreadableDocument
from groundwire.reading.hydration import hydrate
from groundwire.reading.markdown.escaping import fence
from groundwire.reading.text.sanitize import (
    RESERVED,
    clean,
    clean_text,
    hygiene_warnings,
    strip_controls,
    strip_invisible,
)
from groundwire.safety.secret_scanner import break_reserved

if TYPE_CHECKING:
    from groundwire.reading.main_content.classifier import Model

_MAX_PRETTY: Final = 200_000  # characters of JSON that are reformatted; longer text would only grow
_MAX_PLAIN: Final = 10_000_000  # characters of a text
_MAX_WIDE: Final = 4_000_000  # the same with any that makes each take four bytes of memory
_WIDE: Final = re.compile("[\U00010000-\U0010ffff]")
_MARGIN: Final = 5_000  # characters at both ends of JSON, one of which identifies a notebook
_SECONDS: Final = 15.0  # for a file of many pages, without a deadline
_ODD_CHARACTER: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_NOT_FREE: Final = "the site says that this page is not free, so this may be only its beginning"
_MUCH_MORE: Final = 3  # times the words that a page shows; of 7,819 pages, teasers are below 3, lost texts above 8
_FIRST_HEADING = re.compile(r"^ {0,3}#[ \t]+(\S[^\n]{0,500}?)[ \t]*#*[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """The converted body, with warnings."""

    extracted: Extracted
    """The content and the metadata."""
    warnings: tuple[str, ...] = ()
    """Warnings about the bytes and the page."""
    block: SoftBlock | None = None
    """The block page, if it is one."""
    incomplete: bool = False
    """Whether scripts load parts of the page that are missing."""
    unreadable: Unreadable | None = None
    """Why a document has no text, if it has none."""


def convert(
    body: bytes,
    content_type: str,
    url: str,
    *,
    headers: Mapping[str, str],
    seconds: float = _SECONDS,
    model: Model | None = None,
    parts: Mapping[str, bool] | None = None,
) -> Converted:
    """Convert a body to Markdown, detecting its type and encoding.

    Args:
        body: The bytes, without content coding.
        content_type: The `Content-Type` header as received, possibly invalid.
        url: The URL of the response.
        headers: The other headers; some identify a bot check.
        seconds: The time limit for a file of many pages; the pages converted by then are returned.
        model: The classifier of the main content; by default the built-in one.
        parts: Those that are kept or left out on every kind of page; see `groundwire.reading.main_content.page_parts`.
    """
    media = media_type(content_type, body[:4_096], url)
    kind, remarks = media.kind, (media.remark,) if media.remark else ()
    if kind == "archive" and body.startswith(GZIP):
        try:
            body, url = gunzipped(body), url.removesuffix(".gz")
        except UnreadableDocument as error:
            return Converted(extracted=Extracted(), warnings=remarks, unreadable=error.reason)
        media = media_type("", body[:4_096], url)
        if media.kind == "binary" or body.startswith(GZIP):
            why = f"The response is a gzip archive of {media.description}, which cannot be read as text."
            return Converted(extracted=Extracted(), warnings=remarks, unreadable=Unreadable("broken", why))
        return convert(body, "", url, headers=headers, seconds=seconds, model=model, parts=parts)
    if kind in FILES:
        try:
            return Converted(extracted=cleaned(read_file(kind, body, url, _text_of, seconds=seconds)), warnings=remarks)
        except UnreadableDocument as error:
            return Converted(extracted=Extracted(), warnings=remarks, unreadable=error.reason)
    if kind == "binary":
        why = f"The response is {media.description}, which cannot be read as text."
        return Converted(extracted=Extracted(), warnings=remarks, unreadable=Unreadable("broken", why))
    decoded = decode(body, content_type)
    if kind == "html":
        extracted = extract(decoded.text, url, model, parts=parts)
    else:
        extracted = to_markdown(kind, decoded.text, url, language=language_of(_type(content_type), url))
    warnings = remarks + decoded.warnings + _remark_on(extracted.content)
    if kind != "html":
        return Converted(extracted=extracted, warnings=warnings)
    title, content = extracted.title, extracted.content
    block = soft_block(headers, url, decoded.text, title=title, content=content)
    if block is None and is_shell(decoded.text, content):
        block = SHELL
    is_waiting = block is not None and block.kind == "script shell"
    is_cut = ends_early(decoded.text, content)
    words = word_count(content, FEW)
    # What is said of a product is no substitute for its price.
    is_lacking = block is None and not is_cut and words <= FEW and (not content or extracted.kind != "product")
    if is_waiting or is_lacking:
        hydrated = hydrate(decoded.text, url, extracted, stated=is_lacking)
        if hydrated is not None and (is_waiting or word_count(hydrated.content) > _MUCH_MORE * words):
            return Converted(extracted=hydrated, warnings=warnings, incomplete=is_lacking)
    later = extracted.later if block is None else ()
    if is_cut:
        warnings += (_NOT_FREE,)
    warnings += later
    return Converted(extracted=extracted, warnings=warnings, block=block, incomplete=bool(later))


def _text_of(body: bytes, address: str, seconds: float) -> str:
    """Return the text of a file in an archive."""
    converted = convert(body, "", address, headers={}, seconds=seconds)
    return converted.extracted.content if converted.block is None else ""


def _remark_on(content: str) -> tuple[str, ...]:
    """Return a warning about a text of signs only; an empty one is an error elsewhere."""
    return () if not content or any(map(str.isalnum, content)) else ("the content has no letters and no digits",)


def convert_in_worker(request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Convert a body sent by another process; `groundwire.reading.workers.pool` restores the `Converted`."""
    options = {name: request[name] for name in ("headers", "seconds", "parts")}
    converted = convert(body, request["content_type"], request["url"], **options)
    fields = asdict(converted)
    content: str = fields["extracted"].pop("content")
    return fields, content.encode("utf-8", "replace")


def to_markdown(kind: KindName, text: str, url: str, *, language: str = "") -> Extracted:
    """Convert a text that is no HTML to Markdown.

    Args:
        kind: The kind of text; see `media_type`.
        text: The decoded text.
        url: Its URL, for relative links.
        language: The language of a code block for source code.
    """
    most = _MAX_WIDE if len(text) > _MAX_WIDE and _WIDE.search(text) is not None else _MAX_PLAIN
    cut, text = len(text) > most, text[:most]
    if (listed := _structured(kind, text, url)) is not None:
        return cleaned(replace(listed, cut=cut or listed.cut))
    if kind == "markdown":
        content, counts = clean_text(clean(text))
        heading = _FIRST_HEADING.search(content, 0, 20_000)
        title = heading[1] if heading else ""
        return Extracted(title=title, content=content, cut=cut, warnings=hygiene_warnings(counts))
    if kind in {"json", "notebook"}:
        text = json_to_markdown(text)
    elif kind in {"source", "xml"}:
        text = clean(text)
        text = fence(text, language if kind == "source" else "xml") if text else ""
    else:
        text = strip_controls(text).rstrip()
    text, counts = strip_invisible(text)
    text, counts[RESERVED] = break_reserved(text)
    return Extracted(content=text, cut=cut, warnings=hygiene_warnings(counts))


def _structured(kind: KindName, text: str, url: str) -> Extracted | None:
    """Convert a structured text to Markdown; None if it is not one."""
    if kind == "delimited":
        return read_delimited(text)
    if kind == "notebook" or (kind in {"json", "text"} and '"nbformat"' in text[:_MARGIN] + text[-_MARGIN:]):
        return read_notebook(text)
    if kind == "subtitles":
        from groundwire.reading.documents.simple_formats import read_subtitles

        return read_subtitles(text)
    if kind != "xml":
        return None
    from groundwire.reading.documents.feeds import read_feed

    return read_feed(text, url)


def cleaned(extracted: Extracted) -> Extracted:
    """Remove everything that is invisible to a reader but would influence a model."""
    content, counts = clean_text(clean(unicodedata.normalize("NFC", extracted.content)))
    return replace(
        extracted,
        title=one_line(extracted.title),
        author=one_line(extracted.author) or None,
        content=content,
        warnings=extracted.warnings + hygiene_warnings(counts),
    )


def _type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()[:200]


def json_to_markdown(text: str) -> str:
    """Return JSON in a code block, reformatted if it is valid and not huge."""
    text = text.strip()
    if not text:
        return ""
    try:
        laid_out = json.dumps(json.loads(text), indent=2, ensure_ascii=False) if len(text) <= _MAX_PRETTY else ""
    except (ValueError, RecursionError):
        laid_out = ""
    if laid_out and len(laid_out) <= 4 * _MAX_PRETTY:
        text = _ODD_CHARACTER.sub(lambda match: f"\\u{ord(match[0]):04x}", laid_out)
    else:
        text = strip_controls(text)
    return fence(text, "json")
