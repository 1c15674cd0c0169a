"""Where files are kept: the store of the cache and the budgets, the archive, and room on the disk."""

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

from groundwire._version import install_extra, upgrade_hint
from groundwire.doctor.context import CheckOutput, Examination
from groundwire.doctor.report import DoctorFinding, Fault
from groundwire.errors import ConfigurationError
from groundwire.safety.tenancy import OPERATOR
from groundwire.settings.schema import display_text, parse_store_url
from groundwire.settings.user_folders import user_folder
from groundwire.storage import StoreError
from groundwire.storage.archive.store import Archive, archive_path
from groundwire.storage.sqlite_db import APPLICATION_ID, VERSION
from groundwire.storage.valkey import ValkeyStore

__all__ = ["check_archive", "check_disk", "check_store", "existing"]


_MIN_FREE_BYTES, _LOW_FREE_BYTES = 20_000_000, 500_000_000  # bytes; the cache may take 256 MB and the archive 500


async def check_disk(examination: Examination) -> CheckOutput:
    """See whether there is room for the cache and the archive."""
    folders = {existing(user_folder("cache"))}
    settings = examination.settings
    if settings is not None:
        address = parse_store_url(settings.storage.url)
        if address.kind == "sqlite" and address.target:
            folders.add(existing(Path(address.target).parent))
        if settings.archive.enabled and not settings.archive.url:
            folders.add(existing(archive_path(settings).parent))
    findings, details = [], []
    for folder in sorted(folders):
        free = examination.machine.free_bytes(folder)
        details.append(f"{free / 1e9:.1f} GB free in {folder}")
        if free < _LOW_FREE_BYTES:
            findings.append(
                DoctorFinding(
                    fault=Fault.DISK_FULL if free < _MIN_FREE_BYTES else Fault.DISK_LOW,
                    severity="problem" if free < _MIN_FREE_BYTES else "note",
                    subject=str(folder),
                    what=f"{folder} has {free / 1e6:.0f} MB left.",
                    why="The cache and the archive are stored there; what does not fit is fetched and paid for again.",
                    fix='Make room, or move them: storage.url = "sqlite:////PATH", and archive.path.',
                )
            )
    return "; ".join(details), findings


def existing(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that is there."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


_CHECK_SECONDS = 3.0  # seconds for reading a whole file
_PROBE = "doctor"
_REFUSAL_WORDS = ("auth", "password", "noperm", "readonly", "oom", "misconf", "noauth", "wrongpass")


async def check_store(examination: Examination) -> CheckOutput:
    """Check that the store can be read and written."""
    url = examination.valid_settings.storage.url
    address = parse_store_url(url)
    if address.kind == "memory":
        return "process memory; nothing survives a restart", ()
    if address.kind == "sqlite":
        path = Path(address.target) if address.target else user_folder("cache") / "store.sqlite3"
        return str(path), await asyncio.to_thread(lambda: tuple(_file(path, "store", "storage.url")))
    if not examination.machine.has_module("redis"):
        return "", ()  # reported by the check of optional packages
    where = display_text("storage.url", url)
    try:
        store = ValkeyStore(address.target, timeout=2.0)
    except ConfigurationError as error:
        return "", (_server(Fault.EXTRA_MISSING, where, str(error), install_extra("valkey")),)
    try:
        began = time.perf_counter()
        await store.set(_PROBE, b"", fresh=1.0)
        await store.get(_PROBE)
        return f"{where} answers in {500 * (time.perf_counter() - began):.1f} ms", ()
    except StoreError as error:
        return "", (_refused(where, error) if _is_refusal(error) else _unreachable(where, error),)
    finally:
        await store.aclose()


async def check_archive(examination: Examination) -> CheckOutput:
    """Check that the archive can be read and written."""
    chosen = examination.valid_settings.archive
    if not chosen.enabled:
        return "switched off", ()
    if chosen.url:
        where = display_text("archive.url", chosen.url)
        if not examination.machine.has_module("psycopg"):
            return "", ()  # reported by the check of optional packages
        archive = Archive(chosen.url)
        try:
            statistics = await archive.statistics(viewer=OPERATOR)
        except StoreError as error:
            what = " ".join(str(error).split())[:400]
            why = "Pages and results are not stored until then; all other calls go on."
            fix = f"Once the database is fixed, psql {where} connects."
            return "", (DoctorFinding(fault=Fault.STORE_UNREACHABLE, subject=where, what=what, why=why, fix=fix),)
        finally:
            await archive.aclose()
        return f"{where} has {statistics.pages} pages", ()
    path = archive_path(examination.valid_settings)
    return str(path), await asyncio.to_thread(lambda: tuple(_file(path, "archive", "archive.path")))


def _file(path: Path, subject: str, setting: str) -> Iterator[DoctorFinding]:
    """Yield what is wrong with a database file, without writing to it."""
    folder = existing(path.parent)
    other = f'name another file: {setting} = "{"sqlite:///" if setting == "storage.url" else ""}/PATH"'
    try:
        if blocking := next((parent for parent in path.parents if parent.exists() and not parent.is_dir()), None):
            raise NotADirectoryError(ENOTDIR, f"{blocking} is a file, not a folder")
        with tempfile.TemporaryFile(dir=folder):
            pass
        if path.exists():
            os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        yield DoctorFinding(
            fault=Fault.STORE_NOT_WRITABLE,
            subject=subject,
            what=f"{path} cannot be written: {error.strerror or error}.",
            why="Nothing is stored: each search and page is fetched and paid for again, and budgets are lost.",
            fix=f"Get write permission for {folder}, or {other}.",
        )
        return
    if not path.exists() or not path.stat().st_size:
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0)) as db:
            yield from _content(db, path, subject, other)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            yield _damaged(path, subject, str(error))
        elif code != sqlite3.SQLITE_BUSY:
            yield DoctorFinding(
                fault=Fault.STORE_NOT_WRITABLE,
                subject=subject,
                what=f"{path} cannot be opened: {error}.",
                fix=f"Check its folder, or {other}.",
            )


