"""An OpenAI-compatible endpoint that adds web access to the models of another one."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.models.validators import check_int
from groundwire.server.auth.authentication import tenant_of
from groundwire.server.cancellable_response import answer_whole, answer_with_events, until_done
from groundwire.server.host_check import LOOPBACK, HostCheckMiddleware
from groundwire.server.openai.chat import ChatHandler
from groundwire.server.openai.handler import CONVERSATION_HEADERS, CompletionHandler, HandlerContext
from groundwire.server.openai.messages import CountTokensHandler, MessagesHandler
from groundwire.server.openai.responses import ResponsesHandler
from groundwire.server.openai.upstream import Upstream, passed_back, passed_on
from groundwire.server.request_errors import UpstreamRejected, error_body
from groundwire.server.request_json import parse_model_request
from groundwire.storage import MemoryStore
from groundwire.tools import web_tools
from groundwire.web import Web

__all__ = ["Proxy"]

_LARGEST = 32_000_000  # bytes of a request; pictures are sent inside
_PRIVATE = 32_000_000  # bytes in this process of conversations that must not be stored
_ASKING = frozenset({("POST", "embeddings"), ("POST", "completions")})
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class Proxy:
    """An ASGI application in front of a model server; `app` can be served, or mounted in another.

    `endpoints` is the same without the check of Host and Origin, for a server that has its own.

    Args:
        web: The web to search and read with; the caller closes it.
        upstream: The base URL of the model server's OpenAI-compatible API, such as `http://127.0.0.1:11434/v1`.
        prefix: The path prefix of the proxy.
        session: The name of a session that is charged; by default every conversation has its own budget.
        max_rounds: Maximum calls of the model for one request, 1 to 100.
        timeout: Seconds for one request.
        read_timeout: Seconds of silence of the model server after which the request fails.
        keep_alive: Seconds of silence after which a stream gets a comment.
        hosts: The accepted names of the proxy; None accepts any.
        key: The key for the model server, for clients that send none.

    Raises:
        InvalidRequest: an argument is invalid.
    """

    def __init__(
        self,
        web: Web,
        upstream: str,
        *,
        prefix: str = "/v1",
        session: str | None = None,
        max_rounds: int = 12,
        timeout: float = 900.0,
        read_timeout: float = 600.0,
        keep_alive: float = 5.0,
        hosts: Collection[str] | None = LOOPBACK,
        key: str = "",
    ) -> None:
        self.upstream: Upstream = Upstream(upstream, read_timeout=read_timeout)
        self._context = HandlerContext(
            web=web,
            upstream=self.upstream,
            private=MemoryStore(max_bytes=_PRIVATE),
            tools=web_tools(web),
            session=session,
            max_rounds=check_int("max_rounds", max_rounds, 1, 100),
            timeout=timeout,
        )
        self._keep_alive = keep_alive
        self._key = key
        self.endpoints = Starlette(
            routes=[
                Route(f"{prefix}/chat/completions", _Answering(self, ChatHandler), methods=["POST"]),
                Route(f"{prefix}/responses", _Answering(self, ResponsesHandler), methods=["POST"]),
                Route(f"{prefix}/messages", _Answering(self, MessagesHandler), methods=["POST"]),
                Route(f"{prefix}/messages/count_tokens", _Answering(self, CountTokensHandler), methods=["POST"]),
                Route(f"{prefix}/{{path:path}}", _Passing(self), methods=_METHODS),
            ]
        )
        self.app: HostCheckMiddleware = HostCheckMiddleware(self.endpoints, hosts)

    async def aclose(self) -> None:
        """Close the connections to the model server."""
        await self.upstream.aclose()

    async def answer(self, face: type[CompletionHandler], scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request of an API."""
        request = Request(scope, receive)
        try:
            data = await _body(request)
            body = parse_model_request(data)
            headers, owner = self._headers(request), _owner(request, scope)
            if not face.takes(body):
                relay = _Relay(self.upstream, "POST", face.path, headers, data)
                await until_done(relay, scope, receive, send, has_read=True)
                return
            named = next((request.headers[name] for name in CONVERSATION_HEADERS if name in request.headers), "")
            asked = face(self._context_of(scope), body, headers, owner, named)
            await asked.begin()
        except GroundwireError as error:
            await _wrong(error)(scope, receive, send)
            return
        except UpstreamRejected as error:
            await _response(error)(scope, receive, send)
            return
        except ClientDisconnect:
            return
        if body.get("stream"):
            await answer_with_events(asked.stream, asked.failed, scope, receive, send, keep_alive=self._keep_alive)
            return
        await answer_whole(_whole(asked), scope, receive, send)

    def _context_of(self, scope: Scope) -> HandlerContext:
        """Return the caller's context."""
        tenant, context = tenant_of(scope), self._context
        if tenant is None:
            return context
        session = tenant.session(context.session) if context.session else None
        return replace(context, web=tenant.narrow(context.web), session=session)

    async def forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the model server unchanged, and stream its response back."""
        request = Request(scope, receive)
        try:
            data = await _body(request)
            headers = self._headers(request)
            headers["Content-Type"] = request.headers.get("content-type", "application/json")
            path, query = str(scope["path_params"]["path"]), scope["query_string"].decode("latin-1")
            if self._key and "authorization" not in request.headers and not _harmless(request.method, path):
                text = f"The key of this server does not allow {request.method} {path[:80]}."
                raise UpstreamRejected(403, error_body(text), _TYPED)
        except UpstreamRejected as error:
            await _response(error)(scope, receive, send)
            return
        await _Relay(self.upstream, request.method, path, headers, data, query)(scope, receive, send)

    def _headers(self, request: Request) -> dict[str, str]:
        """Return the headers for the model server, with its key."""
        headers = passed_on(request.headers)
        if self._key and not any(name.lower() == "authorization" for name in headers):
            headers["Authorization"] = f"Bearer {self._key}"
        return headers


class _Answering:
    """The endpoint of an API, as an ASGI application."""

    def __init__(self, proxy: Proxy, face: type[CompletionHandler]) -> None:
        self._proxy = proxy
        self._face = face

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._proxy.answer(self._face, scope, receive, send)


class _Passing:
    """The endpoint for everything else."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await until_done(self._proxy.forward, scope, receive, send)


