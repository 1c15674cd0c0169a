"""Sanitizing of text: one kind of newline, no terminal control sequences, no invisible characters that affect models.

Sources: Unicode 17, chapter 23 (Special Areas and Format Characters) and UAX 9, 31 and 39. Unlike in RFC
3454, the joiners that Persian, the Indic scripts and emoji are spelled with stay.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Final

from groundwire.reading.text.truncate import codes_in
from groundwire.safety.secret_scanner import break_reserved

_ESCAPES: Final = re.compile(
    "[\x1b\x90\x98\x9b\x9d-\x9f](?:"  # all begin like this, and what does not is skipped quickly
    r"(?:(?<=\x1b)[\]PX^_]|(?<=[\x90\x98\x9d-\x9f]))"  # OSC, DCS ...
    r"[^\n\x07\x1b\x90\x98\x9c-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|(?:(?<=\x1b)\[|(?<=\x9b))[0-?]{0,64}[ -/]{0,16}[@-~]"  # CSI
    r"|(?<=\x1b)[ -/]{0,16}[0-~])"
)
"""The escape sequences of ECMA-48, removed as a whole: without the payload of bare controls."""

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_PLAIN: Final = bytes([*b"\t\n", *range(0x20, 0x7F)])
_NEWLINES: Final = "\x0b\x0c\x85\u2028\u2029"
_NOT_WORD: Final = re.compile(r"[\W_]+")
_NO_WORD: Final = bytes(code for code in range(0x80) if not chr(code).isalnum())
_LONE_RETURN: Final = re.compile(r"\r(?!\n)")
_GAPS: Final = re.compile(r"\n{4,}")


def strip_controls(text: str) -> str:
    """Remove escape sequences and control characters other than newline and tab."""
    if "\r" in text:  # searching for pairs takes five times as long as for one character
        text = text.replace("\r\n", "\n").replace("\r", "\n") if _LONE_RETURN.search(text) else text.replace("\r", "")
    if _CONTROLS.search(_unusual(text)) is None:
        return text
    for newline in _NEWLINES:
        text = text.replace(newline, "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text)) if _CONTROLS.search(_unusual(text)) else text


def _unusual(text: str) -> str:
    """Return the characters of a text that are not plain ASCII, in which a pattern is found several times as fast."""
    return text.encode("utf-8", "surrogatepass").translate(None, _PLAIN).decode("utf-8", "surrogatepass")


def lower(text: str) -> str:
    """Return a text in lower case, letter by letter: the Turkish dotted capital has one, too."""
    return text.replace("\u0130", "i").lower()


def lower_ascii(text: str) -> str:
    """Return a text with its ASCII letters in lower case, which is several times as fast as `str.lower`."""
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def bared(text: str) -> str:
    """Return a text in lower case with only letters and digits; also applied to whole pages."""
    bare = text.encode("utf-8", "surrogatepass").translate(None, _NO_WORD).decode("utf-8", "surrogatepass")
    return (bare if bare.isascii() else _NOT_WORD.sub("", bare)).casefold()  # the pattern takes ten times as long


def clean(text: str) -> str:
    """Normalize newlines, remove controls and trailing spaces, and keep at most two consecutive blank lines."""
    text = strip_controls(text)
    if " \n" in text or "\t\n" in text:
        text = "\n".join([line.rstrip(" \t") for line in text.split("\n")])
    if "\n\n\n\n" in text:
        text = _GAPS.sub("\n\n\n", text)
    return text.strip("\n").rstrip()


Counts = Counter[str]
"""How many pieces were removed or neutralized, by what a warning calls that."""
RESERVED: Final = "chat-template tokens neutralized"
_INVISIBLE: Final = "invisible characters removed"
_BIDI_REMOVED: Final = "direction controls removed"
_ACCENTS: Final = "piled-up accents removed"
_IMAGES: Final = "images not loaded"
_LINKS: Final = "links other than http(s) removed"

_SUSPECT: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
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
    (_INVISIBLE, _FLAG), (_INVISIBLE, _SUPPLEMENT), (_BIDI_REMOVED, _BIDI), (_INVISIBLE, _UNSEEN),
    (_INVISIBLE, _MONGOLIAN), (_INVISIBLE, _SELECTOR),
)  # fmt: skip
"""What is removed, or reduced to the first group, and what a warning calls that."""

_CODE: Final = re.compile(r"`(?<![`\\]`)(`*)(?!`)(?:(?!\n[ \t]*\n).){0,5000}?(?<!`)`\1(?!`)", re.DOTALL)
_BLOCK: Final = re.compile(r"\n[ \t]*(?:[<>#~`=|+*_-]|\d{1,9}[.)])|\]:")
"""What may begin or end a block inside of what looks like inline code of several lines, which then is none."""
_MAX_PASSES: Final = 4  # of escaping the marks of what is no code, after which others may look like its beginning
_ONE_LINE: Final = re.compile(r"[ \t>*+.)\d-]*(?:[#|]| {4}|\t)")
"""A heading, a row of a table, or indented code, which ends with its line."""
_INDENTED: Final = re.compile(r"^[ \t>*+.)\d-]+(?:```|~~~)", re.MULTILINE)
_MAX_PARSED: Final = 50_000
"""Characters; in a longer text, such code is escaped like prose. A list of 200,000 takes markdown-it 1.2 s."""
_IMAGE: Final = re.compile(r"!(?=\[)")
_TAG: Final = re.compile(
    r"<(?!https?://[^\s<>]*>)(?="
    r"/?[a-z](?:[^<>=\n]++|\n(?![ \t]*\n)|=(?!\s*[\"']))*+[>=]"  # any sign may follow a quotation mark
    r"|!--|!\[CDATA|![a-z]|\?|[a-z][a-z0-9+.-]{1,31}:[^\s<>]*>"
    r"|/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl"
    r"|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main"
    r"|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|pre|script|search|section|style|summary|table|tbody|td"
    r"|textarea|tfoot|th|thead|title|tr|track|ul)(?![^\s/>]))",
    re.IGNORECASE,
)
"""What begins HTML or an address (CommonMark 0.31, sections 4.6 and 6.5): a tag that may end, or the name of a block,
which needs no end."""
_FORMULA: Final = re.compile(r"\$\$[^$]{1,5000}+\$\$|\$(?![\s<])[^$\n]{1,5000}+(?<!\s)\$(?!\w)")
"""TeX, where a backslash would be a command, and a space is nothing."""
_ADDRESS_START: Final = re.compile(r"<(?=[^\s<>]*\Z)")
"""Before what looks like inline code: if it is in an address, it is none."""
_OPEN_LINK: Final = re.compile(
    r"\]\((?![ \t\n]*+(?:<(?:[^<>\n\\]|\\.)*+>"
    r"|(?!<)(?:[^\x00-\x20()\\]|\\[^\x00-\x20]?|\((?:[^\x00-\x20()\\]|\\[^\x00-\x20]?)*+\))*+)"
    r"""(?:[ \t\n]++(?:"(?:[^"\\]|\\[\s\S])*+"|'(?:[^'\\]|\\[\s\S])*+'|\((?:[^()\\]|\\[\s\S])*+\)))?[ \t\n]*+\))"""
)
"""The same of a link (CommonMark 0.31, section 6.3) that does not end before it."""
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


