"""What a request to the gateway does beside its search: counts of work that grew unseen before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from starlette.responses import Response
from starlette.types import Message

from groundwire_server.api import endpoint
from groundwire_server.client_disconnect import answer_whole
from groundwire_server.request_json import JSON_HEADERS

pytestmark = pytest.mark.req("B23")

SCOPE: dict[str, Any] = {"type": "http", "method": "POST", "path": "/v1/search"}


async def test_an_endpoint_that_fails_is_answered_with_the_reason_in_the_log(
    gateway: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    served = await gateway()

    async def fail(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(endpoint.Endpoint, "_answer", fail)
    async with (await served.client()).post("/v1/search", data=b"{}", headers=JSON_HEADERS) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (500, "internal")


class Client:
    """A client that can leave, and what it was sent."""

    def __init__(self) -> None:
        self.leaves = asyncio.Event()
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)


async def test_a_response_takes_one_task_beside_its_own() -> None:
    """Each further one takes turns of the event loop, which under load are long."""
    client, made, loop = Client(), list[object](), asyncio.get_running_loop()

    def factory(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> Any:
        made.append(work)
        return asyncio.Task(work, loop=loop, **options)

    async def work() -> Response:
        await asyncio.sleep(0)
        return Response("done")

    loop.set_task_factory(factory)
    try:
        await answer_whole(work(), SCOPE, client.receive, client.send)
    finally:
        loop.set_task_factory(None)
    assert len(made) == 1
    assert client.sent[-1]["body"] == b"done"


async def test_work_ends_when_its_client_leaves() -> None:
    client, begun, ended = Client(), asyncio.Event(), asyncio.Event()

    async def work() -> Response:
        begun.set()
        try:
            await asyncio.Event().wait()
            return Response()
        finally:
            ended.set()

    answering = asyncio.create_task(answer_whole(work(), SCOPE, client.receive, client.send))
    await begun.wait()
    client.leaves.set()
    await answering  # its own task was not canceled
    assert ended.is_set()
    assert not client.sent


async def test_a_cancellation_from_elsewhere_is_none_of_the_client() -> None:
    client, begun = Client(), asyncio.Event()

    async def work() -> Response:
        begun.set()
        await asyncio.Event().wait()
        return Response()

    answering = asyncio.create_task(answer_whole(work(), SCOPE, client.receive, client.send))
    await begun.wait()
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering


async def test_a_timeout_of_the_work_stays_an_error() -> None:
    client = Client()

    async def work() -> Response:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await answer_whole(work(), SCOPE, client.receive, client.send)


async def test_what_work_raises_as_it_ends_for_a_client_that_has_gone_is_dropped() -> None:
    client, begun = Client(), asyncio.Event()

    async def work() -> Response:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("The cleanup failed.")
        raise AssertionError

    answering = asyncio.create_task(answer_whole(work(), SCOPE, client.receive, client.send))
    await begun.wait()
    client.leaves.set()
    await answering
    assert client.sent == []
