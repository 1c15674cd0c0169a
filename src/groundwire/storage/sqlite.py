"""A store in one SQLite file, for any number of processes of one machine.

Reads run in the calling thread, as they take some microseconds and never wait (write-ahead log); writes
run in another thread, as they may have to wait for another process. That thread combines what waits into one
transaction. Below the two stand the statements, each a function that runs inside a transaction of its caller.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection, Cursor
from typing import Any, TypeAlias, TypeVar

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
    Set,
    Store,
    StoreError,
)
from groundwire.storage.rules import (
    MOST_KEPT,
    assign_numbers,
    decode_key,
    encode_key,
    ended,
    next_count,
    next_slot,
    note_digest,
    note_key,
)
from groundwire.storage.sqlite_db import FAILURES, StoreFile, is_busy, is_damaged, transaction

_logger = logging.getLogger(__name__)

_TIDY_EVERY = 60.0  # seconds between two clean-ups
_MEND_EVERY = 60.0  # seconds; a disk that damages every file must not be filled with them
_PUT_OFF = frozenset({Set, Release})

_FIX = "Check its folder and the space on its disk, or set storage.url to another file."

_T = TypeVar("_T")


class SqliteStore(Store):
    """Values, counters, paces and leases in one file; exact under tasks, threads and processes.

    The file is opened by the first call. A damaged one is renamed to `NAME.corrupt-TIMESTAMP` and a new one begun.

    Args:
        path: The file; folders are made.
        max_bytes: Maximum size of all values; the oldest go first. Counters, paces and leases are never pushed out,
            they go when they have run out.
        max_wait: Seconds to wait for another process to release the file.
        clock: The time in seconds since the epoch, the same for all processes.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int = 256_000_000,
        max_wait: float = 0.8,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.recreated: bool = False
        """Whether a damaged file was moved aside."""
        self._max_bytes = max_bytes
        self._clock = clock
        self._file = StoreFile(path, max_wait=max_wait)
        self._writer = _WritingThread(self._commit)
        self._writing: sqlite3.Connection | None = None
        self._reading: sqlite3.Connection | None = None
        self._read_lock = threading.Lock()
        self._tidied = -math.inf
        self._mend_from = 0.0

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        """Run a batch in one transaction; see `Store.batch`."""
        return [None] * len(operations) if self.put_off(operations) else await self._run(operations)

    async def apply(self, operation: Operation) -> Answer:
        """Run one operation, and wait for its commit; see `Store.apply`."""
        (answer,) = await self._run((operation,))
        return answer

    def put_off(self, operations: Sequence[Operation]) -> bool:
        """Run a batch in a moment and together with others, if it consists of `Set` and `Release`; return whether."""
        if not {*map(type, operations)} <= _PUT_OFF:
            return False
        now = self._clock()  # what is put off begins to age now
        return self._writer.run_later(lambda db: _run_batch(db, operations, self._max_bytes, now))

    async def register(self, key: str) -> Register:
        """Return a register; see `Store.register`."""
        return await self._run_read(lambda db: _register(db, key, self._clock()))

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        """Reserve a slot; see `Store.pace`."""
        return await self._writer.run(lambda db: _pace(db, encode_key(key), interval, burst, max_wait, self._clock()))

    async def delete(self, key: str) -> None:
        """Delete a value, a counter and a pace; see `Store.delete`."""
        await self._writer.run(lambda db: _delete(db, encode_key(key)))

    async def aclose(self) -> None:
        """Finish pending writes, close the file and end the thread."""
        await self._writer.aclose(self._close)

    async def _run(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        """Run operations in one transaction, and wait for it; without one if they only read."""

        def work(db: Connection) -> list[Answer]:
            return _run_batch(db, operations, self._max_bytes, self._clock())

        if {*map(type, operations)} == {Get}:
            return await self._run_read(work)
        first = operations[0]
        at_once = isinstance(first, Get) and first.ends and not self._writer.put_off
        if at_once and (entry := await self.get(first.key)) is not None:
            return [entry]  # which ends the batch without a thread
        return await self._writer.run(work)

    async def _run_read(self, look: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._read_lock, suppress(*FAILURES):
            if self._reading is not None and not self._writer.put_off:
                return look(self._reading)
        # Not open yet, or an error: the writer's thread may wait, and repairs damage. It has also what was put off.
        return await self._writer.run(look)

    def _commit(self, jobs: Sequence[_Work]) -> Sequence[object]:
        try:
            return self._transact(jobs)
        except FAILURES as exc:
            self._mend(exc)
            try:
                return self._transact(jobs)
            except FAILURES as again:
                self._close()
                raise self._error(again) from again

    def _transact(self, jobs: Sequence[_Work]) -> Sequence[object]:
        db = self._open()
        with transaction(db, lambda: self._file.patiently(lambda: db.execute("begin immediate"))):
            self._tidy(db)
            return [work(db) for work in jobs]

    def _open(self) -> sqlite3.Connection:
        if self._writing is not None and self._file.replaced:
            self._close()
        if self._writing is None:
            writing = self._file.open()
            try:
                reading = self._file.connect()
            except BaseException:
                writing.close()
                raise
            self._writing = writing
            with self._read_lock:
                self._reading = reading
        return self._writing

    def _close(self) -> None:
        with self._read_lock:
            reading, self._reading = self._reading, None
        writing, self._writing = self._writing, None
        for db in (reading, writing):
            if db is not None:
                with suppress(sqlite3.Error):
                    db.close()

    def _tidy(self, db: sqlite3.Connection) -> None:
        if abs((now := self._clock()) - self._tidied) >= _TIDY_EVERY:  # it may have been set back
            self._tidied = now
            _tidy(db, now)

    def _mend(self, cause: Exception) -> None:
        """Make room for a new file if this one is damaged; raise StoreError for any other cause."""
        if is_busy(cause):  # the connections are good, and reading goes on
            raise self._error(cause) from cause
        self._close()
        now = time.monotonic()
        if not is_damaged(cause) or now < self._mend_from:
            raise self._error(cause) from cause
        self._mend_from = now + _MEND_EVERY
        try:
            aside = self._file.move_aside()
        except FAILURES as exc:
            raise self._error(exc) from exc
        self.recreated = True
        if aside is not None:
            _logger.warning("The store %s is damaged (%s): moved to %s and recreated.", self._file.path, cause, aside)

    def _error(self, exc: Exception) -> StoreError:
        why = str((exc.strerror if isinstance(exc, OSError) else None) or exc).rstrip(".")
        if is_busy(exc):
            return StoreError(f"The store {self._file.path} cannot be used: {why}.")
        return StoreError(f"The store {self._file.path} cannot be used: {why}. {_FIX}")


_BATCH = 64  # jobs per transaction; other processes wait as long as it takes
_LINGER = 0.01  # seconds for which a job that no one waits for may wait for others

_Work: TypeAlias = "Callable[[Connection], object]"  # works inside a transaction
_Job: TypeAlias = "tuple[_Work, asyncio.Future[Any] | None]"  # and where its answer is waited for


class _WritingThread:
    """Runs jobs in order, on a thread that is started by the first.

    The thread takes all that wait into one transaction and tells of all of them at once, so that many calls at the
    same time cost little more than one.

    Args:
        commit: Runs jobs in one transaction and returns their answers; raises StoreError, and then none was done.
    """

    def __init__(self, commit: Callable[[Sequence[_Work]], Sequence[object]]) -> None:
        self._commit = commit
        self._waiting: deque[_Job] = deque()
        self._lock = threading.Lock()
        self._draining = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="groundwire-store")
        self._closed = False
        self.put_off: int = 0
        """How many jobs of `run_later` are not committed yet."""

    async def run(self, work: Callable[[Connection], _T]) -> _T:
        """Run a job and return its result.

        A call that is canceled before its job begins leaves no trace; later it may or may not.

        Args:
            work: Does it, on the writer's thread; it may run a second time if the transaction could not be committed.

        Raises:
            StoreError: it could not be done, or the writer was closed.
        """
        done: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        if self._closed:
            raise StoreError("The store is closed.")
        self._put(work, done)
        self._start()
        return await done

    def run_later(self, work: _Work) -> bool:
        """Run a job without a result that is waited for: together with the next one, or in a hundredth of a second.

        Returns:
            Whether it will run; not when the writer was closed.
        """
        if self._closed:
            return False
        self._put(work, None)
        asyncio.get_running_loop().call_later(_LINGER, self._start)
        return True

    async def aclose(self, last: Callable[[], None]) -> None:
        """Run what is waiting, then `last`, and end the thread."""
        if self._closed:
            return
        self._closed = True
        self._start()
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, last)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        self._thread.shutdown()  # it is idle, so this takes no time

    def _put(self, work: _Work, done: asyncio.Future[Any] | None) -> None:
        with self._lock:
            self._waiting.append((work, done))
            self.put_off += done is None

    def _start(self) -> None:
        """Let the thread run what waits, unless it does already."""
        with self._lock:
            begin = bool(self._waiting) and not self._draining
            self._draining = self._draining or begin
        if begin:
            self._thread.submit(self._drain)

    def _drain(self) -> None:
        """Run jobs until none waits."""
        while batch := self._next():
            jobs = [job for job in batch if job[1] is None or not job[1].done()]  # a canceled call has left
            answers: Sequence[object] = [None] * len(jobs)
            failure: StoreError | None = None
            try:
                if jobs:
                    answers = self._commit([work for work, _ in jobs])
            except StoreError as exc:
                failure = exc
            except Exception:  # the thread continues, and no call is left waiting
                _logger.exception("The store failed in an unexpected way")
                failure = StoreError("The store failed in an unexpected way.")
            if put_off := sum(done is None for _, done in batch):
                with self._lock:
                    self.put_off -= put_off
                if failure is not None:
                    _logger.info("Not stored: %s", failure)
            _tell(zip((done for _, done in jobs), answers, strict=True), failure)

    def _next(self) -> list[_Job]:
        """Return the next jobs; if there are none, the next call restarts the thread's work."""
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            self._draining = bool(batch)
        return batch