def strip_invisible(text: str) -> tuple[str, Counts]:
    """Remove invisible characters; return the text and how many were removed, by reason.

    Characters that belong to the spelling are kept: joiners in Persian, the Indic scripts and emoji, the tags of
    regional flags, variation selectors after emoji and ideographs.
    """
    counts: Counts = Counter()
    if not text.isascii():
        unusual = _unusual(text)
        if _SUSPECT.search(unusual):
            text = _strip(text, counts)
        if _MARKS.search(unusual):
            text, counts[_ACCENTS] = _MARKS.subn(r"\1", text)
    return text, +counts


def _strip(text: str, counts: Counts) -> str:
    for name, pattern in _PASSES:
        before = len(text)
        text = pattern.sub(_first_group, text)
        counts[name] += before - len(text)
    while "\u200c" in text or "\u200d" in text:
        before = len(text)
        text = _JOINER.sub(lambda match: match[0] if match[1] is None else "", text)
        if len(text) == before:
            break
        counts[_INVISIBLE] += before - len(text)  # removing one may isolate another
    return text


def _first_group(match: re.Match[str]) -> str:
    """Return the part of a match to keep: its first group."""
    return (match[1] or "") if match.re.groups else ""


def clean_text(markdown: str) -> tuple[str, Counts]:
    """Make Markdown safe for a model; return it with what was removed or neutralized.

    Invisible characters are removed; images do not load, links lead to http(s) or nowhere, HTML is text, and chat
    template tokens are broken up. Visible text stays readable. Idempotent.
    """
    text, counts = strip_invisible(re.sub(r"\r\n?", "\n", markdown))
    text, counts[RESERVED] = break_reserved(text)
    if any(sign in text for sign in "[<!"):
        pieces = ((code, "".join(part for part, _ in parts)) for code, parts in groupby(_parts(text), itemgetter(1)))
        text = "".join(piece if code else _neutralized(piece, counts) for code, piece in pieces)
    return text, +counts


