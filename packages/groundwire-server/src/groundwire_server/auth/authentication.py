"""Authentication: the API key or token of a request, the tenant it belongs to, the client's address."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from starlette.types import Scope

from groundwire.errors import ConfigurationError, InvalidRequest
from groundwire.routing.daily_quota import DailyLimits
from groundwire_server.auth.access_log import facts_of
from groundwire_server.auth.error_response import Headers
from groundwire_server.auth.keys import KeyFile, KeyLimits, KeyRecord, id_of, is_key_of
from groundwire_server.auth.rate_limits import Failures
from groundwire_server.error_body import Failed, failed

if TYPE_CHECKING:
    from groundwire.web import Web
    from groundwire_server.auth.oauth import AccessTokens


def client_address(scope: Scope) -> str:
    """Return the client's address of a request; empty if the server does not know it."""
    return str((scope.get("client") or ("",))[0])


_PREFIX = "gw_"
CREDENTIALS = frozenset({b"authorization", b"x-api-key"})
"""The headers that can hold a key."""


def key_in(headers: Mapping[str, str]) -> str:
    """Return the key of a request, or an empty string.

    It is read from `X-API-Key`, else from `Authorization: Bearer KEY`, and never from the URL: URLs are logged.

    Args:
        headers: By their names in lower case.
    """
    return headers.get("x-api-key", "").strip() or _bearer(headers.get("authorization", ""))


def credential(headers: Headers) -> bytes:
    """Return the header of a request that holds its key, as it was sent; empty if there is none."""
    for name, value in headers:
        if name.lower() in CREDENTIALS:
            return value.strip()
    return b""


def without_key(headers: Headers) -> Headers:
    """Return a request's headers without API keys, which the application does not need.

    What these headers say to others is left, such as to the model server behind the proxy.
    """
    return [
        (name, value)
        for name, value in headers
        if (lower := name.lower()) not in CREDENTIALS or not _holds_key(lower, value.decode("latin-1"))
    ]


def _holds_key(name: bytes, value: str) -> bool:
    return (_bearer(value) if name == b"authorization" else value.strip()).startswith(_PREFIX)


def _bearer(authorization: str) -> str:
    scheme, _, credentials = authorization.strip().partition(" ")
    return credentials.strip() if scheme.lower() == "bearer" else ""


TENANT = "groundwire.tenant"
"""The key of the tenant in a request's scope."""

_LONGEST = 100  # characters of a session's name


@dataclass(frozen=True, slots=True)
class Tenant:
    """The holder of the key or access token of a request. It contains no part of it, and may be logged."""

    id: str
    """The tenant whose sessions it can access."""
    key_id: str
    """The ID of the key; with an access token, the tenant's."""
    name: str
    """The name given by the key's owner."""
    operator: bool
    """Whether it may access the data of all tenants."""
    limits: KeyLimits
    """Its limits."""
    digest: str = field(default="", repr=False)
    """The digest of the key; empty with an access token."""
    expires: datetime | None = None
    """When the key or token expires; None means never."""

    @classmethod
    def of(cls, record: KeyRecord) -> Tenant:
        """Return the holder of a key."""
        return cls(record.tenant, record.id, record.name, record.operator, record.limits, record.digest, record.expires)

    @property
    def daily(self) -> DailyLimits:
        """The daily limits of the key."""
        limits = self.limits
        return DailyLimits(name=f"key:{self.key_id}", calls=limits.calls_per_day, cost_usd=limits.usd_per_day)

    @property
    def prefix(self) -> str:
        """The prefix of the tenant's session names in the store."""
        return f"tenant:{self.id}:"

    def session(self, name: str) -> str:
        """Return the name in the store of a tenant's session, unique to the tenant.

        Args:
            name: 1 to 100 printable characters.

        Raises:
            InvalidRequest: it is not a session name.
        """
        if not 0 < len(name) <= _LONGEST or not name.isprintable():
            raise InvalidRequest("session", "is not a session name", f"Pass 1 to {_LONGEST} printable characters.")
        return f"{self.prefix}{name}"

    def narrow(self, web: Web) -> Web:
        """Return a view of a `Web` with the key's permissions: its providers, domains and folders, its daily budget.

        The stored data of its calls belongs to the tenant.

        Make sessions of that view, `tenant.narrow(web).session(tenant.session(name))`, so that they pay into the
        day's budget as well as into their own.
        """
        limits = self.limits
        return web.restricted(
            providers=limits.providers,
            allowed_domains=limits.allowed_domains,
            blocked_domains=limits.blocked_domains,
            daily=self.daily,
            tenant=self.id,
            keep=limits.keep,
        ).with_files(*limits.files)


def tenant_of(scope: Mapping[str, Any]) -> Tenant | None:
    """Return the tenant of a request; None if no keys are required, which is possible only on loopback."""
    tenant = scope.get(TENANT)
    return tenant if isinstance(tenant, Tenant) else None


_logger = logging.getLogger(__name__)

HOW = "Send a key of `groundwire keys` as Authorization: Bearer KEY, or as X-API-Key: KEY."
"""How a key is sent to a server that forwards nothing."""
_ENDINGS = MappingProxyType({"revoked": "was revoked", "expired": "has expired"})


