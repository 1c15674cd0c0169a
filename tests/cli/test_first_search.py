"""What the first search of a process loads: only what it needs. `benchmarks/first_search.py` has the CPU time."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

Terminal = Any  # see conftest.py

LIBRARY = "import groundwire\nassert groundwire.search('QUERY')"
COMMAND = "from groundwire.cli import main\nsys.argv = ['groundwire', 'search', 'QUERY']\nmain()"
UNUSED = (
    "difflib",
    "filelock",
    "groundwire.cassette",
    "groundwire.models.pages",
    "importlib.metadata",
    "pydantic.plugin._loader",
    "tomllib",
)
PROGRAM = """
import asyncio, atexit, json, os, sys
import aiohttp, pydantic
before = set(sys.modules)
sys.modules["keyring"] = None  # its back ends are what this machine has
def tell():
    kinds = [pydantic.BaseModel]
    for kind in kinds:
        kinds += kind.__subclasses__()
    built = [kind.__name__ for kind in kinds if kind.__pydantic_complete__ and kind.__module__.startswith("groundwire")]
    print(json.dumps({"modules": sorted(set(sys.modules) - before), "built": built}), file=sys.stderr, flush=True)
atexit.register(tell)
end_at_once = os._exit
os._exit = lambda code: (tell(), end_at_once(code))  # as the command does if a thread has not ended yet
"""


def loads(terminal: Terminal, code: str) -> dict[str, list[str]]:
    """Return the modules that a process loads beyond aiohttp and pydantic, and the models whose schema it builds."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + code],
        env=terminal.environment,
        cwd=terminal.home,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    told: dict[str, list[str]] = json.loads(done.stderr.splitlines()[-1])
    return told


@pytest.mark.parametrize(("code", "most"), [(LIBRARY, 95), (COMMAND, 101)], ids=["library", "command"])
def test_a_first_search_loads_what_it_needs(terminal: Terminal, code: str, most: int) -> None:
    for query in ("reciprocal rank fusion", "rank fusion"):  # the first process makes the databases
        told = loads(terminal, code.replace("QUERY", query))
    assert told["built"] == []  # a schema; for the first one, pydantic looks for plugins in every installed package
    ours = [name for name in told["modules"] if name.startswith("groundwire")]
    assert len(ours) <= most, ours
    assert len(told["modules"]) - len(ours) <= 77, sorted(set(told["modules"]) - set(ours))
    assert set(told["modules"]).isdisjoint(UNUSED)
