"""The files of the page, and its templates, sent while they are rendered: what is known does not wait for the rest."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import jinja2
from starlette.responses import Response, StreamingResponse
from starlette.staticfiles import StaticFiles

from groundwire.routing.confirm_empty import CONTROL_REASON
from groundwire_server.ui import formatting
from groundwire_server.ui.query_params import link

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


class Assets(StaticFiles):
    """The files of the page; a browser asks each time whether it still has the current one."""

    def __init__(self) -> None:
        super().__init__(packages=[("groundwire_server.ui", "static")])

    def file_response(self, *args: Any, **options: Any) -> Response:
        """Return the response with a file."""
        response = super().file_response(*args, **options)
        response.headers.update({**dict(_ALWAYS), "cache-control": "no-cache"})
        return response


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
