"""A drop-in for the maps of Tavily and Firecrawl, and for Tavily's crawl: the addresses of a site, and its pages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Final

from pydantic import Field

from groundwire_server.api.context import Caller
from groundwire_server.api.request_models import Address, ApiRequest, WholeNumber
from groundwire_server.error_body import ApiModel

_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"max_depth": "depth", "maxDepth": "depth", "maxDiscoveryDepth": "depth", "max_pages": "limit", "maxPages": "limit"}
)


class MapRequest(ApiRequest):
    """A site. Its map stays on the host of the URL, and in its folder."""

    other_names: ClassVar[Mapping[str, str]] = _NAMES

    url: Address
    """The first page."""
    limit: Annotated[int, Field(ge=1, le=10_000), WholeNumber] = 50
    """Maximum addresses."""
    depth: Annotated[int, Field(ge=1, le=100), WholeNumber] | None = None
    """Maximum links from the first page; by default 1 if sitemaps list pages, else 3."""


class MapReply(ApiModel):
    """The addresses of a site."""

    success: bool = True
    """Always true, as in Firecrawl's responses."""
    base_url: str
    """The first page."""
    results: tuple[str, ...]
    """The addresses, as in Tavily's responses."""
    links: tuple[str, ...]
    """The same, as in Firecrawl's responses."""
    warnings: tuple[str, ...]
    """What is missing, and why."""


class CrawledPage(ApiModel):
    """A page of a site."""

    url: str
    """Its address."""
    raw_content: str | None = None
    """Its Markdown; null if it could not be read."""
    error: str | None = None
    """Why it could not be read."""


class CrawlReply(ApiModel):
    """The pages of a site, in the order in which they were read."""

    base_url: str
    """The first page."""
    results: tuple[CrawledPage, ...]
    """The pages."""
    failed_results: tuple[CrawledPage, ...]
    """The pages that could not be read."""
    warnings: tuple[str, ...]
    """What is missing, and why."""


async def map_site(caller: Caller, request: MapRequest) -> MapReply:
    """List the pages of a site."""
    site_map = caller.session(request.session).map(request.url, limit=request.limit, depth=request.depth)
    urls = tuple([row.url async for row in site_map])
    return MapReply(base_url=request.url, results=urls, links=urls, warnings=site_map.warnings)


async def crawl_site(caller: Caller, request: MapRequest) -> CrawlReply:
    """Read the pages of a site."""
    web = caller.session(request.session)
    site_map = web.map(request.url, limit=request.limit, depth=request.depth)
    pages = [page async for page in web.read_many(site_map)]
    return CrawlReply(
        base_url=request.url,
        results=tuple(
            CrawledPage(url=page.url, raw_content=page.content) for page in pages if page.status == "success"
        ),
        failed_results=tuple(CrawledPage(url=page.url, error=page.error) for page in pages if page.status == "error"),
        warnings=site_map.warnings,
    )
