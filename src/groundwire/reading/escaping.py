"""Text of a page as Markdown text: what would be markup is escaped and nothing else, so that prose stays readable.

The rules are those of CommonMark 0.31 (https://spec.commonmark.org/0.31.2/), with the tables of GitHub's Markdown.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["escape_line", "escape_text", "fence", "inline_code"]

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
    r"""Return the text of one node so that it means itself wherever it stands in a line.

    Formulas between `\(` and `\)`, `\[` and `\]`, or dollars stay as TeX, between dollars. Soft hyphens go.

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
    """Return a line of text so that its beginning is not taken for a heading, a list, a quote, a rule or a table."""
    first = line[:1]
    if first.isalpha():
        return line
    if first.isdigit():
        return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line
    return "\\" + line if _START.match(line) else line


def inline_code(code: str) -> str:
    """Return a code span with as many backticks as its text needs."""
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
