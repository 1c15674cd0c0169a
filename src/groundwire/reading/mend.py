"""Markup that a comment has swallowed, mended when nothing else is left of a page."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["mend_comments"]

_CONDITION: Final = re.compile(r"<!--\[if[^>\]]{0,200}\](?:>(?:<!-->)?)?|<!\[endif\](?:-->)?", re.IGNORECASE)


def mend_comments(markup: str) -> str:
    """Return markup without the marks of conditional comments.

    `<!--[if gte IE 9]>` hides what follows up to `-->`; when that is missing, a parser takes the page itself for a
    comment. Only for a page that has no text otherwise: what a sound comment hides is not to be read.

    Args:
        markup: The page's HTML.
    """
    return _CONDITION.sub("", markup)
