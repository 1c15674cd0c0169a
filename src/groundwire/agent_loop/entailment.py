"""Sentences of an answer on which words do not decide, judged by the model of the settings.

Passages and sentences are data: each is fenced. A page cannot write the numbers of other items, which are drawn for
each call, and the verdict on two items of each call is known: if a model gets one of them wrong, it was talked into
its answers or cannot do the task, and nothing that it says in that call counts.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from groundwire.agent_loop.chat_model import ChatModel, find_model
from groundwire.deadline import Deadline
from groundwire.errors import ConfigurationError, GroundwireError
from groundwire.hosted.answers import read_answer
from groundwire.tools.conversions import GUIDANCE
from groundwire.tools.results import fence

if TYPE_CHECKING:
    from groundwire.citations.verify import CitedPage, Doubt, Report
    from groundwire.web import Web

_MAX_CALLS: Final = 2  # calls for an answer
_MAX_ITEMS: Final = 20  # sentences of a call
_MAX_INPUT_CHARS: Final = 24_000  # characters of the passages and sentences of a call, some 6,000 tokens
_MAX_ITEM_CHARS: Final = 4_000  # characters of an item; a longer one would be judged by a part of it, so words decide
_MAX_OUTPUT_TOKENS: Final = 2_000  # tokens of a reply; the lines take some 200, and a model may think before them
_MAX_REPLY_CHARS: Final = 4_000  # characters of a reply
_PROBABILITIES: Final[Mapping[str, float | None]] = {"yes": 0.9, "no": 0.1, "unsure": None}
"""The probability for each word of a reply: set by hand, as models differ."""
_CONTROLS: Final = (
    (
        "The lighthouse was painted white in the spring, and its lamp was replaced.",
        "The lighthouse was painted.",
        "yes",
    ),
    ("The bakery has three ovens and is closed on Mondays.", "The ferry leaves the harbor at noon.", "no"),
)
_LINE: Final = re.compile(r"(\d{6})[:=]? (yes|no|unsure)\.?", re.IGNORECASE)
_MALFORMED_REPLY: Final = "the model's answer about some sentences did not have the requested form and was ignored"
_FAILED_CONTROLS: Final = "the model was wrong about sentences with a known verdict, so its answer was ignored"


async def verify(answer: str, *, web: Web, pages: Sequence[CitedPage] | None = None) -> Report:
    """Verify each sentence of an answer against the pages it cites, without fetching anything.

    With the setting `answer.judge = "model"`, the model of the settings judges sentences on which words do not decide;
    if it cannot, the report has a warning.

    Args:
        answer: The answer in Markdown, with markers such as `[1]`.
        web: The session, which is charged for the model's calls.
        pages: The sources by number; by default those of the session.

    Raises:
        InvalidRequest, Closed: see `Web.verify`.
    """
    report = await web.verify(answer, pages=pages)
    return await judged_report(report, web=web) if web.settings.answer.judge == "model" else report


async def judged_report(
    report: Report, *, web: Web, model: ChatModel | None = None, deadline: Deadline | None = None
) -> Report:
    """Let a model judge the sentences of a report on which words do not decide, the most doubtful ones first.

    At most 40 sentences are judged, in at most two calls of 24,000 characters. Each call counts as one call of the day
    of the session's owner, and its passages count in the session's tokens. Whatever fails leaves the verdicts as they
    are, and becomes a warning of the report.

    Args:
        report: The report.
        web: The session that is charged.
        model: The model; by default that of the settings.
        deadline: The deadline of all calls; by default the setting `answer.timeout` from now.
    """
    from groundwire.citations.verify import doubts_of, judged_by_model

    doubts = doubts_of(report)
    batches = list(_batches(doubts))
    if not batches:
        return report
    judgments: dict[int, float | None] = {}
    warnings: list[str] = []
    deadline = deadline or Deadline.after(web.settings.answer.timeout)
    try:
        judge_model = model or await find_model(web, deadline, "")
        if judge_model is None:
            raise ConfigurationError("there is none; set answer.model")
        for batch in batches:
            probabilities, problem = await _judge(judge_model, web, [doubts[at] for at in batch])
            judgments |= dict(zip(batch, probabilities, strict=True))
            warnings += [problem] if problem else []
    except GroundwireError as error:
        warnings.append(f"the model did not judge some sentences: {str(error).rstrip('.')}")
    judged = judged_by_model(report, [judgments.get(at) for at in range(len(doubts))])
    return replace(judged, warnings=(*report.warnings, *dict.fromkeys(warnings)))


def _batches(doubts: Sequence[Doubt]) -> Iterator[list[int]]:
    """Yield which sentences are judged in each call."""

    def certainty(at: int) -> float:
        probability = doubts[at].probability
        return 0.0 if probability is None else abs(probability - 0.5)

    queue = [at for at in sorted(range(len(doubts)), key=certainty) if _size(doubts[at]) <= _MAX_ITEM_CHARS]
    for _ in range(_MAX_CALLS):
        batch: list[int] = []
        room = _MAX_INPUT_CHARS
        while queue and len(batch) < _MAX_ITEMS and _size(doubts[queue[0]]) <= room:
            room -= _size(doubts[queue[0]])
            batch.append(queue.pop(0))
        if batch:
            yield batch


def _size(doubt: Doubt) -> int:
    return len(doubt.passage) + len(doubt.sentence)


async def _judge(model: ChatModel, web: Web, doubts: Sequence[Doubt]) -> tuple[Sequence[float | None], str]:
    """Return the probabilities of one call, and what is wrong with its answer."""
    rows = [(doubt.passage, doubt.sentence) for doubt in doubts] + [(passage, claim) for passage, claim, _ in _CONTROLS]
    numbers = _numbers(len(rows))
    order = sorted(range(len(rows)), key=numbers.__getitem__)  # at random, as the numbers are
    items = "\n\n".join(_item(numbers[position], *rows[position]) for position in order)
    await web.count_model_call(sum(map(_size, doubts)))
    reply = await model(model.request(items, system=GUIDANCE["judging"], max_tokens=_MAX_OUTPUT_TOKENS))
    labels = _labels(read_answer(model.api, reply).text, numbers)
    no_verdicts = [None] * len(doubts)
    if labels is None:
        return no_verdicts, _MALFORMED_REPLY
    *verdicts, first, second = (labels.get(number, "") for number in numbers)
    if [first, second] != [label for *_, label in _CONTROLS]:
        return no_verdicts, _FAILED_CONTROLS
    return [_PROBABILITIES.get(label) for label in verdicts], "" if all(verdicts) else _MALFORMED_REPLY


def _numbers(count: int) -> list[str]:
    numbers: dict[str, None] = {}
    while len(numbers) < count:
        numbers[f"{secrets.randbelow(900_000) + 100_000}"] = None
    return list(numbers)


def _item(number: str, passage: str, sentence: str) -> str:
    return "\n".join((fence(passage, header=f"Item {number}. Its passage:"), fence(sentence, header="Its sentence:")))


def _labels(reply: str, numbers: Iterable[str]) -> Mapping[str, str] | None:
    """Return the word for each number; None for a reply that has anything but one line for each of some numbers."""
    text = reply.rpartition("</think>")[2]
    if len(text) > _MAX_REPLY_CHARS:
        return None
    valid_numbers, labels = set(numbers), dict[str, str]()
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _LINE.fullmatch(line)
        if match is None or match[1] not in valid_numbers or match[1] in labels:
            return None
        labels[match[1]] = match[2].lower()
    return labels
