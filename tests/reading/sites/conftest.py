"""A `Web` with default settings to which the public names of well-known sites lead to the miniature web."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from components.authority import Authority
from components.public_web import PublicWeb
from groundwire import Web
from groundwire.settings import Settings
from world import World


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A certificate authority that this process trusts from now on, as with SSL_CERT_FILE."""
    made = Authority(tmp_path_factory.mktemp("authority"))
    aiohttp.connector._SSL_CONTEXT_VERIFIED.load_verify_locations(made.ca_file)
    return made


@pytest.fixture
async def public(world: World, authority: Authority) -> AsyncIterator[PublicWeb]:
    """The way to the sites."""
    made = PublicWeb(world, authority)
    await made.start()
    yield made
    await made.aclose()


@pytest.fixture
async def web(public: PublicWeb, settings: Callable[..., Settings]) -> AsyncIterator[Callable[..., Web]]:
    """Make a `Web`, with settings by section and the arguments of `Web`; it is closed at the end."""
    async with AsyncExitStack() as stack:

        async def close(one: Web) -> None:
            await one.aclose()

        def make(sections: dict[str, dict[str, Any]] | None = None, **arguments: Any) -> Web:
            given = {"network": {"proxy": public.url}} | (sections or {})
            made = Web(settings(**given), **arguments)
            stack.push_async_callback(close, made)
            return made

        yield make
