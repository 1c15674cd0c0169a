"""One numbering for all pages of a run, and the markers in an answer that use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from groundwire.citations.marker_parser import Mark, MarkScanner, placed_pieces
from groundwire.hosted.answers import HostedAnswer, HostedCitation, HostedSource
from groundwire.models import Source
from groundwire.tools import OpenPageToolResult, ToolResult, WebSearchToolResult, render_text
from groundwire.web.known_urls import addresses_in

_MAX_SCANNED_CHARS = 10_000  # characters searched for URLs, in a few milliseconds
_YEARS = 1_000  # from here on, a number in brackets is probably a year
_BLANK = re.compile(r"[ \t]{1,80}\Z")


class CitationLedger:
    """The pages of a run, numbered from 1 in order of appearance, each URL once.

    Args:
        sources: Pages that already have numbers.
        reserved: Numbers with an unknown meaning in the conversation: never assigned, never resolved.
    """

    def __init__(self, sources: Iterable[Source] = (), *, reserved: Iterable[int] = ()) -> None:
        self.reserved: frozenset[int] = frozenset(reserved)
        self.last: int = max((number for number in self.reserved if number < _YEARS), default=0)
        """The largest number assigned; four digits are more often a year than a source."""
        self._numbers: dict[str, int] = {}
        self._user_urls: frozenset[str] = frozenset()
        self._from_text: set[str] = set()
        self._sources: dict[int, Source] = {}
        for source in sources:
            self._add(source.citation_id, source.url, source.title)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every page, by number."""
        return tuple(source for _, source in sorted(self._sources.items()))

    @property
    def vouched(self) -> tuple[str, ...]:
        """The URLs of the pages that a search found or the user gave, without those that only another page contains."""
        return tuple(source.url for source in self.sources if source.url not in self._from_text)

    def given(self, *texts: str) -> None:
        """Record the URLs that the user has written; in a long conversation, those at its end."""
        recent, remaining = list[str](), _MAX_SCANNED_CHARS
        for text in reversed(texts):
            recent.append(text[-remaining:])
            remaining -= len(recent[-1])
            if remaining <= 0:
                break
        urls = {url.request_text for url in addresses_in("\n".join(recent))}
        self._user_urls |= urls
        self._from_text -= urls

    def _pages_of(self, result: ToolResult) -> dict[str, str]:
        """Return the titles of a result's pages by URL, and record which of them only a page, or the model, has named.

        A page that was opened by a URL with a number has it already.
        """
        if not isinstance(result, OpenPageToolResult):
            titles: dict[str, str] = {}
            for row in result.results:  # of a page that is there twice, the first title counts
                titles[row.url] = titles.get(row.url) or row.title
            self._from_text.difference_update(titles)
            return titles
        if result.status == "error" or result.url in self._numbers:
            return {}
        address = result.final_url or result.url
        if address not in self._numbers and result.url not in self._user_urls:
            self._from_text.add(address)
        return {address: result.title}

    def number(self, url: str, title: str = "") -> int:
        """Return the number of a page, assigning the next one to a new page."""
        return self._add(self._numbers.get(url) or self.last + 1, url, title)

    def get(self, number: int) -> Source | None:
        """Return the page with a number, or None."""
        return None if number in self.reserved else self._sources.get(number)

    async def assign(self, results: Sequence[ToolResult]) -> None:
        """Number the pages of tool results before `take` renders them; a shared ledger assigns numbers in its store."""

    def unnumbered(self, results: Sequence[ToolResult]) -> dict[str, str]:
        """Return the pages of tool results that have no number yet, as titles by URL."""
        titles: dict[str, str] = {}
        for result in results:
            titles |= self._pages_of(result)
        return {url: title for url, title in titles.items() if url not in self._numbers}

    def _add(self, number: int, url: str, title: str) -> int:
        source = self._sources.get(number)
        self._numbers.setdefault(url, number)
        self.last = max(self.last, number)
        if source is None or (title and not source.title):
            self._sources[number] = Source(citation_id=number, title=title, url=url)
        return number

    def take(self, result: ToolResult) -> str:
        """Record the pages of a tool result and return it as text for the model, with the run's numbers."""
        for url, title in self._pages_of(result).items():
            self.number(url, title)
        if isinstance(result, WebSearchToolResult):
            rows = tuple(row.model_copy(update={"citation_id": self._numbers[row.url]}) for row in result.results)
            result = result.model_copy(update={"results": rows})
        elif isinstance(result, OpenPageToolResult) and result.status == "success":
            number = self._numbers.get(result.url) or self._numbers[result.final_url or result.url]
            result = result.model_copy(update={"citation_id": number})
        return render_text(result)

    def take_hosted(self, answer: HostedAnswer) -> None:
        """Record the pages that a hosted search found."""
        for source in answer.sources:
            self.number(source.url, source.title)


def marked(answer: HostedAnswer, ledger: CitationLedger) -> HostedAnswer:
    """Return an answer with citations for the markers in its text, and with the sources of the run.

    If the API has already cited sources, the answer keeps only those citations.
    """
    rows = {row.url: row for row in answer.sources}
    sources = tuple(rows.get(page.url) or HostedSource(url=page.url, title=page.title) for page in ledger.sources)
    citations = answer.citations or tuple(citations_in(answer.text, ledger))
    origin = answer.sources_from if answer.sources_from != "none" else "results" if sources else "none"
    return replace(answer, sources=sources, citations=citations, sources_from=origin)


def marks_in(text: str) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Yield start, end, and numbers of each marker in a text, except in code."""
    for start, written, mark in placed_pieces(text):
        if mark:
            yield start, start + len(written), mark.numbers


def citations_in(text: str, ledger: CitationLedger) -> Iterator[HostedCitation]:
    """Yield the citations that the markers in a text point to, in order, skipping code and unknown numbers."""
    for start, end, numbers in marks_in(text):
        for number in numbers:
            source = ledger.get(number)
            if source is not None:
                yield HostedCitation(
                    url=source.url, title=source.title, start=start, end=end, covers="marker", position=end
                )


class CitedText:
    """Removes the markers from a text that comes in chunks; the result does not depend on how it is cut.

    A marker without a known page stays in the text, like those inside code; an open code block extends to the end.

    Args:
        ledger: Resolves the markers.
    """

    def __init__(self, ledger: CitationLedger) -> None:
        self._ledger = ledger
        self._scanner = MarkScanner()
        self._gap = ""  # white space that goes where a mark follows

    def feed(self, text: str) -> list[tuple[str, tuple[Source, ...]]]:
        """Take a piece of the text, and return what is settled, with the pages of each mark after its text."""
        return list(self._resolved(self._scanner.feed(text)))

    def close(self) -> list[tuple[str, tuple[Source, ...]]]:
        """End the text, and return the rest."""
        pieces = list(self._resolved(self._scanner.close()))
        gap, self._gap = self._gap, ""
        return [*pieces, (gap, ())] if gap else pieces

    def _resolved(self, pieces: Iterable[str | Mark]) -> Iterator[tuple[str, tuple[Source, ...]]]:
        text_before = ""
        for piece in pieces:
            numbers = piece.numbers if isinstance(piece, Mark) else ()
            if sources := tuple(source for number in numbers if (source := self._ledger.get(number))):
                if text_before:
                    yield text_before, ()
                text_before = self._gap = ""
                yield "", sources
                continue
            text = self._gap + (piece.text if isinstance(piece, Mark) else piece)
            blank = _BLANK.search(text)
            self._gap = blank[0] if blank else ""
            text_before += text[: len(text) - len(self._gap)]
        if text_before:
            yield text_before, ()
