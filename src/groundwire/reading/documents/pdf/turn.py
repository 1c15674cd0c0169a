"""The places of words as they are read: turned so that the text runs to the right, y growing down from the top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from groundwire.reading.documents.pdf.pdfium import Page
from groundwire.reading.documents.pdf.words import Word

__all__ = ["turned"]


def turned(page: Page, words: Sequence[Word]) -> list[list[Word]]:
    """Return the words in groups of one direction each, the one of most letters first, and change their places.

    A table that lies on its side and a stamp along the margin are read by themselves.
    """
    letters: Counter[int] = Counter()
    groups: dict[int, list[Word]] = {}
    for word in words:
        direction = max(word.face.direction, 0)  # what is askew is read as if it were not
        letters[direction] += len(word.text)
        groups.setdefault(direction, []).append(word)
    for direction, group in groups.items():
        for word in group:
            word.x0, word.y0, word.x1, word.y1 = _turn(page, direction, word)
    return [groups[direction] for direction, _ in letters.most_common()]


def _turn(page: Page, direction: int, word: Word) -> tuple[float, float, float, float]:
    left, bottom, right, top = word.x0, word.y0, word.x1, word.y1
    if direction == 0:
        return left - page.left, page.top - top, right - page.left, page.top - bottom
    if direction == 1:
        return bottom - page.bottom, left - page.left, top - page.bottom, right - page.left
    if direction == 2:
        return page.right - right, bottom - page.bottom, page.right - left, top - page.bottom
    return page.top - top, page.right - right, page.top - bottom, page.right - left
