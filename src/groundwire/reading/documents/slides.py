"""PowerPoint presentations (ECMA-376, PresentationML) as Markdown, a section for each slide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

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
from groundwire.reading.documents.runs import TextRun, link_target, to_inline
from groundwire.reading.documents.tabular import MAX_COLUMNS, graphic_to_markdown, to_table
from groundwire.reading.extracted import Extracted
from groundwire.reading.markdown.escaping import escape_line

_A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLES: Final = frozenset({"title", "ctrTitle"})
_FURNITURE: Final = frozenset({"dt", "ftr", "sldNum", "hdr"})
_TRUE: Final = frozenset({"1", "true"})
_MAX_SLIDES: Final = 2_000


def read_slides(body: bytes) -> Extracted:
    """Convert a presentation to Markdown; each slide begins with a line `[slide 3]`.

    Raises:
        UnreadableDocument: it is damaged, encrypted, or over the size limit.
    """
    archive = SafeZip(body, "a PowerPoint presentation")
    root = archive.xml("ppt/presentation.xml")
    if root is None:
        raise archive.broken()
    relations = archive.relations("ppt/presentation.xml")
    names = [relations.get(slide.get(_R + "id", ""), "") for slide in root.iterfind("{*}sldIdLst/{*}sldId")]
    removed: Counter[str] = Counter()
    parts: list[str] = []
    title = ""
    for number, name in enumerate(names[:_MAX_SLIDES], 1):
        slide = archive.xml(name) if name else None
        if slide is None:
            removed["damaged slides"] += 1
            continue
        if slide.get("show") in {"0", "false"}:
            removed["hidden slides"] += 1
            continue
        relations = archive.relations(name)
        heading, blocks = _slide(slide, relations, archive)
        removed["pictures"] += sum(1 for element in current_elements(slide) if local_name(element) == "pic")
        removed["comments"] += sum(part.startswith("ppt/comments/") for part in relations.values())
        title = title or heading.replace("\\", "")
        parts.append(f"[slide {number}]")
        if heading:
            parts.append(f"## {heading}")
        parts += blocks
        note = next((part for part in relations.values() if part.startswith("ppt/notesSlides/")), "")
        parts += _notes(archive.xml(note)) if note else ()
    properties = read_properties(archive.xml("docProps/core.xml"))
    return replace(
        properties,
        title=properties.title if properties.title.lower() not in {"", "powerpoint presentation"} else title,
        content="\n\n".join(parts),
        cut=len(names) > _MAX_SLIDES,
        warnings=omissions(removed),
    )


def _slide(slide: etree._Element, relations: dict[str, str], archive: SafeZip) -> tuple[str, list[str]]:
    """Return a slide's title and its blocks."""
    title = ""
    blocks: list[str] = []
    for shape in current_elements(slide):
        name = local_name(shape)
        blocks.append(graphic_to_markdown(shape, archive, relations))
        if name == "sp":
            kind = _placeholder(shape)
            if kind in _FURNITURE or _is_hidden(shape):
                continue
            if kind in _TITLES and not title:
                title = " ".join(" ".join(to_inline(_runs(line, {})) for line in shape.iter(_A + "p")).split())
            else:
                blocks.append("\n".join(_paragraphs(shape, relations, listed=kind in {"body", "obj", "idx"})))
        elif name == "tbl":
            blocks.append(to_table(_rows(shape, relations)))
    return title, [block for block in blocks if block]


def _rows(table: etree._Element, relations: dict[str, str]) -> Iterator[list[str]]:
    """Yield the rows of a table; a cell that spans others stands in each of them."""
    spanning: dict[int, str] = {}
    for row in table.iter(_A + "tr"):
        cells: list[str] = []
        for cell in row.iter(_A + "tc"):
            if cell.get("hMerge") in _TRUE or cell.get("vMerge") in _TRUE:
                cells.append(spanning.get(len(cells), ""))
                continue
            text = " ".join(to_inline(_runs(line, relations)).strip() for line in cell.iter(_A + "p"))
            width = min(whole_number(cell.get("gridSpan", "1"), 1), MAX_COLUMNS)
            spanning |= dict.fromkeys(range(len(cells), len(cells) + width), text)
            cells.append(text)
        yield cells


def _notes(page: etree._Element | None) -> Iterator[str]:
    """Yield the speaker notes of a slide."""
    for shape in page.iter() if page is not None else ():
        if local_name(shape) != "sp" or _placeholder(shape) != "body" or _is_hidden(shape):
            continue
        if text := "\n".join(_paragraphs(shape, {}, listed=False)).strip():
            yield f"Notes: {text}"


def _paragraphs(shape: etree._Element, relations: dict[str, str], *, listed: bool) -> Iterator[str]:
    lines = list(shape.iter(_A + "p"))
    for line in lines:
        text = " ".join(to_inline(_runs(line, relations)).split())
        if not text:
            continue
        properties = line.find(_A + "pPr")
        level = properties.get("lvl", "0") if properties is not None else "0"
        plain = properties is not None and properties.find(_A + "buNone") is not None
        depth = min(whole_number(level, 0), 8)
        if (listed and not plain and len(lines) > 1) or depth:
            yield f"{'  ' * depth}- {text}"
        else:
            yield escape_line(text) + ("\n" if line is not lines[-1] else "")


def _runs(line: etree._Element, relations: dict[str, str]) -> Iterator[TextRun]:
    for run in line:
        name = local_name(run)
        if name in {"r", "fld"}:
            text = "".join(part.text or "" for part in run.iter(_A + "t"))
            link = next(run.iter(_A + "hlinkClick"), None)
            target = relations.get(link.get(_R + "id", ""), "") if link is not None else ""
            properties = run.find(_A + "rPr")
            yield TextRun(text, _styles(properties) if properties is not None else frozenset(), link_target(target))
        elif name == "br":
            yield TextRun(" ")
        elif name in {"m", "AlternateContent"}:
            yield from (
                TextRun(f"${tex_of(element)}$", is_markdown=True)
                for element in current_elements(run)
                if local_name(element) == "oMath"
            )


def _styles(properties: etree._Element) -> frozenset[str]:
    """Return what of the style of a run changes its value; bold text is only the look of a slide."""
    raised = properties.get("baseline", "0")
    names = {"sub" if raised[0] == "-" else "sup"} if raised.strip("-0%") else set[str]()
    return frozenset(names | ({"del"} if properties.get("strike", "noStrike") != "noStrike" else set()))


def _placeholder(shape: etree._Element) -> str:
    place = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return place.get("type", "idx") if place is not None else ""


def _is_hidden(shape: etree._Element) -> bool:
    return any(element.get("hidden") in _TRUE for element in shape.iter("{*}cNvPr"))
