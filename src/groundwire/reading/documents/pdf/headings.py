"""Which blocks are headings, and of what level: by the size of their type, its weight, and the file's own outline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from groundwire.reading.documents.pdf.blocks import Block
from groundwire.reading.documents.pdf.lines import Line

__all__ = ["Headings", "outline_levels"]

_LARGER: Final = 1.12  # times the size of the text
_LEVELS: Final = 5
_LONG: Final = 200  # characters
_LONG_BOLD: Final = 120
_MOST_LINES: Final = 4
_MAX_OUTLINE: Final = 5_000
_LETTER: Final = re.compile(r"[^\W\d_]")
_NUMBERING: Final = re.compile(
    r"^(?:chapter|section|part|appendix)?\s*[\dA-Z]{1,5}(?:\.[\dA-Z]{1,3})*\.?\s+", re.IGNORECASE
)
_ENTRY: Final = re.compile(r"\u2026 \w{1,7}$")  # of a table of contents
_SPACE: Final = re.compile(r"[\W_]+")


class Headings:
    """What distinguishes headings in one document.

    Args:
        lines: All lines of the document.
        outline: The level of each title of the file's outline; see `outline_levels`.
    """

    def __init__(self, lines: Sequence[Line], outline: Mapping[str, int]) -> None:
        letters: Counter[float] = Counter()
        mono = 0
        for line in lines:
            letters[_rounded(line.size)] += len(line.plain)
            mono += len(line.plain) * line.mono
        self.body = letters.most_common(1)[0][0] if letters else 0.0
        """The size of most of the text, in points."""
        self.typewritten = mono > 0.7 * letters.total()
        """Whether most letters are of one width."""
        self._outline = outline
        sizes: Counter[float] = Counter()
        for line in lines:
            if line.size >= _LARGER * self.body and len(line.plain) <= _LONG and _LETTER.search(line.plain):
                sizes[_rounded(line.size)] += 1
        self._sizes = sorted(sizes, reverse=True)[:_LEVELS]

    def level(self, block: Block) -> int:
        """Return the level of a block, 1 to 6, or 0 when it is no heading."""
        plain = block.plain.strip()
        if block.kind not in {"text", "item"} or block.lines > _MOST_LINES or len(plain) > _LONG:
            return 0
        if not _LETTER.search(plain) or _ENTRY.search(plain):
            return 0
        size = _rounded(block.size)
        if block.bold or size > self.body:
            level = self._outline.get(_folded(plain), 0) or self._outline.get(_folded(_NUMBERING.sub("", plain)), 0)
            if level:
                return min(level, 6)
        if size >= _LARGER * self.body:
            return next((rank for rank, own in enumerate(self._sizes, 1) if size >= own), _LEVELS)
        if (
            block.bold
            and size >= 0.95 * self.body
            and block.lines <= 2
            and len(plain) <= _LONG_BOLD
            and not plain.endswith((".", ",", ";", ":"))
        ):
            return min(len(self._sizes) + 1, 6)
        return 0


def outline_levels(pdf: Any) -> dict[str, int]:
    """Return the level of each title of a file's outline, folded, 1 for the highest.

    Args:
        pdf: The document of pypdfium2.
    """
    found: dict[str, int] = {}
    for count, mark in enumerate(pdf.get_toc(max_depth=6)):
        if count >= _MAX_OUTLINE:
            break
        title = mark.get_title() or ""
        for form in (_folded(title), _folded(_NUMBERING.sub("", title))):
            if form:
                found.setdefault(form, mark.level + 1)
    return found


def _folded(title: str) -> str:
    return _SPACE.sub("", title).lower()


def _rounded(size: float) -> float:
    return round(size * 2) / 2
