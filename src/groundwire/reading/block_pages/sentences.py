"""The sentences of a short page: which of them ask something of the reader, and how much other text there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from groundwire.reading.block_pages.empty_shell import word_count

__all__ = ["PageSentences"]

_MOST: Final = 4_000  # characters; a few words may be long ones
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
    r"|когда)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence about such a request that does not make it."""
_UNLESS = re.compile(r"\b(?:if|unless|wenn|falls|если)\b", re.IGNORECASE)
_ABOUT: Final = re.compile(
    r"cookie|privacy|javascript|browser|robot|captcha|verif|security|sicherheit|\bip\b|adres+e? ip"
    r"|sign(?:ed)? (?:in|up|out)"
    r"|log(?:ged|ging)? ?(?:in|out)|password|account|subscri|trial|cancel|digital|unlimited|\bray id|reference"
    r"|incident|cloudflare"
    r"|terms|try again|try a different|refresh|reload|contact|support|help|continue|redirect|block(?:ed)?\b|access"
    r"|permission"
    r"|forgot|register|join|copyright|©|all rights|wait|patien(?:ce|t)\b|human|\bbot\b|request|network|traffic|automat"
    r"|characters|image"
    r"|question|legal|region|country|licens|supported|version|chrome|firefox|reason|error|mistake|owner|adult|\bage\b"
    r"|alco?h?ol"
    r"|anmeld|abo\b|abonn|konto|passwort|weiter|erwachsen|werbung|bestätig|überprüf|prüfung|versuchen|seite nicht"
    r"|verfügbar"
    r"|connect|compte|continu|patient|abonné|navigateur|suscri|cuenta|sesión|navegador|abbona|accedi|zaloguj|konto"
    r"|hesap|şifre"
    r"|войти|провер|подпис|зарегистр|попробуй|подожд|アクセス|ブラウザ|ログイン|登録|会員|確認|しばらく|验证|登录|访问|稍后|请|會員"
    r"|인증|로그인|이용|확인|تسجيل|تحقق|إعادة|متابعة",
    re.IGNORECASE,
)
"""Topics of the other sentences of a block page."""
_QUOTES: Final = tuple('"“„«‚‘`「『')


class PageSentences:
    """The text of a page, by sentences.

    Args:
        title: Its title.
        content: Its Markdown, of any length.
    """

    def __init__(self, title: str, content: str) -> None:
        self._title = title[:_MOST]
        self._content = content[:_MOST]
        self.words: int = word_count(content)

    @property
    def explains(self) -> bool:
        """Whether it has code or numbered steps, unlike a block page."""
        return "`" in self._content or _STEPS.search(self._content) is not None

    @property
    def has_text(self) -> bool:
        """Whether it has text other than links."""
        return bool(self._lines)

    def rest(self, *phrases: re.Pattern[str]) -> int:
        """Return the number of words in sentences that match neither a block page nor a phrase, without links."""
        return self._rest(_ABOUT, *phrases)

    def pleads(
        self,
        phrases: re.Pattern[str],
        heads: re.Pattern[str] | None = None,
        *,
        about: re.Pattern[str] = _ABOUT,
        room: int = _ROOM,
    ) -> bool:
        """Return whether a page addresses one of the phrases to its reader, with little other text.

        Args:
            phrases: Phrases anywhere in a sentence that is neither conditional nor quoted.
            heads: Phrases that may be a whole title or one of the first lines.
            about: Topics of the other sentences of such a page.
            room: How many words may be in sentences on other topics; in longer texts a quarter.
        """
        if not self._says(phrases) and (heads is None or not self.is_titled(heads)):
            return False
        return self._rest(about, phrases) <= max(room, self.words // 4)

    def is_titled(self, line: re.Pattern[str]) -> bool:
        """Return whether a pattern matches a whole part of the title, or a whole first line outside of lists."""
        return any(line.fullmatch(text) for text in (*_PARTS.split(self._title), *self._heads))

    def has_line(self, line: re.Pattern[str]) -> bool:
        """Return whether a pattern matches a whole line."""
        return any(line.fullmatch(text) for text in self._lines)

    def is_headed(self, phrases: re.Pattern[str]) -> bool:
        """Return whether the title or the first lines contain one of the phrases."""
        return any(phrases.search(text) for text in (self._title, *self._lines[:_HEAD]))

    def speaks_of(self, phrases: re.Pattern[str], *, about: re.Pattern[str] = _ABOUT) -> bool:
        """Return whether the title or the text contains a phrase in any form, with little else; see `pleads`."""
        if phrases.search(self._title) is None and phrases.search(self._content) is None:
            return False
        return self._rest(about, phrases) <= max(_ROOM, self.words // 4)

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

    def _rest(self, *about: re.Pattern[str]) -> int:
        return sum(
            word_count(sentence)
            for sentence in self._sentences
            if not any(phrases.search(sentence) for phrases in about)
        )


def _pleas(phrases: re.Pattern[str], sentence: str) -> Iterator[str]:
    """Yield the parts of a sentence that address the reader."""
    if _TELLS.match(sentence) is None:
        for match in phrases.finditer(sentence):
            if not sentence[: match.start()].rstrip().endswith(_QUOTES) and not _UNLESS.search(sentence, match.end()):
                yield match[0]
