"""The file of API keys: reloaded when it has changed, and written atomically."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from groundwire.errors import ConfigurationError
from groundwire.server.auth.keys import KeyRecord, succeed
from groundwire.settings import Settings
from groundwire.settings.atomic_write import write
from groundwire.settings.sources import user_file
from groundwire.settings.user_folders import expand_user

__all__ = ["KeyFile", "key_file_of"]

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
        self._seen: tuple[int, ...] | None = None
        self._records: Mapping[str, KeyRecord] = {}
        self._ever = False

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

    def revoke(self, which: str, now: datetime) -> tuple[KeyRecord, ...]:
        """Revoke a key by its ID, or all keys with a name, and return the records; a rotation has two of one name.

        Args:
            which: Its id, or its name.
            now: Since when.

        Raises:
            ConfigurationError: there is none, or the file cannot be read or written.
        """
        with self._changing() as records:
            found = [
                one if one.revoked else one.model_copy(update={"revoked": now}) for one in _called(records, which, now)
            ]
            records.update({one.id: one for one in found})
            return tuple(found)

    def rotate(self, which: str, now: datetime, grace_period: timedelta) -> tuple[str, KeyRecord, KeyRecord]:
        """Create a key that replaces another, and expire the other after a grace period.

        Args:
            which: The other's id, or its name.
            now: When the new key is made.
            grace_period: For how long both are valid; zero ends the other at once.

        Returns:
            The new key, which is stored nowhere; its record; and the record of the old key.

        Raises:
            ConfigurationError: there is none that is valid, or the file cannot be read or written.
        """
        with self._changing() as records:
            old = _called(records, which, now)[-1]
            if why := old.why_dead(now):
                raise ConfigurationError(f"The key {old.id} is {why}. Create a new one: groundwire keys create NAME.")
            key, new = succeed(old, now)
            ends = {"expires": min(now + grace_period, old.expires or datetime.max.replace(tzinfo=UTC))}
            old = old.model_copy(update=ends if grace_period else {"revoked": now})
            records.update({old.id: old, new.id: new})
            return key, new, old

    def _refresh(self) -> None:
        now = self._clock()
        if now - self._looked < _EVERY:
            return
        try:
            found = self.path.stat()
            mark = (found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)
            if mark != self._seen:
                self._records, self._seen = self._read(), mark
        except FileNotFoundError:
            self._records, self._seen = {}, None
        except OSError as error:
            raise self._broken(error.strerror or "it cannot be read") from error
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
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(self.path.with_name(f"{self.path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(f"No key file can be written in {self.path.parent}: {error.strerror}.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                records = self._read()
            except FileNotFoundError:
                records = {}
            yield records
            content = _Content(keys=tuple(records.values())).model_dump(mode="json")
            try:
                write(self.path, json.dumps(content, indent=2) + "\n")
            except OSError as error:
                raise ConfigurationError(f"The key file {self.path} cannot be written: {error.strerror}.") from error
            self._looked = float("-inf")
        finally:
            os.close(lock)


def _called(records: Mapping[str, KeyRecord], which: str, now: datetime) -> list[KeyRecord]:
    """Return the key with an ID, or those with a name: all valid ones, or else the last one.

    Raises:
        ConfigurationError: there is none.
    """
    if which in records:
        return [records[which]]
    named = [one for one in records.values() if one.name == which]
    if not named:
        raise ConfigurationError(f"There is no key {which[:80]!r}; see groundwire keys list.")
    return [one for one in named if not one.why_dead(now)] or named[-1:]
