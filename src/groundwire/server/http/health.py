"""Whether a gateway lives, and whether it should get calls."""

from __future__ import annotations

import asyncio
import secrets
from typing import Literal

from pydantic import BaseModel, ConfigDict
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from groundwire.server.http.house import House
from groundwire.storage.base import Store, StoreError
from groundwire.storage.resilient import ResilientStore

__all__ = ["Alive", "HealthReply", "Ready"]

_PATIENCE = 2.0  # seconds that the store has
_KEY = "gateway:ready:"
_KEPT = 5.0  # seconds

Standing = Literal["ok", "starting", "draining", "no_store", "no_provider"]


class HealthReply(BaseModel):
    """How a gateway is."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    status: Standing
    """`ok`; or why no calls should be sent here: it begins, it ends, its store does not answer, or all providers that
    search asked to be left alone."""


class Alive:
    """Answers that the process lives; an ASGI application, as `Ready` is."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await _response("ok")(scope, receive, send)


class Ready:
    """Answers whether calls may be sent here.

    Args:
        house: Where they would be sent.
    """

    def __init__(self, house: House) -> None:
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await _response(await self._standing())(scope, receive, send)

    async def _standing(self) -> Standing:
        traffic, web = self._house.traffic, self._house.web
        if traffic.leaving:
            return "draining"
        if not traffic.started:
            return "starting"
        if all(standing.state == "closed" for standing in web.provider_health()):
            return "no_provider"
        return "ok" if await _answers(web.store) else "no_store"


async def _answers(store: Store) -> bool:
    """Whether a store keeps what it is given."""
    key, value = _KEY + secrets.token_hex(8), secrets.token_bytes(8)
    try:
        async with asyncio.timeout(_PATIENCE):
            await store.set(key, value, fresh=_KEPT)
            entry = await store.get(key)
            await store.delete(key)
    except (StoreError, TimeoutError):
        return False
    degraded = isinstance(store, ResilientStore) and store.degraded  # then memory of this process has kept it
    return entry is not None and entry.value == value and not degraded


def _response(status: Standing) -> Response:
    body = HealthReply(status=status).model_dump_json()
    return Response(body, 200 if status == "ok" else 503, media_type="application/json")
