"""How often searches bring the answers of known questions, with cost and latency."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, get_args

from groundwire.errors import AllProvidersFailed, GroundwireError, InvalidRequest
from groundwire.json_text import json_object
from groundwire.models import Strategy
from groundwire.models.validators import check_int, check_text
from groundwire.reading.passages.terms import DENSE, folded
from groundwire.web import Web

__all__ = ["EvalAnswer", "EvalQuestion", "Evaluation", "Place", "comparable", "evaluate", "read_questions"]

Place = Literal["rows", "pages", "missed", "failed"]
"""Where an answer was: in the results, in an opened page, nowhere, or unknown because the search failed."""

_Z: Final = 1.959964  # standard deviations: 95 %
_FORM: Final = 'Write {"question": "...", "answer": "..."}; the answer may be a list of accepted texts.'
_GROUPS: Final = re.compile("(?<=[0-9])[,'\u2019\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))")
_DOTTED_GROUPS: Final = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3}){2,}")
_TOKEN: Final = re.compile(
    r"((?<![\w)\]])[-\u2212](?=[0-9]))?((?<![0-9,])[0-9]+,[0-9]+(?![0-9,])|[0-9]+(?:\.[0-9]+)*)"
    rf"|[{DENSE}]|[^\W_0-9{DENSE}][^\W_{DENSE}]*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalQuestion:
    """A question with its accepted answers."""

    id: str
    """Its name in the report."""
    text: str
    """The query that is searched for."""
    answers: tuple[str, ...]
    """The accepted answers; one of them is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalAnswer:
    """The outcome of one question."""

    id: str
    """The question's name."""
    place: Place
    """Where the answer was."""
    url: str = ""
    """The page it was in; empty if there is none."""
    error: str = ""
    """Why the search failed."""
    pages_failed: int = 0
    """The pages that could not be read."""
    cost_usd: float = 0.0
    """The cost, in US dollars."""
    seconds: float = 0.0
    """How long the search and the pages took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The outcomes of all questions with one chain of providers."""

    providers: tuple[str, ...]
    """The providers, in order."""
    strategy: Strategy
    """How they were used."""
    answers: tuple[EvalAnswer, ...]
    """The outcome of each question, in order."""

    def count(self, *places: Place) -> int:
        """Return how many answers were in any of these places."""
        return sum(answer.place in places for answer in self.answers)

    @property
    def share(self) -> float:
        """The share of all questions whose answer was in the results or in a page."""
        return self.count("rows", "pages") / len(self.answers)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share (Wilson)."""
        size, share = len(self.answers), self.share
        center = share + _Z**2 / (2 * size)
        spread = _Z * math.sqrt(share * (1 - share) / size + _Z**2 / (4 * size**2))
        scale = 1 + _Z**2 / size
        return max(0.0, (center - spread) / scale), min(1.0, (center + spread) / scale)

    @property
    def cost_usd(self) -> float:
        """The cost of all questions, in US dollars."""
        return sum(answer.cost_usd for answer in self.answers)

    def seconds(self, share: float) -> float | None:
        """Return a quantile of the seconds of the questions that did not fail (nearest rank); None without any."""
        ordered = sorted(answer.seconds for answer in self.answers if answer.place != "failed")
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "providers": list(self.providers),
            "strategy": self.strategy,
            "questions": len(self.answers),
            **{place: self.count(place) for place in get_args(Place)},
            "pages_failed": sum(answer.pages_failed for answer in self.answers),
            "share": self.share,
            "interval": list(self.interval),
            "cost_usd": self.cost_usd,
            "p50_seconds": self.seconds(0.5),
            "p95_seconds": self.seconds(0.95),
            "answers": list(map(asdict, self.answers)),
        }


def comparable(text: str) -> str:
    """Return a text as words between spaces, by which answers are compared.

    Case, accents, punctuation, and white space are gone, and numbers are values: `1,000.50` is `1000.5`. In scripts
    without spaces each character is a word.
    """
    words = [
        _number(match[1], match[2]) if match[2] else match[0]
        for match in _TOKEN.finditer(folded(_GROUPS.sub("", text)).casefold())
    ]
    return f" {' '.join(words)} "


def _number(sign: str | None, digits: str) -> str:
    if _DOTTED_GROUPS.fullmatch(digits):
        digits = digits.replace(".", "")
    integer, dot, fraction = digits.replace(",", ".").partition(".")
    integer = integer.lstrip("0") or "0"
    if "." not in fraction:  # otherwise a version or a date
        fraction = fraction.rstrip("0")
    return f"{'-' if sign else ''}{integer}{dot if fraction else ''}{fraction}"


def read_questions(lines: Iterable[str], name: str = "questions") -> tuple[EvalQuestion, ...]:
    """Read questions from JSON lines: `question`, `answer` (a text or a list of accepted texts), optionally `id`.

    Args:
        lines: The lines; empty ones are skipped.
        name: What the lines are called in errors, such as the name of their file.

    Raises:
        InvalidRequest: a line is invalid, an `id` is there twice, or there is no question.
    """
    questions: dict[str, EvalQuestion] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        question = _question(line, place, str(number))
        if question.id in questions:
            raise InvalidRequest(place, f'its "id" {question.id!r} is already in use', "Give each question its own.")
        questions[question.id] = question
    if not questions:
        raise InvalidRequest(name, "has no questions", f"Each line must be a JSON object. {_FORM}")
    return tuple(questions.values())


def _question(line: str, place: str, number: str) -> EvalQuestion:
    value = json_object(line)
    if value is None:
        raise InvalidRequest(place, "is not a JSON object", _FORM)
    if unknown := sorted(map(repr, value.keys() - {"question", "answer", "id"})):
        raise InvalidRequest(place, f"has the unknown members {', '.join(unknown)}", f"Remove them. {_FORM}")
    try:
        text = check_text(value.get("question"))
    except InvalidRequest as error:
        raise InvalidRequest(place, f'its "question" {error.problem}', _FORM) from None
    answers = value.get("answer")
    answers = [answers] if isinstance(answers, str) else answers
    if not isinstance(answers, list) or not answers or not all(isinstance(answer, str) for answer in answers):
        raise InvalidRequest(place, 'its "answer" is neither a text nor a list of texts', _FORM)
    if empty := [answer for answer in answers if not comparable(answer).strip()]:
        raise InvalidRequest(place, f"the answer {empty[0]!r} has neither letters nor digits", "Write it in words.")
    if not isinstance(question_id := value.get("id", number), str | int):
        raise InvalidRequest(place, 'its "id" is neither a text nor a number', "Correct it, or leave it out.")
    return EvalQuestion(id=str(question_id), text=text, answers=tuple(answers))


async def evaluate(
    web: Web,
    questions: Sequence[EvalQuestion],
    *,
    strategy: Strategy | None = None,
    limit: int | None = None,
    open_pages: int = 0,
    concurrency: int = 4,
    timeout: float | None = None,
    listener: Callable[[EvalAnswer], object] | None = None,
) -> Evaluation:
    """Search for each question, and look for its answer in the results, then in the first pages.

    Nothing is read from or written to the cache, and the archive does not stand in. Each question is a session of its
    own, within the daily quota.

    Args:
        web: What searches and reads, such as `web.with_providers("brave", "exa")`.
        questions: The questions.
        strategy: See `Web.search`.
        limit: The results to search; by default the setting `search.limit`.
        open_pages: The pages to open, 0 to 16, where the results lack the answer; the question is their `query`.
        concurrency: Maximum questions asked at once, 1 to 32.
        timeout: Seconds for a search, and again for its pages; by default the settings.
        listener: Called with each answer as soon as it is known.

    Raises:
        InvalidRequest: an argument is invalid.
    """
    check_int("open_pages", open_pages, 0, 16)
    slots = asyncio.Semaphore(check_int("concurrency", concurrency, 1, 32))
    if not questions:
        raise InvalidRequest("questions", "is empty", "Pass at least one question.")
    chain = web.with_providers(*web.search_providers)  # without the archive as the last resort

    async def ask(question: EvalQuestion) -> EvalAnswer:
        async with slots:
            view, started = chain.session(), time.perf_counter()
            answer = await _look(view, question, open_pages, timeout, limit=limit, strategy=strategy)
            seconds = time.perf_counter() - started
            answer = replace(answer, cost_usd=(await view.usage())["cost_usd"], seconds=seconds)
        if listener is not None:
            listener(answer)
        return answer

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(question)) for question in questions]
    except ExceptionGroup as errors:  # an argument that is invalid, for every question
        raise errors.exceptions[0] from None
    return Evaluation(
        providers=tuple(provider.name for provider in chain.search_providers),
        strategy=strategy or web.settings.search.strategy,
        answers=tuple(task.result() for task in tasks),
    )


async def _look(web: Web, question: EvalQuestion, open_pages: int, timeout: float | None, **search: Any) -> EvalAnswer:
    """Return where the answer was, in which page, how many pages could not be read, and why the search failed."""
    answers = [comparable(answer) for answer in question.answers]

    def is_in(*texts: str) -> bool:
        return any(answer in text for text in map(comparable, texts) for answer in answers)

    try:
        response = await web.search(question.text, keep=False, timeout=timeout, **search)
    except InvalidRequest:  # of all questions
        raise
    except AllProvidersFailed as error:  # its own text has milliseconds, by which equal reasons differ
        reasons = dict.fromkeys(f"{attempt.provider} {attempt.outcome}: {attempt.reason}" for attempt in error.attempts)
        return EvalAnswer(id=question.id, place="failed", error="; ".join(reasons))
    except GroundwireError as error:
        return EvalAnswer(id=question.id, place="failed", error=str(error))
    for row in response.results:
        if is_in(row.title, row.snippet):
            return EvalAnswer(id=question.id, place="rows", url=row.url)
    urls = [row.url for row in response.results[:open_pages]]
    pages = await web.open_pages(urls, query=question.text, keep=False, timeout=timeout) if urls else ()
    errors = [page.error for page in pages if page.status == "error"]
    for page in pages:
        if page.status == "success" and is_in(page.title, page.content):
            return EvalAnswer(id=question.id, place="pages", url=page.url, pages_failed=len(errors))
    if errors and len(errors) == len(pages):
        cause = f"None of the {len(pages)} pages could be read: {errors[0]}"
        return EvalAnswer(id=question.id, place="failed", error=cause, pages_failed=len(errors))
    return EvalAnswer(id=question.id, place="missed", pages_failed=len(errors))
