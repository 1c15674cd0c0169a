"""What the providers of papers share: the line on authors, journal and citations, and addresses of arXiv."""

from __future__ import annotations

import re
from collections.abc import Sequence

_AUTHORS = 3  # that are named
_ARXIV = re.compile(
    r"https?://(?:(?:www\.)?arxiv\.org/(?:abs|pdf)/|(?:dx\.)?doi\.org/10\.48550/arxiv\.)"
    r"([a-z.-]{1,30}/\d{7}|\d{4}\.\d{4,5})(?:v\d{1,3})?(?:\.pdf)?",
    re.IGNORECASE,
)


def arxiv_page(url: str) -> str:
    """Return the page of a paper's abstract on arXiv, for any address of it there; empty for another address."""
    match = _ARXIV.fullmatch(url[:200])
    return f"https://arxiv.org/abs/{match[1]}" if match else ""


def with_byline(abstract: str, authors: Sequence[str], venue: str = "", citations: int = 0) -> str:
    """Return an abstract after the first authors, where it was published, and how often it is cited.

    Args:
        abstract: The abstract; it may be empty.
        authors: The names of all authors, in order.
        venue: The journal, conference or repository.
        citations: How many works cite it.
    """
    more = len(authors) - _AUTHORS
    names = ", ".join(authors[:_AUTHORS]) + (f" and {more:,} more" if more > 0 else "")
    cited = f"cited by {citations:,}" if citations > 0 else ""
    line = "; ".join(part for part in (names, venue, cited) if part)
    return f"{line}. {abstract}".strip() if line else abstract