def _tell(ends: Iterable[tuple[asyncio.Future[Any] | None, object]], failure: StoreError | None) -> None:
    """Give all waiting callers their answers or the failure, each event loop once."""
    waiting: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], object]]] = {}
    for future, answer in ends:
        if future is not None:
            waiting.setdefault(future.get_loop(), []).append((future, answer))
    for loop, those in waiting.items():
        with suppress(RuntimeError):  # the loop was closed: nothing waits there any more
            loop.call_soon_threadsafe(_wake, those, failure)


def _wake(ends: Iterable[tuple[asyncio.Future[Any], object]], failure: StoreError | None) -> None:
    for future, answer in ends:
        if not future.done():
            if failure is None:
                future.set_result(answer)
            else:
                future.set_exception(failure)


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

_ANY_REGISTER = "select key from registers order by random() limit 1"
_SURPLUS = (  # whether there are too many, in 4 ms for 100,000; then, in ten times as long, the oldest are deleted
    (
        "select 1 from names where key = :key limit 1 offset :most",
        "delete from names where key = :key and number <= "
        "(select number from names where key = :key order by number desc limit 1 offset :most)",
    ),
    (
        "select 1 from notes where key = :key limit 1 offset :most",
        "delete from notes where key = :key and place <= "
        "(select place from notes where key = :key order by place desc limit 1 offset :most)",
    ),
)

