"""The public face: exact, documented, and cheap to import."""

from __future__ import annotations

import inspect
import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import groundwire
from groundwire import errors

HEAVY = ("aiohttp", "pydantic", "ddgs", "lxml", "turbohtml", "rich", "click", "asyncio")


def modules() -> list[ModuleType]:
    names = [info.name for info in pkgutil.walk_packages(groundwire.__path__, "groundwire.")]
    return [groundwire, *filter(None, (imported(name) for name in names if not name.endswith("__main__")))]


def imported(name: str) -> ModuleType | None:
    """Import a module; None for one of a framework that is not here, which must say what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        if name.startswith("groundwire.integrations.") and 'is not installed: pip install "groundwire[' in str(error):
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
    for module in modules():
        assert module.__doc__, module.__name__
        offered = getattr(module, "__all__", [])
        assert sorted(offered) == sorted(set(offered)), module.__name__
        for name in offered:
            assert hasattr(module, name), f"{module.__name__}.{name}"


def test_every_public_thing_has_a_docstring() -> None:
    bare = [
        f"{module.__name__}.{name}"
        for module in modules()
        for name in getattr(module, "__all__", [])
        if inspect.isclass(value := getattr(module, name)) or inspect.isfunction(value)
        if not inspect.getdoc(value)
    ]
    assert bare == []


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    drawn = [line.lstrip("│├└─ ").split()[0] for line in (errors.__doc__ or "").splitlines() if "── " in line]
    assert sorted([*drawn, "GroundwireError"]) == errors.__all__
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.GroundwireError)


def test_importing_the_package_is_cheap() -> None:
    code = (
        "import sys, json; import asyncio; before = set(sys.modules); import groundwire;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout)
    heavy = [name for name in loaded if name.split(".")[0] in HEAVY]
    assert heavy == []
    assert len(loaded) < 10, loaded


def test_a_search_loads_no_parsers() -> None:
    code = (
        "import sys; from groundwire import Settings, Web;"
        "Web(Settings(storage={'url': 'memory://'}, archive={'enabled': False}, search={'providers': ('wikipedia',)}));"
        "print([name for name in ('lxml', 'turbohtml', 'groundwire.reading.convert') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
