"""Open formats in ZIP packages: OpenDocument texts and presentations (ODF 1.3), and EPUB books (EPUB 3.3)."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from lxml import etree

from groundwire.reading.documents.office_package import SafeZip, local_name, omissions, read_properties, whole_number
from groundwire.reading.documents.runs import MONOSPACED, TextRun, link_target, to_inline
from groundwire.reading.documents.tabular import to_table
from groundwire.reading.encoding.decode import decode
from groundwire.reading.extract import fragment_to_markdown
from groundwire.reading.extracted import MAX_CONTENT, Extracted, UnreadableDocument
from groundwire.reading.markdown.escaping import escape_line, escape_text
from groundwire.reading.text.sanitize import removal_warning

_TEXT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_STYLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_FONT: Final = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_SKIPPED_ELEMENTS: Final = frozenset(
    {"tracked-changes", "annotation", "annotation-end", "forms", "sequence-decls", "user-field-decls", "notes",
     "variable-decls", "hidden-text", "hidden-paragraph", "note-citation", "image", "object", "title", "desc"}
)  # fmt: skip
_PLAIN: Final = TextRun("")
_BOLD: Final = 600
_MAX_DEPTH: Final = 30
_MAX_SPACES: Final = 100
_MAX_REPEATS: Final = 60


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
        if b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise UnreadableDocument(
                "protected", "The response is an OpenDocument file that opens only with a password."
            )
        raise archive.broken()
    reader = _OpenDocumentReader(_styles(archive.xml("styles.xml")) | _styles(root))
    content = "\n\n".join(part for part in reader.blocks(place, 0) if part)
    properties = read_properties(archive.xml("meta.xml"))
    kinds = Counter(map(local_name, place.iter()))  # an embedded object has a picture of itself
    counts = {
        "comments": reader.removed["annotation"],
        "pictures": kinds["image"] - kinds["object"],
        "embedded objects": kinds["object"],
    }
    return replace(
        properties,
        title=properties.title or reader.title,
        content=content,
        warnings=removal_warning(reader.removed["hidden"]) + omissions(counts),
    )


class _OpenDocumentReader:
    """Converter of one document.

    Args:
        styles: What the styles set: any of the styles of a run, and `hidden`.
    """

    def __init__(self, styles: Mapping[str, Mapping[str, bool]]) -> None:
        self._styles = styles
        self._slides = 0
        self.removed: Counter[str] = Counter()
        self.title = ""

    def blocks(self, place: etree._Element, depth: int) -> Iterator[str]:
        """Yield the blocks below an element."""
        if depth > _MAX_DEPTH:
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
            elif name == "frame" and (text := _description(element)):
                yield f"Picture: {escape_text(text)}"
                yield from self.blocks(element, depth + 1)
            elif name == "annotation":
                self.removed[name] += bool("".join(element.itertext()).strip())
            elif name == "notes":
                if text := "\n\n".join(part for part in self.blocks(element, depth + 1) if part):
                    yield f"Notes: {text}"
            elif name and name not in _SKIPPED_ELEMENTS:
                yield from self.blocks(element, depth + 1)

    def _heading(self, element: etree._Element) -> str:
        runs = (replace(run, styles=run.styles - {"strong", "em"}) for run in self._runs(element))
        text = " ".join(to_inline(runs).split())
        level = element.get(_TEXT + "outline-level", "1")
        if text and not self.title:
            self.title = text.replace("\\", "")
        return f"{'#' * min(whole_number(level, 1) or 1, 6)} {text}" if text else ""

    def _items(self, place: etree._Element, depth: int) -> Iterator[str]:
        for item in place:
            if local_name(item) not in {"list-item", "list-header"}:
                continue
            for element in item:
                if local_name(element) == "list" and depth < _MAX_DEPTH:
                    yield from self._items(element, depth + 1)
                elif local_name(element) in {"p", "h"} and (text := " ".join(self._inline(element).split())):
                    yield f"{'  ' * depth}- {text}"

    def _table(self, table: etree._Element, depth: int) -> str:
        rows = []
        spanning: dict[int, str] = {}  # the text of the cells that a cell covers, by column
        for row in table.iter(_TABLE + "table-row"):
            if next(row.iterancestors(_TABLE + "table"), None) is not table:
                continue
            cells: list[str] = []
            for cell in row:
                times = min(whole_number(cell.get(_TABLE + "number-columns-repeated", "1"), 1), _MAX_REPEATS)
                if local_name(cell) == "covered-table-cell":
                    cells += [spanning.get(len(cells) + place, "") for place in range(times)]
                elif local_name(cell) == "table-cell":
                    text = " ".join(part.replace("\n", " ") for part in self.blocks(cell, depth + 1) if part)
                    width = min(whole_number(cell.get(_TABLE + "number-columns-spanned", "1"), 1), _MAX_REPEATS)
                    spanning |= dict.fromkeys(range(len(cells), len(cells) + width), text)
                    cells += [text] * times
            rows.append(cells[:_MAX_REPEATS])
        return to_table(rows)

    def _inline(self, place: etree._Element) -> str:
        return to_inline(self._runs(place))

    def _runs(self, place: etree._Element, above: TextRun = _PLAIN, depth: int = 0) -> Iterator[TextRun]:
        """Yield the runs of an element; `above` has the style of the text around it."""
        marks = self._styles.get(place.get(_TEXT + "style-name", ""), {})
        if marks.get("hidden"):
            self.removed["hidden"] += 1
            return
        if depth:  # the style of a whole paragraph is no emphasis
            names = {name for name in above.styles if marks.get(name, True)} | {name for name in marks if marks[name]}
            above = replace(above, styles=frozenset(names))
        yield replace(above, text=_with_single_spaces(place.text))
        for element in place:
            name = local_name(element)
            if name == "s":
                count = element.get(_TEXT + "c", "1")
                yield replace(above, text=" " * min(whole_number(count, 1), _MAX_SPACES))
            elif name == "tab":
                yield replace(above, text=" ")
            elif name == "line-break":
                yield replace(above, text="\n")
            elif name == "annotation":
                self.removed[name] += 1
            elif name == "note":
                if text := to_inline(self._runs(element, _PLAIN, depth + 1)).strip():
                    yield TextRun(f" ({text})", is_markdown=True)
            elif name and name not in _SKIPPED_ELEMENTS and depth < _MAX_DEPTH:
                link = link_target(element.get(_LINK, "")) if name == "a" else ""
                yield from self._runs(element, replace(above, link=link or above.link), depth + 1)
            yield replace(above, text=_with_single_spaces(element.tail))


def _with_single_spaces(text: str | None) -> str:
    """Return the characters of a text as OpenDocument counts them: white space is one space."""
    return re.sub(r"\s+", " ", text or "")


def _description(frame: etree._Element) -> str:
    """Return what the author says of a picture."""
    if frame.find("{*}image") is None:
        return ""
    texts = (
        " ".join((part.text or "").split()) for name in ("desc", "title") for part in frame.iterfind(f"{{*}}{name}")
    )
    return next(filter(None, texts), "")


def _styles(root: etree._Element | None) -> dict[str, dict[str, bool]]:
    """Return what each style sets for the letters, with what it has from its parents."""
    own: dict[str, tuple[dict[str, bool], str]] = {}
    for style in root.iter(_STYLE + "style") if root is not None else ():
        marks: dict[str, bool] = {}
        for part in style.iterchildren(_STYLE + "text-properties"):
            attributes = {str(name).rpartition("}")[2]: str(value) for name, value in part.attrib.items()}
            raised = attributes.get("text-position", "").partition(" ")[0]
            if raised:
                marks |= {"sup": raised == "super" or _is_offset(raised), "sub": raised == "sub" or raised[0] == "-"}
            if struck := attributes.get("text-line-through-style") or attributes.get("text-line-through-type"):
                marks["del"] = struck != "none"
            if weight := part.get(_FONT + "font-weight"):
                marks["strong"] = weight == "bold" or whole_number(weight, 0) >= _BOLD
            if slant := part.get(_FONT + "font-style"):
                marks["em"] = slant != "normal"
            if font := attributes.get("font-name") or attributes.get("font-family"):
                marks["code"] = bool(MONOSPACED.search(font)) and style.get(_STYLE + "family") == "text"
            if part.get(_TEXT + "display"):
                marks["hidden"] = part.get(_TEXT + "display") == "none"
        own[style.get(_STYLE + "name", "")] = marks, style.get(_STYLE + "parent-style-name", "")
    styles = {}
    for name, (marks, parent) in own.items():
        for _ in range(10):
            if parent not in own:
                break
            above, parent = own[parent]
            marks = above | marks
        styles[name] = marks
    return styles


def _is_offset(position: str) -> bool:
    """Return whether a position, in percent of the font size, is above the line."""
    return position.endswith("%") and whole_number(position[:-1].partition(".")[0], 0) > 0


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
    properties = read_properties(root)
    about = next((element.text or "" for element in root.iter() if local_name(element) == "description"), "")
    parts = [fragment_to_markdown(about, url, removed, web_links_only=True)] if about else []
    length = sum(map(len, parts))
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
    content = "\n\n".join(filter(None, parts))
    return replace(
        properties,
        content=content[:MAX_CONTENT],
        cut=length > MAX_CONTENT or len(chapters) > _MAX_CHAPTERS,
        warnings=removal_warning(removed["hidden"]),
    )


def _package(archive: SafeZip) -> str:
    root = archive.xml("META-INF/container.xml")
    files = root.iter("{*}rootfile") if root is not None else ()
    path = next(filter(None, (file.get("full-path", "") for file in files)), "")
    if not path:
        raise archive.broken()
    return str(path)


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
    references = root.iter("{*}CipherReference") if root is not None else ()
    return {unquote(reference.get("URI", "")) for reference in references}
