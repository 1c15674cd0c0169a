"""Word documents (ECMA-376, WordprocessingML) as Markdown: headings, paragraphs, lists, code, tables, links, notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Final, Literal

from lxml import etree

from groundwire.reading.documents.office_package import (
    SafeZip,
    current_elements,
    local_name,
    omissions,
    read_properties,
    tex_of,
    whole_number,
)
from groundwire.reading.documents.runs import MONOSPACED, TextRun, link_target, to_inline
from groundwire.reading.documents.tabular import graphic_to_markdown, to_table
from groundwire.reading.extracted import Extracted
from groundwire.reading.markdown.escaping import escape_line, escape_text, fence, inline_code
from groundwire.reading.text.numerals import numeral
from groundwire.reading.text.sanitize import removal_warning

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ID: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_MAIN_PART: Final = re.compile(r"(?:.*/)?document\d*\.xml")
_HEADING: Final = re.compile(r"heading (\d)$", re.IGNORECASE)
_CONTAINERS: Final = frozenset(
    {"ins", "smartTag", "sdt", "sdtContent", "moveTo", "fldSimple", "customXml", "dir", "bdo", "drawing", "inline",
     "anchor", "graphic", "graphicData", "wsp", "txbx", "txbxContent", "AlternateContent", "Choice"}
)  # fmt: skip
_FIELD_LINK: Final = re.compile(r'\bHYPERLINK\s+"(https?://[^"\s]{1,2000})"')
_CODE: Final = re.compile(
    r"(?:source|html|inline|program)? ?(?:code|preformatted|verbatim|listing|typewriter|macro)"
    r"(?: ?(?:block|text|char|characters|example))?",
    re.IGNORECASE,
)
"""The names of styles for code."""
_CODE_SIGN: Final = re.compile(r"[{}()\[\]=;<>\\|$#*_]|::|->|^\s{2,}\S", re.MULTILINE)
"""What tells code from a paragraph that is only set in a monospaced font."""
_MARKS: Final[Mapping[str, str]] = {"b": "strong", "i": "em", "strike": "del", "dstrike": "del"}
_OFF: Final = frozenset({"0", "false", "off"})
_WHITE: Final = frozenset({"FFFFFF", "FEFEFE"})
_ORDINAL: Final = re.compile(r"(\d{1,9})([.)]?)")
_LEVELS: Final = 9
_MAX_COLUMNS: Final = 60  # of a table
_MAX_TINY_SIZE: Final = 4  # half points
_MAX_DEPTH: Final = 20  # nested tables and other elements


def read_word(body: bytes) -> Extracted:
    """Convert a Word document to Markdown.

    Raises:
        UnreadableDocument: it is damaged, encrypted, or over the size limit.
    """
    archive = SafeZip(body, "a Word document")
    main = next(filter(_MAIN_PART.fullmatch, archive.relations("").values()), "word/document.xml")
    root = archive.xml(main)
    if root is None:
        raise archive.broken()
    reader = _WordReader(archive, main)
    place = next((child for child in root if local_name(child) == "body"), root)
    content = _joined(reader.blocks(place))
    notes = _joined(reader.notes())
    properties = read_properties(archive.xml("docProps/core.xml"))
    return replace(
        properties,
        title=properties.title or reader.title,
        content=f"{content}\n\n{notes}".strip(),
        warnings=removal_warning(reader.removed["hidden"]) + omissions(reader.omission_counts(root)),
    )


@dataclass(frozen=True, slots=True)
class _WordBlock:
    text: str
    """Markdown."""
    kind: Literal["text", "item", "code"] = "text"
    code: str = ""
    """The plain text of a paragraph that may be code."""
    is_sure: bool = False
    """Whether its style is one for code."""


@dataclass(frozen=True, slots=True)
class _WordStyle:
    level: int = 0
    """The level of a heading; 0 for none."""
    number: str = ""
    """The numbering."""
    depth: int = 0
    """The level of the numbering."""
    marks: Mapping[str, bool] = field(default_factory=dict)
    """What it sets of the styles of a run, and `code` for a monospaced font."""
    is_code: bool = False
    """Whether it is a style for code by its name."""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class _NumberLevel:
    """A level of a numbering."""

    counter: str
    """What counts: the numbering that others may continue."""
    form: str
    """The kind of numerals; `bullet` or `none`."""
    label: str
    """The label with a place for each number, such as `%1.%2`."""
    start: int
    restart: int | None = None
    """Where a numbering begins that does not continue another."""


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
        styles = archive.xml(self._folder + "styles.xml")
        self._styles, self._shaded = _styles(styles), _shaded_styles(styles)
        self._backgrounds: dict[etree._Element, bool] = {}
        self._numbers = _numbering(archive.xml(self._folder + "numbering.xml"))
        self._counts: dict[str, dict[int, int]] = {}
        self._restarted: set[tuple[str, int]] = set()
        self.removed: Counter[str] = Counter()
        self.title = ""

    def blocks(self, place: etree._Element, depth: int = 0) -> Iterator[_WordBlock]:
        """Yield the blocks below an element."""
        if depth > _MAX_DEPTH:
            return
        for element in place:
            name = local_name(element)
            if name == "p":
                yield self._paragraph(element)
                for part in current_elements(element, closed="txbxContent"):
                    if local_name(part) == "txbxContent":
                        yield from self.blocks(part, depth + 1)
                    elif chart := graphic_to_markdown(part, self._archive, self._relations):
                        yield _WordBlock(chart)
            elif name == "oMathPara":
                yield _WordBlock(f"$${tex_of(element)}$$")
            elif name == "tbl":
                yield _WordBlock(self._table(element, depth))
            elif name in _CONTAINERS:
                yield from self.blocks(element, depth + 1)

    def omission_counts(self, root: etree._Element) -> dict[str, int]:
        """Return how much of the document is not in its content, by kind."""
        parts = [part for part in self._relations.values() if not part.startswith(("http:", "https:"))]
        margins = {part for part in parts if re.search(r"/(?:header|footer)\d*\.xml$", part)}
        comments = self._archive.xml(self._folder + "comments.xml")
        return {
            "pictures": sum(1 for element in root.iter() if local_name(element) in {"blip", "imagedata"}),
            "comments": len(comments) if comments is not None else 0,
            "deleted passages": sum(deletion.find(f".//{_W}delText") is not None for deletion in root.iter(_W + "del")),
            "headers and footers": sum(self._has_text(part) for part in margins),
        }

    def _has_text(self, part: str) -> bool:
        root = self._archive.xml(part)
        return root is not None and any((text.text or "").strip() for text in root.iter(_W + "t"))

    def notes(self) -> Iterator[_WordBlock]:
        """Yield the footnotes and endnotes."""
        for part, kind in (("footnotes.xml", "footnote"), ("endnotes.xml", "endnote")):
            root = self._archive.xml(self._folder + part)
            for note in root if root is not None else ():
                if note.get(_W + "type") in {"separator", "continuationSeparator", "continuationNotice"}:
                    continue
                text = " ".join(block.text for block in self.blocks(note) if block.text)
                if text:
                    yield _WordBlock(f"[^{kind[0] if kind == 'endnote' else ''}{note.get(_W + 'id', '')}]: {text}")

    def _style(self, paragraph: etree._Element) -> _WordStyle:
        return self._styles.get(_value(paragraph.find(_W + "pPr"), "pStyle")) or self._styles.get("", _WordStyle())

    def _paragraph(self, element: etree._Element) -> _WordBlock:
        properties = element.find(_W + "pPr")
        style = self._style(element)
        level = self._level(properties, style)
        number, depth = self._number(properties, style)
        label = self._label(number, depth) if level or number else ""
        runs = list(self._runs(element, style))
        is_code = style.is_code or (
            any(run.text.strip() for run in runs) and all("code" in run.styles for run in runs if run.text.strip())
        )
        dropped = {"strong", "em"} if level else set[str]()
        dropped |= {"code"} if is_code else set()
        text = to_inline(replace(run, styles=run.styles - dropped) for run in runs).strip()
        if level and text:
            text = " ".join(text.split())
            self.title = self.title or text.replace("\\", "")
            return _WordBlock(" ".join(filter(None, ("#" * level, escape_text(label), text))))
        if number and text:
            ordinal = _ORDINAL.fullmatch(label)
            mark = f"{ordinal[1]}{ordinal[2] or '.'}" if ordinal else f"- {escape_text(label)}".rstrip()
            return _WordBlock(f"{'   ' * depth}{mark} {text}", "item")
        text = "\n".join(escape_line(line) for line in text.split("\n"))
        if is_code:
            return _WordBlock(text, "code", "".join(run.text for run in runs).rstrip(), style.is_code)
        return _WordBlock(text)

    def _level(self, properties: etree._Element | None, style: _WordStyle) -> int:
        direct = _value(properties, "outlineLvl")
        if whole_number(direct, 6) < 6:
            return whole_number(direct, 6) + 1
        return style.level

    def _number(self, properties: etree._Element | None, style: _WordStyle) -> tuple[str, int]:
        numbering = properties.find(_W + "numPr") if properties is not None else None
        number, depth = style.number, style.depth
        if numbering is not None:
            number = _value(numbering, "numId") or number
            level = _value(numbering, "ilvl")
            depth = whole_number(level, depth)
        return ("", 0) if number == "0" else (number, min(depth, _LEVELS - 1))

    def _label(self, number: str, depth: int) -> str:
        """Count a paragraph, and return its number as it is shown; empty for a bullet."""
        level = self._numbers.get((number, depth))
        if level is None or level.form in {"bullet", "none"}:
            return ""
        counts = self._counts.setdefault(level.counter, {})
        start = level.start
        if level.restart is not None and (number, depth) not in self._restarted:
            self._restarted.add((number, depth))
            counts.pop(depth, None)
            start = level.restart
        counts[depth] = counts.get(depth, start - 1) + 1
        for deeper in range(depth + 1, _LEVELS):
            counts.pop(deeper, None)

        def numeral_of(reference: re.Match[str]) -> str:
            at = int(reference[1]) - 1
            above = self._numbers.get((number, at), level)
            return numeral(counts.get(at, above.start), above.form)

        return re.sub(r"%([1-9])", numeral_of, level.label or f"%{depth + 1}.")

    def _runs(self, place: etree._Element, style: _WordStyle, depth: int = 0) -> Iterator[TextRun]:
        code, target = "", ""  # of a field, whose runs stand beside each other
        for element in place:
            name = local_name(element)
            if name == "r":
                kind = next((mark.get(_W + "fldCharType", "") for mark in element.iter(_W + "fldChar")), "")
                code = (
                    ""
                    if kind == "begin"
                    else code + "".join(text.text or "" for text in element.iter(_W + "instrText"))
                )
                if kind == "separate" and (match := _FIELD_LINK.search(code)):
                    target = match[1]
                yield from _linked(self._run(element, style), target)
                if kind == "end":
                    target = ""
            elif name == "hyperlink":
                inside = self._runs(element, style, depth + 1)
                yield from _linked(inside, self._relations.get(element.get(_ID, ""), ""))
            elif name in {"oMath", "oMathPara"}:
                yield TextRun(f"${tex_of(element)}$", is_markdown=True)
            elif name in _CONTAINERS and name != "txbxContent" and depth < _MAX_DEPTH:
                yield from self._runs(element, style, depth + 1)

    def _run(self, run: etree._Element, style: _WordStyle) -> list[TextRun]:
        properties = run.find(_W + "rPr")
        styles = frozenset(name for name, on in self._marks(properties, style).items() if on)
        parts = []
        for element in run:
            name = local_name(element)
            if name == "t":
                parts.append(TextRun(element.text or "", styles))
            elif name in {"tab", "ptab"}:
                parts.append(TextRun("\t", styles))
            elif name in {"br", "cr"}:
                parts.append(TextRun("\n", styles))
            elif name == "noBreakHyphen":
                parts.append(TextRun("-", styles))
            elif name in {"footnoteReference", "endnoteReference"}:
                mark = f"[^{'e' if name[0] == 'e' else ''}{element.get(_W + 'id', '')}]"
                parts.append(TextRun(mark, is_markdown=True))
        if any(part.text.strip() for part in parts) and (
            _is_hidden(properties) or (_is_white(properties) and not self._is_on_shade(run))
        ):
            self.removed["hidden"] += 1
            return []
        return parts

    def _is_on_shade(self, run: etree._Element) -> bool:
        """Return whether the paragraph, the cell, or the table around a run has a background, by itself or by style."""
        return any(map(self._has_shade, run.iterancestors(_W + "p", _W + "tc", _W + "tbl")))

    def _has_shade(self, around: etree._Element) -> bool:
        """Return whether an element has a background; it is looked for once, among all that is in the element."""
        if around not in self._backgrounds:
            own = around.find(f"{_W}{local_name(around)}Pr")
            style = _value(own, "pStyle") or _value(own, "tblStyle")
            shades = own.iterchildren(_W + "shd") if own is not None else ()
            self._backgrounds[around] = style in self._shaded or any(map(_is_shade, shades))
        return self._backgrounds[around]

    def _marks(self, properties: etree._Element | None, style: _WordStyle) -> Mapping[str, bool]:
        """Return which styles a run has; those that the style of a whole paragraph gives its letters do not count."""
        above = {"code": style.is_code or style.marks.get("code", False)}
        if properties is None:
            return above
        own = self._styles.get(_value(properties, "rStyle"))
        if own is not None:
            above |= own.marks
            above["code"] = above["code"] or own.is_code
        return above | _run_marks(properties)

    def _table(self, table: etree._Element, depth: int) -> str:
        """Return a table; a cell that spans others stands in each of them, so that every row can be read alone."""
        rows: list[list[str]] = []
        for row in table.iter(_W + "tr"):
            if next(row.iterancestors(_W + "tbl"), None) is not table:
                continue
            before = _value(row.find(_W + "trPr"), "gridBefore")
            cells = [""] * min(whole_number(before, 0), _MAX_COLUMNS)
            for cell in row.iter(_W + "tc"):
                if next(cell.iterancestors(_W + "tr"), None) is not row or len(cells) >= _MAX_COLUMNS:
                    continue
                properties = cell.find(_W + "tcPr")
                merged = properties.find(_W + "vMerge") if properties is not None else None
                if merged is not None and merged.get(_W + "val", "continue") == "continue":
                    text = rows[-1][len(cells)] if rows and len(cells) < len(rows[-1]) else ""
                else:
                    text = " ".join(filter(None, map(_in_cell, self.blocks(cell, depth + 1))))
                span = _value(properties, "gridSpan")
                cells += [text] * max(1, min(whole_number(span, 1), _MAX_COLUMNS - len(cells)))
            rows.append(cells)
        if depth and table.getparent() is not None and local_name(table.getparent()) == "tc":
            return "; ".join(", ".join(filter(None, dict.fromkeys(row))) for row in rows)
        return to_table(rows)


def _in_cell(block: _WordBlock) -> str:
    if block.kind == "code" and (block.is_sure or _CODE_SIGN.search(block.code)):
        return inline_code(block.code)
    return block.text.replace("\n", " ").strip()


def _linked(runs: Iterable[TextRun], address: str) -> Iterator[TextRun]:
    target = link_target(address)
    return (replace(run, link=target) if target else run for run in runs)


def _joined(blocks: Iterable[_WordBlock]) -> str:
    """Join blocks, without empty lines between list items, and paragraphs of code to one block of it."""
    parts: list[str] = []
    for kind, group in groupby((block for block in blocks if block.text or block.kind == "code"), attrgetter("kind")):
        texts = list(group)
        if kind == "item":
            indent = min(len(block.text) - len(block.text.lstrip(" ")) for block in texts)
            parts.append("\n".join(block.text[indent:] for block in texts))
        elif kind == "code" and _is_code(texts):
            code = "\n".join(block.code for block in texts).strip("\n")
            parts.append(fence(code) if code else "")
        else:
            parts += [block.text for block in texts]
    return "\n\n".join(filter(None, parts)).strip()


def _is_code(blocks: Iterable[_WordBlock]) -> bool:
    """Return whether paragraphs in a monospaced font are code: half of them look so; a typewritten letter does not."""
    signs = [block.is_sure or bool(_CODE_SIGN.search(block.code)) for block in blocks if block.code.strip()]
    return 2 * sum(signs) >= len(signs)


def _is_hidden(properties: etree._Element | None) -> bool:
    """Return whether a run is hidden or tiny."""
    if properties is None:
        return False
    for name in ("vanish", "webHidden"):
        mark = properties.find(_W + name)
        if mark is not None and mark.get(_W + "val", "1") not in _OFF:
            return name == "vanish"
    return whole_number(_value(properties, "sz"), _MAX_TINY_SIZE + 1) <= _MAX_TINY_SIZE


def _is_white(properties: etree._Element | None) -> bool:
    """Return whether a run is white without a background of its own."""
    if properties is None or properties.find(_W + "shd") is not None or properties.find(_W + "highlight") is not None:
        return False
    return _value(properties, "color").upper() in _WHITE


def _is_shade(shade: etree._Element) -> bool:
    return shade.get(_W + "fill", "auto").upper() not in {"AUTO", "", *_WHITE}


def _value(parent: etree._Element | None, name: str) -> str:
    element = parent.find(_W + name) if parent is not None else None
    return element.get(_W + "val", "") if element is not None else ""


def _run_marks(properties: etree._Element) -> dict[str, bool]:
    """Return which styles the properties of a run set or take away."""
    marks = {}
    for element in properties:
        name, value = local_name(element), element.get(_W + "val", "")
        if name in _MARKS:
            marks[_MARKS[name]] = value not in _OFF
        elif name == "vertAlign":
            marks |= {"sup": value == "superscript", "sub": value == "subscript"}
        elif name == "rFonts" and (font := element.get(_W + "ascii") or element.get(_W + "hAnsi")):
            marks["code"] = bool(MONOSPACED.search(font))
    return marks


def _styles(root: etree._Element | None) -> dict[str, _WordStyle]:
    """Return the styles by their identifiers; the default one of paragraphs is also that without one."""
    own: dict[str, _WordStyle] = {}
    for style in root.iter(_W + "style") if root is not None else ():
        properties, run = style.find(_W + "pPr"), style.find(_W + "rPr")
        outline = _value(properties, "outlineLvl")
        match = _HEADING.match(_value(style, "name"))
        level = int(match[1]) if match else whole_number(outline, -1) + 1
        if not level and _value(style, "name").lower() == "title":
            level = 1
        numbering = properties.find(_W + "numPr") if properties is not None else None
        place = _value(numbering, "ilvl")
        name = style.get(_W + "styleId", "")
        own[name] = _WordStyle(
            level=level if level <= 6 else 0,
            number=_value(numbering, "numId"),
            depth=whole_number(place, 0),
            marks=_run_marks(run) if run is not None else {},
            is_code=bool(_CODE.fullmatch(_value(style, "name"))),
            parent=_value(style, "basedOn"),
        )
        if style.get(_W + "default", "0") not in _OFF and style.get(_W + "type") == "paragraph":
            own[""] = own[name]
    return {name: _inherited(name, own) for name in own}


def _shaded_styles(root: etree._Element | None) -> set[str]:
    """Return the identifiers of the styles that give a table, a part of one, or a paragraph a background."""
    styles = root.iter(_W + "style") if root is not None else ()
    return {style.get(_W + "styleId", "") for style in styles if any(map(_is_shade, style.iter(_W + "shd")))}


def _inherited(name: str, own: Mapping[str, _WordStyle]) -> _WordStyle:
    """Return a style with what it has from those that it is based on."""
    style = own[name]
    for _ in range(10):
        above = own.get(style.parent)
        if above is None:
            break
        style = _WordStyle(
            level=style.level or above.level,
            number=style.number or above.number,
            depth=style.depth or above.depth,
            marks={**above.marks, **style.marks},
            is_code=style.is_code or above.is_code,
            parent=above.parent,
        )
    return style


def _numbering(root: etree._Element | None) -> dict[tuple[str, int], _NumberLevel]:
    """Return the levels of each numbering."""
    if root is None:
        return {}
    kinds: dict[str, dict[int, _NumberLevel]] = {}
    for abstract in root.iter(_W + "abstractNum"):
        name = abstract.get(_W + "abstractNumId", "")
        levels = kinds.setdefault(name, {})
        for level in abstract.iter(_W + "lvl"):
            place, start = level.get(_W + "ilvl", ""), _value(level, "start")
            if 0 <= (depth := whole_number(place, -1)) < _LEVELS:
                form = _value(level, "numFmt") or "bullet"
                levels[depth] = _NumberLevel(name, form, _value(level, "lvlText"), whole_number(start, 1))
    numbering: dict[tuple[str, int], _NumberLevel] = {}
    for number in root.iter(_W + "num"):
        name = number.get(_W + "numId", "")
        for depth, number_level in kinds.get(_value(number, "abstractNumId"), {}).items():
            numbering[name, depth] = number_level
        for other in number.iterchildren(_W + "lvlOverride"):
            place, start = other.get(_W + "ilvl", ""), _value(other, "startOverride")
            if start and (base_level := numbering.get((name, whole_number(place, -1)))) is not None:
                numbering[name, whole_number(place, -1)] = replace(base_level, restart=whole_number(start, 1))
    return numbering
