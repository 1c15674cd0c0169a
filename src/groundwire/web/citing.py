"""What a session was shown, as pages that an answer can be checked against."""

from __future__ import annotations

import hashlib
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.models import Page
from groundwire.reading.passages.outline import version_of
from groundwire.routing.budget import SessionBudget
from groundwire.storage import StoreError
from groundwire.storage.archive.store import Archive
from groundwire.web.sources import SeenSource, SessionSources

if TYPE_CHECKING:
    from groundwire.citations.verify.report import CitedPage

__all__ = ["Citing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citing:
    """Finds what a session's numbers stand for."""

    sources: SessionSources
    """Know what a session was shown."""
    archive: Archive | None
    """Remembers pages for good; None remembers nothing."""

    async def pages(self, session: SessionBudget, wanted: Container[int] | None = None) -> tuple[CitedPage, ...]:
        """Return what a session was shown, by number.

        Args:
            session: The session.
            wanted: Of these numbers the content is wanted, too; None wants all of it.
        """
        return tuple(
            [
                await self._page(source, with_content=wanted is None or source.number in wanted)
                for source in await self.sources.listed(session)
            ]
        )

    async def _page(self, source: SeenSource, *, with_content: bool) -> CitedPage:
        from groundwire.citations.verify.report import CitedPage  # what searches and reads has no need of it

        content, changed, newer = None, False, False
        if source.digest and with_content:
            content = await self.sources.content(source.digest)
            last = await self._archived(source.url)
            other = last is not None and _digest(last.content) != source.digest
            newer = content is not None and other
            if content is None and last is not None:
                content, changed = last.content, other
        version = (version_of(content) if changed and content is not None else source.digest[:16]) or ""
        return CitedPage(
            number=source.number,
            url=source.url,
            title=source.title,
            content=content,
            snippet=source.snippet,
            version=version,
            changed=changed,
            newer=newer,
        )

    async def _archived(self, url: str) -> Page | None:
        """Return a page as it was when it was last read by anybody."""
        if self.archive is not None:
            with suppress(StoreError, InvalidRequest, BlockedByPolicy):
                return await self.archive.get_page(url)
        return None


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
