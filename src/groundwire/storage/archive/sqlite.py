"""The archive's tables in SQLite: connections, every statement, and what failures mean.

They may share a file with the SQLite store. An FTS5 index without content of its own has the words of the items.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import accumulate, chain, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from groundwire.safety.tenancy import Viewer
from groundwire.storage.archive.fts import quoted
from groundwire.storage.archive.records import Item
from groundwire.storage.archive.tables import (
    RANKED,
    ArchiveTables,
    Broken,
    Candidate,
    Condition,
    Search,
    filter_condition,
)
from groundwire.storage.base import StoreError
from groundwire.storage.sqlite_db import FAILURES, StoreFile, is_busy, is_damaged, statements, transaction

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
_SAMPLE = 500  # of the newest rows with a word, from whose distance all are estimated
_MOST_ROWS = 30_000  # with the words by which is ranked; each takes some tenths of a microsecond
_PRUNED = 0.9  # of the maximum size
_FIX = "Check its folder and the space on its disk, or set archive.path to another file."


class SqliteTables(ArchiveTables[sqlite3.Connection]):
    """The items of an archive in one file; see `ArchiveTables`. Each thread has a connection of its own.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = StoreFile(path, max_wait=_MAX_WAIT)
        self._lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._readers: dict[int, tuple[sqlite3.Connection, sqlite3.Connection]] = {}

    def put(self, items: Iterable[Item], *, max_bytes: int, oldest: int) -> int:
        """Keep items, some with one statement; see `ArchiveTables.put`."""
        stored = grown = 0
        fitting = (item for item in items if item.size <= max_bytes)
        with self._transaction() as db:
            (last,) = db.execute("select coalesce(max(id), 0) from archive_items").fetchone()
            while some := list(islice(fitting, _AT_ONCE)):
                values = ", ".join([_VALUES] * len(some))
                sql = f"insert into archive_items ({_COLUMNS}) values {values} on conflict (key, kind) do nothing"
                stored += (new := db.execute(sql, [*chain.from_iterable(some)]).rowcount)
                for item in some if new < len(some) else ():
                    sql = f"select id, {_ITEM} from archive_items i where key = ? and kind = ?"
                    number, *row = db.execute(sql, (item.key, item.kind)).fetchone()
                    older = Item._make(row)
                    if (merged := item.merge(older)) != older:
                        _replace(db, number, merged, reindex=number <= last and _words(merged) != _words(older))
                        grown += merged.size - older.size if number <= last else 0
                        stored += 1
            # FTS5 writes out what it has gathered before each statement that may have to be undone alone: all new words
            # are one statement, and without the condition, or with a trigger, the count of bytes would be another.
            _index(db, "id > ?", last)
            added = "(select coalesce(sum(size), 0) from archive_items where id > ?)"
            db.execute(f"update archive_about set bytes = bytes + ? + {added} where rowid = 1", (grown, last))
            _prune(db, max_bytes, oldest)
        return stored

    def stamps(self, viewer: Viewer) -> Mapping[str, tuple[str, bool]]:
        """Return the stamps of files; see `ArchiveTables.stamps`."""
        visible = self._visible(viewer)
        sql = f"select place, json_extract(data, '$.stamp'), text <> '' from archive_items i where {visible.sql}"
        with self._query() as db:
            return {place: (stamp, bool(has_text)) for place, stamp, has_text in db.execute(sql, visible.values)}

    def drop(self, places: Iterable[str], viewer: Viewer) -> None:
        """Delete items; see `ArchiveTables.drop`."""
        visible = self._visible(viewer)
        with self._transaction() as db:
            for place in places:
                _delete(db, Condition(f"i.kind = 'page' and i.place = ? and {visible.sql}", (place, *visible.values)))

    def move_aside(self) -> Path | None:
        """Rename the file with its journal; see `ArchiveTables.move_aside`."""
        writer, self._writer = self._writer, None  # other threads close their own connections
        with self._failures():
            if writer is not None:
                with suppress(sqlite3.Error):
                    writer.close()
            return self._file.move_aside()

    def close(self) -> None:
        """Close all connections, while no other thread has a call; see `ArchiveTables.close`."""
        writer, self._writer = self._writer, None
        readers, self._readers = self._readers, {}
        for db in filter(None, (writer, *(reader for reader, _ in readers.values()))):
            with suppress(sqlite3.Error):
                db.close()

    def _connect(self) -> sqlite3.Connection:
        """Return the connection for writing, to the file that is at the path now."""
        with self._lock:
            if self._writer is not None and not self._file.replaced:
                return self._writer
            db, self._writer = self._writer, None
            if db is not None:
                db.close()
            try:
                db = self._file.open()
                try:
                    db.execute("pragma secure_delete = on")  # deleted content is overwritten
                    with transaction(db, lambda: self._file.patiently(lambda: db.execute("begin immediate"))):
                        _prepare(db, self._path)
                except BaseException:
                    db.close()
                    raise
            except StoreError as exc:
                raise Broken(str(exc)) from exc
            self._writer = db
            return db

    def _reader(self) -> sqlite3.Connection:
        """Return this thread's connection for reading, to the same file as the one for writing."""
        writer = self._writer or self._connect()
        db, of = self._readers.get(thread := threading.get_ident(), (None, None))
        if db is None or of is not writer:
            if db is not None:
                db.close()
            db = self._file.connect()
            db.execute("create virtual table temp.archive_terms using fts5vocab (main, archive_words, instance)")
            db.execute("pragma query_only = on")
            self._readers[thread] = db, writer
        return db

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._failures():
            db = self._connect()
            with transaction(db, lambda: self._file.patiently(lambda: db.execute("begin immediate"))):
                yield db

    @contextmanager
    def _query(self) -> Iterator[sqlite3.Connection]:
        with self._failures():
            db = self._reader()
            end = time.monotonic() + _LONGEST_READ
            db.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            yield db

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Raise what SQLite and the system raise as `StoreError`."""
        try:
            yield
        except (*FAILURES, TypeError) as exc:  # the last by a damaged row
            raise self._failure(exc) from exc

    def _failure(self, exc: Exception) -> StoreError:
        where, code = f"The archive {self._path}", getattr(exc, "sqlite_errorcode", 0) & 0xFF
        if isinstance(exc, BlockingIOError) or is_busy(exc):
            return StoreError(f"{where} is in use by another process; try again.")
        if code == sqlite3.SQLITE_INTERRUPT:
            return StoreError(f"{where} took too long for this search; use fewer or rarer words.")
        if is_damaged(exc):
            return Broken(
                f"{where} is damaged ({str(exc)[:100]}). Move the file away; Groundwire creates a new one.",
                damaged=True,
            )
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}:
            return Broken(f"{where} cannot be written: {exc}. {_FIX}", readable=self._writer is not None)
        if isinstance(exc, OSError):
            return Broken(f"{where} cannot be opened: {exc.strerror or exc}. {_FIX}")
        return StoreError(f"{where} failed: {exc}.")

    def _reading(self, viewer: Viewer) -> AbstractContextManager[sqlite3.Connection]:
        return self._query()

    def _select(self, sql: str, values: Sequence[object], viewer: Viewer) -> Sequence[tuple[Any, ...]]:
        with self._query() as db:
            return db.execute(sql, tuple(values)).fetchall()

    def _items(self, where: str, values: Sequence[object], viewer: Viewer) -> Sequence[Item]:
        rows = self._select(f"select {_ITEM} from archive_items i where {where}", values, viewer)
        return list(map(Item._make, rows))

    def _candidates(
        self, db: sqlite3.Connection, words: Sequence[frozenset[str]], parts: Sequence[Condition], search: Search
    ) -> Sequence[Candidate]:
        expressions, within = _expressions(db, words, any_word=search.any_word), filter_condition(search)
        if expressions is None:
            return []
        return [row for part in parts for row in _candidates(db, expressions, within, part, search.candidates)]

    def _loader(self, db: sqlite3.Connection, candidates: Sequence[Candidate]) -> Callable[[Candidate], Item]:
        sql = f"select {_ITEM} from archive_items i where id = ?"
        return lambda candidate: Item._make(db.execute(sql, (candidate.row,)).fetchone())

    def _delete(self, condition: Condition) -> int:
        """Delete entries from the tables, the index and the journal."""
        with self._transaction() as db:
            deleted = _delete(db, condition)
            if deleted:  # the index keeps the words of deleted rows until its pieces are merged
                db.execute("insert into archive_words (archive_words) values ('optimize')")
        if deleted:
            with suppress(sqlite3.Error):
                db.execute("pragma wal_checkpoint(truncate)")
        return deleted


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
        _unindex(db, Condition("i.id = ?", (number,)))
    db.execute(f"update archive_items set ({_COLUMNS}) = {_VALUES} where id = ?", (*item, number))
    if reindex:
        _index(db, "id = ?", number)


def _prune(db: sqlite3.Connection, max_bytes: int, oldest: int) -> None:
    """Delete what is too old and, if the rest is too large, what was seen longest ago; more than needed, to be rare."""
    _delete(db, Condition("i.seen < ?", (oldest,)))
    (size,) = db.execute("select bytes from archive_about").fetchone()
    if size > max_bytes:
        totals = "select id, sum(size) over (order by seen desc, id desc) as total from archive_items"
        excess = f"i.id in (select id from ({totals}) where total > ?)"
        _delete(db, Condition(excess, (int(max_bytes * _PRUNED),)))


def _delete(db: sqlite3.Connection, condition: Condition) -> int:
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


def _unindex(db: sqlite3.Connection, condition: Condition) -> None:
    db.execute(
        "insert into archive_words (archive_words, rowid, title, text, asked) "
        f"select 'delete', i.id, i.title, i.text, i.asked from archive_items i where {condition.sql}",
        condition.values,
    )


class _Expressions(NamedTuple):
    """What is searched for in the index; quoted, no word is an operator (https://sqlite.org/fts5.html)."""

    all: str
    """What a row must match."""
    ranked: str
    """The part by which it is ranked: `bm25` reads the list of every row that has a word, and rare words tell more."""


def _expressions(db: sqlite3.Connection, words: Iterable[frozenset[str]], *, any_word: bool) -> _Expressions | None:
    """Return the expressions of words, of which each is in any of its forms; None if no row has them."""
    (first, last) = db.execute("select min(id), max(id) from archive_items").fetchone()
    counted: list[tuple[float, str]] = []
    for forms in words:
        present = [form for form in sorted(forms) if _is_present(db, form)]
        if present:
            either = f"({' OR '.join(map(quoted, present))})"
            sql = "select rowid from archive_words where archive_words match ? order by rowid desc limit 1 offset ?"
            row = db.execute(sql, (either, _SAMPLE - 1)).fetchone()
            counted.append((_SAMPLE if row is None else _SAMPLE * (last - first + 1) / (last - row[0] + 1), either))
        elif not any_word:
            return None
    if not counted:
        return None
    counted.sort()
    rows = list(accumulate(count for count, _ in counted))
    ranked = [either for (_, either), total in zip(counted, rows, strict=True) if total <= max(_MOST_ROWS, rows[0])]
    if any_word:  # a row with common words only is no match for them, if there are rarer ones
        return _Expressions(" OR ".join(ranked), " OR ".join(ranked))
    return _Expressions(" AND ".join(either for _, either in counted), " AND ".join(ranked))


def _is_present(db: sqlite3.Connection, form: str) -> bool:
    """Whether the index has a word; what may be several words, or is written otherwise there, counts as present."""
    if not (form.isascii() and form.isalnum()):
        return True
    return db.execute("select 1 from temp.archive_terms where term = ? limit 1", (form,)).fetchone() is not None


def _candidates(
    db: sqlite3.Connection, expressions: _Expressions, within: Condition, part: Condition, most: int
) -> Iterator[Candidate]:
    """Yield the best of the newest matches."""
    if part.by_key and not db.execute(f"select 1 from archive_items i where {part.sql}", part.values).fetchone():
        return  # else the index is read to its end for nothing: 43 % of a search in an archive without sessions
    columns = "" if part.by_queries else "{title text} : "
    rows = f"+w.rowid in (select i.id from archive_items i where {part.sql})" if part.by_key else part.sql
    if within.sql == "1 = 1" and (part.by_key or part.sql == "1 = 1"):  # without the rows, the index is enough
        source = "archive_words w"
    else:
        source = "archive_words w join archive_items i on i.id = w.rowid"
    newest = (
        f"select w.rowid from {source} where w.archive_words match ? "
        f"and {within.sql} and {rows} order by w.rowid desc limit ?"
    )
    # By the plus, the rows are not looked up in the index one by one.
    sql = (
        f"select i.id, i.place, i.asked, -score, i.seen from (select rowid as number, bm25(archive_words, {_WEIGHTS}) "
        f"as score from archive_words where archive_words match ? and +rowid in ({newest}) order by score limit ?) "
        "join archive_items i on i.id = number"
    )
    values = (f"{columns}({expressions.ranked})", f"{columns}({expressions.all})", *within.values, *part.values)
    for row in db.execute(sql, (*values, RANKED, most)):
        yield Candidate._make((*row, part.by_queries))
