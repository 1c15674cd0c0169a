"""Any document that is not a page as Markdown, behind one function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groundwire.reading.encoding.file_types import KindName
from groundwire.reading.extracted import Extracted, UnreadableDocument

__all__ = ["FILES", "read_file"]

FILES: Final[frozenset[KindName]] = frozenset({"pdf", "word", "slides", "sheet", "opendocument", "epub"})
"""The kinds that are files of bytes; they are read in a process of their own, whatever their size."""

_PARTS: Final[Mapping[KindName, bytes]] = {
    "word": b"word/document.xml",
    "slides": b"ppt/presentation.xml",
    "sheet": b"xl/workbook.",
    "epub": b"META-INF/container.xml",
}
_EMPTY: Final = "What came is {name} without any text."
_NAMES: Final[Mapping[KindName, str]] = {
    "pdf": "a PDF",
    "word": "a Word document",
    "slides": "a presentation",
    "sheet": "a spreadsheet",
    "opendocument": "an OpenDocument file",
    "epub": "an EPUB book",
}


def read_file(kind: KindName, body: bytes, url: str, *, seconds: float) -> Extracted:
    """Return a file as Markdown.

    Args:
        kind: One of `FILES`.
        body: The whole file.
        url: Its address.
        seconds: How long a file of many pages may be read; what was read until then is returned.

    Raises:
        UnreadableDocument: it gives no text; its message says why and what to do.
    """
    kind = _inside(kind, body)
    extracted = _read(kind, body, url, seconds)
    if not extracted.content.strip():
        raise UnreadableDocument("empty", _EMPTY.format(name=_NAMES[kind]))
    return extracted


def _inside(kind: KindName, body: bytes) -> KindName:
    """Return what an archive is by the names of its parts, which its beginning and its type may not tell."""
    if not body.startswith(b"PK") or _PARTS.get(kind, b"PK") in body:
        return kind
    return next((other for other, part in _PARTS.items() if part in body), kind)


def _read(kind: KindName, body: bytes, url: str, seconds: float) -> Extracted:
    """Read a file by what its kind needs, which is loaded only then."""
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
    from groundwire.reading.documents.epub import read_epub

    return read_epub(body, url)
