"""Where the views of the page are."""

from __future__ import annotations

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from groundwire.server.ui.archive import archive
from groundwire.server.ui.assets import Assets
from groundwire.server.ui.door import sign_in, sign_out
from groundwire.server.ui.providers import providers
from groundwire.server.ui.room import Desk, Room, View
from groundwire.server.ui.searching import start
from groundwire.server.ui.sessions import new_session, session, sessions
from groundwire.server.ui.signing import SignIns
from groundwire.server.ui.visitors import Doors, Visitor
from groundwire.storage import Store
from groundwire.web import Web

__all__ = ["PageDoor", "ui_routes"]

_READ: tuple[tuple[str, View], ...] = (
    ("/", start),
    ("/providers", providers),
    ("/sessions", sessions),
    ("/session", session),
    ("/archive", archive),
)
_OWN = ("/session/new", "/sign-in", "/sign-out")
_ASSETS = "/page"


class PageDoor:
    """What the gate before the page asks about a request without a key: a browser may have signed in instead.

    Args:
        store: Where it is kept who has signed in.
        doors: Says who may come in.
    """

    def __init__(self, store: Store, doors: Doors) -> None:
        self._sign_ins = SignIns(doors, store)
        self._paths = frozenset((*(path for path, _ in _READ), *_OWN))

    def has(self, path: str) -> bool:
        """Whether a path is one of the page, which asks for a key itself."""
        return path in self._paths or path.startswith(f"{_ASSETS}/")

    async def key_id(self, scope: Scope) -> str:
        """Return the id of the key with which who sent a request has signed in; empty when they have not."""
        return await self._sign_ins.visitor_id(Request(scope))


def ui_routes(web: Web, *, authenticate: Doors | None = None) -> list[BaseRoute]:
    """Return the routes of the web page, for the root of a Starlette application.

    They are `/`, `/providers`, `/sessions`, `/session`, `/archive`, `/sign-in`, `/sign-out` and `/page/`. `Host` is
    checked by whatever stands before them; where a form comes from is checked here.

    Args:
        web: What searches and reads; it stays the caller's to close.
        authenticate: Says who may come in, by API key; None lets in everybody who reaches the page.
    """
    assets = Assets(_ASSETS)
    sign_ins = None if authenticate is None else SignIns(authenticate, web.store)
    desk = Desk(visitor=Visitor(web=web), sign_ins=sign_ins, assets=assets)
    routes: list[BaseRoute] = [Route(path, Room(desk, view), methods=["GET"]) for path, view in _READ]
    routes.append(Route("/session/new", Room(desk, new_session), methods=["POST"]))
    routes.append(Route(f"{_ASSETS}/{{name}}", assets, methods=["GET"]))
    if sign_ins is not None:
        routes.append(Route("/sign-in", Room(desk, sign_in, is_open=True), methods=["GET", "POST"]))
        routes.append(Route("/sign-out", Room(desk, sign_out, is_open=True), methods=["POST"]))
    return routes
