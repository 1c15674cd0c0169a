"""Conversion of any document other than a web page to Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from groundwire.reading.encoding.file_types import DESCRIPTIONS, KindName
from groundwire.reading.extracted import Extracted, UnreadableDocument

if TYPE_CHECKING:
    from groundwire.reading.documents.archives import TextOf

FILES: Final[frozenset[KindName]] = frozenset(
    {"pdf", "word", "slides", "sheet", "opendocument", "epub", "mail", "rtf", "archive"}
)
"""The binary file formats; they are converted in a separate process, whatever their size."""

_PARTS: Final[Mapping[KindName, bytes]] = {
    "word": b"word/document",
    "slides": b"ppt/presentation.xml",
    "sheet": b"xl/workbook.",
    "epub": b"META-INF/container.xml",
}
_EMPTY: Final = "The response is {name} without any text{why}."


def read_file(kind: KindName, body: bytes, url: str, text_of: TextOf, *, seconds: float) -> Extracted:
    """Convert a file to Markdown.

    Args:
        kind: One of `FILES`.
        body: The whole file.
        url: Its URL.
        text_of: Reads a file of an archive.
        seconds: The time limit for a file of many pages; the pages converted by then are returned.

    Raises:
        UnreadableDocument: it has no text; the message says why and what to do.
    """
    kind = _inside(kind, body)
    extracted = _read(kind, body, url, text_of, seconds)
    if not extracted.content.strip():
        why = f" ({'; '.join(extracted.warnings)})" if extracted.warnings else ""
        raise UnreadableDocument("empty", _EMPTY.format(name=DESCRIPTIONS[kind], why=why))
    return extracted


def _inside(kind: KindName, body: bytes) -> KindName:
    """Identify an archive by the names of its entries, when its first bytes and its type are ambiguous."""
    if not body.startswith(b"PK") or _PARTS.get(kind, b"PK") in body:
        return kind
    return next((other for other, part in _PARTS.items() if part in body), kind)


def _read(kind: KindName, body: bytes, url: str, text_of: TextOf, seconds: float) -> Extracted:
    """Convert a file with the module for its format, which is loaded lazily."""
    if kind == "pdf":
        from groundwire.reading.documents.pdf.convert import read_pdf

        return read_pdf(body, seconds=seconds)
    if kind == "word":
        from groundwire.reading.documents.word import read_word

        return read_word(body)
    if kind == "slides":
        from groundwire.reading.documents.slides import read_slides

        return read_slides(body)
    if kind == "sheet":
        from groundwire.reading.documents.tabular import read_sheets

        return read_sheets(body)
    if kind == "opendocument":
        from groundwire.reading.documents.opendocument import read_opendocument

        return read_opendocument(body)
    if kind == "archive":
        from groundwire.reading.documents.archives import read_archive

        return read_archive(body, text_of, seconds=seconds)
    if kind in {"mail", "rtf"}:
        from groundwire.reading.documents.simple_formats import read_mail, read_rtf

        return read_rtf(body) if kind == "rtf" else read_mail(body, url)
    from groundwire.reading.documents.opendocument import read_epub

    return read_epub(body, url)
