"""What reading a document yields.

Why a document gives no text, in the words that its reader gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["MAX_CONTENT", "Extracted", "Unreadable", "UnreadableDocument", "Why"]

MAX_CONTENT: Final = 2_000_000  # characters of Markdown; links and escapes may make it longer than its markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What a page says."""

    title: str = ""
    """The page's title; empty when it has none."""
    content: str = ""
    """The main content as Markdown."""
    published: str | None = None
    """When it was published, as an ISO 8601 date, where the page itself says so; None means unknown."""
    language: str | None = None
    """The page's language as a BCP 47 tag, as it declares it; None means unknown."""
    author: str | None = None
    """Who wrote it; None means unknown."""
    site: str | None = None
    """The site's name; None means unknown."""
    cut: bool = False
    """Whether the page was too large to be read to its end."""
    kind: str | None = None
    """What kind of page it is: article, documentation, forum, product, listing, collection, service; None: unknown."""
    warnings: tuple[str, ...] = ()
    """What was taken out of it, counted, a phrase each."""


Why = Literal["protected", "scanned", "broken", "empty", "large", "missing"]
"""Why a document has no text: a password, pictures instead of text, damage, no content, size, a missing library."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The reason why a document has no readable text."""

    why: Why
    """The reason."""
    message: str
    """What happened and what to do next, as sentences."""


class UnreadableDocument(Exception):
    """A document gives no text; raised where that is found, and caught where documents are converted.

    Args:
        why: The reason.
        message: What happened and what to do next, as sentences.
    """

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message)
        self.found = Unreadable(why, message)
