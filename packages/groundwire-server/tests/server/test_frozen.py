"""A server keeps what it has made for its start out of later garbage collections."""

from __future__ import annotations

import asyncio
import gc

import aiohttp
from starlette.types import Receive, Scope, Send

from groundwire_server.api.context import Traffic
from groundwire_server.uvicorn_runner import listen, run


async def _frozen(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(gc.get_freeze_count()).encode()})


async def test_what_a_server_has_made_for_its_start_is_not_looked_at_again_while_it_runs() -> None:
    gc.unfreeze()  # what pytest has collected
    begun = asyncio.Event()
    with listen("127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        serving = asyncio.create_task(
            run(_frozen, listener, begun.set, calls=Traffic(), grace=1.0, say=lambda text: None)
        )
        await begun.wait()
        async with aiohttp.ClientSession() as client, client.get(url) as reply:
            assert int(await reply.text()) > 10_000
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    assert gc.get_freeze_count() == 0
