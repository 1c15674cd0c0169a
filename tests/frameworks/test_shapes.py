"""Tools in each framework's own shape, saved and loaded by the framework; no connection is left open."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire.testing import World

from .test_examples import ALSO

HERE = Path(__file__).parent

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]


EXTRAS = (
    *("agent-framework", "agno", "autogen", "crewai", "dspy", "google-adk", "haystack", "langchain", "llamaindex"),
    *("openai-agents", "pydantic-ai", "smolagents", "strands"),
)


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_framework_saves_and_loads_it(
    extra: str, world: World, python_with: Callable[[str, tuple[str, ...]], Path], tmp_path: Path
) -> None:
    also = ALSO.get(extra, ())  # one environment with the examples
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HAYSTACK_TELEMETRY_ENABLED": "false",
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
        "GROUNDWIRE_STORAGE_URL": "memory://",
        "SHAPES_PAGE": world.site("articles").page("reciprocal-rank-fusion"),
    }
    python = python_with(extra, also)
    done = subprocess.run(
        [str(python), "-W", "default::ResourceWarning", str(HERE / "shapes.py"), extra],
        env=variables,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert (done.returncode, done.stdout) == (0, "saved and loaded\n"), done.stderr[-3_000:]
    assert "Unclosed" not in done.stderr
