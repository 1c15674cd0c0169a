"""The file of the SQLite store: opening, schema, and recovery from damage."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from groundwire.settings.user_folders import os_reason
from groundwire.storage.base import StoreError

APPLICATION_ID = 0x67776972  # "gwir"
"""Identifies a database as Groundwire's (`PRAGMA application_id`)."""

VERSION = 1
"""The version of the tables (`PRAGMA user_version`)."""

# NORMAL loses nothing when a process is killed; after a power failure the last moments may be gone, the file is whole.
# Little waiting inside SQLite, whose steps grow to 100 ms each: `patiently` waits in short ones.
_PRAGMAS = ("busy_timeout = 5", "synchronous = normal", "journal_size_limit = 16000000", "trusted_schema = off")

_WRITER_CACHE = -500  # KiB; the default of 2,000 takes 3 MB more after 1,000 searches, and saves 5 µs of each

_STEP = 0.001  # seconds between two tries to get a lock

_T = TypeVar("_T")

FAILURES = (OSError, sqlite3.Error, UnicodeDecodeError)
"""What a file may raise; the last where SQLite's message quotes damaged bytes."""


class StoreFile:
    """A database file that several processes may open, move aside and replace.

    Args:
        path: Where it is; missing folders are made.
        max_wait: Seconds to wait for another process to release it.
    """

    def __init__(self, path: Path, *, max_wait: float) -> None:
        self.path = path
        self._max_wait = max_wait
        self._inode: tuple[int, int] | None = None

    @property
    def replaced(self) -> bool:
        """Whether the path now refers to another file than the open one, or to none."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return True
        return (status.st_dev, status.st_ino) != self._inode

    def open(self) -> sqlite3.Connection:
        """Return a connection for writing.

        Raises:
            StoreError: It is someone else's database, or one of a later version of Groundwire. sqlite3.Error, OSError.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:  # the same words for all files there: they are said once
            why = os_reason(error, self.path)
            raise StoreError(f"{why}. Move it away, or set storage.url and archive.path to files elsewhere.") from error
        with self._alone():
            _make_private(self.path)
            status = self.path.stat()
            self._inode = (status.st_dev, status.st_ino)
            writing = self.connect()
            try:
                self.patiently(lambda: self._prepare(writing))
                writing.execute(f"pragma cache_size = {_WRITER_CACHE}")
                return writing
            except BaseException:
                writing.close()
                raise

    def connect(self) -> sqlite3.Connection:
        """Return another connection to the file that is open."""
        return self.patiently(self._connect)

    def patiently(self, step: Callable[[], _T]) -> _T:
        """Retry a step while the database is locked, up to `max_wait`; return its result.

        Raises:
            sqlite3.Error: it failed otherwise, or `max_wait` has passed.
        """
        end = time.monotonic() + self._max_wait
        while True:
            try:
                return step()
            except sqlite3.OperationalError as exc:
                if not is_busy(exc) or time.monotonic() > end:
                    raise
                time.sleep(_STEP)

    def move_aside(self) -> Path | None:
        """Rename a damaged file with its journal, and return its new name; None if another process did.

        Raises:
            OSError: it cannot be renamed.
        """
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        aside = self.path.with_name(f"{self.path.name}.corrupt-{stamp}")
        with self._alone():
            if self.replaced:
                return None
            for end in ("-wal", "-shm", ""):  # the journal has the latest writes
                with suppress(FileNotFoundError):
                    _beside(self.path, end).rename(_beside(aside, end))
        return aside

    def _connect(self) -> sqlite3.Connection:
        """Return a new connection; its first statements already read the file, which its last user may be closing."""
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            for pragma in _PRAGMAS:
                db.execute(f"pragma {pragma}")
        except BaseException:
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        if is_own(db, self.path):
            return
        db.execute("pragma journal_mode = wal")
        with transaction(db, lambda: db.execute("begin immediate")):
            for statement in statements("store.sql"):
                db.execute(statement)
            db.execute(f"pragma application_id = {APPLICATION_ID}")
            db.execute(f"pragma user_version = {VERSION}")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Prevent other processes from opening or moving the file; those that have it open continue.

        The lock is that of an empty database beside it, so that no module is loaded for it and every system has it.
        """
        path = _beside(self.path, ".lock")
        _make_private(path)
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
            try:
                lock.execute("pragma journal_mode = memory")  # no further file: nothing is ever written
                self.patiently(lambda: lock.execute("begin immediate"))
            except sqlite3.DatabaseError as error:
                if not is_damaged(error):
                    raise
                why = f"{path} is a file of another program, and no lock of {self.path.name}"  # which may be whole
                raise StoreError(f"{why}. Move it away, or name another file for Groundwire.") from error
            yield


_making = threading.Lock()


def _make_private(path: Path) -> None:
    """Make a file before SQLite does: its content is private.

    One that is there is not opened: closing it would let go of the locks that this process has on it (POSIX). For the
    same reason no other thread may lock a new one before it is closed here.
    """
    with _making, suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def is_own(db: sqlite3.Connection, path: Path) -> bool:
    """Return whether a database is Groundwire's, in this format; one that is empty is new.

    Raises:
        StoreError: It is someone else's database, or one of another version of Groundwire.
    """
    version, owner = _number(db, "user_version"), _number(db, "application_id")
    if (version, owner) == (VERSION, APPLICATION_ID):
        return True
    if owner == APPLICATION_ID:
        raise StoreError(
            f"{path} was written by another version of Groundwire (format {version}, this one has {VERSION}). "
            "Upgrade Groundwire, or name another file."
        )
    if db.execute("select 1 from sqlite_master").fetchone():
        raise StoreError(f"{path} is a database of another program; name another file for Groundwire.")
    return False


def is_busy(exc: Exception) -> bool:
    """Whether another connection holds the database (https://sqlite.org/rescode.html)."""
    return _code(exc) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_damaged(exc: Exception) -> bool:
    """Whether the file is not a whole database (https://sqlite.org/rescode.html)."""
    # Python's own words for bytes that are no UTF-8, in a message of SQLite or in a row.
    is_text = isinstance(exc, UnicodeDecodeError | sqlite3.OperationalError) and " decode " in str(exc)
    return is_text or _code(exc) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _code(exc: Exception) -> int:
    return getattr(exc, "sqlite_errorcode", 0) & 0xFF  # the rest of an extended code tells the circumstances


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _number(db: sqlite3.Connection, pragma: str) -> int:
    with closing(db.execute(f"pragma {pragma}")) as rows:
        return int(rows.fetchone()[0])


def statements(file: str) -> list[str]:
    """Return the statements of a file of this package, between blank lines, as `executescript` would commit first."""
    return (Path(__file__).parent / file).read_text(encoding="utf-8").split("\n\n")


@contextmanager
def transaction(db: sqlite3.Connection, begin: Callable[[], object]) -> Iterator[None]:
    """Run the block between `begin` and a commit; what it raises takes everything back."""
    begin()
    try:
        yield
        db.execute("commit")
    except BaseException:
        if db.in_transaction:
            with suppress(sqlite3.Error):
                db.execute("rollback")
        raise
