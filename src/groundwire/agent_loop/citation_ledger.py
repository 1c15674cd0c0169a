"""One numbering for every page of a run, and the marks in an answer that use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from groundwire.hosted.answers import HostedAnswer, HostedCitation, HostedSource
from groundwire.models import Source
from groundwire.tools import LocalSearchToolResult, ToolResult, WebSearchToolResult, render_text

__all__ = ["CitationLedger", "citations_in", "marked"]

# `[2]`, `[1, 3]`, and the brackets of models that were trained on them; no text of a link and no footnote's definition.
_MARK = re.compile(r"\[(\d{1,4}(?:\s?,\s?\d{1,4}){0,9})\](?!\(|: ?https?:)|【(\d{1,4})(?:†[^】\n]{0,80})?】")
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)


class CitationLedger:
    """The pages of a run, numbered from 1 in the order in which they came; no address twice."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sources: list[Source] = []

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every page."""
        return tuple(self._sources)

    def number(self, url: str, title: str = "") -> int:
        """Return the number of a page, which is a new one for a page that was not met before."""
        known = self._numbers.get(url)
        if known is None:
            known = self._numbers[url] = len(self._sources) + 1
            self._sources.append(Source(citation_id=known, title=title, url=url))
        elif title and not self._sources[known - 1].title:
            self._sources[known - 1] = self._sources[known - 1].model_copy(update={"title": title})
        return known

    def get(self, number: int) -> Source | None:
        """Return the page with a number, None if there is none."""
        return self._sources[number - 1] if 0 < number <= len(self._sources) else None

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


def citations_in(text: str, ledger: CitationLedger) -> Iterator[HostedCitation]:
    """Yield what the marks in a text point to, in order; marks inside code and marks of unknown numbers are none."""
    code = [span.span() for span in _CODE.finditer(text)]
    for mark in _MARK.finditer(text):
        if any(start <= mark.start() < end for start, end in code):
            continue
        for number in (mark[1] or mark[2]).split(","):
            source = ledger.get(int(number))
            if source is not None:
                yield HostedCitation(
                    url=source.url,
                    title=source.title,
                    start=mark.start(),
                    end=mark.end(),
                    covers="marker",
                    position=mark.end(),
                )
