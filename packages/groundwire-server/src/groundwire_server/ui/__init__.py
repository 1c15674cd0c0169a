"""The web page of the gateway: searching, reading, and what the providers, sessions and the archive are like.

It is made on the server and works without a script. What comes from the web is shown as inert text.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from groundwire.providers.base import Prices, load_prices
from groundwire.routing.health import ProviderHealth
from groundwire.safety.tenancy import OPERATOR
from groundwire.storage import StoreError
from groundwire.telemetry import KEPT_DAYS
from groundwire.web import Web
from groundwire_server.ui.formatting import money
from groundwire_server.ui.login_sessions import SignIns, local_path
from groundwire_server.ui.page_view import read_archived
from groundwire_server.ui.query_params import parse_integer
from groundwire_server.ui.search_view import start
from groundwire_server.ui.template_streaming import ASSETS, Assets, Html
from groundwire_server.ui.view import View, ViewContext, ViewFunction, Visit, session_cookie

__all__ = [
    "STATIC_FILES",
    "archive",
    "new_session",
    "sign_in",
    "sign_out",
    "ui_routes",
]

_ARCHIVE_ROWS = 20
_PERIODS = (7, 14, KEPT_DAYS)
_MAX_LIST_PAGE = 10_000  # the last page of the list


async def archive(visit: Visit) -> Html:
    """Show the list, search results, or one archived page."""
    query = visit.query
    web = visit.tenants_web
    store = web.archive
    if store is None or not visit.sees_all:
        return Html(template="archive.html", values={"query": query, "statistics": None}, status=200)
    reading = None
    status = 200
    if query.get("open"):
        reading = await read_archived(web, store, query, viewer=OPERATOR)
        status = 200 if reading is not None else 404
    number = parse_integer("p", query.get("p"), 1, _MAX_LIST_PAGE) if query.get("p") else 1
    offset = (number - 1) * _ARCHIVE_ROWS
    words = query.get("q")
    if words:
        rows = await store.search(words[:2_000], viewer=OPERATOR, limit=_ARCHIVE_ROWS + 1, offset=offset)
    else:
        rows = await store.list(limit=_ARCHIVE_ROWS + 1, offset=offset, viewer=OPERATOR)
    values = {
        "query": query,
        "statistics": await store.statistics(viewer=OPERATOR),
        "rows": rows[:_ARCHIVE_ROWS],
        "number": number,
        "more": len(rows) > _ARCHIVE_ROWS,
        "reading": reading,
        "is_missing": status == 404,
    }
    return Html(template="archive.html", values=values, status=status)


async def providers(visit: Visit) -> Html:
    """Return the providers: price and health, and for operators the results and costs of all users."""
    text = visit.query.get("days")
    days = parse_integer("days", text, 1, KEPT_DAYS) if text else _PERIODS[0]
    web = visit.tenants_web
    prices = await asyncio.to_thread(load_prices)
    values: dict[str, object] = {"days": days, "periods": _PERIODS, "rows": [*_rows(web, prices)], "total": None}
    if visit.sees_all:
        values |= {"total": await web.score_card(days), "skipped": web.skipped}
    return Html(template="providers.html", values=values)


def _rows(web: Web, prices: Mapping[str, Prices]) -> Iterator[tuple[str, str, ProviderHealth | None, str]]:
    """Yield the name of each provider, what it is asked to do, its health if it searches, and its price."""
    roles: dict[str, list[str]] = {}
    for provider in web.search_providers:
        roles.setdefault(provider.name, []).append("search")
    for reader in web.read_providers:
        roles.setdefault(reader.name, []).append("reading")
    healths = {health.provider: health for health in web.provider_health()}
    for name, does in roles.items():
        yield name, ", ".join(does), healths.get(name), _price(prices.get(name.partition(":")[0]))


def _price(prices: Prices | None) -> str:
    if prices is None or not prices.units:
        return ""
    listed = ", ".join(f"{money(price)} a {unit}" for unit, price in prices.units.items())
    return f"{listed} ({prices.age_note(datetime.now(UTC).date()) or f'list of {prices.as_of}'})"


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
    ("/providers", providers),
    ("/archive", archive),
    ("/page/suggestions", suggestions),
)
_ASSETS = "/page"
STATIC_FILES = tuple(f"{_ASSETS}/{name}" for name in ASSETS)
"""The paths of the page's files, which are the same for everyone."""


def ui_routes(
    web: Web, *, sign_ins: SignIns | None = None, asks: Callable[[], bool] = lambda: False, catch_all: bool = False
) -> list[BaseRoute]:
    """Return the routes of the web page, for the root of a Starlette application.

    They are `/`, `/providers`, `/session/new`, `/archive`, `/sign-in`, `/sign-out` and `/page/`. `Host` is
    checked by the middleware in front of them; the origin of a form is checked here.

    Args:
        web: The web to search and read with; the caller closes it.
        sign_ins: The login sessions; None where there are none.
        asks: Says whether a login is required now.
        catch_all: Whether the last route answers all other paths with a page that says that nothing is there.
    """
    assets = Assets(_ASSETS)
    context = ViewContext(web=web, asks=asks, assets=assets)
    routes: list[BaseRoute] = [Route(path, View(context, view), methods=["GET"]) for path, view in _VIEWS]
    routes.append(Route("/session/new", View(context, new_session), methods=["POST"]))
    routes.append(Route(f"{_ASSETS}/{{name}}", assets, methods=["GET"]))
    if sign_ins is not None:
        routes.append(
            Route("/sign-in", View(context, partial(sign_in, sign_ins), is_open=True), methods=["GET", "POST"])
        )
        routes.append(Route("/sign-out", View(context, partial(sign_out, sign_ins), is_open=True), methods=["POST"]))
    if catch_all:
        routes.append(Route("/{path:path}", View(context, missing), methods=["GET"]))
    return routes
