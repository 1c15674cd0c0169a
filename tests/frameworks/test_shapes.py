"""Tools in each framework's own shape, used by the framework; no connection is left open."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.version import Version

from frameworks.frameworks import ALSO, MODULES, Framework, with_framework
from groundwire.integrations.framework_versions import framework_of
from world import World

HERE = Path(__file__).parent

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]


EXTRAS = tuple(MODULES)
IN_THE_GATE = "smolagents"
"""The framework whose oldest version every run tests; the others' are slow."""

CHAIN = ("duckduckgo_lite", "brave", "tavily")
"""The providers of which Strands has a tool each."""


@pytest.mark.parametrize("extra", [pytest.param(extra, marks=pytest.mark.xdist_group(extra)) for extra in EXTRAS])
def test_what_is_tested_is_newer_than_the_oldest_version(extra: str, python_with: Callable[..., Path]) -> None:
    packages = python_with(extra, ALSO.get(extra, ())).parents[1].glob("lib/*/site-packages")
    (installed,) = distributions(name=framework_of(extra).distribution, path=[*map(str, packages)])
    assert Version(installed.version) > Version(framework_of(extra).lowest)


@with_framework(*EXTRAS)
def test_the_framework_uses_it(framework: Framework, world: World, tmp_path: Path) -> None:
    use(framework.extra, framework.python, world, tmp_path)


@pytest.mark.req("B31")
@pytest.mark.parametrize(
    "extra", [pytest.param(extra, marks=[pytest.mark.slow] if extra != IN_THE_GATE else []) for extra in EXTRAS]
)
def test_the_oldest_version_that_an_extra_allows_does_it_too(
    extra: str, world: World, python_with: Callable[..., Path], tmp_path: Path
) -> None:
    use(extra, python_with(extra, ALSO.get(extra, ()), oldest=True), world, tmp_path)


def use(extra: str, python: Path, world: World, folder: Path) -> None:
    """Run the framework's part of `shapes.py`."""
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "HAYSTACK_TELEMETRY_ENABLED": "false",
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
        "GROUNDWIRE_STORAGE_URL": "memory://",
        **{f"GROUNDWIRE_PROVIDERS_{one.upper()}_BASE_URL": world.service(one).url for one in CHAIN},
        "BRAVE_API_KEY": "test-key",
        "TAVILY_API_KEY": "test-key",
        "SHAPES_PAGE": world.site("articles").page("reciprocal-rank-fusion"),
    }
    done = subprocess.run(
        [str(python), str(HERE / "shapes.py"), extra],
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert (done.returncode, done.stdout) == (0, "it works\n"), done.stderr[-3_000:]
    assert "Unclosed" not in done.stderr
