"""Pages that stand in front of the page: told by their marks, and by how little else they say.

A long page is never one: a wall has a few words, and what has more is worth reading, whatever it loads or writes about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from groundwire.reading.walls import (
    AGE,
    BOT_CHECK,
    CONSENT,
    HEADERS,
    JAVASCRIPT,
    LOGIN,
    NOT_FOUND,
    PARKED,
    VENDORS,
)

__all__ = ["SHELL", "BlockKind", "SoftBlock", "known_wall", "page_remarks", "soft_block"]

BlockKind = Literal["bot check", "consent wall", "login wall", "age gate", "script shell"]
"""What may stand in front of a page."""

_SHORT: Final = 60  # words; of 1,497 real pages, 1 % of those with content have fewer
_TINY: Final = 25  # words beside the message that a page needs scripts
_LONGEST: Final = max(vendor.words for vendor in VENDORS)
_SEEN: Final = 100_000  # characters of markup in which marks are looked for; walls are smaller
_SAID: Final = 4_000  # characters; a few words may be long ones
_WIDE = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PASSWORD = re.compile(r"<input\b[^>]*\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_LOGIN_PATH = re.compile(
    r"/(?:log-?in|sign-?in|auth|sso|account/login|session/new|checkpoint)(?:[/?.#]|$)", re.IGNORECASE
)
_CONSENT_HOST = re.compile(r"^https?://(?:consent|guce|cmp)\.", re.IGNORECASE)
_NOT_FREE = re.compile(r"\"isAccessibleForFree\"\s*:\s*\"?[Ff]alse")
_WAYS: Final[dict[BlockKind, str]] = {
    "bot check": "Open another page, or have it read by a reader with a browser or by an outside service.",
    "consent wall": "It wants consent to cookies before it shows the page. Open another page, or use another reader.",
    "login wall": "Only the user can log in there. Open another page, or ask the user for its text.",
    "age gate": "Only a person can pass it. Open another page.",
    "script shell": "It has no text until its scripts have run, which takes a reader with a browser.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftBlock:
    """What came in place of a page."""

    kind: BlockKind
    """What it is."""
    name: str
    """What to call it in a sentence: `Cloudflare's bot check`."""

    def __str__(self) -> str:
        return f"The page is behind {self.name}. {_WAYS[self.kind]}"


SHELL: Final = SoftBlock(kind="script shell", name="a script that draws it")
"""A page that has nothing to read until its scripts have run."""


def known_wall(headers: Mapping[str, str], markup: str) -> SoftBlock | None:
    """Return the bot check that the headers or the beginning of a refusal show, or None.

    Args:
        headers: The answer's headers, names in any case.
        markup: As much of its body as there is.
    """
    small = {name.lower(): value.lower() for name, value in headers.items()}
    for header, value, name in HEADERS:
        if header in small and value in small[header]:
            return SoftBlock(kind="bot check", name=name)
    lowered = markup[:_SEEN].lower()
    for vendor in VENDORS:
        if vendor.stands_in(lowered):
            return SoftBlock(kind="bot check", name=vendor.name)
    if "x-datadome" in small:
        return SoftBlock(kind="bot check", name="DataDome's bot check")
    return None


def soft_block(headers: Mapping[str, str], url: str, markup: str, *, title: str, content: str) -> SoftBlock | None:
    """Return what stands in place of the page that was asked for, or None when it is the page.

    Args:
        headers: The answer's headers, names in any case.
        url: The address that answered.
        markup: The page's HTML.
        title: The page's title.
        content: What was made of it.
    """
    words = _words(content)
    announced = known_wall({name: value for name, value in headers.items() if name.lower() != "x-datadome"}, "")
    if announced is not None and words < 4 * _SHORT:
        return announced
    if words > _LONGEST:
        return None
    seen = markup[:_SEEN]
    lowered = seen.lower()
    for vendor in VENDORS:
        if words <= vendor.words and vendor.stands_in(lowered):
            return SoftBlock(kind="bot check", name=vendor.name)
    if words > 2 * _SHORT:
        return None
    text = f"{title[:_SAID]}\n{content[:_SAID]}"
    if words <= _SHORT and BOT_CHECK.search(text):
        return SoftBlock(kind="bot check", name="a bot check")
    if _CONSENT_HOST.match(url) or len({match[0].lower() for match in CONSENT.finditer(text)}) >= 2:
        return SoftBlock(kind="consent wall", name="a consent wall")
    if words > _SHORT:
        return None
    if _PASSWORD.search(seen) and (
        LOGIN.search(title[:_SAID]) or _LOGIN_PATH.search(url) or LOGIN.search(content[:200])
    ):
        return SoftBlock(kind="login wall", name="a login")
    if AGE.search(text):
        return SoftBlock(kind="age gate", name="an age gate")
    if words <= _TINY and _SCRIPT.search(seen) and JAVASCRIPT.search(seen):
        return SHELL
    return None


def page_remarks(markup: str, *, title: str, content: str) -> tuple[str, ...]:
    """Return what a reader should know of a page that is a page, but not the one he may expect."""
    words = _words(content)
    remarks = []
    if words <= 3 * _SHORT:
        if NOT_FOUND.search(title[:_SAID]) or NOT_FOUND.search(content[:150]):
            remarks.append("the page says that there is no such page, though its status says there is")
        if PARKED.search(f"{title[:_SAID]}\n{content[:_SAID]}"):
            remarks.append("there seems to be no site at this domain: it is parked or for sale")
    if words <= 10 * _SHORT and "isAccessibleForFree" in markup and _NOT_FREE.search(markup):
        remarks.append("the site says that this page is not free, so this may be only its beginning")
    return tuple(remarks)


def _words(content: str) -> int:
    """Return the number of words; scripts without spaces between words have one for two letters."""
    return len(content.split()) + len(_WIDE.findall(content[: 100 * _LONGEST])) // 2
