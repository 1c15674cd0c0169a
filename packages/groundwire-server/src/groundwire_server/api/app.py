"""The ASGI application: routing to the REST API and to mounted applications, with `Access` in front."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Final, Self

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire.errors import ConfigurationError
from groundwire.hints import METHODS, NEWS
from groundwire.settings import Settings
from groundwire.telemetry import Metrics
from groundwire.web import Web
from groundwire_server.api.context import AppContext, Requests, Scrape, Traffic
from groundwire_server.api.error_body import failed, internal
from groundwire_server.api.mounts import LARGEST_MODEL_REQUEST, MODEL_PATHS, Mount, SignedIn
from groundwire_server.api.openapi import openapi, openapi_page
from groundwire_server.api.routes import JSON, operations
from groundwire_server.auth import Access, AccessPolicy, KeyFile

__all__ = ["Gateway", "build_app"]

_logger = logging.getLogger(__name__)


def _application(
    context: AppContext, mounts: Sequence[Mount], metrics: Metrics | None, pages: SignedIn | None, *, rest: bool
) -> tuple[ASGIApp, Requests]:
    """Return the application behind `Access`, and the counter of its requests.

    Args:
        context: The gateway's parts.
        mounts: What is served beside its own calls.
        metrics: Counts the calls; None where they are not counted.
        pages: The web page; None where there is none.
        rest: Whether the REST API is part of it; else there are only its health checks.
    """
    described = [operation for operation in operations(context) if rest or operation.is_open]
    by_path: dict[str, dict[str, ASGIApp]] = {}
    for operation in described:
        by_path.setdefault(operation.path, {})[operation.method] = operation.app
    served = by_path | {path: by_path[right] for path, right in _OTHER_PATHS.items() if right in by_path}
    routes: list[BaseRoute] = [Route(path, _ByMethod(apps), methods=list(apps)) for path, apps in served.items()]
    for mount in mounts:
        routes += [Route(mount.path, mount.app), Route(f"{mount.path}/{{path:path}}", mount.app)]
    app = Starlette(exception_handlers={HTTPException: _http_failed, Exception: _failed})
    app.router.redirect_slashes = False
    named = ("/v1/sessions", "/v1/tools", *by_path, "/openapi.json", "/metrics", *(one.path for one in mounts))
    requests = Requests(named)
    if rest:
        document = json.dumps(openapi(described)).encode()

        async def describe(_request: Request) -> Response:
            return Response(document, media_type=JSON)

        async def explain(_request: Request) -> Response:
            return Response(page, media_type="text/html")

        page = openapi_page(described)
        routes += [Route(path, describe, methods=["GET"]) for path in ("/openapi.json", "/v1/openapi.json")]
        routes += [Route(path, explain, methods=["GET"]) for path in ("/docs", "/redoc")]
        routes.append(Route("/metrics", Scrape(metrics, requests, context.traffic).show, methods=["GET"]))
    app.router.routes += routes
    if pages is not None:
        app.router.routes += pages.routes()
    return _AtTheRoot(app) if rest else app, requests


_PATHS: Final[Mapping[str, str]] = {
    "search": "/v1/search",
    "open_page": "/v1/pages",
    "open_pages": "/v1/pages",
    "ask": "/v1/ask",
}
_OTHER_PATHS: Final[Mapping[str, str]] = {
    **{f"/v1/{name}": _PATHS[right] for name, right in METHODS.items()},
    **{f"/{name}": _PATHS[right] for name, right in METHODS.items() if right != "search"},
    **dict.fromkeys(("/v1/open_page", "/v2/scrape"), "/v1/pages"),
    **dict.fromkeys(("/v1/map", "/v2/map"), "/map"),
    **dict.fromkeys(("/v2/search", "/res/v1/web/search"), "/v1/search"),
    **{f"{version}/{name}": "/healthz" for name in ("health", "ping", "status") for version in ("", "/v1")},
    "/ready": "/readyz",
    **dict.fromkeys(("/tools", "/v1/tools/list"), "/v1/tools"),
}
"""Paths that other APIs have taught, with what they mean here."""


class _ByMethod:
    """An endpoint with a separate handler for each method."""

    def __init__(self, apps: Mapping[str, ASGIApp]) -> None:
        self._apps = apps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Dispatch by method; HEAD is a GET whose body the server omits."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._apps[method](scope, receive, send)


class _AtTheRoot:
    """Redirects SearXNG's clients from `/` to `/search`, as SearXNG does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request."""
        if scope["type"] == "http" and scope["path"] == "/" and scope["method"] in ("GET", "HEAD"):
            request = Request(scope)
            if request.query_params.get("format") == "json" and "q" in request.query_params:
                await RedirectResponse(f"/search?{request.url.query}", 308)(scope, receive, send)
                return
        await self._app(scope, receive, send)


