"""Spans of citations, as code points of the whole answer."""

from __future__ import annotations

from groundwire.native.answers.values import offset

__all__ = ["ByteSpans", "in_part"]


def in_part(start: object, end: object, length: int, begins: int) -> tuple[int, int] | None:
    """Return a span of a part as one of the whole text, or None when it is none.

    Args:
        start: Where it begins in the part, in code points, as the API sent it.
        end: Where it ends.
        length: How long the part is.
        begins: Where the part begins in the whole text.
    """
    first, last = offset(start), offset(end)
    if first is None or last is None or not first < last <= length:
        return None  # 0 to 0 among them, by which OpenRouter says that it does not know
    return begins + first, begins + last


class ByteSpans:
    """Turns spans in UTF-8 bytes into spans in code points of one text.

    Args:
        text: The text of one part.
        begins: Where the part begins in the whole text, in code points.
    """

    def __init__(self, text: str, begins: int = 0) -> None:
        self._text = text
        self._begins = begins
        self._bytes = text.encode("utf-8", "surrogatepass")
        self._plain = len(self._bytes) == len(text)

    def span(self, start: object, end: object, segment: str) -> tuple[int, int] | None:
        """Return the span in the whole text, or None when there is none.

        The offsets that Gemini gives drift, above all behind characters of several bytes; the words of the segment
        decide then: the place of theirs that is nearest.

        Args:
            start: Where it begins, in bytes, as sent; Gemini leaves out 0.
            end: Where it ends.
            segment: The words that it covers, as sent, or empty.
        """
        first, last = offset(start) if start is not None else 0, offset(end)
        at = self._characters(first or 0)
        if segment and (found := self._nearest(segment, at)) is not None:
            return self._begins + found, self._begins + found + len(segment)
        if first is None or last is None or not first < last <= len(self._bytes):
            return None
        return self._begins + at, self._begins + self._characters(last)

    def _characters(self, position: int) -> int:
        if self._plain:
            return min(position, len(self._text))
        return len(self._bytes[:position].decode("utf-8", "ignore"))

    def _nearest(self, segment: str, at: int) -> int | None:
        before = self._text.rfind(segment, 0, at + len(segment))
        after = self._text.find(segment, at)
        if before < 0 or after < 0:
            found = max(before, after)
            return found if found >= 0 else None
        return before if at - before <= after - at else after