class Pages(Protocol):
    """Paths for people in browsers, who sign in there instead of sending a key; others are redirected to sign in."""

    def has(self, scope: Scope) -> bool:
        """Whether a request is for one of them. It must reveal nothing to unauthenticated visitors."""
        ...

    async def key_id(self, scope: Scope) -> str | None:
        """Return the ID of the key that the sender of a request has signed in with, or None."""
        ...


class Authenticator:
    """Authenticates requests by API key or access token.

    Args:
        keys: The keys.
        must: Whether a key is asked for even where there has never been one.
        failures: Counts wrong keys.
        pages: Paths at which people sign in.
        now: The time.
        how: How a key is sent, for clients without a valid one.
        tokens: Verifies access tokens; None where only keys are accepted.
    """

    def __init__(
        self,
        keys: KeyFile,
        *,
        must: bool,
        failures: Failures,
        pages: Pages | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        how: str = HOW,
        tokens: AccessTokens | None = None,
    ) -> None:
        self._keys = keys
        self.tokens: AccessTokens | None = tokens
        self._must = must
        self._how = how
        self.pages: Pages | None = pages
        self._failures = failures
        self._now = now

    @property
    def asks(self) -> bool:
        """Whether a key is currently required.

        Raises:
            ConfigurationError: the key file cannot be used.
        """
        return self._must or self._keys.ever()

    async def find(self, scope: Scope, headers: Mapping[str, str]) -> Tenant | None:
        """Return the tenant of a request; None if no key is required, or not yet: for a page with a login.

        Raises:
            Failed: the request has no valid key.
        """
        if self.pages is not None and self.pages.has(scope) and not key_in(headers):
            return await self._visitor(scope, self.pages)
        return await self._tenant(scope, headers)

    def is_still_valid(self, tenant: Tenant) -> bool:
        """Whether the key or access token of a running request is still valid."""
        if not tenant.digest:
            return tenant.expires is None or self._now() < tenant.expires
        try:
            record = self._keys.find(tenant.key_id)
        except ConfigurationError:
            return False
        return record is not None and record.digest == tenant.digest and not record.why_dead(self._now())

    async def _visitor(self, scope: Scope, pages: Pages) -> Tenant | None:
        """Return the holder of the key that a visitor has signed in with, or None."""
        try:
            id_ = await pages.key_id(scope) if self.asks else None
            record = None if id_ is None else self._keys.find(id_)
        except ConfigurationError as error:
            raise _unreadable(error) from None
        return None if record is None or record.why_dead(self._now()) else Tenant.of(record)

    async def _tenant(self, scope: Scope, headers: Mapping[str, str]) -> Tenant | None:
        """Return the tenant of a request; None if no key is required.

        Raises:
            Failed: the request has no valid key.
        """
        try:
            if not self.asks:
                return None
            key = key_in(headers)
            record = self._keys.find(id_of(key))
        except ConfigurationError as error:
            raise _unreadable(error) from None
        tokens = self.tokens if self.tokens is not None and self.tokens.covers(scope["path"]) else None
        how, challenge = (self._how, "") if tokens is None else (f"{self._how} {tokens.how}", tokens.challenge)
        if not key:
            raise _unknown("missing_key", how, challenge)
        if tokens is not None and key.count(".") == 2 and headers.get("authorization", "").endswith(key):
            try:
                return await tokens.tenant(key)
            except Failed as refusal:
                if refusal.problem.code == "wrong_token":
                    await self._count_failure(scope)
                raise
        record = record if is_key_of(record, key) else None
        why = record.why_dead(self._now()) if record is not None else ""
        if record is not None and not why:
            return Tenant.of(record)
        if record is not None:
            note_key(scope, Tenant.of(record))
        await self._count_failure(scope)
        if why:
            raise _unknown(f"{why}_key", f"This key is no longer valid: it {_ENDINGS[why]}.", challenge)
        raise _unknown("wrong_key", f"This key is not valid. {how}", challenge)

    async def _count_failure(self, scope: Scope) -> None:
        """Count a wrong key.

        Raises:
            Failed: the address has sent too many.
        """
        if wait := await self._failures.count(client_address(scope)):
            text = "Too many failed attempts with invalid keys from this address."
            raise failed(429, "too_many_wrong_keys", text, retry_after=wait)


def note_key(scope: Scope, tenant: Tenant) -> None:
    """Note for the log whose key a request has."""
    facts = facts_of(scope)
    facts.tenant, facts.key_id = tenant.id, tenant.key_id


def _unreadable(error: ConfigurationError) -> Failed:
    _logger.error("%s", error)
    return failed(503, "no_keys", "The server cannot read its keys; contact its operator.")


def _unknown(code: str, text: str, challenge: str = "") -> Failed:
    """Return the rejection of a request without a valid key."""
    error = "" if code == "missing_key" else ', error="invalid_token"'
    authenticate = f'Bearer realm="groundwire"{error}{challenge}'
    return failed(401, code, text, headers={"www-authenticate": authenticate})
