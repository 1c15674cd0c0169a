from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit

import pytest

Raw = Callable[..., Awaitable[bytes]]


@pytest.fixture
def raw() -> Raw:
    """A client that hides nothing: it returns every byte until the server closes, or the first `limit` of them."""

    async def exchange(
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        limit: int = 1 << 30,
    ) -> bytes:
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        fields = {"Host": parts.netloc, "Connection": "close", "Content-Length": str(len(body)), **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        reader, writer = await asyncio.open_connection("127.0.0.1", parts.port)
        try:
            writer.write(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body)
            received = b""
            while len(received) < limit and (part := await reader.read(65_536)):
                received += part
            return received[:limit]
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    return exchange
