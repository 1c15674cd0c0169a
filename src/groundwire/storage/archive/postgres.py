"""The archive's tables in PostgreSQL, for a fleet: every statement, and what failures mean.

Row-level security keeps tenants apart a second time: each transaction names the tenant it reads for, and the policies
let no other row through, whatever a statement asks for. It has no effect on a superuser.
"""

from __future__ import annotations

import hashlib
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.resources import files
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from groundwire.safety.tenancy import OPERATOR, Operator, Viewer
from groundwire.storage.archive.fts import joined
from groundwire.storage.archive.questions import alternatives, terms
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

_Db: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

_VERSION = 1  # of the tables
_TABLES: Final = ("items", "words", "bodies")
_WEEK = 604_800_000  # milliseconds of a partition
_COLUMNS: Final = tuple(name for name in Item._fields if name != "text")
_TYPES: Final[Mapping[str, str]] = {"seen": "bigint", "size": "integer", "public": "integer"}
_WORDS: Final = ("seen", "key", "host", "day", "tenant", "session", "public")  # what the index has besides
_ITEM = ", ".join("''" if name == "text" else f"i.{name}" for name in Item._fields)
_BODIES = f"left join archive_bodies b on b.hash = i.body and b.seen = i.seen / {_WEEK} * {_WEEK}"
_SELECT_ITEM = f"select {_ITEM}, b.body from archive_items i {_BODIES}"
_LOCK = 0x67776172  # of what changes the tables or their content, one process at a time
_CONNECTING = 3  # seconds
_LONGEST_READ, _LONGEST_WRITE, _LONGEST_WAIT = 3_000, 60_000, 10_000  # milliseconds; the last for the lock
_PRUNING = 60.0  # seconds between two looks at the size
_WEIGHTS = "{0.25, 0.25, 0.4, 1.0}"  # of the text, nothing, the queries and the title
# Rows that are loaded by one statement: to plan it for 28 weeks takes 2 ms, a row .07.
_LOADED = 16
_SAMPLE = 20  # rows of whose words those are ranked by which a question has: each form takes microseconds a row
# If more than so many of the newest rows match, reading row by row is the quicker way: for common words 33 ms of CPU
# among 10^6 pages, beside 93 by the index.
_NEWEST, _COMMON = 100, 20
# For twenty words in all their forms, the planner takes reading a week whole for cheaper than its index: a second.
_BY_INDEX = "select set_config('cpu_operator_cost', '0.25', true), set_config('random_page_cost', '1', true)"
_TEXT = 300_000  # characters of a page that are indexed; a tsvector takes a megabyte at most
_VECTOR = 700_000  # bytes
_POSITIONS = 8  # of a word in a text: more change its rank no more
_LONGEST_WORD = 200  # characters
_FIX = "Start the server or correct archive.url; what is found meanwhile waits."


