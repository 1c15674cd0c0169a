"""Where a page in a browser has landed, and whether it may be there."""

from __future__ import annotations

from groundwire.errors import BlockedAddress, InvalidRequest
from groundwire.reading.browser.proxy import VettingProxy
from groundwire.reading.browser.rendering import Rendered
from groundwire.reading.browser.results import unreachable
from groundwire.safety.guard import Guard
from groundwire.safety.urls import WebUrl

__all__ = ["judge_landing", "why_not", "with_remarks"]


def judge_landing(guard: Guard, target: WebUrl, final: str, proxy: VettingProxy) -> None:
    """Raise for a page that ended where it may not be, or nowhere.

    Args:
        guard: Judges addresses.
        target: The address that was asked for.
        final: The one that the browser shows.
        proxy: The page's proxy, which knows what was refused.

    Raises:
        BlockedAddress: it is not allowed. PageUnavailable: nobody could be reached there.
    """
    try:
        landed = guard.admit(final)
    except (BlockedAddress, InvalidRequest) as error:
        raise why_not(target, "ERR_FAILED", proxy, refused=True) from error
    place = _authority(landed)
    if place in proxy.refused or place in proxy.failed:
        raise why_not(target, "ERR_TUNNEL", proxy, place=place)


def why_not(target: WebUrl, code: str, proxy: VettingProxy, *, refused: bool = False, place: str = "") -> Exception:
    """Return the error for a page that did not come.

    Args:
        target: The address that was asked for.
        code: The browser's code for what happened.
        proxy: The page's proxy.
        refused: Whether the guard refused where it led.
        place: Host and port where it ended, when known.
    """
    start = _authority(target)
    known = place or start
    moved = known != start or (start not in proxy.refused and bool(proxy.refused))
    return unreachable(
        target.text,
        code,
        refused=refused or known in proxy.refused or (moved and known not in proxy.failed and bool(proxy.refused)),
        failed=known in proxy.failed,
        moved=moved or refused,
    )


def with_remarks(rendered: Rendered, proxy: VettingProxy) -> Rendered:
    """Return a page with what its proxy has to say about it."""
    said = list(rendered.warnings)
    if proxy.refused:
        said.append(f"the page wanted to reach {proxy.refused.total()} addresses that are not allowed")
    if proxy.exhausted:
        said.append("the page loads more than a page may; the rest was not loaded")
    return Rendered(
        url=rendered.url,
        html=rendered.html,
        status=rendered.status,
        headers=rendered.headers,
        warnings=tuple(said),
    )


def _authority(url: WebUrl) -> str:
    return f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"
