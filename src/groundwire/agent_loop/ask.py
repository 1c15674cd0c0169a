"""Question answering: search, read, answer with citations, and verify every sentence against the pages it cites."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal

from groundwire.agent_loop.chat_model import ChatModel, find_model
from groundwire.agent_loop.citation_ledger import CitationLedger
from groundwire.agent_loop.entailment import judged_report
from groundwire.agent_loop.run import run_tools
from groundwire.agent_loop.tool_calls import answer_of
from groundwire.agent_loop.types import LoopEvent, Wordless
from groundwire.citations import Mark, MarkScanner
from groundwire.citations.link_filter import LinkFilter, policy_filter
from groundwire.citations.verify import CitedPage, Report, cited_numbers, verify_off_loop
from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded, PermissionDenied, ProviderError
from groundwire.hosted.answers import HostedAnswer
from groundwire.models import Source
from groundwire.models.base import Hinting
from groundwire.models.validators import check_text, check_timeout
from groundwire.reading.passages.quotes import best_quotes
from groundwire.web import Web

_MAX_QUOTED_PAGES: Final = 3  # that are read for quotes
_ESCAPED: Final = re.compile(r"(?<=\w)\\([_(){}=^|.!$%&',/:;?@+-])")  # means the same without, after a letter
_THOUGHTS: Final = re.compile(r"\A\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)
"""What a model says to itself, where its server does not tell that from the answer."""
_HELD: Final = 50  # characters of its beginning and its end that are kept until it ends; a tag has 8
_MARKUP: Final = re.compile(r"(\\[\[\]<*`\\])|\[([^\[\]]*)\]\([^()\s]*\)|[*`]|^#+ |\[\^?\d+\]", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedAnswer(Hinting):
    """An answer to a question."""

    question: str
    """The question."""
    text: str
    """The answer in Markdown, with markers such as `[1]`."""
    sources: tuple[Source, ...]
    """The pages cited in the text."""
    report: Report
    """The verification of each sentence against the pages it cites."""
    model: str
    """The model that wrote the answer; empty when passages were quoted."""
    searches: int
    """The searches the session made for it."""
    cost_usd: float
    """Cost of searching and reading, in US dollars, without the price of the model."""
    warnings: tuple[str, ...] = ()
    """Warnings for the reader."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class TextDelta(Hinting):
    """More of the answer's text. A citation marker is never divided between two of them."""

    delta: str
    """The text."""
    type: Literal["delta"] = "delta"
    """Tells it from the other events."""

    def __str__(self) -> str:
        return self.delta


@dataclass(frozen=True, slots=True)
class TextReset(Wordless):
    """What came so far was not the answer: the model called a tool after it. The text begins again."""

    type: Literal["reset"] = "reset"
    """Tells it from the other events."""


@dataclass(frozen=True, slots=True)
class TextCompleted(Wordless):
    """The text is complete; its citations are being verified."""

    type: Literal["text_completed"] = "text_completed"
    """Tells it from the other events."""


@dataclass(frozen=True, slots=True)
class AnswerCompleted(Wordless):
    """The answer is complete, and its citations are verified. It is the last event."""

    answer: CitedAnswer
    """The answer."""
    type: Literal["result"] = "result"
    """Tells it from the other events."""


AskEvent = LoopEvent | TextDelta | TextReset | TextCompleted | AnswerCompleted
"""What happens while a question is answered. The text of all `TextDelta` after the last `TextReset` is the answer's."""

_CUT: Final[Mapping[str, str]] = MappingProxyType(
    {"length": "its limit of tokens was reached", "refused": "the model refused, or a filter stopped it"}
)
"""What happened to an answer that the model did not end."""

_Tell = Callable[[AskEvent], None]


