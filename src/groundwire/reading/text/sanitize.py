"""Sanitizing of text: one kind of newline, no terminal control sequences, no invisible characters that affect models.

Sources: Unicode 17, chapter 23 (Special Areas and Format Characters) and UAX 9, 31 and 39. Unlike in RFC
3454, the joiners that Persian, the Indic scripts and emoji are spelled with stay.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from groundwire.safety.secret_scanner import break_reserved

__all__ = [
    "Counts",
    "clean",
    "clean_text",
    "hygiene_warnings",
    "is_plain",
    "lower_ascii",
    "occurrences",
    "strip_controls",
    "strip_invisible",
]

_ESCAPES: Final = re.compile(
    "[\x1b\x90\x98\x9b\x9d-\x9f](?:"  # all begin like this, and what does not is skipped quickly
    r"(?:(?<=\x1b)[\]PX^_]|(?<=[\x90\x98\x9d-\x9f]))"  # OSC, DCS ...
    r"[^\n\x07\x1b\x90\x98\x9c-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|(?:(?<=\x1b)\[|(?<=\x9b))[0-?]{0,64}[ -/]{0,16}[@-~]"  # CSI
    r"|(?<=\x1b)[ -/]{0,16}[0-~])"
)
"""The escape sequences of ECMA-48, removed as a whole: without the payload of bare controls."""

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_PLAIN: Final = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
_C0: Final = bytes([*range(9), *range(0x0B, 0x20), 0x7F])
"""The controls of one byte; removing bytes is about ten times faster than the pattern."""
_HIGH: Final = bytes(range(0x80, 0x100))
_C1: Final = re.compile(rb"\xc2[\x80-\x9f]")
_TELLING: Final = (
    (b"\xe2", b"\xe2\x80\xa8"), (b"\xe2", b"\xe2\x80\xa9"), (b"\xef", b"\xef\xb7"), (b"\xbf", b"\xbf\xbe"),
    (b"\xbf", b"\xbf\xbf"),
)  # fmt: skip
"""Two newlines and what all noncharacters have in UTF-8, after a rare byte of each: one is found ten times as fast."""
_NEWLINES: Final = "\x0b\x0c\x85\u2028\u2029"
_BEGINNINGS: Final = "\x1b\x90\x98\x9b\x9d\x9e\x9f"
"""The first characters of escape sequences."""
_BARE: Final = re.compile(r"\r(?!\n)")
_GAPS: Final = re.compile(r"\n{4,}")


def strip_controls(text: str, *, plain: bool = False) -> str:
    """Remove escape sequences and control characters other than newline and tab.

    Args:
        text: The text.
        plain: Whether there are known to be none but carriage returns.
    """
    if "\r" in text:  # searching for pairs takes five times as long as for one character
        text = text.replace("\r\n", "\n").replace("\r", "\n") if _BARE.search(text) else text.replace("\r", "")
    if plain or _is_plain(text):
        return text
    for newline in _NEWLINES:
        text = text.replace(newline, "\n")
    if _is_plain(text):
        return text
    if any(sign in text for sign in _BEGINNINGS):
        text = _ESCAPES.sub("", text)
    try:
        encoded = text.encode().translate(None, _C0)
    except UnicodeEncodeError:
        return _CONTROLS.sub("", text)
    return encoded.decode() if is_plain(encoded) else _CONTROLS.sub("", text)


def _is_plain(text: str) -> bool:
    """Return whether there is nothing to remove; about ten times faster than the patterns."""
    try:
        return is_plain(text.encode())
    except UnicodeEncodeError:
        return False


def is_plain(encoded: bytes) -> bool:
    """Return whether a text in UTF-8 has no control characters but whitespace, and no noncharacters."""
    rest = encoded.translate(None, _PLAIN)
    if not rest or rest.translate(None, _HIGH):
        return not rest
    if b"\xc2" in rest and _C1.search(rest) is not None:
        return False
    return not any(rare in rest and mark in rest for rare, mark in _TELLING)


def lower_ascii(text: str) -> str:
    """Return a text with its ASCII letters in lower case, which is several times faster than `str.lower`."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def occurrences(text: str, word: str) -> Iterator[int]:
    """Yield the positions of a word in a text."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def clean(text: str) -> str:
    """Normalize newlines, remove controls and trailing spaces, and keep at most two consecutive blank lines."""
    text = strip_controls(text)
    if " \n" in text or "\t\n" in text:
        text = "\n".join([line.rstrip(" \t") for line in text.split("\n")])
    if "\n\n\n\n" in text:
        text = _GAPS.sub("\n\n\n", text)
    return text.strip("\n").rstrip()


Counts = Counter[str]
"""How many pieces were removed or neutralized, by reason."""

_SUSPECT: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SUSPECT_CHARACTERS: Final = re.compile(
    rb"\xc2\xad|[\xcc\xcd]|\xd2[\x83-\x89]|\xd6[\x91-\xbd]|\xd8[\x90-\x9c]|\xd9[\x8b-\x9f]"
    rb"|\xe1(?:\x85|\x9e|\xa0|\xaa|\xab|\xb7)|\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf]|\x83)|\xe3\x85\xa4"
    rb"|\xef(?:\xb8|\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xbb])|\xf0(?:\x9b\xb2|\x9d\x85)|\xf3\xa0"
)
"""The first UTF-8 bytes of `_SUSPECT`, of the joiners and of `_MARKS`, in a text without `_PLAIN`."""
_ASCII_BYTES: Final = bytes(range(0x80))
_FLAG: Final = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)|[\U000e0000-\U000e007f]"
)
_IDEOGRAPH: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_SUPPLEMENT: Final = re.compile(
    f"(?<![{_IDEOGRAPH}])[\U000e0100-\U000e01ef]+|(?<=[\U000e0100-\U000e01ef])[\U000e0100-\U000e01ef]+"
)
_SELECTOR: Final = re.compile(
    "[\ufe00-\ufe0f](?:(?<![\u0023\u002a0-9\u00a9\u00ae\u203c-\u32ff\u1000-\u109f\u1800-\u18af\uf900-\ufaff\u3400-\u9fff\ua840-\ua87f"
    "\U00010000-\U0003fffd][\ufe00-\ufe0f])|(?<=[\ufe00-\ufe0f][\ufe00-\ufe0f]))[\ufe00-\ufe0f]*"
)
"""A variation selector after a character that has none, or after another selector. This and the following patterns
begin with a character class and look back only afterwards, so they skip other text several times faster."""
_BIDI: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u206a-\u206f]")
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
_MONGOLIAN: Final = re.compile("(?<![\u1800-\u18af])[\u180b-\u180f]")
_JOINING: Final = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f\u1700-\u18af\u1900-\u1aff\u1b00-\u1c4f\ua800-\ua97f\uaa00-\uabff"
    "\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
"""The scripts in which a zero-width joiner or non-joiner is part of the spelling: Arabic and the Indic ones."""

_EMOJI: Final = "\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff\U000e007f"
_JOINER: Final = re.compile(
    f"[\u200c\u200d](?:(?<=[{_JOINING}][\u200c\u200d])(?=[{_JOINING}])"
    f"|(?<=[{_JOINING}]\u200d)(?![\u200c\u200d\\w])"
    f"|(?<=[{_EMOJI}]\u200d)(?=[{_EMOJI}])"
    "|())"
)
"""A joiner; one without effect is in the group."""
_MARK: Final = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_MARKS: Final = re.compile(f"({_MARK}{_MARK}{{3}}){_MARK}+")

_PASSES: Final = (
    ("tags", re.compile("[\U000e0000-\U000e007f]"), _FLAG),
    ("selectors", re.compile("[\U000e0100-\U000e01ef]"), _SUPPLEMENT),
    ("bidi", _BIDI, _BIDI),
    ("zero-width", _UNSEEN, _UNSEEN),
    ("zero-width", re.compile("[\u180b-\u180f]"), _MONGOLIAN),
    ("selectors", re.compile("[\ufe00-\ufe0f]"), _SELECTOR),
)
"""For each reason, a pattern that is quick to rule it out, and the one that finds the match."""

_FENCE: Final = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})")
_CODE: Final = re.compile(r"`(?<![`\\]`)(`*)(?!`)(?:(?!\n\n).){0,5000}?(?<!`)`\1(?!`)", re.DOTALL)
_IMAGE: Final = re.compile(r"!(?=\[)")
_TAG: Final = re.compile(
    r"<(?!https?://[^\s<>]*>)(?=/?[a-zA-Z][^<>]{0,1000}>|!--|!\[CDATA|!doctype|\?|[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*>)",
    re.IGNORECASE,
)
_BRACKET: Final = re.compile(r"\\.|\n|\[|\]\(?")
_ADDRESS: Final = re.compile(
    r"\s*+(<[^<>\n]*+>|[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*)([^()\n]{0,500}(?:\([^()\n]*+\)[^()\n]*+)?)\)"
)
"""What follows the label of a link and its parenthesis."""
_TARGET: Final = re.compile(r"(?<!\\)\]\((?=(\s{0,20}[^\n]{0,300}))")
_ODD_TARGET: Final = re.compile(r"\]\((?!https?://[a-zA-Z0-9])")
"""A link that does not obviously lead to the web."""
_DEFINITION: Final = re.compile(r"^([ \t>]{0,12})\[(?=(?!\^)(?:[^\[\]\\\n]|\\.){1,999}\]:)", re.MULTILINE)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_DISGUISE: Final = re.compile(r"[\x00-\x20\\]+")
_HTTP: Final = re.compile(r"https?://[^\s]", re.IGNORECASE)

_MAX_BACKSLASHES: Final = 1_000

_SAID: Final[Mapping[str, str]] = {
    "tags": "invisible characters removed",
    "selectors": "invisible characters removed",
    "bidi": "direction controls removed",
    "zero-width": "invisible characters removed",
    "marks": "piled-up accents removed",
    "reserved": "chat-template tokens neutralized",
    "image": "images not loaded",
    "link": "links other than http(s) removed",
}


def strip_invisible(text: str) -> tuple[str, Counts]:
    """Remove invisible characters; return the text and how many were removed, by reason.

    Characters that belong to the spelling are kept: joiners in Persian, the Indic scripts and emoji, the tags of
    regional flags, variation selectors after emoji and ideographs.
    """
    counts: Counts = Counter()
    if not text.isascii() and _may_hide(text):
        if _SUSPECT.search(text) or "\u200c" in text:
            text = _strip(text, counts)
        text, found = _MARKS.subn(r"\1", text)
        counts["marks"] += found
    return text, +counts


def _may_hide(text: str) -> bool:
    """Return whether a text may contain anything to remove; about ten times faster than the patterns."""
    try:
        return _SUSPECT_CHARACTERS.search(text.encode().translate(None, _ASCII_BYTES)) is not None
    except UnicodeEncodeError:
        return True


def _strip(text: str, counts: Counts) -> str:
    for name, present, pattern in _PASSES:
        if present.search(text):
            before = len(text)
            text = pattern.sub(_keep, text)
            counts[name] += before - len(text)
    while "\u200c" in text or "\u200d" in text:
        before = len(text)
        text = _JOINER.sub(lambda match: match[0] if match[1] is None else "", text)
        if len(text) == before:
            break
        counts["zero-width"] += before - len(text)  # removing one may isolate another
    return text


def _keep(match: re.Match[str]) -> str:
    """Return the part of a match to keep: its first group."""
    return (match[1] or "") if match.re.groups else ""


def clean_text(markdown: str) -> tuple[str, Counts]:
    """Make Markdown safe for a model; return it with what was removed or neutralized.

    Invisible characters are removed; images do not load, links lead to http(s) or nowhere, HTML is text, and chat
    template tokens are broken up. Visible text stays readable. Idempotent.
    """
    text, counts = strip_invisible(markdown)
    text, counts["reserved"] = break_reserved(text)
    if any(sign in text for sign in "[<!"):
        text = "".join(part if code else _tame(part, counts) for part, code in _parts(text))
    return text, +counts


def hygiene_warnings(counts: Counts) -> tuple[str, ...]:
    """Return what was removed as sentences for a result's warnings."""
    totals: Counter[str] = Counter()
    for reason, count in counts.items():
        totals[_SAID[reason]] += count
    return tuple(f"{said}: {count}" for said, count in totals.items() if count)


