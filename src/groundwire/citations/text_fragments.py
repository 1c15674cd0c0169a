"""Links that lead a person to the sentence: text fragments (wicg.github.io/scroll-to-text-fragment).

`https://a.example/page#:~:text=The%20tower,metres%20tall` scrolls to the words and shows them in color, in browsers
that know it; others open the page. A browser looks for whole words, without regard to case, and a text given as one
must stand within one block; one given as a start and an end may go over several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote, urldefrag

from groundwire.citations.verify.report import CitedPage, Finding, Report
from groundwire.citations.verify.segmentation import TextSpan, blank_markup, blocks

__all__ = ["finding_links", "fragment_link", "source_links"]

_LONG: Final = 12  # words from which on only the first and the last are given
_ENDS: Final = 4  # words of a start and of an end
_BESIDE: Final = 3  # words before and after, where the text is on the page more than once
_SAFE: Final = "!$'()*+./:;=?@_~"  # not what a fragment directive is made of: & - and ,
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


def fragment_link(url: str, content: str, start: int, end: int) -> str:
    """Return the address of a page that leads to a passage of it.

    Args:
        url: The page's address; a fragment that it has is kept.
        content: The page as Markdown.
        start: The passage's first code point in it.
        end: The code point after its last.

    Returns:
        The address with a text fragment; the plain address when the passage has no words.
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
    """Return what a person sees of the first and of the last block of a passage; cells of a table are blocks, too."""
    pieces = []
    for block in blocks(content[start:end]):
        for cell in content[start + block.start : start + block.end].split(" | "):
            shown = _shown(cell)
            if any(character.isalnum() for character in shown):
                pieces.append(shown)
    return (pieces[0], pieces[-1]) if pieces else ("", "")


def _shown(markdown: str) -> str:
    """Return Markdown as a browser shows it, in one line."""
    text = _ESCAPE.sub(lambda found: found[1] if found[1] not in "*_`|\\" else f"\0{ord(found[1])}\0", markdown)
    text = _bare(text)
    return " ".join(re.sub(r"\0(\d+)\0", lambda found: chr(int(found[1])), text).split()).strip("| ")


def _bare(markdown: str) -> str:
    """Return Markdown without its marks; nothing is put in their place, so that words stay whole."""
    plain = blank_markup(markdown)
    return "".join(
        new
        for old, new in zip(markdown, plain, strict=True)
        if not (new == " " and old != " ")  # a mark became a space
    )


def _is_ambiguous(content: str, text: str) -> bool:
    return _shown_all(content).casefold().count(text.casefold()) > 1


def _shown_all(content: str) -> str:
    return " ".join(_bare(content).split())


def _beside(content: str, start: int, end: int) -> tuple[str, str]:
    """Return the words before and after a passage in its own blocks, or the nearest ones."""
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
            # the first word may be cut in two where the stretch begins, and the last where it ends
            cut = words[1:] if last and block.start == 0 and start else words
            return cut[:-1] if not last and block.end == end - start and end < len(content) and len(cut) > 1 else cut
    return []


def _encoded(text: str) -> str:
    return quote(text, safe=_SAFE).replace("-", "%2D")  # which `quote` leaves as it is


def finding_links(report: Report, pages: Iterable[CitedPage]) -> Mapping[int, str]:
    """Return for each sentence that is supported, by its place among the findings, a link to what supports it."""
    known = {page.number: page for page in pages}
    links = {}
    for place, finding in enumerate(report.findings):
        link = _link(finding, known)
        if finding.verdict == "supported" and link:
            links[place] = link
    return links


def source_links(report: Report, pages: Iterable[CitedPage]) -> Mapping[int, str]:
    """Return for each source, by its number, a link to what supports the first sentence that it supports.

    It is what `links` of `groundwire.citations.render_answer` takes.
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
