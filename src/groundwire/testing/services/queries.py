"""How search services take a query apart."""

from __future__ import annotations

import re

__all__ = ["split_sites"]

_SITE = re.compile(r"(-?)site:([^\s()]+)", re.IGNORECASE)


def split_sites(query: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the words of a query, the hosts of its `site:` operators, and those of its `-site:` operators."""
    sites = [(sign, host.lower()) for sign, host in _SITE.findall(query)]
    words = re.sub(r"\b(?:OR|AND|NOT)\b|[()]", " ", _SITE.sub(" ", query))
    return (
        " ".join(words.split()),
        tuple(host for sign, host in sites if not sign),
        tuple(host for sign, host in sites if sign),
    )
