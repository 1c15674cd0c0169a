"""Answers as bytes that a cache can keep, and for how long each is worth keeping."""

from __future__ import annotations

from groundwire.models import Page, SearchResponse
from groundwire.routing.cache import Life

__all__ = ["life_of_page", "life_of_search", "pack_page", "pack_search", "unpack_page", "unpack_search"]

_SHORT = 60.0  # seconds; an answer that may be better the next time is kept only against being asked again at once
_OF_THE_CALL = {"budget", "cached", "stale"}  # true of one call and not of the answer


def pack_search(answer: SearchResponse) -> bytes:
    """Return an answer as JSON, without what is true of one call only (its budget, where it came from)."""
    return answer.model_dump_json(exclude=_OF_THE_CALL).encode()


def unpack_search(data: bytes) -> SearchResponse:
    """Return the answer that `pack_search` was given.

    Raises:
        ValueError: these are no such bytes, or those of a version that had other fields.
    """
    return SearchResponse.model_validate_json(data)


def pack_page(page: Page) -> bytes:
    """Return a page as JSON."""
    return page.model_dump_json().encode()


def unpack_page(data: bytes) -> Page:
    """Return the page that `pack_page` was given.

    Raises:
        ValueError: these are no such bytes, or those of a version that had other fields.
    """
    return Page.model_validate_json(data)


def life_of_search(answer: SearchResponse, whole: Life) -> Life:
    """Return how long a search's answer is kept: a minute at most, and never stale, when it is empty or in part.

    Args:
        answer: The answer.
        whole: The life of a good one.
    """
    partial = any(attempt.outcome == "partial" for attempt in answer.attempts)
    return whole if answer.results and not partial else Life(min(whole.fresh, _SHORT))


def life_of_page(page: Page, whole: Life) -> Life:
    """Return how long a page is kept: a minute at most, and never stale, when it has no text.

    Args:
        page: What a reader returned.
        whole: The life of a good one.
    """
    return whole if page.content.strip() else Life(min(whole.fresh, _SHORT))
