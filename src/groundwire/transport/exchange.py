"""One request and its answer: the one place where a request meets the network, or the cassette.

With a cassette requests are recorded hop by hop, or answered from it before anything is looked up or connected to.
"""

from __future__ import annotations

import asyncio
import time

from groundwire.cassette import Answer, CallFailed, Cassette, Failure
from groundwire.deadline import Deadline
from groundwire.transport.connections import Connections
from groundwire.transport.messages import Asked, Head, Heard, Inspect, Reply
from groundwire.transport.reading import SNIFF, read_body, refuse_more_than, show
from groundwire.transport_errors import UNREAD, ExchangeFailed, as_error, as_failure

__all__ = ["exchange"]


async def exchange(
    connections: Connections,
    cassette: Cassette | None,
    asked: Asked,
    deadline: Deadline,
    cap: int,
    inspect: Inspect | None,
) -> Reply:
    """Send one request and read the answer.

    Args:
        connections: Where it is sent.
        cassette: Records the exchange, or answers in place of the network.
        asked: The request.
        deadline: When the answer must be here; nothing is sent after it.
        cap: The most bytes of the body, on the wire and decoded.
        inspect: Is shown the beginning.

    Raises:
        TimeoutError: the deadline passed. ExchangeFailed, Vetoed, BlockedAddress, Closed.
    """
    heard = Heard()
    if cassette is None:
        async with _within(deadline):
            return await _ask(connections, asked, cap, inspect, heard)
    if cassette.replaying:
        async with _within(deadline):
            return await _replayed(connections, asked, cassette, cap, inspect)
    started = time.perf_counter()
    try:
        async with _within(deadline):
            reply = await _ask(connections, asked, cap, inspect, heard)
    except BaseException as error:
        failure = as_failure(error, began=bool(heard.status))
        if failure is not None and not connections.closed:
            _record(cassette, asked, heard, failure, started)
        raise
    _record(cassette, asked, heard, None, started)
    return reply


async def _replayed(
    connections: Connections, asked: Asked, cassette: Cassette, cap: int, inspect: Inspect | None
) -> Reply:
    """Answer one request from the cassette; nothing is looked up and nothing connected to."""
    from multidict import CIMultiDict

    if connections.closed:
        raise connections.gone()
    await asyncio.sleep(0)  # so that others get their turn, as with a network
    try:
        found = cassette.find("http", asked.as_json())
    except CallFailed as error:
        raise ExchangeFailed("cassette", error.failure.detail) from error
    if (answer := found.answer) is not None:
        head = Head(str(asked.url), answer.status, CIMultiDict(answer.headers))
        if found.failure is None and asked.leads_on(head.status, head.headers):
            return Reply(head.url, head.status, head.headers)
        start = b""
        if found.failure is None or found.failure.kind == UNREAD or len(answer.body) >= SNIFF:
            start, cap = show(inspect, head, bytearray(answer.body), cap)
        if not asked.cut:
            refuse_more_than(cap, len(answer.body))
        if found.failure is None:
            return Reply(head.url, head.status, head.headers, start, answer.body[:cap])
    raise as_error(found.failure)


async def _ask(connections: Connections, asked: Asked, cap: int, inspect: Inspect | None, heard: Heard) -> Reply:
    async with await connections.send(asked) as response:
        heard.status, heard.headers = response.status, response.headers
        if asked.leads_on(response.status, response.headers):  # left unread: the body may be endless or undecodable
            return Reply(str(response.url), response.status, response.headers)
        return await read_body(connections, response, cap, inspect, heard.body, cut=asked.cut)


def _within(deadline: Deadline) -> asyncio.Timeout:
    """Return a block that raises TimeoutError when the deadline passes; when it already has, before anything is sent.

    Raises:
        TimeoutError: it has passed.
    """
    if deadline.passed:
        raise TimeoutError
    return deadline.timeout()


def _record(cassette: Cassette, asked: Asked, heard: Heard, failure: Failure | None, started: float) -> None:
    body = bytes(heard.body if failure is None else heard.body[:SNIFF])  # of a part only the start is looked at
    answer = Answer(heard.status, heard.headers, body) if heard.status else None
    took = round((time.perf_counter() - started) * 1_000)
    cassette.add("http", asked.as_json(), response=answer, failure=failure, ms=took)
