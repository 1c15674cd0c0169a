"""An OpenAI-compatible endpoint that adds web access to the models of another one."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.hosted.answers.types import object_of, parsed
from groundwire.models.validators import check_int
from groundwire.storage import MemoryStore
from groundwire.tools import web_tools
from groundwire.web import Web
from groundwire_server.auth.authentication import tenant_of
from groundwire_server.client_disconnect import TrackedSend, answer_whole, answer_with_events, relay, until_done
from groundwire_server.error_body import Failed, Problem, failed, internal
from groundwire_server.openai.chat import ChatHandler
from groundwire_server.openai.generate_content import GeminiHandler
from groundwire_server.openai.handler import CONVERSATION_HEADERS, CompletionHandler, HandlerContext
from groundwire_server.openai.messages import CountTokensHandler, MessagesHandler
from groundwire_server.openai.ollama import OllamaChatHandler
from groundwire_server.openai.responses import ResponsesHandler
from groundwire_server.openai.upstream import Upstream, broken, forwarded_headers, returned_headers
from groundwire_server.request_json import JSON_HEADERS, UpstreamRejected, parse_model_request

_logger = logging.getLogger(__name__)

_PRIVATE_STORE_BYTES = 32_000_000  # bytes in this process of conversations that must not be stored
_READ_PATHS = ("health", "models", "api/tags", "api/ps", "api/version", "v1beta/models")
_MODEL_CALLS = frozenset(
    ("POST", path)
    for path in ("embeddings", "completions", "api/generate", "api/embed", "api/embeddings", "api/show", "api/chat")
)
_GEMINI_CALL = re.compile(r"v1beta/models/[^/]+:[A-Za-z]+")
_STORED_RESPONSE = re.compile(r"responses/([^/]+)(/.*)?")
_ABSENT_STATUSES = (404, 405, 501)  # of a path that a server does not have
_T = TypeVar("_T")
_PATH_SIGNS = "/:@!$&'()*+,;="  # that a path may have as they are (RFC 3986, section 3.3)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class Proxy:
    """An ASGI application in front of a model server, as `app`; the server that it is mounted in checks who may call.

    Args:
        web: The web to search and read with; the caller closes it.
        upstream: The base URL of the model server's OpenAI-compatible API, such as `http://127.0.0.1:11434/v1`.
        prefix: The path prefix of the proxy.
        max_rounds: Maximum calls of the model for one request, 1 to 100.
        timeout: Seconds for one request.
        read_timeout: Seconds of silence of the model server after which the request fails.
        keep_alive: Seconds of silence after which a stream gets a comment.
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
        max_rounds: int = 12,
        timeout: float = 900.0,
        read_timeout: float = 600.0,
        keep_alive: float = 5.0,
        key: str = "",
    ) -> None:
        self.upstream: Upstream = Upstream(upstream, read_timeout=read_timeout)
        web = web.with_files()  # a request names no file of this machine
        self._context = HandlerContext(
            web=web,
            upstream=self.upstream,
            private=MemoryStore(max_bytes=_PRIVATE_STORE_BYTES),
            tools=web_tools(web),
            max_rounds=check_int("max_rounds", max_rounds, 1, 100),
            timeout=timeout,
        )
        self._keep_alive = keep_alive
        self._key = key
        root = prefix.removesuffix("/v1")
        handlers: dict[str, type[CompletionHandler]] = {
            f"{prefix}/chat/completions": ChatHandler,
            f"{prefix}/responses": ResponsesHandler,
            f"{prefix}/messages": MessagesHandler,
            f"{prefix}/messages/count_tokens": CountTokensHandler,
            f"{root}/api/chat": OllamaChatHandler,
        }
        routes = [
            Route(path, partial(self._answer, handler, handler.path), methods=["POST"])
            for path, handler in handlers.items()
        ]
        for base in (f"{root}/v1beta", prefix):
            for call in ("generateContent", "streamGenerateContent"):
                target = f"{base.removeprefix(root) or '/v1'}/{{model}}:{call}"
                answer = partial(self._answer, GeminiHandler, target)
                routes.append(Route(f"{base}/{{model:path}}:{call}", answer, methods=["POST"]))
        # Ollama and Gemini are below the root of a server.
        for path, above in ((prefix, ""), (f"{root}/api", "/api/"), (f"{root}/v1beta", "/v1beta/")):
            routes.append(Route(f"{path}/{{path:path}}", partial(self._forward, above), methods=_METHODS))
        routes.append(Route(f"{root}/health", partial(self._forward, "/health"), methods=["GET"]))
        self.beside: tuple[str, ...] = tuple(f"{root}/{name}" for name in ("api", "v1beta", "health"))
        """The paths of endpoints outside the prefix."""
        if not root:  # Ollama's command line looks there whether its server runs
            routes.append(Route("/", partial(self._forward, "/"), methods=["GET"]))
            self.beside += ("/",)
        handlers_of_errors = {Failed: _failed, ClientDisconnect: _gone}
        self.app: Starlette = Starlette(routes=routes, exception_handlers=handlers_of_errors)

    async def aclose(self) -> None:
        """Close the connections to the model server."""
        await self.upstream.aclose()

    async def _answer(self, handler: type[CompletionHandler], target: str, request: Request) -> ASGIApp:
        """Return what answers a request of an API, forwarded to `target`, which may have fields of its path."""
        target = _with_query(target.format(**request.path_params), request)
        data = await request.body()
        try:
            body = parse_model_request(data)
            headers, owner = self._headers(request), _owner(request)
            if not handler.takes(body):
                return self._relay("POST", target, headers, data, handler)
            named = next((request.headers[name] for name in CONVERSATION_HEADERS if name in request.headers), "")
            answering = handler(self._context_of(request), body, headers, owner, named, target)
            await answering.begin()
        except (GroundwireError, Failed) as error:
            return _failure(error, handler).response()
        except Exception:
            _logger.exception("A request failed")
            return _failure(internal(), handler).response()
        if not answering.streams:
            return partial(answer_whole, _answer(answering))
        return partial(
            answer_with_events,
            lambda outbox: _with_api_errors(answering, answering.stream(outbox)),
            answering.failure_event,
            keep_alive=self._keep_alive,
            media_type=answering.media_type,
            idle=answering.idle,
        )

    def _context_of(self, request: Request) -> HandlerContext:
        """Return the caller's context."""
        tenant = tenant_of(request.scope)
        return self._context if tenant is None else replace(self._context, web=tenant.narrow(self._context.web))

    async def _forward(self, above: str, request: Request) -> ASGIApp:
        """Return what forwards a request to the model server unchanged, and streams its response back.

        Args:
            above: The parent of the path below the server's root; empty means the base URL.
            request: The request.

        Raises:
            Failed: it is not allowed.
        """
        data = await request.body()
        headers = self._headers(request)
        headers["Content-Type"] = request.headers.get("content-type", "application/json")
        path = above + str(request.path_params.get("path", "")).lstrip("/")
        if stored := _STORED_RESPONSE.fullmatch(path):
            conversations = self._context_of(request).conversations(_owner(request))
            path = f"responses/{await conversations.upstream_id(stored[1])}{stored[2] or ''}"
        if self._key and "authorization" not in request.headers and not _harmless(request.method, path):
            text = f"The key of this server does not allow {request.method} {path[:80]}."
            raise failed(403, "", text)
        return self._relay(request.method, _with_query(quote(path, _PATH_SIGNS), request), headers, data)

    def _relay(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        data: bytes,
        handler: type[CompletionHandler] = CompletionHandler,
    ) -> ASGIApp:
        """Return what forwards a request, and its response."""

        async def relaying(scope: Scope, receive: Receive, send: Send) -> None:
            sending = TrackedSend(send)
            try:
                async with self.upstream.ask(method, target, headers, data or None) as response:
                    if handler.absent and response.status in _ABSENT_STATUSES:
                        await self.upstream.read_body(response)
                    back = returned_headers(response.headers)
                    head = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in back.items()]
                    await relay(response, head, sending)
            except (UpstreamRejected, Failed) as error:
                if not sending.begun:
                    await _failure(error, handler).response()(scope, receive, send)
                else:  # too late for another status; the server closes the connection
                    _logger.info("A response that was passed on was cut off: %s", error)

        return partial(until_done, relaying)

    def _headers(self, request: Request) -> dict[str, str]:
        """Return the headers for the model server, with its key."""
        headers = forwarded_headers(request.headers)
        named = {name.lower() for name in headers}
        if self._key and not named & {"authorization", "x-goog-api-key"} and "key" not in request.query_params:
            headers["Authorization"] = f"Bearer {self._key}"
        return headers


