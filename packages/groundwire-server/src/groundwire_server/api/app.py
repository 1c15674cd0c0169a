"""The ASGI application: routing to the REST API and to mounted applications, with `Access` in front."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cache, partial
from typing import Final, Self

from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire.errors import ConfigurationError
from groundwire.hints import METHODS, NEWS
from groundwire.settings import Settings
from groundwire.telemetry import Metrics
from groundwire.web import Web
from groundwire_server.api.compat_apis import FORMS
from groundwire_server.api.context import AppContext, Requests, Scrape, Traffic
from groundwire_server.api.drop_in_contents import with_reasons
from groundwire_server.api.mounts import LARGEST_MODEL_REQUEST, Mount, SignedIn
from groundwire_server.api.openapi import openapi
from groundwire_server.api.peers import Peers
from groundwire_server.api.routes import JSON, Operation, operations
from groundwire_server.auth import Access, Authenticator, Failures, KeyFile, check_listening, key_file_of, needs_key
from groundwire_server.auth.admission import Admission
from groundwire_server.auth.authentication import HOW
from groundwire_server.error_body import failed, internal

_logger = logging.getLogger(__name__)


def _routes(
    context: AppContext, mounts: Sequence[Mount], scrape: Scrape, described: Sequence[Operation], *, rest_api: bool
) -> Iterator[BaseRoute]:
    """Yield the routes of the operations, under their other names, too, and of what is mounted."""
    by_path: dict[str, dict[str, ASGIApp]] = {}
    for operation in described:
        by_path.setdefault(operation.path, {})[operation.method] = operation.app
    drop_ins = {path: {"POST": by_path[own]["POST"]} for path, own in _DROP_INS.items() if own in by_path}
    for path, apps in (by_path | drop_ins).items():
        yield Route(path, partial(_by_method, apps), methods=list(apps))
    for mount in mounts:
        yield from (Route(mount.path, mount.app), Route(f"{mount.path}/{{path:path}}", mount.app))
    if rest_api:
        yield _SearxngRoot("/", _to_search, methods=["GET"])

        @cache
        def document() -> bytes:
            return json.dumps(openapi(described)).encode()

        def describe(_request: Request) -> Response:  # in a thread: the first time takes 50 ms, not spent at the start
            return Response(document(), media_type=JSON)

        yield Route("/openapi.json", describe, methods=["GET"])
        yield Route("/metrics", scrape.show, methods=["GET"])


async def _by_method(apps: Mapping[str, ASGIApp], request: Request) -> ASGIApp:
    """Return the endpoint of a method; HEAD is a GET whose body the server omits."""
    return apps["GET" if request.method == "HEAD" else request.method]


_PATHS: Final[Mapping[str, str]] = {
    "search": "/v1/search",
    "open_page": "/v1/pages",
    "open_pages": "/v1/pages",
    "ask": "/v1/ask",
    "map": "/map",
    **dict.fromkeys(("health", "ping", "status"), "/healthz"),
    "ready": "/readyz",
    "tools": "/v1/tools",
}
"""Where an operation is, by names that people know."""
_DROP_INS: Final[Mapping[str, str]] = {path: form.ours for path, form in FORMS.items() if form.ours}
"""Paths of other APIs, with ours."""
_ABSENT: Final[Mapping[str, str]] = with_reasons("absent")
"""Other APIs' features that do not exist here, by the first part of their paths or two, with what to use."""


class _SearxngRoot(Route):
    """Redirects SearXNG's clients from `/` to `/search`, as SearXNG does; people get the page there."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request asks for results in JSON."""
        match, child_scope = super().matches(scope)
        asked = QueryParams(scope["query_string"] if match is not Match.NONE else b"")
        return (match, child_scope) if asked.get("format") == "json" and "q" in asked else (Match.NONE, {})


async def _to_search(request: Request) -> Response:
    return RedirectResponse(f"/search?{request.url.query}", 308)


