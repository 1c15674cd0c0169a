"""Where files are kept: the store of the cache and the budgets, and the archive."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from errno import ENOTDIR
from pathlib import Path

from groundwire.doctor.context import CheckOutput, Examination, has_module
from groundwire.doctor.report import DoctorFinding
from groundwire.safety.tenancy import OPERATOR
from groundwire.settings.schema import display_text, parse_store_url
from groundwire.settings.user_folders import user_folder
from groundwire.storage import StoreError
from groundwire.storage.archive.store import Archive, archive_path
from groundwire.storage.sqlite_db import is_busy, is_damaged, is_own
from groundwire.storage.valkey import ValkeyStore


def _existing(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that is there."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


_CHECK_SECONDS = 3.0  # seconds for reading a whole file
_PROBE = "doctor"
_LEAST = 100_000  # bytes; an open database has a file of 32 KiB beside it


async def check_store(examination: Examination) -> CheckOutput:
    """Check that the store can be read and written."""
    url = examination.settings.storage.url
    address = parse_store_url(url)
    if address.kind == "memory":
        return "process memory; nothing survives a restart", ()
    if address.kind == "sqlite":
        path = Path(address.target) if address.target else user_folder("cache") / "store.sqlite3"
        return str(path), await asyncio.to_thread(lambda: tuple(_file(path, "store", "storage.url")))
    if not has_module("redis"):
        return "", ()  # reported by the check of optional packages
    where = display_text("storage.url", url)
    store = ValkeyStore(address.target, timeout=2.0)
    try:
        began = time.perf_counter()
        await store.set(_PROBE, b"", fresh=1.0)
        await store.get(_PROBE)
        return f"{where} answers in {500 * (time.perf_counter() - began):.1f} ms", ()
    except StoreError as error:
        return "", (_unreachable(where, error),)
    finally:
        await store.aclose()


async def check_archive(examination: Examination) -> CheckOutput:
    """Check that the archive can be read and written."""
    chosen = examination.settings.archive
    if not chosen.enabled:
        return "switched off", ()
    if chosen.url:
        where = display_text("archive.url", chosen.url)
        if not has_module("psycopg"):
            return "", ()  # reported by the check of optional packages
        archive = Archive(chosen.url)
        try:
            statistics = await archive.statistics(viewer=OPERATOR)
        except StoreError as error:
            what = " ".join(str(error).split())[:400]
            why = "Pages and results are not stored until then; all other calls go on."
            fix = f"Once the database is fixed, psql {where} connects."
            return "", (DoctorFinding(fault="store-unreachable", subject=where, what=what, why=why, fix=fix),)
        finally:
            await archive.aclose()
        return f"{where} has {statistics.pages} pages", ()
    path = archive_path(examination.settings)
    return str(path), await asyncio.to_thread(lambda: tuple(_file(path, "archive", "archive.path")))


def _file(path: Path, subject: str, setting: str) -> Iterator[DoctorFinding]:
    """Yield what is wrong with a database file, without writing to it."""
    folder = _existing(path.parent)
    other = f'name another file: {setting} = "{"sqlite:///" if setting == "storage.url" else ""}/PATH"'
    try:
        if blocking := next((parent for parent in path.parents if parent.exists() and not parent.is_dir()), None):
            raise NotADirectoryError(ENOTDIR, f"{blocking} is a file, not a folder")
        with tempfile.TemporaryFile(dir=folder) as probe:  # which fits in a full disk as long as it is empty
            probe.write(bytes(_LEAST))
        if path.exists():
            os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        yield DoctorFinding(
            fault="store-not-writable",
            subject=subject,
            what=f"{path} cannot be written: {error.strerror or error}.",
            why="Nothing is stored: each search and page is fetched and paid for again, and budgets are lost.",
            fix=f"Get write permission for {folder} and space on its disk, or {other}.",
        )
        return
    if not path.exists() or not path.stat().st_size:
        return
    why = ""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0)) as db:
            is_own(db, path)
            why = _damage(db)
    except StoreError as error:
        yield DoctorFinding(
            fault="store-foreign",
            subject=subject,
            what=str(error),
            why="It is not changed, and nothing is stored until this is fixed.",
            fix=f"Move it away, or {other}.",
        )
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if is_damaged(error):
            why = str(error)
        elif not is_busy(error):
            yield DoctorFinding(
                fault="store-not-writable",
                subject=subject,
                what=f"{path} cannot be opened: {error}.",
                fix=f"Check its folder, or {other}.",
            )
    if why:
        yield DoctorFinding(
            fault="store-damaged",
            subject=subject,
            what=f"{path} is damaged: {' '.join(why.split())[:200]}.",
            why="The disk was full or failed, or another program wrote to it.",
            fix=f"mv {path} {path}.damaged (the next call creates a new one; its cache and budgets start empty)",
        )


def _damage(db: sqlite3.Connection) -> str:
    """Return what is wrong with the pages of a database; of one that takes long to read, what its first part shows."""
    end = time.monotonic() + _CHECK_SECONDS
    db.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    try:
        (verdict,) = db.execute("pragma quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return ""
        raise
    return "" if verdict == "ok" else str(verdict)


def _unreachable(where: str, error: StoreError) -> DoctorFinding:
    why = " ".join(str(error.__cause__ or error).split())[:200]
    return DoctorFinding(
        fault="store-unreachable",
        subject=where,
        what=f"The server at {where} cannot be used: {why.rstrip('.')}.",
        why="Each process uses its own memory until then: budgets and rate limits are not shared.",
        fix=f"Start the server (valkey-server), or correct storage.url; valkey-cli -u {where} ping must print PONG.",
    )
