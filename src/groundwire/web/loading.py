"""Loading of what opens pages, which a search does not need."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from typing import Final

__all__ = ["load_open_page"]

_MODULES: Final = (
    "groundwire.reading.readers",
    "groundwire.reading.convert",
    "groundwire.reading.passages.view",
    "groundwire.routing.politeness",
    "groundwire.web.open_page",
)
"""In this order: the last one is loaded when all are."""


async def load_open_page() -> None:
    """Import what opens pages in a thread: it compiles some 330 regular expressions, in 80 ms of CPU time.

    In the event loop, the first page of a process would hold up all other calls for so long.
    """
    if _MODULES[-1] not in sys.modules:
        await asyncio.to_thread(_load)


def _load() -> None:
    for name in _MODULES:
        import_module(name)
