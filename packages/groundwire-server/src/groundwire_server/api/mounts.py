"""What can be mounted beside the REST API: the OpenAI-compatible endpoint and the web page; MCP is in `mcp_http`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.web import Web
from groundwire_server.api.context import AppContext, Counted
from groundwire_server.auth import KeyFile

LARGEST_MODEL_REQUEST = 32_000_000  # bytes of a request to a model, which may contain images


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted application."""

    path: str
    """Its path prefix."""
    app: ASGIApp
    """The application."""
    running: AbstractAsyncContextManager[object] = field(default_factory=nullcontext)
    """Its context manager, entered once."""
    max_body_bytes: int = 0
    """Maximum bytes of a request's body, where that is more than the settings say."""


def openai_mounts(context: AppContext, upstream: str, path: str = "/openai/v1", *, key: str = "") -> Iterator[Mount]:
    """Yield the OpenAI-compatible endpoint in front of a model server, and those of Ollama and Gemini.

    Args:
        context: The server's parts.
        upstream: Where the model server's API begins.
        path: The path where it is mounted.
        key: The key for the model server, of clients that send none.

    Raises:
        InvalidRequest: the URL is invalid.
    """
    from groundwire_server.openai.app import Proxy

    proxy = Proxy(context.web, upstream, prefix=path, key=key)
    app = Counted(proxy.app, context.traffic)
    yield Mount(path, app, aclosing(proxy), LARGEST_MODEL_REQUEST)
    for other in proxy.beside:
        yield Mount(other, app, max_body_bytes=LARGEST_MODEL_REQUEST)


class SignedIn(BaseRoute):
    """The paths of the web page, looked up per request, and its login sessions; the last route.

    Args:
        web: The web to search and read with.
        keys: The keys with which people sign in.
    """

    def __init__(self, web: Web, keys: KeyFile) -> None:
        from groundwire_server.ui import STATIC_FILES, ui_routes  # a server without the page needs no templates
        from groundwire_server.ui.login_sessions import SignIns

        self.asks: Callable[[], bool] = lambda: True
        """Says whether a key is asked for now."""
        self._sign_ins = SignIns(keys, web.store)
        self._files = frozenset(STATIC_FILES)
        routes = ui_routes(web, sign_ins=self._sign_ins, asks=lambda: self.asks(), catch_all=True)
        self._paths = self._files | {route.path for route in routes if isinstance(route, Route)}
        self._router = Router(routes, redirect_slashes=False)
        self.others: Sequence[BaseRoute] = ()
        """The routes of the server beside these."""

    def has(self, scope: Scope) -> bool:
        """Whether a request is for the page; see `Pages`. A browser gets it at every path without anything else."""
        if scope["path"] in self._paths:
            return True
        is_person = scope["method"] == "GET" and "text/html" in Request(scope).headers.get("accept", "")
        return is_person and all(route.matches(scope)[0] is Match.NONE for route in self.others)

    async def key_id(self, scope: Scope) -> str | None:
        """Return the ID of the key that a visitor has signed in with; static files need no key."""
        if scope["path"] in self._files:
            return None
        return await self._sign_ins.key_id(Request(scope))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request belongs to the page."""
        return (Match.FULL if scope["type"] == "http" and self.has(scope) else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show the page."""
        await self._router(scope, receive, send)
