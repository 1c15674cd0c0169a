"""The environment in which a host starts: its search services are those of the miniature web."""

from __future__ import annotations

from pathlib import Path

import pytest

from world import World


@pytest.fixture
def surroundings(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """Let every service that a host asks by name be one of the miniature web, as an operator would."""
    for name in ("duckduckgo_lite", "brave", "tavily", "perplexity", "jina"):
        monkeypatch.setenv(f"GROUNDWIRE_PROVIDERS_{name.upper()}_BASE_URL", world.service(name).url)
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", ",".join(world.origins))
    monkeypatch.setenv("GROUNDWIRE_STORAGE_URL", "memory://")
    monkeypatch.chdir(tmp_path)
    return world