_MODEL_PATHS: Final = (
    *(f"/v1/{name}" for name in ("chat/completions", "completions", "responses", "messages", "models", "embeddings")),
    "/chat/completions",
)
"""The paths of model APIs when a client is given the address of this server."""
_NO_UPSTREAM: Final = (
    "Start the gateway with groundwire serve --upstream URL of an OpenAI-compatible API; its models, with web search, "
    "are then at /openai/v1. /v1/ask answers questions without it."
)


async def _http_failed(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    last = request.url.path.rstrip("/").rpartition("/")[2]
    meant = _PATHS.get("search" if last in NEWS else METHODS.get(last, last))
    paths = dict.fromkeys(path for route in request.app.routes if "{" not in (path := getattr(route, "path", "{")))
    own = [path for path in paths if path != "/" and path not in _DROP_INS]
    hint = f"; did you mean {meant}?" if meant in paths else "."
    there = (
        "/openapi.json lists the endpoints of the REST API."
        if "/openapi.json" in paths
        else f"Those here are {', '.join(own)}."  # of a preset
    )
    code = {404: "no_such_path", 405: "wrong_method"}.get(error.status_code, "refused")
    if error.status_code == 404 and "/openapi.json" in paths and (absent := _absent(request.url.path)):
        text = f"This gateway does not have that endpoint: {absent}. {there}"  # with a status whose text Tavily's reads
        return replace(failed(400, "not_supported", text), is_text=True).response()
    if "/openapi.json" in paths and request.url.path.removeprefix("/openai").startswith(_MODEL_PATHS):
        if "/openai/v1" in paths:
            hint, there = ".", "The models with web search are at /openai/v1."
        else:
            hint, there = ": no model server is connected.", _NO_UPSTREAM
    text = {
        404: f"There is no endpoint at this path{hint} {there}",
        405: "This path does not support that method; the Allow header lists the supported ones.",
    }.get(error.status_code, error.detail)
    return failed(error.status_code, code, text, headers=error.headers).response()


def _absent(path: str) -> str:
    """Return what is missing at a path of another API, and what to use instead; empty for other paths."""
    parts = path.strip("/").split("/")
    if re.fullmatch(r"v\d+", parts[0]):
        parts = parts[1:]
    return next((_ABSENT[name] for name in ("/".join(parts[:2]), *parts[:1]) if name in _ABSENT), "")


async def _failed(_request: Request, _error: Exception) -> Response:
    return internal().response()


class Gateway:
    """The gateway: an ASGI application, to be served or called in process; see `build_gateway`.

    Use it as `async with build_gateway() as gateway:`, or serve it with its lifespan on.
    """

    def __init__(self, context: AppContext, access: Access, mounts: Sequence[Mount], *, owned: Web) -> None:
        self.web: Web = context.web
        """The web to search and read with."""
        self.traffic: Traffic = context.traffic
        """The running calls, and the shutdown: `leave`, `drain`, `end_calls`, and `idle`."""
        self.admission: Admission = access.admission
        """Who is let in."""
        self.paths: tuple[str, ...] = tuple(mount.path for mount in mounts)
        """The path prefixes of mounted applications, such as `/mcp`."""
        self._access = access
        self._mounts = tuple(mounts)
        self._owned = owned
        self._settings = context.web.settings
        self._stack = AsyncExitStack()

    @property
    def asks_for_keys(self) -> bool:
        """Whether a key is currently required."""
        return self._access.asks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI connection."""
        if scope["type"] == "lifespan":
            await Router(lifespan=self._lifespan)(scope, receive, send)
        elif scope["type"] == "http":
            await self._access(scope, receive, _parting(send, self.traffic))
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
        self.traffic.started = True

    def reload(self, read_settings: Callable[[], Settings]) -> None:
        """Read the settings again, and take over what can change while the server runs; the log names it and the rest.

        Args:
            read_settings: Returns the settings. If it raises ConfigurationError, nothing changes, and the log has the
                reason.
        """
        try:
            new = _isolated(read_settings())
        except ConfigurationError as error:
            _logger.error("The settings are not reloaded: %s", error)
            return
        before = self._settings
        self._settings = before.model_copy(update={"server": self._access.reload(new.server)})
        changed, fixed = differences(before, self._settings), differences(self._settings, new)
        _logger.info("Settings reloaded; changed: %s", ", ".join(changed) or "nothing")
        if fixed:
            _logger.warning("These settings change only when the server is started again: %s", ", ".join(fixed))

    async def aclose(self) -> None:
        """Accept no more calls, and close the `Web`. Idempotent."""
        self.traffic.drain()
        try:
            await self._stack.aclose()
            await self._access.aclose()
        finally:
            await self._owned.aclose()

    @asynccontextmanager
    async def _lifespan(self, _app: object) -> AsyncIterator[None]:
        async with self:
            yield


def _parting(send: Send, traffic: Traffic) -> Send:
    """Return a `send` that ends the connection, if traffic does, so that a client's next request goes elsewhere."""

    async def parting(message: Message) -> None:
        if traffic.parting and message["type"] == "http.response.start":
            headers = [pair for pair in message.get("headers", ()) if pair[0].lower() != b"connection"]
            message = {**message, "headers": [*headers, (b"connection", b"close")]}
        await send(message)

    return parting


def differences(settings: Settings, other: Settings) -> list[str]:
    """Return the names of the settings that differ; their values may be secret."""
    mine, theirs = settings.model_dump(), other.model_dump()
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
    settings: Settings,
    mounts: Callable[[AppContext], Iterable[Mount]],
    *,
    host: str,
    how: str = HOW,
    takes_access_tokens: bool = True,
    rest_api: bool = False,
    page: bool = False,
    peers: Peers | None = None,
) -> Gateway:
    """Build the application of all servers, with its mounts and `Access` in front.

    Args:
        settings: The current settings.
        mounts: Returns what is served beside the REST API and the page.
        host: Where it is going to listen; empty means where the settings say.
        how: How a key is sent.
        takes_access_tokens: Whether those of the settings' issuers let in, when it is checked where it may listen.
        rest_api: Whether the REST API is served.
        page: Whether the web page is at `/`.
        peers: The other worker processes; None where there are none.

    Raises:
        ConfigurationError: the settings are invalid, or a server is not allowed to listen on the address.
    """
    keys = KeyFile(key_file_of(settings))
    check_listening(settings, keys, host=host, takes_access_tokens=takes_access_tokens)
    metrics = Metrics()
    web = Web(_isolated(settings), call_listeners=(metrics,))
    # a request names no file of this machine
    context = AppContext(web=web.with_files(), traffic=Traffic(), check_keys=keys.ever)
    mounted = tuple(mounts(context))
    pages = SignedIn(context.web, keys) if page else None
    tokens = None
    if web.settings.server.oauth.issuers:
        from groundwire_server.auth.oauth import AccessTokens  # a server without it needs no cryptography

        tokens = AccessTokens(web.settings.server.oauth)
    described = [operation for operation in operations(context) if rest_api or operation.is_open]
    paths = [*(operation.path for operation in described), *(mount.path for mount in mounted)]
    requests = Requests(("/v1/sessions", "/v1/tools", "/openapi.json", "/metrics", *paths), metrics.registry)
    app = Starlette(exception_handlers={HTTPException: _http_failed, Exception: _failed})
    app.router.redirect_slashes = False
    app.router.routes += _routes(context, mounted, Scrape(metrics, context, peers), described, rest_api=rest_api)
    if tokens is not None:
        app.router.routes += tokens.routes()
    if pages is not None:
        pages.others = tuple(app.router.routes)
        app.router.routes.append(pages)
    larger = {mount.path: mount.max_body_bytes for mount in mounted}
    if rest_api:
        larger["/v1/prepare"] = LARGEST_MODEL_REQUEST
    access = Access(
        app,
        web.settings.server,
        Authenticator(
            keys,
            must=needs_key(web.settings.server, host),
            failures=Failures(web.store),
            pages=pages,
            how=how,
            tokens=tokens,
        ),
        web.store,
        host=host,
        larger=larger,
        count=requests.count,
    )
    context.traffic.admission = access.admission
    if pages is not None:
        pages.asks = lambda: access.asks
    return Gateway(context, access, mounted, owned=web)
