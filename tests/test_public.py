"""The public face: exact, documented, and cheap to import."""

from __future__ import annotations

import inspect
import json
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import groundwire
from groundwire import errors
from groundwire.models import Attempt

HEAVY = ("aiohttp", "pydantic", "ddgs", "lxml", "turbohtml", "rich", "click", "asyncio")


def modules(package: ModuleType) -> list[ModuleType]:
    names = [info.name for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [package, *filter(None, (imported(name) for name in names if not name.endswith("__main__")))]


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module offers: those it lists, else those of its own that begin with no underscore."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")]


def imported(name: str) -> ModuleType | None:
    """Import a module; None for one of a framework that is not here, which must say what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        if name.startswith("groundwire.integrations.") and "is not installed: " in str(error):
            return None
        raise


def test_the_public_names_are_there_and_sorted() -> None:
    assert groundwire.__all__ == sorted(groundwire.__all__)
    for name in groundwire.__all__:
        assert getattr(groundwire, name) is not None
    assert sorted(groundwire.__all__) == dir(groundwire)
    with pytest.raises(AttributeError, match="has no attribute 'serch'"):
        _ = groundwire.serch


def test_every_module_says_what_it_offers_and_offers_it() -> None:
    check_modules(groundwire)


def check_modules(package: ModuleType) -> None:
    for module in modules(package):
        assert module.__doc__, module.__name__
        offered = public_names(module)
        assert sorted(offered) == sorted(set(offered)), module.__name__
        for name in offered:
            assert hasattr(module, name), f"{module.__name__}.{name}"


def test_every_public_thing_has_a_docstring() -> None:
    assert without_docstring(groundwire) == []


def without_docstring(package: ModuleType) -> list[str]:
    return [
        f"{module.__name__}.{name}"
        for module in modules(package)
        for name in public_names(module)
        if inspect.isclass(value := getattr(module, name)) or inspect.isfunction(value)
        if not inspect.getdoc(value)
    ]


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidRequest("limit", "is 0", "Pass more."),
        errors.AllProvidersFailed([Attempt(provider="brave", outcome="quota", retry_after=3.0)]),
        errors.DeadlineExceeded("late", attempts=[Attempt(provider="local", outcome="timeout")]),
        errors.PageNotFound("https://a.example/", "There is no such page.", status=404),
        errors.UnknownProvider("serxng", ["searxng"]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_reach_another_process(error: errors.GroundwireError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.summary, vars(again)) == (
        type(error),
        str(error),
        error.summary,
        vars(error),
    )


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    drawn = [line.lstrip("│├└─ ").split()[0] for line in (errors.__doc__ or "").splitlines() if "── " in line]
    assert sorted([*drawn, "GroundwireError"]) == errors.__all__
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.GroundwireError)


def loaded(code: str) -> set[str]:
    """Return the modules that a program loads beyond those of `import asyncio`."""
    program = (
        f"import sys, json, asyncio; before = set(sys.modules)\n{code}\nprint(json.dumps([*set(sys.modules) - before]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_package_is_cheap() -> None:
    names = loaded("import groundwire")
    assert [name for name in names if name.split(".")[0] in HEAVY] == []
    assert len(names) < 10, names


def test_importing_the_class_is_cheap() -> None:
    names = loaded("from groundwire import Web, GroundwireError, SyncWeb")
    models = "pydantic"  # of the types in the signatures, which frameworks read
    assert [name for name in names if name.split(".")[0] in HEAVY if name.split(".")[0] != models] == []
    ours = {name for name in names if name.startswith("groundwire")}
    assert len(ours) < 20, ours


def test_the_types_of_the_methods_can_be_read() -> None:
    """Frameworks make tools of functions by their type hints, of an instance or of the class."""
    names = "search", "open_page", "open_pages"
    code = f"""
from typing import get_type_hints
from groundwire import Page, SearchResponse, Web
hints = [get_type_hints(getattr(Web, name))["return"] for name in {names}]
assert hints == [SearchResponse, Page, tuple[Page, ...]], hints
"""
    subprocess.run([sys.executable, "-c", code], check=True)


SEARCH = """
import os
from groundwire.cli import main
def seen(event, args):
    if event in ("socket.getaddrinfo", "socket.connect"):  # the first request is about to be sent
        print(json.dumps([*set(sys.modules) - before]), flush=True)
        os._exit(0)
sys.addaudithook(seen)
sys.modules["keyring"] = None  # its back ends are what this machine has
sys.argv = ["groundwire", "search", "-p", "wikipedia", "reciprocal rank fusion"]
main()
"""
UNUSED = (
    "groundwire.reading.", "groundwire_server", "groundwire.tools", "groundwire.hosted", "groundwire.citations",
    "groundwire.doctor", "groundwire.setup", "groundwire.testing", "groundwire.routing.politeness",
    "groundwire.web.open_page", "groundwire.storage.archive.sqlite", "groundwire.telemetry.scorecard",
    "pydantic_settings", "lxml", "turbohtml", "protego", "mcp", "rich", "uvicorn", "starlette", "ddgs", "redis",
)  # fmt: skip


def test_a_command_line_search_loads_what_a_search_needs() -> None:
    names = loaded(SEARCH)
    assert "aiohttp" in names  # it came as far as that
    heavy = {name for name in names if name.startswith(UNUSED)} - {"groundwire.reading.workers"}
    assert heavy <= {"groundwire.reading.workers.pool", "groundwire.reading.workers"}
    ours = {name for name in names if name.startswith("groundwire")}
    assert len(ours) <= 100, sorted(ours)
    assert len(names) < 380, sorted(names - ours)


def test_a_search_loads_no_parsers() -> None:
    code = (
        "import sys; from groundwire import Settings, Web;"
        "Web(Settings(storage={'url': 'memory://'}, archive={'enabled': False}, search={'providers': ('wikipedia',)}));"
        "print([name for name in ('lxml', 'turbohtml', 'groundwire.reading.convert') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
