"""The archive's tables in SQLite: connections, every statement, and what failures mean.

They may share a file with the SQLite store. An FTS5 index without content of its own has the words of the items.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from itertools import chain, islice
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import NamedTuple

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.models import Filters
from groundwire.safety.hostnames import canonical_host
from groundwire.safety.tenancy import Operator, Sharing, Viewer
from groundwire.storage.archive.base import Broken, Statistics
from groundwire.storage.archive.fts import joined
from groundwire.storage.archive.questions import Question
from groundwire.storage.archive.records import ArchiveHit, Item, seen_at
from groundwire.storage.base import StoreError
from groundwire.storage.sqlite_db import StoreFile, is_busy, is_damaged, statements, transaction

__all__ = ["SqliteTables"]

_VERSION = 2  # of the tables
_ITEM = ", ".join(f"coalesce(i.{name}, '')" if name == "published" else f"i.{name}" for name in Item._fields)
_COLUMNS = ", ".join(Item._fields)
_VALUES = f"({', '.join('?' * len(Item._fields))})"
_words = attrgetter("title", "text", "asked")

_MAX_WAIT = 1.0  # seconds to wait for another process
_LONGEST_READ = 3.0  # seconds
_STEPS = 20_000  # of SQLite's virtual machine between two checks of the time
_AT_ONCE = 16  # items of one statement, each of which waits for the interpreter; one takes memory for its parameters
_WEIGHTS = "4.0, 1.0, 1.5"  # a word in the title tells more than one in the text; so does one that was asked for
_MOST_MATCHES = 2_000  # FTS5 takes 0.03 s for the passage of as many, and the square of it for more: 10 s for 40,000
_ROOT = 4  # letters by which forms of a word are counted
_TOKENS = 64  # of a snippet; FTS5 gives no more
_CANDIDATES = 64  # rows that are compared with the question at least
_PRUNED = 0.9  # of the maximum size
_FIX = "Check its folder and the space on its disk, or set archive.path to another file."


class _Condition(NamedTuple):
    """A condition on the items `i`."""

    sql: str
    values: tuple[str | int, ...] = ()
    columns: str = ""
    """The part of the index in which the viewer may look, as an FTS5 column filter; empty means all of it."""


class SqliteTables:
    """The items of an archive in one file; see `ArchiveTables`. It has a connection for writing and one for reading.

    Args:
        path: The file.
        sharing: What owners see of one another.
    """

    def __init__(self, path: Path, sharing: Sharing) -> None:
        self._path = path
        self._sharing = sharing
        self._file = StoreFile(path, max_wait=_MAX_WAIT)
        self._connections: tuple[sqlite3.Connection, sqlite3.Connection] | None = None

    def put(self, items: Iterable[Item], *, max_bytes: int, oldest: int) -> int:
        """Keep items, some with one statement; see `ArchiveTables.put`."""
        kept = grown = 0
        fitting = (item for item in items if item.size <= max_bytes)
        with self._transaction() as db:
            (last,) = db.execute("select coalesce(max(id), 0) from archive_items").fetchone()
            while some := list(islice(fitting, _AT_ONCE)):
                values = ", ".join([_VALUES] * len(some))
                sql = f"insert into archive_items ({_COLUMNS}) values {values} on conflict (key, kind) do nothing"
                kept += (new := db.execute(sql, [*chain.from_iterable(some)]).rowcount)
                for item in some if new < len(some) else ():
                    sql = f"select id, {_ITEM} from archive_items i where key = ? and kind = ?"
                    number, *row = db.execute(sql, (item.key, item.kind)).fetchone()
                    older = Item._make(row)
                    if item.seen >= older.seen and (merged := item.merged(older)) != older:
                        _replace(db, number, merged, reindex=number <= last and _words(merged) != _words(older))
                        grown += merged.size - older.size if number <= last else 0
                        kept += 1
            # FTS5 writes out what it has gathered before each statement that may have to be undone alone: all new words
            # are one statement, and without the condition, or with a trigger, the count of bytes would be another.
            _index(db, "id > ?", last)
            added = "(select coalesce(sum(size), 0) from archive_items where id > ?)"
            db.execute(f"update archive_about set bytes = bytes + ? + {added} where rowid = 1", (grown, last))
            _prune(db, max_bytes, oldest)
        return kept

    def find(
        self,
        question: str,
        viewer: Viewer,
        filters: Filters,
        today: date,
        *,
        limit: int,
        offset: int,
        answers: bool,
        any_word: bool = False,
        passages: bool = True,
    ) -> Sequence[ArchiveHit]:
        """Return the best matches, an address once; see `ArchiveTables.find`."""
        asked_for = Question.read(question)
        if asked_for is None:
            return []
        within = _within(filters, today)
        wanted = max(_CANDIDATES, 4 * (offset + limit))  # of an address, each part may have a page and a result
        compared: dict[str, bool | None] = {}  # results of a search share its query
        candidates: list[tuple[bool, float, int, str, str, bool]] = []
        hits: dict[str, ArchiveHit] = {}
        with self._query() as db:
            for part in self._visible(viewer):
                expression = f"{part.columns}({asked_for.any_word if any_word else asked_for.expression})"
                sql = (
                    f"select i.id, i.place, i.asked, bm25(archive_words, {_WEIGHTS}) as score "
                    "from archive_words join archive_items i on i.id = archive_words.rowid where archive_words match ? "
                    f"and {within.sql} and {part.sql} order by score, i.seen desc, i.kind limit ?"
                )
                for row, place, asked, score in db.execute(sql, (expression, *within.values, *part.values, wanted)):
                    queries = asked.split("\n")
                    compared |= {query: asked_for.compare(joined(query)) for query in queries if query not in compared}
                    same = {compared[query] for query in queries}
                    other = part.columns != "" or True not in same
                    candidates.append((other, score, row, place, expression, False in same))
            candidates.sort(key=itemgetter(0, 1))
            for other, score, row, place, expression, differs in candidates:
                is_answer = not (answers and other)
                if len(hits) < offset + limit and place not in hits and (is_answer or not differs):
                    hit = _hit(db, row, -score, expression if passages else "", question)
                    if is_answer or asked_for.within(f"{hit.title}\n{hit.snippet}"):
                        hits[place] = hit
        return list(hits.values())[offset:]

    def newest_page(self, key: str, viewer: Viewer) -> Item | None:
        """Return a page; see `ArchiveTables.newest_page`."""
        visible = self._any_visible(viewer)
        found = (
            "select id from archive_items where kind = 'page' and place = ? "
            "union all select id from archive_items where kind = 'page' and alias = ?"
        )
        sql = f"select {_ITEM} from archive_items i where id in ({found}) and {visible.sql} order by seen desc limit 1"
        with self._query() as db:
            row = db.execute(sql, (key, key, *visible.values)).fetchone()
        return None if row is None else Item._make(row)

    def stamps(self, viewer: Viewer) -> Mapping[str, tuple[str, bool]]:
        """Return the stamps of files; see `ArchiveTables.stamps`."""
        visible = self._any_visible(viewer)
        sql = f"select place, json_extract(data, '$.stamp'), text <> '' from archive_items i where {visible.sql}"
        with self._query() as db:
            return {place: (stamp, bool(has_text)) for place, stamp, has_text in db.execute(sql, visible.values)}

    def drop(self, places: Iterable[str], viewer: Viewer) -> None:
        """Delete items; see `ArchiveTables.drop`."""
        visible = self._any_visible(viewer)
        with self._transaction() as db:
            for place in places:
                _delete(db, _Condition(f"i.kind = 'page' and i.place = ? and {visible.sql}", (place, *visible.values)))

    def newest_first(self, limit: int, offset: int, viewer: Viewer) -> Sequence[ArchiveHit]:
        """Return entries; see `ArchiveTables.newest_first`."""
        visible = self._any_visible(viewer)
        sql = f"select {_ITEM} from archive_items i where {visible.sql} order by seen desc, id desc limit ? offset ?"
        with self._query() as db:
            return [Item._make(row).hit() for row in db.execute(sql, (*visible.values, limit, offset))]

    def forget(self, *, key: str | None, domain: str | None, before: int | None) -> int:
        """Delete entries from the tables, the index and the journal; see `ArchiveTables.forget`."""
        condition = _Condition("1")
        if key is not None:
            condition = _Condition("(i.place = ? or i.alias = ?)", (key, key))
        elif domain is not None:
            condition = _under(domain)
        elif before is not None:
            condition = _Condition("i.seen < ?", (before,))
        with self._transaction() as db:
            if gone := _delete(db, condition):  # the index keeps the words of deleted rows until its pieces are merged
                db.execute("insert into archive_words (archive_words) values ('optimize')")
        if gone:
            with suppress(sqlite3.Error):
                db.execute("pragma wal_checkpoint(truncate)")
        return gone

    def totals(self, viewer: Viewer) -> Statistics:
        """Return statistics; see `ArchiveTables.totals`."""
        visible = self._any_visible(viewer)
        size = "coalesce(sum(size), 0)" if visible.values else "(select bytes from archive_about)"
        with self._query() as db:
            pages, results, size, *times = db.execute(
                "select count(*) filter (where kind = 'page'), count(*) filter (where kind = 'result'), "
                f"{size}, min(seen), max(seen) from archive_items i where {visible.sql}",
                visible.values,
            ).fetchone()
        oldest, newest = (None if moment is None else seen_at(moment) for moment in times)
        return Statistics(pages, results, int(size), oldest, newest)

    def move_aside(self) -> Path | None:
        """Rename the file with its journal; see `ArchiveTables.move_aside`."""
        self.close()
        with self._failures():
            return self._file.move_aside()

    def close(self) -> None:
        """Close both connections."""
        connections, self._connections = self._connections or (), None
        for db in connections:
            with suppress(sqlite3.Error):
                db.close()

    def _connect(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        if self._connections is not None and not self._file.replaced:
            return self._connections
        self.close()
        try:
            self._connections = self._file.open()
            db, _ = self._connections
            db.execute("pragma secure_delete = on")  # deleted content is overwritten
            with transaction(db, lambda: self._file.patiently(lambda: db.execute("begin immediate"))):
                _prepare(db, self._path)
        except StoreError as exc:
            self.close()
            raise Broken(str(exc)) from exc
        except BaseException:
            self.close()
            raise
        return self._connections

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._failures():
            db, _ = self._connect()
            with transaction(db, lambda: self._file.patiently(lambda: db.execute("begin immediate"))):
                yield db

    @contextmanager
    def _query(self) -> Iterator[sqlite3.Connection]:
        with self._failures():
            _, db = self._connections or self._connect()
            end = time.monotonic() + _LONGEST_READ
            db.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            yield db

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Raise what SQLite and the system raise as `StoreError`."""
        try:
            yield
        except (OSError, sqlite3.Error) as exc:
            raise self._failure(exc) from exc

    def _failure(self, exc: OSError | sqlite3.Error) -> StoreError:
        where, code = f"The archive {self._path}", getattr(exc, "sqlite_errorcode", 0) & 0xFF
        if isinstance(exc, BlockingIOError) or is_busy(exc):
            return StoreError(f"{where} is in use by another process; try again.")
        if code == sqlite3.SQLITE_INTERRUPT:
            return StoreError(f"{where} took too long for this search; use fewer or rarer words.")
        if is_damaged(exc):
            return Broken(
                f"{where} is damaged ({exc}). Move the file away; Groundwire creates a new one.", damaged=True
            )
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}:
            return Broken(f"{where} cannot be written: {exc}. {_FIX}", readable=self._connections is not None)
        if isinstance(exc, OSError):
            return Broken(f"{where} cannot be opened: {exc.strerror or exc}. {_FIX}")
        return StoreError(f"{where} failed: {exc}.")

    def _visible(self, viewer: Viewer) -> Sequence[_Condition]:
        """Return what a viewer may see, in parts that have nothing in common.

        A tenant sees what is its own. Sessions without a tenant see what is public by construction of one another, too,
        but what others asked for must not lead them to it.
        """
        if isinstance(viewer, Operator) or self._sharing == "all":
            return (_Condition("1"),)
        own = _Condition("(i.tenant = ? and i.session = ?)", (viewer.tenant, viewer.session))
        if viewer.tenant or self._sharing == "none":
            return (own,)
        shared = "(i.tenant = '' and i.session <> ? and i.public = 1)"
        return own, _Condition(shared, (viewer.session,), "{title text} : ")

    def _any_visible(self, viewer: Viewer) -> _Condition:
        return _any(self._visible(viewer))


