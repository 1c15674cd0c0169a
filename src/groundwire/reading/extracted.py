"""The result of extracting a document, or the reason why it has no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from groundwire.models import ReadResult
from groundwire.reading.text.sanitize import clean, clean_text, hygiene_warnings, strip_invisible

if TYPE_CHECKING:
    from groundwire.reading.convert import Converted

MAX_CONTENT: Final = 2_000_000  # characters of Markdown; links and escapes may make it longer than its HTML


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The extracted content and metadata of a page."""

    title: str = ""
    """The page's title; empty if it has none."""
    content: str = ""
    """The main content as Markdown."""
    published: str | None = None
    """When it was published, or last changed if it states only that, as an ISO 8601 date; None means unknown."""
    modified: str | None = None
    """When it was last changed, as an ISO 8601 date; None means unknown, or not after its day of publication."""
    language: str | None = None
    """The page's language as a BCP 47 tag, if declared; None means unknown."""
    author: str | None = None
    """The author; None means unknown."""
    site: str | None = None
    """The site's name; None means unknown."""
    cut: bool = False
    """Whether the page was truncated because of its size."""
    kind: str | None = None
    """The kind of page: article, documentation, forum, product, listing, collection, service; None means unknown."""
    warnings: tuple[str, ...] = ()
    """What was removed, as phrases with counts."""
    later: tuple[str, ...] = ()
    """Warnings about parts that scripts load."""


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
    """A document has no text; caught where documents are converted.

    Args:
        why: The reason.
        message: What happened and what to do next, as sentences.
    """

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message)
        self.reason: Unreadable = Unreadable(why, message)


def read_result(
    url: str, converted: Converted, *, final_url: str, content_type: str, warnings: tuple[str, ...] = ()
) -> ReadResult:
    """Return the result for a page, with its warnings.

    Args:
        url: The requested URL.
        converted: The page.
        final_url: The URL after redirects.
        content_type: The media type, without parameters.
        warnings: Additional warnings.
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
        modified=extracted.modified,
        author=extracted.author,
        language=extracted.language,
        content_type=content_type,
        warnings=tuple(dict.fromkeys(warnings)),
        incomplete=converted.incomplete,
    )


def cleaned_result(result: ReadResult) -> ReadResult:
    """Remove invisible content from a third-party reader's result; see `clean_text`."""
    content, counts = clean_text(clean(result.content))
    title = " ".join(strip_invisible(clean(result.title))[0].split())
    if content == result.content and title == result.title:
        return result
    return result.model_copy(
        update={
            "title": title,
            "content": content,
            "content_length": len(content),
            "warnings": result.warnings + hygiene_warnings(counts),
        }
    )
