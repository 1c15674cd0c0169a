"""Jupyter notebooks as Markdown: cells and outputs (nbformat 3 and 4)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from groundwire.reading.extracted import Extracted
from groundwire.reading.markdown.escaping import fence
from groundwire.reading.text.sanitize import clean

__all__ = ["read_notebook"]

_MAX_OUTPUT: Final = 2_000  # characters of a cell's output
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#-]{1,20}")
_HEADING: Final = re.compile(r"^ {0,3}#[ \t]+(\S[^\n]{0,500}?)[ \t]*#*[ \t]*$", re.MULTILINE)


def read_notebook(text: str) -> Extracted | None:
    """Convert a notebook to Markdown; None if it is not one."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(notebook, dict):
        return None
    cells = notebook.get("cells")
    if cells is None and isinstance(sheets := notebook.get("worksheets"), list):  # nbformat 3
        cells = [cell for sheet in sheets if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))]
    if not isinstance(cells, list):
        return None
    language = _language(notebook.get("metadata"))
    content = "\n\n".join(part for cell in cells if isinstance(cell, dict) for part in _cell(cell, language) if part)
    heading = _HEADING.search(content, 0, 20_000)
    return Extracted(title=heading[1] if heading else "", content=content, kind="document")


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = clean(_text(cell.get("source", cell.get("input"))))
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        yield f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {source}"
    elif kind == "code":
        if source:
            yield fence(source, language)
        printed = clean("".join(_outputs(cell)))
        if len(printed) > _MAX_OUTPUT:
            printed = printed[:_MAX_OUTPUT].rstrip() + "\n[output cut]"
        if printed:
            yield "Output:\n\n" + fence(printed)
    elif kind == "raw":
        yield fence(source) if source else ""
    else:
        yield source


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    for output in _list(cell.get("outputs")):
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        text = _text(output.get("text")) or (_text(data.get("text/plain")) if isinstance(data, dict) else "")
        if not text and output.get("output_type") in {"error", "pyerr"}:
            text = f"{output.get('ename', '')}: {output.get('evalue', '')}"
        if text:
            yield text if text.endswith("\n") else text + "\n"


def _language(metadata: object) -> str:
    if isinstance(metadata, dict):
        for place, name in (("language_info", "name"), ("kernelspec", "language")):
            section = metadata.get(place)
            said = section.get(name) if isinstance(section, dict) else None
            if isinstance(said, str) and _LANGUAGE.fullmatch(said):
                return said.lower()
    return "python"


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "".join(part for part in value if isinstance(part, str)) if isinstance(value, list) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