_SKEW = 60.0  # seconds; time servers correct a clock by less, and machines that share a file may differ by that

_Db = Connection | Cursor
_Blob = bytes | bytearray


def _find(db: _Db, key: _Blob, now: float, latest: float = math.inf) -> Entry | None:
    """Return an entry, unless it was written later than at a moment: then the clock was set back since."""
    row = db.execute(
        "select value, fresh_until, stale_until from entries where key = ? and stale_until > ? and used <= ?",
        (key, now, latest),
    ).fetchone()
    return None if row is None else Entry(*row)


def _keep(db: _Db, row: tuple[_Blob, _Blob, float, float, float], max_bytes: int) -> None:
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


def _forget(db: _Db, key: _Blob) -> None:
    """Delete an entry."""
    db.execute("delete from entries where key = ?", (key,))


def _count(db: _Db, key: _Blob, request: Add, now: float) -> Count:
    """Add to a counter if the limit allows it."""
    row = db.execute("select total from counters where key = ? and (until is null or until > ?)", (key, now)).fetchone()
    counted = next_count(row[0] if row else 0.0, request)
    if counted.granted and row and request.amount:
        db.execute("update counters set total = ? where key = ?", (counted.total, key))
    elif counted.granted and request.amount > 0:
        until = None if request.ttl is None else now + request.ttl
        db.execute("insert or replace into counters (key, total, until) values (?, ?, ?)", (key, counted.total, until))
    return counted


