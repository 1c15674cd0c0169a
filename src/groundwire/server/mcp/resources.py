"""The addresses of the server's resources: pages, and what a session found."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, unquote

__all__ = ["PAGE_TEMPLATE", "SESSION", "page_of", "page_uri"]

SESSION = "groundwire://session"
"""What a session has used, found and opened."""

PAGE_TEMPLATE = "groundwire://page/{url}{?cursor}"
"""A page (RFC 6570)."""

_PAGE = "groundwire://page/"


def page_uri(url: str) -> str:
    """Return the resource that is the page at an address."""
    return _PAGE + quote(url, safe="")


def page_of(uri: str) -> tuple[str, str | None] | None:
    """Return the address and the cursor that a resource names; None if it is no page.

    An address that was not encoded is understood, too, as far as its own query lets it.
    """
    if not uri.startswith(_PAGE):
        return None
    rest = uri.removeprefix(_PAGE)
    if "://" in rest.partition("?")[0]:
        return rest, None
    encoded, _, query = rest.partition("?")
    cursor = parse_qs(query).get("cursor", [None])[-1]
    url = unquote(encoded)
    return (url, cursor) if url else None
