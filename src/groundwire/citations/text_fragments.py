"""Links to a sentence of a page: text fragments (wicg.github.io/scroll-to-text-fragment).

`https://a.example/page#:~:text=The%20tower,metres%20tall` scrolls to the words and highlights them in browsers with
support; others open the page. A browser matches whole words, ignoring case. A single text must be within one block; a
start and an end may span several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote, urldefrag

from groundwire.citations.segmentation import TextSpan, blank_markup, blocks
from groundwire.citations.verify.report import CitedPage, Finding, Report

__all__ = ["finding_links", "fragment_link", "source_links"]

_MAX_WHOLE_WORDS: Final = 12  # words; for longer passages, only the start and the end are given
_END_WORDS: Final = 4  # words of a start and of an end
_CONTEXT_WORDS: Final = 3  # words of context before and after, if the text occurs more than once
_SAFE: Final = "!$'()*+./:;=?@_~"  # without the delimiters of a fragment directive: & - and ,
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


def fragment_link(url: str, content: str, start: int, end: int) -> str:
    """Return the URL of a page with a text fragment for a passage.

    Args:
        url: The page's URL; an existing fragment is kept.
        content: The page as Markdown.
        start: The passage's first code point in it.
        end: The code point after its last.

    Returns:
        The URL with a text fragment; the plain URL if the passage has no words.
    """
    first, last = _lines(content, start, end)
    words = first.split()
    if not words:
        return url
    address, fragment = urldefrag(url)
    fragment = fragment.partition(":~:")[0]
    return f"{address}#{fragment}:~:text={_directive(content, start, end, words, last.split())}"


def _directive(content: str, start: int, end: int, first: list[str], last: list[str]) -> str:
    """Return a text directive: prefix-,start,end,-suffix."""
    if first is last or first == last:
        is_short = len(first) < _MAX_WHOLE_WORDS
        text = [" ".join(first)] if is_short else [" ".join(first[:_END_WORDS]), " ".join(first[-_END_WORDS:])]
    else:
        text = [" ".join(first[:_END_WORDS]), " ".join(last[-_END_WORDS:])]
    before, after = _context(content, start, end) if _is_ambiguous(content, text[0]) else ("", "")
    parts = [f"{_encode(before)}-"] if before else []
    parts += [_encode(part) for part in text]
    parts += [f"-{_encode(after)}"] if after else []
    return ",".join(parts)


def _lines(content: str, start: int, end: int) -> tuple[str, str]:
    """Return the visible text of the first and of the last block of a passage; table cells count as blocks."""
    pieces = []
    for block in blocks(content[start:end]):
        for cell in content[start + block.start : start + block.end].split(" | "):
            text = _visible_text(cell)
            if any(character.isalnum() for character in text):
                pieces.append(text)
    return (pieces[0], pieces[-1]) if pieces else ("", "")


def _visible_text(markdown: str) -> str:
    """Return Markdown as visible text, in one line."""
    text = _ESCAPE.sub(lambda match: match[1] if match[1] not in "*_`|\\" else f"\0{ord(match[1])}\0", markdown)
    text = _without_markup(text)
    return " ".join(re.sub(r"\0(\d+)\0", lambda match: chr(int(match[1])), text).split()).strip("| ")


def _without_markup(markdown: str) -> str:
    """Remove Markdown syntax without inserting anything, so that words stay whole."""
    plain = blank_markup(markdown)
    return "".join(
        old if inside else new
        for at, (old, new) in enumerate(zip(markdown, plain, strict=True))
        # an underscore between letters is no markup: snake_case
        if (inside := old == "_" and plain[at - 1 : at].isalnum() and plain[at + 1 : at + 2].isalnum())
        or not (new == " " and old != " ")  # markup became a space
    )


def _is_ambiguous(content: str, text: str) -> bool:
    visible = " ".join(_without_markup(content).split())
    return visible.casefold().count(text.casefold()) > 1


def _context(content: str, start: int, end: int) -> tuple[str, str]:
    """Return the words before and after a passage in its own blocks, or else the nearest ones."""
    before = _block_text(content, max(0, start - 400), start, last=True)
    after = _block_text(content, end, min(len(content), end + 400), last=False)
    return " ".join(before[-_CONTEXT_WORDS:]), " ".join(after[:_CONTEXT_WORDS])


def _block_text(content: str, start: int, end: int, *, last: bool) -> list[str]:
    block_spans: list[TextSpan] = [
        block for block in blocks(content[start:end]) if content[start:end][block.start : block.end].strip()
    ]
    for block in reversed(block_spans) if last else block_spans:
        words = _visible_text(content[start + block.start : start + block.end]).split()
        if words:
            # the first and the last word may be cut in two at the ends of the stretch
            cut = words[1:] if last and block.start == 0 and start else words
            return cut[:-1] if not last and block.end == end - start and end < len(content) else cut
    return []


def _encode(text: str) -> str:
    return quote(text, safe=_SAFE).replace("-", "%2D")  # `quote` leaves it as it is


def finding_links(report: Report, pages: Iterable[CitedPage]) -> Mapping[int, str]:
    """Return a link to the supporting passage for each supported sentence, by index of the finding."""
    pages_by_number = {page.number: page for page in pages}
    links = {
        place: _link(finding, pages_by_number)
        for place, finding in enumerate(report.findings)
        if finding.verdict == "supported"
    }
    return {place: link for place, link in links.items() if link}


def source_links(report: Report, pages: Iterable[CitedPage]) -> Mapping[int, str]:
    """Return a link to the first passage that supports a sentence for each source, by number.

    Pass it as `links` to `groundwire.citations.render_answer`.
    """
    pages_by_number = {page.number: page for page in pages}
    links: dict[int, str] = {}
    for finding in report.findings:
        if finding.verdict != "supported" or finding.source is None or finding.source in links:
            continue
        if link := _link(finding, pages_by_number):
            links[finding.source] = link
    return links


def _link(finding: Finding, pages_by_number: Mapping[int, CitedPage]) -> str:
    page = pages_by_number.get(finding.source or 0)
    if page is None or page.content is None or finding.passage_start is None or finding.passage_end is None:
        return ""
    return fragment_link(page.url, page.content, finding.passage_start, finding.passage_end)