def _pace(db: _Db, key: _Blob, interval: float, burst: int, max_wait: float | None, now: float) -> Pace:
    """Reserve the next slot of a pace."""
    row = db.execute("select arrival from paces where key = ?", (key,)).fetchone()
    slot, arrival = next_slot(row[0] if row else None, now, interval, burst, max_wait)
    if slot.granted:
        db.execute(
            "insert into paces (key, arrival) values (?, ?) on conflict (key) do update set arrival = excluded.arrival",
            (key, arrival),
        )
    return slot


def _lease(db: _Db, key: _Blob, owner: str, ttl: float, now: float) -> bool:
    """Take or renew a lease, in one statement."""
    cursor = db.execute(  # `returning` would take twice as long
        "insert into leases (key, owner, until) values (?, ?, ?) "
        "on conflict (key) do update set owner = excluded.owner, until = excluded.until "
        "where owner = excluded.owner or until <= ?",
        (key, owner, now + ttl, now),
    )
    return cursor.rowcount == 1


def _release(db: _Db, key: _Blob, owner: str) -> None:
    """Release a lease."""
    db.execute("delete from leases where key = ? and owner = ?", (key, owner))


def _number(db: _Db, request: AssignNumbers, max_bytes: int, now: float) -> Numbers:
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
    _keep(db, (encode_key(note_key(request.key, digest)), request.note, until, until, now), max_bytes)
    return Numbers(numbers, noted is None)


def _register(db: Connection, key: str, now: float) -> Register:
    """Return a register."""
    name = encode_key(key)
    if db.execute("select 1 from registers where key = ? and until > ?", (name, now)).fetchone() is None:
        return Register({})
    numbers = dict(db.execute("select name, number from names where key = ?", (name,)))
    digests = db.execute("select digest from notes where key = ? order by place", (name,)).fetchall()
    entries = (_find(db, encode_key(note_key(key, digest)), now) for (digest,) in digests)
    return Register(numbers, tuple(entry.value for entry in entries if entry is not None))


def _drop_register(db: _Db, key: bytes) -> None:
    """Delete a register."""
    for (digest,) in db.execute("select digest from notes where key = ?", (key,)).fetchall():
        _forget(db, encode_key(note_key(decode_key(key), digest)))
    for statement in _DROPPED:
        db.execute(statement, (key,))


def _run_batch(connection: Connection, operations: Sequence[Operation], max_bytes: int, now: float) -> list[Answer]:
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
            answer = _number(db, operation, max_bytes, now)
        else:
            # The driver looks for an adapter for bytes, and for none for these.
            key = bytearray(encode_key(operation.key))
            if isinstance(operation, Get):
                answer = _find(db, key, now, now + _SKEW)
            elif isinstance(operation, Add):
                answer = _count(db, key, operation, now)
            elif isinstance(operation, Lease):
                answer = _lease(db, key, operation.owner, operation.ttl, now)
            elif isinstance(operation, Release):
                _release(db, key, operation.owner)
            elif operation.fresh + operation.stale <= 0 or len(operation.value) > max_bytes:
                _forget(db, key)
            else:
                end = now + operation.fresh
                _keep(db, (key, bytearray(operation.value), end, end + operation.stale, now), max_bytes)
        answers.append(answer)
        if ended(operation, answer):
            break
    return answers


def _delete(db: Connection, key: bytes) -> None:
    """Delete an entry, a counter, a pace and a register."""
    _forget(db, key)
    _drop_register(db, key)
    db.execute("delete from counters where key = ?", (key,))
    db.execute("delete from paces where key = ?", (key,))


def _tidy(db: Connection, now: float) -> None:
    """Delete some of the expired rows, and what one of the registers has too much."""
    for statement in _TIDY:
        db.execute(statement, (now, _TIDIED))
    for (key,) in db.execute(_ENDED_REGISTERS, (now,)).fetchall():
        _drop_register(db, key)
    for (key,) in db.execute(_ANY_REGISTER).fetchall():
        of_it = {"key": key, "most": MOST_KEPT}
        for look, delete in _SURPLUS:
            if db.execute(look, of_it).fetchone():
                db.execute(delete, of_it)
