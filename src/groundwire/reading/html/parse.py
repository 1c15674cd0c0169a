"""A page's tree, with parse repair for pages that would otherwise be empty.

Two kinds of real pages have their text where a browser would not show it and nothing else: those that an unclosed
conditional comment has swallowed, and those that a script fills, with the same text for readers without scripts.
"""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Document, Element, Text, parse

__all__ = ["mend_comments", "parse_page"]

_CONDITION: Final = re.compile(r"<!--\[if[^>\]]{0,200}\](?:>(?:<!-->)?)?|<!\[endif\](?:-->)?", re.IGNORECASE)
_MIN_FALLBACK: Final = 250  # characters; a shorter text for readers without scripts is a request to switch them on
_MAX_SHELL: Final = 200  # characters of a page that waits for its script
_UNSHOWN: Final = frozenset({"script", "style", "noscript", "template", "title", "head", "textarea", "option"})


def parse_page(markup: str) -> Document:
    """Return a page's tree; see `groundwire.reading.visibility.visible.drop_unseen` for what is to be done next.

    What a sound page hides stays hidden: comments are opened and `noscript` is shown only when there is next to
    nothing else to read.

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
    """Return markup without the marks of conditional comments (`<!--[if gte IE 9]>` and `<![endif]-->`).

    Without its end, such a comment hides what follows; a parser takes the page itself for a comment.

    Args:
        markup: The page's HTML.
    """
    return _CONDITION.sub("", markup)


def _has_text(document: Document) -> bool:
    body = document.find("body")
    return body is not None and any(not text.isspace() for text in body.strings)


def _shell(document: Document) -> int:
    """Return how many characters a page shows while its script has not run, up to `_MAX_SHELL`."""
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
