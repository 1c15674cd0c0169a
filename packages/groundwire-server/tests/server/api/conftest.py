"""A gateway on loopback over the miniature web, and clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp
import pytest

from groundwire import Settings
from groundwire_server.api import Gateway, build_gateway
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import KeyLimits, make_key
from groundwire_server.uvicorn_runner import serving


class Served:
    """One gateway, with clients that have a key or none."""

    def __init__(self, gateway: Gateway, url: str, keys: Mapping[str, str], stack: AsyncExitStack) -> None:
        self.gateway = gateway
        self.url = url
        self.keys = dict(keys)
        self._stack = stack

    async def client(self, key: str = "") -> aiohttp.ClientSession:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return await self._stack.enter_async_context(
            aiohttp.ClientSession(self.url, headers=headers, cookie_jar=aiohttp.CookieJar(unsafe=True))
        )

    async def holder(self, name: str) -> aiohttp.ClientSession:
        """Return a client with one of the keys."""
        return await self.client(self.keys[name])


@pytest.fixture
async def gateway(settings: Callable[..., Settings], tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """Serve a gateway; sections of settings are given by name, the rest goes to `build`.

    `holders` are the holders of keys, and what each key may; the one called operator is one.
    """
    async with AsyncExitStack() as stack:

        async def make(
            *,
            holders: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
            build: Callable[..., Gateway] = build_gateway,
            **options: Any,
        ) -> Served:
            given = {name: value for name, value in options.items() if isinstance(value, Mapping)}  # `mcp` is both
            sections = {name: options.pop(name) for name in given if name in Settings.model_fields}
            file = tmp_path / "keys.json"
            sections["server"] = {"key_file": str(file)} | dict(sections.get("server", {}))
            # A process for each first page takes longer than all else that a test does.
            sections["read"] = {"isolation": "heavy"} | dict(sections.get("read", {}))
            keys = {}
            for name, limits in holders.items():
                keys[name], record = make_key(
                    name, datetime.now(UTC), operator=name == "operator", limits=KeyLimits(**limits)
                )
                KeyFile(file).add(record)
            made = await stack.enter_async_context(build(settings(**sections), **options))
            url = await stack.enter_async_context(serving(made))
            return Served(made, url, keys, stack)

        yield make
