"""Icons of sites: fetched by the server, so that no site learns who saw it among which results."""

from __future__ import annotations

from contextlib import suppress

from groundwire.deadline import Deadline
from groundwire.errors import BlockedByPolicy, DeadlineExceeded, PageError
from groundwire.safety.urls import WebUrl, parse_url
from groundwire.storage import StoreError
from groundwire.web import Web
from groundwire_server.ui.template_streaming import RawBody
from groundwire_server.ui.view import Visit

__all__ = ["site_icon"]

_LARGEST = 100_000  # bytes; those of a thousand popular sites have 1 to 40 kB
_TIMEOUT = 4.0  # seconds
_INTERVAL, _BURST = 0.5, 100  # seconds between the fetches of one owner, and how many may come at once
_LIFE, _LIFE_OF_NONE = 7 * 86_400.0, 86_400.0  # seconds
_KINDS = (  # by the first bytes, whatever the site says; an SVG could act
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
)


async def site_icon(visit: Visit) -> RawBody:
    """Return the icon of a site, empty if it has none that may be shown.

    Raises:
        InvalidRequest, BlockedAddress: it is not a URL.
    """
    site = parse_url(visit.query.get("site"))
    data = await _icon(visit.web, site) if visit.may_spend else b""
    return RawBody(data=data, content_type=_kind(data), seconds=int(_LIFE_OF_NONE))


async def _icon(web: Web, site: WebUrl) -> bytes:
    permits, store = web.pages.policy.permits, web.store
    key = f"icon:{site.origin}"  # of no owner: it is public, and the same for everyone
    try:
        if not permits(site.origin):
            return b""
        if (entry := await store.get(key)) is not None:
            return entry.value
        if not (await store.pace(f"icons:{web.owner.key}", interval=_INTERVAL, burst=_BURST, max_wait=0)).granted:
            return b""
        data = b""
        with suppress(PageError, DeadlineExceeded):
            deadline = Deadline.after(_TIMEOUT)
            response = await web.clients.pages.fetch(f"{site.origin}/favicon.ico", deadline=deadline, cap=_LARGEST)
            if not permits(response.url):
                return b""
            data = response.body if response.status == 200 and _kind(response.body) else b""
        if web.keeps:
            await store.set(key, data, fresh=_LIFE if data else _LIFE_OF_NONE)
    except (BlockedByPolicy, StoreError):
        return b""
    return data


def _kind(data: bytes) -> str:
    return next((kind for start, kind in _KINDS if data.startswith(start)), "")
