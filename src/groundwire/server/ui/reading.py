"""One page in the reader: which part of it, as inert HTML, and what is missing of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from groundwire.errors import GroundwireError
from groundwire.models import Excerpt, Page
from groundwire.reading.handle.view import check_ask, view
from groundwire.server.ui.asking import Asked
from groundwire.server.ui.markdown import inert_html
from groundwire.storage import StoreError
from groundwire.storage.archive import Archive
from groundwire.web import Web

__all__ = ["Passage", "Reading", "read_kept", "read_page"]

_LONGEST = 20_000  # characters of one piece; more would keep a browser busy


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a page that is shown."""

    html: Markup
    """It as inert HTML."""
    excerpt: Excerpt | None = None
    """Where it stands, if it was chosen; None for a piece from beginning to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the reader shows."""

    url: str
    """The address that was asked for."""
    page: Page | None = None
    """The page; None when it cannot be had."""
    error: GroundwireError | None = None
    """Why it cannot be had."""
    passages: Sequence[Passage] = ()
    """What is shown of it."""
    answers: Sequence[Passage] = ()
    """What of it answers the question best, where all of it is shown."""
    milliseconds: float = 0.0
    """How long it took."""

    @property
    def failed(self) -> str:
        """Why the page could not be read; empty when it was."""
        if self.error is not None:
            return str(self.error)
        return self.page.error if self.page is not None and self.page.status == "error" else ""


async def read_page(web: Web, asked: Asked) -> Reading:
    """Open the page that is asked for; a failure is part of what is returned."""
    url = asked.get("open")
    started = time.perf_counter()
    try:
        part = {**_part(asked), "max_length": _room(asked, web.settings.read.max_length)}
        page = await web.open_page(url, refresh=bool(asked.get("fresh")), **part)
    except GroundwireError as error:
        return Reading(url=url, error=error, milliseconds=_since(started))
    return await _reading(url, page, started)


async def read_kept(archive: Archive, asked: Asked, usual: int) -> Reading | None:
    """Open what the archive keeps of a page; None when it keeps nothing of it.

    Args:
        archive: The archive.
        asked: The address and the part that is asked for.
        usual: The most characters of a piece that the settings want.
    """
    url = asked.get("open")
    started = time.perf_counter()
    try:
        ask = check_ask(**_part(asked), max_length=_room(asked, usual), usual=usual)
        whole = await archive.get_page(url)
        if whole is None:
            return None
        page = await asyncio.to_thread(view, whole, ask)
    except StoreError:
        raise
    except GroundwireError as error:
        return Reading(url=url, error=error, milliseconds=_since(started))
    return await _reading(url, page, started)


def _part(asked: Asked) -> dict[str, Any]:
    """Return which part of the page is asked for; a question comes before a place."""
    for field, argument in (("about", "query"), ("find", "find"), ("at", "cursor")):
        if value := asked.get(field):
            return {argument: value}
    return {}


def _room(asked: Asked, usual: int) -> int:
    chosen = bool(asked.get("about") or asked.get("find"))
    return min(usual, 4_000 if chosen else _LONGEST)


async def _reading(url: str, page: Page, started: float) -> Reading:
    took = _since(started)
    # A long page takes longer to be put into HTML than others may wait for.
    passages, answers = await asyncio.to_thread(_made, page)
    return Reading(url=url, page=page, passages=passages, answers=answers, milliseconds=took)


def _made(page: Page) -> tuple[list[Passage], list[Passage]]:
    chosen = [Passage(html=inert_html(one.text), excerpt=one) for one in page.excerpts]
    # Of a page that is shown from beginning to end the excerpts only point at some of it.
    is_piece = (page.end or 0) - page.start <= len(page.content)
    if chosen and not is_piece:
        return chosen, []
    return [Passage(html=inert_html(page.content, title=page.title))], chosen


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1_000