class _Draft:
    """Tells of the text of one turn of the model, as far as it can be shown: as the whole answer will have it.

    Args:
        tell: Called with what can be shown.
        links: Neutralizes the URLs that are no source's.
    """

    def __init__(self, tell: _Tell, links: LinkFilter) -> None:
        self._tell = tell
        self._filter = links
        self._scanner = MarkScanner()
        self._head: str | None = ""  # while it may be thoughts: how the text begins, and its last characters
        self.is_empty = True

    def feed(self, text: str) -> None:
        """Take more of the text."""
        if self._head is not None:
            self._head += text
            text = _THOUGHTS.sub("", self._head)
            if "<think>".startswith(text.strip()):
                self._head = self._head[:_HELD] + self._head[_HELD:][-_HELD:]
                return
            self._head = None
        self._emit(self._scanner.feed(self._filter.feed(text)))

    def close(self) -> None:
        """Tell of what was held back; the turn has ended."""
        head = self._filter.feed(_THOUGHTS.sub("", self._head or ""))
        self._emit([*self._scanner.feed(head + self._filter.close()), *self._scanner.close()])

    def _emit(self, pieces: Sequence[str | Mark]) -> None:
        if text := "".join(piece.text if isinstance(piece, Mark) else piece for piece in pieces):
            self.is_empty = False
            self._tell(TextDelta(text))


async def ask(
    question: str,
    *,
    web: Web,
    model: ChatModel | str | None = None,
    quote: bool = False,
    timeout: float | None = None,
) -> CitedAnswer:
    """Answer a question from the web, with verified citations.

    Args:
        question: The question.
        web: Does the searching and reading; its session is charged. The caller closes it.
        model: The model, or its name, which overrides the setting `answer.model`. Defaults to the model of the
            settings, else to one offered by a local server.
        quote: Use no model and quote the best passages, as when no model is available.
        timeout: Seconds for the whole answer; by default the setting `answer.timeout`.

    Raises:
        InvalidRequest: the question is empty or too long. AllProvidersFailed: no provider could search.
        ConfigurationError: there is no key for the model. ProviderError: it cannot be reached, refuses, or says
        nothing. PermissionDenied: nothing may be kept, so that nothing can be checked. DeadlineExceeded, Closed.
    """
    return await _answer(question, web, model, timeout, quote=quote, tell=None)


async def ask_stream(
    question: str,
    *,
    web: Web,
    model: ChatModel | str | None = None,
    quote: bool = False,
    timeout: float | None = None,
    follows: str = "",
) -> AsyncGenerator[AskEvent]:
    """Answer a question as `ask` does, and yield the answer while it is written.

    Args:
        question: See `ask`.
        web: See `ask`.
        model: See `ask`.
        quote: See `ask`.
        timeout: See `ask`.
        follows: The question that was answered before, for the model; passages are chosen without it.

    Yields:
        Tool calls and text as they come; then the answer, with its citations verified. When the generator is closed
        the work is canceled.

    Raises:
        GroundwireError: see `ask`; from the iteration.
    """
    events: asyncio.Queue[AskEvent | None] = asyncio.Queue()
    tell = events.put_nowait
    task = asyncio.create_task(_answer(question, web, model, timeout, quote=quote, tell=tell, follows=follows))
    task.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        yield AnswerCompleted(await task)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _answer(
    question: str,
    web: Web,
    model: ChatModel | str | None,
    timeout: float | None,
    *,
    quote: bool,
    tell: _Tell | None,
    follows: str = "",
) -> CitedAnswer:
    """Answer a question, see `ask`; with `tell` the model streams, and `tell` is called with its text."""
    words = check_text(question)
    if not web.keeps:
        raise PermissionDenied("Verifying an answer needs its session's pages, and this server stores none.")
    deadline = Deadline.after(check_timeout(web.settings.answer.timeout if timeout is None else timeout))
    before = await web.usage()
    writer = model if isinstance(model, ChatModel) else None
    if writer is None and not quote:
        writer = await find_model(web, deadline, model)
    if writer is None:
        text, warnings, pages = await _quote(words, web, deadline)
        if tell is not None:
            tell(TextDelta(text))
    else:
        prompt = f"{words}\n\n(This question follows another: {check_text(follows)})" if follows else words
        text, warnings, pages = await _write(prompt, web, writer, deadline, tell)
    if tell is not None:
        tell(TextCompleted())
    cited = await asyncio.to_thread(cited_numbers, text)  # a model may write very much
    used = tuple(page for page in pages if page.number in cited)
    report = await verify_off_loop(web.verification_workers, text, used)
    if writer is not None and web.settings.answer.judge == "model":
        report = await judged_report(report, web=web, model=writer, deadline=deadline)
    after = await web.usage()
    return CitedAnswer(
        question=words,
        text=text,
        sources=tuple(Source(citation_id=page.number, title=page.title, url=page.url) for page in used),
        report=report,
        model="" if writer is None else writer.model,
        searches=int(after["searches"] - before["searches"]),
        cost_usd=after["cost_usd"] - before["cost_usd"],
        warnings=warnings,
    )


