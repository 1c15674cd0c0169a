"""Storing in an archive, and waiting for it."""

from __future__ import annotations

import asyncio

from groundwire.models import Page, SearchResponse
from groundwire.safety.tenancy import Owner
from groundwire.storage.archive.store import Archive


async def add(archive: Archive, source: Page | SearchResponse, *, owner: Owner) -> int:
    """Store a page or a response as `Archive.remember` does, at once; return how many entries are new or newer."""
    await archive.flush()
    batch = [(source, archive._clock(), owner)]
    return await asyncio.get_running_loop().run_in_executor(archive._thread, archive._keep, batch) or 0
