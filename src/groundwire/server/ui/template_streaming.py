"""Streaming of templates while they are rendered: what is known does not wait for the rest."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import jinja2
from starlette.types import Send

from groundwire.server.ui import formatting
from groundwire.server.ui.query_params import link
from groundwire.server.ui.static_files import page_headers

__all__ = ["Html", "Redirect", "Templates"]

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
            loader=jinja2.PackageLoader("groundwire.server.ui"),
            autoescape=True,
            enable_async=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        filters = {name: getattr(formatting, name) for name in formatting.__all__ if name != "age"}
        self._environment.filters.update(filters, ago=lambda when: formatting.age(when, datetime.now(UTC)))
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
        made = io.StringIO()

        async def make() -> None:
            async for piece in template.generate_async(**values, **page.values):
                made.write(piece)

        if not head_only:
            making = asyncio.create_task(make())
            try:
                while not making.done():
                    await asyncio.wait({making}, timeout=_READY)
                    if data := made.getvalue().encode("utf-8", "replace"):
                        made.seek(0)
                        made.truncate()
                        await send({"type": "http.response.body", "body": data, "more_body": True})
                await making
            finally:
                making.cancel()
        await send({"type": "http.response.body", "body": b""})