async def _write(
    question: str,
    web: Web,
    writer: ChatModel,
    deadline: Deadline,
    tell: _Tell | None,
) -> tuple[str, tuple[str, ...], tuple[CitedPage, ...]]:
    """Return what a model answers, warnings, and the pages that it was shown."""
    ledger = CitationLedger()
    for page in await web.sources(content=False):  # a page that the session knows keeps its number
        ledger.number(page.url, page.title)
    has_shown_text = False

    async def call(body: dict[str, Any]) -> HostedAnswer:
        nonlocal has_shown_text
        if tell is None:
            answer = answer_of(writer.api, await writer(body))
            return replace(answer, text=_THOUGHTS.sub("", answer.text))
        if has_shown_text:
            tell(TextReset())
        draft = _Draft(tell, policy_filter((source.url for source in ledger.sources), web.settings.policy))
        answer = await writer.stream(body, draft.feed)
        draft.close()
        has_shown_text = not draft.is_empty
        return replace(answer, text=_THOUGHTS.sub("", answer.text))

    run = await run_tools(
        writer.request(question),
        call,
        web=web,
        api=writer.api,
        mode="local",
        timeout=deadline.remaining(),
        ledger=ledger,
        on_event=tell,
    )
    cut = _CUT.get(run.answer.finish)
    if not run.answer.text.strip():
        if run.stop == "deadline":
            raise DeadlineExceeded(f"The model {writer.model} gave no answer in time. Allow more with answer.timeout.")
        reason = run.reason if run.stop != "answered" else cut or "its text is empty"
        raise ProviderError("model", f"{writer.model} gave no answer: {reason}")
    pages_by_url = {page.url: page for page in await web.sources()}
    pages = tuple(
        replace(pages_by_url[source.url], number=source.citation_id, title=source.title)
        if source.url in pages_by_url
        else CitedPage(number=source.citation_id, url=source.url, title=source.title)
        for source in run.sources
    )
    warnings = run.plan.warnings if run.stop == "answered" else (*run.plan.warnings, run.reason)
    warnings = (*warnings, f"The answer may be incomplete: {cut}.") if cut else warnings
    return run.answer.text, warnings, pages


async def _quote(question: str, web: Web, deadline: Deadline) -> tuple[str, tuple[str, ...], tuple[CitedPage, ...]]:
    """Return the passages that answer a question best, the warnings of the search, and the pages."""
    response = await web.search(question, timeout=deadline.remaining())
    urls, remaining_seconds = [row.url for row in response.results[:_MAX_QUOTED_PAGES]], deadline.remaining()
    opened = await web.open_pages(urls, timeout=remaining_seconds) if urls and remaining_seconds > 0 else ()
    pages_by_number = {page.number: page for page in await web.sources()}
    opened_pages = [pages_by_number[page.citation_id] for page in opened if page.citation_id in pages_by_number]
    texts = [(page.title, page.content) for page in opened_pages if page.content]
    numbers = [page.number for page in opened_pages if page.content]
    if not texts:  # no page could be read: what the search shows of them
        numbers = [row.citation_id for row in response.results if row.citation_id]
        texts = [(row.title, row.snippet) for row in response.results if row.citation_id]
    quotes = await asyncio.to_thread(best_quotes, texts, question)  # pages of any length
    text = "\n\n".join(_with_marker(quote.text, numbers[quote.page]) for quote in quotes)
    pages = f"in {len(texts)} page{'s' if len(texts) != 1 else ''} " if texts else ""
    return text or f"Nothing was found {pages}that answers this.", response.warnings, tuple(pages_by_number.values())


def _with_marker(markdown: str, number: int) -> str:
    text = _plain(markdown)
    return text + ("\n\n" if text.endswith("|") else " ") + f"[{number}]"  # a mark behind a row would break the table


def _plain(markdown: str) -> str:
    """Return Markdown without links, emphasis, and headings, as paragraphs, lists, and tables."""
    lines = (" ".join(_ESCAPED.sub(r"\1", line).split()) for line in _MARKUP.sub(r"\1\2", markdown).splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
