"""Static files, and the streaming of templates while they are rendered: what is known does not wait for the rest."""

from __future__ import annotations

import asyncio
import hashlib
import io
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final

import jinja2
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from groundwire.routing.confirm_empty import CONTROL_REASON
from groundwire_server.ui import formatting
from groundwire_server.ui.query_params import link

__all__ = ["ASSETS", "POLICY", "Assets", "Html", "Templates", "static_headers"]

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


def static_headers(content_type: str, *, versioned: bool) -> dict[str, str]:
    """Return the headers of a file that is part of the page.

    Args:
        content_type: Its media type.
        versioned: Whether it was asked for by its version, so that it never changes.
    """
    cache = "public, max-age=31536000, immutable" if versioned else "no-cache"
    return {"content-type": content_type, **dict(_ALWAYS), "cache-control": cache}


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

    def response(self, page: Html, values: Mapping[str, Any], *, private: bool) -> Response:
        """Return the response with a page, which is sent while it is rendered.

        Args:
            page: The page.
            values: What every page shows.
            private: Whether a browser must not keep it; else it may show it again when its reader goes back.
        """
        pieces = self._environment.get_template(page.template).generate_async(**values, **page.values)
        cache = {"cache-control": "no-store" if private else "private, no-cache"}
        headers = {**dict(_PAGE), **dict(_ALWAYS), **cache, **dict(page.headers)}
        return StreamingResponse(_collected(pieces), page.status, headers)


async def _collected(pieces: AsyncIterator[str]) -> AsyncIterator[bytes]:
    """Yield the pieces of a page, those of the same moment as one."""
    buffer = io.StringIO()

    async def render() -> None:
        async for piece in pieces:
            buffer.write(piece)

    rendering = asyncio.create_task(render())
    try:
        while not rendering.done():
            await asyncio.wait({rendering}, timeout=_READY)
            if data := buffer.getvalue().encode("utf-8", "replace"):
                buffer.seek(0)
                buffer.truncate()
                yield data
        await rendering
    finally:
        rendering.cancel()
