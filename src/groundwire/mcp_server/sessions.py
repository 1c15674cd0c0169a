"""The sessions of an MCP server, the `Web` that they share, created on first use, and the progress of their calls."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
import warnings
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import mcp_types as types

from groundwire.errors import GroundwireError
from groundwire.models import AttemptFinished, AttemptStarted, Event
from groundwire.settings import Settings
from groundwire.telemetry.call_events import listening
from groundwire.tools import (
    OpenPageToolResult,
    Tool,
    ToolResult,
    WebSearchToolResult,
    refused,
)

if TYPE_CHECKING:
    from groundwire.safety.tenancy import Owner
    from groundwire.web import Web

_logger = logging.getLogger(__name__)

_HEARTBEAT = 2.0  # seconds; some clients abandon a call that is silent for much longer

Report = Callable[[float, float | None, str | None], Awaitable[None]]
"""Reports to a client how many seconds of the maximum have passed, and the current activity."""

_T = TypeVar("_T")


async def reporting(report: Report, total: float, work: Awaitable[_T], *, heartbeat: float = _HEARTBEAT) -> _T:
    """Await `work` and report its progress regularly.

    Args:
        report: Sends the report.
        total: The maximum duration of the work in seconds.
        work: The work.
        heartbeat: Seconds of silence after which a report is sent.
    """
    doing: asyncio.Queue[str] = asyncio.Queue()

    def listen(event: Event) -> None:
        doing.put_nowait(f"Asking {event.provider}" if isinstance(event, AttemptStarted) else event.attempt.describe())

    reporter = asyncio.create_task(_report(report, total, doing, heartbeat))
    try:
        with listening(listen):
            return await work
    finally:
        reporter.cancel()


async def _report(report: Report, total: float, doing: asyncio.Queue[str], heartbeat: float) -> None:
    started = time.monotonic()
    last = 0.0
    while True:
        text = None
        with suppress(TimeoutError):
            async with asyncio.timeout(heartbeat):
                text = await doing.get()
        passed = time.monotonic() - started
        last = max(round(passed, 3), last + 0.001)  # the protocol requires increasing numbers
        try:
            await report(last, max(total, last), text or f"Still running after {passed:.0f} s")
        except Exception:  # the client is gone; its call ends by itself
            _logger.debug("progress could not be reported", exc_info=True)
            return


_LEVELS: tuple[str, ...] = get_args(types.LoggingLevel)  # from debug to emergency


async def logging_attempts(session: Any, request_id: Any, level: str, work: Awaitable[_T]) -> _T:
    """Await `work`, then send the client a log message for each attempt: a failed one is a warning.

    Args:
        session: The client's session; since protocol 2026-07-28 it sends only what the request has opted in to.
        request_id: The request that the messages belong to.
        level: The lowest level to send.
        work: The work.
    """
    heard: list[Event] = []
    with listening(heard.append):
        result = await work
    for event in heard:
        severity = "info"
        if isinstance(event, AttemptFinished) and event.attempt.outcome not in ("ok", "empty"):
            severity = "warning"
        if isinstance(event, AttemptFinished) and _LEVELS.index(severity) >= _LEVELS.index(level):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # deprecated in the newest protocol, but available in older ones
                sending = session.send_log_message(severity, event.attempt.describe(), "groundwire", request_id)
            with suppress(Exception):  # the client is gone
                await sending
    return result


_SEARCHES, _PAGES = 20, 50  # that a session remembers, for its resources


class Session:
    """One client's tools, with a separate budget, and their results.

    Args:
        web: The client's view of the `Web`.
    """

    def __init__(self, web: Web) -> None:
        from groundwire.tools.permissions import Permission, guarded_tools

        # The user is at the host, which asks before it calls; what the settings deny is denied here too.
        self._permission = Permission(web.settings.permission, ask=lambda _: True)
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in guarded_tools(web, self._permission)}
        self.web = web
        self._searches: deque[WebSearchToolResult] = deque(maxlen=_SEARCHES)
        self._pages: OrderedDict[str, str] = OrderedDict()
        self.used: float = time.monotonic()
        self.log_level: str | None = None

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool and record its results."""
        result = await self._tools[tool].call(**arguments)
        has_attempts = isinstance(result, WebSearchToolResult) and result.attempts
        if self.web.keeps and (result.status == "success" or has_attempts):
            self._note(result)
        return result

    def question(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """Return the question that a rule requires before a call, or None."""
        decision, reason = self._permission.decide(tool, arguments)
        if decision != "confirm" or reason.startswith("the rule for"):
            return None
        return f"Allow the call of {tool} with {json.dumps(arguments, ensure_ascii=False)[:500]}? Required by {reason}."

    def queries(self) -> tuple[str, ...]:
        """Return the queries, the latest first."""
        return tuple(dict.fromkeys(search.query for search in reversed(self._searches)))

    def addresses(self) -> tuple[str, ...]:
        """Return the URLs of opened pages, then of results, the latest first."""
        result_urls = (source.url for search in reversed(self._searches) for source in search.sources)
        return tuple(dict.fromkeys((*(url for url, _ in self.pages()), *result_urls)))

    def pages(self) -> tuple[tuple[str, str], ...]:
        """Return the URLs and titles of recently opened pages, the latest first."""
        return tuple(reversed(self._pages.items()))

    async def reset(self) -> None:
        """Reset the session: usage, pages, results, and citation numbers."""
        await self.web.reset_session()
        self._searches.clear()
        self._pages.clear()

    async def describe(self) -> dict[str, Any]:
        """Return the usage, results and pages of this session as JSON values."""
        budget = self.web.budget
        limit = budget.limit if budget else self.web.settings.session.max_searches
        used = await self.web.usage()
        of_attempt = {"provider", "outcome", "reason", "status"}
        return {
            "untrusted": ["sources", "pages"],  # titles and URLs come from the web: information, not instructions
            "searches": {
                "made": int(used.get("searches", 0)),
                "limit": limit or None,
                "remaining": max(0, limit - int(used.get("searches", 0))) if limit else None,
            },
            "cost_usd": used.get("cost_usd", 0.0),
            "sources": [
                {
                    "query": search.query,
                    "sources": [source.model_dump() for source in search.sources],
                    "attempts": [attempt.model_dump(include=of_attempt) for attempt in search.attempts],
                }
                for search in self._searches
            ],
            "pages": [{"url": url, "title": title} for url, title in self.pages()],
        }

    def _note(self, result: ToolResult) -> None:
        if isinstance(result, WebSearchToolResult):
            self._searches.append(result)
        elif isinstance(result, OpenPageToolResult):
            url = result.final_url or result.url
            self._pages.pop(url, None)
            self._pages[url] = result.title
            while len(self._pages) > _PAGES:
                self._pages.popitem(last=False)


class Sessions:
    """The sessions of a server, and their shared `Web`.

    Args:
        settings: The settings.
        alone: Whether there is only one client, whose session is that of the settings.
        complain: Called with each problem of the settings, before the first call.
        web: A `Web` to use instead; the caller closes it.
        web_for: Returns the view for the caller of an HTTP request.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        alone: bool,
        complain: Callable[[str], None] = _logger.error,
        web: Web | None = None,
        web_for: Callable[[Any], Web] | None = None,
    ) -> None:
        self.settings = settings
        self._complain = complain
        self._alone = alone
        self._lock = asyncio.Lock()
        self._web = web
        self._owned = web is None
        self._web_for = web_for
        self._by_owner: dict[Owner, OrderedDict[str, Session]] = {}
        self._warming: asyncio.Task[None] | None = None

    async def get(self, key: str, request: Any = None) -> Session:
        """Return a client's session, or a new one after the client was idle for `session.idle_timeout`.

        Args:
            key: Identifies the client.
            request: The HTTP request, if any.

        Raises:
            ConfigurationError: the settings are invalid.
        """
        web = await self._made()
        if self._web_for is not None and request is not None:
            web = self._web_for(request.scope)
        now, own = time.monotonic(), self._by_owner.setdefault(web.owner, OrderedDict())
        session = own.pop(key, None)
        idle = web.settings.session.idle_timeout or math.inf
        if session is None or (not self._alone and now - session.used > idle):
            view = web if self._alone else web.session()
            session = Session(view)
        session.used = now
        own[key] = session
        while len(own) > web.settings.server.max_mcp_sessions:
            own.popitem(last=False)
        return session

    async def call(self, key: str, tool: str, arguments: Mapping[str, Any], request: Any = None) -> ToolResult:
        """Call a tool for a client; invalid settings are reported in its result."""
        try:
            session = await self.get(key, request)
        except GroundwireError as error:
            return refused(tool, arguments, error)
        return await session.call(tool, arguments)

    def warm_up(self) -> None:
        """Start creating the `Web`, so that the first call need not wait for it."""
        if self._warming is None and self._web is None:
            self._warming = asyncio.get_running_loop().create_task(self._warm())

    async def aclose(self) -> None:
        """Close the `Web` if it was created here."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if self._web is not None and self._owned:
            await self._web.aclose()

    async def _warm(self) -> None:
        try:
            await self._made()
        except GroundwireError as error:
            self._complain(str(error))  # and again in the result of every call

    async def _made(self) -> Web:
        async with self._lock:
            if self._web is None:
                web = (await asyncio.to_thread(_load_web))(self.settings)
                for reason in web.skipped:
                    _logger.info("%s", reason)
                self._web = web
            return self._web


def _load_web() -> type[Web]:
    """Import what answers calls, in a thread: it takes a while, in which the server answers other requests."""
    import groundwire.tools.permissions  # noqa: F401
    from groundwire.web import Web

    return Web
