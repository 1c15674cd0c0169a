"""The Wayback Machine: its availability API, and copies of the pages of this world as they were recorded."""

from __future__ import annotations

import re
import time
from typing import Any, ClassVar
from urllib.parse import urlsplit

from multidict import CIMultiDict, CIMultiDictProxy

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import Library
from world.services.shared import ApiEmulator, ApiSpec, EmulatedRefusal, site_at, words

_COPY = re.compile(r"/web/(\d{14})id_/(https?://.+)")


class Wayback(ApiEmulator):
    """The Wayback Machine; see `ApiEmulator`.

    Attributes:
        stamp: When all copies were made.
        copies: Recorded pages by address, beside those of the world.
        closest: What it says of a copy, in place of the truth.
        instead: What it answers in place of a copy.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="wayback",
        routes={"GET /wayback/available": "available"},
        parameters={"available": {"url": words(2_000)}, "recorded": {}},
        refusals={"fast": EmulatedRefusal(429, message="Too Many Requests")},
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.stamp = "20190304050607"
        self.copies: dict[str, str] = {}
        self.closest: dict[str, object] = {}
        self.instead: EmulatedResponse | None = None

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether there is no key."""
        return not key

    def route(self, request: Recorded) -> str | None:
        """Return the name of the method for a request."""
        return "recorded" if _COPY.fullmatch(request.target) else super().route(request)

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error, which is a page."""
        return EmulatedResponse.html(f"<title>{refusal.status}</title><h1>{message}</h1>", status=refusal.status)

    def available(self, params: dict[str, Any]) -> EmulatedResponse:
        """Return the closest copy of a page; with a scheme it finds none."""
        url = f"http://{params['url']}"
        known = "://" not in params["url"] and self._body(url) is not None
        address = f"http://web.archive.org/web/{self.stamp}/{url}"
        closest = {"status": "200", "available": True, "url": address, "timestamp": self.stamp} | self.closest
        return EmulatedResponse.json(
            {"url": params["url"], "archived_snapshots": {"closest": closest} if known else {}}
        )

    def recorded(self, params: dict[str, Any]) -> EmulatedResponse:
        """Return a page as it was recorded."""
        if self.instead is not None:
            return self.instead
        found = _COPY.fullmatch(self.request.target)
        body = self._body(found[2]) if found and found[1] == self.stamp else None
        return self.refuse("route") if body is None else EmulatedResponse.html(body)

    def _body(self, url: str) -> str | None:
        if url in self.copies:
            return self.copies[url]
        parts = urlsplit(url)
        if (site := site_at(self.library, f"{parts.scheme}://{parts.netloc}")) is None:
            return None
        headers = CIMultiDictProxy(CIMultiDict({"Host": parts.netloc}))
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        given = Recorded(
            method="GET", path=parts.path, target=target, query={}, headers=headers, body=b"", at=time.monotonic()
        )
        reply = site.handle(given)
        return reply.body.decode() if reply.status == 200 else None
