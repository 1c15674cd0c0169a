"""The tables of an archive, as far as they are the same in both databases.

Which rows a viewer may see, which of them a filter leaves, and which answer.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date, timedelta
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.models import Filters
from groundwire.safety.hostnames import canonical_host
from groundwire.safety.tenancy import Operator, Owner, Viewer
from groundwire.storage.archive.fts import dense, joined
from groundwire.storage.archive.records import ArchiveHit, Item
from groundwire.storage.base import StoreError

if TYPE_CHECKING:  # its tables take long to load, and are not needed to store
    from groundwire.storage.archive.questions import Question

_Db = TypeVar("_Db")

RANKED = 2_000
"""The most rows that are ranked, the newest ones: what common words alone have in common is no better for its age."""


_ROWS = 2  # of an address, that are read for a list: its page, and a result
_CANDIDATES = 64  # rows, at least


class Statistics(NamedTuple):
    """The size of the archive."""

    pages: int
    results: int
    size: int
    """Bytes, approximately, including the index."""


class Broken(StoreError):
    """The database cannot be used any more: damaged, not writable, full, or of another program.

    Args:
        message: Why, and what to do.
        readable: Whether it can still be read.
        damaged: Whether a new one can take its place.
    """

    def __init__(self, message: str, *, readable: bool = False, damaged: bool = False) -> None:
        super().__init__(message)
        self.readable = readable
        self.damaged = damaged


class Search(NamedTuple):
    """What is searched for in an archive; see `Archive.search`."""

    text: str
    filters: Filters
    today: date
    limit: int
    offset: int = 0
    answers: bool = False
    any_word: bool = False
    passages: bool = True

    @property
    def end(self) -> int:
        """How many matches are needed to leave out those before `offset`."""
        return self.offset + self.limit

    @property
    def candidates(self) -> int:
        """The best rows that are compared with the text: an address may have a page and a result of several owners."""
        return max(_CANDIDATES, 4 * self.end)


class Condition(NamedTuple):
    """A condition on the rows `i`, in SQL."""

    sql: str
    values: tuple[str | int, ...] = ()
    by_queries: bool = True
    """Whether the viewer may be led to the rows by the queries that found them."""
    by_key: bool = False
    """Whether the index of the keys gives the rows; else they are looked at one by one."""


class Candidate(NamedTuple):
    """A row that has the words."""

    row: int
    place: str
    queries: str
    rank: float
    seen_ms: int
    own: bool
    """Whether the queries that found it count; see `Condition.by_queries`."""


class ArchiveTables(ABC, Generic[_Db]):
    """The items of an archive and their full-text index, on one thread at a time.

    Every call raises `StoreError` when it failed, and then has changed nothing, or `Broken` when later ones would too.
    """

    @abstractmethod
    def put(self, items: Iterable[Item], *, max_bytes: int, oldest: int) -> int:
        """Keep items, each in place of an older one of the same page, and return how many were kept.

        Args:
            items: The items; they are kept all together or not at all.
            max_bytes: What all items may take. Those that were seen longest ago are deleted until the rest fits.
            oldest: Items seen earlier are deleted; in milliseconds since the epoch.
        """

    def find(self, search: Search, viewer: Viewer) -> Sequence[ArchiveHit]:
        """Return the best matches, an address once; see `Archive.search`."""
        from groundwire.storage.archive.questions import Question  # its tables are not needed to store

        question = Question.parse(search.text)
        if question is None:
            return []
        words = question.words if search.any_word else question.required
        with self._reading(viewer) as db:
            candidates = self._candidates(db, words, visible_parts(viewer), search)
            return best_answers(question, candidates, self._loader(db, candidates), search)

    def suggest(self, words: Sequence[str], owner: Owner, limit: int) -> Sequence[str]:
        """Return queries, then titles, of the owner's newest rows that have words beginning with these."""
        own = own_rows(owner)
        sql = f"select i.asked, i.title from archive_items i where {own.sql} order by i.seen desc, i.id desc limit ?"
        rows = self._select(sql, (*own.values, RANKED), owner)
        queries = [line for asked, _ in rows for line in asked.split("\n")]
        lines: dict[str, str] = {}
        for line in map(joined, (*queries, *(title for _, title in rows))):
            lines.setdefault(line.lower(), line)
        starts = [re.escape(word) if dense().match(word) else rf"(?<!\w){re.escape(word)}" for word in words]
        found = (line for low, line in lines.items() if all(re.search(start, low) for start in starts))
        return list(islice(found, limit))

    def pages_among(self, keys: Sequence[str], viewer: Viewer) -> frozenset[str]:
        """Return which of these have a page that the viewer may see, from what `key_of` returns for their URLs."""
        visible = self._visible(viewer)
        marks = ", ".join("?" * len(keys))
        sql = f"select place from archive_items i where kind = 'page' and place in ({marks}) and {visible.sql}"
        return frozenset(place for (place,) in self._select(sql, (*keys, *visible.values), viewer))

    def newest_page(self, key: str, viewer: Viewer) -> Item | None:
        """Return the newest page with a key, that of its address or of the one it was asked for under."""
        visible = self._visible(viewer)
        page = "i.kind = 'page' and"  # of both, or SQLite reads all pages; and all rows, unless the order is computed
        sql = f"({page} i.place = ? or {page} i.alias = ?) and {visible.sql} order by i.seen + 0 desc limit 1"
        return next(iter(self._items(sql, (key, key, *visible.values), viewer)), None)

    def stamps(self, viewer: Viewer) -> Mapping[str, tuple[str, bool]]:
        """Return the stamp of each file that the viewer may see, by its URL, and whether it has text."""
        return {}  # an index of files is a file

    def drop(self, places: Iterable[str], viewer: Viewer) -> None:
        """Delete the items of these files that the viewer may see."""

    def newest_first(self, limit: int, offset: int, viewer: Viewer) -> Sequence[ArchiveHit]:
        """Return entries in the order of `seen`, an address once."""
        visible, most = self._visible(viewer), _ROWS * (limit + offset)
        sql = f"{visible.sql} order by i.seen desc, i.id desc limit ?"
        while True:
            items = self._items(sql, (*visible.values, most), viewer)
            newest = {item.place: item for item in reversed(items)}
            firsts = [item for item in items if newest[item.place] is item]
            if len(firsts) >= limit + offset or len(items) < most:
                return [item.hit() for item in firsts[offset : offset + limit]]
            most *= _ROWS

    def forget(self, *, key: str | None, domain: str | None, before: int | None) -> int:
        """Delete what one argument selects, or everything, without a trace in the files; return how many."""
        if key is not None:
            return self._delete(Condition("(i.place = ? or i.alias = ?)", (key, key)))
        if domain is not None:
            return self._delete(below_domain(domain))
        return self._delete(Condition("1 = 1") if before is None else Condition("i.seen < ?", (before,)))

    def totals(self, viewer: Viewer) -> Statistics:
        """Return the statistics of what the viewer may see."""
        visible = self._visible(viewer)
        sql = (
            "select count(*) filter (where kind = 'page'), count(*) filter (where kind = 'result'), "
            f"coalesce(sum(size), 0) from archive_items i where {visible.sql}"
        )
        ((pages, results, size),) = self._select(sql, visible.values, viewer)
        return Statistics(pages, results, int(size))

    def move_aside(self) -> Path | None:
        """Disconnect and rename a damaged file, so that the next call makes a new one.

        Returns:
            Its new name; None if another process has renamed it, or there is no file: a server repairs its own.
        """
        return None

    @abstractmethod
    def close(self) -> None:
        """Disconnect, while no other thread has a call."""

    @abstractmethod
    def _reading(self, viewer: Viewer) -> AbstractContextManager[_Db]:
        """Return a block with a connection for what the viewer may see."""

    @abstractmethod
    def _select(self, sql: str, values: Sequence[object], viewer: Viewer) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a statement with `?` for its values."""

    @abstractmethod
    def _items(self, where: str, values: Sequence[object], viewer: Viewer) -> Sequence[Item]:
        """Return the items `i` of a statement that ends with these conditions; see `_select`."""

    @abstractmethod
    def _candidates(
        self, db: _Db, words: Sequence[frozenset[str]], parts: Sequence[Condition], search: Search
    ) -> Sequence[Candidate]:
        """Return the best of the newest matches in each part, at most `search.candidates`."""

    @abstractmethod
    def _loader(self, db: _Db, candidates: Sequence[Candidate]) -> Callable[[Candidate], Item | None]:
        """Return a function that returns the item of one of the candidates; None if it is no longer there."""

    @abstractmethod
    def _delete(self, condition: Condition) -> int:
        """Delete items without a trace; return how many."""

    def _visible(self, viewer: Viewer) -> Condition:
        return any_of(visible_parts(viewer))


def visible_parts(viewer: Viewer) -> Sequence[Condition]:
    """Return what a viewer may see, in parts that have nothing in common.

    A tenant sees what is its own. Sessions without a tenant see what is public by construction of one another, too,
    but what others asked for must not lead them to it.
    """
    if isinstance(viewer, Operator):
        return (Condition("1 = 1"),)
    own = own_rows(viewer)
    if viewer.tenant:
        return (own,)
    others = "(i.tenant = '' and i.session <> ? and i.public = 1)"
    if viewer.session:
        return own, Condition(others, (viewer.session,), by_queries=False)
    others = f"(i.key between 'session:' and 'session;' and {others})"
    return own, Condition(others, ("",), by_queries=False, by_key=True)


def own_rows(owner: Owner) -> Condition:
    """Return the condition of what belongs to an owner."""
    if bool(owner.tenant) != bool(owner.session):
        return Condition("i.key between ? and ?", (f"{owner.key} ", f"{owner.key}!"), by_key=True)
    return Condition("(i.tenant = ? and i.session = ?)", (owner.tenant, owner.session))


def any_of(parts: Sequence[Condition]) -> Condition:
    """Return the condition that one of several holds."""
    return Condition(f"({' or '.join(part.sql for part in parts)})", tuple(chain(*(part.values for part in parts))))


def filter_condition(search: Search) -> Condition:
    """Return the condition of the filters of a search."""
    filters = search.filters
    parts = [any_of([below_domain(domain) for domain in filters.allowed_domains])] if filters.allowed_domains else []
    parts += [Condition(f"not {sql}", values) for sql, values, *_ in map(below_domain, filters.blocked_domains)]
    days = {"d": 1, "w": 7, "m": 31, "y": 366}.get(filters.time_range)
    starts = [filters.published_after, days and search.today - timedelta(days=days)]
    parts += [Condition("i.day >= ?", (start.isoformat(),)) for start in starts if start]
    if filters.published_before:
        parts.append(Condition("i.day <= ?", (filters.published_before.isoformat(),)))
    return Condition(
        " and ".join(["1 = 1", *(part.sql for part in parts)]), tuple(chain(*(part.values for part in parts)))
    )


def below_domain(domain: str) -> Condition:
    """Return the condition that a host is a domain or below it; an invalid domain matches nothing."""
    try:
        host = canonical_host(domain.removeprefix("*").removeprefix("."))
    except (InvalidRequest, BlockedByPolicy):
        return Condition("(i.host is null)")
    return Condition("(i.host = ? or i.host like ? escape '!')", (host, f"%.{host.replace('_', '!_')}"))


def best_answers(
    question: Question,
    candidates: Sequence[Candidate],
    load: Callable[[Candidate], Item | None],
    search: Search,
) -> Sequence[ArchiveHit]:
    """Return the rows that answer, an address once: results of a search for the same first, then by rank.

    Args:
        question: What is asked for.
        candidates: The rows, in any order.
        load: Returns a row; None for one that was deleted or written again meanwhile.
        search: How many, and which.
    """
    compared: dict[str, bool | None] = {}  # results of a search share its query
    sorted_ones: list[tuple[bool, bool, Candidate]] = []
    for candidate in sorted(candidates, key=attrgetter("rank", "seen_ms"), reverse=True):
        queries = candidate.queries.split("\n")
        compared |= {query: question.compare(joined(query)) for query in queries if query not in compared}
        same = {compared[query] for query in queries}
        sorted_ones.append((not candidate.own or True not in same, False in same, candidate))
    hits: dict[str, ArchiveHit] = {}
    for other, differs, candidate in sorted(sorted_ones, key=lambda each: each[0]):
        is_answer = not (search.answers and other)
        if len(hits) < search.end and candidate.place not in hits and (is_answer or not differs):
            if (item := load(candidate)) is None:
                continue
            hit = item.hit(question.passage(joined(item.text)) if search.passages else "", candidate.rank)
            if is_answer or question.within(f"{hit.title}\n{hit.snippet}"):
                hits[candidate.place] = hit
    return list(hits.values())[search.offset :]
