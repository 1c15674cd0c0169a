"""The web page, served on loopback over the miniature web."""

from __future__ import annotations

import random
import time
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
from groundwire.models import Attempt
from groundwire.storage import Store
from groundwire.telemetry import PageDone, Scores, SearchDone
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
    """Serve the page, and give its `Web` and its address. Sections of settings may be given; the archive is on."""
    async with AsyncExitStack() as stack:

        async def make(*, call_listeners: Any = (), **sections: Any) -> Any:
            archive = {"enabled": True, "path": str(tmp_path / "archive.db")}
            web = await stack.enter_async_context(
                Web(settings(**{"archive": archive, **sections}), call_listeners=call_listeners)
            )
            return web, await stack.enter_async_context(serving(Starlette(routes=ui_routes(web))))

        yield make


async def seed(store: Store, days: int = 7) -> None:
    """Count some days of calls: brave, which costs and fails now and then, searxng behind it, and the local reader."""
    chance = random.Random(7)
    for back in range(days - 1, -1, -1):
        moment = time.time() - back * 86_400
        scores = Scores(store, clock=lambda moment=moment: moment)  # type: ignore[misc]
        for _ in range(chance.randint(5, 12)):
            scores.search_done(_search(chance))
            scores.page_done(_page(chance))
        await scores.aclose()


def _search(chance: random.Random) -> SearchDone:
    good = chance.random() < 0.9
    attempts = [
        Attempt(
            provider="brave",
            outcome="ok" if good else "rate_limited",
            latency_ms=round(chance.gauss(420, 90)),
            cost_usd=0.005 if good else 0.0,
            status=200 if good else 429,
        )
    ]
    if not good:
        attempts.append(Attempt(provider="searxng", outcome="ok", latency_ms=round(chance.gauss(900, 200))))
    return SearchDone(
        session="s",
        query_length=20,
        provider=attempts[-1].provider,
        attempts=tuple(attempts),
        results=5,
        seconds=sum(one.latency_ms for one in attempts) / 1_000,
        cached=False,
        stale=False,
        error=None,
        cost_usd=0.005 if good else 0.0,
        session_count=1,
        session_limit=20,
        strategy="fallback",
    )


def _page(chance: random.Random) -> PageDone:
    attempt = Attempt(provider="local", outcome="ok", latency_ms=round(chance.gauss(700, 200)))
    return PageDone(
        session="s",
        host="a.test",
        reader="local",
        attempts=(attempt,),
        characters=1_000,
        seconds=attempt.latency_ms / 1_000,
        cached=False,
        stale=False,
        error=None,
        cost_usd=0.0,
    )
