"""MCP over HTTP: sessions per tenant, each at one of several worker processes, any of which takes its requests.

For a caller, sessions of other tenants do not exist.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

import aiohttp
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire.fair_queue import CURRENT_TENANT
from groundwire.mcp_server.stdio import check_sdk
from groundwire_server.api.context import AppContext, Counted, Traffic
from groundwire_server.api.mounts import Mount
from groundwire_server.api.peers import Peers
from groundwire_server.auth import Tenant, tenant_of
from groundwire_server.auth.access_log import facts_of
from groundwire_server.auth.authentication import TENANT
from groundwire_server.client_disconnect import TrackedSend, never, relay, until_done
from groundwire_server.error_body import failed
from groundwire_server.request_json import check_json

_logger = logging.getLogger(__name__)

_PATH: Final = "/mcp"  # of streamable HTTP
_SESSION: Final = b"mcp-session-id"  # the header with the ID of a session
_MOST: Final = 9_000  # sessions of all tenants; the SDK opens at most 10,000, and then refuses those of every tenant
_AGAIN: Final = 1.0  # seconds
_CALLER: Final = b"x-groundwire-caller"
_VERSION: Final = b"mcp-protocol-version"
_HOP: Final = frozenset({b"connection", b"date", b"host", b"keep-alive", b"server", b"transfer-encoding", _CALLER})


def mcp_mount(context: AppContext, *, peers: Peers | None = None) -> Mount:
    """Return MCP over streamable HTTP at `/mcp`.

    Args:
        context: The server's parts.
        peers: The other workers of the server.

    Raises:
        ConfigurationError: the SDK is not installed.
    """
    check_sdk()
    from mcp.server.transport_security import TransportSecuritySettings

    from groundwire.mcp_server.handlers import make_server
    from groundwire.mcp_server.sessions import Sessions

    sessions = Sessions(context.web.settings, alone=False, web=context.web, web_for=context.web_for)
    server = make_server(sessions)
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # hosts and origins were checked
    inner = server.streamable_http_app(streamable_http_path=_PATH, transport_security=security)
    app: ASGIApp = TenantSessions(inner, context)
    if peers is not None:
        app = SessionRouting(app, peers, context.traffic)
    app = Counted(app, context.traffic)
    return Mount(_PATH, app, inner.router.lifespan_context(inner))


class SessionOwners:
    """The open MCP sessions of each tenant, and those that make room for new ones.

    Args:
        limit: Maximum sessions of a tenant.
        most: Maximum sessions of all tenants together.
    """

    def __init__(self, limit: int, most: int = _MOST) -> None:
        self._limit = limit
        self._most = most
        self._owners: dict[str, str] = {}
        self._sessions: dict[str, OrderedDict[str, None]] = {}  # the least recently used one is first

    def use(self, session: str, tenant: str) -> bool:
        """Return whether an open session is a tenant's; then it is now the most recently used one."""
        if self._owners.get(session) != tenant:
            return False
        self._sessions[tenant].move_to_end(session)
        return True

    def add(self, session: str, tenant: str) -> str | None:
        """Add a session; return the one that ends for it: the tenant's own, or one of the tenant with the most."""
        own = self._sessions.get(tenant, OrderedDict())
        if len(own) < self._limit:
            own = max(self._sessions.values(), key=len) if len(self._owners) >= self._most else OrderedDict()
        surplus = next(iter(own), None)
        if surplus is not None:
            self.remove(surplus)
        self._owners[session] = tenant
        self._sessions.setdefault(tenant, OrderedDict())[session] = None
        return surplus

    def remove(self, session: str) -> None:
        """Remove a session that has ended, if it is here."""
        tenant = self._owners.pop(session, None)
        if tenant is not None:
            del self._sessions[tenant][session]
            if not self._sessions[tenant]:
                del self._sessions[tenant]


