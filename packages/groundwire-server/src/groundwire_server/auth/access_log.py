"""The access log: one record for each request, and the ID by which a request is known in all logs."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ACCESS_LOGGER = "groundwire_server.access"
"""The name of the logger."""

_logger = logging.getLogger(ACCESS_LOGGER)

_FACTS = "groundwire.facts"  # the key in a request's scope
_HEADER = b"x-request-id"
_ID = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}")
_KEY = re.compile(rb"(gw_[a-z2-7]{8}_)[A-Za-z0-9]+")  # clients put their keys where they do not belong
_UNRESERVED = "/%:@!$&'()*+,;=~"  # beside letters, digits, and `_.-`
_LONGEST = 500  # characters of a path
_DISCONNECTED = 499  # the status when the client disconnected before the response, as in nginx


@dataclass(slots=True)
class AccessRecord:
    """What is logged and counted of a request."""

    request_id: str = ""
    """That of its header `X-Request-ID`, or a new one."""
    method: str = ""
    path: str = ""
    """Without the query."""
    status: int = _DISCONNECTED
    code: str = ""
    """The reason for an error, as a word."""
    latency_ms: float = 0.0
    bytes: int = 0
    """The size of the response's body."""
    client: str = ""
    """Its address."""
    tenant: str = ""
    """Whose key it has; empty where it has no valid one."""
    key_id: str = ""


def facts_of(scope: Scope) -> AccessRecord:
    """Return what is known of a request so far; without an access log, it is kept with the request only."""
    facts = scope.setdefault(_FACTS, AccessRecord())
    return facts if isinstance(facts, AccessRecord) else AccessRecord()


async def with_access_log(
    app: ASGIApp,
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    client: str,
    logs: bool,
    count: Callable[[AccessRecord], None] | None,
) -> None:
    """Pass on a request, return its ID in the response, and log it when it has ended.

    Args:
        app: The application.
        scope: The request.
        receive: Its receiving end.
        send: Its sending end.
        client: The address of its client.
        logs: Whether it is logged.
        count: Called with its facts when it has ended.
    """
    raw = bytes(scope.get("raw_path") or str(scope["path"]).encode("utf-8", "surrogatepass"))
    path = quote(_KEY.sub(rb"\1***", raw)[:_LONGEST], safe=_UNRESERVED)
    facts = scope[_FACTS] = AccessRecord(_id_of(scope), str(scope["method"])[:20], path, client=client)
    begin = time.monotonic()

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            facts.status = message["status"]
            headers = message.get("headers", ())
            if _HEADER not in [name.lower() for name, _ in headers]:  # the proxy passes on the model server's
                message = {**message, "headers": [*headers, (_HEADER, facts.request_id.encode())]}
        else:
            facts.bytes += len(message.get("body", b""))
        await send(message)

    try:
        await app(scope, receive, sending)
    except Exception:
        facts.status = 500 if facts.status == _DISCONNECTED else facts.status
        # The server's own record of it is not one of Groundwire's log.
        _logger.exception("A request failed", extra={"request_id": facts.request_id})
        raise
    finally:
        facts.latency_ms = round((time.monotonic() - begin) * 1_000, 1)
        if count is not None:
            count(facts)
        if logs and _logger.isEnabledFor(logging.INFO):
            _logger.info("Request", extra={name: getattr(facts, name) for name in AccessRecord.__slots__})


def _id_of(scope: Scope) -> str:
    values = [value for name, value in scope["headers"] if name == _HEADER]
    safe = len(values) == 1 and _ID.fullmatch(values[0]) and not _KEY.search(values[0])
    return values[0].decode() if safe else secrets.token_hex(16)
