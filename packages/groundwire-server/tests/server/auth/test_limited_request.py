"""Requests whose body is too large or too slow, and responses whose client may not have the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import pytest

from groundwire_server.auth.rate_limits import LimitedRequest
from world.virtual_time import run_virtually

Message = dict[str, Any]
START: Message = {"type": "http.response.start", "status": 200, "headers": [(b"x-app", b"1")]}


def body(data: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": data, "more_body": more}


def part(data: bytes, *, more: bool = False) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


App = Callable[[Any, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]


def passed(
    app: App,
    coming: list[Message],
    *,
    limit: int = 10,
    seconds: float = 5.0,
    pause: float = 0.0,
    allowed: Callable[[], bool] = lambda: True,
) -> list[Message]:
    """Run an application behind the limits; return what its client is sent."""
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(pause)
        return coming.pop(0) if coming else {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(dict(message))

    async def run() -> None:
        limited = LimitedRequest(receive, send, limit=limit, seconds=seconds, allowed=allowed)
        await limited.run(app, {"type": "http", "method": "POST", "path": "/", "headers": []})

    run_virtually(run())
    return sent


def reader(got: list[Message], answer: bool = True) -> App:
    async def app(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        while True:
            got.append(await receive())
            if got[-1]["type"] == "http.disconnect" or not got[-1]["more_body"]:
                break
        if answer:
            await send(START)
            await send(part(b"done"))

    return app


def status_of(sent: list[Message]) -> int:
    assert [message["type"] for message in sent[:1]] == ["http.response.start"]
    return int(sent[0]["status"])


def test_a_body_within_the_limit_passes_and_the_response_with_it() -> None:
    got: list[Message] = []
    sent = passed(reader(got), [body(b"12345", more=True), body(b"67890")])
    assert [message["body"] for message in got] == [b"12345", b"67890"]
    assert status_of(sent) == 200
    headers = dict(sent[0]["headers"])
    assert (headers[b"x-app"], headers[b"x-content-type-options"]) == (b"1", b"nosniff")
    assert sent[1] == part(b"done")


@pytest.mark.parametrize("coming", [[body(b"x" * 11)], [body(b"x" * 6, more=True), body(b"x" * 5)]])
def test_a_larger_one_is_refused_and_the_application_sees_that_the_client_has_gone(coming: list[Message]) -> None:
    got: list[Message] = []
    sent = passed(reader(got), coming)
    assert got[-1] == {"type": "http.disconnect"}
    assert status_of(sent) == 413
    assert all(message["type"].startswith("http.response") for message in sent)
    assert b"done" not in b"".join(message.get("body", b"") for message in sent)


def test_it_goes_on_seeing_that() -> None:
    got: list[Message] = []

    async def app(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        got.extend([await receive() for _ in range(3)])

    assert status_of(passed(app, [body(b"x" * 11), body(b"y")])) == 413
    assert got == [{"type": "http.disconnect"}] * 3


def test_an_application_that_fails_without_its_body_is_no_failure() -> None:
    async def app(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        await receive()
        raise ValueError("no body")

    assert status_of(passed(app, [body(b"x" * 11)])) == 413
    with pytest.raises(ValueError, match="no body"):
        passed(app, [body(b"x")])


def test_a_body_that_comes_too_slowly_is_refused() -> None:
    got: list[Message] = []
    assert status_of(passed(reader(got), [body(b"1", more=True), body(b"2")], seconds=5.0, pause=3.0)) == 408
    assert [message["type"] for message in got] == ["http.request", "http.disconnect"]
    got.clear()
    assert status_of(passed(reader(got), [body(b"1", more=True), body(b"2")], seconds=5.0, pause=2.4)) == 200
    coming = [body(b"1", more=True), body(b"2", more=True), body(b"3")]
    assert status_of(passed(reader(got), coming, seconds=5.0, pause=1.6)) == 200


def test_a_message_that_says_nothing_of_more_is_the_last() -> None:
    got: list[Message] = []

    async def app(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        got.append(await receive())
        got.append(await receive())
        await send(START)

    assert status_of(passed(app, [{"type": "http.request"}, body(b"x" * 99)])) == 200
    assert got[1] == body(b"x" * 99)  # the limit is that of the body


def test_waiting_for_the_client_after_its_body_has_no_limit() -> None:
    async def app(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        await receive()
        assert (await receive())["type"] == "http.disconnect"
        await send(START)
        await send(part(b"done"))

    assert status_of(passed(app, [body(b"1")], seconds=4.0, pause=3.0)) == 200


def test_a_response_that_has_begun_is_not_replaced() -> None:
    async def app(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        await send(START)
        assert (await receive())["type"] == "http.disconnect"
        await send(part(b"done"))

    sent = passed(app, [body(b"x" * 11)])
    assert status_of(sent) == 200
    assert sent[1:] == [part(b"done")]


def test_a_stream_ends_when_its_client_may_not_have_the_rest() -> None:
    left = [2]

    def allowed() -> bool:
        left[0] -= 1
        return left[0] >= 0

    async def app(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        await send(START)
        for _ in range(5):
            await send(part(b"data", more=True))

    sent = passed(app, [body(b"")], allowed=allowed)
    assert sent[1:] == [part(b"data", more=True)] * 2


def test_the_last_part_of_a_response_is_always_sent() -> None:
    async def app(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        await send(START)
        await send(part(b"whole"))

    assert passed(app, [body(b"")], allowed=lambda: False)[1:] == [part(b"whole")]
