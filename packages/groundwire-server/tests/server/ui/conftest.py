"""The web page, served on loopback over the miniature web."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser
from starlette.applications import Starlette

from components.browsing import launched_browser, tabs
from groundwire import Settings, Web
from groundwire_server.ui import ui_routes
from groundwire_server.uvicorn_runner import serving

Serve = Callable[..., Any]
Browsing = Callable[[str], AbstractAsyncContextManager[Callable[..., Any]]]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """The event loop of the tests' browser, which lasts as long as that."""
    return "asyncio"


@pytest.fixture(scope="module")
async def browser(anyio_backend: str) -> AsyncIterator[Browser]:
    """A browser for all tests of a module: to start one takes more than most of them do with it."""
    async with launched_browser() as browser:
        yield browser


@pytest.fixture
def browsing(browser: Browser) -> Browsing:
    """Return the function `tabs` for the browser."""
    return partial(tabs, browser)


@pytest.fixture
async def serve(settings: Callable[..., Settings], tmp_path: Path) -> AsyncIterator[Serve]:
    """Serve the page with archive and cache, and give its `Web` and address. Sections of settings may be given."""
    async with AsyncExitStack() as stack:

        async def make(*, call_listeners: Any = (), **sections: Any) -> Any:
            kept = {"archive": {"enabled": True, "path": str(tmp_path / "archive.db")}, "cache": {"enabled": True}}
            web = await stack.enter_async_context(Web(settings(**{**kept, **sections}), call_listeners=call_listeners))
            return web, await stack.enter_async_context(serving(Starlette(routes=ui_routes(web))))

        yield make