def _parts(text: str) -> list[tuple[str, bool]]:
    """Split a Markdown text into pieces, each with whether it is code."""
    if "```" not in text and "~~~" not in text:
        return _spans(text)
    parts: list[tuple[str, bool]] = []
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            lines.append(line)
            if match and match[1].startswith(fence) and not line[match.end() :].strip(" \t\r\n" + fence[0]):
                parts.append(("".join(lines), True))
                lines, fence = [], ""
        elif match and not (match[1][0] == "`" and "`" in line[match.end() :]):
            parts += _spans("".join(lines))
            lines, fence = [line], match[1]
        else:
            lines.append(line)
    if fence:
        parts.append(("".join(lines), True))
    else:
        parts += _spans("".join(lines))
    return parts


def _spans(text: str) -> list[tuple[str, bool]]:
    if "`" not in text:
        return [(text, False)]
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [(text[end : match.start()], False), (match[0], True)]
        end = match.end()
    return [*parts, (text[end:], False)]


def _tame(text: str, counts: Counts) -> str:
    """Neutralize everything in prose that loads, runs or leads elsewhere than the web."""
    if "![" in text:
        before = len(text)
        text = _IMAGE.sub(_escape, text)
        counts["image"] += len(text) - before
    if "]:" in text:
        text, found = _DEFINITION.subn(r"\1\\[", text)
        counts["link"] += found
    if _ODD_TARGET.search(text):
        text = _unlink(text, counts)
        text = _TARGET.sub(lambda match: _target(match, counts), text)
    return _TAG.sub(_escape, text) if "<" in text else text


