"""Jina Reader: converts pages to Markdown on its servers (https://github.com/jina-ai/reader), with or without a key.

Its HTTP status is not the page's: a missing page, or one with a captcha, has HTTP status 200 and a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from groundwire.deadline import Deadline
from groundwire.errors import (
    PageRefused,
    PageTooLarge,
    ProviderBlocked,
    ProviderUnavailable,
    RateLimited,
    UnexpectedResponse,
)
from groundwire.models import ReadResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ReadApiProvider
from groundwire.providers.http_parsing import (
    ErrorRule,
    clean,
    day,
    error_text,
    json_object,
    json_or_empty,
    raise_for_error,
    short_message,
    text_or_empty,
    value_at,
)
from groundwire.providers.query_mapping import Mapped, page_failure, page_result
from groundwire.safety.url_redaction import has_secret
from groundwire.safety.urls import parse_url, url_or_none
from groundwire.transport import Response

_MARGIN = 1.0  # seconds by which its timeout is shorter, so that it can report the reason
_MAX_URL = 2_000  # characters of a URL that go into a URL
_STATUS = re.compile(r"Target URL returned error (\d{3})\b", re.IGNORECASE)
_BLOCK_PAGE = re.compile(r"\bcaptcha\b|\b(?:log|sign)[ -]?in\b|\bpaywall\b", re.IGNORECASE)
_NO_NAME = re.compile(r"could not be resolved", re.IGNORECASE)
_HEADER = re.compile(r"(Title|URL Source|Published Time|Warning): ?(.*)")
_HEADERS: Final[Mapping[str, str]] = {
    "Title": "title",
    "URL Source": "url",
    "Published Time": "publishedTime",
    "Warning": "warning",
}
_CONTENT = re.compile(r"^Markdown Content:[ \t]*\n?", re.MULTILINE)
# Its own error numbers, from src/services/errors.ts of its source.
_ERRORS = (
    ErrorRule(ProviderUnavailable, "is busy with this page", at="status", pattern="^40903$"),
    ErrorRule(ProviderBlocked, "it does not support this URL", status=(451,)),
    ErrorRule(RateLimited, "too many requests", status=(429,), wait="retryAfter"),
)


class JinaReadProvider(ReadApiProvider):
    """Reading with Jina Reader. URLs that contain a secret are not sent to it."""

    service = "https://r.jina.ai"
    key_variables: ClassVar[tuple[str, ...]] = ("JINA_API_KEY",)
    key_page = "https://jina.ai/api-dashboard"
    key_needed = False
    read_timeout: ClassVar[float] = 30.0  # it runs a browser
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    capabilities: Capabilities = Capabilities(read=True, renders=True)

    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request.

        Raises:
            PageRefused: the URL contains a secret. InvalidRequest: it is not a web URL.
        """
        if has_secret(url):
            raise PageRefused(
                url,
                f"The address carries a password, key or token, which is not given to {self.name}. "
                "Open it without that part, or with the local reader.",
            )
        plain = parse_url(url).text  # without dot segments, which would leave the path
        headers = {
            "X-Timeout": str(max(1, int(deadline.remaining() - _MARGIN))),
            "X-Retain-Images": "none",
            "DNT": "1",  # it stores other responses in a public cache
        }
        if "#" in plain or len(plain) > _MAX_URL:  # it does not fit into a path
            return Mapped({"url": plain}, method="POST", path="/", headers=headers)
        return Mapped({}, method="GET", path=f"/{plain}", headers=headers)

    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse a response: JSON, or the plain text that its gateways may send instead."""
        if not 200 <= reply.status < 300:
            self._raise_failure(reply, reply.status, url)
        data = _from_text(reply)
        if data is None:
            body = json_object(reply, self.name)
            number = _number(body)
            # The number is more precise than the status, which is its first three digits.
            if number and number // 100 != 200:
                self._raise_failure(reply, number // 100, url)
            data = body.get("data")
            if not isinstance(data, dict) or not isinstance(data.get("content", ""), str):
                raise UnexpectedResponse(self.name, "answered with JSON that has no page", status=reply.status)
        warnings = [line for line in text_or_empty(data.get("warning")).splitlines() if line.strip()]
        for warning in warnings:
            if match := _STATUS.search(warning):
                raise page_failure(url, status=int(match[1]), words=warning)
        for warning in warnings:
            if _BLOCK_PAGE.search(warning):
                raise PageRefused(url, f"The site requires a person or an account ({short_message(warning)}).")
        return page_result(
            url,
            clean(data.get("content")).strip(),
            title=" ".join(clean(data.get("title")).split()),
            final_url=final.text if (final := url_or_none(clean(data.get("url")))) else "",
            published=day(text_or_empty(data.get("publishedTime"))) or None,
            language=clean(value_at(data, "metadata.lang")) or None,
            warnings=tuple(f"{self.name}: {short_message(warning)}" for warning in warnings),
        )

    def page_cost(self, reply: Response) -> float:
        """Return the cost of a page from the tokens stated in the response; without a key it is free."""
        return self.charge(reply, "data.usage.tokens", "token", 0)

    def _raise_failure(self, reply: Response, status: int, url: str) -> None:
        """Raise the error for a status and the five-digit number in the body."""
        number = _number(json_or_empty(reply))
        words = error_text(reply).removeprefix(": ")
        # 42206: an assertion failed while reading the page. A name that does not resolve has several numbers.
        if number == 42206 or (status in {400, 422} and _NO_NAME.search(words)):
            raise page_failure(url, words=words)
        if number == 41302:
            detail = f": {words}" if words else ""
            raise PageTooLarge(url, f"The page is larger than {self.name} reads{detail}. Look for a smaller page.")
        raise_for_error(replace(reply, status=status), self.name, self.errors, self.key_variables)
        raise UnexpectedResponse(self.name, "answered with an unknown status", status=reply.status)


def _number(body: dict[str, Any]) -> int:
    """Return the service's own five-digit number (`42206`), or 0."""
    value = body.get("status")
    return value if isinstance(value, int) and 10_000 <= value <= 99_999 else 0


def _from_text(reply: Response) -> dict[str, Any] | None:
    """Convert the plain form of a page to the JSON form, or return None if it has another format."""
    if not reply.body.startswith((b"Title:", b"URL Source:")):
        return None
    text = reply.body.decode("utf-8", "replace")
    start = _CONTENT.search(text)
    head = text[: start.start()] if start else text
    page = {"content": text[start.end() :] if start else ""}
    for match in filter(None, map(_HEADER.fullmatch, head.splitlines())):
        key = _HEADERS[match[1]]
        page[key] = f"{page[key]}\n{match[2]}" if key in page else match[2]
    return page
