"""A page's main content as Markdown, and what the page says about itself.

`extract` is the only door: the engine behind it (trafilatura) can be replaced without anybody noticing. Pages on which
the engine would take seconds or find nothing take the whole-body way of `body.py`.
"""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import Final

from groundwire.reading.body import MAX_CONTENT, whole_body
from groundwire.reading.clean import clean, strip_controls
from groundwire.reading.engine import main_content
from groundwire.reading.extracted import Extracted
from groundwire.reading.markup import shorten, unescape

__all__ = ["MAX_MARKUP", "Extracted", "extract"]

MAX_MARKUP: Final = 2_000_000  # characters; the largest of 1,500 real pages had 1.2 million
MAX_TAGS: Final = 25_000  # the count of "<"; the largest of 1,500 real pages had 19,444
MAX_CELLS: Final = 5_000  # table cells; the engine's time grows with their square
_SHORT: Final = 3_000  # characters; with less than this the engine may have missed the content
_SHARE: Final = 0.1  # of the whole page; on 350 real pages, content below it was worse than the page itself
_HEAD: Final = 200_000  # characters in which the metadata of a giant page are looked for

_logger = logging.getLogger(__name__)
_CELL = re.compile(r"<t[dh][\s>]", re.IGNORECASE)
_JOINERS: Final = re.compile("\u200c|\u200d|&zwn?j;|&#(?:820[45]|[xX]200[cCdD]);")
_STAND_INS: Final = "\ua9c1\ua9c2\ua9c3\ua9c4\ua9c5\ua9c6\ua9c7\u2056\u2058\u2059\u205a\u205b\u205c\u205d\u205e"


def extract(html: str, url: str) -> Extracted:
    """Return the main content of a page.

    Args:
        html: The page's markup. Any text is taken and none makes this raise.
        url: The page's address, for its relative links.

    Returns:
        The content and the metadata. A page with visible text never comes back empty.
    """
    markup, cut = shorten(strip_controls(html), MAX_MARKUP)
    giant = markup.count("<") > MAX_TAGS or sum(1 for _ in _CELL.finditer(markup)) > MAX_CELLS
    found = _try_engine(_head(markup) if giant else markup, url)
    if giant or len(found.content) < _SHORT:
        found = _with_whole_body(found, markup, url, replaces=giant)
    if len(found.content) > MAX_CONTENT:
        found, cut = replace(found, content=found.content[:MAX_CONTENT].rstrip()), True
    return replace(found, cut=cut or found.cut)


def _with_whole_body(found: Extracted, markup: str, url: str, *, replaces: bool) -> Extracted:
    """Return `found` with the whole page as its content, if that says clearly more."""
    content, title, full = whole_body(markup, url)
    content = clean(content)
    found = replace(found, title=found.title or clean(title))
    if (
        replaces
        or len(found.content) < _SHARE * len(content)
        or (len(found.content) < 100 and len(content) > 2 * len(found.content))
    ):
        return replace(found, content=content, whole=True, cut=full)
    return found


def _head(markup: str) -> str:
    """Return the head of a page, which has most of its metadata."""
    end = re.compile(r"</head\s*>|<body[\s>]", re.IGNORECASE).search(markup, 0, _HEAD)
    return markup[: end.start()] + "</head><body></body></html>" if end else ""


def _try_engine(markup: str, url: str) -> Extracted:
    """Return what the engine makes of a page; nothing if it fails, which it does in many ways."""
    if not markup.strip():
        return Extracted()
    markup, stand_ins = _without_joiners(markup)
    try:
        found = main_content(markup, url)
    except ImportError:
        raise  # a broken installation is no fault of the page
    except Exception:  # whatever heuristics do on such a page, it still has its text
        _logger.debug("The engine failed; the whole page is taken.", exc_info=True)
        return Extracted()
    for stand_in, joiner in stand_ins:
        found = replace(
            found, title=found.title.replace(stand_in, joiner), content=found.content.replace(stand_in, joiner)
        )
    return found


def _without_joiners(markup: str) -> tuple[str, list[tuple[str, str]]]:
    """Return `markup` with other characters for the zero-width joiners, which the engine would drop.

    They belong to the spelling of Persian and the Indic languages, and to emoji.
    """
    if _JOINERS.search(markup) is None:
        return markup, []
    free = [char for char in _STAND_INS if char not in markup]
    if len(free) < 2:
        return markup, []
    markup = _JOINERS.sub(lambda match: free[unescape(match[0]) == "\u200d"], markup)
    return markup, list(zip(free, ("\u200c", "\u200d"), strict=False))