def _escape(match: re.Match[str]) -> str:
    """Escape a character with a backslash, unless it is escaped."""
    text, position = match.string, match.start()
    start = position
    while start > 0 and text[start - 1] == "\\" and position - start < _MAX_BACKSLASHES:
        start -= 1
    return match[0] if (position - start) % 2 else "\\" + match[0]


def _unlink(text: str, counts: Counts) -> str:
    """Replace the links that lead elsewhere than the web by their labels."""
    opened: list[int] = []
    removed: list[tuple[int, int]] = []
    position = 0
    while (match := _BRACKET.search(text, position)) is not None:
        position, sign = match.end(), match[0]
        if sign == "[":
            opened.append(match.start())
        elif sign == "\n":
            opened.clear()
        elif sign[0] == "]" and opened:
            start = opened.pop()
            if sign == "](" and (link := _ADDRESS.match(text, position)) is not None:
                rest, position = link[2].lstrip(), link.end()
                if not _is_web(link[1].strip("<>") + ("" if rest[:1] in {'"', "'", "("} else rest)):
                    removed += [(start, start + 1), (match.start(), position)]
    counts["link"] += len(removed) // 2
    parts, position = [], 0
    for start, end in sorted(removed):
        parts.append(text[position:start])
        position = end
    return "".join([*parts, text[position:]])


def _target(match: re.Match[str], counts: Counts) -> str:
    """Neutralize a link whose label has several lines, or left over by another."""
    if _is_web(match[1].lstrip(" \t\n<")):
        return match[0]
    counts["link"] += 1
    return r"]\("


def _is_web(target: str) -> bool:
    target = _DISGUISE.sub("", html.unescape(target))
    return _HTTP.match(target) is not None or _SCHEME.match(target) is None
