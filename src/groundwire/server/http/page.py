"""The web page behind the gate: open to everybody where no key is asked for, else to who signs in with one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Router
from starlette.types import Receive, Scope, Send

from groundwire.server.access import KeyFile, Tenant, tenant_of
from groundwire.server.access.clients import Clients
from groundwire.server.access.keys import KeyRecord, id_of, is_key_of
from groundwire.server.ui import Visitor, ui_routes
from groundwire.server.ui.signing import SignIns
from groundwire.web import Web

__all__ = ["SignedIn"]

_FILES = "/page/"


class SignedIn:
    """The paths of the web page, and who has signed in there.

    Args:
        web: What searches and reads.
        keys: The keys with which people sign in.
        asks: Says whether a key is asked for now.
        now: The time.
    """

    def __init__(
        self,
        web: Web,
        keys: KeyFile,
        *,
        asks: Callable[[], bool] = lambda: True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        doors = _Doors(web, keys, now)
        self.asks = asks
        self._sign_ins = SignIns(doors, web.store)
        self._open = Router(ui_routes(web), redirect_slashes=False)
        self._closed = Router(ui_routes(web, authenticate=doors), redirect_slashes=False)

    def has(self, path: str) -> bool:
        """Whether a path is one of the page's; see `Pages`."""
        scope = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}
        return any(route.matches(scope)[0] is not Match.NONE for route in self._closed.routes)

    async def key_id(self, scope: Scope) -> str | None:
        """Return what names the key with which somebody has signed in; the files of the page are for everybody."""
        if scope["path"].startswith(_FILES):
            return None
        visitor = await self._sign_ins.visitor(Request(scope))
        return visitor.id if visitor else None

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the page."""
        return [_Either(self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show the page."""
        await (self._closed if self.asks() else self._open)(scope, receive, send)


class _Either(BaseRoute):
    """A route to the page, as it is at the moment."""

    def __init__(self, page: SignedIn) -> None:
        self._page = page

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for the page."""
        is_ours = scope["type"] == "http" and self._page.has(scope["path"])
        return (Match.FULL if is_ours else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show the page."""
        await self._page(scope, receive, send)


class _Doors:
    """Lets in who has a key, with all that the key allows and nothing else."""

    def __init__(self, web: Web, keys: KeyFile, now: Callable[[], datetime]) -> None:
        self._web = web
        self._keys = keys
        self._now = now
        self._clients = Clients(web.settings.server.trusted_proxies)

    async def admit(self, key: str) -> Visitor | None:
        """Return whose key this is; see `Doors`."""
        record = self._keys.find(id_of(key))
        return self._of(record) if is_key_of(record, key) else None

    async def recall(self, visitor: str) -> Visitor | None:
        """Return the visitor of an id; see `Doors`."""
        return self._of(self._keys.find(visitor))

    def known(self, scope: Mapping[str, Any]) -> Visitor | None:
        """Return whom the gate has let in, by whatever sign; see `Doors`."""
        tenant = tenant_of(scope)
        return None if tenant is None else self._visitor(tenant)

    def address(self, scope: Mapping[str, Any]) -> str:
        """Return the client's address, also behind load balancers; see `Doors`."""
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
            prefix=tenant.prefix,
            sees_all=tenant.operator,
            calls_per_day=tenant.limits.calls_per_day,
            usd_per_day=tenant.limits.usd_per_day,
        )
