"""You.com's Contents API (https://you.com/docs/guides/contents and youdotcom 3.6.0, read on 2026-11-28).

A page that could not be read is an entry without Markdown, and does not say why.
"""

from __future__ import annotations

from groundwire.deadline import Deadline
from groundwire.errors import UnexpectedResponse
from groundwire.models import ReadResult
from groundwire.providers.http_api import ReadApiProvider
from groundwire.providers.http_parsing import clean, json_object, objects, raise_for_error
from groundwire.providers.query_mapping import Mapped, page_failure, page_result
from groundwire.transport import Response

_LONGEST = 60  # seconds that it may wait for a page
_MARGIN = 1.0  # seconds by which its timeout is shorter, so that it can answer


class YouContents(ReadApiProvider):
    """Reading with the Contents API, for the provider that searches with You.com."""

    read_path = "/v1/contents"

    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request."""
        seconds = min(_LONGEST, max(1, int(deadline.remaining() - _MARGIN)))
        return Mapped({"urls": [url], "formats": ["markdown"], "crawl_timeout": seconds})

    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse the page in a response, which is a list."""
        raise_for_error(reply, self.name, self.errors, self.key_variables)
        try:
            pages = reply.json()
        except ValueError:
            pages = json_object(reply, self.name)  # raises with the reason
        page = next(objects(pages), None)
        if page is None:
            raise UnexpectedResponse(self.name, "answered with JSON that has no page", status=reply.status)
        content = clean(page.get("markdown"))
        if not content.strip():
            raise page_failure(url, words=f"{self.name} returned no text")
        return page_result(url, content, title=page.get("title"))
