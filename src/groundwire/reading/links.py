"""The addresses of a page's links, fit for Markdown."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

__all__ = ["Links"]

_MAX_ADDRESS: Final = 8_192  # characters; servers refuse longer addresses
_REMOVED: Final = re.compile(r"[\t\n\r]")  # as in https://url.spec.whatwg.org/#concept-basic-url-parser
_UNFIT: Final = re.compile(r"[\x00-\x20\x7f-\xa0<>\\|`]|&(?=#?\w{1,31};)")
_DOUBTFUL: Final = re.compile(r"[\x00-\x20\x7f-\xa0<>\\|`&]")
"""What each of `_UNFIT` begins with."""
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_DOTS: Final = re.compile(r"/\.|\\")


class Links:
    """Resolves the links of one page.

    Args:
        base_url: The address that relative links are relative to.
    """

    def __init__(self, base_url: str) -> None:
        self._base = base_url
        self._known: dict[str, str] = {}
        try:
            parts = urlsplit(base_url)
            self._origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
        except ValueError:
            self._origin = ""

    def resolve(self, reference: str) -> str:
        """Return the http or https address that a link points to, or "" when it points elsewhere or nowhere."""
        known = self._known.get(reference)
        if known is None:
            known = self._known[reference] = self._resolve(reference)
        return known

    def _resolve(self, reference: str) -> str:
        reference = reference.strip("\x00\x0b\x0c \t\n\r")
        if not reference.isprintable():
            reference = _REMOVED.sub("", reference)
        if not reference or len(reference) > _MAX_ADDRESS:
            return ""
        if reference[:8].lower().startswith(("http://", "https://")):
            address = reference
        elif _SCHEME.match(reference) and not reference[:6].lower().startswith(("http:", "https:")):
            return ""
        elif self._origin and reference[0] == "/" and reference[1:2] != "/" and not _DOTS.search(reference):
            address = self._origin + reference
        else:
            try:
                address = urljoin(self._base, reference)
            except ValueError:
                return ""
        if not address[:8].lower().startswith(("http://", "https://")) or address[-3:] == "://":
            return ""
        if "[" in address:  # an address of IPv6, or of nothing
            try:
                urlsplit(address)
            except ValueError:
                return ""
        if _DOUBTFUL.search(address):
            address = _UNFIT.sub(_percent, address)
        return address if _balanced(address) else address.replace("(", "%28").replace(")", "%29")


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _balanced(address: str) -> bool:
    """Whether the parentheses of an address are in pairs, few enough for every Markdown parser."""
    if "(" not in address and ")" not in address:
        return True
    depth = 0
    for char in address:
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        if depth < 0 or depth > 3:
            return False
    return depth == 0
