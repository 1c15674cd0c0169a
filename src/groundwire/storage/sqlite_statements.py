"""The SQL of the SQLite store; each function runs inside a transaction of its caller."""

from __future__ import annotations

import time
from collections.abc import Sequence
from sqlite3 import Connection, Cursor

from groundwire.storage.base import (
    Add,
    Answer,
    AssignNumbers,
    Count,
    Entry,
    Get,
    Lease,
    Numbers,
    Operation,
    Pace,
    Register,
    Release,
    assign_numbers,
    decode_key,
    encode_key,
    ended,
    next_count,
    next_slot,
    note_digest,
    note_key,
)

__all__ = [
    "count",
    "delete",
    "find",
    "forget",
    "keep",
    "lease",
    "number",
    "pace",
    "register",
    "release",
    "run",
    "tidy",
]

_TIDIED = 500  # rows of one table that one clean-up deletes, so that it stays short

_TIDY = (
    "delete from entries where id in (select id from entries where stale_until <= ? limit ?)",
    "delete from counters where key in (select key from counters where until <= ? limit ?)",
    "delete from paces where key in (select key from paces where arrival <= ? limit ?)",
    "delete from leases where key in (select key from leases where until <= ? limit ?)",
)
_DROPPED = (
    "delete from names where key = ?",
    "delete from notes where key = ?",
    "delete from registers where key = ?",
)
_ENDED_REGISTERS = "select key from registers where until <= ? limit 5"  # each may have thousands of names

_Db = Connection | Cursor
_Blob = bytes | bytearray


def find(db: _Db, key: _Blob, now: float) -> Entry | None:
    """Return an entry."""
    row = db.execute(
        "select value, fresh_until, stale_until from entries where key = ? and stale_until > ?", (key, now)
    ).fetchone()
    return None if row is None else Entry(*row)


def keep(db: _Db, row: tuple[_Blob, _Blob, float, float, float], max_bytes: int) -> None:
    """Store an entry (key, value, fresh_until, stale_until, now) and evict the oldest until all fit."""
    db.execute(
        "insert into entries (key, value, fresh_until, stale_until, used) values (?, ?, ?, ?, ?) "
        "on conflict (key) do update set value = excluded.value, fresh_until = excluded.fresh_until, "
        "stale_until = excluded.stale_until, used = excluded.used",
        row,
    )
    while (over := db.execute("select bytes from taken").fetchone()[0] - max_bytes) > 0:
        oldest = []
        for row_id, size in db.execute(
            "select id, length(key) + length(value) + 100 from entries order by used limit 100"
        ):
            oldest.append((row_id,))
            over -= size
            if over <= 0:
                break
        db.executemany("delete from entries where id = ?", oldest)


def forget(db: _Db, key: _Blob) -> None:
    """Delete an entry."""
    db.execute("delete from entries where key = ?", (key,))


def count(db: _Db, key: _Blob, request: Add, now: float) -> Count:
    """Add to a counter if the limit allows it."""
    row = db.execute("select total from counters where key = ? and (until is null or until > ?)", (key, now)).fetchone()
    counted = next_count(row[0] if row else 0.0, request)
    if counted.granted and row and request.amount:
        db.execute("update counters set total = ? where key = ?", (counted.total, key))
    elif counted.granted and request.amount > 0:
        until = None if request.ttl is None else now + request.ttl
        db.execute("insert or replace into counters (key, total, until) values (?, ?, ?)", (key, counted.total, until))
    return counted


def pace(db: _Db, key: _Blob, interval: float, burst: int, max_wait: float | None, now: float) -> Pace:
    """Reserve the next slot of a pace."""
    row = db.execute("select arrival from paces where key = ?", (key,)).fetchone()
    slot, arrival = next_slot(row[0] if row else None, now, interval, burst, max_wait)
    if slot.granted:
        db.execute(
            "insert into paces (key, arrival) values (?, ?) on conflict (key) do update set arrival = excluded.arrival",
            (key, arrival),
        )
    return slot


def lease(db: _Db, key: _Blob, owner: str, ttl: float, now: float) -> bool:
    """Take or renew a lease, in one statement."""
    cursor = db.execute(  # `returning` would take twice as long
        "insert into leases (key, owner, until) values (?, ?, ?) "
        "on conflict (key) do update set owner = excluded.owner, until = excluded.until "
        "where owner = excluded.owner or until <= ?",
        (key, owner, now + ttl, now),
    )
    return cursor.rowcount == 1


