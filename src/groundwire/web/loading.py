"""Loading of what opens pages, which a search does not need."""

from __future__ import annotations

import asyncio
import sys

__all__ = ["load_open_page"]


async def load_open_page() -> None:
    """Import what opens pages in a thread: it compiles some 330 regular expressions, in 80 ms of CPU time.

    In the event loop, the first page of a process would hold up all other calls for so long.
    """
    if "groundwire.web.open_page" not in sys.modules:  # the last one that is loaded
        await asyncio.to_thread(_load)


def _load() -> None:
    import groundwire.reading.convert
    import groundwire.reading.local
    import groundwire.reading.passages.view
    import groundwire.reading.readers
    import groundwire.routing.politeness
    import groundwire.web.open_page  # noqa: F401
