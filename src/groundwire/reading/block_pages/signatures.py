"""Signatures of block pages, in their headers, URLs, markup and sentences.

`classify` decides. A signature is on the block page itself and not on the pages behind it: many ordinary
pages load the scripts of these services, and articles mention them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Final, Literal

from groundwire.reading.block_pages.empty_shell import word_count
from groundwire.reading.block_pages.phrases import PHRASES
from groundwire.reading.text.sanitize import lower

_MAX_TEXT: Final = 4_000  # characters; a few words may be long ones
_MANY_WORDS: Final = 300  # no block page has so many
_ROOM: Final = 14  # words of a block page beside its message: a name, a URL, a greeting
_HEAD: Final = 3  # first lines, in which a page identifies itself
_LIST = re.compile(r"\s*(?:[-*+|]|\d+[.)])\s")
_TARGET = re.compile(r"\]\([^()\s]*\)")
_ONLY_LINKS = re.compile(r"(?:[^\w\[\]]*\[[^\[\]]*\]\([^()\s]*\))+\W*")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_SIGNS: Final = "#>*_|-[] \t\\"
_PARTS = re.compile(r"(?<!\s)\s+[|–—•·:-]\s+")
_STEPS = re.compile(r"^[ \t]*\d+[.)][ \t]", re.MULTILINE)
_TELLS = re.compile(
    r"\W*(?:if|when|whenever|unless|how to|why|what|wenn|falls|sobald|si|cuando|quand|lorsque|se|quando|als|если"
    r"|когда)\b"
)
"""The beginning of a sentence about such a request that does not make it."""
_UNLESS = re.compile(r"\b(?:if|unless|wenn|falls|если)\b")


class PageSentences:
    """The text of a page in lower case, by sentences. All patterns are for such text.

    Args:
        title: Its title.
        content: Its Markdown, of any length.
    """

    def __init__(self, title: str, content: str) -> None:
        self._title = lower(title[:_MAX_TEXT])
        self._content = lower(content[:_MAX_TEXT])
        self.words: int = word_count(content, _MANY_WORDS)

    @property
    def explains(self) -> bool:
        """Whether it has code or numbered steps, unlike a block page."""
        return "`" in self._content or _STEPS.search(self._content) is not None

    @property
    def has_text(self) -> bool:
        """Whether it has text other than links."""
        return bool(self._lines)

    def other_words(self, *phrases: re.Pattern[str], about: re.Pattern[str] = PHRASES["about"]) -> int:
        """Return the number of words in sentences on other topics that match no phrase, without links."""
        topics = (about, *phrases)
        return sum(
            word_count(sentence)
            for sentence in self._sentences
            if not any(pattern.search(sentence) for pattern in topics)
        )

    def pleads(self, phrases: re.Pattern[str], heads: re.Pattern[str] | None = None, *, room: int = _ROOM) -> bool:
        """Return whether a page addresses one of the phrases to its reader, with little other text.

        Args:
            phrases: Phrases anywhere in a sentence that is not conditional.
            heads: Phrases that may be a whole title or one of the first lines.
            room: How many words may be in sentences on other topics; in longer texts a quarter.
        """
        if not self._says(phrases) and (heads is None or not self.is_titled(heads)):
            return False
        return self.other_words(phrases) <= max(room, self.words // 4)

    def is_titled(self, line: re.Pattern[str]) -> bool:
        """Return whether a pattern matches a whole part of the title, or a whole first line outside of lists."""
        return any(line.fullmatch(text) for text in (*_PARTS.split(self._title), *self._heads))

    def has_line(self, line: re.Pattern[str]) -> bool:
        """Return whether a pattern matches a whole line."""
        return any(line.fullmatch(text) for text in self._lines)

    def is_headed(self, phrases: re.Pattern[str]) -> bool:
        """Return whether the title or the first lines contain one of the phrases."""
        return any(phrases.search(text) for text in (self._title, *self._lines[:_HEAD]))

    def speaks_of(self, phrases: re.Pattern[str], *, about: re.Pattern[str] = PHRASES["about"]) -> bool:
        """Return whether the title or the text contains a phrase in any form, with little else; see `pleads`."""
        if phrases.search(self._title) is None and phrases.search(self._content) is None:
            return False
        return self.other_words(phrases, about=about) <= max(_ROOM, self.words // 4)

    @cached_property
    def _lines(self) -> tuple[str, ...]:
        """The lines without Markdown syntax and link targets; lines of only links are omitted."""
        lines = (
            _TARGET.sub("]", line).strip(_SIGNS)
            for line in self._content.split("\n")
            if not _ONLY_LINKS.fullmatch(line)
        )
        return tuple(filter(None, lines))

    @cached_property
    def _heads(self) -> tuple[str, ...]:
        lines = [line for line in self._content.split("\n") if line.strip()][:_HEAD]
        return tuple(line.strip(_SIGNS) for line in lines if not _LIST.match(line))

    @cached_property
    def _sentences(self) -> tuple[str, ...]:
        return tuple(sentence for line in self._lines for sentence in _SENTENCE.split(line))

    def _says(self, phrases: re.Pattern[str]) -> bool:
        return any(True for text in (self._title, *self._sentences) for _ in _pleas(phrases, text))


def _pleas(phrases: re.Pattern[str], sentence: str) -> Iterator[str]:
    """Yield the parts of a sentence that address the reader."""
    if _TELLS.match(sentence) is None:
        for match in phrases.finditer(sentence):
            if not _UNLESS.search(sentence, match.end()):
                yield match[0]


VendorKind = Literal["bot check", "waiting room"]
"""The kinds of block pages of a service."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """A bot-check service, and the signatures of its check."""

    name: str
    """The name of the check in a sentence."""
    marks: tuple[str, ...]
    """Substrings of its markup, in lower case; one is enough."""
    words: int = 120
    """Maximum words on its page; a longer page only mentions it."""
    also: str = ""
    """Substrings that are also required."""
    kind: VendorKind = "bot check"

    def stands_in(self, markup: str) -> bool:
        """Return whether markup, in lower case, has one of the marks."""
        return self.also in markup and any(mark in markup for mark in self.marks)


HEADERS: Final = (
    ("cf-mitigated", "challenge", "Cloudflare's bot check"),
    ("x-vercel-mitigated", "challenge", "Vercel's bot check"),
    ("x-amzn-waf-action", "", "the bot check of AWS WAF"),
)
"""A header, a substring of its value, and the service it identifies regardless of the body (from their manuals)."""

VENDORS: Final = tuple(
    Vendor(**{**row, "marks": tuple(row["marks"])})
    for row in json.loads(files("groundwire.reading").joinpath("data", "bot_checks.json").read_text("utf-8"))
)
"""Known bot checks, in order of priority, from `data/bot_checks.json`."""

CONSENT_URL: Final = re.compile(r"https?://(?:consent|guce|cmp)\.", re.IGNORECASE)
"""The beginning of the URL of a consent page."""
CONSENT_FORM: Final = re.compile(
    r"<form\b[^>]{0,500}\baction\s*=\s*[\"']?(?:https?://(?:consent|guce|cmp)\.|[^\s\"'>]{0,200}/collectconsent\b)"
)
"""The form of a consent page, in lower case."""

LOGIN_PATH: Final = re.compile(
    r"/(?:log-?in|sign-?in|auth|authwall|sso|uas/login|account/login|session/new|checkpoint|password|oauth2/[\w./]*authorize"
    r"|cdn-cgi/access/login/\S*|signin/identifier)(?:[/?.#]|$)",
    re.IGNORECASE,
)
"""URLs of login forms."""
