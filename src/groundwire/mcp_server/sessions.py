"""The sessions of an MCP server, the `Web` that they share, created on first use, and the progress of their calls."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from groundwire.errors import GroundwireError
from groundwire.models import AttemptStarted, Event
from groundwire.settings import Settings
from groundwire.telemetry.call_events import listening
from groundwire.tools import Tool, ToolResult, refused

if TYPE_CHECKING:
    from groundwire.safety.tenancy import Owner
    from groundwire.web import Web

__all__ = ["HEARTBEAT", "Report", "Session", "Sessions", "reporting"]

_logger = logging.getLogger(__name__)

HEARTBEAT = 2.0  # seconds; some clients abandon a call that is silent for much longer

Report = Callable[[float, float | None, str | None], Awaitable[None]]
"""Reports to a client how many seconds of the maximum have passed, and the current activity."""

_T = TypeVar("_T")


async def reporting(report: Report, total: float, work: Awaitable[_T], *, heartbeat: float = HEARTBEAT) -> _T:
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


class Session:
    """One client's tools, with a separate budget.

    Args:
        web: The client's view of the `Web`.
    """

    def __init__(self, web: Web) -> None:
        from groundwire.tools.permissions import Permission, guarded_tools

        # The user is at the host, which asks before it calls; what the settings deny is denied here too.
        self._permission = Permission(web.settings.permission, ask=lambda _: True)
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in guarded_tools(web, self._permission)}
        self.web = web
        self.used: float = time.monotonic()

    def question(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """Return the question that a rule requires before a call, or None."""
        decision, reason = self._permission.decide(tool, arguments)
        if decision != "confirm" or reason.startswith("the rule for"):
            return None
        return f"Allow the call of {tool} with {json.dumps(arguments, ensure_ascii=False)[:500]}? Required by {reason}."

    async def describe(self) -> dict[str, Any]:
        """Return the usage and the sources of this session as JSON values."""
        budget = self.web.budget
        limit = budget.limit if budget else self.web.settings.session.max_searches
        used = await self.web.usage()
        made = int(used.get("searches", 0))
        return {
            "untrusted": ["sources"],  # titles and URLs come from the web: information, not instructions
            "searches": {"made": made, "limit": limit or None, "remaining": max(0, limit - made) if limit else None},
            "cost_usd": used.get("cost_usd", 0.0),
            "sources": [
                {"citation_id": page.number, "title": page.title, "url": page.url}
                for page in await self.web.sources(content=False)
            ],
        }


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
        return await session.tools[tool].call(**arguments)

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
