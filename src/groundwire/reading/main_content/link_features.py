"""Features of each block's links: where they lead, and whether they announce another page.

A link whose address repeats the words of its text is the title of another article: "Storm closes harbor" leads to
`/2024/storm-closes-harbor`. Such links are other entries on an article's page, and content of a listing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from operator import sub
from typing import Final
from urllib.parse import urlsplit

from groundwire.reading.main_content.blocks import Layout
from groundwire.reading.main_content.quantize import Picker, take

__all__ = ["LINK_FEATURES", "Target", "link_columns", "target_of"]

_NOWHERE, _FRAGMENT, _INTERNAL, _EXTERNAL, _SOCIAL, _TAXONOMY = range(6)
_LEVELS: Final = (1, 2, 3)

LINK_FEATURES: Final = (
    "to_fragment", "to_page", "to_other_site", "to_social", "to_taxonomy", "entry",
    *(f"{what}@{level}" for level in _LEVELS for what in ("entries", "other_sites")), "entries_near",
)  # fmt: skip
"""The names of the columns: the shares of a block's text that lead to the same page, another page of the site, another
site, a social network or a contact, a list of pages by author or subject; the words that a link and its text share;
the same for the blocks with the same ancestors, and for those around it."""

Target = tuple[int, tuple[str, ...]]
"""The kind of a link, and the words of its last path segment, in lower case."""

_MAX_LINK: Final = 1_000  # characters
_ADDRESS: Final = re.compile(r"(?:https?:)?//(?:www\.)?([^/?#:]*)[^/?#]*([^?#]*)")
_CONTACTS: Final = ("mailto:", "tel:", "sms:", "whatsapp:")
_NETWORKS: Final = frozenset(
    {
        "addtoany.com", "facebook.com", "flipboard.com", "getpocket.com", "instagram.com", "linkedin.com",
        "pinterest.com", "reddit.com", "t.me", "telegram.me", "threads.net", "tiktok.com", "tumblr.com", "twitter.com",
        "vk.com", "wa.me", "whatsapp.com", "x.com", "xing.com", "youtube.com",
    }
)  # fmt: skip
_TAXONOMIES: Final = re.compile(
    r"/(?:authors?|autor|tags?|schlagwort|categor(?:y|ies)|topics?|themen?|labels?|users?|profiles?|people|sections?"
    r"|archives?|search|by)(?:/|$)"
)
_WORDS: Final = re.compile(r"[^\W_]{3,}")
_MIN_WORDS: Final = 2
_MOST: Final = 9
_ENTRY: Final = 3  # common words from which a link's text is the title of another page
_NEAR: Final = 5  # blocks


def target_of(href: str, host: str, path: str) -> Target:
    """Return the kind of a link.

    Args:
        href: Its address, as in the page.
        host: The page's host, in lower case, without `www.`.
        path: The page's path, in lower case.
    """
    link = href[:_MAX_LINK].strip().lower()
    if not link or link.startswith(("javascript:", "data:")):
        return _NOWHERE, ()
    if link[0] == "#":
        return _FRAGMENT, ()
    if link.startswith(_CONTACTS):
        return _SOCIAL, ()
    if (match := _ADDRESS.match(link)) is not None:
        other, place = match[1], match[2]
        if other != host:
            is_network = ".".join(other.rsplit(".", 2)[-2:]) in _NETWORKS
            return _SOCIAL if is_network else _EXTERNAL, ()
    else:
        place = link.partition("#")[0].partition("?")[0]
    if "#" in link and place in {"", path}:
        return _FRAGMENT, ()
    if _TAXONOMIES.search(place) is not None:
        return _TAXONOMY, ()
    words = _WORDS.findall(place.rstrip("/").rpartition("/")[2])
    return _INTERNAL, tuple(words) if len(words) >= _MIN_WORDS else ()


def link_columns(layout: Layout, around: Sequence[Picker]) -> list[bytes]:
    """Return the columns of `LINK_FEATURES`.

    Args:
        layout: The page.
        around: Select for each block the value of its element, of its parent, and so on.
    """
    count = len(layout.texts)
    host, path = _place_of(layout.url)
    targets: dict[int, Target] = {}
    shares = [bytearray(count) for _ in range(_TAXONOMY)]
    entries = bytearray(count)
    for block, pieces in layout.targets.items():
        sizes = [0] * (_TAXONOMY + 1)
        common = 0
        for number, size in pieces:
            target = targets.get(number)
            if target is None:
                target = targets[number] = target_of(layout.hrefs[number], host, path)
            kind, words = target
            sizes[kind] += size
            if words:
                text = layout.texts[block].lower()
                common = max(common, sum([word in text for word in words]))
        entries[block] = min(_MOST, common)
        length = layout.lengths[block]
        for kind, column in enumerate(shares, 1):
            if sizes[kind]:
                column[block] = min(200, 200 * sizes[kind] // length)
    is_entry = [int(common >= _ENTRY) for common in entries]
    leads_away = [int(share > 100) for share in shares[_EXTERNAL - 1]]
    columns = [*map(bytes, shares), bytes(entries)]
    total = len(layout.parents)
    for level in _LEVELS:
        elements = around[level](range(total))
        counts = _sums(elements, [1] * count, total)
        for marks in (is_entry, leads_away):
            sums = _sums(elements, marks, total) if any(marks) else bytes(total)
            codes = [200 * part // whole if part else 0 for part, whole in zip(sums, counts, strict=True)]
            columns.append(take(codes, around[level]))
    sums = list(accumulate(is_entry, initial=0))
    ends = [*sums[_NEAR + 1 :], *[sums[-1]] * min(count, _NEAR)]
    columns.append(bytes(map(sub, ends, [*[0] * min(count, _NEAR), *sums[: max(0, count - _NEAR)]])))
    return columns


def _place_of(url: str) -> tuple[str, str]:
    """Return the host and the path of a page, in lower case; empty if it has none."""
    try:
        parts = urlsplit(url[:2_000].lower())
        return (parts.hostname or "").removeprefix("www."), parts.path
    except ValueError:
        return "", ""


def _sums(elements: Sequence[int], values: Sequence[int], total: int) -> Sequence[int]:
    """Return for each element the sum of the values of its blocks."""
    sums = [0] * total
    for element, value in zip(elements, values, strict=True):
        sums[element] += value
    return sums
