"""Truncation of Markdown at block boundaries."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

_FENCE = re.compile(r"^([ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.MULTILINE)
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t]|$)")
_STARTS_BLOCK = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t]|$)|[-*+][ \t]|\d{1,9}[.)][ \t]|\||>|`{3}|~{3})")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-+)[ \t]*$")
_TABLE_RULE = re.compile(r"[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+(?:\|[ \t]*+)?$")
_SENTENCE_END = re.compile(r"""[.!?\u2026]["')\]\u2019\u201d\u00bb*_]{0,3}(?=\s)|[\u3002\uff01\uff1f\u0964\u06d4]""")
LINE: Final = 400
"""Characters of the next line that identify its kind."""
_MAX_LABEL: Final = 1_000  # characters of a link's text
_LABEL_END: Final = re.compile(r"[^\[\]\n]*\]\(")
_MAX_CLUSTER: Final = 64  # characters; the longest cluster that is kept whole


class Code(NamedTuple):
    """A fenced code block."""

    start: int
    """The start of its first line."""
    opened: int
    """The end of its first line."""
    end: int | None
    """Its end; None if it is unclosed."""
    closing: str
    """The newline and the line that close it."""


def truncate(markdown: str, max_length: int) -> str:
    """Return the longest prefix of whole blocks that fits.

    A block is a paragraph, a list item, a table row or a fenced code block. A heading or a table header is not left at
    the end without what follows it. A first block that is too long is cut after a sentence, else between words, else
    anywhere but inside a character; a code block cut this way is closed.

    Args:
        markdown: The text.
        max_length: Maximum characters to return, at least 1.

    Returns:
        The text itself if it fits, else a prefix of it, possibly with the closing fence of a code block.
    """
    if len(markdown) <= max_length:
        return markdown
    window = markdown[: max_length + LINE]
    codes = codes_in(window)
    return whole_blocks(window, max_length, codes) or _part_of_block(window, max_length, codes)


def is_rule(line: str) -> bool:
    """Whether a line is the delimiter row below a table header."""
    return "|" in line and _TABLE_RULE.match(line) is not None


def codes_in(text: str) -> list[Code]:
    """Return the fenced code blocks of a text, in order."""
    codes: list[Code] = []
    mark = ""
    for fence in _FENCE.finditer(text):
        if not mark:
            mark = fence[2]
            indent = re.sub(r"[^\s>]", " ", fence[1])
            codes.append(Code(fence.start(), fence.end(), None, f"\n{indent}{mark}"))
        elif fence[2].startswith(mark) and not fence[3].strip(" \t") and not re.search(r"[^\s>]", fence[1]):
            codes[-1] = codes[-1]._replace(end=fence.end())
            mark = ""
    return codes


def whole_blocks(text: str, max_length: int, codes: list[Code]) -> str:
    """Return the longest prefix that ends at a block boundary, or "" if even the first block is too long."""
    codes = list(codes)
    end = text.rfind("\n", 0, max_length + 1)
    while end > 0:
        while codes and codes[-1].start > end:
            codes.pop()
        if codes and codes[-1].start <= end and (codes[-1].end is None or end < codes[-1].end):
            end = codes[-1].start - 1
            continue
        if _ends_block(text, end, after_code=bool(codes) and codes[-1].end == end):
            cut = _without_dangling(text, end)
            if cut == end:
                return text[:end].rstrip()
            end = cut
            continue
        end = text.rfind("\n", 0, end)
    return ""


def _ends_block(text: str, end: int, *, after_code: bool) -> bool:
    """Whether a block ends at the newline at `end`."""
    before = text[text.rfind("\n", 0, end) + 1 : end]
    after = text[end + 1 : end + 1 + LINE].partition("\n")[0]
    if not before.strip() or not after.strip() or after_code:
        return True
    if _UNDERLINE.match(after) or (_TABLE_RULE.match(after) and "|" in after):
        return False
    return bool(_STARTS_BLOCK.match(after) or _HEADING.match(before) or before.lstrip().startswith("|"))


def _without_dangling(text: str, end: int) -> int:
    """Return the end of the text without a trailing heading or table header."""
    end = len(text[:end].rstrip()) if text[end - 1 : end].isspace() else end
    start = text.rfind("\n", 0, end) + 1
    line = text[start:end]
    above = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)]
    if _HEADING.match(line):
        return start - 1
    if above.strip() and ((_TABLE_RULE.match(line) and "|" in line) or _UNDERLINE.match(line)):
        return start - len(above) - 2
    return end


def _part_of_block(text: str, max_length: int, codes: list[Code]) -> str:
    """Return the beginning of a block that is too long."""
    code = next((c for c in codes if c.start < max_length and (c.end is None or c.end > max_length)), None)
    if code is None:
        part = text[: _cut_in_text(text, max_length)]
    else:
        room = max_length - len(code.closing)
        end = text.rfind("\n", code.opened, room + 1) if room > code.opened else -1
        if end <= code.opened < room:
            end = whole_character(text, room)
        part = text[:end] + code.closing if end > code.opened else text[: code.start]
    left_open = [c for c in codes_in(part) if c.end is None]  # truncation can turn ordinary text into a fence
    return part[: left_open[0].start].rstrip() if left_open else part.rstrip()


def _cut_in_text(text: str, max_length: int) -> int:
    """Return where to cut running text to at most `max_length` characters."""
    half = max_length // 2
    end = 0
    for sentence in _SENTENCE_END.finditer(text, half, max_length + 1):
        if sentence.end() <= max_length:
            end = sentence.end()
    if not end:
        end = next((i for i in range(max_length, half, -1) if text[i].isspace()), 0) or whole_character(
            text, max_length
        )
    return _before_link(text, end)


def whole_character(text: str, end: int) -> int:
    """Return the nearest position at or before `end` that is not inside a grapheme cluster."""
    for place in range(end, max(0, end - _MAX_CLUSTER), -1):
        if not _is_one_cluster(text[place - 1 : place + 1]):
            return place
    return max(0, end)


def _is_one_cluster(pair: str) -> bool:
    if len(pair) < 2:
        return False
    first, second = pair[0], pair[1]
    return (
        unicodedata.combining(second) != 0
        or unicodedata.category(second) in {"Mn", "Me", "Mc"}
        or "\u200d" in pair
        or second == "\u200c"
        or "\U0001f3fb" <= second <= "\U0001f3ff"
        or ("\ud800" <= first <= "\udbff" and "\udc00" <= second <= "\udfff")
    )


def _before_link(text: str, end: int) -> int:
    """Return `end`, or the start of the link whose URL it would cut."""
    label = text.rfind("[", max(0, end - _MAX_LABEL), end)
    if label >= 0 and "]" not in text[label:end] and _LABEL_END.match(text, end) and text[label - 1 : label] != "\\":
        return label
    middle = text.rfind("](", 0, end)
    if middle < 0 or re.search(r"[)\s]", text[middle + 2 : end]):
        return end if text[end - 1 : end + 1] != "](" else _before_label(text, end - 1, end)
    return _before_label(text, middle, end)


def _before_label(text: str, middle: int, end: int) -> int:
    depth = 0
    for place in range(middle, max(-1, middle - _MAX_LABEL), -1):
        depth += {"]": 1, "[": -1}.get(text[place], 0)
        if depth == 0:
            return place - (text[place - 1 : place] == "!") or end
    return end
