"""The structure of a page's Markdown: code blocks, headings, sections."""

from __future__ import annotations

import bisect
import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from groundwire.models import Section
from groundwire.reading.text.truncate import Code, codes_in, is_rule

_HEADINGS: Final = re.compile(
    r"^ {0,3}(?P<hashes>#{1,6})(?=[ \t\n]|\Z)(?P<title>[^\n]*)$"
    r"|^(?P<text>[^\s#>|`~*+=-][^\n]{0,200})\n {0,3}(?P<line>=+|-+)[ \t]*$",
    re.MULTILINE,
)
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP: Final = re.compile(r"(?<!\\)[*_`~]{1,3}(?=\S)|(?<=\S)(?<!\\)[*`~]{1,3}|\\(?=[!-/:-@\[-`{-~])")
_TABLE: Final = re.compile(r"(?:^[ \t>]{0,40}\|[^\n]*(?:\n|\Z)){3,}", re.MULTILINE)
_MAX_TITLE_LENGTH: Final = 100  # characters
_MAX_SECTIONS: Final = 100  # sections in the outline


class Heading(NamedTuple):
    """A heading of a page."""

    start: int
    """The start of its line."""
    end: int
    """The end of its line."""
    level: int
    """The level, from 1 to 6."""
    title: str
    """Its text, without markup."""


@dataclass(frozen=True)
class Outline:
    """The structure of one page's Markdown."""

    text: str
    """The whole text."""

    @cached_property
    def codes(self) -> list[Code]:
        """The fenced code blocks, in order."""
        return codes_in(self.text)

    @cached_property
    def _code_starts(self) -> list[int]:
        return [code.start for code in self.codes]

    def code_at(self, place: int) -> Code | None:
        """Return the code block around a position, including its fences."""
        at = bisect.bisect_right(self._code_starts, place) - 1
        if at < 0:
            return None
        code = self.codes[at]
        return code if code.start < place and (code.end is None or place < code.end) else None

    @cached_property
    def _tables(self) -> list[tuple[int, int]]:
        """The start and end of the rows of each table with a header."""
        return [table.span() for table in _TABLE.finditer(self.text)]

    def table_head(self, place: int) -> str:
        """Return the header of the table whose row begins at a position; "" for the header itself, and elsewhere."""
        at = bisect.bisect_left(self._tables, (place,)) - 1
        if at < 0 or place >= self._tables[at][1]:
            return ""
        start = self._tables[at][0]
        rule = self.text.index("\n", start) + 1
        body = self.text.index("\n", rule) + 1
        return self.text[start:body] if place >= body and is_rule(self.text[rule : body - 1].lstrip(" \t>")) else ""

    @cached_property
    def headings(self) -> list[Heading]:
        """The headings, in order, without apparent ones in code blocks."""
        headings = []
        for match in _HEADINGS.finditer(self.text):
            if self.code_at(match.start()) is not None or (match["text"] and match["text"].startswith("|")):
                continue
            level = len(match["hashes"]) if match["hashes"] else 1 if match["line"][0] == "=" else 2
            title = plain(_without_closing(match["title"] or "") or match["text"] or "")
            if title:
                headings.append(Heading(match.start(), match.end(), level, title))
        return headings

    @cached_property
    def heading_starts(self) -> list[int]:
        """The start positions of the headings."""
        return [heading.start for heading in self.headings]

    def path(self, place: int) -> tuple[str, ...]:
        """Return the titles of the headings above a position, the highest first."""
        return tuple(self.headings[at].title for at in self.heading_path(place))

    def heading_path(self, place: int) -> tuple[int, ...]:
        """Return the indexes of the headings above a position."""
        at = bisect.bisect_right(self.heading_starts, place) - 1
        path: list[int] = []
        level = 7
        for number in range(at, -1, -1):
            if self.headings[number].level < level:
                path.append(number)
                level = self.headings[number].level
                if level == 1:
                    break
        return tuple(reversed(path))

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The sections of the outline: all, or the higher ones of a page with very many."""
        headings = self.headings
        deepest = 6
        while len(headings) > _MAX_SECTIONS and deepest > 1:
            deepest -= 1
            headings = [heading for heading in self.headings if heading.level <= deepest]
        ends = [len(self.text)] * len(headings)
        open_: list[int] = []
        for number, heading in enumerate(headings):
            while open_ and headings[open_[-1]].level >= heading.level:
                ends[open_.pop()] = heading.start
            open_.append(number)
        return tuple(
            Section(level=heading.level, title=heading.title, start=heading.start, length=end - heading.start)
            for heading, end in zip(headings[:_MAX_SECTIONS], ends, strict=False)
        )

    @cached_property
    def version(self) -> str:
        """The version of this text."""
        return version_of(self.text)


def _without_closing(title: str) -> str:
    """Return the text of a heading without the signs that close it (CommonMark 0.31, 4.2)."""
    title = title.strip(" \t")
    bare = title.rstrip("#")
    return title if bare and bare[-1] not in " \t" else bare.rstrip(" \t")


def version_of(text: str) -> str:
    """Return the beginning of a text's SHA-256, 16 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def plain(markdown: str) -> str:
    """Return a line of Markdown as plain text, at most 100 characters."""
    text = " ".join(_MARKUP.sub("", _LINK.sub(r"\1", markdown)).split())
    return text if len(text) <= _MAX_TITLE_LENGTH else text[: _MAX_TITLE_LENGTH - 3].rstrip() + "..."
