"""What every provider must do, as checks that any provider passes with an emulator of its service.

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_conformance(check: Check) -> None:
        with World() as world:
            check(ProviderCase(name="lookup", provider=LookupProvider, service=world.add(Lookup()), query="bm25"))

A check raises AssertionError. `groundwire new-provider NAME` writes such a test, with the provider and the emulator.
"""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, Final

from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    AuthenticationFailed,
    GroundwireError,
    PageError,
    ProviderBlocked,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    QuotaExceeded,
    RateLimited,
    UnexpectedResponse,
)
from groundwire.models import MAX_LIMIT, Filters, ReadResult, Results
from groundwire.providers.base import ProviderContext, price_of
from groundwire.safety.urls import parse_url
from groundwire.settings import Settings
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.server import EmulatedServer
from groundwire.transport.clients import HttpClients
from groundwire.web import Web

__all__ = ["CHECKS", "Check", "ProviderCase"]

_SECONDS: Final = 60.0  # of a call that nothing delays; reached only on a broken machine
_CANARY: Final = "canary-6d1f0a93e5b2"
_STATUSES: Final = (
    *(200, 201, 202, 204, 206, 301, 302, 304, 400, 401, 402, 403, 404, 405),
    *(406, 408, 409, 413, 415, 422, 429, 451, 500, 502, 503, 504, 520, 529),
)
_BODIES: Final = (
    b"",
    b"<!doctype html><html><title>Sign in</title><form></form></html>",
    b"null",
    b"42",
    b'"no results"',
    b'{"error":"no results: rate limit"}',
    b'{"detail":"Not Found"}',
    b'{"message":"Too many requests"}',
    b'{"success":false,"error":"No results, credits used up"}',
    b'{"results',
    b"[" * 50_000,
)
_FAULTS: Final = (
    (InjectedFault.status(500), ProviderUnavailable),
    (InjectedFault.status(502), ProviderUnavailable),
    (InjectedFault.reset(), ProviderUnreachable),
    (InjectedFault.close(), ProviderUnreachable),
    (InjectedFault.truncated(), ProviderUnreachable),
    (InjectedFault.empty_body(), UnexpectedResponse),
    (InjectedFault.wrong_json(), UnexpectedResponse),
    (InjectedFault.html_for_json(), UnexpectedResponse),
    (InjectedFault.redirect("http://169.254.169.254/"), UnexpectedResponse),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCase:
    """A provider with the emulator of its service."""

    name: str
    """Its name."""
    provider: type[Any]
    """Its class, a `ProviderClass`."""
    service: EmulatedServer
    """The emulator, which is running."""
    query: str = ""
    """A query that the emulator has results for, if the provider searches."""
    expected: Sequence[tuple[str, str, str]] = ()
    """URL, title, and snippet of its first results, if they are to be compared."""
    query_without_results: str = "zyxwvutsrq"
    """A query that it has none for."""
    url: str = ""
    """A page that it can read, if the provider reads pages."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The keys that it accepts, by environment variable; it refuses others."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further options of the provider; `base_url` is the emulator's."""
    cost_usd: float = 0.0
    """The cost of a search, in US dollars."""
    unseen_filters: frozenset[str] = frozenset()
    """The filters that no request shows here: it is in the host, or takes more results than there are."""


Check = Callable[[ProviderCase], None]
"""A check; it raises AssertionError."""
_Call = Callable[[], Awaitable[Any]]


def _require(condition: object, message: object) -> None:
    if not condition:
        raise AssertionError(str(message))


@asynccontextmanager
async def _maker(case: ProviderCase, keys: Mapping[str, str] | None = None) -> AsyncIterator[Callable[[], Any]]:
    """Yield what makes a new provider: one whose key was refused does not send it again for a while."""
    settings = _settings(case, keys)
    clients = HttpClients(settings, None, None)
    options = {"base_url": case.service.url, **case.options}
    try:
        yield lambda: case.provider.create(ProviderContext(case.name, settings, clients, options))
    finally:
        await clients.aclose()


@asynccontextmanager
async def _provider(case: ProviderCase, keys: Mapping[str, str] | None = None) -> AsyncIterator[Any]:
    async with _maker(case, keys) as make:
        yield make()


def _settings(case: ProviderCase, keys: Mapping[str, str] | None) -> Settings:
    return Settings.model_validate(
        {
            "search": {"timeout": _SECONDS},
            "policy": {"allowed_origins": tuple(parse_url(url).origin for url in (case.service.url, case.url) if url)},
            "storage": {"url": "memory://"},
            "cache": {"enabled": False},
            "archive": {"enabled": False},
            "keys": dict(case.keys if keys is None else keys),
        }
    )


def _calls(case: ProviderCase, provider: Any, seconds: float = _SECONDS) -> Sequence[_Call]:
    calls: list[_Call] = []
    if provider.capabilities.search:
        calls.append(lambda: provider.search(case.query, deadline=Deadline.after(seconds)))
    if provider.capabilities.read:
        calls.append(lambda: provider.read_url(case.url, deadline=Deadline.after(seconds)))
    return calls


@contextmanager
def _failing(case: ProviderCase, fault: InjectedFault) -> Iterator[None]:
    case.service.fail(fault, times=None)
    try:
        yield
    finally:
        case.service.heal()


async def _failure(call: _Call) -> GroundwireError:
    """Return the error that a call ends in."""
    try:
        result = await call()
    except (ProviderError, PageError, AllProvidersFailed) as error:
        return error
    raise AssertionError(f"a failure was returned as {result!r}")


async def _failures(case: ProviderCase, make: Callable[[], Any], fault: InjectedFault) -> list[GroundwireError]:
    """Return the errors of all calls while the service fails, each by a new provider."""
    errors = []
    with _failing(case, fault):
        for number in range(len(_calls(case, make()))):
            case.service.forget()
            errors.append(await _failure(_calls(case, make())[number]))
            _require(case.service.requests, "no request was sent")
    return errors


class _LogLines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.getMessage()}{record.exc_info}{record.__dict__}")


