"""Notifications to a client during a call: progress, and log messages of attempts."""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar, get_args

import mcp_types as types

from groundwire.models import AttemptFinished, AttemptStarted, Event
from groundwire.telemetry.call_events import listening

__all__ = ["HEARTBEAT", "Report", "logging_attempts", "reporting"]

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
            text = await asyncio.wait_for(doing.get(), heartbeat)
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
        said = "info"
        if isinstance(event, AttemptFinished) and event.attempt.outcome not in ("ok", "empty"):
            said = "warning"
        if isinstance(event, AttemptFinished) and _LEVELS.index(said) >= _LEVELS.index(level):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # deprecated in the newest protocol, but available in older ones
                sending = session.send_log_message(said, event.attempt.describe(), "groundwire", request_id)
            with suppress(Exception):  # the client is gone
                await sending
    return result
