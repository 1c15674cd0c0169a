"""What all checks of one examination share: the machine, the settings, and one call of each provider.

The machine as the checks see it, so that each can be shown another one.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from groundwire.deadline import Deadline
from groundwire.doctor.report import DoctorFinding
from groundwire.safety.guard import Resolver
from groundwire.settings import Settings
from groundwire.settings.sources import working_folder
from groundwire.setup.key_storage import KeyringState, keyring_state
from groundwire.setup.provider_status import ProviderStatus, Verification, provider_statuses, verify
from groundwire.transport import Response, Transport
from groundwire.transport.clients import HttpClients

__all__ = ["Check", "Examination", "Machine", "Seen"]


def _has_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _free_bytes(folder: Path) -> int:
    usage = shutil.disk_usage(folder)
    return usage.free if usage.total else sys.maxsize  # no room is said of what is no disk, such as /proc


def _python() -> tuple[int, ...]:
    return tuple(sys.version_info[:3])


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the checks ask of the machine. `Machine.here()` is this one."""

    folder: Path
    """The working folder."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """The environment variables."""
    user_folder: Path | None = None
    """The folder with the user's settings; None for the platform's."""
    python: tuple[int, ...] = field(default_factory=_python)
    """The version of Python."""
    has_module: Callable[[str], bool] = _has_module
    """Tells whether a module is installed."""
    free_bytes: Callable[[Path], int] = _free_bytes
    """Returns the room that is left where a folder is."""
    keyring: Callable[[], KeyringState] = keyring_state
    """Looks whether there is a keyring; may wait for somebody who unlocks it."""
    now: Callable[[], float] = time.time
    """The time in seconds since the epoch."""
    resolver: Resolver | None = None
    """Resolves host names, instead of the system."""

    @classmethod
    def here(cls) -> Machine:
        """Return this machine.

        Raises:
            ConfigurationError: its working folder was removed.
        """
        return cls(folder=working_folder())


Seen = tuple[str, Sequence[DoctorFinding]]
"""What a check returns: what it saw, for when nothing is wrong, and what is wrong."""

_T = TypeVar("_T")

_CALL = 12.0  # seconds for one call of one provider


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    name: str
    """Its name."""
    title: str
    """What it looks at, for people."""
    run: Callable[[Examination], Awaitable[Seen]]
    """Looks."""
    needs_settings: bool = False
    """Whether it can do nothing while the settings are wrong."""
    online: bool = False
    """Whether it asks somebody outside."""


@dataclass(slots=True)
class Examination:
    """One examination of one machine."""

    machine: Machine
    """What is examined."""
    settings: Settings | None
    """What is in force; None while it is wrong."""
    settings_findings: Sequence[DoctorFinding]
    """What is wrong with the settings."""
    deadline: Deadline
    """When everything must have been looked at."""
    offline: bool = False
    """Whether no network request is made."""
    skews: list[float] = field(default_factory=list)
    """How many seconds this machine's clock is ahead, by what each answer said."""
    _tasks: dict[str, asyncio.Task[Any]] = field(default_factory=dict)

    @property
    def known(self) -> Settings:
        """The settings, for a check that is only run when they are right."""
        if self.settings is None:
            raise RuntimeError("The settings are wrong; this check should have been skipped.")
        return self.settings

    @property
    def listens(self) -> tuple[str, int]:
        """Where the gateway listens, by its settings."""
        server = self.known.server
        return server.host, server.port

    async def provider_statuses(self) -> Sequence[ProviderStatus]:
        """Return how all providers stand; the keyring is asked first, as it may wait for somebody."""
        return await self._once("provider_statuses", self._provider_statuses)

    async def keyring(self) -> KeyringState:
        """Return the state of the keyring; one that waits too long for somebody is locked."""
        return await self._once("keyring", self._keyring)

    async def calls(self) -> Mapping[str, Verification]:
        """Return what one call of each service in use showed, by name; nothing when offline."""
        return await self._once("calls", self._calls)

    @property
    def cost_usd(self) -> float:
        """What the calls cost, in US dollars."""
        task = self._tasks.get("calls")
        done = task is not None and task.done() and not task.cancelled() and task.exception() is None
        return sum(call.cost_usd for call in task.result().values()) if done and task is not None else 0.0

    async def aclose(self) -> None:
        """End what is still under way."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _once(self, name: str, make: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Do something once for all callers; it goes on when a waiting caller is canceled."""
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(make())
        task: asyncio.Task[_T] = self._tasks[name]
        return await asyncio.shield(task)

    async def _keyring(self) -> KeyringState:
        max_wait = max(0.1, min(5.0, self.deadline.remaining() / 2))
        try:
            async with asyncio.timeout(max_wait):
                return await asyncio.to_thread(self.machine.keyring)
        except TimeoutError:
            return KeyringState("locked", f"it did not answer within {max_wait:.0f} seconds")

    async def _provider_statuses(self) -> Sequence[ProviderStatus]:
        state = await self.keyring()
        if state.kind in {"locked", "failing"}:  # asked again, it may keep everything waiting
            self.settings = self.known.without_keyring()
        return await provider_statuses(self.known, only_used=True)

    async def _calls(self) -> Mapping[str, Verification]:
        if self.offline:
            return {}
        rows = await self.provider_statuses()
        names = [row.name for row in rows if row.in_use and row.offer.is_service and row.state == "ready"]
        clients = HttpClients(self.known, self.machine.resolver, None, self._transport)
        deadline = self.deadline.capped(max(0.1, min(_CALL, self.deadline.remaining() - 0.5)))
        try:
            done = await asyncio.gather(
                *(verify(name, self.known, deadline=deadline, transports=clients) for name in names)
            )
        finally:
            await clients.aclose()
        return dict(zip(names, done, strict=True))

    def _transport(self, *given: Any, **options: Any) -> Transport:
        return _Listening(self._note_clock, *given, **options)

    def _note_clock(self, reply: Response) -> None:
        with suppress(ValueError, TypeError, OverflowError):
            if said := reply.headers.get("Date"):
                self.skews.append(self.machine.now() - parsedate_to_datetime(said).timestamp())


class _Listening(Transport):
    """A client that passes each response to a listener."""

    def __init__(self, listener: Callable[[Response], None], *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._listener = listener

    async def call(self, *given: Any, **options: Any) -> Response:
        """Ask a provider; see `Transport.call`."""
        reply = await super().call(*given, **options)
        self._listener(reply)
        return reply
