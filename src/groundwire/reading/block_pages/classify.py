"""Classification of block pages, by signatures and by how little other text there is.

A long page is never one: a block page has a few words, and a longer page is worth reading, whatever it loads or
mentions. A short page with more than a request is not one either: "are you over 18?" above a list of ciders is a shop.

Phrases about blocked visitors are matched in two halves: the visitor's network or browser, and the objection to it.
A page that is only the free beginning of an article gets a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from groundwire.reading.block_pages.empty_shell import word_count
from groundwire.reading.block_pages.phrases import PHRASES
from groundwire.reading.block_pages.signatures import (
    CONSENT_FORM,
    CONSENT_URL,
    HEADERS,
    LOGIN_PATH,
    VENDORS,
    PageSentences,
)
from groundwire.reading.text.sanitize import lower, lower_ascii

BlockKind = Literal[
    "bot check",
    "consent page",
    "login page",
    "age gate",
    "paywall",
    "region block",
    "rate limit",
    "browser check",
    "waiting room",
    "refusal",
    "script shell",
]
"""The kinds of block pages."""

_SHORT_PAGE: Final = 60  # words; of 1,497 real pages, 1 % of those with content have fewer
_TINY_PAGE: Final = 25  # words beside the message that a page needs scripts
_LONGEST_CHECK: Final = max(vendor.words for vendor in VENDORS)
_FEW_WORDS: Final = 10  # words beside a text that may be a statement or a request
_PASSWORD_ROOM: Final = 5  # words beside a password field in any language
_LOGIN_ROOM: Final = 20  # words around a form to log in with
_LONG_CHECK: Final = 200  # words of the longest bot checks of unknown vendors
_MAX_SEARCHED: Final = 100_000  # characters of markup searched for signatures; block pages are smaller
_PASSWORD = re.compile(r"<input\b[^<>]{0,1000}\btype\s{0,9}=\s{0,9}[\"']?password\b", re.IGNORECASE)
_USER = re.compile(
    r"<input\b[^<>]{0,1000}\b(?:type\s{0,9}=\s{0,9}[\"']?email\b|autocomplete\s{0,9}=\s{0,9}[\"']?username\b)",
    re.IGNORECASE,
)
_TEXTAREA = re.compile(r"<textarea\b(?![^<>]{0,1000}-response)", re.IGNORECASE)
_CAPTCHA = re.compile(
    r"\b(?:class|id|name)\s*=\s*[\"']?[^\"'>]{0,40}\b(?:[gh]-re?captcha|g-recaptcha|h-captcha|cf-turnstile|frc-captcha"
    r"|smart-captcha|altcha|captcha)\b|<(?:cap|altcha)-widget\b|arkoselabs\.com|geetest\.com|mtcaptcha\.com|funcaptcha\.com",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_BUTTON = re.compile(
    r"<button\b[^>]{0,500}>([^<>]{1,60})<|<input\b[^>]{0,500}\bvalue\s*=\s*[\"']([^\"'<>]{1,60})", re.IGNORECASE
)
_WAYS: Final[Mapping[BlockKind, str]] = {
    "bot check": "A reader with a browser, or an outside service, may get past it.",
    "consent page": "It requires consent to cookies before it shows the page. Another reader may get past it.",
    "login page": "Only people with an account there can read it.",
    "age gate": "Only a person can pass it.",
    "paywall": "Only subscribers can read its text.",
    "region block": "It is not shown in this region. An outside service may be able to read it.",
    "rate limit": "It received too many requests. Try again in a few minutes.",
    "browser check": "It requires another browser, or cookies. A reader with a browser may get past it.",
    "waiting room": "It admits a limited number of visitors at a time. Try again later.",
    "refusal": "It only says that access is denied.",
    "script shell": "It has no text until its scripts have run, which requires a reader with a browser.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftBlock:
    """A block page in place of the requested page."""

    kind: BlockKind
    """The kind."""
    name: str
    """Its description in a sentence: `Cloudflare's bot check`."""

    def __str__(self) -> str:
        return f"The page is behind {self.name}. {_WAYS[self.kind]}"


SHELL: Final = SoftBlock(kind="script shell", name="a script that draws it")
"""A page without content until its scripts have run."""


def known_wall(headers: Mapping[str, str], markup: str) -> SoftBlock | None:
    """Return the bot check that the headers or the beginning of a rejection reveal, or None.

    Args:
        headers: The response headers, with names in any case.
        markup: The available part of its body.
    """
    known = _announced(headers) or _check_in(lower_ascii(markup[:_MAX_SEARCHED]), 0)
    if known is None and any(name.lower() == "x-datadome" for name in headers):
        return SoftBlock(kind="bot check", name="DataDome's bot check")
    return known


def _check_in(lowered: str, words: int) -> SoftBlock | None:
    """Return the known bot check that markup in lower case has, on a page of so many words."""
    vendors = (vendor for vendor in VENDORS if words <= vendor.words and vendor.stands_in(lowered))
    return next((SoftBlock(kind=vendor.kind, name=vendor.name) for vendor in vendors), None)


def _announced(headers: Mapping[str, str]) -> SoftBlock | None:
    """Return the bot check that the headers alone reveal."""
    small = {name.lower(): value.lower() for name, value in headers.items()}
    names = (name for header, value, name in HEADERS if header in small and value in small[header])
    return next((SoftBlock(kind="bot check", name=name) for name in names), None)


def soft_block(headers: Mapping[str, str], url: str, markup: str, *, title: str, content: str) -> SoftBlock | None:
    """Return the block page received instead of the requested one, or None if it is the page.

    Args:
        headers: The response headers, with names in any case.
        url: The URL of the response.
        markup: The page's HTML.
        title: The page's title.
        content: The converted content.
    """
    page = PageSentences(title, content)
    announced = _announced(headers)
    if announced is not None and page.words < 4 * _SHORT_PAGE:
        return announced
    if page.words > _LONGEST_CHECK:
        return None
    beginning = markup[:_MAX_SEARCHED]
    lowered = lower_ascii(beginning)
    if (known := _check_in(lowered, page.words)) is not None:
        return known
    if CONSENT_FORM.search(lowered) or CONSENT_URL.match(url):
        return SoftBlock(kind="consent page", name="a consent page")
    if page.explains:
        return None
    return _block_by_text(page, url, beginning, lowered)


def _block_by_text(page: PageSentences, url: str, markup: str, lowered: str) -> SoftBlock | None:
    """Return the block page that a page without known signatures is, judged by its sentences."""
    asks_for_text = "<textarea" in lowered and _TEXTAREA.search(markup) is not None  # a form with a check beside it
    if not asks_for_text and page.words <= _LONG_CHECK:
        if page.pleads(PHRASES["bot check"]) or (
            page.words <= _SHORT_PAGE
            and page.speaks_of(PHRASES["checks"])
            and _CAPTCHA.search(markup)
            and not _USER.search(markup)
        ):
            return SoftBlock(kind="bot check", name="a bot check")
        if page.words <= _SHORT_PAGE and page.pleads(PHRASES["held off"], room=_FEW_WORDS):
            return SoftBlock(kind="bot check", name="a check of visitors")
        if page.pleads(PHRASES["queue"]):
            return SoftBlock(kind="waiting room", name="a waiting room")
    if _wants_consent(page, markup):
        return SoftBlock(kind="consent page", name="a consent page")
    if page.pleads(PHRASES["paywall"]):
        return SoftBlock(kind="paywall", name="a paywall")
    if page.words > 2 * _SHORT_PAGE:
        return None
    if page.pleads(PHRASES["region"]):
        return SoftBlock(kind="region block", name="a block of this region")
    if page.words > _SHORT_PAGE:
        return None
    if page.pleads(PHRASES["members"]) or _is_login(page, url, markup, lowered):
        return SoftBlock(kind="login page", name="a login")
    if page.pleads(PHRASES["age"]):
        return SoftBlock(kind="age gate", name="an age gate")
    if page.pleads(PHRASES["pace"], PHRASES["pace heading"]):
        return SoftBlock(kind="rate limit", name="a limit on requests")
    if page.pleads(PHRASES["browser"]):
        return SoftBlock(kind="browser check", name="a check of the browser")
    if page.is_titled(PHRASES["refused"]) and page.other_words() <= _FEW_WORDS:
        return SoftBlock(kind="refusal", name="a refusal")
    if page.words <= _TINY_PAGE and _SCRIPT.search(markup) and PHRASES["javascript"].search(lower(markup)):
        return SHELL
    return None


def _wants_consent(page: PageSentences, markup: str) -> bool:
    """Return whether a page is only about cookies, and has a control to accept them."""
    if not page.speaks_of(PHRASES["consent"], about=PHRASES["cookies"]):
        return False
    buttons = (match[1] or match[2] for match in _BUTTON.finditer(markup))
    accept = PHRASES["accept"]
    return page.has_line(accept) or any(accept.fullmatch(lower(button.strip())) for button in buttons)


def _is_login(page: PageSentences, url: str, markup: str, lowered: str) -> bool:
    """Return whether a page has little but a login form."""
    leads, others = LOGIN_PATH.search(url) is not None, page.other_words(PHRASES["login"])
    is_headed = page.is_headed(PHRASES["login"])
    if "password" in lowered and _PASSWORD.search(markup):
        room = _LOGIN_ROOM if leads else _FEW_WORDS if is_headed else _PASSWORD_ROOM if page.has_text else -1
        return others <= room
    return leads and is_headed and others <= _LOGIN_ROOM and _USER.search(markup) is not None


_MAX_FREE_WORDS: Final = 600  # words; the free beginning of an article has no more
_END_LENGTH: Final = 600  # characters at the end in which a paywall is mentioned
_NOT_FREE = re.compile(r"\"isAccessibleForFree\"\s*:\s*\"?[Ff]alse")


def ends_early(markup: str, content: str) -> bool:
    """Return whether a short page may be only the free beginning, according to its data or its ending.

    Args:
        markup: The page's HTML.
        content: The converted content.
    """
    if word_count(content, _MAX_FREE_WORDS) > _MAX_FREE_WORDS:
        return False
    if "isAccessibleForFree" in markup and _NOT_FREE.search(markup):
        return True
    return PHRASES["paywall"].search(lower(content[-_END_LENGTH:])) is not None
