"""What a browser brought as a result of ours, or as the error that it stands for."""

from __future__ import annotations

from typing import Final

from groundwire.errors import BlockedAddress, PageBlocked, PageEmpty, PageUnavailable
from groundwire.models import ReadResult
from groundwire.providers.http_parsing import page_failure
from groundwire.reading.browser.rendering import Rendered
from groundwire.reading.convert import Converted
from groundwire.reading.results import read_result
from groundwire.reading.softblock import known_wall
from groundwire.safety.urls import parse_url

__all__ = ["raise_for_rendered", "rendered_result", "unreachable"]

_REDIRECTED: Final = (
    "The page redirects to an address that is not allowed: only public http and https addresses are. Open another page."
)
_CAUSES: Final = {
    "ERR_CERT": "has a TLS certificate that is not valid for it",
    "ERR_SSL": "did not agree on a TLS connection",
    "ERR_HTTP2": "sent an answer that is not HTTP",
    "ERR_INVALID": "sent an answer that is not HTTP",
    "ERR_EMPTY_RESPONSE": "closed the connection without an answer",
    "ERR_CONNECTION": "refused the connection or could not be reached",
    "ERR_TUNNEL": "refused the connection or could not be reached",
}


def raise_for_rendered(url: str, rendered: Rendered) -> None:
    """Raise what the status of a page's document stands for; one of 200 to 299 is none.

    Raises:
        PageError: one of its classes.
    """
    if 200 <= rendered.status < 300:
        return
    wall = known_wall(rendered.headers, rendered.html)
    if wall is not None:
        raise PageBlocked(url, str(wall), status=rendered.status)
    raise page_failure(url, status=rendered.status)


def unreachable(url: str, code: str, *, refused: bool, failed: bool, moved: bool) -> Exception:
    """Return the error for a page that did not come.

    Args:
        url: The address that was asked for.
        code: The browser's code, such as `ERR_CONNECTION_RESET`.
        refused: Whether the guard refused the address, or one that it redirects to.
        failed: Whether nobody could be reached at it.
        moved: Whether the page had redirected before.
    """
    host = parse_url(url).host
    if refused:
        return BlockedAddress(
            _REDIRECTED if moved else f"{host} does not lead to a public web address. Check the spelling."
        )
    cause = next((words for start, words in _CAUSES.items() if code.startswith(start)), "could not be read")
    if failed:
        cause = "does not resolve, or refused the connection"
    return PageUnavailable(url, f"{host} {cause}. Try again later, or open another page.")


def rendered_result(url: str, rendered: Rendered, converted: Converted) -> ReadResult:
    """Return a page.

    Raises:
        PageBlocked: a wall came in its place. PageEmpty: there is nothing to read on it.
    """
    block = converted.block
    if block is not None and block.kind != "script shell":  # its scripts have run; what there is now is the page
        raise PageBlocked(url, str(block), status=rendered.status)
    if not converted.extracted.content:
        raise PageEmpty(
            url,
            f"The page has no readable text, in a browser neither ({len(rendered.html):,} characters of markup). "
            "Open another page.",
        )
    kind = rendered.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    return read_result(url, converted, final_url=rendered.url, content_type=kind, warnings=rendered.warnings)