@dataclass(frozen=True, slots=True)
class _Relay:
    """A forwarded request whose response is forwarded too."""

    upstream: Upstream
    method: str
    path: str
    headers: Mapping[str, str]
    data: bytes
    query: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False
        try:
            async with self.upstream.ask(
                self.method, self.path, self.headers, self.data or None, self.query
            ) as response:
                back = passed_back(response.headers)
                head = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in back.items()]
                begun = True
                await send({"type": "http.response.start", "status": response.status, "headers": head})
                async for piece in response.content.iter_any():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except UpstreamRejected as error:
            if begun:  # too late for another status; the server closes the connection
                raise
            await _response(error)(scope, receive, send)


def _harmless(method: str, path: str) -> bool:
    """Whether a request only calls a model, without changing anything in the account."""
    first = path.strip("/").partition("/")[0]
    return first == "models" if method in ("GET", "HEAD") else (method, path) in _ASKING


def _owner(request: Request, scope: Scope) -> str:
    """Return the owner: the tenant of the gateway's key together with the model server's key."""
    tenant = tenant_of(scope)
    own = "" if tenant is None else tenant.id
    key = request.headers.get("authorization") or request.headers.get("x-api-key", "")
    return hashlib.sha256(f"{own}\n{key}".encode()).hexdigest()


async def _whole(asked: CompletionHandler) -> Response:
    try:
        return await asked.answer()
    except UpstreamRejected as error:
        return _response(error)
    except GroundwireError as error:
        return _wrong(error)


async def _body(request: Request) -> bytes:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > _LARGEST:
            raise UpstreamRejected(413, error_body(f"The request has more than {_LARGEST:,} bytes."), _TYPED)
    return bytes(data)


_TYPED: Final[Mapping[str, str]] = {"Content-Type": "application/json"}


def _wrong(error: GroundwireError) -> Response:
    param = error.field if isinstance(error, InvalidRequest) else None
    return Response(error_body(str(error), param=param), 400, _TYPED)


def _response(error: UpstreamRejected) -> Response:
    return Response(error.body, error.status, dict(error.headers))
