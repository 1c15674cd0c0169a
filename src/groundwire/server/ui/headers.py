"""What every answer of the page tells a browser that it may do with it: next to nothing."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["POLICY", "page_headers", "static_headers"]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The Content-Security-Policy (level 3): our own script and stylesheet, and nothing else from anywhere."""

_ALWAYS = (
    ("x-content-type-options", "nosniff"),
    # With `no-referrer` a browser would send `Origin: null` with our own forms, and they would be refused.
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
)
_PAGE = (
    ("content-type", "text/html; charset=utf-8"),
    ("content-security-policy", POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("x-frame-options", "DENY"),
    ("vary", "Cookie"),
)

_Raw = list[tuple[bytes, bytes]]


def page_headers(more: Iterable[tuple[str, str]] = (), *, private: bool) -> _Raw:
    """Return the headers of an HTML page.

    Args:
        more: Further ones.
        private: Whether it must not be kept at all; else a browser may show it again when its reader goes back.
    """
    cache = ("cache-control", "no-store" if private else "private, no-cache")
    return _raw((*_PAGE, *_ALWAYS, cache, *more))


def static_headers(content_type: str, *, versioned: bool) -> _Raw:
    """Return the headers of a file that is part of the page.

    Args:
        content_type: Its media type.
        versioned: Whether it was asked for by its version, so that it never changes.
    """
    cache = "public, max-age=31536000, immutable" if versioned else "no-cache"
    return _raw((("content-type", content_type), *_ALWAYS, ("cache-control", cache)))


def _raw(headers: Iterable[tuple[str, str]]) -> _Raw:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