def _check(work: Callable[[ProviderCase], Coroutine[Any, Any, None]]) -> Check:
    """Return a check that runs in an event loop of its own; whatever it logs must not have the key."""

    @wraps(work)
    def check(case: ProviderCase) -> None:
        logger, handler = logging.getLogger(), _LogLines()
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        try:
            asyncio.run(work(case))
        finally:
            logger.setLevel(level)
            logger.removeHandler(handler)
        _require(not any(_CANARY in line for line in handler.lines), "the key is in the log")

    return check


@_check
async def answers_have_rows_and_pages(case: ProviderCase) -> None:
    """A search has rows with title, URL, and source; a page has content."""
    async with _provider(case) as provider:
        for call in _calls(case, provider):
            result = await call()
            if isinstance(result, ReadResult):
                _require(result.success, result.error)
                _require(result.content.strip(), "the page has no content")
                continue
            _require(len(result) > 0, f"no results for {case.query!r}")
            for row in result:
                _require(row.url.startswith(("https://", "http://")), row)
                _require(row.title, row)
                _require(row.source, row)
            rows = [(row.url, row.title, row.snippet) for row in result][: len(case.expected)]
            _require(rows == list(case.expected), f"read {rows}, not {list(case.expected)}")


@_check
async def nothing_found_is_no_failure(case: ProviderCase) -> None:
    """A search that finds nothing is empty, not an error."""
    async with _provider(case) as provider:
        if provider.capabilities.search:
            results = await provider.search(case.query_without_results, deadline=Deadline.after(_SECONDS))
            _require(len(results) == 0, results)


@_check
async def no_refusal_is_an_answer(case: ProviderCase) -> None:
    """No status and no body of a refusal is results, a page, or "no results"."""
    async with _maker(case) as make:
        for status in _STATUSES:
            for body in _BODIES:
                try:
                    await _failures(case, make, InjectedFault.status(status, body))
                except AssertionError as error:
                    raise AssertionError(f"status {status} with {body[:60]!r}: {error}") from None


