"""Neutralizes images and links of an answer whose URLs the session has not seen, so that nothing loads them.

A page can talk a model into an image whose URL carries what the model knows; a client that shows the answer would send
it without a click. Code is recognized as CommonMark 0.31 defines it; where that depends on other lines, or a renderer
might disagree, apparent code is treated as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType
from typing import Final, Literal

from groundwire.citations.marker_parser import address_of_link, written_address
from groundwire.safety.urls import url_or_none
from groundwire.settings.sections import PolicySettings

Untrusted = Literal["drop", "keep"]
"""The treatment of images or links whose URL belongs to no source."""

_MAX_INFO_CHARS: Final = 200  # characters after the run of a fence, and of the run
_MAX_HELD_CHARS: Final = 4_000  # characters held back until their meaning is clear
_TRIGGER: Final = re.compile(r"\\|`+|!|<|\]|\$|h", re.IGNORECASE)
_FENCE: Final = re.compile(r"(`{3,200}(?!`)(?=[^`\n]{0,200}\n)|~{3,200}(?!~))[^\n]{0,200}\n")
_MAY_BE_FENCE: Final = re.compile(r"(?:`{3,200}+(?!`)|~{3,200}+(?!~))[^\n]{0,200}\Z")
_FENCE_END: Final = re.compile(r" {0,3}(`+|~+)[ \t]*\r?\n?")
_RUN: Final = re.compile(r"( {0,3})(`{3,}|~{3,})")
_MAY_BE_RUN: Final = re.compile(r" {0,3}(?:`{0,2}|~{0,2})\Z")
_LONE_RETURN: Final = re.compile(r"\r(?!\n|\Z)")
_BARE_TAG: Final = re.compile(r"</?[A-Za-z][\w:.-]{0,100} ?/?>")
_PLAIN_TAG: Final = re.compile(
    r"<[A-Za-z][A-Za-z\d-]{0,100}"
    r"(?:\s{1,9}[A-Za-z_:][\w.:-]{0,100}(?:\s{0,9}=\s{0,9}(?:[^\s\"'=<>`]+|'[^'<>`]*'|\"[^\"<>`]*\"))?)*\s{0,9}/?>"
)
"""A whole tag with attributes (CommonMark 0.31, 6.6), in which nothing else could begin."""
_BREAK: Final = re.compile(r"(>|\n[ \t]*\r?\n)|\n[ \t>*+.)\d-]*")
"""What may end a tag: not the marks of containers that begin its further lines."""
_ATTRIBUTE: Final = re.compile(r"([^\s\"'<>/=]{1,100})[\s>]*=")
_QUOTED: Final = re.compile(r"=[\s>]*[\"']")
_LOADING_ATTRIBUTES: Final = frozenset((
    "src", "srcset", "imagesrcset", "srcdoc", "poster", "background", "style", "data", "href", "xlink:href", "archive",
    "code", "codebase", "classid", "content", "values", "from", "to", "by", "manifest", "lowsrc", "dynsrc", "icon",
    "is", "action", "formaction", "ping",
))  # fmt: skip
"""Attributes that load, or change what others load; like those that begin with `on`."""
_SCRIPT: Final = re.compile(r"<(?:script|style)\b", re.IGNORECASE)
_RAW_HTML: Final = re.compile(r"<(?:[!?]|(?:pre|textarea)\b)", re.IGNORECASE)
_RAW_HTML_ENDS: Final = MappingProxyType(
    {"<!--": "-->", "<![CDATA[": "]]>", "<!": ">", "<?": "?>", "<pre": "</pre>", "<textarea": "</textarea>"}
)
"""What begins HTML that no empty line ends, and how it ends (CommonMark 0.31, 4.6)."""
_AUTOLINK: Final = re.compile(r"<(?:https?://|mailto:)[^\s<>]{1,2000}>", re.IGNORECASE)
_NUMBER: Final = r"\[[\d ,;–-]{1,40}\]"
_MARKER: Final = re.compile(rf"!{_NUMBER}(?![(\[])")
_MARKS: Final = " \t>*+.)-0123456789"
"""What containers of blocks are written with (CommonMark 0.31, 5)."""
_NUMBERS: Final = re.compile(r"[\s\ufeff>*+.)\d,;–-]*+")
"""What a label such as `1, 2` is written with, over several lines of containers, as white space is one space in it."""
_DEFINITION: Final = re.compile(r"\]:[ \t]{0,40}([^ \t\r\n]{0,2000})")
_BLOCK: Final = re.compile(
    r"</?(?:(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div"
    r"|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main"
    r"|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title"
    r"|tr|track|ul)\b|[^>]*>[ \t\r]*$)",
    re.IGNORECASE | re.MULTILINE,
)
"""A tag at the start of a line from which on HTML is read (CommonMark 0.31, 4.6)."""
_IN_ADDRESS: Final = re.compile(r"://|www\.", re.IGNORECASE)
_URL: Final = re.compile(r"https?://[^\s<>\"`\]]{0,2000}", re.IGNORECASE)
_SCHEME: Final = "https://"


def policy_filter(known_urls: Iterable[str], policy: PolicySettings) -> LinkFilter:
    """Return the filter of the answers of the agent loop and the proxy.

    Args:
        known_urls: The URLs that the session was shown.
        policy: Whether other images and links are dropped.
    """
    return LinkFilter(known_urls, images=policy.untrusted_images, links=policy.untrusted_links)


class LinkFilter:
    """Filters an answer in chunks. The output does not depend on the chunks and is as long as the input.

    Args:
        known_urls: The URLs to keep.
        images: The treatment of others; `drop` makes a backslash of the exclamation mark, so that their label is text.
        links: The same for links; `drop` replaces the colon of the scheme.
    """

    def __init__(self, known_urls: Iterable[str], *, images: Untrusted = "drop", links: Untrusted = "keep") -> None:
        self._known_urls = {_request_text(url) for url in known_urls}
        self._images, self._links = images, links
        self._text = ""
        self._fence = ""
        self._line_start = True
        self._paragraph: set[str] = (
            set()
        )  # what makes later code doubtful, of the paragraph: "<", "<p", "$", a backtick, or of all: "<!"
        self._only_marks = True  # whether a block may begin here
        self._number = False  # whether a bracket that began a block has only numbers so far
        self._word, self._in_address = "", False  # the end of the word so far; whether it may be an address
        self._in_formula = False
        self._inner: tuple[str, str] | None = None  # spaces and run of an indented fence, perhaps in a list item
        self._tag_start = ("", 0)  # what `<` becomes in the next characters, and in how many
        self._input = ""  # the text as it came, of which a lone return ends a line, too
        self._unsure = False  # whether code may be open here in a renderer: no fence is believed from then on

    def knows(self, url: str) -> bool:
        """Return whether a URL is always kept."""
        return _request_text(url) in self._known_urls

    def keeps_image(self, url: str) -> bool:
        """Return whether an image is kept."""
        return self._images == "keep" or self.knows(url)

    def keeps_link(self, url: str) -> bool:
        """Return whether a link is kept."""
        return self._links == "keep" or self.knows(url)

    def in_text(self, text: str, *, goes_on: bool = False) -> str:
        """Neutralize the URLs of text without Markdown.

        Args:
            text: The text.
            goes_on: Whether the text shown after it could extend a URL at its end.
        """
        if self._links == "keep":
            return text

        def replacement(match: re.Match[str]) -> str:
            is_complete = not goes_on or match.end() < len(text)
            return match[0] if is_complete and self._may_link(match[0]) else match[0].replace(":", "-", 1)

        return _URL.sub(replacement, text)

    def feed(self, chunk: str) -> str:
        """Take the next chunk of the answer and return the text that is final."""
        if self._images == self._links == "keep":
            return chunk
        self._input += chunk
        self._text = _LONE_RETURN.sub("\n", self._text + chunk)  # Markdown ends a line there
        return self._take(ended=False)

    def close(self) -> str:
        """End the answer and return the text held back."""
        return self._take(ended=True)

    def whole(self, answer: str) -> str:
        """Filter a whole answer at once."""
        return self.feed(answer) + self.close()

    def _take(self, *, ended: bool) -> str:
        out: list[str] = []
        place, text = 0, self._text
        lone_return = "\r" if text.endswith("\r") and not ended else ""
        text = text.removesuffix(lone_return)
        while place < len(text):
            if self._line_start:
                step = self._at_line_start(text, place, ended=ended)
            elif self._fence:
                step = (line := _line(text, place)), place + len(line)
            else:
                step = self._in_line(text, place, ended=ended)
            if step is None:  # depends on the following text
                break
            piece, end = step
            out.append(piece)
            self._note(text[place:end])
            self._tag_start = self._tag_start[0], max(0, self._tag_start[1] - (end - place))
            place = end
        self._text = text[place:] + lone_return
        output, original = "".join(out), self._input[:place]
        self._input = self._input[place:]
        return "".join(map(_with_return, output, original)) if "\r" in original else output

    def _note(self, piece: str) -> None:
        """Note what the meaning of the following text depends on."""
        self._line_start = piece.endswith("\n")
        if self._only_marks:
            end = len(piece) - len(piece.lstrip(_MARKS))
            self._only_marks = end == len(piece)
            if piece[end : end + 1] == "[":
                self._number, piece = True, piece[end + 1 :]
        self._number = self._number and _NUMBERS.fullmatch(piece) is not None
        self._only_marks = self._only_marks or self._line_start or piece.startswith("]:")  # "[^1]: " of a footnote
        word = re.split(r"[\s<]", piece)[-1]
        if len(word) < len(piece):
            self._word, self._in_address = "", False
        self._word += word
        self._in_address = self._in_address or _IN_ADDRESS.search(self._word) is not None
        self._word = self._word[-3:]

    def _at_line_start(self, text: str, place: int, *, ended: bool) -> tuple[str, int] | None:
        """Check whether a fence begins or ends here."""
        line = _line(text, place)
        is_whole = line.endswith("\n") or ended or len(line) >= _MAX_HELD_CHARS
        if self._fence:
            if not line[:_MAX_HELD_CHARS].strip(" \t\r\n" + self._fence[0]):
                if not is_whole:
                    return None
                self._unsure = len(line) >= _MAX_HELD_CHARS
                self._fence = "" if self._unsure or _closes(line, self._fence) else self._fence
            return line, place + len(line)
        if not self._unsure:
            opens = self._opens_inner(line, is_whole=is_whole) if self._inner else self._opens(line, is_whole=is_whole)
            if opens is None:
                return None
            if opens:
                return line, place + len(line)
        if text[place] == "\n":
            self._paragraph &= {"<!"}
        return self._in_line(text, place, ended=ended)

    def _opens(self, line: str, *, is_whole: bool) -> bool | None:
        """Open a fence if one begins a line, and return whether it does; None if more of the line is needed."""
        run = _RUN.match(line)
        if run is None:
            return None if not is_whole and _MAY_BE_RUN.match(line) else False
        if not is_whole and _MAY_BE_FENCE.match(line, run.start(2)):
            return None
        if fence := _FENCE.match(line, run.start(2)):
            if "<" in self._paragraph or self._in_formula:  # perhaps HTML, in which it is text
                self._unsure = True
                return False
            if run[1]:
                self._inner = run[1], fence[1]
            else:
                self._fence = fence[1]
            self._paragraph &= {"<!"}
            return bool(self._fence)
        self._unsure = run[2][0] == "~" or "`" not in line[run.end() :][:_MAX_INFO_CHARS]
        return False

    def _opens_inner(self, line: str, *, is_whole: bool) -> bool | None:
        """Look for the end of an indented fence; return None if more of the line is needed, else False.

        It ends at a line that is indented less if it is in a list item, but not if it is in none.
        """
        if not is_whole:
            return None
        spaces, fence = self._inner or ("", "")
        if not line.startswith(spaces) and line.strip():
            self._unsure = True
        elif line.lstrip(" \t").startswith(fence[0] * 3):
            self._unsure = line[len(spaces)] != fence[0] or not _closes(line, fence)
            self._inner = None
        return False

    def _in_line(self, text: str, place: int, *, ended: bool) -> tuple[str, int] | None:
        end = text.find("\n", place)
        stop = len(text) if end < 0 else end + 1
        trigger = _TRIGGER.search(text, place, stop)
        if trigger is None:
            return text[place:stop], stop
        start = trigger.start()
        if start > place:
            return text[place:start], start
        if text.startswith(("<", "\\<"), place):  # a tag may go on in other lines
            end, stop = -1, len(text)
        tail = text[place : min(stop, place + _MAX_HELD_CHARS)]
        open_ended = end < 0 and not ended and len(tail) < _MAX_HELD_CHARS  # more of it may come
        step = self._special(tail, open_ended=open_ended)
        return None if step is None else (step[0], place + step[1])

    def _special(self, tail: str, *, open_ended: bool) -> tuple[str, int] | None:
        """Return the replacement for the start of a line's rest and its length; None if more text is needed."""
        if tail[0] == "\\":
            if open_ended and len(tail) < 3:
                return None
            if tail[1:2] == "<":  # no autolink, but perhaps in HTML
                step = self._tag(tail[1:], open_ended=open_ended, is_escaped=True)
                return None if step is None else (f"\\{step[0]}", step[1] + 1)
            return (tail[:2], len(tail[:2])) if tail[1:2] in "\\`" else _first_character(tail)
        kinds = {"$": self._dollars, "`": self._code, "!": self._image, "<": self._tag, "]": self._bracket}
        return kinds.get(tail[0], self._address)(tail, open_ended=open_ended)

    def _code(self, tail: str, *, open_ended: bool) -> tuple[str, int] | None:
        """Return a code span unchanged if it ends in its line and in no other table cell; else its backticks.

        It is none in HTML, and in other renderers none that begins in an address or a formula.
        """
        run = len(tail) - len(tail.lstrip("`"))
        place = len(tail) if self._in_address or self._paragraph & {"`", "<p", "<!"} else run
        while (at := tail.find("`", place)) >= 0:
            place = at + len(tail[at:]) - len(tail[at:].lstrip("`"))
            if place - at == run and not (open_ended and place == len(tail)):
                if "|" not in tail[:place] and not ("$" in self._paragraph and "$" in tail[:place]):
                    return tail[:place], place
                break
        else:
            if open_ended:
                return None
        self._paragraph.add("`")  # it may begin code here
        return tail[:run], run

    def _dollars(self, tail: str, *, open_ended: bool) -> tuple[str, int] | None:
        """Note where a formula may begin or end, which some renderers show."""
        run = len(tail) - len(tail.lstrip("$"))
        if open_ended and run == len(tail):
            return None
        if run > 1 and (self._only_marks or self._in_formula):
            self._in_formula = not self._in_formula
        self._paragraph.add("$")
        return tail[:run], run

    def _image(self, tail: str, *, open_ended: bool) -> tuple[str, int] | None:
        if self._images == "keep" or not tail.startswith("!["[: len(tail)]):
            return _first_character(tail)
        if len(tail) < 2:
            return None if open_ended else _first_character(tail)
        if _MARKER.match(tail) and not (open_ended and _MARKER.match(tail[:-1]) is None):
            return _first_character(tail)
        url = address_of_link(tail, 1)
        if url is None and open_ended:
            return None
        return ("![" if url and self.knows(url) else "\\["), 2

    def _tag(self, tail: str, *, open_ended: bool, is_escaped: bool = False) -> tuple[str, int] | None:
        self._paragraph.add("<")
        if self._images == "keep":
            return _first_character(tail)
        if not is_escaped and (match := _AUTOLINK.match(tail)):
            is_kept = tail[1] in "mM" or self._may_link(match[0][1:-1])
            return (match[0], match.end()) if is_kept else ("‹", 1)
        if open_ended and re.fullmatch(r"</?[A-Za-z]{0,8}", tail):
            return None
        if _SCRIPT.match(tail):
            return "‹", 1
        if "<!" not in self._paragraph and (raw := _RAW_HTML.match(tail)):
            closes = next(end for begin, end in _RAW_HTML_ENDS.items() if tail[: len(begin)].lower() == begin.lower())
            line, newline, _ = tail[len(raw[0]) :].partition("\n")
            is_long = closes not in line.lower()
            if is_long and open_ended and not newline:
                return None
            self._unsure = self._unsure or (is_long and self._only_marks)
            self._paragraph.add("<!" if self._unsure else "<p")
        if not re.match(r"</?[A-Za-z]", tail):
            return _first_character(tail)
        if match := _BARE_TAG.match(tail):
            if self._only_marks:
                if open_ended and not tail[match.end() :].strip(" \t\r"):
                    return None
                if _BLOCK.match(tail):
                    self._paragraph.add("<p")
            return match[0], match.end()
        return (self._tag_start[0], 1) if self._tag_start[1] else self._open_tag(tail, open_ended=open_ended)

    def _open_tag(self, tail: str, *, open_ended: bool) -> tuple[str, int] | None:
        """Return a tag unchanged if it neither loads nor runs anything, by its attributes."""
        is_raw = "<!" in self._paragraph
        ends = (match.end() for match in _BREAK.finditer(tail) if match[1] and not (is_raw and match[1] != ">"))
        end = next(ends, 0)
        if not end and open_ended:
            return None
        tag = tail[:end] if end else tail
        self._paragraph.add("<p")
        acting = [match.end() for match in _ATTRIBUTE.finditer(tag) if self._acts(tag, match[1].lower())]
        if not acting and _PLAIN_TAG.fullmatch(tag):
            return tag, len(tag)
        acting += [match.end() for match in _QUOTED.finditer(tag)]  # in which the end of the tag may be none
        if not end and len(tail) >= _MAX_HELD_CHARS:
            acting.append(_MAX_HELD_CHARS // 2)
        if not tag.endswith(">") and self._only_marks:
            acting.append(1)
        # What holds for this tag holds for what looks like another one before its end, too.
        self._tag_start = ("‹", max(acting)) if acting else ("<", len(tag))
        return self._tag_start[0], 1

    def _acts(self, tag: str, attribute: str) -> bool:
        """Return whether an attribute of a tag may load or run something."""
        if attribute == "href" and re.match(r"<a\s", tag, re.IGNORECASE):
            return self._links == "drop"
        return attribute.startswith("on") or attribute in _LOADING_ATTRIBUTES

    def _bracket(self, tail: str, *, open_ended: bool) -> tuple[str, int] | None:
        if open_ended and len(tail) < 2:
            return None
        if definition := _DEFINITION.match(tail):
            return self._definition(definition, open_ended=open_ended and definition.end() == len(tail))
        if self._links == "keep" or tail[1:2] != "(":
            return _first_character(tail)
        url = address_of_link(f"[{tail}", 0)
        if url is None and open_ended:
            return None
        return _first_character(tail) if len(tail) < 3 or (url and self.knows(url)) else ("](#", 3)

    def _definition(self, definition: re.Match[str], *, open_ended: bool) -> tuple[str, int] | None:
        """Neutralize a bracket and a colon from which an image such as ![1] or a link may take its URL."""
        url = written_address(definition[1])
        matters = (self._images == "drop" and self._number) or self._links == "drop"
        if matters and open_ended:
            return None
        if matters and url and self.knows(url):
            return definition[0], definition.end()
        is_kept = not matters or (not self._number and url and set("/:&\\").isdisjoint(url))
        return f"]{':' if is_kept else '꞉'}", 2

    def _address(self, tail: str, *, open_ended: bool) -> tuple[str, int] | None:
        if self._links == "keep":
            return _first_character(tail)
        if (
            open_ended
            and len(tail) < len(_SCHEME)
            and any(scheme.startswith(tail.lower()) for scheme in (_SCHEME, "http://"))
        ):
            return None
        match = _URL.match(tail)
        if match is None:
            return _first_character(tail)
        if open_ended and match.end() == len(tail):
            return None
        return (match[0] if self._may_link(match[0]) else match[0].replace(":", "-", 1)), match.end()

    def _may_link(self, url: str) -> bool:
        if self._links == "keep":
            return True
        bare = url.rstrip(").,;:!?'*_")
        signs = len(url) - len(bare)
        return any(self.knows(f"{bare}{url[len(bare) : len(url) - less]}") for less in range(min(signs, 10) + 1))


def _first_character(tail: str) -> tuple[str, int]:
    return tail[0], 1


def _with_return(output: str, original: str) -> str:
    return original if original == "\r" else output


def _line(text: str, place: int) -> str:
    """Return the text from a position to the end of its line, or as much as there is of it."""
    return text[place : text.find("\n", place) + 1 or None]


def _closes(line: str, fence: str) -> bool:
    """Return whether a line ends the code that a run of backticks or tildes began."""
    run = _FENCE_END.fullmatch(line)
    return run is not None and run[1].startswith(fence)


def _request_text(url: str) -> str:
    """Return the part of a URL that is sent: a known URL must not be extended."""
    parsed = url_or_none(url)
    return url if parsed is None else parsed.request_text
