"""Where the views of the page are."""

from __future__ import annotations

from starlette.routing import BaseRoute, Route

from groundwire.server.ui.archive import archive
from groundwire.server.ui.assets import Assets
from groundwire.server.ui.door import sign_in, sign_out
from groundwire.server.ui.providers import providers
from groundwire.server.ui.room import Desk, Room, View
from groundwire.server.ui.searching import start
from groundwire.server.ui.sessions import new_session, session, sessions
from groundwire.server.ui.signing import SignIns
from groundwire.server.ui.visitors import Doors, Visitor
from groundwire.web import Web

__all__ = ["ui_routes"]

_READ: tuple[tuple[str, View], ...] = (
    ("/", start),
    ("/providers", providers),
    ("/sessions", sessions),
    ("/session", session),
    ("/archive", archive),
)
_ASSETS = "/page"


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