@_check
async def each_fault_has_its_error(case: ProviderCase) -> None:
    """Faults of network, status, and body are the right class of error, with the seconds to wait."""
    async with _maker(case) as make:
        for fault, expected in _FAULTS:
            for error in await _failures(case, make, fault):
                _require(type(error) is expected, f"{fault}: {error!r}, not {expected.__name__}")
        for error in await _failures(case, make, InjectedFault.status(401)):
            refused = AuthenticationFailed if case.keys else (AuthenticationFailed, ProviderBlocked)
            _require(isinstance(error, refused), repr(error))
        for error in await _failures(case, make, InjectedFault.status(429, headers={"Retry-After": "7"})):
            _require(isinstance(error, RateLimited | QuotaExceeded), repr(error))
            wait = getattr(error, "retry_after", None)
            _require(wait == 7, f"Retry-After: 7 was read as {wait}")


@_check
async def a_deadline_ends_a_call(case: ProviderCase) -> None:
    """A service that does not answer is a timeout."""
    async with _provider(case) as provider:
        with _failing(case, InjectedFault.hang()):
            for call in _calls(case, provider, 0.5):
                error = await _failure(call)
                _require(isinstance(error, ProviderTimeout), f"a passed deadline is {error!r}")


@_check
async def a_call_can_be_canceled(case: ProviderCase) -> None:
    """A canceled call ends as canceled, and the next one works."""
    async with _provider(case) as provider:
        for call in _calls(case, provider):
            case.service.forget()
            with _failing(case, InjectedFault.hang()):
                task = asyncio.ensure_future(call())
                await asyncio.to_thread(case.service.wait_for_requests, 1)
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
                _require(task.cancelled(), "a canceled call did not end as canceled")
            await call()


@_check
async def limits_hold(case: ProviderCase) -> None:
    """No limit is refused, and no response has more results."""
    async with _provider(case) as provider, Web(_settings(case, None), search_providers=[provider]) as web:
        for limit in (
            (1, min(provider.capabilities.max_results, MAX_LIMIT), MAX_LIMIT) if provider.capabilities.search else ()
        ):
            response = await web.search(case.query, limit=limit)
            _require(0 < len(response.results) <= limit, f"limit={limit}: {len(response.results)} results")


