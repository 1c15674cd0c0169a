"""A read service that speaks as Jina Reader does (source of May 2026): JSON or plain text, warnings within HTTP 200."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import Library
from groundwire.testing.site import midnight
from world.services.shared import ApiEmulator, ApiSpec, EmulatedRefusal, Visited, visit

_NAMES: Final[Mapping[int, str]] = {
    40001: "ParamValidationError",
    40103: "AuthenticationFailedError",
    40203: "InsufficientBalanceError",
    40904: "BudgetExceededError",
    42206: "AssertionFailureError",
    42903: "RateLimitTriggeredError",
    45102: "SecurityCompromiseError",
    50301: "ServiceDisabledError",
}


def _address(value: Any) -> str:
    try:
        parts = urlsplit(value)
        return "" if parts.hostname and parts.scheme in ("http", "https") else "is not an address"
    except ValueError:
        return "is not an address"


class Jina(ApiEmulator):
    """Jina Reader, which reads without a key, too; see `ApiEmulator`.

    Attributes:
        refused_hosts: Hosts that it does not read for anyone.
        captcha: Whether every page looks like one that asks for a captcha.
        cached: Whether pages come from its cache, of which it warns.
        down: Whether it is out of service.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="jina",
        routes={},
        parameters={"read": {"url": _address}},
        refusals={
            "down": EmulatedRefusal(503, 50301, "Out of service."),
            "key": EmulatedRefusal(401, 40103, "This key is not known."),
            "fast": EmulatedRefusal(429, 42903, "Too many requests."),
            "credit": EmulatedRefusal(402, 40203, "The balance is too low."),
            "timeout": EmulatedRefusal(400, 40001, "Invalid timeout."),
            "invalid": EmulatedRefusal(400, 40001),
            "blocked": EmulatedRefusal(451, 45102),
            "empty": EmulatedRefusal(422, 42206),
            "budget": EmulatedRefusal(409, 40904),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.refused_hosts: set[str] = set()
        self.captcha = False
        self.cached = False
        self.down = False

    def route(self, request: Recorded) -> str:
        """Return the one method: every path is an address to read."""
        return "read"

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether a key is known, or there is none."""
        return not request.headers.get("Authorization") or key in self.keys

    def refuses(self, request: Recorded, key: str) -> EmulatedResponse | None:
        """Return the refusal of a service that is down, or of a timeout out of bounds."""
        if self.down:
            return self.refuse("down")
        good = request.headers.get("X-Timeout", "1") in {str(seconds) for seconds in range(1, 181)}
        return None if good else self.refuse("timeout")

    def body(self, request: Recorded) -> dict[str, Any]:
        """Return the address to read: the path as it was on the wire, or a field of the body."""
        return {"url": _target(request)}

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form, JSON or text."""
        name = _NAMES[int(refusal.code)]
        readable = f"{name}: {message}"
        if "text/plain" in self.request.headers.get("Accept", ""):
            return replace(EmulatedResponse.text(readable), status=refusal.status)
        body = {
            "data": None,
            **({"path": parameter} if parameter else {}),
            "code": refusal.status,
            "name": name,
            "status": refusal.code,
            "message": message,
            "readableMessage": readable,
        }
        return EmulatedResponse.json(body, status=refusal.status)

    def read(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return a page, or how its site failed."""
        url = body["url"]
        host = urlsplit(url).hostname
        if host in self.refused_hosts:
            return self.refuse("blocked", f"Access to {host} is blocked.")
        page = visit(self.library, url.partition("#")[0])
        if page is None:
            return self.refuse("invalid", f"Domain '{host}' could not be resolved", "url")
        return self._page(url, page)

    def _page(self, url: str, page: Visited) -> EmulatedResponse:
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
            return self.refuse("empty", f"No content available for URL {url}")
        tokens = len(content) // 4
        budget = self.request.headers.get("X-Token-Budget", "")
        if budget.isdigit() and tokens > int(budget):
            return self.refuse("budget", f"The budget of {budget} tokens is less than the {tokens} of this page.")
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
        if not _wants_json(self.request):
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
