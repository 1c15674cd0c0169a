"""A read service that speaks as Jina Reader does (source of May 2026): JSON or plain text, warnings within HTTP 200."""

from __future__ import annotations

from dataclasses import replace
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import Library
from groundwire.testing.server import Endpoint
from groundwire.testing.services.shared import Visited, visit
from groundwire.testing.site import midnight

__all__ = ["Jina"]

_NAMES = {
    40001: "ParamValidationError",
    40103: "AuthenticationFailedError",
    40203: "InsufficientBalanceError",
    40904: "BudgetExceededError",
    42206: "AssertionFailureError",
    42903: "RateLimitTriggeredError",
    45102: "SecurityCompromiseError",
    50301: "ServiceDisabledError",
}


class Jina(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: Whose pages it reads.

    Attributes:
        keys: The keys it accepts; it reads without one, too.
        used_up: The keys whose balance is used up.
        retry_after: While it is set, everybody is too fast; the value of the Retry-After header, empty for none.
        refused_hosts: Hosts that it does not read for anybody.
        captcha: Whether every page looks like one that asks for a captcha.
        cached: Whether pages come from its cache, of which it warns.
        down: Whether it is out of service.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("jina")
        self._library = library
        self.keys = {"test-key"}
        self.used_up: set[str] = set()
        self.retry_after: str | None = None
        self.refused_hosts: set[str] = set()
        self.captcha = False
        self.cached = False
        self.down = False

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if self.down:
            return _failure(request, 50301, "Out of service.")
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if key and (scheme != "Bearer" or key not in self.keys):
            return _failure(request, 40103, "This key is not known.")
        if self.retry_after is not None:
            refusal = _failure(request, 42903, "Too many requests.")
            return replace(refusal, headers={"Retry-After": self.retry_after}) if self.retry_after else refusal
        if key in self.used_up:
            return _failure(request, 40203, "The balance does not suffice.")
        if request.headers.get("X-Timeout", "1") not in {str(seconds) for seconds in range(1, 181)}:
            return _failure(request, 40001, "Invalid timeout.")
        url = _target(request)
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
        except ValueError:
            host = ""
        if not host or parts.scheme not in ("http", "https"):
            return _failure(request, 40001, "Invalid URL.", path="url")
        if host in self.refused_hosts:
            return _failure(request, 45102, f"Access to {host} is blocked.")
        page = visit(self._library, url.partition("#")[0])
        if page is None:
            return _failure(request, 40001, f"Domain '{host}' could not be resolved", path="url")
        return self._read(request, url, page)

    def _read(self, request: Recorded, url: str, page: Visited) -> EmulatedResponse:
        warnings = []
        content = page.markdown
        if page.status >= 400:
            warnings.append(f"Target URL returned error {page.status}: {HTTPStatus(page.status).phrase}")
            content = f"# {page.status}\n\nThe words of the site's error page."
        if self.captcha:
            warnings.append("This page maybe requiring CAPTCHA, please make sure you are authorized to see it.")
        if self.cached:
            warnings.append("This is a cached snapshot of the original page.")
        if not content:
            return _failure(request, 42206, f"No content available for URL {url}")
        tokens = len(content) // 4
        budget = request.headers.get("X-Token-Budget", "")
        if budget.isdigit() and tokens > int(budget):
            return _failure(request, 40904, f"The budget of {budget} tokens does not suffice for {tokens}.")
        data: dict[str, Any] = {
            "title": page.title,
            "description": "",
            "url": url.partition("#")[0],
            "content": content,
            "metadata": {"lang": "en"},
            "external": {},
        }
        if page.published is not None:
            data["publishedTime"] = format_datetime(midnight(page.published), usegmt=True)
        if warnings:
            data["warning"] = "\n".join(warnings)
        data["usage"] = {"tokens": tokens}
        if not _wants_json(request):
            return replace(EmulatedResponse.text(_as_text(data, warnings)), headers={"X-Usage-Tokens": str(tokens)})
        meta = {"usage": {"tokens": tokens}}
        return EmulatedResponse.json({"code": 200, "status": 20000, "data": data, "meta": meta})


def _target(request: Recorded) -> str:
    """Return the address to read: the path as it was on the wire, or a field of the body."""
    if request.method != "POST":
        return request.target.removeprefix("/").replace("%23", "#")
    try:
        body = request.json()
    except ValueError:
        body = request.params
    url = body.get("url") if isinstance(body, dict) else None
    return url if isinstance(url, str) else ""


def _wants_json(request: Recorded) -> bool:
    accept = request.headers.get("Accept", "*/*")
    return "application/json" in accept and "text/plain" not in accept


def _as_text(data: dict[str, Any], warnings: list[str]) -> str:
    blocks = [f"Title: {data['title']}", f"URL Source: {data['url']}"]
    if "publishedTime" in data:
        blocks.append(f"Published Time: {data['publishedTime']}")
    if warnings:
        blocks.append("\n".join(f"Warning: {warning}" for warning in warnings))
    return "\n\n".join([*blocks, f"Markdown Content:\n{data['content']}"])


def _failure(request: Recorded, number: int, message: str, **more: str) -> EmulatedResponse:
    status, name = number // 100, _NAMES[number]
    readable = f"{name}: {message}"
    if "text/plain" in request.headers.get("Accept", ""):
        return replace(EmulatedResponse.text(readable), status=status)
    body = {
        "data": None,
        **more,
        "code": status,
        "name": name,
        "status": number,
        "message": message,
        "readableMessage": readable,
    }
    return EmulatedResponse.json(body, status=status)
