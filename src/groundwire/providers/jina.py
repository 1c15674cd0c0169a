"""Jina Reader: turns a page into Markdown on its servers (https://github.com/jina-ai/reader), with or without a key.

Its HTTP status is not the page's: a page that is missing, or wants a captcha, comes with HTTP 200 and a warning.
"""

from __future__ import annotations

import re
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any, Literal, cast

from pydantic import Field

from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedByPolicy,
    InvalidRequest,
    PageRefused,
    PageTooLarge,
    ProviderBlocked,
    ProviderUnavailable,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.models import ReadResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiOptions, ApiProvider
from groundwire.providers.http_parsing import (
    clean,
    day,
    empty_page,
    error_text,
    json_object,
    json_or_empty,
    number_or_none,
    page_failure,
    raise_for_status,
    retry_after,
    said,
    text_or_empty,
)
from groundwire.safety.secrets_in_urls import has_secret
from groundwire.safety.urls import parse_url
from groundwire.transport import Reply

__all__ = ["JinaOptions", "JinaReadProvider", "parse_page", "to_request", "tokens"]

_TIMEOUT = 30.0  # seconds; it runs a browser
_MARGIN = 1.0  # seconds by which it should give up before we do, so that it can say why
_LONGEST = 2_000  # characters of a URL that go into a URL
_LONGEST_WAIT = 86_400.0  # seconds
_STATUS = re.compile(r"Target URL returned error (\d{3})\b", re.IGNORECASE)
_WALL = re.compile(r"\bcaptcha\b|\b(?:log|sign)[ -]?in\b|\bpaywall\b", re.IGNORECASE)
_NO_NAME = re.compile(r"could not be resolved", re.IGNORECASE)
_HEADER = re.compile(r"(Title|URL Source|Published Time|Warning): ?(.*)")
_CONTENT = re.compile(r"^Markdown Content:[ \t]*\n?", re.MULTILINE)


class JinaOptions(ApiOptions):
    """`[providers.jina]`."""

    engine: Literal["", "browser", "direct"] = ""
    """How it gets pages: with a browser, directly, or as it thinks best."""
    cache: bool = True
    """Whether it may answer from its own cache, which keeps pages for an hour."""
    token_budget: int | None = Field(default=None, ge=1)
    """The most tokens that a page may have; it refuses longer ones and charges nothing for them."""


