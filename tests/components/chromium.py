"""The machine's browser and its processes."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from components.needs import needed, system_program
from groundwire.reading.browser.launch import find_chromium

_NAMES = ("chromium", "chrome", "headless_shell")


def executable_or_skip() -> Path:
    """Return the machine's browser; without one the test is skipped, or fails in CI."""
    found = find_chromium()
    return needed(lambda: found or system_program("chromium-headless-shell"))


def processes() -> set[int]:
    """Return the running browser processes, without zombies."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "comm").read_text()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state not in "ZX" and name.startswith(_NAMES) and _is_ours(int(folder.name)):
            found.add(int(folder.name))
    return found


async def until_gone(before: set[int]) -> None:
    """Wait until all new browser processes have ended; the kernel takes a moment."""
    deadline = asyncio.get_running_loop().time() + 60
    while left := processes() - before:
        assert asyncio.get_running_loop().time() < deadline, f"left over: {left}"
        await asyncio.sleep(0.01)


def _is_ours(process: int) -> bool:
    """Return whether a process is a descendant of this one; other workers run browsers, too."""
    try:
        marks = Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return False
    return os.fsencode(f"HOME={tempfile.gettempdir()}/groundwire-") in marks
