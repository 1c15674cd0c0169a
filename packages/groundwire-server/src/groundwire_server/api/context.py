"""The state shared by all endpoints: the `Web`, the caller, the running calls, the request counters."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import unquote

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    Metric,
    ProcessCollector,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from pydantic import BaseModel
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire import __version__
from groundwire.errors import GroundwireError
from groundwire.storage.fallback_store import ResilientStore
from groundwire.telemetry import CONTENT_TYPE, Metrics
from groundwire.telemetry.daily_counters import BOUNDS
from groundwire.web import Web
from groundwire_server.api.peers import Peers
from groundwire_server.auth import Tenant, tenant_of
from groundwire_server.auth.access_log import AccessRecord, facts_of
from groundwire_server.auth.admission import Admission
from groundwire_server.client_disconnect import TrackedSend
from groundwire_server.error_body import Failed, failed, failure_of

_T = TypeVar("_T")

_AGAIN = 2.0  # seconds; by then a load balancer has noticed, or another process has replaced this one


class Traffic:
    """Counts running calls, and rejects new ones once the gateway is stopping."""

    def __init__(self) -> None:
        self.running: int = 0
        self.started = False
        self.parting: bool = False
        self.leaving: bool = False
        self.draining: bool = False
        self.admission: Admission | None = None
        """Who is let in; None before the gateway is complete."""
        self._ended = False
        self._tasks: set[asyncio.Task[object]] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count a call while the block runs.

        Raises:
            Failed: the gateway is shutting down.
        """
        if self.draining:
            text = "The gateway is shutting down. Try another one, or retry in a moment."
            raise failed(503, "draining", text, retry_after=_AGAIN, headers={"Connection": "close"})
        self.running += 1
        self._idle.clear()
        try:
            yield
        finally:
            self.running -= 1
            if not self.running:
                self._idle.set()

    def retire(self) -> None:
        """End each connection with its next response; calls are still accepted."""
        self.parting = True

    def leave(self) -> None:
        """Retire, and record that the gateway is about to stop."""
        self.parting = self.leaving = True

    def drain(self) -> None:
        """Reject new calls."""
        self.leave()
        self.draining = True

    async def until_ended(self, work: Awaitable[_T]) -> _T:
        """Await the work of a call.

        Raises:
            Failed: the gateway shut down.
        """
        task = asyncio.current_task()
        if task is None:
            return await work
        self._tasks.add(task)
        try:
            return await work
        except asyncio.CancelledError:
            if not self._ended or task.uncancel():  # canceled by someone else as well
                raise
            raise failed(503, "ended", "The gateway shut down before this finished.", retry_after=_AGAIN) from None
        finally:
            self._tasks.discard(task)

    def end_calls(self) -> None:
        """End the running calls with an error to their clients."""
        self.drain()
        self._ended = True
        for task in tuple(self._tasks):
            task.cancel()

    async def idle(self) -> None:
        """Wait until no call is running."""
        await self._idle.wait()


