"""`groundwire new-provider`."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from groundwire.cli.help_pages import Command
from groundwire.cli.terminal_text import write
from groundwire.errors import InvalidRequest
from groundwire.providers.registry import provider_names

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST = 40  # characters
_FILES = ("pyproject.toml", "groundwire_NAME.py", "emulator_NAME.py", "test_NAME.py")


@click.command("new-provider", cls=Command)
@click.argument("name")
def new_provider(name: str) -> None:
    """Write the folder groundwire-NAME: a search provider, an emulator of its service, and a test that passes.

    Then change the fields in the emulator and the provider to those of the service. Nothing is overwritten.
    """
    _check(name)
    folder = Path(f"groundwire-{name.replace('_', '-')}")
    try:
        folder.mkdir()
    except FileExistsError:
        raise InvalidRequest(
            "name", f"the folder {folder} already exists", "Move it, or choose another name."
        ) from None
    words = {"name": name, "Name": name.title().replace("_", ""), "folder": folder.name, "NAME": name.upper()}
    for file in _FILES:
        template = files("groundwire.testing").joinpath("new_provider", f"{file}.txt").read_text(encoding="utf-8")
        (folder / file.replace("NAME", name)).write_text(Template(template).substitute(words), encoding="utf-8")
    write(f"Wrote {folder}/{{{','.join(file.replace('NAME', name) for file in _FILES)}}}.")
    write(f'Test it: cd {folder} && python -m pytest. Use it: pip install -e . and search.providers = ["{name}"].')


def _check(name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST or keyword.iskeyword(name):
        fix = (
            f"Use lower-case letters, digits, and single underscores, such as my_index; at most {_LONGEST} characters."
        )
        raise InvalidRequest("name", f"{name[:_LONGEST]!r} is not a valid provider name", fix)
    if name in provider_names() or find_spec(f"groundwire_{name}") is not None:
        raise InvalidRequest("name", f"{name!r} is taken by an installed package", "Choose another name.")
