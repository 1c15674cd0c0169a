"""Parallel's Extract API (https://docs.parallel.ai/api-reference/extract/extract, parallel-web 1.3.7; 2026-11-28)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from groundwire.deadline import Deadline
from groundwire.models import ReadResult
from groundwire.providers.http_api import ApiOptions, ReadApiProvider
from groundwire.providers.http_parsing import clean, day, listed_warnings, number_or_none, short_message, text_or_empty
from groundwire.providers.query_mapping import Mapped, page_failure, page_result
from groundwire.transport import Response

__all__ = ["ParallelExtract", "ParallelExtractOptions"]

_MAX_PAGE = 500_000  # characters
_MAX_EXCERPT = 1_000  # characters of what cannot be left out, and is not used
_MARGIN = 1.0  # seconds by which its timeout is shorter, so that it can answer


class ParallelExtractOptions(ApiOptions):
    """The settings of reading with Parallel."""

    max_age: int = Field(default=0, ge=0)
    """Seconds, from 600, after which it fetches a page again instead of using its index; 0 leaves that to it."""


class ParallelExtract(ReadApiProvider):
    """Reading with the Extract API, for the provider that searches with Parallel."""

    read_path = "/v1/extract"
    _options: ParallelExtractOptions

    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request."""
        settings: dict[str, Any] = {
            "full_content": {"max_chars_per_result": _MAX_PAGE},
            "excerpt_settings": {"max_chars_per_result": _MAX_EXCERPT},
        }
        if self._options.max_age:
            seconds = max(1.0, round(deadline.remaining() - _MARGIN, 1))
            settings["fetch_policy"] = {"max_age_seconds": max(600, self._options.max_age), "timeout_seconds": seconds}
        return Mapped({"urls": [url], "advanced_settings": settings})

    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse the page in a response, or why it was not read."""
        pages, failed = self.lists(reply, "results", "errors")
        page = next((item for item in pages if clean(item.get("full_content")).strip()), {})
        if failed and not page:
            status = number_or_none(failed[0].get("http_status_code"))
            words = short_message(failed[0].get("error_type"))
            raise page_failure(url, status=int(status) if status else None, words=words)
        content = clean(page.get("full_content"))
        return page_result(
            url,
            content,
            title=page.get("title"),
            truncated=len(content) >= _MAX_PAGE,
            published=day(text_or_empty(page.get("publish_date"))) or None,
            warnings=listed_warnings(reply, self.name, ("warnings",)),
        )