class PostgresTables(ArchiveTables[_Db]):
    """The items of an archive in one database; see `ArchiveTables`. Each thread has a connection of its own.

    Args:
        url: The database, `postgresql://USER:PASSWORD@HOST/NAME`.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connections: dict[int, _Db] = {}
        self._weeks: set[int] = set()
        self._prune_at = 0.0

    def put(self, items: Iterable[Item], *, max_bytes: int, oldest: int) -> int:
        """Keep items; see `ArchiveTables.put`. Whole weeks are deleted, never the last."""
        new: dict[tuple[str, str], Item] = {}
        for item in items:
            if item.size <= max_bytes and item.seen >= oldest:
                before = new.get((item.key, item.kind))
                new[item.key, item.kind] = item if before is None else item.merge(before)
        with self._transaction(OPERATOR, writes=True) as db:
            replaced = []
            sql = f"{_SELECT_ITEM.replace('select', 'select i.id, i.body,', 1)} where i.key = any(%s)"
            for number, body, *row in db.execute(sql, ([item.key for item in new.values()],)).fetchall():
                older = _item(row)
                if (older.key, older.kind) not in new:
                    continue
                item = new[older.key, older.kind]
                if (merged := item.merge(older)) != older:
                    new[older.key, older.kind] = merged
                    replaced.append((number, older.seen, body))
                else:
                    del new[older.key, older.kind]
            for start in {item.seen - item.seen % _WEEK for item in new.values()} - self._weeks:
                for table in _TABLES:
                    db.execute(
                        f"create table if not exists archive_{table}_{start} partition of archive_{table} "
                        f"for values from ({start}) to ({start + _WEEK})"
                    )
                self._weeks.add(start)
            if new:
                _insert(db, list(new.values()))
            _delete(db, replaced)
        if time.monotonic() > self._prune_at:
            self._prune_at = time.monotonic() + _PRUNING
            self._prune(max_bytes, oldest)
        return len(new)

    def close(self) -> None:
        """Disconnect, while no other thread has a call."""
        connections, self._connections = self._connections, {}
        for db in connections.values():
            db.close()

    def _reading(self, viewer: Viewer) -> AbstractContextManager[_Db]:
        return self._transaction(viewer)

    def _select(self, sql: str, values: Sequence[object], viewer: Viewer) -> Sequence[tuple[Any, ...]]:
        with self._transaction(viewer) as db:
            return db.execute(_sql(sql), values).fetchall()

    def _items(self, where: str, values: Sequence[object], viewer: Viewer) -> Sequence[Item]:
        return list(map(_item, self._select(f"{_SELECT_ITEM} where {where}", values, viewer)))

    def _candidates(
        self, db: _Db, words: Sequence[frozenset[str]], parts: Sequence[Condition], search: Search
    ) -> Sequence[Candidate]:
        forms = sorted({term for word in words for together in alternatives(word) for term in together})
        within, candidates = filter_condition(search), list[Candidate]()
        db.execute(_BY_INDEX)
        weeks = _weeks(db)
        for part in parts:
            query = _query(words, part, any_word=search.any_word)
            order = _order(db, query)
            remaining, last, many = RANKED, len(weeks), 1
            while remaining > 0 and last > 0:  # the newest week, then two more, then four
                first = max(0, last - many)
                between = (weeks[first], weeks[last - 1] + _WEEK)
                rows = _best_rows(db, query, order, forms, (within, part), between, remaining, search.candidates)
                candidates += [Candidate._make((*row[:-1], part.by_queries)) for row in rows]
                remaining, last, many = remaining - (rows[0][-1] if rows else 0), first, 2 * many
        return candidates

    def _loader(self, db: _Db, candidates: Sequence[Candidate]) -> Callable[[Candidate], Item | None]:
        loaded: dict[int, Sequence[Any] | None] = {}
        sql = f"select i.id, {_ITEM}, b.body from archive_items i {_BODIES} where i.id = any(%s) and i.seen = any(%s)"

        def load(candidate: Candidate) -> Item | None:
            if candidate.row not in loaded:
                at = candidates.index(candidate)
                some = candidates[at : at + _LOADED]
                rows = db.execute(sql, ([each.row for each in some], [each.seen_ms for each in some]))
                loaded.update(dict.fromkeys(each.row for each in some))  # each statement sees what others have written
                loaded.update({number: row for number, *row in rows})
            row = loaded[candidate.row]
            return None if row is None else _item(row)

        return load

    def _delete(self, condition: Condition) -> int:
        """Delete entries; backups and the log of changes are the database's."""
        with self._transaction(OPERATOR, writes=True) as db:
            sql = _sql(f"select i.id, i.seen, i.body from archive_items i where {condition.sql}")
            rows = db.execute(sql, condition.values).fetchall()
            _delete(db, rows)
        return len(rows)

    def _prune(self, max_bytes: int, oldest: int) -> None:
        """Drop the weeks that are too old, and the oldest until the rest fits."""
        with suppress(StoreError), self._transaction(OPERATOR, writes=True) as db:
            weeks = _weeks(db)
            sql = "select sum(pg_total_relation_size(oid)) from pg_class where relname = any(%s)"
            names = [[f"archive_{table}_{week}" for table in _TABLES] for week in weeks]
            sizes = [int(size) for tables in names for (size,) in db.execute(sql, (tables,))]
            for at, week in enumerate(weeks):
                if week + _WEEK <= oldest or (at < len(weeks) - 1 and sum(sizes[at:]) > max_bytes):
                    db.execute(f"drop table {', '.join(names[at])}")
                    self._weeks.discard(week)

    def _connect(self) -> _Db:
        """Return this thread's connection, a new one if the old one is dead."""
        db = self._connections.pop(threading.get_ident(), None)
        if db is not None:
            try:
                db.execute("")
            except psycopg.OperationalError:
                db.close()
                db = None
        if db is None:
            db = psycopg.connect(
                self._url,
                autocommit=True,
                prepare_threshold=None,  # a pooler may give each transaction another connection
                connect_timeout=_CONNECTING,
                # To a server that is gone without a word, the system's own limits are 15 minutes and two hours.
                keepalives_idle=_CONNECTING,
                tcp_user_timeout=_LONGEST_WAIT,
                application_name="groundwire",
            )
            try:
                with db.transaction():
                    _prepare(db)
            except BaseException:
                db.close()
                raise
        self._connections[threading.get_ident()] = db
        return db

    @contextmanager
    def _transaction(self, viewer: Viewer, *, writes: bool = False) -> Iterator[_Db]:
        settings = {
            "groundwire.tenant": "" if isinstance(viewer, Operator) else viewer.tenant,
            "groundwire.operator": "on" if isinstance(viewer, Operator) else "off",
            "statement_timeout": str(_LONGEST_WRITE if writes else _LONGEST_READ),
            "lock_timeout": str(_LONGEST_WAIT),
            "idle_in_transaction_session_timeout": str(_LONGEST_WRITE),
            "jit": "off",  # with half a year of partitions, compiling took 6 s of each write and .5 s of each search
        }
        try:
            db = self._connect()
            with db.transaction():
                values = [part for pair in settings.items() for part in pair]
                db.execute(f"select {', '.join(['set_config(%s, %s, true)'] * len(settings))}", values)
                if writes:
                    db.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
                yield db
        except psycopg.Error as exc:
            raise self._failure(exc) from exc

    def _failure(self, exc: psycopg.Error) -> StoreError:
        try:
            where = f"The archive at {conninfo_to_dict(self._url).get('host', 'its database')}"
        except psycopg.ProgrammingError:  # which may quote the password
            return Broken("The setting archive.url is invalid: check its options, and write a % in a password as %25.")
        why = " ".join(str(exc).split())[:300]
        if isinstance(exc, errors.QueryCanceled):
            return StoreError(f"{where} took too long for this; use fewer or rarer words.")
        if isinstance(exc, errors.LockNotAvailable | errors.DeadlockDetected):
            return StoreError(f"{where} is in use by another process; try again.")
        if isinstance(exc, errors.DiskFull | errors.ReadOnlySqlTransaction | errors.InsufficientPrivilege):
            return Broken(f"{where} cannot be written: {why}.", readable=True)
        if isinstance(exc, errors.CheckViolation | errors.UndefinedTable):  # another process has dropped this week
            self._weeks.clear()
        if isinstance(exc, psycopg.OperationalError | psycopg.ProgrammingError):
            return Broken(f"{where} cannot be used: {why}. {_FIX}")
        return StoreError(f"{where} failed: {why}.")


