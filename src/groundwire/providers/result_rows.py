"""Conversion of a response's rows to results, and of pages to read results."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

from groundwire.errors import UnexpectedResponse
from groundwire.models import ReadResult, Results, SearchResult
from groundwire.providers.http_parsing import clean, day, number_or_none, objects, text_or_empty
from groundwire.transport import Response

__all__ = ["any_date", "page_result", "result", "results"]


def result(
    source: str,
    *,
    url: object,
    title: object,
    snippet: object,
    date: object = None,
    score: object = None,
    read_date: Callable[[str], str] = day,
) -> SearchResult | None:
    """Convert one row to a result, or None if it has no URL.

    Args:
        source: The provider's name.
        url: Its URL as received; anything but a string counts as missing, here and below.
        title: Its title.
        snippet: A passage.
        date: Its publication date, in the service's format.
        score: The service's own score.
        read_date: Converts a date to ISO 8601, or to an empty string if it is not a date, which is then passed on as
            text.
    """
    if not (address := text_or_empty(url)):
        return None
    said = text_or_empty(date).strip()
    published = read_date(said)
    return SearchResult(
        title=text_or_empty(title),
        url=address,
        snippet=text_or_empty(snippet),
        source=source,
        published=published or None,
        published_origin="" if published else said,
        score=number_or_none(score),
    )


def results(
    reply: Response, name: str, items: object, row: Callable[[dict[str, Any], str], SearchResult | None]
) -> Results:
    """Convert the rows of a successful response; anything else is skipped.

    Args:
        reply: The response.
        name: The provider's name.
        items: The value in place of the list of rows.
        row: Converts one object, given the provider's name; None if it has no URL.

    Raises:
        UnexpectedResponse: there is no list, or none of its rows has a URL.
    """
    if not isinstance(items, list):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=reply.status)
    found = tuple(read for item in objects(items) if (read := row(item, name)) is not None)
    if items and not found:
        raise UnexpectedResponse(name, "answered with results that have no address", status=reply.status)
    return Results(found, status=reply.status)


def page_result(url: str, content: str, *, title: object = "", **more: Any) -> ReadResult:
    """Return the result for a page.

    Args:
        url: The requested URL.
        content: Its Markdown.
        title: Its title as received; anything but a string counts as missing.
        more: Additional fields of the result.
    """
    return ReadResult(url=url, title=clean(title), content=content, content_length=len(content), success=True, **more)


def any_date(text: str) -> str:
    """Convert an ISO 8601 date or an email date (RFC 5322) to ISO 8601; an empty string for anything else."""
    if found := day(text):
        return found
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, OverflowError):
        return ""
