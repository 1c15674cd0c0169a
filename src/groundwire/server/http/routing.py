"""Which part of the gateway answers a request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.observing import Metrics
from groundwire.server.http.counts import Requests, Scrape
from groundwire.server.http.failures import failed, internal
from groundwire.server.http.house import House
from groundwire.server.http.neighbours import Neighbour
from groundwire.server.http.openapi import openapi
from groundwire.server.http.operations import JSON, operations
from groundwire.server.http.page import SignedIn

__all__ = ["application"]


def application(
    house: House, neighbours: Sequence[Neighbour], metrics: Metrics | None, pages: SignedIn | None
) -> tuple[ASGIApp, Requests]:
    """Return everything that stands behind the gate, and what counts the requests to all of it.

    Args:
        house: The gateway's parts.
        neighbours: What is served beside its own calls.
        metrics: What the calls were like; None where nobody counts them.
        pages: The web page; None where there is none.
    """
    described = operations(house)
    document = json.dumps(openapi(described)).encode()

    async def describe(_request: Request) -> Response:
        return Response(document, media_type=JSON)

    by_path: dict[str, dict[str, ASGIApp]] = {}
    for operation in described:
        by_path.setdefault(operation.path, {})[operation.method] = operation.app
    routes: list[BaseRoute] = [Route(path, _ByMethod(apps), methods=list(apps)) for path, apps in by_path.items()]
    for neighbour in neighbours:
        routes += [Route(neighbour.path, neighbour.app), Route(f"{neighbour.path}/{{path:path}}", neighbour.app)]
    routes.append(Route("/openapi.json", describe, methods=["GET"]))
    app = Starlette(exception_handlers={HTTPException: _http_failed, Exception: _failed})
    app.router.redirect_slashes = False
    named = ("/v1/sessions", *by_path, "/openapi.json", "/metrics", *(one.path for one in neighbours))
    requests = Requests(named)
    routes.append(Route("/metrics", Scrape(metrics, requests, house.traffic).show, methods=["GET"]))
    app.router.routes += routes
    if pages is not None:
        app.router.routes += pages.routes()
    return _AtTheRoot(app), requests


class _ByMethod:
    """The endpoint of a path that does something else for each method."""

    def __init__(self, apps: Mapping[str, ASGIApp]) -> None:
        self._apps = apps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the one that is asked; HEAD is a GET of which the server leaves out the body."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._apps[method](scope, receive, send)


class _AtTheRoot:
    """Sends SearXNG's clients that ask at `/` on to `/search`, as SearXNG does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http" and scope["path"] == "/" and scope["method"] in ("GET", "HEAD"):
            request = Request(scope)
            if request.query_params.get("format") == "json" and "q" in request.query_params:
                await RedirectResponse(f"/search?{request.url.query}", 308)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _http_failed(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    code = {404: "no_such_path", 405: "wrong_method"}.get(error.status_code, "refused")
    text = {
        404: "There is nothing at this path; /openapi.json lists what there is.",
        405: "This path does not take that method; the header Allow says which it takes.",
    }.get(error.status_code, error.detail)
    return failed(error.status_code, code, text, headers=error.headers).response()


async def _failed(_request: Request, _error: Exception) -> Response:
    return internal().response()
