"""Linkup's fetch (https://docs.linkup.so/pages/documentation/endpoints/fetch, linkup-sdk 0.24.0; 2026-11-28)."""

from __future__ import annotations

from groundwire.deadline import Deadline
from groundwire.errors import PageTooLarge, UnexpectedResponse, UnsupportedContent
from groundwire.models import ReadResult
from groundwire.providers.http_api import ApiOptions, ReadApiProvider
from groundwire.providers.http_parsing import clean, error_text, json_or_empty, text_or_empty, value_at
from groundwire.providers.query_mapping import Mapped, page_failure, page_result
from groundwire.transport import Response

__all__ = ["LinkupFetch", "LinkupFetchOptions"]

_FILES = frozenset({"FETCH_URL_IS_FILE", "FETCH_UNSUPPORTED_CONTENT_TYPE"})


class LinkupFetchOptions(ApiOptions):
    """The settings of reading with Linkup."""

    render_js: bool = False
    """Whether it runs the scripts of pages that it reads, at five times the price."""


class LinkupFetch(ReadApiProvider):
    """Reading with fetch, for the provider that searches with Linkup."""

    read_path = "/v1/fetch"
    _options: LinkupFetchOptions

    @property
    def page_price_usd(self) -> float:
        """The price of a page, in US dollars."""
        return self._prices.cost("rendered" if self._options.render_js else "page")

    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request."""
        return Mapped({"url": url, "renderJs": self._options.render_js})

    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse the page in a response; that a page cannot be read is an error with a code of its own."""
        code = text_or_empty(value_at(json_or_empty(reply), "error.code"))
        if reply.status == 400 and code.startswith("FETCH_"):
            if code == "FETCH_RESPONSE_TOO_LARGE":
                raise PageTooLarge(url, f"The page is larger than {self.name} reads. Look for a smaller page.")
            if code in _FILES:
                raise UnsupportedContent(url, "The reader does not support this type of page.")
            missing = 404 if code == "FETCH_TARGET_NOT_FOUND" else None
            raise page_failure(url, status=missing, words=error_text(reply).removeprefix(": "))
        content = self.answer(reply).get("markdown")
        if not isinstance(content, str):
            raise UnexpectedResponse(self.name, "answered with JSON that has no page", status=reply.status)
        return page_result(url, clean(content))

    def page_cost(self, reply: Response) -> float:
        """Return the cost of a page: the price of how it was fetched."""
        return self.page_price_usd