def _filters(able: Any) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield each filter: its name, arguments of a search, and whether the provider says that it supports it."""
    day = datetime.now(UTC).date() - timedelta(days=30)
    yield "allowed_domains", {"allowed_domains": ("a.example",)}, able.domains != "none"
    yield "blocked_domains", {"blocked_domains": ("b.example",)}, able.domains != "none"
    for unit in ("d", "w", "m", "y"):
        yield "time_range", {"time_range": unit}, unit in able.time_ranges
    yield "published_after", {"published_after": day}, able.dates
    yield "published_before", {"published_before": day}, able.dates
    yield "language", {"language": "de"}, able.language
    yield "region", {"region": "de"}, able.region
    yield "safesearch", {"safesearch": "strict"}, able.safesearch
    yield "page", {"page": 2}, able.pages


@_check
async def filters_reach_the_service_or_are_reported(case: ProviderCase) -> None:
    """A supported filter changes the request; one that is not is reported as such."""
    async with _provider(case) as provider, Web(_settings(case, None), search_providers=[provider]) as web:
        if not provider.capabilities.search:
            return
        plain, _ = await _sent(case, provider, Filters(safesearch="off"))
        for name, filters, supported in _filters(provider.capabilities):
            wire, results = await _sent(case, provider, Filters(**{"safesearch": "off", **filters}))
            applied = None if results is None else results.applied.get(name)
            native = supported if applied is None else applied in ("native", "operator")
            if native and name not in case.unseen_filters:
                _require(wire != plain, f"{filters} is said to be supported, and does not reach the service")
            with suppress(ProviderError, AllProvidersFailed):  # the emulator may have nothing of that kind
                receipts = {row.filter: row.applied for row in (await web.search(case.query, **filters)).filters}
                _require(name in receipts, f"{filters} has no receipt")
                _require(native or receipts[name] in ("post_filter", "not_possible"), f"{filters} is {receipts[name]}")


async def _sent(case: ProviderCase, provider: Any, filters: Filters) -> tuple[list[tuple[str, bytes]], Results | None]:
    """Return the requests of a search, and its results; None if it failed."""
    case.service.forget()
    results = None
    with suppress(ProviderError):  # the emulator may have nothing of that kind
        results = Results.of(await provider.search(case.query, filters=filters, deadline=Deadline.after(_SECONDS)))
    return [(request.target, request.body) for request in case.service.requests], results


@_check
async def a_search_has_its_price(case: ProviderCase) -> None:
    """A search costs what it should, and its price is known before."""
    async with _provider(case) as provider:
        if provider.capabilities.search:
            cost = Results.of(await provider.search(case.query, deadline=Deadline.after(_SECONDS))).cost_usd
            _require(abs(cost - case.cost_usd) < 1e-9, f"a search cost {cost}, not {case.cost_usd}")
            _require((price_of(provider) > 0) == (case.cost_usd > 0), "price_usd and the cost of a search disagree")


@_check
async def keys_stay_secret(case: ProviderCase) -> None:
    """A key is sent in a header, and is in no address, body, error, representation, or log."""
    echo = json.dumps({"error": {"message": f"The key {_CANARY} is wrong"}, "detail": f"what is {_CANARY}?"})
    for status in (None, 400, 401, 402, 403, 429, 500, 302) if case.keys else ():
        if status is not None:
            headers = {"Location": f"/?key={_CANARY}"}
            case.service.fail(InjectedFault.status(status, echo, "application/json", headers), times=None)
        try:
            async with _maker(case, dict.fromkeys(case.keys, _CANARY)) as make:
                for number in range(2 * len(_calls(case, make()))):
                    await _keeps_its_key(case, make(), number, status)
        finally:
            case.service.heal()


async def _keeps_its_key(case: ProviderCase, provider: Any, number: int, status: int | None) -> None:
    """Make one call, of the provider itself or of a `Web`, and look for the key in all that comes of it."""
    able = provider.capabilities
    search, reader = ([provider] if has else None for has in (able.search, able.read))
    async with Web(_settings(case, {}), search_providers=search, read_providers=reader) as web:
        calls = list(_calls(case, provider))
        calls += [lambda: web.search(case.query)] if able.search else []
        calls += [lambda: web.open_page(case.url)] if able.read else []
        case.service.forget()
        error = await _failure(calls[number])
        if status is None and isinstance(error, ProviderError):
            _require(isinstance(error, AuthenticationFailed), f"a wrong key is {error!r}")
        texts = [str(error), repr(error), str(vars(error)), *traceback.format_exception(error)]
        texts += [repr(provider), str(getattr(provider, "__dict__", "")), repr(web.__dict__)]
    for text in texts:
        _require(_CANARY not in text, f"the key is in {text}")
    _require(case.service.requests, "no request was sent")
    for request in case.service.requests:
        _require(_CANARY not in f"{request.target}{request.body!r}", "the key is in an address or a body")
        _require(any(_CANARY in value for value in request.headers.values()), "the key is in no header")


CHECKS: Final[tuple[Check, ...]] = (
    answers_have_rows_and_pages,
    nothing_found_is_no_failure,
    no_refusal_is_an_answer,
    each_fault_has_its_error,
    a_deadline_ends_a_call,
    a_call_can_be_canceled,
    limits_hold,
    filters_reach_the_service_or_are_reported,
    a_search_has_its_price,
    keys_stay_secret,
)
"""All checks."""
