"""How often a chain of providers finds the answers to questions that have known ones.

An answer is found where its words stand next to each other in a text, whatever their case, accents, and punctuation;
numbers are compared as values (`1,776` is `1776`, `2.50` is `2.5`). Nothing judges whether the text around them answers
the question, so the shares are upper bounds, equally so for every chain.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.models.validators import check_text

if TYPE_CHECKING:
    from groundwire.models import SearchResponse, Strategy
    from groundwire.web import Web

__all__ = ["EvaluationQuestion", "Outcome", "Score", "evaluate", "has_answer", "read_questions", "score"]

_MOST: Final = 10_000  # questions of one file
_LONGEST: Final = 10_000_000  # characters of a page that are looked through
_GROUPS: Final = re.compile(r"(?<=\d)[,'\u2019\u00a0\u202f](?=\d{3}(?!\d))")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_WORD: Final = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")  # Thai, Lao, Chinese, Japanese
_Z: Final = 1.96  # standard deviations, for an interval at 95 %


@dataclass(frozen=True, slots=True)
class EvaluationQuestion:
    """A question with its answer."""

    id: str
    """Its name in the results; by default its line."""
    question: str
    """What is searched for."""
    answers: tuple[str, ...]
    """The answers, any of which counts."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one question."""

    id: str
    """The question's name."""
    in_results: bool
    """Whether an answer stands in the title or the snippet of a result."""
    in_pages: bool
    """Whether an answer stands in an opened page, or in a result."""
    seconds: float
    """From the question to the last opened page."""
    error: str = ""
    """Why it could not be searched for; empty if it was."""


@dataclass(frozen=True, slots=True)
class Score:
    """The results of all questions for one chain of providers."""

    questions: int
    """The questions."""
    failed: int
    """Those that could not be searched for, which count as not answered."""
    in_results: float
    """The share with an answer in the results."""
    in_results_interval: tuple[float, float]
    """Its Wilson score interval at 95 %; Wilson, Journal of the American Statistical Association 22 (1927), p. 209."""
    in_pages: float
    """The share with an answer in the results or the opened pages."""
    in_pages_interval: tuple[float, float]
    """Its interval."""
    cost_usd: float
    """US dollars for all searches and pages."""
    p50_seconds: float
    """The median time of a question."""
    p95_seconds: float
    """The 95th percentile."""


def read_questions(lines: Iterable[str]) -> list[EvaluationQuestion]:
    """Return the questions of a file, a line each: `{"question": "...", "answer": "..."}`.

    Args:
        lines: JSON objects. `answer` is a text or a list of texts, any of which counts; `id` is optional.

    Raises:
        InvalidRequest: a line is no such object, a name is used twice, or there is no question or more than 10,000.
    """
    questions: dict[str, EvaluationQuestion] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        question = _question(line, number)
        if question.id in questions:
            raise _wrong(number, f"has the id {question.id[:50]!r}, as a line before it", "Give each its own id.")
        if len(questions) == _MOST:
            raise _wrong(number, f"is the question after {_MOST:,}, the most", "Divide the file.")
        questions[question.id] = question
    if not questions:
        raise InvalidRequest("file", "has no questions", 'Write lines such as {"question": "...", "answer": "..."}.')
    return list(questions.values())


def _question(line: str, number: int) -> EvaluationQuestion:
    form = 'Write {"question": "...", "answer": "..."}, the answer a text or a list of texts.'
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _wrong(number, "is not JSON", form) from error
    if not isinstance(row, dict):
        raise _wrong(number, "is not a JSON object", form)
    given = row.get("answer", row.get("answers"))
    answers = (given,) if isinstance(given, (str, int, float)) else tuple(given) if isinstance(given, list) else ()
    texts = tuple(str(answer) for answer in answers if isinstance(answer, (str, int, float)))
    if not texts or len(texts) != len(answers) or not all(map(_words, texts)):
        raise _wrong(number, "has no answer", form)
    if not isinstance(row.get("question"), str):
        raise _wrong(number, "has no question", form)
    try:
        question = check_text(row["question"])
    except InvalidRequest as error:
        raise _wrong(number, f"has a question that {error.problem}", error.fix) from error
    return EvaluationQuestion(str(row.get("id", number)), question, texts)


def _wrong(number: int, problem: str, fix: str) -> InvalidRequest:
    return InvalidRequest("file", f"line {number} {problem}", fix)


