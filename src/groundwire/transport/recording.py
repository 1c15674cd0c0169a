"""Exchanges with a cassette: recorded hop by hop, or answered from it before anything is looked up or connected to."""

from __future__ import annotations

import asyncio
import time
from typing import cast, get_args

from multidict import CIMultiDict

from groundwire.cassette import Answer, CallFailed, Cassette, RecordedFailure
from groundwire.errors import BlockedAddress, GroundwireError
from groundwire.transport.body_reader import SNIFF, refuse_more_than, show
from groundwire.transport.connector import Connections, Head, HttpRequest, Inspect, PartialResponse, Response
from groundwire.transport.errors import ExchangeFailed, Trouble

_UNREAD = "unread"
"""What a cassette says of an answer that was refused when its head and first bytes were here."""


async def replayed(
    connections: Connections, request: HttpRequest, cassette: Cassette, cap: int, inspect: Inspect | None
) -> Response:
    """Answer a request from the cassette, without a lookup or connection.

    Args:
        connections: Where it would be sent.
        request: The request.
        cassette: The cassette.
        cap: Maximum bytes of the body.
        inspect: Is shown the beginning.

    Raises:
        ExchangeFailed, TimeoutError, BlockedAddress: as recorded. ExchangeFailed: it has no such request. Closed.
    """
    if connections.closed:
        raise connections.closed_error()
    await asyncio.sleep(0)  # so that other tasks can run, as with a network
    try:
        recorded = cassette.find("http", request.as_json())
    except CallFailed as error:
        raise ExchangeFailed("cassette", error.failure.detail) from error
    if (answer := recorded.answer) is not None:
        head = Head(str(request.url), answer.status, CIMultiDict(answer.headers))
        if recorded.failure is None and request.leads_on(head.status, head.headers):
            return Response(head.url, head.status, head.headers)
        start = b""
        if recorded.failure is None or recorded.failure.kind == _UNREAD or len(answer.body) >= SNIFF:
            start, cap = show(inspect, head.url, head.status, head.headers, bytearray(answer.body), cap)
        if not request.cut:
            refuse_more_than(cap, len(answer.body))
        if request.on_data is not None and answer.status == 200:
            request.on_data(bytes(answer.body))
        if recorded.failure is None:
            return Response(head.url, head.status, head.headers, start, answer.body[:cap])
    raise _as_error(recorded.failure)


def record(
    cassette: Cassette, request: HttpRequest, partial: PartialResponse, failure: RecordedFailure | None, started: float
) -> None:
    """Add an exchange to a cassette.

    Args:
        cassette: The cassette.
        request: The request.
        partial: What had been read.
        failure: Why it is not the whole response, if it is not.
        started: When it began, of `time.perf_counter`.
    """
    body = bytes(partial.body if failure is None else partial.body[:SNIFF])  # of a part only the start is looked at
    answer = Answer(partial.status, partial.headers, body) if partial.status else None
    took = round((time.perf_counter() - started) * 1_000)
    cassette.add("http", request.as_json(), response=answer, failure=failure, ms=took)


def as_failure(error: BaseException, *, began: bool) -> RecordedFailure | None:
    """Convert a failed exchange for a cassette, or return None if the outside world did not cause it.

    Args:
        error: What was raised.
        began: Whether an answer had begun.
    """
    match error:
        case ExchangeFailed():
            return RecordedFailure(error.kind, error.detail)
        case TimeoutError() if not isinstance(error, GroundwireError):
            return RecordedFailure("timeout")
        case asyncio.CancelledError():  # the caller has left; asked again, it is as late as it was
            return RecordedFailure("timeout", "abandoned before the response arrived")
        case BlockedAddress() if not began:
            return RecordedFailure("blocked", str(error))
        case GroundwireError() if began:
            return RecordedFailure(_UNREAD)
        case _:
            return None


def _as_error(failure: RecordedFailure | None) -> Exception:
    """Convert a recorded failure to an exception."""
    kind, detail = (failure.kind, failure.detail) if failure else ("", "")
    if kind == "timeout":
        return TimeoutError()
    if kind == "blocked":
        return BlockedAddress(detail)
    if kind in get_args(Trouble):
        return ExchangeFailed(cast("Trouble", kind), detail)
    return ExchangeFailed("cassette", "was not read in full when the cassette was recorded")
