"""Where a document's blocks run: a folder, a home, a miniature web, and what single documents need beside."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import random
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import groundwire
from components.markdown_blocks import Block
from components.processes import ReservedPort, Unavailable
from documentation.checking import compiled
from documentation.preparations import PREPARATIONS, Preparation
from documentation.shell import Shell, commands, matches
from world import World

_PRIVILEGED = 2_000  # ports below are other programs' own


@dataclass(slots=True)
class Stage:
    """One document on its way."""

    folder: Path
    world: World
    shell: Shell
    preparation: Preparation
    ports: Mapping[str, ReservedPort] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "document"})
    printed: str | None = None
    """What the block before printed, when it does not show that itself."""

    @property
    def page(self) -> str:
        """The address of a page of the miniature web."""
        return f"{self.world.site('articles').url}/wiki/reciprocal-rank-fusion"

    async def run(self, block: Block) -> None:
        """Run a block, and compare what it prints with what is shown.

        Raises:
            AssertionError: It fails, or prints something else.
        """
        if "file" in block.notes:
            compiled(block)
            (self.folder / block.notes["file"]).write_text(self._here(block.text))
        elif block.language == "python":
            self.printed = await self._python(block)
        elif block.language == "text":
            assert self.printed is not None, f"{block.where}: output of nothing that was run"
            shown = self._here(block.text)
            assert matches(shown, self.printed), f"{block.where} shows what is not printed:\n{self.printed}"
            self.printed = None
        elif block.language == "console":
            for command, shown in commands(block.text):
                await self._command(block, command, self._here(shown))
        else:
            self.printed = await self._command(block, block.text, None)

    async def _python(self, block: Block) -> str:
        code = compiled(block)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            if code.co_flags & inspect.CO_COROUTINE:
                await eval(code, self.names)
            else:
                await asyncio.to_thread(exec, code, self.names)
        return out.getvalue()

    async def _command(self, block: Block, command: str, shown: str | None) -> str:
        typed = self._here(command)
        if "stays" in block.notes and not typed.rstrip().endswith("&"):
            typed += " &"
        code, printed = await self.shell.run(typed, shown)
        said = f"{block.where}: {command!r} ended with {code} and printed:\n{printed}"
        assert code == 0, said
        if shown is not None:
            assert matches(shown, printed), f"{said}\ninstead of:\n{shown}"
        return printed

    def _here(self, text: str) -> str:
        """Return a text with what is another here: free ports, and what the preparation replaces."""
        for old, new in self.preparation.replaced.items():
            text = text.replace(old, new.format(page=self.page))
        for port, reserved in self.ports.items():
            text = re.sub(rf"\b{port}\b", str(reserved.number), text)
        return text


@asynccontextmanager
async def staged(document: str, folder: Path, world: World, python: Path) -> AsyncIterator[Stage]:
    """Give a document its stage, prepared.

    Args:
        document: Its path from the root of the repository.
        folder: An empty folder for all of it.
        world: The miniature web.
        python: The program that `python` and `groundwire` are.
    """
    home, work = folder / "home", folder / "work"
    for made in (home, work):
        made.mkdir()
    preparation = PREPARATIONS.get(document, Preparation())
    preparation.prepare(work, world)
    ports = reserved_ports(preparation.ports)
    variables = environment(home, folder / "bin")
    if not preparation.bare:
        variables |= {
            "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
            "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
            "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
        }
    _programs(folder / "bin", python)
    _activation(work)
    async with Shell(work, variables) as shell:
        yield Stage(work, world, shell, preparation, ports)


def environment(home: Path, programs: Path) -> dict[str, str]:
    """Return the variables of somebody who has set nothing."""
    return {
        "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "COLUMNS": "80",
    }


def _programs(folder: Path, python: Path) -> None:
    """Put `groundwire` and `python` into a folder."""
    folder.mkdir()
    source = Path(groundwire.__file__).parents[1]
    for name, call in {"groundwire": "-m groundwire", "python": "", "python3": ""}.items():
        program = folder / name
        program.write_text(f'#!/bin/sh\nPYTHONPATH="{source}" exec "{python}" {call} "$@"\n')
        program.chmod(0o755)


def _activation(work: Path) -> None:
    """Make what the reader has after installing: an environment that can be activated, and does nothing more here."""
    (work / ".venv" / "bin").mkdir(parents=True)
    (work / ".venv" / "bin" / "activate").write_text("true\n")


def reserved_ports(wanted: tuple[int, ...]) -> dict[str, ReservedPort]:
    """Reserve for each port of a document one of as many digits; neighbors stay neighbors.

    With another number of digits the lengths of pages that name a port would be others.
    """
    if not wanted:
        return {}
    first, span = min(wanted), max(wanted) - min(wanted) + 1
    for _ in range(200):
        base = random.randrange(10 ** (len(str(first)) - 1), 10 ** len(str(first)) - span)
        if base < _PRIVILEGED:
            continue
        with contextlib.suppress(Unavailable):
            reserved = [ReservedPort(base + number) for number in range(span)]
            return {str(port): reserved[port - first] for port in wanted}
    raise AssertionError("There are no free ports.")
