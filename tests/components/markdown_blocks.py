"""The fenced blocks of the documentation, with the comments above them that state how they are tested."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)(?P=ticks)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_NOTE = re.compile(r"<!-- (?P<name>run by|not run|stays|file|command)(?:: (?P<value>.*?))? -->\n\Z", re.DOTALL)
_ODD = re.compile(r"<!-- (?!mcp-name)(?P<words>.*?) -->\n\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    document: str
    """The path from the root."""
    number: int
    """Its place among the blocks of its document, from 0."""
    line: int
    """The line of its first fence."""
    language: str
    text: str
    notes: dict[str, str] = field(default_factory=dict)
    """The comment above it."""

    @property
    def where(self) -> str:
        """Where to look for it."""
        return f"{self.document}:{self.line}"


def documents() -> list[str]:
    """Return every document of the project, as paths from the root."""
    files = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    return [file.relative_to(ROOT).as_posix() for file in files]


def blocks_of(document: str) -> list[Block]:
    """Return the blocks of a document; see `read_blocks`."""
    return read_blocks((ROOT / document).read_text(encoding="utf-8"), document)


def read_blocks(text: str, document: str) -> list[Block]:
    """Return the blocks of a Markdown text.

    Raises:
        ValueError: A fence is of a form that is not read here, or a comment above one is not understood.
    """
    blocks = []
    at = 0
    for number, found in enumerate(_FENCE.finditer(text)):
        line = text.count("\n", 0, found.start()) + 1
        above, at = text[at : found.start()], found.end()
        if "```" in above or "~~~" in above:
            raise ValueError(f"{document}, above line {line}: a fence that is not closed as it was opened")
        notes = _notes(above, f"{document}:{line}")
        blocks.append(Block(document, number, line, found["info"].strip(), found["text"], notes))
    if "```" in text[at:] or "~~~" in text[at:]:
        raise ValueError(f"{document}: the last fence is not closed as it was opened")
    return blocks


def _notes(above: str, where: str) -> dict[str, str]:
    if (note := _NOTE.search(above)) is not None:
        return {note["name"]: " ".join((note["value"] or "").split())}
    if (odd := _ODD.search(above)) is not None:
        raise ValueError(f"{where}: <!-- {odd['words']} --> is no note that the tests know")
    return {}
