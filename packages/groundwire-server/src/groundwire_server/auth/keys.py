"""API keys, and the file that holds them: reloaded when it has changed, and written atomically."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import stat
import string
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from groundwire.errors import ConfigurationError
from groundwire.models.validators import check_domains, check_folders
from groundwire.settings import Settings
from groundwire.settings.sources import user_file
from groundwire.settings.user_folders import expand_user, lock, os_reason, write

ID = r"[a-z2-7]{8}"
"""The ID of a key."""
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""A valid name of a key or tenant: without colons, which separate session names."""

_audit = logging.getLogger("groundwire_server.audit")

_KEY = re.compile(rf"gw_({ID})_[A-Za-z0-9]{{43}}")
_NAMES = "abcdefghijklmnopqrstuvwxyz234567"
_SECRET = string.ascii_letters + string.digits
_LENGTH = 43  # of 62 signs: 256 bits
_LAST_CHARS = 4  # characters that distinguish keys; 232 bits stay secret
_NOBODY = hashlib.sha256(secrets.token_bytes(32)).hexdigest()


def _domains(value: tuple[str, ...]) -> tuple[str, ...]:
    return check_domains("domains", value)


class _Part(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )


class KeyLimits(_Part):
    """The limits of a key; 0 and empty mean no separate limit."""

    rate: int = Field(default=0, ge=0, le=1_000_000)
    """Requests per minute, in the long run."""
    burst: int = Field(default=0, ge=0, le=1_000_000)
    """The burst after a quiet period; 0 means a sixth of the rate."""
    calls_per_day: int = Field(default=0, ge=0)
    """Maximum searches and pages in total per day, UTC."""
    usd_per_day: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """The most US dollars per day, UTC."""
    providers: tuple[str, ...] = ()
    """The only providers that it may use."""
    allowed_domains: Annotated[tuple[str, ...], AfterValidator(_domains)] = ()
    """Only these domains and their subdomains."""
    blocked_domains: Annotated[tuple[str, ...], AfterValidator(_domains)] = ()
    """Exclude these domains and their subdomains."""
    files: Annotated[tuple[str, ...], AfterValidator(check_folders)] = ()
    """The folders of the server whose files it may open and search; none means no local file."""
    keep: bool = True
    """Whether anything may be stored for its calls, in caches and in the archive."""
    concurrent: int = Field(default=0, exclude=True, repr=False)
    """Has no effect: each key in files from before 2026-11-30 has it, and would else make its whole file unusable."""


class KeyRecord(_Part):
    """The stored record of a key: everything but the key itself."""

    id: str = Field(pattern=rf"^{ID}$")
    """Its ID, the second part of the key."""
    name: str = Field(pattern=rf"^{NAME}$")
    """Its name."""
    digest: str = Field(repr=False, pattern=r"^[0-9a-f]{64}$")
    """The SHA-256 of the key."""
    last: str = Field(pattern=r"^[A-Za-z0-9]{4}$")
    """Its last characters, for recognition."""
    created: datetime
    """When it was created."""
    expires: datetime | None = None
    """When it expires; None means never."""
    revoked: datetime | None = None
    """When it was revoked; None if it was not."""
    tenant: str = Field(pattern=rf"^{NAME}$")
    """The tenant whose sessions it can access; keys of one tenant share them."""
    operator: bool = False
    """Whether it may access the data of all tenants, such as metrics."""
    limits: KeyLimits = KeyLimits()
    """Its limits."""

    def why_dead(self, now: datetime) -> str:
        """Return why it is invalid at a time: `revoked`, `expired`, or an empty string if it is valid."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else ""


def make_key(
    name: str,
    now: datetime,
    *,
    expires: datetime | None = None,
    tenant: str = "",
    operator: bool = False,
    limits: KeyLimits | None = None,
) -> tuple[str, KeyRecord]:
    """Create a key, which is not stored, and its record.

    Args:
        name: What its owner calls it.
        now: When it is made.
        expires: From when on it is not valid any more.
        tenant: Whose sessions it can reach; by default only its own.
        operator: Whether it may see the data of all tenants.
        limits: What it may use.

    Raises:
        pydantic.ValidationError: a name is invalid.
    """
    own = "".join(secrets.choice(_NAMES) for _ in range(8))
    key = f"gw_{own}_" + "".join(secrets.choice(_SECRET) for _ in range(_LENGTH))
    record = KeyRecord(
        id=own,
        name=name,
        digest=digest_of(key),
        last=key[-_LAST_CHARS:],
        created=now,
        expires=expires,
        tenant=tenant or own,
        operator=operator,
        limits=limits or KeyLimits(),
    )
    return key, record


def id_of(key: str) -> str:
    """Return the ID in a key, or an empty string if it has another format."""
    match = _KEY.fullmatch(key)
    return match[1] if match else ""


def digest_of(key: str) -> str:
    """Return the stored digest of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def is_key_of(record: KeyRecord | None, key: str) -> bool:
    """Whether a key matches a record; takes the same time without a record."""
    digest = record.digest if record is not None else _NOBODY
    return hmac.compare_digest(digest_of(key), digest) and record is not None


_EVERY = 0.25  # seconds between two checks of the file
_LARGEST = 16_000_000  # bytes


