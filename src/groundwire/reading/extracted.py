"""What reading a document yields.

Why a document gives no text, in the words that its reader gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from groundwire.models import ReadResult

if TYPE_CHECKING:
    from groundwire.reading.convert import Converted

__all__ = ["MAX_CONTENT", "Extracted", "Unreadable", "UnreadableDocument", "Why", "read_result"]

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
        self.found: Unreadable = Unreadable(why, message)


def read_result(
    url: str, converted: Converted, *, final_url: str, content_type: str, warnings: tuple[str, ...] = ()
) -> ReadResult:
    """Return a page that was read, with what is to be known about it.

    Args:
        url: The address that was asked for.
        converted: The page.
        final_url: Where the redirects led.
        content_type: The media type, without parameters.
        warnings: What is to be known beside what converting it showed.
    """
    extracted = converted.extracted
    warnings += converted.warnings + extracted.warnings
    if extracted.cut:
        warnings += ("the page is very large; only its beginning was read",)
    return ReadResult(
        url=url,
        title=extracted.title,
        content=extracted.content,
        content_length=len(extracted.content),
        original_length=None if extracted.cut else len(extracted.content),
        truncated=extracted.cut,
        success=True,
        final_url=final_url,
        published=extracted.published,
        language=extracted.language,
        content_type=content_type,
        warnings=tuple(dict.fromkeys(warnings)),
    )
