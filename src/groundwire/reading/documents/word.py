"""Word documents (ECMA-376, WordprocessingML) as Markdown: headings, paragraphs, lists, tables, links, notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from lxml import etree

from groundwire.reading.documents.office_package import (
    SafeZip,
    left_out,
    local_name,
    read_properties,
    tex_of,
    whole_number,
)
from groundwire.reading.documents.tabular import drawn, to_table
from groundwire.reading.extracted import Extracted
from groundwire.reading.markdown.escaping import escape_line, escape_text

__all__ = ["read_word"]

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ID: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_HEADING: Final = re.compile(r"heading (\d)$", re.IGNORECASE)
_INSIDE: Final = frozenset(
    {"ins", "smartTag", "sdt", "sdtContent", "moveTo", "fldSimple", "customXml", "dir", "bdo", "drawing", "inline",
     "anchor", "graphic", "graphicData", "wsp", "txbx", "txbxContent", "AlternateContent", "Choice"}
)  # fmt: skip
_LINKED: Final = re.compile(r'\bHYPERLINK\s+"(https?://[^"\s]{1,2000})"')
_TINY: Final = 4  # half points
_DEPTH: Final = 20  # nested tables and other elements


def read_word(body: bytes) -> Extracted:
    """Convert a Word document to Markdown.

    Raises:
        UnreadableDocument: it is damaged, encrypted, or over the size limit.
    """
    archive = SafeZip(body, "a Word document")
    main = next((to for to in archive.relations("").values() if to.endswith("document.xml")), "word/document.xml")
    root = archive.xml(main)
    if root is None:
        raise archive.broken()
    reader = _WordReader(archive, main)
    place = next((child for child in root if local_name(child) == "body"), root)
    content = _joined(reader.blocks(place))
    notes = _joined(reader.notes())
    said = read_properties(archive.xml("docProps/core.xml"))
    return Extracted(
        title=said.title or reader.title,
        content=f"{content}\n\n{notes}".strip(),
        author=said.author,
        published=said.published,
        modified=said.modified,
        language=said.language,
        kind="document",
        warnings=(
            *([f"hidden text removed: {reader.removed['hidden']}"] if reader.removed["hidden"] else ()),
            *left_out(reader.left_out(root)),
        ),
    )


class _WordReader:
    """Converter of one document.

    Args:
        archive: The document.
        main: The name of its main part.
    """

    def __init__(self, archive: SafeZip, main: str) -> None:
        self._archive = archive
        self._folder = main.rpartition("/")[0] + "/"
        self._relations = archive.relations(main)
        self._styles = _styles(archive.xml(self._folder + "styles.xml"))
        self._numbers = _numbering(archive.xml(self._folder + "numbering.xml"))
        self._counts: Counter[tuple[str, int]] = Counter()
        self.removed: Counter[str] = Counter()
        self.title = ""

    def blocks(self, place: etree._Element, depth: int = 0) -> Iterator[tuple[str, bool]]:
        """Yield the blocks below an element, each with whether it is a list item."""
        if depth > _DEPTH:
            return
        for element in place:
            name = local_name(element)
            if name == "p":
                yield self._paragraph(element)
                for part in _floating(element):
                    if local_name(part) == "txbxContent":
                        yield from self.blocks(part, depth + 1)
                    else:
                        yield drawn(part, self._archive, self._relations), False
            elif name == "oMathPara":
                yield f"$${tex_of(element)}$$", False
            elif name == "tbl":
                yield self._table(element, depth), False
            elif name in _INSIDE:
                yield from self.blocks(element, depth + 1)

    def left_out(self, root: etree._Element) -> dict[str, int]:
        """Return how much of the document is not in its content, by kind."""
        parts = [part for part in self._relations.values() if not part.startswith(("http:", "https:"))]
        margins = {part for part in parts if re.search(r"/(?:header|footer)\d*\.xml$", part)}
        comments = self._archive.xml(self._folder + "comments.xml")
        return {
            "pictures": sum(1 for element in root.iter() if local_name(element) in {"blip", "imagedata"}),
            "comments": len(comments) if comments is not None else 0,
            "deleted passages": sum(one.find(f".//{_W}delText") is not None for one in root.iter(_W + "del")),
            "headers and footers": sum(self._has_text(part) for part in margins),
        }

    def _has_text(self, part: str) -> bool:
        root = self._archive.xml(part)
        return root is not None and any((text.text or "").strip() for text in root.iter(_W + "t"))

    def notes(self) -> Iterator[tuple[str, bool]]:
        """Yield the footnotes and endnotes."""
        for part, kind in (("footnotes.xml", "footnote"), ("endnotes.xml", "endnote")):
            root = self._archive.xml(self._folder + part)
            for note in root if root is not None else ():
                if note.get(_W + "type") in {"separator", "continuationSeparator", "continuationNotice"}:
                    continue
                text = " ".join(block for block, _ in self.blocks(note) if block)
                if text:
                    yield f"[^{kind[0] if kind == 'endnote' else ''}{note.get(_W + 'id', '')}]: {text}", False

    def _paragraph(self, element: etree._Element) -> tuple[str, bool]:
        properties = element.find(_W + "pPr")
        style = _value(properties, "pStyle")
        text = " ".join("".join(self._runs(element)).split(" ")).strip()
        if not text:
            return "", False
        level = self._level(properties, style)
        if level:
            text = " ".join(text.split())
            if not self.title:
                self.title = text.replace("\\", "")
            return f"{'#' * level} {text}", False
        number, depth = self._number(properties, style)
        if number:
            self._counts[number, depth] += 1
            mark = f"{self._counts[number, depth]}." if self._numbers.get((number, depth)) == "decimal" else "-"
            return f"{'   ' * depth}{mark} {text}", True
        return "\n".join(escape_line(line) for line in text.split("\n")), False

    def _level(self, properties: etree._Element | None, style: str) -> int:
        direct = _value(properties, "outlineLvl")
        if whole_number(direct, 6) < 6:
            return whole_number(direct, 6) + 1
        return self._styles.get(style, (0, "", 0))[0]

    def _number(self, properties: etree._Element | None, style: str) -> tuple[str, int]:
        numbering = properties.find(_W + "numPr") if properties is not None else None
        _, number, depth = self._styles.get(style, (0, "", 0))
        if numbering is not None:
            number = _value(numbering, "numId") or number
            level = _value(numbering, "ilvl")
            depth = whole_number(level, depth)
        return ("", 0) if number == "0" else (number, min(depth, 8))

    def _runs(self, place: etree._Element, depth: int = 0) -> Iterator[str]:
        code, target, label = "", "", list[str]()  # of a field, whose runs stand beside each other
        for element in place:
            name = local_name(element)
            if name == "r":
                kind = next((mark.get(_W + "fldCharType", "") for mark in element.iter(_W + "fldChar")), "")
                code = (
                    ""
                    if kind == "begin"
                    else code + "".join(text.text or "" for text in element.iter(_W + "instrText"))
                )
                if kind == "separate" and (match := _LINKED.search(code)):
                    target = match[1]
                if target:
                    label.append(self._run(element))
                else:
                    yield self._run(element)
                if target and kind == "end":
                    yield _link("".join(label), target)
                    target, label = "", []
            elif name == "hyperlink":
                yield _link("".join(self._runs(element, depth + 1)), self._relations.get(element.get(_ID, ""), ""))
            elif name in {"oMath", "oMathPara"}:
                yield f"${tex_of(element)}$"
            elif name in _INSIDE and name != "txbxContent" and depth < _DEPTH:
                yield from self._runs(element, depth + 1)
        yield "".join(label)

    def _run(self, run: etree._Element) -> str:
        properties = run.find(_W + "rPr")
        parts = []
        for element in run:
            name = local_name(element)
            if name == "t":
                parts.append(escape_text(element.text or ""))
            elif name in {"tab", "ptab"}:
                parts.append(" ")
            elif name in {"br", "cr"}:
                parts.append("\n")
            elif name == "noBreakHyphen":
                parts.append("-")
            elif name in {"footnoteReference", "endnoteReference"}:
                parts.append(f"[^{'e' if name[0] == 'e' else ''}{element.get(_W + 'id', '')}]")
        text = "".join(parts)
        if text.strip() and _is_hidden(properties):
            self.removed["hidden"] += 1
            return ""
        return text

    def _table(self, table: etree._Element, depth: int) -> str:
        rows = []
        for row in table.iter(_W + "tr"):
            if next(row.iterancestors(_W + "tbl"), None) is not table:
                continue
            cells: list[str] = []
            for cell in row.iter(_W + "tc"):
                if next(cell.iterancestors(_W + "tr"), None) is not row:
                    continue
                properties = cell.find(_W + "tcPr")
                cells.append(
                    " ".join(text.replace("\n", " ").strip() for text, _ in self.blocks(cell, depth + 1) if text)
                )
                span = _value(properties, "gridSpan")
                cells += [""] * (min(whole_number(span, 1), 60) - 1)
            rows.append(cells)
        if depth and table.getparent() is not None and local_name(table.getparent()) == "tc":
            return "; ".join(", ".join(filter(None, row)) for row in rows)
        return to_table(rows)


def _floating(paragraph: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements of a paragraph; not those in its text boxes, or for programs that cannot show the others."""
    waiting = [paragraph]
    while waiting:
        element = waiting.pop()
        name = local_name(element)
        if name != "Fallback":
            yield element
            waiting.extend(() if name == "txbxContent" else reversed(element))