class Counted:
    """An ASGI application whose requests count as calls, except for those that only wait for events.

    Args:
        app: The application.
        traffic: Counts them.
    """

    def __init__(self, app: ASGIApp, traffic: Traffic) -> None:
        self._app = app
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or answer with why it failed."""
        sending = TrackedSend(send)
        try:
            if scope["method"] == "POST":
                with self._traffic.call():
                    await self._traffic.until_ended(self._app(scope, receive, sending))
            else:
                await self._app(scope, receive, sending)
        except (Failed, GroundwireError) as error:
            if not sending.begun:  # otherwise the server closes the connection of an unfinished response
                await failure_of(error).response()(scope, receive, send)
        except ClientDisconnect:
            return


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request, and their view of the web."""

    web: Web
    """Their view of the gateway's `Web`."""
    tenant: Tenant | None = None
    """Who they are; None where no key is asked for."""
    tell: Callable[[str, BaseModel], None] | None = None
    """Sends them an event by its name, while the work goes on; None where they want no events."""
    request_id: str = ""
    """The ID of their request, in all logs."""
    headers: dict[str, str] = field(default_factory=dict)
    """Additional headers of a whole response, which the work may set."""
    extra: dict[str, Any] = field(default_factory=dict)
    """What the response in another API's form has in addition; see `drop_in_contents`."""

    def session(self, name: str | None) -> Web:
        """Return one of their sessions, a new one without a name. No other tenant's session has this name."""
        if name is None or self.tenant is None:
            return self.web.session(name)
        return self.web.session(self.tenant.session(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class AppContext:
    """The parts of a gateway."""

    web: Web
    """The web to search and read with."""
    traffic: Traffic
    """The running calls."""
    check_keys: Callable[[], object] = lambda: None
    """Raises ConfigurationError if the keys cannot be read."""
    longest: float = 600.0
    """The maximum duration of a call in seconds."""
    keep_alive: float = 10.0
    """Seconds of silence after which a stream of events gets a comment."""

    def caller(self, scope: Scope) -> Caller:
        """Return the caller of a request, as authenticated by `Access`."""
        tenant, id_ = tenant_of(scope), facts_of(scope).request_id
        web = self.web if tenant is None else tenant.narrow(self.web)
        return Caller(web, tenant, request_id=id_)

    def web_for(self, scope: Scope) -> Web:
        """Return the caller's view of the web."""
        return self.caller(scope).web


_OTHER = "other"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Requests:
    """Counts requests by path and status; the number of series is bounded.

    Args:
        paths: The first parts of the paths that are counted apart.
        registry: Where the counts are scraped.
    """

    def __init__(self, paths: Collection[str], registry: CollectorRegistry) -> None:
        self._paths = frozenset(paths)
        text = "Requests to the gateway; 499 means that the client disconnected."
        self._counts = Counter("groundwire_http_requests", text, ("path", "method", "status"), registry=registry)
        name, text = (
            "groundwire_http_request_seconds",
            "Duration of a request in seconds, by path and status class.",
        )
        self._seconds = Histogram(name, text, ("path", "status"), registry=registry, buckets=BOUNDS)
        self._errors = Counter("groundwire_http_errors", "Error responses, by code.", ("code",), registry=registry)

    def count(self, facts: AccessRecord) -> None:
        """Count a request that has ended."""
        path = self._path(unquote(facts.path))
        method = facts.method if facts.method in _METHODS else _OTHER
        self._counts.labels(path, method, str(facts.status)).inc()
        self._seconds.labels(path, f"{facts.status // 100}xx").observe(facts.latency_ms / 1_000)
        if facts.code:
            self._errors.labels(facts.code).inc()

    def _path(self, path: str) -> str:
        while path not in self._paths and path != "/":
            path = path.rpartition("/")[0] or "/"
        return path if path in self._paths else _OTHER


class Scrape(Collector):
    """Endpoint with all metrics for Prometheus, and the state of this process among them.

    Args:
        metrics: What the calls were like.
        context: The server's parts.
        peers: The other worker processes.
    """

    def __init__(self, metrics: Metrics, context: AppContext, peers: Peers | None = None) -> None:
        self._metrics = metrics
        self._traffic = context.traffic
        self._web = context.web
        self._peers = peers
        if peers is not None:
            peers.render = metrics.render
        metrics.registry.register(self)
        ProcessCollector(registry=metrics.registry)

    async def show(self, _request: Request) -> Response:
        """Answer a request."""
        text = self._metrics.render() if self._peers is None else await self._peers.metrics()
        return Response(text, headers={"Content-Type": CONTENT_TYPE})

    def collect(self) -> Iterator[Metric]:
        """Yield what is measured at the moment of a scrape."""
        build = GaugeMetricFamily("groundwire_build_info", "The version of the gateway.", labels=("version", "python"))
        build.add_metric((__version__, platform.python_version()), 1)
        yield build
        text = "Calls in progress in this process."
        yield GaugeMetricFamily("groundwire_http_running", text, self._traffic.running)
        yield from _admitted(self._traffic.admission)
        yield from _parts(self._web)


def _admitted(admission: Admission | None) -> Iterator[Metric]:
    if admission is None:
        return
    name, text = "groundwire_http_admission", "Maximum requests in progress; it adapts to the load."
    yield GaugeMetricFamily(f"{name}_limit", text, int(admission.limit))
    yield GaugeMetricFamily(f"{name}_running", "Requests in progress.", admission.running)
    yield GaugeMetricFamily(f"{name}_queued", "Requests waiting for admission.", admission.queued)
    text = "The latest delay of the event loop's timers."
    yield GaugeMetricFamily("groundwire_loop_lag_seconds", text, admission.lag)
    text = "Requests refused because too many were waiting."
    yield CounterMetricFamily(f"{name}_refused", text, admission.refused)


def _parts(web: Web) -> Iterator[Metric]:
    """Yield the state of what a `Web` works with."""
    degraded = isinstance(web.store, ResilientStore) and web.store.degraded
    yield GaugeMetricFamily("groundwire_store_up", "1, or 0 while the store does not respond.", int(not degraded))
    if web.archive is not None:
        text = "1, or 0 while the archive stores nothing."
        yield GaugeMetricFamily("groundwire_archive_up", text, int(not web.archive.problem))
        text = "Pages and responses that the archive did not store."
        yield CounterMetricFamily("groundwire_archive_dropped", text, web.archive.dropped)
    for name, workers in (("page", web.workers), ("verification", web.verification_workers)):
        text = f"Processes in use for the work of kind {name}."
        yield GaugeMetricFamily(f"groundwire_{name}_workers_running", text, workers.queue.running)
        text = f"Jobs of kind {name} that wait for a process."
        yield GaugeMetricFamily(f"groundwire_{name}_workers_queued", text, workers.queue.waiting)
