"""Providers for tests, made over the services of the miniature web."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest

from components.services import Makes, api_class
from groundwire.testing.server import EmulatedServer
from world import World


@pytest.fixture
async def makes(world: World) -> AsyncIterator[Makes]:
    """Makes providers that talk to the world's services."""
    made = Makes(world)
    yield made
    await made.aclose()


@pytest.fixture
def own_name(request: pytest.FixtureRequest) -> str:
    """The name of the provider that the test's file is about: `exa` in `test_exa.py`."""
    return str(request.module.__name__).rpartition("test_")[2]


@pytest.fixture
def service(world: World, own_name: str) -> EmulatedServer:
    """The world's service that the test's file is about."""
    return world.service(own_name)


@pytest.fixture
def make(makes: Makes, own_name: str) -> Callable[..., Any]:
    """Make providers that talk to it; called with keys and the provider's own settings, see `Makes`."""
    return partial(makes, api_class(own_name))
