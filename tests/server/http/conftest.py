"""A gateway on loopback over the miniature web, and clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from groundwire import Settings
from groundwire.server.access import KeyFile
from groundwire.server.access.keys import KeyLimits, make_key
from groundwire.server.http import Gateway, build_gateway
from groundwire.server.serving import serving


class Served:
    """One gateway, with clients that send a key or none."""

    def __init__(self, gateway: Gateway, url: str, keys: KeyFile, stack: AsyncExitStack) -> None:
        self.gateway = gateway
        self.url = url
        self._keys = keys
        self._stack = stack

    async def client(self, key: str = "") -> aiohttp.ClientSession:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return await self._stack.enter_async_context(aiohttp.ClientSession(self.url, headers=headers))

    async def holder(self, name: str, *, operator: bool = False, **limits: Any) -> aiohttp.ClientSession:
        """Return a client that has a new key."""
        return await self.client(self.key(name, operator=operator, **limits))

    def key(self, name: str, *, operator: bool = False, **limits: Any) -> str:
        """Return a new key."""
        key, record = make_key(name, datetime.now(UTC), operator=operator, limits=KeyLimits(**limits))
        self._keys.add(record)
        return key


@pytest.fixture
async def gateway(settings: Callable[..., Settings], tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """Serve a gateway; sections of settings are given by name, the rest goes to `build_gateway`."""
    async with AsyncExitStack() as stack:

        async def make(**options: Any) -> Served:
            sections = {name: options.pop(name) for name in list(options) if name in Settings.model_fields}
            file = tmp_path / "keys.json"
            sections["server"] = {"key_file": str(file)} | dict(sections.get("server", {}))
            made = await stack.enter_async_context(build_gateway(settings(**sections), **options))
            url = await stack.enter_async_context(serving(made))
            return Served(made, url, KeyFile(file), stack)

        yield make