def has_answer(text: str, answers: Sequence[str]) -> bool:
    """Return whether the words of an answer stand next to each other in a text."""
    whole = f" {_words(text)} "
    unspaced = ""
    for answer in answers:
        words = _words(answer)
        if _UNSPACED.search(words):
            unspaced = unspaced or whole.replace(" ", "")
            if words.replace(" ", "") in unspaced:
                return True
        elif f" {words} " in whole:
            return True
    return False


def _words(text: str) -> str:
    """Return the words of a text in one spelling."""
    plain = unicodedata.normalize("NFKD", _GROUPS.sub("", text)).casefold()
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    words = (word.group() for word in _WORD.finditer(plain))
    return " ".join(f"{float(word):.15g}" if _NUMBER.fullmatch(word) else word for word in words)


async def evaluate(
    web: Web,
    questions: Sequence[EvaluationQuestion],
    *,
    limit: int | None = None,
    pages: int = 3,
    strategy: Strategy | None = None,
    concurrency: int = 4,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Search for each question, and look for its answer in the results and in the first pages.

    Nothing comes from the cache. With `archive.enabled = false` in its settings, a failure is not answered from earlier
    searches either.

    Args:
        web: Searches and reads; its session is charged, and the caller closes it.
        questions: The questions.
        limit: Maximum results of a search; by default the setting `search.limit`.
        pages: Results to open where no result has the answer, 0 to 10.
        strategy: See `Web.search`.
        concurrency: Questions at a time, 1 to 32.
        on_outcome: Called with each outcome when it is known.

    Raises:
        InvalidRequest: an argument is out of range. Closed.
    """
    if not 0 <= pages <= 10:
        raise InvalidRequest("pages", f"must be 0 to 10, not {pages}", "Pass 3, for example.")
    if not 1 <= concurrency <= 32:
        raise InvalidRequest("concurrency", f"must be 1 to 32, not {concurrency}", "Pass 4, for example.")
    turn = asyncio.Semaphore(concurrency)

    async def one(question: EvaluationQuestion) -> Outcome:
        async with turn:
            outcome = await _outcome(web, question, limit, pages, strategy)
        if on_outcome is not None:
            on_outcome(outcome)
        return outcome

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(question)) for question in questions]
    return [task.result() for task in tasks]


async def _outcome(
    web: Web, question: EvaluationQuestion, limit: int | None, pages: int, strategy: Strategy | None
) -> Outcome:
    begun = time.monotonic()
    try:
        response: SearchResponse = await web.search(question.question, limit=limit, strategy=strategy, refresh=True)
    except InvalidRequest:
        raise
    except GroundwireError as error:
        return Outcome(
            question.id, in_results=False, in_pages=False, seconds=time.monotonic() - begun, error=str(error)
        )
    rows = "\n\n".join(f"{row.title}\n\n{row.snippet}" for row in response.results)
    in_results = in_pages = has_answer(rows, question.answers)
    urls = [row.url for row in response.results[:pages]]
    if urls and not in_results:
        opened = await web.open_pages(urls, max_length=_LONGEST, refresh=True)
        in_pages = any(has_answer(page.content, question.answers) for page in opened)
    return Outcome(question.id, in_results=in_results, in_pages=in_pages, seconds=time.monotonic() - begun)


def score(outcomes: Sequence[Outcome], cost_usd: float) -> Score:
    """Return what all outcomes amount to.

    Args:
        outcomes: At least one.
        cost_usd: US dollars for all of them.
    """
    count = len(outcomes)
    in_results, in_pages = (sum(outcome.in_results for outcome in outcomes), sum(one.in_pages for one in outcomes))
    seconds = sorted(outcome.seconds for outcome in outcomes)
    return Score(
        questions=count,
        failed=sum(bool(outcome.error) for outcome in outcomes),
        in_results=in_results / count,
        in_results_interval=_interval(in_results, count),
        in_pages=in_pages / count,
        in_pages_interval=_interval(in_pages, count),
        cost_usd=cost_usd,
        p50_seconds=seconds[math.ceil(0.5 * count) - 1],
        p95_seconds=seconds[math.ceil(0.95 * count) - 1],
    )


def _interval(hits: int, count: int) -> tuple[float, float]:
    share, square = hits / count, _Z * _Z / count
    middle = (share + square / 2) / (1 + square)
    half = _Z * math.sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)
