"""The archive's tables and every statement on them. They may share a file with the SQLite store."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from operator import attrgetter, itemgetter

from groundwire.safety.tenancy import Operator, Sharing, Viewer
from groundwire.storage.archive.fts import joined, under_domain
from groundwire.storage.archive.questions import Question
from groundwire.storage.archive.records import ArchiveHit, Item, Totals
from groundwire.storage.base import StoreError
from groundwire.storage.sqlite_db import statements

__all__ = [
    "ArchiveLimits",
    "Visible",
    "after",
    "find",
    "forget",
    "grow",
    "latest",
    "listed",
    "prepare",
    "prune",
    "put",
    "put_all",
    "totals",
    "visible_to",
]

VERSION = 2
"""The version of the tables."""

_SCHEMA = """
create table archive_about (version integer not null, bytes integer not null);
create table archive_items (
    id integer primary key, key text not null, alias text not null, kind text not null, host text not null,
    url text not null, title text not null, text text not null, asked text not null, published text,
    seen integer not null, data text not null, day text not null, size integer not null, unique (key, kind)
);
create index archive_by_time on archive_items (seen, id, size);
create virtual table archive_words using fts5(
    title, text, asked, content='archive_items', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
);
create trigger archive_out after delete on archive_items
    begin update archive_about set bytes = bytes - old.size; end;
