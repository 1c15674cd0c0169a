"""What was made of a page as a reader's result."""

from __future__ import annotations

from groundwire.models import ReadResult
from groundwire.reading.convert import Converted

__all__ = ["read_result"]


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
