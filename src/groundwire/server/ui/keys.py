"""The doors of a gateway: its API keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from groundwire.server.access import KeyFile, Tenant, tenant_of
from groundwire.server.access.clients import Clients
from groundwire.server.access.keys import KeyRecord, id_of, is_key_of
from groundwire.server.access.tenant import KEY_ASKED
from groundwire.server.ui.visitors import Visitor
from groundwire.web import Web

__all__ = ["KeyDoors"]


class KeyDoors:
    """Lets in whoever has a valid key, to see and use what its tenant may.

    Args:
        web: What searches and reads.
        keys: The keys.
        required: Whether a key is asked for even while there has been none.
        trusted: Addresses and networks of load balancers, whose word about a client's address is believed.
        now: The time.
    """

    def __init__(
        self,
        web: Web,
        keys: KeyFile,
        *,
        required: bool = False,
        trusted: Iterable[str] = (),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._web = web
        self._keys = keys
        self._required = required
        self._clients = Clients(trusted)
        self._now = now

    def asks(self, scope: Mapping[str, Any]) -> bool:
        """Whether a key is asked for: the gate says so, or there is one, or was while this process ran."""
        return bool(scope.get(KEY_ASKED)) or self._required or self._keys.ever()

    def known(self, scope: Mapping[str, Any]) -> Visitor | None:
        """Return whom the gate before the page has let in."""
        tenant = tenant_of(scope)
        return None if tenant is None else self._visitor(tenant)

    async def admit(self, key: str) -> Visitor | None:
        """Return whose key this is."""
        record = self._keys.find(id_of(key))
        return self._of(record) if is_key_of(record, key) else None

    async def recall(self, visitor: str) -> Visitor | None:
        """Return the holder of the key of that id, as long as it is valid."""
        return self._of(self._keys.find(visitor))

    def address(self, scope: Mapping[str, Any]) -> str:
        """Return the client's address, also behind load balancers."""
        return self._clients.address(dict(scope))

    def _of(self, record: KeyRecord | None) -> Visitor | None:
        if record is None or record.why_dead(self._now()):
            return None
        return self._visitor(Tenant.of(record))

    def _visitor(self, tenant: Tenant) -> Visitor:
        return Visitor(
            id=tenant.key_id,
            name=tenant.name,
            web=tenant.narrow(self._web),
            prefix=tenant.session("-").removesuffix("-"),
            sees_all=tenant.operator,
            calls_per_day=tenant.limits.calls_per_day,
            usd_per_day=tenant.limits.usd_per_day,
        )