def vector(item: Item) -> str:
    """Return the words of an item as a `tsvector`: those of the title count as A, those of the queries as B."""
    places_by_term: dict[str, list[str]] = {}
    size = at = 0
    for text, weight in ((item.title, "A"), (item.asked, "B"), (item.text[:_TEXT], "")):
        for term in terms(joined(text)):
            at += 1
            places = places_by_term.get(term)
            if places is None:
                if len(term) > _LONGEST_WORD or size > _VECTOR:
                    continue
                size += 4 * len(term) + 4
                places = places_by_term[term] = []
            if len(places) < _POSITIONS and at < 16_000:
                size += 2
                places.append(f"{at}{weight}")
    return " ".join(
        _quoted(term) + (f":{','.join(places)}" if places else "") for term, places in places_by_term.items()
    )


def _quoted(term: str) -> str:
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def _query(words: Iterable[frozenset[str]], part: Condition, *, any_word: bool) -> str:
    """Return what a row must match as a `tsquery`."""
    label = "" if part.by_queries else ":AD"
    either = [
        "|".join(f"({'&'.join(_quoted(term) + label for term in together)})" for together in alternatives(forms))
        for forms in words
    ]
    return ("|" if any_word else "&").join(f"({forms})" for forms in either)


def _sql(text: str) -> str:
    return text.replace("?", "%s")


def _weeks(db: _Db) -> list[int]:
    """Return the beginnings of the weeks that have a partition, in their order."""
    sql = (
        "select substr(c.relname, length('archive_items_') + 1)::bigint from pg_inherits "
        "join pg_class c on c.oid = inhrelid where inhparent = 'archive_items'::regclass order by 1"
    )
    return [int(week) for (week,) in db.execute(sql)]


def _order(db: _Db, query: str) -> str:
    """Return how the newest matches are found: common words by reading rows from the newest on, others by their index.

    The planner estimates a word in many forms wrongly: it read every row of four weeks for a word that 100 have, which
    took more than three seconds with 10^6 pages. By the addition, it has no index for the order.
    """
    newest = f"(select words from archive_words order by seen desc limit {_NEWEST}) n"
    sql = _sql(f"select count(*) from {newest} where words @@ ?::tsquery")
    (matches,) = db.execute(sql, (query,)).fetchone() or (0,)
    return "i.seen" if matches > _COMMON else "i.seen + 0"