def _content(db: sqlite3.Connection, path: Path, subject: str, other: str) -> Iterator[DoctorFinding]:
    (owner,), (version,) = (db.execute(f"pragma {name}").fetchone() for name in ("application_id", "user_version"))
    if owner == APPLICATION_ID and version != VERSION:
        yield DoctorFinding(
            fault=Fault.STORE_VERSION,
            subject=subject,
            what=f"{path} was written by another version of Groundwire (format {version}, this one has {VERSION}).",
            why="It is not changed, and nothing is stored until this is fixed.",
            fix=f"To update Groundwire: {upgrade_hint()}. Or {other}.",
        )
        return
    if owner != APPLICATION_ID and db.execute("select 1 from sqlite_master").fetchone():
        yield DoctorFinding(
            fault=Fault.STORE_FOREIGN,
            subject=subject,
            what=f"{path} is a database of another program.",
            why="It is not changed, and nothing is stored until this is fixed.",
            fix=f"{other[:1].upper()}{other[1:]}.",
        )
        return
    end = time.monotonic() + _CHECK_SECONDS
    db.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    try:
        (verdict,) = db.execute("pragma quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:  # too large to read in full
            return
        raise
    if verdict != "ok":
        yield _damaged(path, subject, verdict)


def _damaged(path: Path, subject: str, why: str) -> DoctorFinding:
    return DoctorFinding(
        fault=Fault.STORE_DAMAGED,
        subject=subject,
        what=f"{path} is damaged: {' '.join(why.split())[:200]}.",
        why="The disk was full or failed, or another program wrote to it.",
        fix=f"mv {path} {path}.damaged (the next call creates a new one; its cache and budgets start empty)",
    )


def _is_refusal(error: StoreError) -> bool:
    text = f"{type(error.__cause__).__name__} {error}".lower()
    return any(word in text for word in _REFUSAL_WORDS)


def _refused(where: str, error: StoreError) -> DoctorFinding:
    why = " ".join(str(error.__cause__ or error).split())[:200]
    fix = "Put the password into storage.url (valkey://:PASSWORD@HOST:PORT/0), or give this user write permission."
    return _server(Fault.STORE_REFUSED, where, f"The server at {where} refused the connection: {why}", fix)


def _unreachable(where: str, error: StoreError) -> DoctorFinding:
    why = " ".join(str(error.__cause__ or error).split())[:200]
    fix = f"Start the server (valkey-server), or correct storage.url; valkey-cli -u {where} ping must print PONG."
    return _server(Fault.STORE_UNREACHABLE, where, f"The server at {where} does not answer: {why}", fix)


def _server(fault: Fault, where: str, what: str, fix: str) -> DoctorFinding:
    return DoctorFinding(
        fault=fault,
        subject=where,
        what=f"{what.rstrip('.')}.",
        why="Each process uses its own memory until then: budgets and rate limits are not shared.",
        fix=fix,
    )
