"""The messages of MCP servers: JSON-RPC in a body or in an event stream, and rows in a tool's text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from groundwire.json_text import json_object
from groundwire.providers.http_parsing import json_or_empty
from groundwire.transport import Response

_ROW = re.compile(r"^Title:[^\n]*\n(?:(?:Published|Author|ID)[^\n]*\n){0,3}URL:", re.MULTILINE)
_FIELD = re.compile(r"^(Title|URL|Published(?: Date)?|Author|Score|Text|Highlights|ID|Image|Favicon):[ \t]*(.*)$")
_PASSAGE = frozenset({"Text", "Highlights"})


def messages(reply: Response) -> Iterator[dict[str, Any]]:
    """Yield the JSON-RPC response in a body: the body itself, or that of an event among notifications."""
    message = json_or_empty(reply)
    data: list[str] = []
    lines = [] if message else reply.body.decode("utf-8", "replace").splitlines()
    for line in (*lines, ""):
        if line.startswith("data:"):
            data.append(line[5:])
        elif not line and data:
            message, data = json_object("\n".join(data)) or {}, []
        if not line and ("result" in message or "error" in message):
            yield message
            message = {}


def text_rows(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a text: blocks of lines such as `Title: ...` and `URL: ...`, then a passage."""
    starts = [match.start() for match in _ROW.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        row, passage, within = {"title": "", "url": "", "date": ""}, list[str](), False
        for line in text[start:end].splitlines():
            field = None if within else _FIELD.match(line)
            if field is None:
                if within:
                    passage.append(line.removeprefix("> "))
                continue
            value = "" if field[2].strip() == "N/A" else field[2].strip()
            within = field[1] in _PASSAGE
            if within:
                passage.append(value)
            elif field[1].startswith("Published"):
                row["date"] = value
            elif field[1].lower() in row:
                row[field[1].lower()] = value
        lines = (line for line in passage if line.strip() not in {"", "---", "..."})
        if row["url"]:
            yield {**row, "snippet": "\n".join(lines).strip()}