def _best_rows(
    db: _Db,
    query: str,
    order: str,
    forms: Sequence[str],
    conditions: Sequence[Condition],
    between: tuple[int, int],
    most: int,
    best_count: int,
) -> Sequence[tuple[Any, ...]]:
    """Return the best of the newest matches between two moments, and last in each row how many were ranked."""
    where = " and ".join(condition.sql for condition in conditions)
    values = [value for condition in conditions for value in condition.values]
    sql = (
        "with found as materialized (select i.id, i.seen, i.words from archive_words i "
        f"where i.words @@ ?::tsquery and i.seen >= ? and i.seen < ? and {where} order by {order} desc limit ?), "
        f"sample as (select lexeme from (select words from found limit {_SAMPLE}) s, unnest(s.words)), "
        "asked as (select string_agg(quoted, '|')::tsquery as query from unnest(?::text[], ?::text[]) f(term, quoted) "
        f"where term in (select lexeme from sample)), best as (select id, seen, ts_rank('{_WEIGHTS}', words, "
        "(select query from asked), 1) as rank from found order by rank desc limit ?) "
        "select i.id, i.place, i.asked, best.rank, i.seen, (select count(*) from found) "
        "from best join archive_items i on i.id = best.id and i.seen = best.seen where i.seen >= ? and i.seen < ?"
    )
    lists = (forms, [_quoted(form) for form in forms])
    return db.execute(_sql(sql), (query, *between, *values, most, *lists, best_count, *between)).fetchall()


def _item(row: Sequence[Any]) -> Item:
    *fields, body = row
    return Item._make(fields)._replace(text=zlib.decompress(body).decode() if body else "")


def _insert(db: _Db, items: Sequence[Item]) -> None:
    numbers = db.execute("select nextval('archive_ids') from generate_series(1, %s)", (len(items),)).fetchall()
    hashes = [hashlib.sha256(item.text.encode()).digest() for item in items]
    bodies = {
        (item.seen - item.seen % _WEEK, name): zlib.compress(item.text.encode())
        for item, name in zip(items, hashes, strict=True)
    }
    rows = list(zip((number for (number,) in numbers), items, hashes, strict=True))
    types = {"id": "bigint", "body": "bytea"} | {name: _TYPES.get(name, "text") for name in _COLUMNS}
    _insert_rows(db, "items", types, [(n, name, *(getattr(item, c) for c in _COLUMNS)) for n, item, name in rows])
    types = {name: types[name] for name in ("id", *_WORDS)} | {"words": "tsvector"}
    _insert_rows(db, "words", types, [(n, *(getattr(item, c) for c in _WORDS), vector(item)) for n, item, _ in rows])
    types = {"seen": "bigint", "hash": "bytea", "body": "bytea"}
    _insert_rows(db, "bodies", types, [(*key, body) for key, body in bodies.items()], "on conflict do nothing")


def _insert_rows(
    db: _Db, table: str, types: Mapping[str, str], rows: Sequence[tuple[Any, ...]], conflict: str = ""
) -> None:
    """Insert rows by one statement: to plan one for each took half of the time."""
    arrays = ", ".join(f"%s::{kind}[]" for kind in types.values())
    sql = f"insert into archive_{table} ({', '.join(types)}) select * from unnest({arrays}) {conflict}"
    db.execute(sql, [list(column) for column in zip(*rows, strict=True)])


def _delete(db: _Db, rows: Sequence[tuple[Any, ...]]) -> None:
    """Delete items and words, and texts that no other item has; rows of number, moment and hash."""
    if rows:
        numbers, moments, hashes = (list(column) for column in zip(*rows, strict=True))
        for table in ("items", "words"):
            db.execute(f"delete from archive_{table} where id = any(%s) and seen = any(%s)", (numbers, moments))
        db.execute(
            "delete from archive_bodies b where hash = any(%s) and not exists (select from archive_items i "
            f"where i.body = b.hash and i.seen >= b.seen and i.seen < b.seen + {_WEEK})",
            (hashes,),
        )


def _prepare(db: _Db) -> None:
    """Make the tables, inside a transaction, unless they are there.

    Raises:
        Broken: they are of another version.
    """
    if db.execute("select to_regclass('archive_about')").fetchone() == (None,):
        db.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        if db.execute("select to_regclass('archive_about')").fetchone() == (None,):
            db.execute(files("groundwire.storage.archive").joinpath("postgres.sql").read_text(encoding="utf-8"))
    (version,) = db.execute("select version from archive_about").fetchone() or (0,)
    if version != _VERSION:
        raise Broken(
            f"The archive's database was written by another version of Groundwire (format {version}, this one has "
            f"{_VERSION}). Upgrade Groundwire, or set archive.url to another database."
        )