def hygiene_warnings(counts: Counts) -> tuple[str, ...]:
    """Return what was removed as sentences for a result's warnings."""
    return tuple(f"{warning}: {count}" for warning, count in counts.items() if count)


def removal_warning(count: int) -> tuple[str, ...]:
    """Return the warning that so much hidden text was removed; none if there was none."""
    return (f"hidden text removed: {count}",) if count else ()


def _parts(text: str) -> list[tuple[str, bool]]:
    """Split a Markdown text into pieces, each with whether it is code."""
    parts: list[tuple[str, bool]] = []
    done = 0
    for start, end in _fenced(text) if "```" in text or "~~~" in text else ():
        parts += [*_spans(text[done:start]), (text[start:end], True)]
        done = end
    return parts + _spans(text[done:])


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Yield where fenced code begins and ends, as those who render Markdown see it.

    Code in a list or a quotation ends with it, and a fence that is indented too far is none.
    """
    if not _INDENTED.search(text):
        yield from ((code.start, len(text) if code.end is None else code.end) for code in codes_in(text))
    elif len(text) <= _MAX_PARSED:
        from markdown_it import MarkdownIt  # few pages have such code

        lines = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
        for token in MarkdownIt("commonmark", {"html": False}).disable("inline").parse(text):
            if token.type == "fence" and token.map:
                first, last = token.map
                yield lines[first], lines[min(last, len(lines) - 1)]


def _spans(text: str) -> list[tuple[str, bool]]:
    if "`" not in text:
        return [(text, False)]
    for _ in range(_MAX_PASSES):
        before, text = text, _CODE.sub(_without_blocks, text)
        if text == before:
            break
    else:
        text = re.sub(r"(?<!\\)`", r"\\`", text)
    parts, end = [], 0
    for match in _CODE.finditer(text):
        before = _OPEN_LINK.sub(r"]\\(", _ADDRESS_START.sub(_escape, text[end : match.start()]))
        parts += [(before, False), (match[0], True)]
        end = match.end()
    return [*parts, (text[end:], False)]


def _without_blocks(match: re.Match[str]) -> str:
    """Return inline code, or with its marks escaped what a block that begins or ends inside makes none."""
    if "\n" in match[0]:
        line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
        if _BLOCK.search(match[0]) or _ONE_LINE.match(line):
            return match[0].replace("`", "\\`")
    return match[0]


def _neutralized(text: str, counts: Counts) -> str:
    """Neutralize everything in prose that loads, runs or leads elsewhere than the web."""
    if "![" in text:
        before = len(text)
        text = _IMAGE.sub(_escape, text)
        counts[_IMAGES] += len(text) - before
    if "]:" in text:
        text, count = _DEFINITION.subn(r"\1\\[", text)
        counts[_LINKS] += count
    if _ODD_TARGET.search(text):
        text = _unlink(text, counts)
        text = _TARGET.sub(lambda match: _target(match, counts), text)
    return _without_html(text) if "<" in text else text


def _without_html(text: str) -> str:
    """Escape what begins HTML: with a backslash, or in a formula with a space."""
    formulas = [match.span() for match in _FORMULA.finditer(text)] if "$" in text else []

    def escape(match: re.Match[str]) -> str:
        escaped = _escape(match)
        place = bisect_right(formulas, (match.start(), len(text))) - 1
        in_formula = place >= 0 and match.start() < formulas[place][1]
        return "< " if in_formula and escaped != match[0] else escaped

    return _TAG.sub(escape, text)


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
                tail, position = link[2].lstrip(), link.end()
                if not _is_web(link[1].strip("<>") + ("" if tail[:1] in {'"', "'", "("} else tail)):
                    removed += [(start, start + 1), (match.start(), position)]
    counts[_LINKS] += len(removed) // 2
    parts, position = [], 0
    for start, end in sorted(removed):
        parts.append(text[position:start])
        position = end
    return "".join([*parts, text[position:]])


def _target(match: re.Match[str], counts: Counts) -> str:
    """Neutralize a link whose label has several lines, or left over by another."""
    if _is_web(match[1].lstrip(" \t\n<")):
        return match[0]
    counts[_LINKS] += 1
    return r"]\("


def _is_web(target: str) -> bool:
    target = _DISGUISE.sub("", html.unescape(target))
    return _HTTP.match(target) is not None or _SCHEME.match(target) is None