def _link(text: str, target: str) -> str:
    text = text.strip()
    if not text or not target.startswith(("http://", "https://")):
        return text
    target = target.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    return f"[{text.replace('[', '').replace(']', '')}]({target})"


def _joined(blocks: Iterator[tuple[str, bool]]) -> str:
    """Join blocks, without empty lines between list items."""
    parts: list[str] = []
    after_item = False
    for text, item in blocks:
        if text:
            parts.append(("\n" if item and after_item else "\n\n") + text)
            after_item = item
    return "".join(parts).strip()


def _is_hidden(properties: etree._Element | None) -> bool:
    """Return whether a run is invisible: hidden, white without background, or tiny."""
    if properties is None:
        return False
    for name in ("vanish", "webHidden"):
        mark = properties.find(_W + name)
        if mark is not None and mark.get(_W + "val", "1") not in {"0", "false", "off"}:
            return name == "vanish"
    size = _value(properties, "sz")
    if whole_number(size, _TINY + 1) <= _TINY:
        return True
    plain = properties.find(_W + "shd") is None and properties.find(_W + "highlight") is None
    return plain and _value(properties, "color").upper() in {"FFFFFF", "FEFEFE"}


def _value(parent: etree._Element | None, name: str) -> str:
    element = parent.find(_W + name) if parent is not None else None
    return element.get(_W + "val", "") if element is not None else ""


