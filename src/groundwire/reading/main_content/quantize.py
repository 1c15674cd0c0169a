"""Quantization of numbers to codes from 0 to 254, and byte columns of codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Final, TypeAlias, TypeVar

_T = TypeVar("_T")

Picker: TypeAlias = Callable[[Sequence[int]], Sequence[int]]
"""Selects the codes at certain indexes of a column."""

MAX_CODE: Final = 254
_LIMIT: Final = 32767


def _logarithms() -> bytes:
    """Return 16 log2(n + 1), linearly interpolated between powers of two, for each n up to the limit."""
    codes = bytearray()
    for power in range((_LIMIT + 1).bit_length() - 1):
        steps = 1 << power
        for part in range(min(16, steps)):
            codes += bytes((16 * power + 16 // min(16, steps) * part,)) * max(1, steps // 16)
    return bytes((*codes, min(MAX_CODE, 16 * ((_LIMIT + 1).bit_length() - 1))))


_LOG: Final = _logarithms()


def log(value: int) -> int:
    """Return 16 log2(n + 1), linearly interpolated between powers of two."""
    return _LOG[min(value, _LIMIT)]


def logs(values: Sequence[int]) -> bytes:
    """Return a column of logarithms."""
    if max(values, default=0) > _LIMIT:
        values = [min(value, _LIMIT) for value in values]
    return bytes(map(_LOG.__getitem__, values))


def ratio(part: float, total: float) -> int:
    """Return a share as a number from 0 to 200."""
    return int(200 * part / total) if total > 0 else 0


def picker(places: Sequence[int]) -> Callable[[Sequence[_T]], Sequence[_T]]:
    """Return a function that selects some indexes of a sequence; several times faster than a loop."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda column: [column[place] for place in places]


def take(column: Sequence[int], pick: Picker) -> bytes:
    """Return the selected codes of a column, as a column."""
    return bytes(pick(column))


_PARTS: Final[Mapping[int, list[bytes]]] = {
    width: [bytes(code >> shift & (1 << width) - 1 for code in range(256)) for shift in range(0, 8, width)]
    for width in (1, 2)
}
"""For fields of one and of two bits: the fields in each byte."""


class LookupColumn:
    """Maps rows to items; builds columns from values of the items.

    Args:
        places: The item of each row.
        count: The number of items.
    """

    def __init__(self, places: Sequence[int], count: int) -> None:
        self._pick: Picker | None = picker(places) if count > 256 else None
        self._row = bytes(places) if count <= 256 else b""

    def column(self, codes: Sequence[int]) -> bytes:
        """Return the code of each row's item."""
        return bytes(self._pick(codes)) if self._pick else self._row.translate(bytes(codes).ljust(256, b"\x00"))


def fields(values: Sequence[int], count: int, width: int, column_of: Callable[[Sequence[int]], bytes]) -> list[bytes]:
    """Return a column for each of the lowest fields of some numbers.

    Args:
        values: The numbers, one per item.
        count: The number of fields.
        width: Bits of a field: 1 or 2.
        column_of: Converts a code per item to the column that the fields are taken from.
    """
    rows = [column_of([value >> shift & 255 for value in values]) for shift in range(0, count * width, 8)]
    parts = _PARTS[width]
    return [rows[place // len(parts)].translate(parts[place % len(parts)]) for place in range(count)]


def stretch(start: int, length: int, count: int) -> bytes:
    """Return the position of each block in a span: 50 at its start, 150 at its end, 0 to 250 overall."""
    first, end = max(0, start - length // 2 - 1), min(count, start + 2 * length + 1)  # 0 before, 250 after
    places = bytes([min(250, max(0, 50 + 100 * (block - start) // length)) for block in range(first, end)])
    return bytes(first) + places + bytes((250,)) * (count - end)


def steps(first: int, count: int, top: int = 200) -> bytes:
    """Return the differences of consecutive numbers, each at least 0 and at most `top`."""
    row = bytes(min(max(-first, 0), count)) + bytes(range(max(first, 0), min(top, first + count)))
    return row + bytes((top,)) * (count - len(row))


def shift(column: bytes, step: int) -> bytes:
    """Return a column shifted by `step` blocks."""
    edge = bytes((MAX_CODE,)) * min(abs(step), len(column))
    return column[step:] + edge if step > 0 else edge + column[:step]
