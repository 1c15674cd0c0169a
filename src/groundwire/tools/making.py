"""From what was found, read or refused to what the tool returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundwire.arguments import understood
from groundwire.errors import AllProvidersFailed, GroundwireError
from groundwire.models import Page, SearchResponse, Source
from groundwire.tools.results import (
    ExcerptItem,
    LocalSearchToolResult,
    OpenPageToolResult,
    SearchResultItem,
    ToolResult,
    WebSearchToolResult,
)

__all__ = ["open_failed", "opened", "refused", "search_failed", "searched", "shown"]

_LISTED = 40  # sections in a result


def searched(response: SearchResponse) -> WebSearchToolResult:
    """Return a search's answer as the tool's result."""
    found = "" if response.results else f"No results found for: {response.query}"
    return WebSearchToolResult(
        query=response.query,
        results=tuple(
            SearchResultItem(**row.model_dump(include=set(SearchResultItem.model_fields))) for row in response.results
        ),
        sources=response.sources,
        message="\n".join(filter(None, (found, *response.warnings))),
        provider=response.provider,
        attempts=response.attempts,
        filters=response.filters,
    )


def opened(page: Page, *, brief: bool = False) -> OpenPageToolResult:
    """Return a page as the tool's result.

    Args:
        page: What was read.
        brief: Whether to leave the sections out; they are left out of a whole page, too.
    """
    fields = page.model_dump(include=set(OpenPageToolResult.model_fields) - {"sections", "excerpts", "sources"})
    listed = () if brief or not page.truncated else page.sections[:_LISTED]
    excerpts = tuple(ExcerptItem(start=row.start, end=row.end, heading=row.heading) for row in page.excerpts)
    names = tuple(f"#{number} {row.title} ({row.length})" for number, row in enumerate(listed, start=1))
    sources = Source(citation_id=page.citation_id, title=page.title, url=page.final_url or page.url)
    fields["sources"] = (sources,) if page.citation_id else ()
    return OpenPageToolResult(**fields, sections=names, excerpts=excerpts if page.truncated else ())


def search_failed(query: str, error: GroundwireError) -> WebSearchToolResult:
    """Return a failed search as the tool's result; it never looks like an empty one."""
    if isinstance(error, AllProvidersFailed):
        text = f"{error}. This does not mean that nothing exists. Try again later or use what you know."
        return WebSearchToolResult(query=query, status="error", error=text, attempts=error.attempts)
    return WebSearchToolResult(query=query, status="error", error=str(error))


def open_failed(url: str, error: GroundwireError) -> OpenPageToolResult:
    """Return a page that could not be had as the tool's result."""
    return OpenPageToolResult(url=url, status="error", error=str(error))


def refused(tool: str, arguments: Mapping[str, Any], error: GroundwireError) -> ToolResult:
    """Return a call that was not made as the result of its tool, so that a model can act on it."""
    arguments = understood(tool, arguments)
    if tool == "open_page":
        return open_failed(shown(arguments.get("url", "")), error)
    query = shown(arguments.get("query", ""))
    if tool == "search":
        return LocalSearchToolResult(
            query=query, backend=shown(arguments.get("backend") or ""), status="error", error=str(error)
        )
    return search_failed(query, error)


def shown(value: object) -> str:
    """Return an argument as it may stand in a result: text that every encoding takes, and not too long."""
    return str(value)[:200].encode("utf-8", "replace").decode("utf-8")
