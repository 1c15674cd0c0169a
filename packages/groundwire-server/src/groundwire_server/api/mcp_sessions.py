"""MCP over HTTP with sessions per tenant: for a caller, sessions of other tenants do not exist."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire.errors import InvalidRequest
from groundwire_server.api.context import AppContext
from groundwire_server.client_disconnect import never
from groundwire_server.error_body import failed, failure_of
from groundwire_server.request_json import check_json

__all__ = ["MCP_SESSION", "PATH", "SSE_PATH", "SessionOwners", "TenantSessions", "replayed"]

PATH: Final = "/mcp"
"""The path of streamable HTTP."""
SSE_PATH: Final = "/sse"
"""The path of the older SSE transport."""
MCP_SESSION: Final = b"mcp-session-id"
"""The header with the ID of a session."""
_MOST: Final = 9_000  # sessions of all tenants; the SDK opens at most 10,000, and then refuses those of every tenant
_HEADER: Final = MCP_SESSION.decode()
_QUERY: Final = "session_id"
_EVENT: Final = re.compile(rb"session_id=([0-9A-Za-z-]+)")


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
        named = {*request.headers.getlist(_HEADER), *request.query_params.getlist(_QUERY)}
        if not all(self._owners.use(session, tenant) for session in named):
            failure = failed(404, "no_such_session", "There is no such session; initialize a new one.")
            await failure.response()(scope, receive, send)
            return
        if scope["method"] == "POST":
            try:
                body = await request.body()
                check_json(body)
            except ClientDisconnect:
                return
            except InvalidRequest as error:
                await failure_of(error).response()(scope, receive, send)
                return
            receive = replayed(body, receive)
        if scope["path"] == SSE_PATH:
            await self._stream(tenant, scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                status, headers = message["status"], message.get("headers", ())
                if status == 404 or (scope["method"] == "DELETE" and status < 300):
                    for session in named:
                        self._owners.remove(session)
                elif not named and status < 400:
                    for header, value in headers:
                        if header.lower() == MCP_SESSION:
                            await self._open(value.decode("latin-1"), tenant, scope)
            await send(message)

        await self._app(scope, receive, sending)

    async def _stream(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a stream of the SSE transport, whose first event names its session; both end together."""
        opened = ""

        async def sending(message: Message) -> None:
            nonlocal opened
            if not opened and (event := _EVENT.search(message.get("body", b""))):
                opened = event[1].decode()
                await self._open(opened, tenant, scope)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            self._owners.remove(opened)

    async def _open(self, session: str, tenant: str, scope: Scope) -> None:
        """Record a new session, and end the one whose place it takes."""
        surplus = self._owners.add(session, tenant)
        if surplus is None:
            return
        headers = [(MCP_SESSION, surplus.encode("latin-1"))]
        ending = {**scope, "method": "DELETE", "path": PATH, "raw_path": PATH.encode(), "query_string": b""}
        await self._app(ending | {"headers": headers}, replayed(b"", never), _discard)


async def _discard(_message: Message) -> None:
    pass


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return what receives a body that was read already, and then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return messages.pop() if messages else await receive()

    return receiving
