"""A small ranked index of the miniature web, used by all its search services.

Ranking is Okapi BM25 over title and text, the title counted several times. Ties fall in the order of the pages, so
that a query always gives the same list.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from groundwire.testing.site import Site, SitePage

__all__ = ["IndexHit", "Library"]

_TITLE_WEIGHT = 5
_K1, _B = 1.2, 0.75  # the usual constants of BM25
_SNIPPET = 240  # characters
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do does for from how i in is it its of on or that the this to was what when "
        "where which who why will with",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHit:
    """A matching page."""

    url: str
    title: str
    snippet: str
    published: date
    site: Site
    page: SitePage


@dataclass(frozen=True, slots=True)
class _Entry:
    site: Site
    page: SitePage
    counts: Counter[str]
    length: int


class Library:
    """The index.

    Args:
        sites: Whose pages are found; a page without text is left out.
        today: The day from which pages are dated.
        named: Whether results carry names under .test instead of addresses.
    """

    def __init__(self, sites: Sequence[Site], today: date, *, named: bool = False) -> None:
        self.sites: tuple[Site, ...] = tuple(sites)
        """Whose pages are found."""
        self.today = today
        self.named = named

    def search(
        self,
        text: str,
        *,
        within_days: int | None = None,
        hosts: Iterable[str] = (),
        not_hosts: Iterable[str] = (),
    ) -> list[IndexHit]:
        """Return the pages that contain a word of `text`, best first.

        Args:
            text: Words; case, order and very common words do not matter.
            within_days: Only pages at most this old.
            hosts: Only pages of these hosts and of hosts below them; empty means every host.
            not_hosts: No pages of these hosts, nor of hosts below them.
        """
        words = list(dict.fromkeys(_words(text)))
        included, excluded = tuple(hosts), tuple(not_hosts)
        ranked: list[tuple[float, _Entry]] = []
        for entry in self._entries:
            if within_days is not None and entry.page.age_days > within_days:
                continue
            if (included and not _under(entry.site, included)) or _under(entry.site, excluded):
                continue
            if score := self._score(words, entry):
                ranked.append((score, entry))
        ranked.sort(key=lambda pair: -pair[0])
        return [
            IndexHit(
                url=entry.site.page(entry.page.name, named=self.named),
                title=entry.page.title,
                snippet=_snippet(entry.page.text, words),
                published=entry.site.published(entry.page),
                site=entry.site,
                page=entry.page,
            )
            for _, entry in ranked
        ]

    @cached_property
    def _entries(self) -> tuple[_Entry, ...]:
        entries = []
        for site in self.sites:
            for page in site.contents:
                if page.text:
                    counts = Counter(_words(page.title) * _TITLE_WEIGHT + _words(page.text))
                    entries.append(_Entry(site, page, counts, counts.total()))
        return tuple(entries)

    @cached_property
    def _spread(self) -> Counter[str]:
        return Counter(word for entry in self._entries for word in entry.counts)

    @cached_property
    def _mean_length(self) -> float:
        return sum(entry.length for entry in self._entries) / max(1, len(self._entries))

    def _score(self, words: list[str], entry: _Entry) -> float:
        total, size = 0.0, len(self._entries)
        for word in words:
            if times := entry.counts[word]:
                rarity = math.log(1 + (size - self._spread[word] + 0.5) / (self._spread[word] + 0.5))
                damping = _K1 * (1 - _B + _B * entry.length / self._mean_length)
                total += rarity * times * (_K1 + 1) / (times + damping)
        return total


def _words(text: str) -> list[str]:
    plain = (word for word in re.findall(r"\w+", text.lower()) if word not in _STOP)
    return [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in plain]


def _under(site: Site, hosts: tuple[str, ...]) -> bool:
    names = (site.host, "127.0.0.1")
    return any(name == host or name.endswith(f".{host}") for name in names for host in hosts)


def _snippet(text: str, words: list[str]) -> str:
    """Return the run of whole sentences with the most matching words."""
    sentences = re.split(r"(?<=[.!?])\s+", text)
    matches = [len(set(_words(sentence)) & set(words)) for sentence in sentences]
    start = matches.index(max(matches))
    snippet = sentences[start]
    for sentence in sentences[start + 1 :]:
        if len(snippet) + len(sentence) > _SNIPPET:
            break
        snippet += " " + sentence
    return snippet if len(snippet) <= _SNIPPET else snippet[: _SNIPPET - 4].rsplit(" ", 1)[0] + " ..."
