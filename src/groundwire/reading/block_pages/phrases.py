"""Phrases of block pages, in the most common languages of the web, from `data/block_pages.txt`; `classify` decides.

All are in lower case, and for text in lower case: a search that ignores case takes four times as long. A phrase is a
block page's own text: it asks, orders or rejects. A text about such things ("a CAPTCHA is a test
that ...") is not a match; `PageSentences` distinguishes the two.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

__all__ = [
    "ABOUT", "ACCEPT", "AGE", "BOT_CHECK", "BROWSER", "CHECKS", "CONSENT", "COOKIES", "HELD_OFF", "JAVASCRIPT", "LOGIN",
    "MEMBERS", "PACE", "PAYWALL", "QUEUE", "REFUSED", "REGION",
]  # fmt: skip


def _read() -> dict[str, list[str]]:
    """Return the lines of the file below each name."""
    lines: dict[str, list[str]] = defaultdict(list)
    name = ""
    for line in files("groundwire.reading").joinpath("data", "block_pages.txt").read_text("utf-8").splitlines():
        if line.startswith("== "):
            name = line[3:]
        elif line and not line.startswith("#"):
            lines[name].append(line)
    return lines


_LINES: Final[Mapping[str, Sequence[str]]] = _read()


def _any(name: str) -> re.Pattern[str]:
    return re.compile("|".join(_LINES[name]))


def _line(name: str) -> re.Pattern[str]:
    """Return a pattern for a title, a heading or a line without other text."""
    return re.compile(rf"\A\W*+(?:{'|'.join(_LINES[name])})\W*+")


BOT_CHECK: Final = _any("BOT_CHECK")
"""Requests of bot checks."""

CHECKS: Final = _any("CHECKS")
"""Topics of a page with little but a CAPTCHA."""

CONSENT: Final = _any("CONSENT")
"""Phrases of a consent page."""

COOKIES: Final = _any("COOKIES")
"""Topics of a consent page."""

ACCEPT: Final = _line("ACCEPT")
"""Buttons of a consent page."""

LOGIN: Final = _any("LOGIN")
"""Headings of a login form."""

MEMBERS: Final = _any("MEMBERS")
"""Messages that a page requires a login."""

JAVASCRIPT: Final = _any("JAVASCRIPT")
"""Messages that a page requires scripts."""

AGE: Final = _any("AGE")
"""Questions of an age gate."""

PAYWALL: Final = _any("PAYWALL")
"""Messages that a text, or the rest of it, is for subscribers."""

REGION: Final = _any("REGION")
"""Messages that a page is not available in the visitor's region."""

PACE: Final = _any("PACE"), _line("PACE_LINE")
"""Messages of a rate limit, and their headings."""

BROWSER: Final = _any("BROWSER")
"""Messages that a page requires another browser, cookies, or no ad blocker."""

QUEUE: Final = _any("QUEUE")
"""Messages of a waiting room."""

REFUSED: Final = _line("REFUSED")
"""Headings of an access-denied page."""

ABOUT: Final = _any("ABOUT")
"""Topics of the other sentences of a block page."""

_PAIRS: Final = tuple(line.split("\t") for line in _LINES["HELD_OFF"])
HELD_OFF: Final = re.compile(
    rf"\A(?:{'|'.join(f'(?=.*(?:{his}))(?=.*(?:{wrong})).+' for his, wrong in _PAIRS)})", re.DOTALL
)
"""A sentence that states a problem with a visitor's network, browser, IP address or requests."""
