"""Escaping of page text for Markdown, and resolution of a page's link URLs.

Only what would be markup is escaped, so that prose stays readable. The rules are those of CommonMark 0.31
(https://spec.commonmark.org/0.31.2/), with the tables of GitHub's Markdown.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

__all__ = ["Links", "escape_line", "escape_text", "fence", "inline_code"]

_SPECIAL: Final = re.compile(r"[\\`*_<&~\[\]|\xad]")
_ESCAPED: Final = re.compile(
    r"""
      (?P<math>\\\((?P<inline>(?:[^\n$\\]|\\(?![(\[])){1,2000}?)\\\)|\\\[(?P<block>(?:[^$\\]|\\(?![(\[])){1,2000}?)\\\])
    | (?P<tex>\$\$?(?=[^$\n]{0,500}?[\\^_{])[^$\n]{1,500}?(?<=\S)\$\$?(?!\w))
    | (?P<mark>
        \\(?=[!-/:-@\[-`{-~]|\s*$)
      | `
      | (?<!\s)\*|\*(?!\s)
      | (?<!\w)_++|(?<!_)_++(?!\w)
      | <(?=[A-Za-z/!?]|$)
      | &(?=\#?[A-Za-z0-9]{1,31};)
      | ~(?=~)|(?<=~)~
      | \](?=[(\[])
      )
    | (?P<shy>\xad)
    """,
    re.VERBOSE,
)
_PLAIN_MARK: Final = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\s*$)|[`*\[\]]|~(?=~)|(?<=~)~|(?<!\w)_++|(?<!_)_++(?!\w)|<(?=[A-Za-z/!?]|$)|&(?=#?[A-Za-z0-9]{1,31};)"
)
_START: Final = re.compile(
    r"(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|~{3}|\||=+\s*$|(?:-\s*){2,}$|(?:\*\s*){3,}$|(?:_\s*){3,}$|[|:\s]*-[|:\s-]*$"
    r"|\[(?:[^\]\\\n]|\\.){1,1000}\]:)"
)
_NUMBER: Final = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_TICKS: Final = re.compile("`+")
_SPACES: Final = re.compile(r"\s+")


def escape_text(text: str, *, in_label: bool = False) -> str:
    r"""Escape the text of one node so that it is literal anywhere in a line.

    Formulas between `\(` and `\)`, `\[` and `\]`, or dollar signs stay TeX, between dollar signs. Soft hyphens are
    removed.

    Args:
        text: The text of a text node.
        in_label: Whether it is part of a link's label, where every bracket counts.
    """
    if _SPECIAL.search(text) is None:
        return text
    if in_label:
        return _PLAIN_MARK.sub(_escape, text).replace("\xad", "")
    return _ESCAPED.sub(_replacement, text)


def _escape(match: re.Match[str]) -> str:
    return "".join([f"\\{sign}" for sign in match[0]])


def _replacement(match: re.Match[str]) -> str:
    if match["mark"]:
        return _escape(match)
    if match["shy"]:
        return ""
    if match["tex"]:
        return match["tex"]
    inline, block = match["inline"], match["block"]
    return f"${inline.strip()}$" if inline is not None else f"$${_SPACES.sub(' ', block).strip()}$$"


def escape_line(line: str) -> str:
    """Escape a line's beginning so that it is not parsed as a heading, a list, a quotation, a rule or a table."""
    first = line[:1]
    if first.isalpha():
        return line
    if first.isdigit():
        return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line
    return "\\" + line if _START.match(line) else line


def inline_code(code: str) -> str:
    """Return a code span with as many backticks as its text requires."""
    code = _SPACES.sub(" ", code).strip()
    if not code:
        return ""
    if "`" not in code:
        return f"`{code}`"
    ticks = _free_ticks(code, 1)
    pad = " " if code[0] == "`" or code[-1] == "`" else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def fence(code: str, language: str = "") -> str:
    """Return a fenced code block whose fence is longer than any in its text."""
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(code)), default=0))
    return f"{ticks}{language}\n{code}\n{ticks}"


def _free_ticks(code: str, least: int) -> str:
    runs = {len(run) for run in _TICKS.findall(code)}
    return "`" * next(length for length in range(least, len(runs) + least + 1) if length not in runs)


_MAX_ADDRESS: Final = 8_192  # characters; servers reject longer URLs
_REMOVED: Final = re.compile(r"[\t\n\r]")  # as in https://url.spec.whatwg.org/#concept-basic-url-parser
_UNFIT: Final = re.compile(r"[\x00-\x20\x7f-\xa0<>\\|`]|&(?=#?\w{1,31};)")
_DOUBTFUL: Final = re.compile(r"[\x00-\x20\x7f-\xa0<>\\|`&]")
"""The first characters of each match of `_UNFIT`."""
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_DOTS: Final = re.compile(r"/\.|\\")


class Links:
    """Resolves the links of one page.

    Args:
        base_url: The base of relative links.
    """

    def __init__(self, base_url: str) -> None:
        self._base = base_url
        self._known: dict[str, str] = {}
        try:
            parts = urlsplit(base_url)
            self._origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
        except ValueError:
            self._origin = ""

    def resolve(self, reference: str) -> str:
        """Return the http or https URL of a link, or "" for any other target."""
        known = self._known.get(reference)
        if known is None:
            known = self._known[reference] = self._resolve(reference)
        return known

    def _resolve(self, reference: str) -> str:
        reference = reference.strip("\x00\x0b\x0c \t\n\r")
        if not reference.isprintable():
            reference = _REMOVED.sub("", reference)
        if not reference or len(reference) > _MAX_ADDRESS:
            return ""
        if reference[:8].lower().startswith(("http://", "https://")):
            address = reference
        elif _SCHEME.match(reference) and not reference[:6].lower().startswith(("http:", "https:")):
            return ""
        elif self._origin and reference[0] == "/" and reference[1:2] != "/" and not _DOTS.search(reference):
            address = self._origin + reference
        else:
            try:
                address = urljoin(self._base, reference)
            except ValueError:
                return ""
        if not address[:8].lower().startswith(("http://", "https://")) or address[-3:] == "://":
            return ""
        if "[" in address:  # an IPv6 address, or an invalid one
            try:
                urlsplit(address)
            except ValueError:
                return ""
        if _DOUBTFUL.search(address):
            address = _UNFIT.sub(_percent, address)
        return address if _balanced(address) else address.replace("(", "%28").replace(")", "%29")


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _balanced(address: str) -> bool:
    """Whether the parentheses of a URL are balanced, and few enough for every Markdown parser."""
    if "(" not in address and ")" not in address:
        return True
    depth = 0
    for char in address:
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        if depth < 0 or depth > 3:
            return False
    return depth == 0
