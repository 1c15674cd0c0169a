"""Addresses that only lead on to the page that is meant."""

from __future__ import annotations

import re

from groundwire.native.answers.values import text_of

__all__ = ["REDIRECTORS", "is_redirect", "site_of"]

REDIRECTORS = ("vertexaisearch.cloud.google.com",)
"""Hosts whose addresses redirect to the pages that Google's search found."""

_HOST = re.compile(r"https?://([^/?#:@\s]+)(?::\d+)?(?=[/?#]|$)", re.IGNORECASE)
_NAME = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{1,62}", re.IGNORECASE)


def is_redirect(url: str, hosts: tuple[str, ...] = REDIRECTORS) -> bool:
    """Tell whether an address only leads on to the page that is meant."""
    match = _HOST.match(url)
    return match is not None and match[1].lower() in hosts


def site_of(url: str, *names: object) -> str:
    """Return the host of the page behind a redirect, as the API names it, or nothing.

    Args:
        url: The address.
        names: Where the API may have put the name, the best first.
    """
    if not is_redirect(url):
        return ""
    return next((name.lower() for one in names if _NAME.fullmatch(name := text_of(one).strip())), "")
