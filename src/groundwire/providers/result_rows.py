"""Rows of a response as results, and pages that were read."""

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
    """Return one row as a result, or None when it has no address.

    Args:
        source: The provider's name.
        url: Its address as it came; anything but text counts as none, here and below.
        title: Its title.
        snippet: A passage.
        date: When it was published, in the service's own way.
        score: The service's own measure.
        read_date: Returns a date as ISO 8601, or an empty text for what is none, which is then passed on as said.
    """
    if not (address := text_or_empty(url)):
        return None
    said = text_or_empty(date).strip()
    published = read_date(said) if said else ""
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
    """Return the rows of a successful response; what is not a row is skipped.

    Args:
        reply: The response.
        name: The provider's name.
        items: What stands where the list of rows belongs.
        row: Reads one object, given the provider's name; None when it has no address.

    Raises:
        UnexpectedResponse: there is no list, or none of the rows in it has an address.
    """
    if not isinstance(items, list):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=reply.status)
    found = tuple(read for item in objects(items) if (read := row(item, name)) is not None)
    if items and not found:
        raise UnexpectedResponse(name, "answered with results that have no address", status=reply.status)
    return Results(found, status=reply.status)


def page_result(url: str, content: str, *, title: object = "", **more: Any) -> ReadResult:
    """Return a page that was read.

    Args:
        url: The address that was asked for.
        content: Its Markdown.
        title: Its title as it came; anything but text counts as none.
        more: Further fields of the result.
    """
    return ReadResult(url=url, title=clean(title), content=content, content_length=len(content), success=True, **more)


def any_date(text: str) -> str:
    """Return a date in ISO 8601 or in the form of email (RFC 5322) as ISO 8601; an empty text for what is neither."""
    if found := day(text):
        return found
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, OverflowError):
        return ""
