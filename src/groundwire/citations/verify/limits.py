"""Limits on what is verified, counted before anything is parsed: each takes one pass over the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

from groundwire.citations.verify.report import CitedPage
from groundwire.errors import InvalidRequest

MAX_BRACKETS: Final = 10_000
"""Opening brackets of an answer; each may begin a marker."""
MAX_SENTENCES: Final = 10_000
"""Sentences and lines of an answer."""
MAX_SEARCHED: Final = 1_000_000_000
"""Characters of cited sources, counted once per marker that names them."""
_ENDS: Final = ".!?…。！？｡।؟۔\n"
_END: Final = re.compile(r"[.!?…](?=[\s\"'”’»)\]*_\[【［]|\Z)|[。！？｡।؟۔]|\n(?!\n)")
_MARKER: Final = re.compile(r"[\[【［]([^\[\]【】［］\n]{1,64})[\]】］]")
_NUMBERS: Final = re.compile(r"(\d{1,4})(?:\s?[-‐‑‒–—−]\s?(\d{1,4}))?")
_MAX_RANGE: Final = 50  # sources of a range such as [1-50]
# Characters counted for any source, so that the count ends soon.
_MIN_CHARS_COUNTED: Final = MAX_SEARCHED // MAX_SENTENCES // 2


def check_size(answer: str, pages: Iterable[CitedPage]) -> None:
    """Refuse what would take too long to verify, without parsing it.

    Args:
        answer: The answer in Markdown, with its markers.
        pages: The sources by number.

    Raises:
        InvalidRequest: the answer has too many brackets, sentences or lines, or cites long sources too often.
    """
    if sum(map(answer.count, "[【［")) > MAX_BRACKETS:
        raise _too_large(f"has more than {MAX_BRACKETS:,} markers and other brackets")
    if sum(map(answer.count, _ENDS)) > MAX_SENTENCES and any(islice(_END.finditer(answer), MAX_SENTENCES, None)):
        raise _too_large(f"has more than {MAX_SENTENCES:,} sentences and lines")
    sizes: dict[int, int] = {}
    for page in pages:
        size = len(page.snippet if page.content is None else page.content)
        sizes[page.number] = max(size, sizes.get(page.number, 0))
    if max(sizes.values(), default=0) * MAX_SENTENCES <= MAX_SEARCHED:
        return  # short sources can be cited everywhere
    remaining = MAX_SEARCHED
    for marker in _MARKER.finditer(answer):
        for first, last in _NUMBERS.findall(marker[1]):
            end = min(int(last or first), int(first) + _MAX_RANGE)
            remaining -= max(_MIN_CHARS_COUNTED, sum(sizes.get(number, 0) for number in range(int(first), end + 1)))
            if remaining < 0:
                raise _too_large(f"cites long sources so often that over {MAX_SEARCHED:,} characters are searched")


def _too_large(problem: str) -> InvalidRequest:
    return InvalidRequest("answer", problem, "Check it in parts.")