_NO_UPSTREAM: Final = (
    "Start the gateway with groundwire serve --upstream URL of an OpenAI-compatible API; its models, with web search, "
    "are then at /openai/v1 and here. /v1/ask answers questions without it."
)


async def _http_failed(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    last = request.url.path.rstrip("/").rpartition("/")[2]
    meant = _PATHS.get("search" if last in NEWS else METHODS.get(last, last)) or _OTHER_PATHS.get(f"/v1/{last}")
    paths = dict.fromkeys(path for route in request.app.routes if "{" not in (path := getattr(route, "path", "{")))
    own = [path for path in paths if path != "/" and path not in _OTHER_PATHS]
    hint = f"; did you mean {meant}?" if meant in paths else "."
    there = (
        "/openapi.json lists the endpoints of the REST API."
        if "/openapi.json" in paths
        else f"Those here are {', '.join(own)}."  # of a preset
    )
    code = {404: "no_such_path", 405: "wrong_method"}.get(error.status_code, "refused")
    if last == "crawl" and "/crawl" in paths:
        hint = f": no crawl goes on in the background. /crawl responds when all pages are read{hint}"
    if "/openapi.json" in paths and any(request.url.path.startswith(path) for path in MODEL_PATHS):
        hint, there = ": no model server is connected.", _NO_UPSTREAM
    text = {
        404: f"There is no endpoint at this path{hint} {there}",
        405: "This path does not support that method; the Allow header lists the supported ones.",
    }.get(error.status_code, error.detail)
    return failed(error.status_code, code, text, headers=error.headers).response()


async def _failed(_request: Request, _error: Exception) -> Response:
    return internal().response()


class Gateway:
    """The gateway: an ASGI application, to be served or called in process; see `build_gateway`.

    Use it as `async with build_gateway() as gateway:`, or serve it with its lifespan on.
    """

    def __init__(self, context: AppContext, access: Access, mounts: Sequence[Mount], *, owned: Web | None) -> None:
        self._context = context
        self._access = access
        self._mounts = tuple(mounts)
        self._owned = owned
        self._settings = context.web.settings
        self._stack = AsyncExitStack()

    @property
    def web(self) -> Web:
        """The web to search and read with."""
        return self._context.web

    @property
    def running(self) -> int:
        """The number of running calls."""
        return self._context.traffic.running

    @property
    def paths(self) -> tuple[str, ...]:
        """The path prefixes of mounted applications, such as `/mcp`."""
        return tuple(mount.path for mount in self._mounts)

    @property
    def asks_for_keys(self) -> bool:
        """Whether a key is currently required."""
        return self._access.asks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI connection."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            answer = _parting(send) if self._context.traffic.leaving else send
            await self._access(scope, receive, answer)
        else:
            await self._access(scope, receive, send)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Prepare for requests. Call it and `aclose` in the same task."""
        for mount in self._mounts:
            await self._stack.enter_async_context(mount.running)
        self._context.traffic.started = True

    def leave(self) -> None:
        """Report in `/readyz`, and by closing connections, that the server is about to stop; calls are still accepted.

        A load balancer goes on sending calls until it has noticed.
        """
        self._context.traffic.leave()

    def drain(self) -> None:
        """Accept no new calls; running ones continue. `/readyz` reports it from now on."""
        self._context.traffic.drain()

    def end_calls(self) -> None:
        """Accept no new calls, and end the running ones with an error."""
        self._context.traffic.end()

    async def idle(self) -> None:
        """Wait until no call is running."""
        await self._context.traffic.idle()

    def reload(self, read: Callable[[], Settings]) -> None:
        """Read the settings again, and take over what can change while the server runs; the log names it and the rest.

        Args:
            read: Returns the settings. If it raises ConfigurationError, nothing changes, and the log has the reason.
        """
        try:
            given = _isolated(read())
        except ConfigurationError as error:
            _logger.error("The settings are not reloaded: %s", error)
            return
        before = self._settings
        self._settings = before.model_copy(update={"server": self._access.reload(given.server)})
        changed, rest = _differences(before, self._settings), _differences(self._settings, given)
        _logger.info("Settings reloaded; changed: %s", ", ".join(changed) or "nothing")
        if rest:
            _logger.warning("These settings change only when the server is started again: %s", ", ".join(rest))

    async def aclose(self) -> None:
        """Accept no more calls, and close the `Web` if the gateway created it. Idempotent."""
        self.drain()
        try:
            await self._stack.aclose()
            await self._access.aclose()
        finally:
            if self._owned is not None:
                await self._owned.aclose()

    async def _live(self, receive: Receive, send: Send) -> None:
        """Handle the server's lifespan events (https://asgi.readthedocs.io/en/latest/specs/lifespan.html)."""
        await receive()
        try:
            await self.start()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        try:
            await self.aclose()
        finally:
            await send({"type": "lifespan.shutdown.complete"})


def _parting(send: Send) -> Send:
    """Return a `send` that ends the connection with the response, so that a client's next request goes elsewhere."""

    async def parting(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [pair for pair in message.get("headers", ()) if pair[0].lower() != b"connection"]
            message = {**message, "headers": [*headers, (b"connection", b"close")]}
        await send(message)

    return parting


def _differences(one: Settings, other: Settings) -> list[str]:
    """Return the names of the settings that differ; their values may be secret."""
    mine, theirs = one.model_dump(), other.model_dump()
    return sorted(
        f"{section}.{name}"
        for section in mine
        for name in {**mine[section], **theirs[section]}
        if mine[section].get(name) != theirs[section].get(name)
    )


def _isolated(settings: Settings) -> Settings:
    """Return settings that parse pages in isolated processes, unless set otherwise."""
    if settings.read.isolation != "auto":
        return settings
    return settings.model_copy(update={"read": settings.read.model_copy(update={"isolation": "process"})})


def build_app(
    source: Settings | Web,
    mounts: Callable[[AppContext], Iterable[Mount]],
    *,
    policy: AccessPolicy,
    keys: KeyFile,
    rest: bool = False,
    page: bool = False,
    metrics: Metrics | None = None,
) -> Gateway:
    """Build the application of all servers, with its mounts and `Access` in front.

    Args:
        source: The current settings, from which it creates and closes its own `Web`; or a `Web`, which stays the
            caller's to close.
        mounts: Returns what is served beside the REST API and the page.
        policy: By which names it may be called, and whether a key is asked for.
        keys: The keys.
        rest: Whether the REST API is served.
        page: Whether the web page is at `/`.
        metrics: What watches a `Web` that is the caller's, for `/metrics`.

    Raises:
        ConfigurationError: the settings are invalid.
    """
    if isinstance(source, Web):
        web = source
    else:
        metrics = metrics or Metrics()
        web = Web(_isolated(source), call_listeners=(metrics,))
    context = AppContext(web=web.with_files(), traffic=Traffic())  # a request names no file of this machine
    mounted = tuple(mounts(context))
    pages = SignedIn(context.web, keys) if page else None
    inner, requests = _application(context, mounted, metrics, pages, rest=rest)
    larger = {mount.path: mount.max_body_bytes for mount in mounted}
    if rest:
        larger["/v1/prepare"] = LARGEST_MODEL_REQUEST
    access = Access(
        inner,
        web.settings.server,
        keys,
        web.store,
        policy=policy,
        larger=larger,
        pages=pages,
        count=requests.count,
    )
    context.traffic.admission = access.admission
    if pages is not None:
        pages.asks = lambda: access.asks
    return Gateway(context, access, mounted, owned=None if isinstance(source, Web) else web)
