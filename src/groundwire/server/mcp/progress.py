"""Progress of a slow call, told to the client that asked for it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from groundwire.models import AttemptStarted, Event
from groundwire.observing.listening import listening

__all__ = ["HEARTBEAT", "Report", "reporting"]

_logger = logging.getLogger(__name__)

HEARTBEAT = 2.0  # seconds; some clients give up on a call of which they hear nothing for much longer

Report = Callable[[float, float | None, str | None], Awaitable[None]]
"""Tells a client how many seconds have passed, of how many, and what is being done."""

_T = TypeVar("_T")


async def reporting(report: Report, total: float, work: Awaitable[_T], *, heartbeat: float = HEARTBEAT) -> _T:
    """Await `work` and meanwhile report what it does, and that it still does it.

    Args:
        report: Tells the client.
        total: The most seconds that the work may take.
        work: The work.
        heartbeat: Seconds of silence after which something is said.
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
            text = await asyncio.wait_for(doing.get(), heartbeat)
        passed = time.monotonic() - started
        last = max(round(passed, 3), last + 0.001)  # the protocol wants every number above the one before
        try:
            await report(last, max(total, last), text or f"Still at work after {passed:.0f} s")
        except Exception:  # a client that hears nothing any more; its call ends by itself
            _logger.debug("progress could not be told", exc_info=True)
            return
