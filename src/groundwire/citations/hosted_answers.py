"""Answers of model APIs with hosted search, converted to Groundwire's markers and sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from groundwire.citations.marker_parser import Mark, find_marks
from groundwire.citations.verify.report import CitedPage
from groundwire.hosted.answers.types import HostedAnswer, HostedCitation
from groundwire.models import Source

__all__ = ["MarkedAnswer", "marked"]

_REPLACED = ("link", "marker")  # spans that are themselves the reference to the source


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedAnswer:
    """An answer with markers such as `[1]`."""

    text: str
    """The text. Links and markers of the API are rewritten as Groundwire's markers; other text that looks like a
    marker is escaped with a backslash."""
    pages: tuple[CitedPage, ...]
    """The sources by number: first the cited ones, in order of citation, then those that were only found."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources as rendering expects them."""
        return tuple(Source(citation_id=page.number, title=page.title, url=page.url) for page in self.pages)


def marked(answer: HostedAnswer) -> MarkedAnswer:
    """Convert a hosted answer to the form that is rendered and verified.

    A citation without a position in the answer gets a number but no marker.

    Args:
        answer: The answer, as `groundwire.hosted.answers.read_answer` returns it.
    """
    placed = sorted(
        (citation for citation in answer.citations if _place(citation) is not None),
        key=lambda citation: _place(citation) or 0,
    )
    urls = [citation.url for citation in placed]
    urls += [citation.url for citation in answer.citations] + [source.url for source in answer.sources]
    numbers = {url: number for number, url in enumerate(dict.fromkeys(filter(None, urls)), start=1)}
    return MarkedAnswer(
        text="".join(_pieces(answer.text, placed, numbers)),
        pages=tuple(_page(answer, url, number) for url, number in numbers.items()),
    )


def _place(citation: HostedCitation) -> int | None:
    return citation.end if citation.end is not None else citation.position


def _pieces(text: str, placed: list[HostedCitation], numbers: dict[str, int]) -> Iterator[str]:
    """Yield the text with markers; `placed` is in order of position."""
    at = 0
    waiting: dict[int, None] = {}
    for citation in placed:
        end = min(len(text), _place(citation) or 0)
        start = citation.start if citation.covers in _REPLACED and citation.start is not None else end
        start = min(max(start, at), len(text))
        if start > at:
            yield _written(waiting) + _escaped(text[at:start])
            waiting = {}
        at = max(at, end)
        if citation.url in numbers:
            waiting[numbers[citation.url]] = None
    yield _written(waiting) + _escaped(text[at:])


def _written(numbers: dict[int, None]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def _escaped(text: str) -> str:
    """Escape everything in a text that looks like a marker."""
    return "".join(f"\\{piece.text}" if isinstance(piece, Mark) else piece for piece in find_marks(text))


def _page(answer: HostedAnswer, url: str, number: int) -> CitedPage:
    source = next((source for source in answer.sources if source.url == url), None)
    cited = [citation for citation in answer.citations if citation.url == url]
    quoted = [
        citation.cited_text
        for citation in cited
        if citation.covers == "block" and citation.cited_text and citation.cited_text not in answer.text
    ]  # the others refer to the text of the answer
    shown = [source.snippet] if source is not None and source.snippet else []
    titles = [source.title] if source is not None else []
    titles += [citation.title for citation in cited]
    return CitedPage(
        number=number,
        url=url,
        title=next(filter(None, titles), ""),
        snippet=" … ".join(dict.fromkeys([*shown, *quoted])),
    )
