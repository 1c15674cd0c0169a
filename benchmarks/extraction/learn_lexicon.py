"""The lexicon: how names and phrases predict content, averaged so that each site counts once."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from groundwire.reading.main_content.blocks import Layout
from groundwire.reading.main_content.text_features import GROUPS, Lexicon, beginning, split_name

Votes = tuple[dict[str, float], dict[str, float]]
_MIN_SITES = (3, 4)
_SHRINK = 3.0
_UNIT = 28  # steps for one unit of the logarithm of the odds
_WEAK = (10, 14)  # steps from neutral under which a word is not worth keeping
_KEYWORDS = re.compile(
    r"(?P<nav>nav|menu|breadcrumb|toolbar|pagin)"
    r"|(?P<foot>foot|copyright|sidebar|rail)"
    r"|(?P<related>relat|recommend|popular|trending|teaser|promo|advert|sponsor|newsletter|subscri|share|social|^ads?$)"
    r"|(?P<consent>cookie|consent|gdpr|modal|popup|overlay|banner)"
    r"|(?P<byline>meta|byline|author|^date|timestamp|^tags?$)"
    r"|(?P<caption>caption|figure|gallery|carousel|slider)"
    r"|(?P<comment>comment|disqus|respond|reply|review)"
    r"|(?P<thread>thread|topic|forum|message|answer|question|^posts?$|^replies$)"
    r"|(?P<article>article|entry|story|prose|markdown|paragraph|content|^(?:text|body|copy)$)"
    r"|(?P<product>product|price|spec|descri|detail|sku|variant)"
    r"|(?P<listing>result|item|card|grid|tile|list)"
)
_BITS = {name: 1 << bit for bit, name in enumerate(GROUPS)}


def collect_votes(layout: Layout, names: Sequence[str], shares: Sequence[float], words: Sequence[float]) -> Votes:
    """Return for one page, by name and by phrase, how much of the text with it is content."""
    tables: list[dict[str, list[float]]] = [defaultdict(lambda: [0.0, 0.0]) for _ in range(2)]
    chains: dict[int, frozenset[str]] = {0: frozenset()}
    split: dict[str, frozenset[str]] = {}
    for block, owner in enumerate(layout.owners):
        if words[block] <= 0:
            continue
        element, path = owner, []
        while element not in chains:
            path.append(element)
            element = layout.parents[element]
        known = chains[element]
        for inner in reversed(path):
            name = names[inner]
            if name:
                if name not in split:
                    split[name] = frozenset(split_name(name))
                known = known | split[name]
            chains[inner] = known
        text = layout.texts[block]
        weight = math.sqrt(words[block])
        keys: list[tuple[int, str, float]] = [(0, name, weight) for name in known]
        keys += [(1, key, 1.0) for key in _first_words(text)]
        for table, key, part in keys:
            entry = tables[table][key]
            entry[0] += part * shares[block]
            entry[1] += part
    names_, openings = ({key: a / b for key, (a, b) in table.items()} for table in tables)
    return names_, openings


def build_lexicon(votes: Iterable[tuple[str, Votes]]) -> Lexicon:
    """Return the lexicon of (site, votes of a page)."""
    sites: dict[str, list[Votes]] = defaultdict(list)
    for site, vote in votes:
        sites[site].append(vote)
    tables = []
    for number in range(2):
        sums: dict[str, float] = defaultdict(float)
        counts: dict[str, int] = defaultdict(int)
        for pages in sites.values():
            gathered: dict[str, list[float]] = defaultdict(list)
            for page in pages:
                for key, value in page[number].items():
                    gathered[key].append(value)
            for key, values in gathered.items():
                sums[key] += sum(values) / len(values)
                counts[key] += 1
        prior = sum(sums.values()) / max(1, sum(counts.values()))
        neutral = math.log(prior / (1 - prior))
        table = {}
        for key, count in sorted(counts.items()):
            if count < _MIN_SITES[number]:
                continue
            rate = min(0.998, max(0.002, (sums[key] + _SHRINK * prior) / (count + _SHRINK)))
            steps = round(_UNIT * (math.log(rate / (1 - rate)) - neutral))
            if abs(steps) >= _WEAK[number]:
                table[key] = max(0, min(254, 128 + steps))
        tables.append(table)
    sites_of: dict[str, set[str]] = defaultdict(set)
    for site, pages in sites.items():
        for page in pages:
            for name in page[0]:
                sites_of[name].add(site)
    groups = {
        name: group
        for name, seen in sorted(sites_of.items())
        if len(seen) >= _MIN_SITES[0] and (group := _group_of(name))
    }
    return Lexicon(tables[0], tables[1], groups)


def _group_of(word: str) -> int:
    """Return the purpose suggested by a part of a name: a bit for each of `GROUPS`."""
    mask = 0
    for match in _KEYWORDS.finditer(word):
        mask |= _BITS[match.lastgroup or ""]
    return mask


def _first_words(text: str) -> tuple[str, str]:
    """Return the keys of a block's first word and of its first two words, in lower case."""
    first, space, tail = beginning(text).lower().partition(" ")
    return first + " ", f"{first} {tail.partition(' ')[0]}" if space else first
