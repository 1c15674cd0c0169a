"""Incremental parser of citation markers in an answer, and of where links lead.

A marker is `[1]`, `[1, 3]`, `[1-3]` or the same in other brackets, `【1】` and `［1］`, but not in code, in a link or
after a backslash. Code and links follow CommonMark 0.31 as far as that is possible without lookahead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

FORMULA: Final = re.compile(
    r"\$\$[^$`]{1,2000}\$\$|(?<![\\\w$])\$(?![\s$])[^$`\n]{1,500}(?<![\s\\])\$(?![\d$])|\\\([^\n]{1,500}?\\\)|\\\[[^$`]{1,2000}?\\\]"
)
"""A TeX formula. Markdown inside it means nothing, and a bracketed number in it is not a marker."""

_PAIRS: Final[Mapping[str, str]] = {"[": "]", "［": "］", "【": "】"}
_MAX_MARKER_CHARS: Final = 64  # characters; enough for a list of a dozen sources
_MAX_RUN_CHARS: Final = 1_000  # backticks or tildes in a row; longer runs count as equal
_MAX_RANGE: Final = 50  # sources in a range such as [1-50]
_INNER: Final = frozenset(" \t\u00a0\u3000,;、，；-‐‑‒–—−")  # allowed between the numbers
_SEPARATOR: Final = r"[ \t\u00a0\u3000]{0,2}(?:[,;、，；\-‐‑‒–—−]|(?<=[ \t\u00a0\u3000]))[ \t\u00a0\u3000]{0,2}"
_BODY: Final = re.compile(rf"[ \u00a0]?(\d{{1,4}}(?:{_SEPARATOR}\d{{1,4}})*)(?:†[^\]］】]*)?[ \u00a0]?")
_PIECES: Final = re.compile(r"\d+|\D+")
_DASH: Final = re.compile(r"\s*[\-‐‑‒–—−]\s*")
_BEFORE_FENCE: Final = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_HEADING: Final = re.compile(r"[ \t>]*#{1,6}[ \t]")
_BLOCK: Final = re.compile(r"[ \t>]*(?:[-*+]|1[.)]|#{1,6})")  # interrupts a paragraph, before its space
_BEFORE_END: Final = re.compile(r"[ \t>]*")
_PLAIN_RUN: Final = re.compile(r"[^\\`~\[\]［【(/\n]+")  # plain text without effect on the state
_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_URL_ENDS: Final = frozenset('<>"`')
_LINE_START_CHARS: Final = 40  # characters of a line's start that are remembered
_ENTITY: Final = re.compile(r"&#?\w{1,40};")
_AMBIGUOUS: Final = frozenset("`<[")
_LABEL: Final = re.compile(r"\[((?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*+\])*+)\]", re.DOTALL)
_TARGET: Final = re.compile(
    r"\([ \t]*+(<[^<>\n]*+>|(?:[^\s()]|\([^\s()]*+\))*+)(?:[ \t]++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?[ \t]*+\)"
)
"""Where a link leads, and its title (CommonMark 0.31, 6.3), with brackets in one another once."""

_LINKED_MARKER: Final = re.compile(
    r"\[(?:\\?[\[【［][ ]?([0-9]{1,4}(?:[ ,;\-–—]{1,3}[0-9]{1,4}){0,12})[ ]?\\?[\]】］]|([0-9]{1,3}))\]"
    + _TARGET.pattern
)
_NESTED: Final = re.compile(r"\\?\[([ ]*+(?:\[\d{1,3}\](?:[ ,;\-–—]|\\-)*+)++)\\?\]", re.ASCII)  # [[1], [2]]
_RANGE: Final = re.compile(r"\][ ]*\\?[\-–—][ ]*\[")  # within that: [[1]-[3]]
_FOOTNOTE: Final = re.compile(r"\[\^(?=\d{1,4}\](?!:))", re.ASCII)
_SOURCE: Final = re.compile(r"\\?\[\^?\d{1,4}\\?\]:?[ \t]+[^\n]*(?:\]\(|://)", re.ASCII)  # [1] Title - https://a.test
_ITEM: Final = re.compile(r"\d{1,4}[.)][ \t]+(?:\[[^\[\]]*\]\([^()\s]*\)|<?https?://\S+)", re.ASCII)
_SOURCES: Final = re.compile(r"[#*_ \t]*\w+(?:[ \t]+\w+){0,2}[*_: \t]*")  # Sources, **Works cited:**

_Mode = Literal["text", "code", "info", "fence", "closing", "destination", "url"]


@dataclass(frozen=True, slots=True)
class Mark:
    """One marker, as written in the answer."""

    text: str
    """The marker with its brackets."""
    pieces: tuple[str | int, ...]
    """The same text in pieces, where a cited number is an integer; with `spelled` it restores the whole text."""
    spelled: tuple[str, ...]
    """Each piece as it is written: digits may be of any script."""
    numbers: tuple[int, ...]
    """The sources it names, in order and without duplicates; a range names each of its numbers."""


class MarkScanner:
    """Finds markers in text that arrives in chunks. It never holds back more than one marker.

    The pieces do not depend on the chunks, except for where plain text is split.
    """

    def __init__(self) -> None:
        self._out: list[str | Mark] = []
        self._plain: list[str] = []
        self._mode: _Mode = "text"
        self._head = ""  # the start of a possible marker, or a whole one whose next character decides
        self._mark: Mark | None = None  # the held marker, if it is complete
        self._line = ""  # the beginning of the current line
        self._blank = True  # whether the current line has only spaces so far
        self._escaped = False
        self._run = ""  # consecutive backticks or tildes so far
        self._run_before = ""  # the text before them in their line
        self._opened = ""  # the run that opened the code
        self._outer = ""  # the run that opened the code in which a fence seems to begin
        self._depth = 0  # open brackets of possible link text
        self._closed = False  # whether link text has just ended
        self._parens = 0
        self._tail = ""  # the last characters of plain text

    def feed(self, chunk: str) -> list[str | Mark]:
        """Take the next chunk and return the final plain text and markers, in order."""
        place = 0
        while place < len(chunk):
            if self._mode == "text" and not (self._head or self._run or self._escaped or self._closed or self._depth):
                dull = _PLAIN_RUN.match(chunk, place)
                if dull is not None:
                    self._plain.append(dull[0])
                    self._note(dull[0])
                    place = dull.end()
                    continue
            self._step(chunk[place])
            place += 1
        return self._take()

    def close(self) -> list[str | Mark]:
        """End the text and return what was held back."""
        if self._mark is not None:
            self._emit_mark(self._mark)
        elif self._head:
            self._emit_head()
        if self._run:
            self._end_run()
        return self._take()

    @property
    def open_fence(self) -> str:
        """The fence that would close the current code block; empty outside of one."""
        return self._opened if self._mode in {"info", "fence"} else ""

    def _take(self) -> list[str | Mark]:
        self._flush()
        out, self._out = self._out, []
        return out

    def _flush(self) -> None:
        if self._plain:
            self._out.append("".join(self._plain))
            self._plain.clear()

    def _emit_mark(self, mark: Mark) -> None:
        self._flush()
        self._out.append(mark)
        self._head, self._mark = "", None
        self._note(mark.text)

    def _emit_head(self) -> None:
        """Emit the held text as plain text."""
        self._plain.append(self._head)
        self._note(self._head)
        self._head, self._mark = "", None

    def _note(self, text: str) -> None:
        """Record the position in the current line."""
        if len(self._line) < _LINE_START_CHARS:
            self._line = (self._line + text)[:_LINE_START_CHARS]
        self._tail = (self._tail + text)[-3:]
        self._blank = self._blank and not text.strip()

    def _step(self, character: str) -> None:
        if self._head and self._holds(character):
            return
        if self._run and character != self._run[0]:
            self._end_run()
        match self._mode:
            case "text":
                if self._in_text(character):
                    return
            case "code":
                self._begin_run(character, "`")
            case "info" | "fence" if self._mode == "fence" or self._opened[0] == "`":
                self._begin_run(character, self._opened[0])
            case "closing":
                if character not in " \t\n":
                    self._mode = "fence"
            case "destination":
                self._parens += (character == "(") - (character == ")")
                if self._parens <= 0:
                    self._mode = "text"
                self._begin_run(character, "`")
            case "url":
                self._parens += (character == "(") - (character == ")")
                if character.isspace() or character in _URL_ENDS or self._parens < 0:
                    self._mode = "text"
                self._begin_run(character, "`")
        self._plain.append(character)
        if character == "\n":
            self._end_line()
            return
        if (character in " \t" and _BLOCK.fullmatch(self._line)) or (character == ">" and not self._line.strip()):
            self._end_block()
        self._note(character)

    def _in_text(self, character: str) -> bool:
        """Process a character of plain text and return whether it is held back."""
        escaped, self._escaped = self._escaped, False
        closed, self._closed = self._closed, False
        if escaped and character in _PUNCTUATION:
            return False
        if character == "\\":
            self._escaped = True
        elif character in "`~":
            self._begin_run(character, character)
        elif character in _PAIRS:
            if not self._depth:
                self._head = character
                return True
            self._depth += character == "["
        elif character == "]" and self._depth:
            self._depth -= 1
            self._closed = not self._depth
        elif character == "(" and closed:
            self._mode, self._parens = "destination", 1
        elif character == "/" and self._tail[-2:] == ":/" and self._tail[:1].isalpha():
            self._mode, self._parens = "url", 0
        return False

    def _holds(self, character: str) -> bool:
        """Process the character after the held text and return whether it belongs to it."""
        if self._mark is not None:
            if character == "(":
                self._emit_head()
                self._closed = True
            elif character == ":" and _BEFORE_FENCE.fullmatch(self._line):
                self._emit_head()
            else:
                self._emit_mark(self._mark)
            return False
        if character == _PAIRS[self._head[0]]:
            mark = _parse(self._head + character)
            self._head += character
            if mark is None:
                self._emit_head()
                self._closed = character == "]"
            elif character == "]":
                self._mark = mark
            else:
                self._emit_mark(mark)
            return True
        if len(self._head) < _MAX_MARKER_CHARS and _may_follow(self._head, character):
            self._head += character
            return True
        opens = self._head[0] == "[" and character != ")"
        self._emit_head()
        self._depth += opens
        return False

    def _begin_run(self, character: str, of: str) -> None:
        if character == of:
            if not self._run:
                self._run_before = self._line
            if len(self._run) < _MAX_RUN_CHARS:
                self._run += character

    def _end_run(self) -> None:
        """Classify a run of backticks or tildes: the start of code, its end, or neither."""
        run, before, self._run = self._run, self._run_before, ""
        fences = len(run) >= 3 and _BEFORE_FENCE.fullmatch(before)
        match self._mode:
            case "text" | "code" if fences and (run[0] == "`" or self._mode == "text"):
                self._outer = self._opened if self._mode == "code" else ""
                self._mode, self._opened = "info", run
            case "text" | "destination" | "url" if run[0] == "`":
                self._mode, self._opened = "code", run
            case "code" if run == self._opened:
                self._mode = "text"
            case "info":  # a fence's line has no backticks: these are inline code
                self._end_inline(run)
            case "fence" if len(run) >= len(self._opened) and _BEFORE_END.fullmatch(before):
                self._mode = "closing"
            case _:
                pass

    def _end_inline(self, run: str) -> None:
        """Reinterpret an apparent fence as inline backticks, and process the run that followed it."""
        first, outer = self._opened, self._outer
        if outer and first == outer:
            self._mode, self._opened = "code", run
        elif run == (outer or first):
            self._mode = "text"
        else:
            self._mode, self._opened = "code", outer or first

    def _end_line(self) -> None:
        match self._mode:
            case "info":
                self._mode = "fence"
            case "closing" | "destination":
                self._mode = "text"
            case "code" if _HEADING.match(self._line):
                self._mode = "text"
            case _:
                pass
        if self._blank:
            self._end_block()
        self._line, self._tail, self._blank = "", "", True

    def _end_block(self) -> None:
        """Reset what was open: a new paragraph, item or heading begins."""
        self._depth = 0
        if self._mode in {"code", "destination"}:
            self._mode = "text"


def find_marks(text: str) -> list[str | Mark]:
    """Split a whole text into plain text and markers, in order."""
    scanner = MarkScanner()
    return scanner.feed(text) + scanner.close()


def placed_pieces(text: str) -> Iterator[tuple[int, str, Mark | None]]:
    """Yield where each piece of a text begins, the piece as it is written, and the marker that it is, if it is one."""
    place = 0
    for piece in find_marks(text):
        mark = piece if isinstance(piece, Mark) else None
        written = piece if isinstance(piece, str) else piece.text
        yield place, written, mark
        place += len(written)


def cited_numbers(answer: str) -> frozenset[int]:
    """Return the numbers cited by the markers of an answer, linked or not."""
    marks = (piece for piece in find_marks(plain_marks(answer)) if isinstance(piece, Mark))
    return frozenset(number for mark in marks for number in mark.numbers)


def plain_marks(text: str) -> str:
    r"""Return an answer of the same length whose linked markers and footnote references are plain markers.

    These are `[\[1\]](https://example.com)`, as `render_answer` writes them, `[[1]](...)`, `[1](...)`, and `[^1]`.
    """
    if "](" in text:
        text = _LINKED_MARKER.sub(lambda match: f"[{match[1] or match[2]}]".rjust(len(match[0])), text)
        text = _NESTED.sub(lambda match: _RANGE.sub("-", match[1].replace(",", " ")).center(len(match[0])), text)
    return _FOOTNOTE.sub(" [", text)


def without_sources(text: str) -> str:
    """Return an answer of the same length without the list of sources at its end: numbered lines with a URL."""
    place, begin = len(text), None
    for line in reversed(text.splitlines(keepends=True)):
        bare, place = line.strip(" \t\r\n-*+>"), place - len(line)
        if not bare:
            continue
        if not (_SOURCE.match(bare) if bare[0] in "\\[" else _ITEM.fullmatch(bare)):
            begin = place if begin is not None and _SOURCES.fullmatch(bare) else begin
            break
        begin = place
    return text if begin is None else text[:begin] + " " * (len(text) - begin)


def _may_follow(candidate: str, character: str) -> bool:
    """Return whether a character can continue a marker that began as `candidate`."""
    if "†" in candidate:
        return character != "\n"
    return character.isdecimal() or character in _INNER or (character == "†" and candidate[-1].isdecimal())


def _parse(text: str) -> Mark | None:
    """Parse brackets and their content as a marker, or return None."""
    body = _BODY.fullmatch(text, 1, len(text) - 1)
    if body is None:
        return None
    spelled = [text[: body.start(1)], *_PIECES.findall(body[1]), text[body.end(1) :]]
    pieces: list[str | int] = [int(piece) if piece.isdecimal() else piece for piece in spelled]
    numbers: dict[int, None] = {}
    for place, piece in enumerate(pieces):
        if not isinstance(piece, int):
            continue
        before = pieces[place - 2] if place >= 3 else None
        if isinstance(before, int) and _DASH.fullmatch(spelled[place - 1]):
            if not before < piece <= before + _MAX_RANGE:
                return None
            numbers.update(dict.fromkeys(range(before, piece)))
        numbers[piece] = None
    return Mark(text, tuple(pieces), tuple(spelled), tuple(numbers))


def address_of_link(line: str, opens: int) -> str | None:
    """Return the URL of a link or image; empty if it has none in this line.

    None if the text ends before that is clear, and for anything that a renderer should not take for a link.

    Args:
        line: The rest of a line.
        opens: Where its bracket opens.
    """
    label = _LABEL.match(line, opens)
    if label is None or label.end() == len(line):
        return None
    if line[label.end()] != "(" or not _AMBIGUOUS.isdisjoint(label[1]):  # constructs that bind tighter or end elsewhere
        return ""
    target = _TARGET.match(line, label.end())
    return written_address(target[1]) if target else None


def written_address(text: str) -> str:
    """Return the URL of a link as a renderer reads it; empty if that may differ from the text.

    Args:
        text: The destination, perhaps in angle brackets.
    """
    url = text[1:-1] if text.startswith("<") and text.endswith(">") else text
    return "" if _ENTITY.search(url) else url
