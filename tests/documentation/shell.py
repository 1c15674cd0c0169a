"""A shell in which the commands of a document run one after the other, as its reader would type them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import signal
from calendar import month_name
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

_SETTLING = 15.0  # seconds for a program in the background to say what the document shows
_PATIENCE = 250.0  # seconds for one command

_CHANGING = (
    (re.compile(r"\b\d+(?:[.,]\d+)*\s?(?:ms|s)\b"), "TIME"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}\b"), "DATE"),
    (re.compile(rf"\b\d\d? (?:{'|'.join(month_name[1:])}) \d\d\d\d\b"), "DATE"),
    (re.compile(r"(?<=\.test:)\d+"), "PORT"),
    (re.compile(r"(?<=^\[@)\d+(?=\]$)", re.MULTILINE), "POSITION"),
    (re.compile(r"\b\d+ of \d,\d{3} characters\b"), "LENGTH"),
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
)
"""What differs from one run to the next: times, days, lengths and positions after days, ports under .test, colors."""


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with the output that is shown below it."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        elif found and found[-1][0].endswith("\\") and line.startswith("> "):
            found[-1] = (f"{found[-1][0]}\n{line[2:].rstrip()}", "")
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line)
        else:
            raise ValueError(f"A console block begins with a prompt and a command, not with {line!r}")
    return found


def matches(shown: str, printed: str) -> bool:
    """Tell whether what was printed is what is shown; a line `...` stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in _steady(shown).splitlines()
    )
    return re.fullmatch(pattern, _steady(printed)) is not None


def _steady(text: str) -> str:
    for changing, word in _CHANGING:
        text = changing.sub(word, text)
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


class Shell:
    """A bash in a folder of its own.

    Args:
        folder: Where it begins.
        environment: All the variables that it has.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._process: asyncio.subprocess.Process | None = None
        self._mark = f"done-{secrets.token_hex(8)}"

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            "bash",
            "--norc",
            "--noprofile",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=self._folder,
            env=self._environment,
            start_new_session=True,
            limit=10_000_000,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.communicate()

    async def run(self, command: str, shown: str | None = None) -> tuple[int, str]:
        """Run a command, and give its exit code and what it printed.

        Args:
            command: As it is typed.
            shown: What the document shows; what runs in the background has a while to say it.
        """
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '%s %d\\n' {self._mark} $?\n".encode())
        await self._process.stdin.drain()
        code: int | None = None
        printed = ""
        while code is None:
            line = await self._line(_PATIENCE)
            if line is None:
                raise AssertionError(f"{command!r} did not end; until then it printed:\n{printed}")
            text, mark, ending = line.partition(self._mark)
            printed += text
            if mark:
                code = int(ending)
        while shown is not None and not matches(shown, printed) and _shorter(printed, shown):
            line = await self._line(_SETTLING)
            if line is None:
                break
            printed += line
        return code, printed

    async def _line(self, seconds: float) -> str | None:
        """Return the next line; None when none comes, or when nothing can come any more."""
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                return (await self._process.stdout.readline()).decode() or None
        except TimeoutError:
            return None


def _shorter(printed: str, shown: str) -> bool:
    return printed.count("\n") < shown.count("\n")