def _styles(root: etree._Element | None) -> dict[str, tuple[int, str, int]]:
    """Return each style's heading level (0 for none), numbering and its level."""
    own: dict[str, tuple[int, str, int, str]] = {}
    for style in root.iter(_W + "style") if root is not None else ():
        properties = style.find(_W + "pPr")
        outline = _value(properties, "outlineLvl")
        match = _HEADING.match(_value(style, "name"))
        level = int(match[1]) if match else whole_number(outline, -1) + 1
        if not level and _value(style, "name").lower() == "title":
            level = 1
        numbering = properties.find(_W + "numPr") if properties is not None else None
        place = _value(numbering, "ilvl")
        own[style.get(_W + "styleId", "")] = (
            level if level <= 6 else 0,
            _value(numbering, "numId"),
            whole_number(place, 0),
            _value(style, "basedOn"),
        )
    found: dict[str, tuple[int, str, int]] = {}
    for name in own:
        level, number, depth, parent = own[name]
        for _ in range(10):
            if parent not in own or (level and number):
                break
            above_level, above_number, above_depth, parent = own[parent]
            level, number, depth = level or above_level, number or above_number, depth or above_depth
        found[name] = level, number, depth
    return found


def _numbering(root: etree._Element | None) -> dict[tuple[str, int], str]:
    """Return the kind of each level of each numbering: `decimal` for numbers, else `bullet`."""
    if root is None:
        return {}
    kinds: dict[str, dict[int, str]] = {}
    for abstract in root.iter(_W + "abstractNum"):
        levels = kinds.setdefault(abstract.get(_W + "abstractNumId", ""), {})
        for level in abstract.iter(_W + "lvl"):
            place = level.get(_W + "ilvl", "")
            if (depth := whole_number(place, -1)) >= 0:
                levels[depth] = "bullet" if _value(level, "numFmt") in {"bullet", "none", ""} else "decimal"
    return {
        (number.get(_W + "numId", ""), place): kind
        for number in root.iter(_W + "num")
        for place, kind in kinds.get(_value(number, "abstractNumId"), {}).items()
    }
