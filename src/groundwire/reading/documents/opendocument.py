"""Open formats in ZIP packages: OpenDocument texts and presentations (ODF 1.3), and EPUB books (EPUB 3.3)."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from lxml import etree

from groundwire.reading.documents.office_package import SafeZip, left_out, local_name, read_properties, whole_number
from groundwire.reading.documents.tabular import to_table
from groundwire.reading.encoding.decode import decode
from groundwire.reading.extract import fragment_to_markdown
from groundwire.reading.extracted import MAX_CONTENT, Extracted, UnreadableDocument
from groundwire.reading.markdown.escaping import escape_line, escape_text

__all__ = ["read_epub", "read_opendocument"]


_TEXT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_STYLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_SKIPPED: Final = frozenset(
    {"tracked-changes", "annotation", "annotation-end", "forms", "sequence-decls", "user-field-decls", "notes",
     "variable-decls", "hidden-text", "hidden-paragraph", "note-citation", "image", "object"}
)  # fmt: skip
_REMOVED: Final = (
    ("hidden", "hidden text removed"),
    ("annotation", "comments left out"),
)
_DEPTH: Final = 30
_MAX_SPACES: Final = 100
_MAX_REPEATED: Final = 60


def read_opendocument(body: bytes) -> Extracted:
    """Return an OpenDocument text or presentation as Markdown; each slide begins with a line `[slide 3]`.

    Raises:
        UnreadableDocument: it is damaged, encrypted, or over the size limit.
    """
    archive = SafeZip(body, "an OpenDocument file")
    root = archive.xml("content.xml")
    place = (
        next((element for element in root.iter() if local_name(element) == "body"), None) if root is not None else None
    )
    if root is None or place is None:
        raise archive.broken()
    hidden = {
        style.get(_STYLE + "name", "")
        for style in root.iter(_STYLE + "style")
        if any(part.get(_TEXT + "display") == "none" for part in style.iter(_STYLE + "text-properties"))
    }
    reader = _OpenDocumentReader(hidden)
    content = "\n\n".join(part for part in reader.blocks(place, 0) if part)
    said = read_properties(archive.xml("meta.xml"))
    kinds = Counter(map(local_name, place.iter()))  # an embedded object has a picture of itself
    return Extracted(
        title=said.title or reader.title,
        content=content,
        author=said.author,
        published=said.published,
        modified=said.modified,
        language=said.language,
        kind="document",
        warnings=(
            *(f"{words}: {reader.removed[name]}" for name, words in _REMOVED if reader.removed[name]),
            *left_out({"pictures": kinds["image"] - kinds["object"], "embedded objects": kinds["object"]}),
        ),
    )


class _OpenDocumentReader:
    """Converter of one document.

    Args:
        hidden: The names of the hidden styles.
    """

    def __init__(self, hidden: set[str]) -> None:
        self._hidden = hidden
        self._slides = 0
        self.removed: Counter[str] = Counter()
        self.title = ""

    def blocks(self, place: etree._Element, depth: int) -> Iterator[str]:
        """Yield the blocks below an element."""
        if depth > _DEPTH:
            return
        for element in place:
            name = local_name(element)
            if name == "p":
                yield "\n".join(escape_line(line) for line in self._inline(element).strip().split("\n"))
            elif name == "h":
                yield self._heading(element)
            elif name == "list":
                yield "\n".join(self._items(element, 0))
            elif name == "table":
                yield self._table(element, depth)
            elif name == "page":
                self._slides += 1
                yield f"[slide {self._slides}]"
                yield from self.blocks(element, depth + 1)
            elif name == "annotation":
                self.removed[name] += bool("".join(element.itertext()).strip())
            elif name == "notes":
                if said := "\n\n".join(part for part in self.blocks(element, depth + 1) if part):
                    yield f"Notes: {said}"
            elif name and name not in _SKIPPED:
                yield from self.blocks(element, depth + 1)

    def _heading(self, element: etree._Element) -> str:
        text = " ".join(self._inline(element).split())
        level = element.get(_TEXT + "outline-level", "1")
        if text and not self.title:
            self.title = text.replace("\\", "")
        return f"{'#' * min(whole_number(level, 1) or 1, 6)} {text}" if text else ""

    def _items(self, place: etree._Element, depth: int) -> Iterator[str]:
        for item in place:
            if local_name(item) not in {"list-item", "list-header"}:
                continue
            for element in item:
                if local_name(element) == "list" and depth < _DEPTH:
                    yield from self._items(element, depth + 1)
                elif local_name(element) in {"p", "h"} and (text := " ".join(self._inline(element).split())):
                    yield f"{'  ' * depth}- {text}"

    def _table(self, table: etree._Element, depth: int) -> str:
        rows = []
        for row in table.iter(_TABLE + "table-row"):
            if next(row.iterancestors(_TABLE + "table"), None) is not table:
                continue
            cells: list[str] = []
            for cell in row:
                if local_name(cell) in {"table-cell", "covered-table-cell"}:
                    text = " ".join(part.replace("\n", " ") for part in self.blocks(cell, depth + 1) if part)
                    times = cell.get(_TABLE + "number-columns-repeated", "1")
                    cells += [text] * min(whole_number(times, 1), _MAX_REPEATED)
            rows.append(cells[:_MAX_REPEATED])
        return to_table(rows)

    def _inline(self, place: etree._Element, depth: int = 0) -> str:
        if place.get(_TEXT + "style-name", "") in self._hidden:
            self.removed["hidden"] += 1
            return ""
        parts = [escape_text(place.text or "")]
        for element in place:
            name = local_name(element)
            if name == "s":
                count = element.get(_TEXT + "c", "1")
                parts.append(" " * min(whole_number(count, 1), _MAX_SPACES))
            elif name == "tab":
                parts.append(" ")
            elif name == "line-break":
                parts.append("\n")
            elif name == "annotation":
                self.removed[name] += 1
            elif name and name not in _SKIPPED and depth < _DEPTH:
                inner = self._inline(element, depth + 1)
                target = element.get(_LINK, "") if name == "a" else ""
                if inner.strip() and target.startswith(("http://", "https://")):
                    target = target.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
                    inner = f"[{inner.replace('[', '').replace(']', '')}]({target})"
                parts.append(f" ({inner.strip()})" if name == "note" and inner.strip() else inner)
            parts.append(escape_text(element.tail or ""))
        return "".join(parts)


_MAX_CHAPTERS: Final = 3_000
_PAGES: Final = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_SELF_CLOSED: Final = re.compile(
    r"<(a|b|div|em|i|p|script|span|strong|style|sub|sup|td|th|title)(\s[^<>]*)?/>", re.IGNORECASE
)
"""Elements that may be self-closed in XML; an HTML parser would leave them open."""


def read_epub(body: bytes, url: str) -> Extracted:
    """Convert a book to Markdown.

    Args:
        body: The whole file.
        url: Its URL.

    Raises:
        UnreadableDocument: it is damaged, protected, or over the size limit.
    """
    archive = SafeZip(body, "an EPUB book")
    package = _package(archive)
    root = archive.xml(package)
    if root is None:
        raise archive.broken()
    removed: Counter[str] = Counter()
    parts: list[str] = []
    length = 0
    chapters = _chapters(root, posixpath.dirname(package))
    protected = _protected(archive)
    if chapters and all(chapter in protected for chapter in chapters):
        raise UnreadableDocument("protected", "The EPUB book is protected against copying and cannot be read.")
    for chapter in chapters[:_MAX_CHAPTERS]:
        if length > MAX_CONTENT:
            break
        text = decode(archive.read(chapter), "application/xhtml+xml").text
        markdown = fragment_to_markdown(_SELF_CLOSED.sub(r"<\1\2></\1>", text), url, removed, web_links_only=True)
        if markdown:
            parts.append(markdown)
            length += len(markdown)
    said = read_properties(root)
    content = "\n\n".join(parts)
    return Extracted(
        title=said.title,
        content=content[:MAX_CONTENT],
        author=said.author,
        published=said.published,
        modified=said.modified,
        language=said.language,
        cut=length > MAX_CONTENT or len(chapters) > _MAX_CHAPTERS,
        kind="document",
        warnings=(f"hidden text removed: {removed['hidden']}",) if removed["hidden"] else (),
    )


def _package(archive: SafeZip) -> str:
    root = archive.xml("META-INF/container.xml")
    for element in root.iter() if root is not None else ():
        if local_name(element) == "rootfile" and element.get("full-path"):
            return str(element.get("full-path"))
    raise archive.broken()


def _chapters(root: etree._Element, folder: str) -> list[str]:
    """Return the names of the chapters' files, in order."""
    files: dict[str, str] = {}
    for item in root.iter():
        if local_name(item) == "item" and item.get("media-type", "") in _PAGES:
            name = unquote(item.get("href", "").partition("#")[0])
            files[item.get("id", "")] = posixpath.normpath(posixpath.join(folder, name))
    return [
        files[item.get("idref", "")]
        for item in root.iter()
        if local_name(item) == "itemref" and item.get("idref", "") in files and item.get("linear") != "no"
    ]


def _protected(archive: SafeZip) -> set[str]:
    root = archive.xml("META-INF/encryption.xml")
    return {
        unquote(element.get("URI", ""))
        for element in (root.iter() if root is not None else ())
        if local_name(element) == "CipherReference"
    }
