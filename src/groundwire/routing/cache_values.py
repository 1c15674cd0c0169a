"""Answers as bytes that a cache can keep, and for how long each is worth keeping."""

from __future__ import annotations

from groundwire.models import Freshness, Page, SearchResponse
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
    """Return a page as JSON, after a line with what its server said about keeping it."""
    head = b"" if page.freshness is None else page.freshness.model_dump_json().encode()
    return head + b"\n" + page.model_dump_json().encode()


def unpack_page(data: bytes) -> Page:
    """Return the page that `pack_page` was given.

    Raises:
        ValueError: these are no such bytes, or those of a version that had other fields.
    """
    head, _, body = data.partition(b"\n")
    page = Page.model_validate_json(body)
    return page.model_copy(update={"freshness": Freshness.model_validate_json(head)}) if head else page


def life_of_search(answer: SearchResponse, whole: Life) -> Life:
    """Return how long a search's answer is kept: a minute at most, and never stale, when it is empty or in part.

    Args:
        answer: The answer.
        whole: The life of a good one.
    """
    partial = any(attempt.outcome == "partial" for attempt in answer.attempts)
    return whole if answer.results and not partial else Life(min(whole.fresh, _SHORT))


def life_of_page(page: Page, whole: Life) -> Life:
    """Return how long a page is kept: at most as long as the settings say, and less if its server says less.

    A minute is the least, so that who reads a page piece by piece reads one page, and its site is asked once. A page
    without text, and one that should not be kept at all (`no-store`), stay for that minute and are never stale. One
    that its server wants to be asked about is never given stale at once, only in place of a failure.

    Args:
        page: What a reader returned.
        whole: The life of a good one.
    """
    said = page.freshness
    if not page.content.strip() or (said is not None and said.no_store):
        return Life(min(whole.fresh, _SHORT))
    if said is None:
        return whole
    fresh = whole.fresh if said.seconds is None else min(whole.fresh, max(said.seconds, _SHORT))
    if fresh < whole.fresh or said.must_ask:
        return Life(fresh, 0.0, whole.stale + whole.error)
    return whole