"""
_TENANCY = """
alter table archive_items add column tenant text not null default '';
alter table archive_items add column session text not null default '';
alter table archive_items add column public integer not null default 0;
alter table archive_items add column place text generated always as (substr(key, instr(key, ' ') + 1)) virtual;
"""
"""What version 2 adds. The entries of version 1 belong to the local user and are private: no owner was recorded."""
_KEPT_UP = """
create index if not exists archive_pages_by_alias on archive_items (alias) where kind = 'page';
create index if not exists archive_pages_by_place on archive_items (place) where kind = 'page';
drop index if exists archive_by_alias;
drop index if exists archive_by_host;
drop index if exists archive_by_place;
drop trigger if exists archive_in;
"""
"""Of results, which are many and in no order, indexes by URL took half of the time of a write; only pages are looked
up so. The trigger made each insertion a savepoint, before which FTS5 writes out what it has gathered."""
_COLUMNS = Item._fields
_PUBLISHED = _COLUMNS.index("published")
_indexed = attrgetter("title", "text", "asked")
_READ = ", ".join(f"i.{name}" for name in _COLUMNS)
_PLACES = tuple("nullif(?, '')" if name == "published" else "?" for name in (*_COLUMNS, "day", "size"))
_VALUES = f"({', '.join(_PLACES)})"
_INSERT = f"insert into archive_items ({', '.join(_COLUMNS)}, day, size) values %s on conflict (key, kind) do nothing"
_AT_ONCE = 16  # items of one statement; SQLite allows some 30,000 parameters, but a statement takes memory for each
_GROWN = "update archive_about set bytes = bytes + ? where rowid = 1"  # without the condition it is a savepoint, too
_MERGED = 8  # pieces of the index on a level from which they are merged; with FTS5's own 4 a batch takes 1.1 times
_WEIGHTS = "4.0, 1.0, 1.5"  # a word in the title tells more than one in the text; so does one that was asked for
_NOT_ASKED = "{title text} : "  # what others asked for must not lead to what they found
_TOKENS = 64  # of a snippet; FTS5 gives no more
_CANDIDATES = 64  # rows that are compared with the question at least
_CHUNK = 50  # items that are read at once, as each may be large


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """What must be true of an item beyond its words."""

    allowed: tuple[str, ...] = ()
    """Only these domains and their subdomains; empty means every domain."""
    blocked: tuple[str, ...] = ()
    """Never these domains nor their subdomains."""
    first: str | None = None
    """The first day, ISO 8601."""
    last: str | None = None
    """The last day, ISO 8601."""

    def sql(self) -> tuple[str, list[str]]:
        """Return a condition on `i` and the values of its parameters."""
        parts: list[str] = ["1"]
        values: list[str] = []
        if self.allowed:
            conditions = [under_domain(domain) for domain in self.allowed]
            parts.append("(" + " or ".join(text for text, _ in conditions) + ")")
            values += [value for _, bound in conditions for value in bound]
        for domain in self.blocked:
            text, bound = under_domain(domain)
            parts.append(f"not {text}")
            values += bound
        for text, day in (("i.day >= ?", self.first), ("i.day <= ?", self.last)):
            if day is not None:
                parts.append(text)
                values.append(day)
        return " and ".join(parts), values


@dataclass(frozen=True, slots=True)
class Visible:
    """A condition on `i`: what a viewer may see."""

    sql: str
    """The condition."""
    values: tuple[str, ...] = ()
    """Its parameters."""
    with_queries: bool = True
    """Whether the queries that led to it may lead the viewer to it."""


def visible_to(viewer: Viewer, sharing: Sharing) -> tuple[Visible, ...]:
    """Return what a viewer may see, in parts that have nothing in common.

    A tenant sees what is its own. Sessions without a tenant see what is public by construction of one another, too.
    """
    if isinstance(viewer, Operator) or sharing == "all":
        return (Visible("1"),)
    own = Visible("(i.tenant = ? and i.session = ?)", (viewer.tenant, viewer.session))
    if viewer.tenant or sharing == "none":
        return (own,)
    return own, Visible("(i.tenant = '' and i.session <> ? and i.public = 1)", (viewer.session,), with_queries=False)


def _any_of(parts: Sequence[Visible]) -> tuple[str, list[str]]:
    return f"({' or '.join(part.sql for part in parts)})", [value for part in parts for value in part.values]


def prepare(db: sqlite3.Connection) -> None:
    """Make the tables, inside a transaction, unless they are there; bring those of version 1 up to date.

    Raises:
        StoreError: they are of another version.
    """
    if db.execute("select 1 from sqlite_master where name = 'archive_about'").fetchone() is None:
        for statement in statements(_SCHEMA):
            db.execute(statement)
        db.execute("insert into archive_about values (1, 0)")
    (version,) = db.execute("select version from archive_about").fetchone()
    if version == 1:
        for statement in statements(_TENANCY):
            db.execute(statement)
        db.execute("update archive_about set version = ?", (version := VERSION,))
    if version != VERSION:
        raise StoreError(
            f"It was written by another version of Groundwire (format {version}, this one has {VERSION}). "
            "Upgrade Groundwire, or set archive.path to another file."
        )
    for statement in statements(_KEPT_UP):
        db.execute(statement)
    if not db.execute("select 1 from archive_words_config where k = 'automerge' and v = ?", (_MERGED,)).fetchone():
        db.execute("insert into archive_words (archive_words, rank) values ('automerge', ?)", (_MERGED,))


def put(db: sqlite3.Connection, item: Item) -> int | None:
    """Keep an item in place of an older one of the same page; return the bytes for `grow`, None if nothing changed."""
    if (size := _insert(db, item)) is not None:
        return size
    found = db.execute(
        f"select id, {_READ} from archive_items i where key = ? and kind = ?", (item.key, item.kind)
    ).fetchone()
    if found is not None:
        older = _item(found[1:])
        if older.seen >= item.seen:
            return None
        item = item.merged(older)
        if _indexed(item) == _indexed(older):  # the index has these words already
            values = item._asdict() | {"day": item.day, "size": item.size}
            changes = ", ".join(f"{name} = :{name}" for name in values)
            db.execute(f"update archive_items set {changes} where id = :id", values | {"id": found[0]})
            return item.size - older.size
        _delete(db, "i.id = ?", (found[0],))
    return _insert(db, item)


def put_all(db: sqlite3.Connection, items: Iterable[Item], *, largest: float = math.inf) -> list[int]:
    """Keep items of different pages that take at most `largest` bytes, as `put` does; return its results without None.

    New items take a statement for many, and their words one for all of them: each statement lets go of the interpreter,
    and waits for it afterwards if other threads work, which took longer than the statements themselves.
    """
    (last,) = db.execute("select coalesce(max(id), 0) from archive_items").fetchone()
    sizes, known = list[int | None](), list[Item]()
    fitting = [(item, size) for item in items if (size := item.size) <= largest]
    for start in range(0, len(fitting), _AT_ONCE):
        some = fitting[start : start + _AT_ONCE]
        values: list[object] = []
        for item, size in some:
            values += item
            if item.published is None:  # empty instead: the driver would look for an adapter, as long as a row takes
                values[_PUBLISHED - len(_COLUMNS)] = ""
            values += (item.day, size)
        if db.execute(_INSERT % ", ".join([_VALUES] * len(some)), values).rowcount < len(some):
            before = "select 1 from archive_items where key = ? and kind = ? and id <= ?"
            old = [item for item, _ in some if db.execute(before, (item.key, item.kind, last)).fetchone()]
            known += old
            some = [one for one in some if one[0] not in old]
        sizes += [size for _, size in some]
    db.execute(
        "insert into archive_words (rowid, title, text, asked) "
        "select id, title, text, asked from archive_items where id > ?",
        (last,),
    )
    sizes += [put(db, item) for item in known]
    return [size for size in sizes if size is not None]


def grow(db: sqlite3.Connection, size: int) -> None:
    """Count what was put, once for all items of a transaction; what is deleted is counted by a trigger."""
    db.execute(_GROWN, (size,))


def _insert(db: sqlite3.Connection, item: Item) -> int | None:
    """Keep an item and its words, unless there is one of the same page and kind; return its size if it was kept."""
    made = db.execute(_INSERT % _VALUES, (*item, item.day, size := item.size))
    if made.rowcount != 1:
        return None
    db.execute(
        "insert into archive_words (rowid, title, text, asked) values (?, ?, ?, ?)",
        (made.lastrowid, item.title, item.text, item.asked),
    )
    return size


def prune(db: sqlite3.Connection, *, max_bytes: int, oldest: int) -> None:
    """Delete what was seen before `oldest` (milliseconds), then the oldest until the rest takes at most `max_bytes`."""
    _delete(db, "i.seen < ?", (oldest,))
    (excess,) = db.execute("select bytes - ? from archive_about", (max_bytes,)).fetchone()
    if excess <= 0:
        return
    gone = []
    with closing(db.execute("select id, size from archive_items order by seen, id")) as rows:
        for row, size in rows:
            gone.append(row)
            excess -= size
            if excess <= 0:
                break
    for row in gone:
        _delete(db, "i.id = ?", (row,))


def find(
    db: sqlite3.Connection,
    question: Question,
    bounds: ArchiveLimits,
    limit: int,
    offset: int,
    visible: Sequence[Visible],
    answers: bool,
) -> list[ArchiveHit]:
    """Return what has all words of the question, what an earlier search for the same found first.

    An address is returned once, whether it was read, seen, or both. For `answers` see `ArchiveQueries.search`.
    """
    condition, values = bounds.sql()
    wanted = max(_CANDIDATES, 4 * (offset + limit))  # of an address, each part may have a page and a result
    compared: dict[str, bool | None] = {}  # results of a search share its query
    candidates: list[tuple[bool, float, int, str, str, bool]] = []
    for part in visible:
        expression = question.expression if part.with_queries else f"{_NOT_ASKED}({question.expression})"
        sql = (
            f"select i.id, i.place, i.asked, bm25(archive_words, {_WEIGHTS}) as score "
            "from archive_words join archive_items i on i.id = archive_words.rowid "
            f"where archive_words match ? and {condition} and {part.sql} order by score, i.seen desc, i.kind limit ?"
        )
        for row, place, asked, score in db.execute(sql, (expression, *values, *part.values, wanted)):
            queries = asked.split("\n")
            compared |= {query: question.compare(joined(query)) for query in queries if query not in compared}
            same = {compared[query] for query in queries}
            candidates.append((not (part.with_queries and True in same), score, row, place, expression, False in same))
    candidates.sort(key=itemgetter(0, 1))
    hits: dict[str, ArchiveHit] = {}
    for other, score, row, place, expression, differs in candidates:
        if len(hits) < offset + limit and place not in hits and not (answers and other and differs):
            hit = _found(db, row, -score, expression)
            if not (answers and other) or question.within(f"{hit.title}\n{hit.snippet}"):
                hits[place] = hit
    return list(hits.values())[offset:]


def latest(db: sqlite3.Connection, key: str, visible: Sequence[Visible]) -> Item | None:
    """Return the newest page with a key, under the address asked for or the one it redirected to."""
    condition, values = _any_of(visible)
    row = db.execute(
        f"select {_READ} from archive_items i where id in ("
        "select id from archive_items where kind = 'page' and place = ? union all "
        f"select id from archive_items where kind = 'page' and alias = ?) and {condition} order by seen desc limit 1",
        (key, key, *values),
    ).fetchone()
    return None if row is None else _item(row)


def listed(db: sqlite3.Connection, limit: int, offset: int, visible: Sequence[Visible]) -> list[ArchiveHit]:
    """Return what was seen, newest first."""
    condition, values = _any_of(visible)
    rows = db.execute(
        f"select {_READ} from archive_items i where {condition} order by seen desc, id desc limit ? offset ?",
        (*values, limit, offset),
    )
    return [_item(row).found() for row in rows]


def after(db: sqlite3.Connection, last: int, visible: Sequence[Visible]) -> tuple[int, list[Item]]:
    """Return the next items in the order of their ids, and the id of the last of them."""
    condition, values = _any_of(visible)
    rows = db.execute(
        f"select id, {_READ} from archive_items i where id > ? and {condition} order by id limit ?",
        (last, *values, _CHUNK),
    ).fetchall()
    return (rows[-1][0] if rows else last), [_item(row[1:]) for row in rows]


def forget(
    db: sqlite3.Connection, *, key: str | None = None, domain: str | None = None, before: int | None = None
) -> int:
    """Delete an address, a domain with its subdomains, what was seen before a moment, or everything; return how many.

    Args:
        db: The database.
        key: An address's key.
        domain: A domain.
        before: A moment in milliseconds since the epoch.
    """
    condition: str = "1"
    values: list[str | int] = []
    if key is not None:
        condition, values = "(i.place = ? or i.alias = ?)", [key, key]
    elif domain is not None:
        condition, bound = under_domain(domain)
        values = [*bound]
    elif before is not None:
        condition, values = "i.seen < ?", [before]
    gone = _delete(db, condition, values)
    if gone:  # the index keeps the words of deleted rows until its pieces are merged
        db.execute("insert into archive_words (archive_words) values ('optimize')")
    return gone


def totals(db: sqlite3.Connection, visible: Sequence[Visible]) -> Totals:
    """Return how much there is."""
    condition, values = _any_of(visible)
    size = "(select bytes from archive_about)" if not values else "coalesce(sum(size), 0)"
    row = db.execute(
        "select count(*) filter (where kind = 'page'), count(*) filter (where kind = 'result'), min(seen), max(seen), "
        f"{size} from archive_items i where {condition}",
        values,
    ).fetchone()
    return Totals(pages=row[0], results=row[1], size=row[4], oldest=row[2], newest=row[3])


def _delete(db: sqlite3.Connection, condition: str, values: Sequence[object]) -> int:
    """Delete items and their words; return how many.

    Triggers could not do it: with an untrusted schema they may not write into a full-text table.
    """
    db.execute(
        "insert into archive_words (archive_words, rowid, title, text, asked) "
        f"select 'delete', i.id, i.title, i.text, i.asked from archive_items i where {condition}",
        values,
    )
    return db.execute(f"delete from archive_items as i where {condition}", values).rowcount


def _found(db: sqlite3.Connection, row: int, rank: float, expression: str) -> ArchiveHit:
    item = _item(db.execute(f"select {_READ} from archive_items i where id = ?", (row,)).fetchone())
    passage = db.execute(
        "select snippet(archive_words, 1, '', '', '…', ?) from archive_words where archive_words match ? and rowid = ?",
        (_TOKENS, expression, row),
    ).fetchone()
    return item.found(passage[0] if passage else None, rank)


def _item(row: Iterator[object] | Sequence[object]) -> Item:
    return Item(**dict(zip(_COLUMNS, row, strict=True)))  # type: ignore[arg-type]  # as they were written by `put`
