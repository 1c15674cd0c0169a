"""Health checks, and the status of providers and sessions."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from groundwire.errors import InvalidRequest
from groundwire.models import Source
from groundwire.models.base import ROW_CONFIG
from groundwire.providers.base import Prices, load_prices
from groundwire.routing.health import ProviderHealth
from groundwire.storage.base import Store, StoreError
from groundwire.storage.fallback_store import ResilientStore
from groundwire.telemetry import ProviderScore
from groundwire.web import Web
from groundwire_server.api.context import AppContext, Caller
from groundwire_server.api.endpoint import read_query
from groundwire_server.api.request_models import SessionName
from groundwire_server.error_body import ApiModel, Failed, failed

__all__ = [
    "HealthReply",
    "Nothing",
    "ProvidersReply",
    "SessionCall",
    "SessionReply",
    "alive",
    "providers",
    "read_session",
    "ready",
    "reset_session",
    "session",
]

_DAYS = 7
_Role = Literal["search", "read"]
_MOST_SOURCES = 1_000  # in one response


class ProviderRecord(ApiModel):
    """A provider's results in one of its roles over the last seven days, in all processes that share the store."""

    role: _Role
    """Its role."""
    attempts: int
    """The number of attempts."""
    success_rate: float | None
    """The share of successful attempts, 0 to 1; without those that ended because another one had answered."""
    empty: int
    """The number of searches without results."""
    mean_ms: float | None
    """The mean duration of a successful attempt, in milliseconds."""
    p95_ms: float | None
    """The p95 latency of successful attempts, in milliseconds; at most 10,000."""
    cost_usd: float
    """The cost of its attempts, in US dollars."""


class Price(ApiModel):
    """The price of a provider's calls."""

    units: dict[str, float]
    """US dollars by unit, such as `request` or `page`."""
    as_of: str
    """The date of the price list, ISO 8601."""
    source: str
    """The source of the price list."""


class ProviderReply(ApiModel):
    """A provider in the gateway's settings."""

    name: str
    """Its name."""
    roles: tuple[_Role, ...]
    """Its roles here."""
    configured: bool
    """Whether it is configured, so that it is used."""
    needs: str = ""
    """What is missing, if it is not configured."""
    health: Literal["healthy", "degraded", "cooldown", "unknown"] = "unknown"
    """Its health in this process: `degraded` is called last, `cooldown` is skipped. Unknown for one that does not
    search."""
    cooldown_seconds: float | None = None
    """Seconds left of its cooldown."""
    reason: str = ""
    """The reason, if it is not healthy."""
    price: Price | None = None
    """The price of its calls, if any."""
    records: tuple[ProviderRecord, ...] = ()
    """Its recent results, by role; for operators' keys."""


class ProvidersReply(ApiModel):
    """The providers of a gateway."""

    providers: tuple[ProviderReply, ...]
    """In the order in which they are called, search before read, followed by unconfigured ones for operators' keys."""


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


class Nothing(BaseModel):
    """A request without parameters."""


def read_session(request: Request, _body: bytes) -> SessionCall:
    """Parse the session name in a path, and the query.

    Raises:
        Failed: one of them is invalid.
    """
    try:
        return read_query(SessionCall, request)
    except Failed as failure:
        raise (_no_session() if failure.problem.field == "id" else failure) from None


async def providers(caller: Caller, _request: Nothing) -> ProvidersReply:
    """Return the status of the caller's providers; figures of all tenants are for operators."""
    web, sees_all = caller.web, caller.tenant is None or caller.tenant.operator
    healths = {health.provider: health for health in web.provider_health()}
    scores = (await web.score_card(_DAYS)).providers if sees_all else ()
    prices = await asyncio.to_thread(load_prices)
    roles = _roles([each.name for each in web.search_providers], [each.name for each in web.read_providers])
    used = [_provider(name, does, healths.get(name), prices, scores) for name, does in roles.items()]
    return ProvidersReply(providers=(*used, *(_skipped(web, roles) if sees_all else ())))


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


def _roles(searching: Sequence[str], reading: Sequence[str]) -> dict[str, tuple[_Role, ...]]:
    """Return what each provider does, by its name."""
    roles: dict[str, tuple[_Role, ...]] = dict.fromkeys(searching, ("search",))
    return roles | {name: (*roles.get(name, ()), "read") for name in reading}


def _provider(
    name: str,
    roles: tuple[_Role, ...],
    health: ProviderHealth | None,
    prices: Mapping[str, Prices],
    scores: Iterable[ProviderScore],
) -> ProviderReply:
    price = prices.get(name.partition(":")[0])
    return ProviderReply(
        name=name,
        roles=roles,
        configured=True,
        health=health.state if health else "unknown",
        cooldown_seconds=health.seconds if health and health.state == "cooldown" else None,
        reason=health.reason if health else "",
        price=Price(units=dict(price.units), as_of=price.as_of, source=price.source) if price else None,
        records=tuple(_record(score) for score in scores if score.provider == name and score.role in roles),
    )


def _record(score: ProviderScore) -> ProviderRecord:
    figures = {key: value for key, value in asdict(score).items() if key in ProviderRecord.model_fields}
    return ProviderRecord(**figures, success_rate=score.success_rate)


def _skipped(web: Web, used: Mapping[str, object]) -> Iterable[ProviderReply]:
    """Yield the unconfigured providers of the settings."""
    settings = web.settings
    for name, roles in _roles(settings.search.providers, settings.read.providers).items():
        needs = next((reason for reason in web.skipped if reason.split(" ", 1)[0] == name), None)
        if name not in used and needs is not None:
            yield ProviderReply(name=name, roles=roles, configured=False, needs=needs)


_MAX_WAIT = 2.0  # seconds for the store
_KEY = "gateway:ready:"
_PROBE_SECONDS = 5.0  # that an entry stays if it cannot be deleted

Readiness = Literal["ok", "starting", "draining", "overloaded", "no_store", "no_provider"]


class HealthReply(ApiModel):
    """The health of a gateway."""

    status: Readiness
    """`ok`, or why to send no calls: the gateway is starting, stopping, or overloaded, its store does not respond,
    or all search providers are in cooldown."""


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
