"""The SQL of the SQLite store; each function runs inside a transaction of its caller."""

from __future__ import annotations

from sqlite3 import Connection

from groundwire.storage.base import Count, Pace

__all__ = [
    "count",
    "delete",
    "find",
    "forget",
    "keep",
    "keys",
    "lease",
    "pace",
    "release",
    "tidy",
    "touch",
]

_TIDIED = 500  # rows of one table that one clean-up deletes, so that it stays short

_TIDY = (
    "delete from entries where id in (select id from entries where stale_until <= ? limit ?)",
    "delete from counters where key in (select key from counters where until <= ? limit ?)",
    "delete from paces where key in (select key from paces where arrival <= ? limit ?)",
    "delete from leases where key in (select key from leases where until <= ? limit ?)",
)

Found = tuple[int, bytes, float, float, float]


def find(db: Connection, key: bytes, now: float) -> Found | None:
    """Return an entry's id, value, the ends of its freshness and staleness, and its last use."""
    found: Found | None = db.execute(
        "select id, value, fresh_until, stale_until, used from entries where key = ? and stale_until > ?", (key, now)
    ).fetchone()
    return found


def keep(db: Connection, row: tuple[bytes, bytes, float, float, float], max_bytes: int) -> None:
    """Keep an entry (key, value, fresh_until, stale_until, used) and push out others until all fit."""
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


def forget(db: Connection, key: bytes) -> None:
    """Delete an entry."""
    db.execute("delete from entries where key = ?", (key,))


def touch(db: Connection, now: float, row_id: int) -> None:
    """Note that an entry was used."""
    db.execute("update entries set used = ? where id = ? and used < ?", (now, row_id, now))


def keys(db: Connection, prefix: bytes, start: bytes, now: float, limit: int) -> list[bytes]:
    """Return the first keys that begin with `prefix` and do not come before `start`, in order."""
    end = prefix + b"\xff"  # a byte that UTF-8 never has
    rows = db.execute(
        "select key from entries where key >= ? and key < ? and stale_until > ? order by key limit ?",
        (start, end, now, limit),
    )
    return [key for (key,) in rows]


def count(db: Connection, key: bytes, amount: float, limit: float | None, ttl: float | None, now: float) -> Count:
    """Add to a counter if the limit allows it, in one statement."""
    if amount > 0:
        row = db.execute(
            "insert into counters (key, total, until) select :key, :amount, :now + :ttl "
            "where :limit is null or :amount <= :limit "
            "on conflict (key) do update set "
            "total = case when until <= :now then 0 else total end + :amount, "
            "until = case when until <= :now then excluded.until else until end "
            "where :limit is null or case when until <= :now then 0 else total end + :amount <= :limit "
            "returning total",
            {"key": key, "amount": float(amount), "limit": limit, "ttl": ttl, "now": now},
        ).fetchone()
    else:
        row = db.execute(
            "update counters set total = max(0.0, total + ?) where key = ? and (until is null or until > ?) "
            "returning total",
            (amount, key, now),
        ).fetchone() or (0.0,)
    if row is not None:
        return Count(granted=True, total=row[0])
    row = db.execute(
        "select total from counters where key = ? and (until is null or until > ?)", (key, now)
    ).fetchone() or (0.0,)
    return Count(granted=False, total=row[0])


def pace(db: Connection, key: bytes, interval: float, burst: int, max_wait: float | None, now: float) -> Pace:
    """Reserve the next slot of a pace."""
    row = db.execute("select arrival from paces where key = ?", (key,)).fetchone()
    arrival = max(row[0], now) if row else now
    wait = max(0.0, arrival - (burst - 1) * interval - now)
    if max_wait is not None and wait > max_wait:
        return Pace(granted=False, wait=wait, backlog=arrival - now)
    db.execute(
        "insert into paces (key, arrival) values (?, ?) on conflict (key) do update set arrival = excluded.arrival",
        (key, arrival + interval),
    )
    return Pace(granted=True, wait=wait, backlog=arrival + interval - now)


def lease(db: Connection, key: bytes, owner: str, ttl: float, now: float) -> bool:
    """Take or renew a lease, in one statement."""
    row = db.execute(
        "insert into leases (key, owner, until) values (?, ?, ?) "
        "on conflict (key) do update set owner = excluded.owner, until = excluded.until "
        "where owner = excluded.owner or until <= ? returning 1",
        (key, owner, now + ttl, now),
    ).fetchone()
    return row is not None


def release(db: Connection, key: bytes, owner: str) -> None:
    """Give a lease back."""
    db.execute("delete from leases where key = ? and owner = ?", (key, owner))


def delete(db: Connection, key: bytes) -> None:
    """Delete an entry, a counter and a pace."""
    forget(db, key)
    db.execute("delete from counters where key = ?", (key,))
    db.execute("delete from paces where key = ?", (key,))


def tidy(db: Connection, now: float) -> None:
    """Delete some of what has run out."""
    for statement in _TIDY:
        db.execute(statement, (now, _TIDIED))
