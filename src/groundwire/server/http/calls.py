"""What the calls of the gateway do: searching, and reading pages."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from groundwire.models import Page, SearchResponse
from groundwire.server.http.asked import PagesRequest, SearchRequest
from groundwire.server.http.house import Caller

__all__ = ["PagesReply", "pages", "search"]


class PagesReply(BaseModel):
    """The pages that were read."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    pages: tuple[Page, ...]
    """One for each address, in their order. `status` says of each whether it could be read, `error` why not."""


async def search(caller: Caller, asked: SearchRequest) -> SearchResponse:
    """Search the web."""
    given = asked.model_dump(exclude={"session"})
    return await caller.session(asked.session).search(**given)


async def pages(caller: Caller, asked: PagesRequest) -> PagesReply:
    """Read one page, whose failure is that of the call, or several."""
    web = caller.session(asked.session)
    given = asked.model_dump(include={"query", "find", "max_length", "max_tokens", "fresh", "timeout"})
    if asked.urls is not None:
        return PagesReply(pages=await web.open_pages(asked.urls, **given))
    return PagesReply(pages=(await web.open_page(asked.url or "", cursor=asked.cursor, **given),))
