"""A client of the official SDK, whichever major version its interpreter has: makes the calls it is given, prints JSON.

Run as `PYTHON mcp_client.py TARGET CALLS`, where TARGET is the JSON of a URL or of a command, and CALLS a JSON list of
[method, arguments] pairs. It works with mcp 1.x and 2.x and imports nothing of ours.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def connect(stack: AsyncExitStack, target: Any, headers: dict[str, str]) -> Any:
    if not isinstance(target, str):
        parameters = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
        return await stack.enter_async_context(stdio_client(parameters))
    room: Any = import_module("mcp.client.streamable_http")
    if not hasattr(room, "streamable_http_client"):
        return (await stack.enter_async_context(room.streamablehttp_client(target, headers=headers)))[:2]
    library: Any = import_module("httpx2" if find_spec("httpx2") else "httpx")
    client = await stack.enter_async_context(library.AsyncClient(headers=headers, timeout=100))
    return (await stack.enter_async_context(room.streamable_http_client(target, http_client=client)))[:2]


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True) if hasattr(value, "model_dump") else value


async def main() -> None:
    target, calls = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    headers = json.loads(os.environ.get("CLIENT_HEADERS", "{}"))
    told: list[Any] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append([done, total, message])

    async with AsyncExitStack() as stack:
        streams = await connect(stack, target, headers)
        session = await stack.enter_async_context(ClientSession(*streams))
        answers = [plain(await session.initialize())]
        for method, arguments in calls:
            more = {"progress_callback": progress} if method == "call_tool" else {}
            try:
                answers.append(plain(await getattr(session, method)(**arguments, **more)))
            except Exception as error:  # noqa: BLE001  # whatever it is, it is printed
                answers.append({"raised": str(error)})
        print(json.dumps({"answers": answers, "progress": told}))


if __name__ == "__main__":
    asyncio.run(main())
