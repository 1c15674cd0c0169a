"""MCP with several worker processes: each session is at one of them, and any of them takes its requests."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable
from typing import Final

import aiohttp
from starlette.requests import ClientDisconnect, Request

from groundwire.fair_queue import CURRENT_TENANT
from groundwire_server.api.context import Counted, Traffic
from groundwire_server.api.mcp_sessions import MCP_SESSION, replayed
from groundwire_server.api.peers import Peers
from groundwire_server.auth import KeyFile, Tenant, tenant_of
from groundwire_server.auth.access_log import facts_of
from groundwire_server.auth.authentication import TENANT
from groundwire_server.auth.keys import KeyLimits
from groundwire_server.client_disconnect import ASGIApp, Message, Receive, Scope, Send, relay, until_done
from groundwire_server.error_body import failed

__all__ = ["SessionRouting"]

_logger = logging.getLogger(__name__)

_AGAIN: Final = 1.0  # seconds
_CALLER: Final = b"x-groundwire-caller"
_VERSION: Final = b"mcp-protocol-version"
_HOP: Final = frozenset({b"connection", b"date", b"host", b"keep-alive", b"server", b"transfer-encoding", _CALLER})


class SessionRouting:
    """Has each request answered by the worker that has its session; the session's ID names it.

    A client of the newer protocol, which has no sessions, is answered by one worker as well, as long as that runs: the
    one with the highest hash of its tenant and address (rendezvous hashing).

    Args:
        app: MCP in this worker.
        peers: The other workers.
        keys: The keys.
        traffic: Counts requests that another worker answers.
    """

    def __init__(self, app: ASGIApp, peers: Peers, keys: KeyFile, traffic: Traffic) -> None:
        self._app = app
        self._peers = peers
        self._keys = keys
        self._forward = Counted(self._ask_worker, traffic)
        self._prefix = f"{peers.number}-".encode()
        peers.taken_over = self._take_over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let another worker do it."""
        number = self._worker(scope)
        if number is None:
            await self._answer(scope, receive, send)
            return
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return
        asking = {**scope, "groundwire.worker": number, "groundwire.body": body}
        await until_done(self._forward, asking, receive, send)

    async def _take_over(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that another worker has authenticated."""
        caller = json.loads(dict(scope["headers"]).get(_CALLER, b"{}"))
        name, tenant = caller.get("key"), None
        if name and (limits := caller["token_limits"]) is not None:
            tenant = Tenant(name, name, name, operator=False, limits=KeyLimits.model_validate(limits))
        elif name and (record := self._keys.find(name)) is not None:
            tenant = Tenant.of(record)
        elif name:
            text = "This key was removed."
            await failed(401, "wrong_key", text).response()(scope, receive, send)
            return
        scope = {**scope, "client": caller.get("client"), TENANT: tenant}
        CURRENT_TENANT.set(tenant.id if tenant else str(caller.get("owner", "")))
        facts_of(scope).request_id = str(caller.get("request_id", ""))
        await self._answer(scope, receive, send)

    def _worker(self, scope: Scope) -> int | None:
        """Return the number of the other worker that has to answer; None for this one."""
        headers, others = dict(scope["headers"]), self._peers.others()
        first, dash, _ = headers.get(MCP_SESSION, b"").partition(b"-")
        if dash:
            number = int(first) if first.isdigit() and len(first) < 5 else 0
        elif MCP_SESSION in headers or _VERSION not in headers:
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
            (name, value.removeprefix(self._prefix) if name == MCP_SESSION else value)
            for name, value in scope["headers"]
        ]

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", ())
                named = [
                    (name, self._prefix + value if name.lower() == MCP_SESSION else value) for name, value in headers
                ]
                message = {**message, "headers": named}
            await send(message)

        await self._app({**scope, "headers": own}, receive, sending)

    async def _ask_worker(self, scope: Scope, receive: Receive, send: Send) -> None:
        tenant, client = tenant_of(scope), scope.get("client")
        has_token = tenant is not None and not tenant.digest  # checked here, as long as the request runs
        caller = {
            "key": tenant.key_id if tenant else "",
            "token_limits": tenant.limits.model_dump(mode="json") if tenant is not None and has_token else None,
            "client": client,
            "owner": CURRENT_TENANT.get(),
            "request_id": facts_of(scope).request_id,
        }
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in _passed(scope["headers"])]
        begun = False
        try:
            async with self._peers.client(scope["groundwire.worker"]).request(
                scope["method"],
                f"http://worker{scope['path']}",
                headers=[*headers, (_CALLER.decode(), json.dumps(caller))],
                data=scope["groundwire.body"] or None,
            ) as response:
                begun = True
                await relay(response, _passed((name.lower(), value) for name, value in response.raw_headers), send)
        except aiohttp.ClientConnectorError:  # it has just ended, and its sessions with it
            await self._answer(scope, replayed(scope["groundwire.body"], receive), send)
        except (aiohttp.ClientError, OSError) as error:
            _logger.warning("Worker %d ended during a request: %s", scope["groundwire.worker"], error)
            if begun:
                raise
            text = "The process that had this session ended; initialize a new one."
            await failed(503, "ended", text, retry_after=_AGAIN).response()(scope, receive, send)


def _passed(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name not in _HOP]
