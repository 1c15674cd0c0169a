"""One numbering for every page of a run, and the marks in an answer that use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from groundwire.hosted.answers import HostedAnswer, HostedCitation, HostedSource
from groundwire.models import Source
from groundwire.tools import LocalSearchToolResult, ToolResult, WebSearchToolResult, render_text

__all__ = ["CitationLedger", "citations_in", "marked", "marks_in"]

# `[2]`, `[1, 3]`, and the brackets of models that were trained on them; no text of a link and no footnote's definition.
_MARK = re.compile(r"\[(\d{1,4}(?:\s?,\s?\d{1,4}){0,9})\](?!\(|: ?https?:)|【(\d{1,4})(?:†[^】\n]{0,80})?】")
_YEARS = 1_000  # from here on a number in brackets is rather a year
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)


class CitationLedger:
    """The pages of a run, numbered from 1 in the order in which they came; no address twice.

    Args:
        sources: Pages that have their numbers already.
        reserved: Numbers that stand for something unknown in the conversation; no page gets one, and none resolves.
    """

    def __init__(self, sources: Iterable[Source] = (), *, reserved: Iterable[int] = ()) -> None:
        self.reserved: frozenset[int] = frozenset(reserved)
        self.last: int = max((one for one in self.reserved if one < _YEARS), default=0)
        """The largest number that is taken; what has four digits is a year more often than a source."""
        self._numbers: dict[str, int] = {}
        self._sources: dict[int, Source] = {}
        for source in sources:
            self._add(source.citation_id, source.url, source.title)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every page, by number."""
        return tuple(source for _, source in sorted(self._sources.items()))

    def number(self, url: str, title: str = "") -> int:
        """Return the number of a page, which is a new one for a page that was not met before."""
        return self._add(self._numbers.get(url) or self.last + 1, url, title)

    def get(self, number: int) -> Source | None:
        """Return the page with a number, None if there is none."""
        return None if number in self.reserved else self._sources.get(number)

    async def assign(self, results: Sequence[ToolResult]) -> None:
        """Number the pages of tool results before `take` renders them; a ledger that others share asks its store."""

    def unnumbered(self, results: Sequence[ToolResult]) -> dict[str, str]:
        """Return the pages of tool results that have no number yet: their titles by their addresses."""
        found: dict[str, str] = {}
        for result in results:
            if isinstance(result, (WebSearchToolResult, LocalSearchToolResult)):
                found |= {row.url: row.title for row in result.results}
            elif result.status == "success" and result.url not in self._numbers:
                found[result.final_url or result.url] = result.title
        return {url: title for url, title in found.items() if url not in self._numbers}

    def _add(self, number: int, url: str, title: str) -> int:
        known = self._sources.get(number)
        self._numbers.setdefault(url, number)
        self.last = max(self.last, number)
        if known is None or (title and not known.title):
            self._sources[number] = Source(citation_id=number, title=title, url=url)
        return number

    def take(self, result: ToolResult) -> str:
        """Note the pages of a tool's result; return the result as text for the model, with the run's numbers in it."""
        if isinstance(result, WebSearchToolResult):
            rows = tuple(
                row.model_copy(update={"citation_id": self.number(row.url, row.title)}) for row in result.results
            )
            return render_text(result.model_copy(update={"results": rows}))
        if isinstance(result, LocalSearchToolResult):
            for row in result.results:
                self.number(row.url, row.title)
        elif result.status == "success":
            first = self._numbers.get(result.url)
            number = first or self.number(result.final_url or result.url, result.title)
            return f"Cite this page as [{number}].\n{render_text(result)}"
        return render_text(result)

    def take_hosted(self, answer: HostedAnswer) -> None:
        """Note the pages that an API has found."""
        for one in answer.sources:
            self.number(one.url, one.title)


def marked(answer: HostedAnswer, ledger: CitationLedger) -> HostedAnswer:
    """Return an answer whose citations tell also what the marks in its text point to, and whose sources are the run's.

    An answer that its API has given citations of its own keeps those alone.
    """
    known = {one.url: one for one in answer.sources}
    sources = tuple(known.get(one.url) or HostedSource(url=one.url, title=one.title) for one in ledger.sources)
    citations = answer.citations or tuple(citations_in(answer.text, ledger))
    origin = answer.sources_from if answer.sources_from != "none" else "results" if sources else "none"
    return replace(answer, sources=sources, citations=citations, sources_from=origin)


def marks_in(text: str) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Yield where the marks in a text begin and end, and their numbers, in order; marks inside code are none."""
    if "[" not in text and "【" not in text:
        return
    code = [span.span() for span in _CODE.finditer(text)] if "`" in text or "~~~" in text else []
    place = 0
    for mark in _MARK.finditer(text):
        while place < len(code) and code[place][1] <= mark.start():
            place += 1
        if place == len(code) or mark.start() < code[place][0]:
            yield mark.start(), mark.end(), tuple(int(number) for number in (mark[1] or mark[2]).split(","))


def citations_in(text: str, ledger: CitationLedger) -> Iterator[HostedCitation]:
    """Yield what the marks in a text point to, in order; marks inside code and marks of unknown numbers are none."""
    for start, end, numbers in marks_in(text):
        for number in numbers:
            source = ledger.get(number)
            if source is not None:
                yield HostedCitation(
                    url=source.url, title=source.title, start=start, end=end, covers="marker", position=end
                )
