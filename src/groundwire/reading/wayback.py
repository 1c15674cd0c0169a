"""The Wayback Machine of the Internet Archive: the last copy of a page (https://archive.org/help/wayback_api.php).

Its availability API is asked first, without the scheme: with one it finds less (github.com/internetarchive/wayback,
issue 296). The copy is then read as it was recorded, by the mark `id_` after its time. Both read on 2026-11-28.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from functools import partial
from typing import Self
from urllib.parse import unquote, urlsplit

from groundwire.deadline import Deadline
from groundwire.errors import PageNotFound, RateLimited, UnexpectedResponse
from groundwire.models import ReadResult
from groundwire.providers.base import Capabilities, ProviderContext
from groundwire.providers.http_api import ApiProvider
from groundwire.providers.http_parsing import raise_for_error, text_or_empty, value_at
from groundwire.providers.query_mapping import Mapped
from groundwire.reading.local import checked_result
from groundwire.reading.workers.pool import Conversion
from groundwire.safety.urls import parse_url
from groundwire.transport import Response

_COPY = re.compile(
    r"https?://web\.archive\.org/web/(?P<time>\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{6})[a-z_]{0,3}/"
    r"(?P<url>https?://\S{1,2000})",
    re.ASCII,
)
_TIMEOUT = 20.0  # seconds
_COOLDOWN = 60.0  # seconds without a request after it refused one, unless it says how many


class WaybackReadProvider(ApiProvider):
    """Reads the last copy of a page in the Wayback Machine, for pages that are gone."""

    service = "https://{host}archive.org"
    key_needed = False
    capabilities: Capabilities = Capabilities(read=True, copies=True)
    _conversion: Conversion | None = None
    _resting_until: float = 0.0

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Create the reader; see `ApiProvider.create`."""
        reader = super().create(context)
        reader._conversion = Conversion.of(context.settings.read, context.workers)
        return reader

    async def aclose(self) -> None:
        """End the processes that convert pages."""
        if self._conversion is not None:
            await self._conversion.aclose()

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read the last copy of a page, with a warning that says its day; see `ReadProvider.read_url`.

        Raises:
            PageNotFound: there is no copy.
        """
        if (wait := self._resting_until - time.monotonic()) > 0:
            raise RateLimited(self.name, "not called: in cooldown", retry_after=wait)
        limited = (deadline or Deadline.after(_TIMEOUT)).capped(_TIMEOUT)
        page = {"url": parse_url(url).request_text.partition("://")[2]}
        look_up = Mapped(page, path="/wayback/available", address={"host": ""})
        try:
            copy = await self.ask(look_up, partial(self._last_copy, url=url), deadline=limited)
            time_made, recorded = copy["time"], copy["url"]
            load = Mapped({}, path=f"/web/{time_made}id_/{recorded}", address={"host": "web."})
            reply = await self.ask(load, self._recorded, deadline=limited)
        except RateLimited as error:
            self._resting_until = time.monotonic() + (error.retry_after or _COOLDOWN)
            raise
        self._conversion = self._conversion or Conversion()
        reply = replace(reply, url=url)  # to which its links are relative
        converted = await self._conversion.convert(
            reply.body, reply.content_type, url, headers=reply.headers, deadline=limited
        )
        result = checked_result(url, converted, reply)
        day = f"{time_made[:4]}-{time_made[4:6]}-{time_made[6:8]}"
        warning = f"the Wayback Machine's copy of {day}: https://web.archive.org/web/{time_made}/{recorded}"
        return result.model_copy(update={"warnings": (warning, *result.warnings)})

    def _last_copy(self, reply: Response, url: str) -> re.Match[str]:
        data = self.answer(reply)
        if not isinstance(data.get("archived_snapshots"), dict):
            raise UnexpectedResponse(self.name, "answered with JSON that has no copies", status=reply.status)
        closest = value_at(data, "archived_snapshots.closest")
        match = _COPY.fullmatch(text_or_empty(value_at(closest, "url")))
        if match is None or text_or_empty(value_at(closest, "status")) != "200" or _page(match["url"]) != _page(url):
            raise PageNotFound(url, "The Wayback Machine has no copy of this page.")
        return match

    def _recorded(self, reply: Response) -> Response:
        raise_for_error(reply, self.name)
        return reply


def _page(url: str) -> tuple[object, ...]:
    """Return what two addresses of one page have in common: host, path, and parameters in any order and case."""
    try:
        parts = urlsplit(unquote(url).lower())
    except ValueError:  # of another's answer: it is no page's address
        return (url,)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/"), sorted(parts.query.split("&"))
