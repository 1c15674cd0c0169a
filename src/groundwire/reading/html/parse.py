"""Parsing of a page's HTML, with repair of pages that would otherwise be empty.

Two kinds of real pages have their text where a browser would not show it, and no other text: those with an unclosed
conditional comment, and those filled by a script, with the same text in `noscript`.
"""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Document, Element, Text, parse

__all__ = ["mend_comments", "parse_page"]

_CONDITION: Final = re.compile(r"<!--\[if[^>\]]{0,200}\](?:>(?:<!-->)?)?|<!\[endif\](?:-->)?", re.IGNORECASE)
_MIN_FALLBACK: Final = 250  # characters; shorter text for browsers without scripts is a request to enable them
_MAX_SHELL: Final = 200  # characters of a page that waits for its script
_UNSHOWN: Final = frozenset({"script", "style", "noscript", "template", "title", "head", "textarea", "option"})


def parse_page(markup: str) -> Document:
    """Parse a page; `groundwire.reading.visibility.visible.drop_unseen` is the next step.

    Hidden content normally stays hidden: comments are opened and `noscript` is shown only if there is almost no other
    text.

    Args:
        markup: The page's HTML.
    """
    document = parse(markup, allow_declarative_shadow_roots=False)
    if not _has_text(document) and "<!--[if" in markup:
        document = parse(mend_comments(markup), allow_declarative_shadow_roots=False)
    fallbacks = [element for element in document.find_all("noscript") if len(element.text) >= _MIN_FALLBACK]
    if fallbacks and _shell(document) < _MAX_SHELL:
        for element in fallbacks:
            element.tag = "div"
    return document


def mend_comments(markup: str) -> str:
    """Remove the markers of conditional comments (`<!--[if gte IE 9]>` and `<![endif]-->`).

    An unclosed one hides what follows; a parser treats the rest of the page as a comment.

    Args:
        markup: The page's HTML.
    """
    return _CONDITION.sub("", markup)


def _has_text(document: Document) -> bool:
    body = document.find("body")
    return body is not None and any(not text.isspace() for text in body.strings)


def _shell(document: Document) -> int:
    """Return how many characters a page shows without its script, up to `_MAX_SHELL`."""
    size = 0
    for node in document.descendants:
        if isinstance(node, Text):
            parent = node.parent
            if not isinstance(parent, Element) or parent.tag in _UNSHOWN:
                continue
            text = node.data.strip()
            if text and parent.closest("noscript") is None:
                size += len(text)
                if size >= _MAX_SHELL:
                    break
    return size
