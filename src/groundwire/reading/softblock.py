"""Pages that stand in front of the page: told by their marks, and by how little else they say.

A long page is never one: a wall has a few words, and what has more is worth reading, whatever it loads or writes about.
Nor is a short one that says more than its plea: "are you over 18?" over a list of ciders is a shop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from groundwire.reading.pleas import (
    ACCEPT,
    AGE,
    BOT_CHECK,
    BROWSER,
    CHECKS,
    CONSENT,
    COOKIES,
    JAVASCRIPT,
    LOGIN,
    MEMBERS,
    PACE,
    PAYWALL,
    QUEUE,
    REFUSED,
    REGION,
)
from groundwire.reading.said import Said
from groundwire.reading.suspicions import HELD_OFF, HELD_OFF_TITLE
from groundwire.reading.walls import CONSENT_FORM, HEADERS, LOGIN_PATH, VENDORS

__all__ = ["SHELL", "BlockKind", "SoftBlock", "known_wall", "soft_block"]

BlockKind = Literal[
    "bot check",
    "consent wall",
    "login wall",
    "age gate",
    "paywall",
    "region block",
    "rate limit",
    "browser check",
    "waiting room",
    "refusal",
    "script shell",
]
"""What may stand in front of a page."""

_SHORT: Final = 60  # words; of 1,497 real pages, 1 % of those with content have fewer
_TINY: Final = 25  # words beside the message that a page needs scripts
_LONGEST: Final = max(vendor.words for vendor in VENDORS)
_FEW: Final = 10  # words beside what may as well be told as asked
_ROOM: Final = 5  # words beside a password's field in any language
_LITTLE: Final = 20  # words around a form to log in with
_WORDY: Final = 200  # words of the wordiest checks of unknown make
_SEEN: Final = 100_000  # characters of markup in which marks are looked for; walls are smaller
_PASSWORD = re.compile(r"<input\b[^>]*\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_USER = re.compile(r"<input\b[^>]*\b(?:type\s*=\s*[\"']?email\b|autocomplete\s*=\s*[\"']?username\b)", re.IGNORECASE)
_TEXTAREA = re.compile(r"<textarea\b(?![^>]*-response)", re.IGNORECASE)
_CAPTCHA = re.compile(
    r"\b(?:class|id|name)\s*=\s*[\"']?[^\"'>]{0,40}\b(?:[gh]-re?captcha|g-recaptcha|h-captcha|cf-turnstile|frc-captcha"
    r"|smart-captcha|altcha|captcha)\b|<(?:cap|altcha)-widget\b|arkoselabs\.com|geetest\.com|mtcaptcha\.com|funcaptcha\.com",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_BUTTON = re.compile(
    r"<button\b[^>]{0,500}>([^<>]{1,60})<|<input\b[^>]{0,500}\bvalue\s*=\s*[\"']([^\"'<>]{1,60})", re.IGNORECASE
)
_WAYS: Final[dict[BlockKind, str]] = {
    "bot check": "Open another page, or have it read by a reader with a browser or by an outside service.",
    "consent wall": "It wants consent to cookies before it shows the page. Open another page, or use another reader.",
    "login wall": "Only the user can log in there. Open another page, or ask the user for its text.",
    "age gate": "Only a person can pass it. Open another page.",
    "paywall": "Its text is for those who pay. Open another page on the subject, or ask the user for its text.",
    "region block": "It is not shown in this region. Open another page, or have it read by an outside service.",
    "rate limit": "It was asked too often. Wait some minutes before you try it again, or open another page.",
    "browser check": "It wants another browser, or cookies. Open another page, or use a reader with a browser.",
    "waiting room": "It lets visitors in by turns. Try again later, or open another page.",
    "refusal": "It says that this is not allowed, and nothing else. Open another page.",
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
            return SoftBlock(kind=vendor.kind, name=vendor.name)
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
    said = Said(title, content)
    announced = known_wall({name: value for name, value in headers.items() if name.lower() != "x-datadome"}, "")
    if announced is not None and said.words < 4 * _SHORT:
        return announced
    if said.words > _LONGEST:
        return None
    seen = markup[:_SEEN]
    lowered = seen.lower()
    for vendor in VENDORS:
        if said.words <= vendor.words and vendor.stands_in(lowered):
            return SoftBlock(kind=vendor.kind, name=vendor.name)
    if CONSENT_FORM.search(seen) or CONSENT_FORM.match(url):
        return SoftBlock(kind="consent wall", name="a consent wall")
    if said.explains:
        return None
    return _plea(said, url, seen)


def _plea(said: Said, url: str, seen: str) -> SoftBlock | None:
    """Return the wall that a page without known marks is by what it says."""
    asks_for_text = _TEXTAREA.search(seen) is not None  # a form to be written into, which has a check beside it
    if not asks_for_text and said.words <= _WORDY:
        if said.pleads(*BOT_CHECK) or (
            said.words <= _SHORT and _CAPTCHA.search(seen) and not _USER.search(seen) and said.speaks_of(CHECKS)
        ):
            return SoftBlock(kind="bot check", name="a bot check")
        if said.words <= _SHORT and said.pleads(HELD_OFF, HELD_OFF_TITLE, room=_FEW):
            return SoftBlock(kind="bot check", name="a check of visitors")
        if said.pleads(QUEUE):
            return SoftBlock(kind="waiting room", name="a waiting room")
    if _wants_consent(said, seen):
        return SoftBlock(kind="consent wall", name="a consent wall")
    if said.pleads(*PAYWALL):
        return SoftBlock(kind="paywall", name="a paywall")
    if said.words > 2 * _SHORT:
        return None
    if said.pleads(REGION):
        return SoftBlock(kind="region block", name="a block of this region")
    if said.words > _SHORT:
        return None
    if said.pleads(MEMBERS) or _is_login(said, url, seen):
        return SoftBlock(kind="login wall", name="a login")
    if said.pleads(*AGE):
        return SoftBlock(kind="age gate", name="an age gate")
    if said.pleads(*PACE):
        return SoftBlock(kind="rate limit", name="a limit on requests")
    if said.pleads(BROWSER):
        return SoftBlock(kind="browser check", name="a check of the browser")
    if said.is_titled(REFUSED) and said.rest() <= _FEW:
        return SoftBlock(kind="refusal", name="a refusal")
    if said.words <= _TINY and _SCRIPT.search(seen) and JAVASCRIPT.search(seen):
        return SHELL
    return None


def _wants_consent(said: Said, seen: str) -> bool:
    """Tell whether a page speaks of cookies only, and has something to accept them with."""
    if not said.speaks_of(CONSENT, about=COOKIES):
        return False
    buttons = (match[1] or match[2] for match in _BUTTON.finditer(seen))
    return said.has_line(ACCEPT) or any(ACCEPT.fullmatch(button.strip()) for button in buttons)


def _is_login(said: Said, url: str, seen: str) -> bool:
    """Tell whether a page has little but a form to log in with."""
    leads = LOGIN_PATH.search(url) is not None
    if _PASSWORD.search(seen):
        if said.is_headed(LOGIN) and said.rest(LOGIN) <= (_LITTLE if leads else _FEW):
            return True
        if leads and said.rest(LOGIN) <= _LITTLE:
            return True
        return said.has_text and said.rest(LOGIN) <= _ROOM
    return leads and _USER.search(seen) is not None and said.rest(LOGIN) <= _LITTLE and said.is_headed(LOGIN)
