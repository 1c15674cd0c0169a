"""Numbers as codes from 0 to 254, and rows of codes as columns of bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Final, TypeAlias, TypeVar

__all__ = [
    "MAX_CODE",
    "LookupColumn",
    "Picker",
    "fields",
    "log",
    "logs",
    "picker",
    "ratio",
    "shift",
    "steps",
    "stretch",
    "take",
]

_T = TypeVar("_T")

Picker: TypeAlias = Callable[[Sequence[int]], Sequence[int]]
"""Takes from a column the codes at certain places."""

MAX_CODE: Final = 254
_LIMIT: Final = 32767


def _logarithms() -> bytes:
    """Return 16 log2(n + 1), with straight lines between the powers, for each n up to the limit."""
    codes = bytearray()
    for power in range((_LIMIT + 1).bit_length() - 1):
        steps = 1 << power
        for part in range(min(16, steps)):
            codes += bytes((16 * power + 16 // min(16, steps) * part,)) * max(1, steps // 16)
    return bytes((*codes, min(MAX_CODE, 16 * ((_LIMIT + 1).bit_length() - 1))))


_LOG: Final = _logarithms()


def log(value: int) -> int:
    """Return 16 times the logarithm to the base 2 of a number and one, with straight lines between the powers."""
    return _LOG[min(value, _LIMIT)]


def logs(values: Sequence[int]) -> bytes:
    """Return a column of logarithms."""
    if max(values, default=0) > _LIMIT:
        values = [min(value, _LIMIT) for value in values]
    return bytes(map(_LOG.__getitem__, values))


def ratio(part: float, whole: float) -> int:
    """Return a share as a number from 0 to 200."""
    return int(200 * part / whole) if whole > 0 else 0


def picker(places: Sequence[int]) -> Callable[[Sequence[_T]], Sequence[_T]]:
    """Return a function that takes what is at some places of a sequence; several times as fast as a loop."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda column: [column[place] for place in places]


def take(column: Sequence[int], pick: Picker) -> bytes:
    """Return the picked codes of a column, as a column."""
    return bytes(pick(column))


_PARTS: Final[Mapping[int, list[bytes]]] = {
    width: [bytes(code >> shift & (1 << width) - 1 for code in range(256)) for shift in range(0, 8, width)]
    for width in (1, 2)
}
"""For fields of one and of two bits: what is in each of a byte's."""


class LookupColumn:
    """Rows that each stand for one of some things; makes columns of what is known of the things.

    Args:
        places: For each row the number of its thing.
        count: How many things there are.
    """

    def __init__(self, places: Sequence[int], count: int) -> None:
        self._pick: Picker | None = picker(places) if count > 256 else None
        self._row = bytes(places) if count <= 256 else b""

    def column(self, codes: Sequence[int]) -> bytes:
        """Return the code of each row's thing."""
        return bytes(self._pick(codes)) if self._pick else self._row.translate(bytes(codes).ljust(256, b"\x00"))


def fields(values: Sequence[int], count: int, width: int, told: Callable[[Sequence[int]], bytes]) -> list[bytes]:
    """Return a column of each of the lowest fields of some numbers.

    Args:
        values: The numbers, one a thing.
        count: How many fields.
        width: Bits of a field: 1 or 2.
        told: Makes of a code for each thing the column that the fields are taken from.
    """
    rows = [told([value >> shift & 255 for value in values]) for shift in range(0, count * width, 8)]
    parts = _PARTS[width]
    return [rows[place // len(parts)].translate(parts[place % len(parts)]) for place in range(count)]


def stretch(start: int, length: int, count: int) -> bytes:
    """Return where each block is within a span: 50 at its beginning, 150 at its end, 0 to 250 in all."""
    first, end = max(0, start - length // 2 - 1), min(count, start + 2 * length + 1)  # all before are 0, behind 250
    places = bytes([min(250, max(0, 50 + 100 * (block - start) // length)) for block in range(first, end)])
    return bytes(first) + places + bytes((250,)) * (count - end)


def steps(first: int, count: int, top: int = 200) -> bytes:
    """Return a row of numbers from one to the next, each at least 0 and at most `top`."""
    row = bytes(min(max(-first, 0), count)) + bytes(range(max(first, 0), min(top, first + count)))
    return row + bytes((top,)) * (count - len(row))


def shift(column: bytes, step: int) -> bytes:
    """Return a column that shows of each block what stands `step` blocks further."""
    edge = bytes((MAX_CODE,)) * min(abs(step), len(column))
    return column[step:] + edge if step > 0 else edge + column[:step]
