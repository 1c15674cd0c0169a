"""Static files, and the streaming of templates while they are rendered: what is known does not wait for the rest."""

from __future__ import annotations

import asyncio
import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final

import jinja2
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from groundwire.routing.confirm_empty import CONTROL_REASON
from groundwire_server.ui import formatting
from groundwire_server.ui.query_params import link

__all__ = ["ASSETS", "POLICY", "Assets", "Html", "Redirect", "Templates", "page_headers", "static_headers"]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The Content-Security-Policy (level 3): Groundwire's own script and stylesheet, nothing else."""

_ALWAYS = (
    ("x-content-type-options", "nosniff"),
    # With `no-referrer` a browser would send `Origin: null` with Groundwire's own forms, and they would be refused.
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
)
_PAGE = (
    ("content-type", "text/html; charset=utf-8"),
    ("content-security-policy", POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("x-frame-options", "DENY"),
    ("vary", "Cookie"),
)

_Raw = list[tuple[bytes, bytes]]


def page_headers(more: Iterable[tuple[str, str]] = (), *, private: bool) -> _Raw:
    """Return the headers of an HTML page.

    Args:
        more: Further ones.
        private: Whether it must not be kept at all; else a browser may show it again when its reader goes back.
    """
    cache = ("cache-control", "no-store" if private else "private, no-cache")
    return _raw((*_PAGE, *_ALWAYS, cache, *more))


def static_headers(content_type: str, *, versioned: bool) -> dict[str, str]:
    """Return the headers of a file that is part of the page.

    Args:
        content_type: Its media type.
        versioned: Whether it was asked for by its version, so that it never changes.
    """
    cache = "public, max-age=31536000, immutable" if versioned else "no-cache"
    return {"content-type": content_type, **dict(_ALWAYS), "cache-control": cache}


def _raw(headers: Iterable[tuple[str, str]]) -> _Raw:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


ASSETS: Final[Mapping[str, str]] = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "mark.svg": "image/svg+xml",
}
"""The files by name, with their media types."""


class Assets:
    """Serves the files, from memory; an ASGI application for `PATH/{name}`.

    Args:
        path: Where they are served.
    """

    def __init__(self, path: str) -> None:
        folder = files("groundwire_server.ui").joinpath("static")
        self._path = path
        self._files = {name: folder.joinpath(name).read_bytes() for name in ASSETS}
        self._versions = {name: hashlib.sha256(data).hexdigest()[:12] for name, data in self._files.items()}

    def url(self, name: str) -> str:
        """Return where a file is, with its version."""
        return f"{self._path}/{name}?v={self._versions[name]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a file."""
        name = str(scope["path_params"]["name"])
        data = self._files.get(name)
        status, body, kind = (
            (404, b"There is no such file.", "text/plain") if data is None else (200, data, ASSETS[name])
        )
        versioned = data is not None and Request(scope).query_params.get("v") == self._versions[name]
        await Response(body, status, static_headers(kind, versioned=versioned))(scope, receive, send)


_READY = 0.03  # seconds within which output is collected, so that a fast page is sent in one chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Html:
    """A page that is to be sent."""

    template: str
    """The template's name."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The template's variables. Slow values are objects with an asynchronous method, which the template calls."""
    status: int = 200
    """The HTTP status."""
    headers: tuple[tuple[str, str], ...] = ()
    """Further headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """A redirect to another local page."""

    to: str
    """Its path with its query."""
    status: int = 303
    """The HTTP status."""
    headers: tuple[tuple[str, str], ...] = ()
    """Further headers."""


class Templates:
    """The templates, with autoescaping."""

    def __init__(self) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.PackageLoader("groundwire_server.ui"),
            autoescape=True,
            enable_async=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        filters = {name: getattr(formatting, name) for name in formatting.__all__ if name != "age"}
        self._environment.filters.update(filters, ago=lambda when: formatting.age(when, datetime.now(UTC)))
        self._environment.globals["control_reason"] = CONTROL_REASON
        self._environment.globals.update(link=link, web_url=formatting.web_url, language_tag=formatting.language_tag)

    async def send(self, page: Html, values: Mapping[str, Any], send: Send, *, head_only: bool, private: bool) -> None:
        """Render and send a page.

        Args:
            page: The page.
            values: What every page shows.
            send: The connection.
            head_only: Whether only the headers are asked for.
            private: Whether a browser must not keep it.
        """
        template = self._environment.get_template(page.template)
        headers = page_headers(page.headers, private=private)
        await send({"type": "http.response.start", "status": page.status, "headers": headers})
        buffer = io.StringIO()

        async def make() -> None:
            async for piece in template.generate_async(**values, **page.values):
                buffer.write(piece)

        if not head_only:
            making = asyncio.create_task(make())
            try:
                while not making.done():
                    await asyncio.wait({making}, timeout=_READY)
                    if data := buffer.getvalue().encode("utf-8", "replace"):
                        buffer.seek(0)
                        buffer.truncate()
                        await send({"type": "http.response.body", "body": data, "more_body": True})
                await making
            finally:
                making.cancel()
        await send({"type": "http.response.body", "body": b""})
