"""From what was found, read or refused to the result of a tool."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from groundwire.errors import (
    AllProvidersFailed,
    BlockedAddress,
    BlockedByRobots,
    BlockedDomain,
    BlockedUnknown,
    BudgetExceeded,
    GroundwireError,
    PageError,
    PageRefused,
    ProviderError,
)
from groundwire.models import Attempt, Page, SearchResponse, Source
from groundwire.models.search import LOW_BUDGET
from groundwire.reading.text.sanitize import clean, strip_invisible
from groundwire.safety.secret_scanner import break_marks
from groundwire.tools.argument_coercion import understood
from groundwire.tools.results import (
    ExcerptItem,
    LocalSearchToolResult,
    OpenPageToolResult,
    SearchResultItem,
    ToolResult,
    WebSearchToolResult,
)

_TEXTS = tomllib.loads(files(__package__).joinpath("advice.toml").read_text("utf-8"))
_ADVICE: Final[Mapping[str, str]] = MappingProxyType(_TEXTS["advice"])
GUIDANCE: Final[Mapping[str, str]] = MappingProxyType(_TEXTS["guidance"])
"""Texts of `groundwire.tools.definitions` that host applications fix."""
_ADVICE_FOR: Final = (
    (AllProvidersFailed, "search"),
    (BlockedUnknown, "unknown_url"),
    (PageRefused, "refused_page"),
    ((PageError, BlockedAddress, BlockedByRobots, BlockedDomain), "page"),
)


_QUOTING_ERRORS: Final = (AllProvidersFailed, BlockedByRobots, PageError, ProviderError)


_MAX_SECTIONS = 40  # sections in a result


def searched(response: SearchResponse) -> WebSearchToolResult:
    """Convert a search response to a tool result."""
    return WebSearchToolResult(
        query=response.query,
        results=tuple(
            SearchResultItem(**row.model_dump(include=SearchResultItem.model_fields)) for row in response.results
        ),
        sources=response.sources,
        notice=harmless(response.notice),
        message="\n".join([*nothing_found(response), *warnings_for_model(response.warnings[bool(response.notice) :])]),
        provider=response.provider,
        attempts=_attempts(response.attempts),
        filters=response.filters,
    )


def nothing_found(response: SearchResponse) -> Iterator[str]:
    """Yield the model's text about an empty response, which a filter may have emptied."""
    if response.results:
        return
    yield f"No results found for: {response.query}"
    filters = [receipt.filter for receipt in response.filters if receipt.applied != "not_possible"]
    if filters and not any(name in warning for name in filters for warning in response.warnings):
        yield f"The search was limited by {' and '.join(filters)}. Other results may exist."


def opened(page: Page, *, brief: bool = False) -> OpenPageToolResult:
    """Convert a page to a tool result.

    Args:
        page: What was read.
        brief: Whether few tokens were requested: sections are left out, as they are of a whole page, and the frame of
            the text is short.
    """
    fields = page.model_dump(
        include=set(OpenPageToolResult.model_fields) - {"sections", "excerpts", "sources", "brief"}
    )
    sections = () if brief or not page.truncated else page.sections[:_MAX_SECTIONS]
    excerpts = tuple(ExcerptItem(start=row.start, end=row.end, heading=row.heading) for row in page.excerpts)
    names = tuple(f"#{number} {row.title} ({row.length})" for number, row in enumerate(sections, start=1))
    sources = Source(citation_id=page.citation_id, title=page.title, url=page.final_url or page.url)
    fields["sources"] = (sources,) if page.citation_id else ()
    fields["warnings"] = tuple(map(harmless, page.warnings))
    if page.status == "error":
        fields["error"] = f"{harmless(page.error)} {_ADVICE['page']}"
    return OpenPageToolResult(**fields, sections=names, excerpts=excerpts if page.truncated else (), brief=brief)


def for_model(error: GroundwireError) -> str:
    """Return an error message for a model: what happened, and what the model can do next."""
    if isinstance(error, BudgetExceeded):
        return " ".join(filter(None, (error.used_up, _ADVICE["budget"], error.resets)))
    advice = next((_ADVICE[name] for kinds, name in _ADVICE_FOR if isinstance(error, kinds)), "")
    text = harmless(str(error))
    return f"{text}{'' if text.endswith('.') else '.'} {advice}" if advice else text


def warnings_for_model(warnings: Iterable[str]) -> Iterator[str]:
    """Yield the warnings of a response for a model; the one about the budget has the host applications' wording."""
    for warning in warnings:
        low = LOW_BUDGET.fullmatch(warning)
        yield f"[WARNING: {low[1]} searches remaining in session]" if low else harmless(warning)


def harmless(text: str) -> str:
    """Return what an error or a warning says in one line for a model: a service or a page may be quoted in it.

    Nothing stays that a person could not see, and no mark by which models tell turns, tools or our fence.
    """
    return break_marks(" ".join(strip_invisible(clean(text))[0].split()))


def _attempts(attempts: Iterable[Attempt]) -> tuple[Attempt, ...]:
    return tuple(row.model_copy(update={"reason": harmless(row.reason)}) if row.reason else row for row in attempts)


def _untrusted_fields(error: GroundwireError) -> tuple[str, ...]:
    """Return the fields of a failed result in which a service or a page may be quoted."""
    return ("error", "attempts") if isinstance(error, _QUOTING_ERRORS) else ()


def search_failed(query: str, error: GroundwireError) -> WebSearchToolResult:
    """Convert a failed search to a tool result, which never looks like an empty one."""
    attempts = error.attempts if isinstance(error, AllProvidersFailed) else ()
    return WebSearchToolResult(
        query=query,
        status="error",
        error=for_model(error),
        attempts=_attempts(attempts),
        untrusted=_untrusted_fields(error),
    )


def open_failed(url: str, error: GroundwireError) -> OpenPageToolResult:
    """Return the tool result for a page that could not be read."""
    return OpenPageToolResult(url=url, status="error", error=for_model(error), untrusted=_untrusted_fields(error)[:1])


def refused(tool: str, arguments: Mapping[str, Any], error: GroundwireError) -> ToolResult:
    """Return the tool result for a rejected call, which a model can act on."""
    arguments = understood(tool, arguments)
    if tool == "open_page":
        return open_failed(shown(arguments.get("url", "")), error)
    query = shown(arguments.get("query", ""))
    if tool == "search":
        return LocalSearchToolResult(
            query=query, backend=shown(arguments.get("backend") or ""), status="error", error=for_model(error)
        )
    return search_failed(query, error)


def shown(value: object) -> str:
    """Return an argument for display in a result: encodable and not too long."""
    return str(value)[:200].encode("utf-8", "replace").decode("utf-8")