def _harmless(method: str, path: str) -> bool:
    """Whether a request only calls a model, without changing anything in the account."""
    path = path.strip("/")
    if method in ("GET", "HEAD"):
        return any(path == path_prefix or path.startswith(f"{path_prefix}/") for path_prefix in _READ_PATHS)
    return (method, path) in _MODEL_CALLS or bool(_GEMINI_CALL.fullmatch(path))


def _with_query(path: str, request: Request) -> str:
    query = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def _owner(request: Request) -> str:
    """Return the owner: the tenant of the gateway's key together with the model server's key."""
    tenant = tenant_of(request.scope)
    own = "" if tenant is None else tenant.id
    names = ("authorization", "x-api-key", "x-goog-api-key")
    key = next((request.headers[name] for name in names if request.headers.get(name)), "")
    key = key or request.query_params.get("key", "")
    return hashlib.sha256(f"{own}\n{key}".encode()).hexdigest()


async def _failed(_request: Request, error: Exception) -> Response:
    return _failure(error).response()


async def _gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=499)  # to no one


async def _answer(handler: CompletionHandler) -> Response:
    try:
        return await _with_api_errors(handler, handler.answer())
    except UpstreamRejected as error:
        return error.response()


async def _with_api_errors(handler: CompletionHandler, work: Awaitable[_T]) -> _T:
    """Await work whose failures become those of the API."""
    try:
        return await work
    except Exception as error:
        failure = _failure(error, type(handler))
        raise replace(failure, headers={**failure.headers, **handler.notices}) from error


def _failure(error: Exception, handler: type[CompletionHandler] = CompletionHandler) -> UpstreamRejected:
    """Return a failure as the client gets it: the model server's unchanged, the proxy's own in the API's format."""
    if isinstance(error, UpstreamRejected):
        theirs = object_of(parsed(error.body)).get("type") == "error"  # of a Messages API
        if theirs or not handler.absent or error.status not in _ABSENT_STATUSES:
            return error
        failure = failed(error.status, "absent", handler.absent)
    elif isinstance(error, Failed):
        failure = error
    elif isinstance(error, GroundwireError):
        field = error.field if isinstance(error, InvalidRequest) else None
        failure = Failed(400, Problem(code="", message=str(error), field=field))
    else:
        _logger.error("An answer could not be read", exc_info=error)
        failure = broken("answered in an unexpected form")
    return UpstreamRejected(failure.status, json.dumps(handler.error(failure)).encode(), JSON_HEADERS)