class JinaReadProvider(ApiProvider):
    """Reading by Jina Reader. Addresses that carry a secret are not given to it."""

    service = "https://r.jina.ai"
    key_variables = ("JINA_API_KEY",)
    key_page = "https://jina.ai/api-dashboard"
    key_needed = False
    Options = JinaOptions
    capabilities = Capabilities(read=True, renders=True)

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`.

        Raises:
            PageRefused: the address carries a secret. InvalidRequest: it is none of the web.
        """
        if has_secret(url):
            raise PageRefused(
                url,
                f"The address carries a password, key or token, which is not given to {self.name}. "
                "Open it without that part, or with the local reader.",
            )
        limited = (deadline or Deadline.after(_TIMEOUT)).capped(_TIMEOUT)
        method, path, body = to_request(parse_url(url).text)  # without dots, which would climb out of the path
        headers = _headers(cast("JinaOptions", self._options), limited)

        def read(reply: Reply) -> ReadResult:
            page = parse_page(reply, url, self.name)
            cost = self._prices.cost("token", tokens(reply)) if len(self._keys) else 0.0
            return page.model_copy(update={"cost_usd": cost})

        return await self.ask(method, path, read, json_body=body, headers=headers, deadline=limited, timeout=_TIMEOUT)


def to_request(url: str) -> tuple[Literal["GET", "POST"], str, dict[str, str] | None]:
    """Return method, path and body: a URL with a fragment, and a long one, does not fit into a path."""
    if "#" in url or len(url) > _LONGEST:
        return "POST", "/", {"url": url}
    return "GET", f"/{url}", None


def _headers(options: JinaOptions, deadline: Deadline) -> dict[str, str]:
    headers = {
        "X-Timeout": str(max(1, int(deadline.remaining() - _MARGIN))),
        "X-Retain-Images": "none",
        "DNT": "1",  # it keeps what others ask for in a public cache
    }
    if options.engine:
        headers["X-Engine"] = options.engine
    if not options.cache:
        headers["X-No-Cache"] = "true"
    if options.token_budget is not None:
        headers["X-Token-Budget"] = str(options.token_budget)
    return headers


def parse_page(reply: Reply, url: str, name: str = "jina") -> ReadResult:
    """Read an answer, JSON or the plain text that its gateways may give instead.

    Args:
        reply: The answer.
        url: The address that was asked for.
        name: The provider's name.

    Raises:
        PageError: the page itself cannot be had. ProviderError: the service failed.
    """
    if not 200 <= reply.status < 300:
        _raise_failure(reply, reply.status, url, name)
    data = _from_text(reply)
    if data is None:
        body = json_object(reply, name)
        number = _number(body)
        if number and number // 100 != 200:  # the number is the finer one; the first three digits are the HTTP status
            _raise_failure(reply, number // 100, url, name)
        data = body.get("data")
        if not isinstance(data, dict) or not isinstance(data.get("content", ""), str):
            raise UnexpectedResponse(name, "answered with JSON that has no page", status=reply.status)
    warnings = [line for line in text_or_empty(data.get("warning")).splitlines() if line.strip()]
    for warning in warnings:
        if found := _STATUS.search(warning):
            raise page_failure(url, status=int(found[1]), words=warning)
    for warning in warnings:
        if _WALL.search(warning):
            raise PageRefused(url, f"The site wants a person or an account ({said(warning)}). Open another page.")
    content = clean(data.get("content")).strip()
    if not content:
        raise empty_page(url)
    metadata = data.get("metadata")
    return ReadResult(
        url=url,
        title=" ".join(clean(data.get("title")).split()),
        content=content,
        content_length=len(content),
        success=True,
        final_url=_address(clean(data.get("url"))),
        published=_date(text_or_empty(data.get("publishedTime"))),
        language=(clean(metadata.get("lang")) if isinstance(metadata, dict) else "") or None,
        warnings=tuple(f"{name}: {said(warning)}" for warning in warnings),
    )


def tokens(reply: Reply) -> int:
    """Return the tokens that an answer is charged for; 0 when it does not say."""
    data = json_or_empty(reply)
    for part in ("data", "meta"):
        holder = data.get(part)
        usage = holder.get("usage") if isinstance(holder, dict) else None
        count = number_or_none(usage.get("tokens")) if isinstance(usage, dict) else None
        if count is not None:
            return max(0, int(count))
    header = reply.headers.get("X-Usage-Tokens", "").strip()
    return int(header) if re.fullmatch(r"[0-9]{1,12}", header) else 0


def _raise_failure(reply: Reply, status: int, url: str, name: str) -> None:
    """Raise the error that a status and the five-digit number in the body stand for.

    The numbers are those of the service's source, `src/services/errors.ts`.
    """
    body = json_or_empty(reply)
    number = _number(body)
    words = error_text(reply)
    if number == 42206:  # an assertion failed while it read the page: nothing came, or nothing was in it
        raise page_failure(url, words=words.removeprefix(": "))
    if status in {400, 422} and _NO_NAME.search(words):  # under several numbers; only the words are always the same
        raise page_failure(url, words=words.removeprefix(": "))
    if number == 41302:
        raise PageTooLarge(url, f"The page is larger than {name} reads{words}. Look for a smaller page.")
    if number == 40903:
        raise ProviderUnavailable(name, f"is busy with this page{words}", status=status)
    if number == 40904:
        raise RequestRefused(
            name, f"the page has more tokens than allowed{words}", status=status, fix="Raise its token_budget"
        )
    if status == 451:
        raise ProviderBlocked(name, f"it does not read this address{words}", status=status)
    if status == 429:
        again = retry_after(reply.headers)
        if again is None:
            seconds = number_or_none(body.get("retryAfter"))
            again = None if seconds is None else min(max(0.0, seconds), _LONGEST_WAIT)
        raise RateLimited(name, f"too many requests{words}", status=status, retry_after=again)
    raise_for_status(replace(reply, status=status), name)
    raise UnexpectedResponse(name, "answered with an unknown status", status=reply.status)


def _number(body: dict[str, Any]) -> int:
    """Return the service's own five-digit number (`42206`), or 0."""
    value = body.get("status")
    return value if isinstance(value, int) and 10_000 <= value <= 99_999 else 0


def _from_text(reply: Reply) -> dict[str, Any] | None:
    """Return the plain form of a page as what the JSON form has, or None when the answer is not of that form."""
    if not reply.body.startswith((b"Title:", b"URL Source:")):
        return None
    text = reply.body.decode("utf-8", "replace")
    start = _CONTENT.search(text)
    head = text[: start.start()] if start else text
    found: dict[str, list[str]] = {}
    for line in head.splitlines():
        if match := _HEADER.fullmatch(line):
            found.setdefault(match[1], []).append(match[2])
    return {
        "title": " ".join(found.get("Title", [])),
        "url": " ".join(found.get("URL Source", [])),
        "publishedTime": " ".join(found.get("Published Time", [])),
        "warning": "\n".join(found.get("Warning", [])),
        "content": text[start.end() :] if start else "",
    }


def _address(text: str) -> str:
    """Return where the redirects led, if that is a web address."""
    try:
        return parse_url(text).text
    except (InvalidRequest, BlockedByPolicy):
        return ""


def _date(text: str) -> str | None:
    """Return a page's date, which the service passes on as the page says it, as ISO 8601; None for other words."""
    if found := day(text):
        return found
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, OverflowError):
        return None
