"""PowerPoint presentations (ECMA-376, PresentationML) as Markdown, a section for each slide."""

from __future__ import annotations

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

__all__ = ["read_slides"]

_A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLES: Final = frozenset({"title", "ctrTitle"})
_SKIPPED: Final = frozenset({"dt", "ftr", "sldNum", "hdr"})
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
    names = [relations.get(slide.get(_R + "id", ""), "") for slide in root.iter() if local_name(slide) == "sldId"]
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
        removed["pictures"] += sum(1 for element in _shown(slide) if local_name(element) == "pic")
        removed["comments"] += sum(part.startswith("ppt/comments/") for part in relations.values())
        title = title or heading
        parts.append(f"[slide {number}]")
        if heading:
            parts.append(f"## {escape_text(heading)}")
        parts += blocks
        note = next((part for part in relations.values() if part.startswith("ppt/notesSlides/")), "")
        parts += _notes(archive.xml(note)) if note else ()
    said = read_properties(archive.xml("docProps/core.xml"))
    return Extracted(
        title=said.title if said.title.lower() not in {"", "powerpoint presentation"} else title,
        content="\n\n".join(parts),
        author=said.author,
        published=said.published,
        modified=said.modified,
        language=said.language,
        cut=len(names) > _MAX_SLIDES,
        kind="document",
        warnings=left_out(removed),
    )


def _shown(slide: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements of a slide, without those for programs that cannot show the others."""
    waiting = [slide]
    while waiting:
        element = waiting.pop()
        if local_name(element) != "Fallback":
            yield element
            waiting.extend(reversed(element))


def _slide(slide: etree._Element, relations: dict[str, str], archive: SafeZip) -> tuple[str, list[str]]:
    """Return a slide's title and its blocks."""
    title = ""
    blocks: list[str] = []
    for shape in _shown(slide):
        name = local_name(shape)
        blocks.append(drawn(shape, archive, relations))
        if name == "sp":
            kind = _placeholder(shape)
            if kind in _SKIPPED or _is_hidden(shape):
                continue
            if kind in _TITLES and not title:
                title = " ".join(" ".join("".join(_runs(line, {})) for line in shape.iter(_A + "p")).split())
            else:
                blocks.append("\n".join(_paragraphs(shape, relations, listed=kind in {"body", "obj", "idx"})))
        elif name == "tbl":
            rows = [
                [
                    " ".join("".join(_runs(line, relations)).strip() for line in cell.iter(_A + "p"))
                    for cell in row.iter(_A + "tc")
                ]
                for row in shape.iter(_A + "tr")
            ]
            blocks.append(to_table(rows))
    return title, [block for block in blocks if block]


def _notes(page: etree._Element | None) -> Iterator[str]:
    """Yield the speaker notes of a slide."""
    for shape in page.iter() if page is not None else ():
        if local_name(shape) != "sp" or _placeholder(shape) != "body" or _is_hidden(shape):
            continue
        if said := "\n".join(_paragraphs(shape, {}, listed=False)).strip():
            yield f"Notes: {said}"


def _paragraphs(shape: etree._Element, relations: dict[str, str], *, listed: bool) -> Iterator[str]:
    lines = list(shape.iter(_A + "p"))
    for line in lines:
        text = " ".join("".join(_runs(line, relations)).split())
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


def _runs(line: etree._Element, relations: dict[str, str]) -> Iterator[str]:
    for run in line:
        name = local_name(run)
        if name in {"r", "fld"}:
            text = escape_text("".join(part.text or "" for part in run.iter(_A + "t")))
            link = next(run.iter(_A + "hlinkClick"), None)
            target = relations.get(link.get(_R + "id", ""), "") if link is not None else ""
            if text.strip() and target.startswith(("http://", "https://")):
                target = target.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
                text = f"[{text.replace('[', '').replace(']', '')}]({target})"
            yield text
        elif name == "br":
            yield " "
        elif name in {"m", "AlternateContent"}:
            yield from (f"${tex_of(one)}$" for one in _shown(run) if local_name(one) == "oMath")


def _placeholder(shape: etree._Element) -> str:
    for element in shape.iter():
        if local_name(element) == "ph":
            return str(element.get("type", "idx"))
        if local_name(element) == "txBody":
            break
    return ""


def _is_hidden(shape: etree._Element) -> bool:
    return any(local_name(element) == "cNvPr" and element.get("hidden") in {"1", "true"} for element in shape.iter())