class TenantSessions:
    """An MCP application for several tenants; the SDK knows a session by its id alone.

    Args:
        app: The application.
        context: The server's parts.
    """

    def __init__(self, app: ASGIApp, context: AppContext) -> None:
        self._app = app
        self._context = context
        self._owners = SessionOwners(context.web.settings.server.max_mcp_sessions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request if the sessions that it names are the caller's."""
        tenant = self._context.caller(scope).web.owner.tenant
        request = Request(scope, receive)
        named = set(request.headers.getlist(_SESSION.decode()))
        if not all(self._owners.use(session, tenant) for session in named):
            raise failed(404, "no_such_session", "There is no such session; initialize a new one.")
        if scope["method"] == "POST":
            body = await request.body()
            check_json(body)
            receive = _replayed(body, receive)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                status, headers = message["status"], message.get("headers", ())
                if (status == 404 and scope["path"] == _PATH) or (scope["method"] == "DELETE" and status < 300):
                    for session in named:
                        self._owners.remove(session)
                elif not named and status < 400:
                    for header, value in headers:
                        if header.lower() == _SESSION:
                            await self._open(value.decode("latin-1"), tenant, scope)
            await send(message)

        await self._app(scope, receive, sending)

    async def _open(self, session: str, tenant: str, scope: Scope) -> None:
        """Record a new session, and end the one whose place it takes."""
        surplus = self._owners.add(session, tenant)
        if surplus is None:
            return
        headers = [(_SESSION, surplus.encode("latin-1"))]
        ending = {**scope, "method": "DELETE", "path": _PATH, "raw_path": _PATH.encode(), "query_string": b""}
        await self._app(ending | {"headers": headers}, _replayed(b"", never), _discard)


async def _discard(_message: Message) -> None:
    pass


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what receives a body that was read already, and then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return messages.pop() if messages else await receive()

    return receiving


@dataclass(frozen=True, slots=True)
class _Caller:
    """Who sent a request that another worker answers; it was authenticated, and stays so as long as it runs."""

    tenant: Tenant | None
    client: tuple[str, int | None] | None
    owner: str
    """The tenant's name in the turns of the event loop."""
    request_id: str


_CALLER_JSON: Final = TypeAdapter(_Caller)


class SessionRouting:
    """Has each request answered by the worker that has its session; the session's ID names it.

    A client of the newer protocol, which has no sessions, is answered by one worker as well, as long as that runs: the
    one with the highest hash of its tenant and address (rendezvous hashing).

    Args:
        app: MCP in this worker.
        peers: The other workers.
        traffic: Counts requests that this worker answers for others.
    """

    def __init__(self, app: ASGIApp, peers: Peers, traffic: Traffic) -> None:
        self._app = app
        self._peers = peers
        self._prefix = f"{peers.number}-".encode()
        peers.taken_over = Counted(self._take_over, traffic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let another worker do it."""
        number = self._worker(scope)
        if number is None:
            await self._answer(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        await until_done(partial(self._ask_worker, number, body), scope, receive, send)

    async def _take_over(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that another worker has authenticated."""
        caller = _CALLER_JSON.validate_json(dict(scope["headers"])[_CALLER])
        scope = {**scope, "client": caller.client, TENANT: caller.tenant}
        CURRENT_TENANT.set(caller.owner)
        facts_of(scope).request_id = caller.request_id
        await self._answer(scope, receive, send)

    def _worker(self, scope: Scope) -> int | None:
        """Return the number of the other worker that has to answer; None for this one."""
        headers, others = dict(scope["headers"]), self._peers.others()
        first, dash, _ = headers.get(_SESSION, b"").partition(b"-")
        if dash:
            number = int(first) if first.isdigit() and len(first) < 5 else 0
        elif _SESSION in headers or _VERSION not in headers:
            return None
        else:
            tenant, client = tenant_of(scope), scope.get("client") or ("",)
            who = f"{tenant.id if tenant else ''} {client[0]}"
            number = max(
                {*others, self._peers.number}, key=lambda worker: hashlib.sha256(f"{worker} {who}".encode()).digest()
            )
        return number if number in others else None

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer in this worker, whose sessions have its number before their ID outside."""
        own = [
            (name, value.removeprefix(self._prefix) if name == _SESSION else value) for name, value in scope["headers"]
        ]

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", ())
                named = [(name, self._prefix + value if name.lower() == _SESSION else value) for name, value in headers]
                message = {**message, "headers": named}
            await send(message)

        await self._app({**scope, "headers": own}, receive, sending)

    async def _ask_worker(self, number: int, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        caller = _Caller(tenant_of(scope), scope.get("client"), CURRENT_TENANT.get(), facts_of(scope).request_id)
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in _passed(scope["headers"])]
        sending = TrackedSend(send)
        try:
            async with self._peers.client(number).request(
                scope["method"],
                f"http://worker{scope['path']}",
                headers=[*headers, (_CALLER.decode(), _CALLER_JSON.dump_json(caller).decode())],
                data=body or None,
            ) as response:
                passed = _passed((name.lower(), value) for name, value in response.raw_headers)
                await relay(response, passed, sending)
        except aiohttp.ClientConnectorError:  # it has just ended, and its sessions with it
            await self._answer(scope, _replayed(body, receive), send)
        except (aiohttp.ClientError, OSError) as error:
            _logger.warning("Worker %d ended during a request: %s", number, error)
            if sending.begun:
                raise
            text = "The process that had this session ended; initialize a new one."
            raise failed(503, "ended", text, retry_after=_AGAIN) from error


def _passed(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name not in _HOP]