def _any(parts: Sequence[_Condition]) -> _Condition:
    return _Condition(f"({' or '.join(part.sql for part in parts)})", tuple(chain(*(part.values for part in parts))))


def _within(filters: Filters, today: date) -> _Condition:
    """Return the condition of filters."""
    parts = [_any([_under(domain) for domain in filters.allowed_domains])] if filters.allowed_domains else []
    parts += [_Condition(f"not {sql}", values) for sql, values, _ in map(_under, filters.blocked_domains)]
    days = {"d": 1, "w": 7, "m": 31, "y": 366}.get(filters.time_range)
    starts = [filters.published_after, days and today - timedelta(days=days)]
    parts += [_Condition("i.day >= ?", (start.isoformat(),)) for start in starts if start]
    if filters.published_before:
        parts.append(_Condition("i.day <= ?", (filters.published_before.isoformat(),)))
    return _Condition(
        " and ".join(["1", *(part.sql for part in parts)]), tuple(chain(*(part.values for part in parts)))
    )


def _under(domain: str) -> _Condition:
    """Return the condition that a host is a domain or below it; an invalid domain matches nothing."""
    try:
        host = canonical_host(domain.removeprefix("*").removeprefix("."))
    except (InvalidRequest, BlockedByPolicy):
        return _Condition("(i.host is null)")
    return _Condition("(i.host = ? or substr(i.host, -length(?)) = ?)", (host, f".{host}", f".{host}"))


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables, inside a transaction, unless they are there.

    Raises:
        StoreError: they are of another version.
    """
    if db.execute("select 1 from sqlite_master where name = 'archive_about'").fetchone() is None:
        for statement in statements("archive/archive.sql"):
            db.execute(statement)
    (version,) = db.execute("select version from archive_about").fetchone()
    if version != _VERSION:
        raise StoreError(
            f"{path} was written by another version of Groundwire (format {version}, this one has {_VERSION}). "
            "Upgrade Groundwire, or set archive.path to another file."
        )


def _replace(db: sqlite3.Connection, number: int, item: Item, *, reindex: bool) -> None:
    """Put an item instead of an older one, with other words in the index if it has other words."""
    if reindex:
        _unindex(db, _Condition("i.id = ?", (number,)))
    db.execute(f"update archive_items set ({_COLUMNS}) = {_VALUES} where id = ?", (*item, number))
    if reindex:
        _index(db, "id = ?", number)


def _prune(db: sqlite3.Connection, max_bytes: int, oldest: int) -> None:
    """Delete what is too old and, if the rest is too large, what was seen longest ago; more than needed, to be rare."""
    _delete(db, _Condition("i.seen < ?", (oldest,)))
    (size,) = db.execute("select bytes from archive_about").fetchone()
    if size > max_bytes:
        totals = "select id, sum(size) over (order by seen desc, id desc) as total from archive_items"
        excess = f"i.id in (select id from ({totals}) where total > ?)"
        _delete(db, _Condition(excess, (int(max_bytes * _PRUNED),)))


def _delete(db: sqlite3.Connection, condition: _Condition) -> int:
    """Delete items and their words; return how many.

    Triggers could not do it: with an untrusted schema they may not write into a full-text table.
    """
    _unindex(db, condition)
    return db.execute(f"delete from archive_items as i where {condition.sql}", condition.values).rowcount


def _index(db: sqlite3.Connection, condition: str, number: int) -> None:
    db.execute(
        "insert into archive_words (rowid, title, text, asked) "
        f"select id, title, text, asked from archive_items where {condition}",
        (number,),
    )


def _unindex(db: sqlite3.Connection, condition: _Condition) -> None:
    db.execute(
        "insert into archive_words (archive_words, rowid, title, text, asked) "
        f"select 'delete', i.id, i.title, i.text, i.asked from archive_items i where {condition.sql}",
        condition.values,
    )


def _repeats(text: str, question: str) -> bool:
    """Whether a word of the question stands so often in a text that finding the best passage would take long."""
    if len(text) < 2 * _MOST_MATCHES:
        return False
    plain = text.casefold()
    return any(plain.count(word[:_ROOT]) > _MOST_MATCHES for word in question.casefold().split())


def _hit(db: sqlite3.Connection, number: int, rank: float, expression: str, question: str) -> ArchiveHit:
    item = Item._make(db.execute(f"select {_ITEM} from archive_items i where id = ?", (number,)).fetchone())
    if not expression or _repeats(item.text, question):
        return item.hit(rank=rank)
    sql = (
        "select snippet(archive_words, 1, '', '', '…', ?) from archive_words where archive_words match ? and rowid = ?"
    )
    (passage,) = db.execute(sql, (_TOKENS, expression, number)).fetchone() or ("",)
    return item.hit(passage, rank)
