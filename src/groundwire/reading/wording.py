"""What the text of each block looks like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from groundwire.reading.codes import log
from groundwire.reading.lexicon import NEUTRAL, SHORT, Lexicon, beginning

__all__ = ["Wording", "read_wording"]

_ENDS: Final = {
    **dict.fromkeys(".!?…。！？", 1), **dict.fromkeys(",;、，", 2), ":": 3, "：": 3, **dict.fromkeys("\"”’)»]」", 4),
    **dict.fromkeys("›→>»|", 5),
}  # fmt: skip
_MONEY: Final = re.compile(r"[$€£¥₹][^\n]*")
_TIME: Final = re.compile(r"[0-9](?::[0-9]{2}|(?:(?<=\b1)9|(?<=\b2)0)[0-9]{2}\b)[^\n]*")
"""A time or a year, and the rest of its line."""
_MONEY_SIZE: Final = 40  # characters; a price in a longer block is told of, not asked
_TIME_SIZE: Final = 60
_FAR: Final = 200  # blocks since a heading


class Wording:
    """What the texts of a page look like: columns of codes, and counts for the page.

    Attributes:
        repeats: How often the text has been seen before, up to four.
        money: Short blocks with a price.
        times: Short blocks with a time or a year.
    """

    def __init__(self, count: int) -> None:
        self.ends = b""
        self.first_words = bytearray(count)
        self.two_words = bytearray(count)
        self.repeats = bytearray(count)
        self.since_heading = bytearray(count)
        self.heading_sizes = bytearray(count)
        self.money = 0
        self.times = 0


def read_wording(texts: Sequence[str], sizes: Sequence[int], headings: Sequence[bool], lexicon: Lexicon) -> Wording:
    """Return what the texts of a page look like.

    Args:
        texts: The blocks; each is one line.
        sizes: The characters of each block.
        headings: Whether each block is a heading.
        lexicon: What words mean.
    """
    found = Wording(len(texts))
    ends = _ENDS.get
    found.ends = bytes([ends(text[-1], 0) for text in texts])
    found.money = len(_MONEY.findall("\n".join([text for text in texts if len(text) < _MONEY_SIZE])))
    found.times = len(_TIME.findall("\n".join([text for text in texts if len(text) < _TIME_SIZE])))
    beginnings = "\n".join(list(map(beginning, texts)))
    lowered = beginnings.lower().split("\n")  # all at once, which takes a tenth of the time
    seen: dict[str, int] = {}
    times_seen, openings = seen.get, lexicon.openings.get
    repeats, first_words, two_words = found.repeats, found.first_words, found.two_words
    since_heading, heading_sizes = found.since_heading, found.heading_sizes
    since, heading_size = _FAR, 0
    for block, text in enumerate(lowered):
        size = sizes[block]
        if size < SHORT:
            before = times_seen(text, 0)
            seen[text] = before + 1
            if before:
                repeats[block] = min(4, before)
        one, space, rest = text.partition(" ")
        first_words[block] = openings(one + " ", NEUTRAL)
        two_words[block] = openings(f"{one} {rest.partition(' ')[0]}" if space else one, NEUTRAL)
        if headings[block]:
            since, heading_size = 0, log(size)
        elif since < _FAR:
            since += 1
        since_heading[block] = since
        heading_sizes[block] = heading_size
    return found