class _Content(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", hide_input_in_errors=True)

    version: int = 1
    keys: tuple[KeyRecord, ...] = ()


def key_file_of(settings: Settings) -> Path:
    """Return the file of keys that the settings name."""
    named = settings.server.key_file
    return expand_user(named) if named else user_file().with_name("keys.json")


class KeyFile:
    """The keys in a file; a change is detected within a quarter of a second, without a restart.

    Args:
        path: The file; one that does not exist holds no keys. A container should get its folder, not the file alone:
            a file that is mounted alone stays the old one when a new one takes its place.
        clock: Seconds that only grow.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._clock = clock
        self._looked = float("-inf")
        self._mark: tuple[int, ...] | None = None
        self._records: Mapping[str, KeyRecord] = {}
        self._ever = False
        self._logs_changes = False  # whether a later change is one of which the log should say so

    def find(self, id_: str) -> KeyRecord | None:
        """Return the record with an ID, or None.

        Raises:
            ConfigurationError: the file cannot be read, or is damaged; then no key is known to be valid.
        """
        self._refresh()
        if id_ and id_ not in self._records:  # a key is valid from the moment it is created
            self._looked = float("-inf")
            self._refresh()
        return self._records.get(id_)

    def records(self) -> tuple[KeyRecord, ...]:
        """Return all records, including revoked ones, in order of creation.

        Raises:
            ConfigurationError: see `find`.
        """
        self._refresh()
        return tuple(self._records.values())

    def ever(self) -> bool:
        """Whether there is a record, or was one since the process started: then a key is required.

        Raises:
            ConfigurationError: see `find`.
        """
        self._refresh()
        return self._ever

    def add(self, record: KeyRecord) -> None:
        """Add a record.

        Raises:
            ConfigurationError: a valid key has that name, or the file cannot be read or written.
        """
        with self._changing() as records:
            if record.id in records:
                raise ConfigurationError("Two keys got the same id by chance; create the key again.")
            for other in records.values():
                if other.name == record.name and not other.why_dead(record.created):
                    raise ConfigurationError(
                        f"The name {record.name!r} is taken by the key {other.id}. Choose another, or revoke that."
                    )
            records[record.id] = record

    def revoke(self, which: str, now: datetime) -> KeyRecord:
        """Revoke a key, and return its record.

        Args:
            which: Its ID, or its name.
            now: Since when.

        Raises:
            ConfigurationError: there is none, or the file cannot be read or written.
        """
        with self._changing() as records:
            record = _called(records, which, now)
            if not record.revoked:
                record = record.model_copy(update={"revoked": now})
                records[record.id] = record
            return record

    def _refresh(self) -> None:
        now, before = self._clock(), self._records
        if now - self._looked < _EVERY:
            return
        try:
            status = self.path.stat()
            mark = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
            if mark != self._mark:
                self._records, self._mark = self._read(), mark  # 10,000 keys take 50 ms
        except FileNotFoundError:
            self._records, self._mark = {}, None
        except OSError as error:
            raise self._broken(os_reason(error, self.path)) from error
        if self._logs_changes and self._records is not before:
            _log_changes(before, self._records)
        self._logs_changes = True
        self._ever = self._ever or bool(self._records)
        self._looked = now

    def _read(self) -> dict[str, KeyRecord]:
        with self.path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise self._broken("other users can write to it; run chmod 600 on it")
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise self._broken("it is too large")
        try:
            content = _Content.model_validate_json(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise self._broken(f"{where}: {first['msg']}") from None
        if content.version != 1:
            raise self._broken(f"it is of version {content.version}, which this version of Groundwire does not support")
        return {record.id: record for record in content.keys}

    def _broken(self, why: str) -> ConfigurationError:
        return ConfigurationError(f"The key file {self.path} cannot be used: {why}.")

    @contextmanager
    def _changing(self) -> Iterator[dict[str, KeyRecord]]:
        """Yield the records for modification, under a lock among all processes, and write them."""
        with ExitStack() as stack:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                path = self.path.with_name(f"{self.path.name}.lock")
                lock(stack.enter_context(os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")))
            except OSError as error:
                raise ConfigurationError(
                    f"No key file can be written in {self.path.parent}: {os_reason(error, self.path)}."
                ) from error
            try:
                records = self._read()
            except FileNotFoundError:
                records = {}
            before = dict(records)
            yield records
            keys = _Content(keys=tuple(records.values())).model_dump(mode="json", exclude_defaults=True)
            content = {"version": 1, **keys}
            try:
                write(self.path, json.dumps(content, indent=2) + "\n")
            except OSError as error:
                raise ConfigurationError(
                    f"The key file {self.path} cannot be written: {os_reason(error, self.path)}."
                ) from error
            self._looked = float("-inf")
            if sys.platform != "win32":  # where nothing is served
                _log_changes(before, records, uid=os.getuid())


def _log_changes(before: Mapping[str, KeyRecord], after: Mapping[str, KeyRecord], **by: int) -> None:
    """Write an audit line for each key that differs: from the process that changes it, and each that reads it."""
    for id_ in {**before, **after}:
        old, new = before.get(id_), after.get(id_)
        record = new or old
        if record is None or old == new:
            continue
        action = "created" if old is None else "removed" if new is None else "changed"
        action = "revoked" if new is not None and new.revoked and (old is None or not old.revoked) else action
        expires = f"{record.expires:%Y-%m-%dT%H:%M:%SZ}" if record.expires else ""
        facts = {"key_id": id_, "key_name": record.name, "tenant": record.tenant, "operator": record.operator}
        _audit.info("Key %s", action, extra={"action": action, **facts, "expires": expires, **by})


def _called(records: Mapping[str, KeyRecord], which: str, now: datetime) -> KeyRecord:
    """Return the key with an ID, or the one with a name: the valid one, or else the last.

    Raises:
        ConfigurationError: there is none.
    """
    if which in records:
        return records[which]
    named = [record for record in records.values() if record.name == which]
    if not named:
        raise ConfigurationError(f"There is no key {which[:80]!r}; see groundwire keys list.")
    return next((record for record in named if not record.why_dead(now)), named[-1])