def release(db: _Db, key: _Blob, owner: str) -> None:
    """Release a lease."""
    db.execute("delete from leases where key = ? and owner = ?", (key, owner))


def number(db: _Db, request: AssignNumbers, max_bytes: int, now: float) -> Numbers:
    """Assign numbers to names; see `AssignNumbers`."""
    key = encode_key(request.key)
    row = db.execute("select last, until from registers where key = ?", (key,)).fetchone()
    if row is not None and row[1] <= now:
        _drop_register(db, key)
        row = None
    known: dict[bytes, int] = {}
    for name in {name for group in request.groups for name in group}:
        known |= db.execute("select name, number from names where key = ? and name = ?", (key, name))
    before = known.copy()
    numbers, last = assign_numbers(request.groups, known, max(row[0] if row else 0, request.floor))
    added = [(key, name, number) for name, number in known.items() if name not in before]
    db.executemany("insert or ignore into names (key, name, number) values (?, ?, ?)", added)
    db.execute(
        "insert into registers (key, last, until) values (?, ?, ?) "
        "on conflict (key) do update set last = excluded.last, until = excluded.until",
        (key, last, now + request.ttl),
    )
    digest = note_digest(request.note)
    noted = db.execute("select 1 from notes where key = ? and digest = ?", (key, digest)).fetchone()
    db.execute(
        "insert into notes (key, digest, place) values (?, ?, ?) on conflict (key, digest) do update set "
        "place = excluded.place",
        (key, digest, time.time_ns()),
    )
    until = now + request.ttl
    keep(db, (encode_key(note_key(request.key, digest)), request.note, until, until, now), max_bytes)
    return Numbers(numbers, noted is None)


def register(db: Connection, key: str, now: float) -> Register:
    """Return a register."""
    name = encode_key(key)
    if db.execute("select 1 from registers where key = ? and until > ?", (name, now)).fetchone() is None:
        return Register({})
    numbers = dict(db.execute("select name, number from names where key = ?", (name,)))
    digests = db.execute("select digest from notes where key = ? order by place", (name,)).fetchall()
    entries = (find(db, encode_key(note_key(key, digest)), now) for (digest,) in digests)
    return Register(numbers, tuple(entry.value for entry in entries if entry is not None))


def _drop_register(db: _Db, key: bytes) -> None:
    """Delete a register."""
    for (digest,) in db.execute("select digest from notes where key = ?", (key,)).fetchall():
        forget(db, encode_key(note_key(decode_key(key), digest)))
    for statement in _DROPPED:
        db.execute(statement, (key,))


def run(connection: Connection, operations: Sequence[Operation], max_bytes: int, now: float) -> list[Answer]:
    """Run a batch.

    Args:
        connection: The database.
        operations: See `Store.batch`.
        max_bytes: Maximum size of all values.
        now: The time in seconds since the epoch.
    """
    answers: list[Answer] = []
    db = connection.cursor()  # one for all: to make one takes as long as a short statement
    for operation in operations:
        answer: Answer = None
        if isinstance(operation, AssignNumbers):
            answer = number(db, operation, max_bytes, now)
        else:
            # The driver looks for an adapter for bytes, and for none for these.
            key = bytearray(encode_key(operation.key))
            if isinstance(operation, Get):
                answer = find(db, key, now)
            elif isinstance(operation, Add):
                answer = count(db, key, operation, now)
            elif isinstance(operation, Lease):
                answer = lease(db, key, operation.owner, operation.ttl, now)
            elif isinstance(operation, Release):
                release(db, key, operation.owner)
            elif operation.fresh + operation.stale <= 0 or len(operation.value) > max_bytes:
                forget(db, key)
            else:
                end = now + operation.fresh
                keep(db, (key, bytearray(operation.value), end, end + operation.stale, now), max_bytes)
        answers.append(answer)
        if ended(operation, answer):
            break
    return answers


def delete(db: Connection, key: bytes) -> None:
    """Delete an entry, a counter, a pace and a register."""
    forget(db, key)
    _drop_register(db, key)
    db.execute("delete from counters where key = ?", (key,))
    db.execute("delete from paces where key = ?", (key,))


def tidy(db: Connection, now: float) -> None:
    """Delete some of the expired rows."""
    for statement in _TIDY:
        db.execute(statement, (now, _TIDIED))
    for (key,) in db.execute(_ENDED_REGISTERS, (now,)).fetchall():
        _drop_register(db, key)
