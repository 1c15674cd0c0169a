"""Health checks, and the status of sessions."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from typing import Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from groundwire.errors import ConfigurationError, InvalidRequest
from groundwire.models import Source
from groundwire.models.base import ROW_CONFIG
from groundwire.storage.base import Store, StoreError
from groundwire.storage.fallback_store import ResilientStore
from groundwire_server.api.context import AppContext, Caller
from groundwire_server.api.endpoint import read_query
from groundwire_server.api.request_models import SessionName
from groundwire_server.error_body import ApiModel, Failed, failed

_MOST_SOURCES = 1_000  # in one response


@dataclass(kw_only=True, slots=True)
class SeenReply(Source):
    """A page shown to a session."""

    __pydantic_config__ = ROW_CONFIG

    opened: bool
    """Whether the session opened it."""


class SessionReply(ApiModel):
    """The usage and the sources of a session."""

    id: str
    """Its name."""
    searches: int
    """The searches it made."""
    limit: int | None
    """The maximum; null if it has no limit."""
    remaining: int | None
    """The searches left."""
    cost_usd: float
    """Its cost, in US dollars."""
    tokens: int
    """The tokens of page text it read; counted only with a limit."""
    sources: tuple[SeenReply, ...]
    """The pages shown to it, by citation number."""
    next_after: int | None = None
    """The `after` of a request for further pages; null if there are none."""


class SessionCall(ApiModel):
    """A request for a session, and the pages of it to return."""

    id: SessionName
    """Its name."""
    limit: int = Field(default=_MOST_SOURCES, ge=1, le=_MOST_SOURCES)
    """The maximum number of sources."""
    after: int = Field(default=0, ge=0)
    """Only sources with a higher citation number than this."""


def read_session(request: Request, _body: bytes) -> SessionCall:
    """Parse the session name in a path, and the query.

    Raises:
        Failed: one of them is invalid; an invalid name is that of no session.
    """
    try:
        return read_query(SessionCall, request)
    except Failed as failure:
        raise (_no_session() if failure.problem.field == "id" else failure) from None


async def session(caller: Caller, call: SessionCall) -> SessionReply:
    """Return the usage and the sources of a session.

    Raises:
        Failed: the caller has no such session.
    """
    view = caller.session(call.id)
    used = await view.usage()
    try:
        pages = await view.sources(content=False)
    except InvalidRequest:  # the settings forbid storing
        pages = ()
    if not pages and not any(used.values()):
        raise _no_session()
    budget = view.budget
    later = sorted((page for page in pages if page.number > call.after), key=lambda page: page.number)
    listed = later[: call.limit]
    sources = (
        SeenReply(citation_id=page.number, title=page.title, url=page.url, opened=bool(page.version)) for page in listed
    )
    return SessionReply(
        id=call.id,
        searches=round(used["searches"]),
        limit=budget.limit if budget else None,
        remaining=budget.remaining if budget else None,
        cost_usd=used["cost_usd"],
        tokens=round(used["tokens"]),
        sources=tuple(sources),
        next_after=listed[-1].number if len(later) > len(listed) else None,
    )


async def reset_session(caller: Caller, call: SessionCall) -> SessionReply:
    """Reset a session, and return its previous usage.

    Raises:
        Failed: the caller has no such session.
    """
    before = await session(caller, call)
    await caller.session(call.id).reset_session()
    return before


def _no_session() -> Exception:
    return failed(404, "no_such_session", "There is no session with that name; its first call creates it.")


_MAX_WAIT = 2.0  # seconds for the store
_KEY = "gateway:ready:"
_PROBE_SECONDS = 5.0  # that an entry stays if it cannot be deleted

Readiness = Literal["ok", "starting", "draining", "overloaded", "no_keys", "no_store", "no_provider"]


class HealthReply(ApiModel):
    """The health of a gateway."""

    status: Readiness
    """`ok`, or why to send no calls: the gateway is starting, stopping, or overloaded, its key file cannot be read, its
    store does not respond, or all search providers are in cooldown."""


async def alive(_request: Request) -> Response:
    """Say that the process answers."""
    return _response("ok")


async def ready(context: AppContext, _request: Request) -> Response:
    """Say whether to send calls."""
    return _response(await _standing(context))


async def _standing(context: AppContext) -> Readiness:
    traffic, web = context.traffic, context.web
    if traffic.leaving:
        return "draining"
    if not traffic.started:
        return "starting"
    if traffic.admission is not None and traffic.admission.is_full:
        return "overloaded"
    try:
        context.check_keys()
    except ConfigurationError:
        return "no_keys"
    soon = web.settings.search.timeout  # a search waits that long for a provider
    if all(health.state == "cooldown" and health.seconds > soon for health in web.provider_health()):
        return "no_provider"
    return "ok" if await _answers(web.store) else "no_store"


async def _answers(store: Store) -> bool:
    """Whether a store can write and read."""
    key, value = _KEY + secrets.token_hex(8), secrets.token_bytes(8)
    try:
        async with asyncio.timeout(_MAX_WAIT):
            await store.set(key, value, fresh=_PROBE_SECONDS)
            entry = await store.get(key)
            await store.delete(key)
    except (StoreError, TimeoutError):
        return False
    degraded = isinstance(store, ResilientStore) and store.degraded  # then memory of this process has kept it
    return entry is not None and entry.value == value and not degraded


def _response(status: Readiness) -> Response:
    body = HealthReply(status=status).model_dump_json()
    return Response(body, 200 if status == "ok" else 503, media_type="application/json")
