"""The context shared by all checks: the settings, the keyring, and one call of each provider."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import partial
from importlib.util import find_spec
from time import time
from typing import Any, Literal

from groundwire.deadline import Deadline
from groundwire.doctor.report import DoctorFinding
from groundwire.safety.guard import Resolver
from groundwire.settings import Settings
from groundwire.setup.key_storage import KeyringState
from groundwire.setup.provider_check import Verification, verify
from groundwire.setup.provider_status import ProviderStatus, provider_statuses
from groundwire.transport import Response, Transport
from groundwire.transport.clients import HttpClients

CheckOutput = tuple[str, Sequence[DoctorFinding]]
"""The result of a check: a description for when nothing is wrong, and the findings."""

_CALL_SECONDS = 12.0  # seconds for one call of one provider
_MIN_CALL_SECONDS = 1.0  # seconds; with less, no call is begun: it would be paid for, and say nothing of its service
_END_SECONDS = 0.5  # seconds for the rest of a check after the calls
_KEYRING_SECONDS = 5.0  # seconds in which somebody may unlock it


def has_module(name: str) -> bool:
    """Return whether a module is installed."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


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
    """One run of the checks. What several of them need is found out by the first."""

    settings: Settings
    """The settings in effect; the defaults while they are invalid."""
    has_valid_settings: bool
    """Whether they are valid."""
    settings_findings: Sequence[DoctorFinding]
    """The problems of the settings."""
    deadline: Deadline
    """The deadline for the check that runs."""
    offline: bool
    """Whether network requests are disabled."""
    look_up_keyring: Callable[[], KeyringState]
    """Checks for a keyring; may wait for the user to unlock it."""
    resolver: Resolver | None
    """Resolves host names instead of the system resolver."""
    skews: list[float] = field(default_factory=list)
    """How many seconds this machine's clock is ahead of each response's date."""
    cost_usd: float = 0.0
    """The cost of the calls, in US dollars."""
    _keyring: KeyringState | None = None
    _statuses: Sequence[ProviderStatus] | None = None
    _calls: Mapping[str, Verification] | None = None

    async def keyring(self) -> KeyringState:
        """Return the state of the keyring; one that waits too long for the user counts as locked."""
        if self._keyring is None:
            max_wait = max(0.1, min(_KEYRING_SECONDS, self.deadline.remaining() / 2))
            try:
                async with asyncio.timeout(max_wait):
                    self._keyring = await asyncio.to_thread(self.look_up_keyring)
            except TimeoutError:
                self._keyring = KeyringState("locked", f"it did not answer within {max_wait:.0f} seconds")
        return self._keyring

    async def provider_statuses(self) -> Sequence[ProviderStatus]:
        """Return the status of all providers; the keyring is checked first, as it may wait for the user."""
        if self._statuses is None:
            state = await self.keyring()
            if state.kind in {"locked", "failing"}:  # another attempt could block everything
                self.settings = self.settings.without_keyring()
            self._statuses = await provider_statuses(self.settings, only_used=True)
        return self._statuses

    async def calls(self) -> Mapping[str, Verification]:
        """Call each service in use once and return the results by name; empty when offline.

        Raises:
            TimeoutError: too little time is left to begin.
        """
        if self._calls is None:
            self._calls = {} if self.offline else await self._call_all(await self.provider_statuses())
            self.cost_usd = sum(call.cost_usd for call in self._calls.values())
        return self._calls

    async def _call_all(self, rows: Sequence[ProviderStatus]) -> Mapping[str, Verification]:
        seconds = min(_CALL_SECONDS, self.deadline.remaining() - _END_SECONDS)
        if seconds < _MIN_CALL_SECONDS:
            raise TimeoutError
        clients = HttpClients(self.settings, self.resolver, None, partial(_DatedTransport, self.skews))
        deadline = self.deadline.capped(seconds)
        try:
            names = [row.name for row in rows if row.can_be_called]
            calls = (verify(name, self.settings, deadline=deadline, transports=clients) for name in names)
            return dict(zip(names, await asyncio.gather(*calls), strict=True))
        finally:
            await clients.aclose()


class _DatedTransport(Transport):
    """A client that compares the date of each response with this machine's clock."""

    def __init__(self, skews: list[float], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._skews = skews

    async def call(self, *arguments: Any, **options: Any) -> Response:
        """Call a provider; see `Transport.call`."""
        reply = await super().call(*arguments, **options)
        with suppress(ValueError, TypeError, OverflowError):
            if date := reply.headers.get("Date"):
                self._skews.append(time() - parsedate_to_datetime(date).timestamp())
        return reply
