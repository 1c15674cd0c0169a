"""Any readable kind of content to Markdown, behind one function; and a whole body, of any kind, behind another."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from groundwire.reading.clean import clean, strip_controls
from groundwire.reading.decode import decode
from groundwire.reading.extract import Extracted, extract
from groundwire.reading.hydration import hydrate
from groundwire.reading.hygiene import clean_text, hygiene_warnings, strip_invisible
from groundwire.reading.media import KindName, media_type
from groundwire.reading.shell import is_shell
from groundwire.reading.softblock import SHELL, SoftBlock, page_remarks, soft_block
from groundwire.safety.reserved import break_reserved

__all__ = ["Converted", "convert", "json_to_markdown", "to_markdown"]

_PRETTY: Final = 200_000  # characters of JSON that are laid out anew; more would only grow
_MAX_PLAIN: Final = 10_000_000  # characters of a text
_TICKS = re.compile(r"`{3,}")
_ODD: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_FIRST_HEADING = re.compile(r"^ {0,3}#[ \t]+(\S[^\n]{0,500}?)[ \t]*#*[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """What a body says, and what is to be known about it."""

    extracted: Extracted
    """The content and the metadata."""
    warnings: tuple[str, ...] = ()
    """What was wrong with the bytes, and what the page is not."""
    block: SoftBlock | None = None
    """What stands in place of the page, when it is not the page that came."""


def convert(body: bytes, content_type: str, url: str, *, headers: Mapping[str, str]) -> Converted:
    """Return a body as Markdown: its kind, its encoding and its content are found here.

    Args:
        body: The bytes, without any content coding.
        content_type: The `Content-Type` header as it came; anything may stand in it.
        url: The address that answered.
        headers: The other headers; some announce a bot check.
    """
    kind = media_type(content_type, body[:1_024]).kind
    decoded = decode(body, content_type)
    extracted = to_markdown(kind, decoded.text, url)
    if kind != "html":
        return Converted(extracted=extracted, warnings=decoded.warnings)
    title, content = extracted.title, extracted.content
    block = soft_block(headers, url, decoded.text, title=title, content=content)
    if block is None and is_shell(decoded.text, content):
        block = SHELL
    if block is not None and block.kind == "script shell" and (found := hydrate(decoded.text, url, extracted)):
        return Converted(extracted=found, warnings=decoded.warnings)
    remarks = page_remarks(decoded.text, title=title, content=content)
    return Converted(extracted=extracted, warnings=decoded.warnings + remarks, block=block)


def to_markdown(kind: KindName, text: str, url: str) -> Extracted:
    """Return a document as Markdown, whatever kind it is of.

    Args:
        kind: What the document is; see `media_type`. A binary has no text and gives an empty result.
        text: Its decoded text.
        url: Its address, for relative links.
    """
    if kind == "html":
        return extract(text, url)
    if kind == "binary":
        return Extracted()
    cut, text = len(text) > _MAX_PLAIN, text[:_MAX_PLAIN]
    if kind == "json":
        text, counts = strip_invisible(json_to_markdown(text))
        text, counts["reserved"] = break_reserved(text)
        return Extracted(content=text, cut=cut, warnings=hygiene_warnings(counts))
    if kind == "markdown":
        content, counts = clean_text(clean(text))
        heading = _FIRST_HEADING.search(content, 0, 20_000)
        title = heading[1] if heading else ""
        return Extracted(title=title, content=content, cut=cut, warnings=hygiene_warnings(counts))
    text, counts = strip_invisible(strip_controls(text).rstrip())
    text, counts["reserved"] = break_reserved(text)
    return Extracted(content=text, cut=cut, warnings=hygiene_warnings(counts))


def json_to_markdown(text: str) -> str:
    """Return JSON in a code block, laid out when it is valid and not huge."""
    text = text.strip()
    if not text:
        return ""
    try:
        laid_out = json.dumps(json.loads(text), indent=2, ensure_ascii=False) if len(text) <= _PRETTY else ""
    except (ValueError, RecursionError):
        laid_out = ""
    if laid_out and len(laid_out) <= 4 * _PRETTY:
        text = _ODD.sub(lambda match: f"\\u{ord(match[0]):04x}", laid_out)
    else:
        text = strip_controls(text)
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}json\n{text}\n{fence}"
