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

_LONG: Final = 12  # words; for longer passages, only the start and the end are given
_ENDS: Final = 4  # words of a start and of an end
_BESIDE: Final = 3  # words of context before and after, if the text occurs more than once
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
        whole = len(first) < _LONG
        text = [" ".join(first)] if whole else [" ".join(first[:_ENDS]), " ".join(first[-_ENDS:])]
    else:
        text = [" ".join(first[:_ENDS]), " ".join(last[-_ENDS:])]
    before, after = _beside(content, start, end) if _is_ambiguous(content, text[0]) else ("", "")
    parts = [f"{_encoded(before)}-"] if before else []
    parts += [_encoded(part) for part in text]
    parts += [f"-{_encoded(after)}"] if after else []
    return ",".join(parts)


def _lines(content: str, start: int, end: int) -> tuple[str, str]:
    """Return the visible text of the first and of the last block of a passage; table cells count as blocks."""
    pieces = []
    for block in blocks(content[start:end]):
        for cell in content[start + block.start : start + block.end].split(" | "):
            shown = _shown(cell)
            if any(character.isalnum() for character in shown):
                pieces.append(shown)
    return (pieces[0], pieces[-1]) if pieces else ("", "")


def _shown(markdown: str) -> str:
    """Return Markdown as visible text, in one line."""
    text = _ESCAPE.sub(lambda found: found[1] if found[1] not in "*_`|\\" else f"\0{ord(found[1])}\0", markdown)
    text = _bare(text)
    return " ".join(re.sub(r"\0(\d+)\0", lambda found: chr(int(found[1])), text).split()).strip("| ")


def _bare(markdown: str) -> str:
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
    return _shown_all(content).casefold().count(text.casefold()) > 1


def _shown_all(content: str) -> str:
    return " ".join(_bare(content).split())


def _beside(content: str, start: int, end: int) -> tuple[str, str]:
    """Return the words before and after a passage in its own blocks, or else the nearest ones."""
    before = _block_text(content, max(0, start - 400), start, last=True)
    after = _block_text(content, end, min(len(content), end + 400), last=False)
    return " ".join(before[-_BESIDE:]), " ".join(after[:_BESIDE])


def _block_text(content: str, start: int, end: int, *, last: bool) -> list[str]:
    found: list[TextSpan] = [
        block for block in blocks(content[start:end]) if content[start:end][block.start : block.end].strip()
    ]
    for block in reversed(found) if last else found:
        words = _shown(content[start + block.start : start + block.end]).split()
        if words:
            # the first and the last word may be cut in two at the ends of the stretch
            cut = words[1:] if last and block.start == 0 and start else words
            return cut[:-1] if not last and block.end == end - start and end < len(content) else cut
    return []


def _encoded(text: str) -> str:
    return quote(text, safe=_SAFE).replace("-", "%2D")  # `quote` leaves it as it is


def finding_links(report: Report, pages: Iterable[CitedPage]) -> Mapping[int, str]:
    """Return a link to the supporting passage for each supported sentence, by index of the finding."""
    known = {page.number: page for page in pages}
    links = {}
    for place, finding in enumerate(report.findings):
        link = _link(finding, known)
        if finding.verdict == "supported" and link:
            links[place] = link
    return links


def source_links(report: Report, pages: Iterable[CitedPage]) -> Mapping[int, str]:
    """Return a link to the first passage that supports a sentence for each source, by number.

    Pass it as `links` to `groundwire.citations.render_answer`.
    """
    known = {page.number: page for page in pages}
    links: dict[int, str] = {}
    for finding in report.findings:
        link = _link(finding, known) if finding.verdict == "supported" else ""
        if link and finding.source is not None:
            links.setdefault(finding.source, link)
    return links


def _link(finding: Finding, known: Mapping[int, CitedPage]) -> str:
    page = known.get(finding.source or 0)
    if page is None or page.content is None or finding.passage_start is None or finding.passage_end is None:
        return ""
    return fragment_link(page.url, page.content, finding.passage_start, finding.passage_end)
