"""What a read service says of the page that it was sent to, as our page errors."""

from __future__ import annotations

from groundwire.errors import PageEmpty, PageError, PageNotFound, PageRefused, PageUnavailable

__all__ = ["clean", "empty_page", "page_failure", "said"]

_GONE = frozenset({404, 410})
_REFUSED = frozenset({401, 403, 407, 429, 451})
_LONGEST = 200  # characters of a service's own words


def page_failure(url: str, *, status: int | None = None, words: str = "") -> PageError:
    """Return the error for a page that its own server did not give.

    Args:
        url: The page's address.
        status: The status with which the page's server answered, if the service says.
        words: What the service says about it.
    """
    code = f"HTTP {status}" if status else ""
    detail = f" ({': '.join(part for part in (code, said(words)) if part)})" if code or words else ""
    if status in _GONE:
        reason = f"The server says that there is no such page{detail}. Check the address, or search for the page."
        return PageNotFound(url, reason, status=status)
    if status in _REFUSED:
        return PageRefused(url, f"The server will not give this page{detail}. Open another page.", status=status)
    reason = f"The page could not be fetched{detail}. Try again later, or open another page."
    return PageUnavailable(url, reason, status=status)


def empty_page(url: str) -> PageEmpty:
    """Return the error for a page in which the service found nothing to read."""
    return PageEmpty(url, "There is nothing readable on this page. Open another page.")


def clean(text: object) -> str:
    """Return a text that has a UTF-8 form, without NUL; JSON may hold halves of surrogate pairs (RFC 8259, 8.2)."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode() if isinstance(text, str) else ""


def said(words: object) -> str:
    """Return a service's own words in one line of at most 200 characters; nothing for what is no text."""
    text = " ".join(clean(words).split()).rstrip(".")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
