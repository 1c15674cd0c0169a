"""The pins of the development environment."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PINS = Path(__file__).resolve().parents[2] / "requirements" / "dev.txt"


def test_pins_name_the_extras_that_packages_require() -> None:
    """If only `google-auth` is pinned, pip takes the newest `google-auth[requests]`, and refuses it without a hash."""
    lines = re.findall(r"^(\S+==\S+)", PINS.read_text("utf-8"), re.MULTILINE)
    pinned = {canonicalize_name(one.name): one.extras for one in map(Requirement, lines)}
    missing = set[str]()
    for name, extras in pinned.items():
        for wanted in _needs(name, extras):
            if wanted.extras - pinned.get(canonicalize_name(wanted.name), set()):
                missing.add(f"{name} requires {wanted.name}[{','.join(sorted(wanted.extras))}]")
    assert not missing


def _needs(name: str, extras: set[str]) -> list[Requirement]:
    """Return what an installed package requires with these extras; nothing of one for other platforms."""
    try:
        every = [Requirement(one) for one in requires(name) or ()]
    except PackageNotFoundError:
        return []
    return [one for one in every if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in {"", *extras})]
