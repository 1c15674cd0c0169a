"""The context shared by all checks: the machine, the settings, and one call of each provider.

`Machine` is an interface, so that a check can be run against another one in tests.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar

from groundwire.deadline import Deadline
from groundwire.doctor.report import DoctorFinding
from groundwire.safety.guard import Resolver
from groundwire.settings import Settings
from groundwire.settings.sources import working_folder
from groundwire.setup.key_storage import KeyringState, keyring_state
from groundwire.setup.provider_check import Verification, verify_all
from groundwire.setup.provider_status import ProviderStatus, provider_statuses
from groundwire.transport import Response, Transport
from groundwire.transport.clients import HttpClients

__all__ = ["Check", "CheckOutput", "Examination", "Machine"]


def _has_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine as the checks see it. `Machine.here()` is the real one."""

    folder: Path
    """The working directory."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """The environment variables."""
    user_folder: Path | None = None
    """The folder with the user's settings; None for the platform's default."""
    has_module: Callable[[str], bool] = _has_module
    """Returns whether a module is installed."""
    keyring: Callable[[], KeyringState] = keyring_state
    """Checks for a keyring; may wait for the user to unlock it."""
    now: Callable[[], float] = time.time
    """The time in seconds since the epoch."""
    resolver: Resolver | None = None
    """Resolves host names instead of the system resolver."""

    @classmethod
    def here(cls) -> Machine:
        """Return the real machine.

        Raises:
            ConfigurationError: its working directory was removed.
        """
        return cls(folder=working_folder())


CheckOutput = tuple[str, Sequence[DoctorFinding]]
"""The result of a check: a description for when nothing is wrong, and the findings."""

_T = TypeVar("_T")

_CALL_SECONDS = 12.0  # seconds for one call of one provider


@dataclass(frozen=True, slots=True)
class Check:
    """A check."""

    name: str
    """Its name."""
    title: str
    """Its description, for people."""
    run: Callable[[Examination], Awaitable[CheckOutput]]
    """The function that runs it."""
    needs: tuple[Literal["settings", "network"], ...] = ()
    """What it cannot run without: valid settings, permission to make network requests."""


@dataclass(slots=True)
class Examination:
    """One run of the checks."""

    machine: Machine
    """The machine."""
    settings: Settings | None
    """The settings in effect; None while they are invalid."""
    settings_findings: Sequence[DoctorFinding]
    """The problems of the settings."""
    deadline: Deadline
    """The deadline for all checks."""
    offline: bool = False
    """Whether network requests are disabled."""
    skews: list[float] = field(default_factory=list)
    """How many seconds this machine's clock is ahead of each response's date."""
    cost_usd: float = 0.0
    """The cost of the calls, in US dollars."""
    _tasks: dict[str, asyncio.Task[Any]] = field(default_factory=dict)

    @property
    def valid_settings(self) -> Settings:
        """The settings, for a check that runs only if they are valid."""
        if self.settings is None:
            raise RuntimeError("The settings are wrong; this check should have been skipped.")
        return self.settings

    async def provider_statuses(self) -> Sequence[ProviderStatus]:
        """Return the status of all providers; the keyring is checked first, as it may wait for the user."""
        return await self._once("provider_statuses", self._provider_statuses)

    async def keyring(self) -> KeyringState:
        """Return the state of the keyring; one that waits too long for the user counts as locked."""
        return await self._once("keyring", self._keyring)

    async def calls(self) -> Mapping[str, Verification]:
        """Call each service in use once and return the results by name; empty when offline."""
        return await self._once("calls", self._calls)

    async def aclose(self) -> None:
        """Cancel what is still running."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _once(self, name: str, make: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Run a function once for all callers; it continues when a waiting caller is canceled."""
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
        if state.kind in {"locked", "failing"}:  # another attempt could block everything
            self.settings = self.valid_settings.without_keyring()
        return await provider_statuses(self.valid_settings, only_used=True)

    async def _calls(self) -> Mapping[str, Verification]:
        if self.offline:
            return {}
        rows = await self.provider_statuses()
        clients = HttpClients(self.valid_settings, self.machine.resolver, None, self._transport)
        deadline = self.deadline.capped(max(0.1, min(_CALL_SECONDS, self.deadline.remaining() - 0.5)))
        try:
            calls = await verify_all(rows, self.valid_settings, deadline=deadline, transports=clients)
            self.cost_usd = sum(call.cost_usd for call in calls.values())
            return calls
        finally:
            await clients.aclose()

    def _transport(self, *arguments: Any, **options: Any) -> Transport:
        return _Listening(self._note_clock, *arguments, **options)

    def _note_clock(self, reply: Response) -> None:
        with suppress(ValueError, TypeError, OverflowError):
            if date := reply.headers.get("Date"):
                self.skews.append(self.machine.now() - parsedate_to_datetime(date).timestamp())


class _Listening(Transport):
    """A client that passes each response to a listener."""

    def __init__(self, listener: Callable[[Response], None], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._listener = listener

    async def call(self, *arguments: Any, **options: Any) -> Response:
        """Call a provider; see `Transport.call`."""
        reply = await super().call(*arguments, **options)
        self._listener(reply)
        return reply
