"""The web page of the gateway: searching, reading, and asking.

It is made on the server and works without a script. What comes from the web is shown as inert text.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from groundwire.storage import StoreError
from groundwire.web import Web
from groundwire_server.ui.login_sessions import SignIns, local_path
from groundwire_server.ui.search_view import start
from groundwire_server.ui.template_streaming import Assets, Html
from groundwire_server.ui.view import View, ViewContext, ViewFunction, Visit, session_cookie

__all__ = [
    "STATIC_FILES",
    "new_session",
    "sign_in",
    "sign_out",
    "ui_routes",
]


async def suggestions(visit: Visit) -> Response:
    """Return what the visitor searched for and found before that has the typed words, as a JSON list."""
    web = visit.web
    texts: Sequence[str] = ()
    if web.archive is not None:
        with suppress(StoreError):
            texts = await web.archive.suggest(visit.query.get("q"), owner=web.owner)
    return JSONResponse(list(texts), headers={"cache-control": "no-store", "x-content-type-options": "nosniff"})


async def sign_in(sign_ins: SignIns, visit: Visit) -> Html | Response:
    """Ask for a key, or sign in a visitor with a valid one."""
    request = visit.request
    if request.method != "POST":
        after = local_path(visit.query.get("next"))
        if visit.tenant is not None or not visit.context.asks():
            return RedirectResponse(after, 303)
        # A navigation from another site does not send the cookie; a further step within this one does.
        came_from_elsewhere = request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}
        return _form(after, may_be_in=came_from_elsewhere)
    after = local_path(visit.form.get("next", ""))
    secure = "https" in {request.url.scheme, urlsplit(request.headers.get("origin", "")).scheme}
    cookie = await sign_ins.sign_in(visit.form.get("key", "").strip(), secure=secure)
    if cookie is None:
        if wait := await sign_ins.count_wrong_key(request):
            seconds = math.ceil(wait)
            page = _form(after, problem=f"Too many wrong keys. Wait {seconds} s and try again.", status=429)
            return replace(page, headers=(("retry-after", str(seconds)),))
        return _form(after, problem="This key is unknown or revoked.", status=403)
    return RedirectResponse(after, 303, {"set-cookie": cookie})


async def sign_out(sign_ins: SignIns, visit: Visit) -> Response:
    """End the login session. The pages were sent with `no-store`, so the browser keeps none of them."""
    cookie = await sign_ins.sign_out(visit.request)
    return RedirectResponse("/sign-in", 303, {"set-cookie": cookie})


def _form(after: str, *, problem: str = "", may_be_in: bool = False, status: int = 200) -> Html:
    values = {"after": after, "problem": problem, "may_be_in": may_be_in}
    return Html(template="sign_in.html", values=values, status=status)


async def missing(visit: Visit) -> Html:
    """Say that there is nothing at a path."""
    values = {"title": "Page not found", "problem": "There is no page at this address.", "fix": "Check it for typos."}
    return Html(template="refused.html", values=values, status=404)


async def new_session(visit: Visit) -> Response:
    """Give the browser a new session with a full budget; the old one is unchanged."""
    return RedirectResponse("/", 303, {"set-cookie": session_cookie(secrets.token_hex(12))})


_VIEWS: tuple[tuple[str, ViewFunction], ...] = (
    ("/", start),
    ("/page/suggestions", suggestions),
)
_ASSETS = "/page"
STATIC_FILES = tuple(f"{_ASSETS}/{name}" for name in ("page.css", "page.js", "mark.svg"))
"""The paths of the page's files, which are the same for everyone."""


def ui_routes(
    web: Web, *, sign_ins: SignIns | None = None, asks: Callable[[], bool] = lambda: False, catch_all: bool = False
) -> list[BaseRoute]:
    """Return the routes of the web page, for the root of a Starlette application.

    They are `/`, `/session/new`, `/sign-in`, `/sign-out` and `/page/`. `Host` is checked by the middleware in front of
    them; the origin of a form is checked here.

    Args:
        web: The web to search and read with; the caller closes it.
        sign_ins: The login sessions; None where there are none.
        asks: Says whether a login is required now.
        catch_all: Whether the last route answers all other paths with a page that says that nothing is there.
    """
    context = ViewContext(web=web, asks=asks)
    routes: list[BaseRoute] = [Route(path, View(context, view), methods=["GET"]) for path, view in _VIEWS]
    routes.append(Route("/session/new", View(context, new_session), methods=["POST"]))
    routes.append(Mount(_ASSETS, Assets()))
    if sign_ins is not None:
        routes.append(
            Route("/sign-in", View(context, partial(sign_in, sign_ins), is_open=True), methods=["GET", "POST"])
        )
        routes.append(Route("/sign-out", View(context, partial(sign_out, sign_ins), is_open=True), methods=["POST"]))
    if catch_all:
        routes.append(Route("/{path:path}", View(context, missing), methods=["GET"]))
    return routes
