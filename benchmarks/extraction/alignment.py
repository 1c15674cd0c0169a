"""The labels for training: which blocks of a page are in its reviewed text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
_MAX_PLACES = 40  # of one phrase in the reviewed text
_LONG = 8  # words; a match of this length counts though the block has more
_SHINGLE = 4


def words_of(text: str) -> list[str]:
    """Return the words that scores count: runs of letters and digits, in lower case."""
    return _WORD.findall(text.lower())


def label_blocks(texts: Sequence[str], truth: str) -> tuple[list[float], list[int]]:
    """Return the share of each block that is in the reviewed text, in its order, and each block's number of words.

    Blocks are matched with places in the reviewed text; the heaviest chain of matches that keeps the order of both
    wins, so that a menu entry does not take the place of the heading of the same words. A block outside of the chain
    still counts when its words are at a place that no block has taken.
    """
    target = words_of(truth)
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for size in range(1, _SHINGLE + 1):
        for at in range(len(target) - size + 1):
            places[tuple(target[at : at + size])].append(at)
    blocks = [words_of(text) for text in texts]
    taken = bytearray(len(target) + _SHINGLE)
    chained = _chain([_matches(block, target, places) for block in blocks], len(target))
    for start, end in chained.values():
        taken[start:end] = b"\1" * (end - start)
    shares = []
    for number, block in enumerate(blocks):
        if len(block) >= 6:
            shares.append(_covered(block, places, taken, in_chain=number in chained))
        elif number in chained:
            shares.append(1.0)
        else:
            shares.append(_free(block, target, places, taken))
    return shares, [len(block) for block in blocks]


def _matches(
    block: list[str], target: list[str], places: dict[tuple[str, ...], list[int]]
) -> list[tuple[int, int, int]]:
    found = []
    for offset in (0,) if len(block) < _LONG else (0, len(block) // 2):
        key = tuple(block[offset : offset + _SHINGLE])
        for at in places.get(key, ())[:_MAX_PLACES] if key else ():
            length = 0
            while (
                offset + length < len(block)
                and at + length < len(target)
                and block[offset + length] == target[at + length]
            ):
                length += 1
            if offset + length == len(block) or length >= _LONG:
                found.append((max(0, at - offset), length, at + length))
    return found


def _chain(matches: list[list[tuple[int, int, int]]], length: int) -> dict[int, tuple[int, int]]:
    """Return the heaviest chain of matches in order: block -> its place. A Fenwick tree of maxima."""
    size = length + 2
    best: list[tuple[float, int]] = [(0.0, -1)] * (size + 1)
    links: list[tuple[int, int, int, int]] = []  # previous link, block, start, end
    for number, found in enumerate(matches):
        fresh = []
        for start, weight, end in found:
            top, at = (0.0, -1), start + 1
            while at > 0:
                top = max(top, best[at])
                at -= at & -at
            fresh.append((top[0] + weight + 0.01, top[1], start, min(end, length)))
        for total, previous, start, end in fresh:
            links.append((previous, number, start, end))
            at = end + 1
            while at <= size:
                if total > best[at][0]:
                    best[at] = (total, len(links) - 1)
                at += at & -at
    top, at = (0.0, -1), length + 1
    while at > 0:
        top = max(top, best[at])
        at -= at & -at
    chain, link = {}, top[1]
    while link >= 0:
        link, number, start, end = links[link]
        chain[number] = (start, end)
    return chain


def _covered(block: list[str], places: dict[tuple[str, ...], list[int]], taken: bytearray, *, in_chain: bool) -> float:
    shingles = [tuple(block[at : at + _SHINGLE]) for at in range(len(block) - _SHINGLE + 1)]
    covered = bytearray(len(block))
    for at, shingle in enumerate(shingles):
        if shingle in places:
            covered[at : at + _SHINGLE] = b"\1" * _SHINGLE
    share = sum(covered) / len(block)
    if in_chain or not share:
        return share
    free = False
    for shingle in shingles:
        for at in places.get(shingle, ())[: _MAX_PLACES // 2]:
            if not taken[at + 1]:
                free = True
                break
    if not free:
        return 0.0
    for shingle in shingles:
        for at in places.get(shingle, ())[: _MAX_PLACES // 2]:
            if not taken[at]:
                taken[at : at + _SHINGLE] = b"\1" * _SHINGLE
                break
    return share


def _free(block: list[str], target: list[str], places: dict[tuple[str, ...], list[int]], taken: bytearray) -> float:
    if len(block) < 2:
        return 0.0
    for at in places.get(tuple(block[:_SHINGLE]), ())[:_MAX_PLACES]:
        end = at + len(block)
        if target[at:end] == block and not any(taken[at:end]):
            taken[at:end] = b"\1" * len(block)
            return 1.0
    return 0.0
