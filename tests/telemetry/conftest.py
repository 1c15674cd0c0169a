"""Calls that have ended, for those who watch them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from groundwire.models import Attempt
from groundwire.storage import MemoryStore, Store, open_store
from groundwire.telemetry import PageDone, SearchDone


@pytest.fixture
def attempt() -> Callable[..., Attempt]:
    """Make an attempt that went well, but for what is given."""

    def make(provider: str = "brave", outcome: str = "ok", **facts: Any) -> Attempt:
        return Attempt.model_validate({"provider": provider, "outcome": outcome, "latency_ms": 200} | facts)

    return make


@pytest.fixture
def searched(attempt: Callable[..., Attempt]) -> Callable[..., SearchDone]:
    """Make a search that brave answered, but for what is given."""

    def make(**facts: Any) -> SearchDone:
        base: dict[str, Any] = {
            "session": "s-1",
            "query_length": 22,
            "provider": "brave",
            "attempts": (attempt(),),
            "results": 5,
            "seconds": 0.25,
            "cached": False,
            "stale": False,
            "error": None,
            "cost_usd": 0.0,
            "session_count": 3,
            "session_limit": 20,
            "strategy": "fallback",
        }
        return SearchDone(**base | facts)

    return make


@pytest.fixture
def opened(attempt: Callable[..., Attempt]) -> Callable[..., PageDone]:
    """Make a page that the local reader read, but for what is given."""

    def make(**facts: Any) -> PageDone:
        base: dict[str, Any] = {
            "session": "s-1",
            "host": "docs.example",
            "reader": "local",
            "attempts": (attempt("local"),),
            "characters": 1_200,
            "seconds": 0.4,
            "cached": False,
            "stale": False,
            "error": None,
            "cost_usd": 0.0,
        }
        return PageDone(**base | facts)

    return make


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Each store that needs nothing around it."""
    made = MemoryStore() if request.param == "memory" else open_store(f"sqlite:///{tmp_path / 'store.sqlite3'}")
    yield made
    await made.aclose()
