"""Whose request it is: the key in it, or with which somebody has signed in, and whether that is valid."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from groundwire.errors import ConfigurationError
from groundwire.server.access.clients import Clients
from groundwire.server.access.credentials import key_in
from groundwire.server.access.failures import Failures
from groundwire.server.access.key_file import KeyFile
from groundwire.server.access.keys import KeyRecord, digest_of, id_of, is_key_of
from groundwire.server.access.refusal import Refusal
from groundwire.server.mcp.presence import Scope

__all__ = ["Holders", "Pages"]

_logger = logging.getLogger(__name__)

_SAID = MappingProxyType({"revoked": "was revoked", "expired": "has expired"})


class Pages(Protocol):
    """Paths for people at browsers, who sign in there instead of sending a key; whoever has not is asked to, there."""

    def has(self, path: str) -> bool:
        """Whether this is such a path. It must show nothing to whom it does not know."""
        ...

    async def key_id(self, scope: Scope) -> str | None:
        """Return what names the key with which the sender of a request has signed in; None when they have not."""
        ...


class Holders:
    """Finds the holder of the key of a request.

    Args:
        keys: The keys.
        must: Whether a key is asked for even where there has never been one.
        pages: Paths at which people sign in.
        clients: Says which address a request comes from.
        failures: Counts wrong keys.
        now: The time.
    """

    def __init__(
        self,
        keys: KeyFile,
        *,
        must: bool,
        pages: Pages | None,
        clients: Clients,
        failures: Failures,
        now: Callable[[], datetime],
    ) -> None:
        self._keys = keys
        self._must = must
        self._pages = pages
        self._clients = clients
        self._failures = failures
        self._now = now

    @property
    def asks(self) -> bool:
        """Whether a key is asked for now.

        Raises:
            ConfigurationError: the key file cannot be used.
        """
        return self._must or self._keys.ever()

    async def find(self, scope: Scope, headers: Mapping[str, str]) -> KeyRecord | None:
        """Return the record of a request's key; None where none is asked for, or not yet: at a page to sign in.

        Raises:
            Refusal: it has none, or not a valid one.
        """
        if self._pages is not None and self._pages.has(scope["path"]) and not key_in(headers):
            return await self._visitor(scope, self._pages)
        return self._record(scope, headers)

    def is_still_valid(self, record: KeyRecord) -> bool:
        """Whether the key of a request that goes on may still be used."""
        try:
            found = self._keys.find(record.id)
        except ConfigurationError:
            return False
        return found is not None and found.digest == record.digest and not found.why_dead(self._now())

    async def _visitor(self, scope: Scope, pages: Pages) -> KeyRecord | None:
        """Return the record of the key with which a visitor has signed in; None for one who has not, or need not."""
        try:
            id_ = await pages.key_id(scope) if self.asks else None
            record = None if id_ is None else self._keys.find(id_)
        except ConfigurationError as error:
            raise _unreadable(error) from None
        return None if record is None or record.why_dead(self._now()) else record

    def _record(self, scope: Scope, headers: Mapping[str, str]) -> KeyRecord | None:
        """Return the record of a request's key; None where none is asked for.

        Raises:
            Refusal: it has none, or not a valid one.
        """
        try:
            if not self.asks:
                return None
            key = key_in(headers)
            record = self._keys.find(id_of(key))
        except ConfigurationError as error:
            raise _unreadable(error) from None
        if not key:
            raise _unknown(headers, "missing_key", "Send your key: Authorization: Bearer KEY, or X-API-Key: KEY.")
        address, digest = self._clients.address(scope), digest_of(key)
        wait = self._failures.wait(address)
        if wait and not self._failures.was_right(digest):
            raise Refusal(429, "too_many_wrong_keys", "Too many wrong keys came from there.", retry_after=wait)
        if not is_key_of(record, key) or record is None:
            self._failures.failed(address)
            raise _unknown(headers, "wrong_key", "This key is not valid.")
        if why := record.why_dead(self._now()):
            self._failures.failed(address)
            raise _unknown(headers, f"{why}_key", f"This key is not valid any more: it {_SAID[why]}.")
        self._failures.right(digest)
        return record


def _unreadable(error: ConfigurationError) -> Refusal:
    _logger.error("%s", error)
    return Refusal(503, "no_keys", "The keys of this server cannot be read; tell its operator.")


def _unknown(headers: Mapping[str, str], code: str, text: str) -> Refusal:
    """Return the refusal of a request without a valid key; a person at a browser is asked for one."""
    error = "" if code == "missing_key" else ', error="invalid_token"'
    asked = f'Bearer realm="groundwire"{error}'
    if headers.get("sec-fetch-mode") == "navigate":
        asked = 'Basic realm="groundwire: your key is the password", charset="UTF-8"'
    return Refusal(401, code, text, headers={"www-authenticate": asked})
