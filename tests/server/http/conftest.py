"""A gateway on loopback over the miniature web, and a client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from groundwire import Settings
from groundwire.server.http import Gateway, build_gateway
from groundwire.server.serving import serving

Serve = Callable[..., Any]


@pytest.fixture
async def serve(settings: Callable[..., Settings]) -> AsyncIterator[Serve]:
    """Serve a gateway, and give a client of it."""
    async with AsyncExitStack() as stack:

        async def make(**options: Any) -> tuple[Gateway, aiohttp.ClientSession]:
            sections = {name: options.pop(name) for name in list(options) if name in Settings.model_fields}
            gateway = await stack.enter_async_context(build_gateway(settings(**sections), **options))
            url = await stack.enter_async_context(serving(gateway))
            client = await stack.enter_async_context(aiohttp.ClientSession(url))
            return gateway, client

        yield make
