"""Verification of an answer against the pages it cites."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from groundwire.citations.segmentation import DENSE, MAX_SENTENCE, CitedSentence, Part, sentences_of
from groundwire.citations.verify.differences import near_copy, unquoted
from groundwire.citations.verify.evidence import FEATURES, Claim, Evidence, PagePassage, evidence, probability
from groundwire.citations.verify.language_data import language_of
from groundwire.citations.verify.limits import check_size
from groundwire.citations.verify.passage_index import PageIndex
from groundwire.citations.verify.report import CitedPage, Finding, Report, Verdict
from groundwire.citations.verify.report_rendering import reason_of
from groundwire.errors import InvalidRequest
from groundwire.reading.passages.terms import Terms
from groundwire.reading.workers.pool import Workers, WorkerUnavailable, WorkTooHeavy


class Doubt(NamedTuple):
    """A sentence on which words do not decide."""

    passage: str
    """The passage of the page that has most of its words."""
    sentence: str
    """The sentence, without its markers."""
    probability: float | None
    """The probability, by words, that the page supports it; None if it is in another language."""


Entailment = Callable[[Sequence[Doubt]], Sequence[float | None]]
"""A model as a judge: takes all sentences in doubt and returns for each the probability that its passage states it.

None leaves the verdict as it is. It is called once for an answer, and not at all if no sentence is in doubt.
"""

MAX_COMPARISONS: Final = 5_000
"""Sentences of an answer, or parts of them with separate citations, counted once per cited source."""
_SUPPORT: Final = 0.5  # probability from which a sentence is supported
_EXACT_PROBABILITY: Final = 0.97  # the least of a sentence that a page has in the same words
_CONTRADICTED_PROBABILITY: Final = 0.1  # the most of one that a page contradicts
_ON_PAGE: Final = FEATURES.index("rarity_page")
_PART_SHARE: Final = 0.35  # share of the words of a sentence by which a page says a part of what several pages say
_CERTAIN_PROBABILITIES: Final = (0.03, 0.97)  # probabilities beyond which no model is asked
_HEADING: Final = re.compile(r"#{1,6}[ \t]|(\*\*|__)[^*_\n]*[^*_.!?。\n]\1:?$")
_STATES: Final = re.compile(rf"(?<![^\W\d_{DENSE}])[^\W\d_{DENSE}]{{2,}}\W+[^\W_]+\W+[^\W_]+|[{DENSE}]{{5}}")
_JOB: Final = TypeAdapter(tuple[str, tuple[CitedPage, ...]])
_REPORT: Final = TypeAdapter(Report)
_CHANGED_NOTE: Final = "the page has changed since it was read, and its old content is not stored; this is the new one"
_CONTENT_LOST_NOTE: Final = "the page was opened, but its content is not stored any more"
_MAX_THREAD_CHARS: Final = 2_000  # characters of an answer and its sources that take a few milliseconds
_VERIFY: Final = "groundwire.citations.verify.verifier:verify_in_worker"


def verify_answer(answer: str, pages: Iterable[CitedPage], *, entailment: Entailment | None = None) -> Report:
    """Verify each sentence of an answer against the page it cites.

    The words of a sentence are looked for on its page, and the probability that the page supports it is learned from
    claims that people judged. It is contradicted only if a near copy on the page has another number, date, unit or
    negation, or if it quotes what the page does not have. The same answer and pages always give the same report.

    Args:
        answer: The answer in Markdown, with its markers.
        pages: The sources by number.
        entailment: A model that judges the sentences on which words do not decide, all in one call.

    Returns:
        A finding for each sentence. Of a longer sentence, the first 4,000 characters are compared.

    Raises:
        InvalidRequest: more than 5,000 sentences would have to be compared with sources.
    """
    by_number = {page.number: page for page in reversed(list(pages))}
    asserted = sentences_of(answer)
    compared = sum(number in by_number for sentence in asserted for part in sentence.parts for number in part.numbers)
    if compared > MAX_COMPARISONS:
        raise InvalidRequest(
            "answer",
            f"has {compared:,} sentences and sources to compare, and at most {MAX_COMPARISONS:,} are",
            "Check it in parts.",
        )
    verifier = _Verifier(by_number)
    findings = tuple(replace(finding, reason=reason_of(finding)) for finding in map(verifier.judge, asserted))
    cited = dict.fromkeys(number for sentence in asserted for number in sentence.numbers)
    unknown = tuple(number for number in cited if number not in by_number)
    report = Report(findings=findings, unknown=unknown, warnings=_warnings(by_number, unknown))
    return _with_entailment(report, entailment) if entailment else report


def doubts_of(report: Report) -> tuple[Doubt, ...]:
    """Return the sentences of a report on which words do not decide, in order."""
    doubtful = filter(_is_doubtful, report.findings)
    return tuple(Doubt(finding.passage, _sentence(finding.text), finding.probability) for finding in doubtful)


def _sentence(text: str) -> str:
    return " ".join(" ".join(sentence.plain for sentence in sentences_of(text)).split())


def judged_by_model(report: Report, judgments: Sequence[float | None]) -> Report:
    """Return a report with the judgments of a model.

    Args:
        report: The report.
        judgments: For each of `doubts_of(report)`, in order, the probability that the passage states the sentence; None
            leaves the verdict as it is. Missing ones count as None.
    """
    values = iter(judgments)
    findings = [
        _with_judgment(finding, next(values, None)) if _is_doubtful(finding) else finding for finding in report.findings
    ]
    return replace(report, findings=tuple(findings))


def _with_entailment(report: Report, entailment: Entailment) -> Report:
    doubts = doubts_of(report)
    return judged_by_model(report, entailment(doubts)) if doubts else report


def _is_doubtful(finding: Finding) -> bool:
    least, most = _CERTAIN_PROBABILITIES
    open_ = finding.verdict in {"supported", "not_found", "not_comparable"} and bool(finding.passage)
    return open_ and (finding.probability is None or least < finding.probability < most)


def _with_judgment(finding: Finding, probability: float | None) -> Finding:
    if probability is None or not 0.0 <= probability <= 1.0:
        return finding
    verdict: Verdict = "supported" if probability >= _SUPPORT else "not_found"
    judged = replace(finding, verdict=verdict, probability=round(probability, 2), judge="model", disagreements=())
    return replace(judged, reason=reason_of(judged))


async def verify_off_loop(
    workers: Workers, answer: str, pages: Sequence[CitedPage], *, entailment: Entailment | None = None
) -> Report:
    """Run `verify_answer` without blocking the event loop: a long answer is verified in another process.

    A canceled call leaves no process running. The caller's model is called in a thread.

    Args:
        workers: The worker processes.
        answer: The answer.
        pages: The sources by number.
        entailment: A model that judges the sentences on which words do not decide.

    Raises:
        InvalidRequest: the answer is too long to verify.
    """
    check_size(answer, pages)
    answer = re.sub("[\ud800-\udfff]", "\ufffd", answer)  # half an emoji, which JSON can name and UTF-8 cannot
    size = len(answer) + sum(len(page.content or "") + len(page.snippet) for page in pages)
    report = await _in_process(workers, answer, pages) if size > _MAX_THREAD_CHARS else None
    if report is None:  # a thread may block the loop for a while, but the answer is verified
        report = await asyncio.to_thread(verify_answer, answer, pages)
    return await asyncio.to_thread(_with_entailment, report, entailment) if entailment else report


async def _in_process(workers: Workers, answer: str, pages: Sequence[CitedPage]) -> Report | None:
    try:
        fields, report = await workers.run(_VERIFY, {}, _JOB.dump_json((answer, tuple(pages))))
    except WorkTooHeavy as error:
        raise InvalidRequest("answer", "takes too long to check with its sources", "Check it in parts.") from error
    except WorkerUnavailable:
        return None
    if "invalid" in fields:
        raise InvalidRequest(*fields["invalid"])
    return _REPORT.validate_json(report)


def verify_in_worker(_options: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Verify the answer sent by another process."""
    try:
        return {}, _REPORT.dump_json(verify_answer(*_JOB.validate_json(body)))
    except InvalidRequest as error:
        return {"invalid": (error.field, error.problem, error.fix)}, b""


def _warnings(pages: Mapping[int, CitedPage], unknown: Iterable[int]) -> tuple[str, ...]:
    markers = [f"[{number}]" for number in unknown]
    if markers and not pages:
        return ("no source of this session is known: the markers cannot be checked",)
    return (f"there is no source for {', '.join(markers)}",) if markers else ()


class _Verifier:
    """Compares sentences with pages, whose indexes are made when they are first cited.

    Args:
        pages: The pages by number.
    """

    def __init__(self, pages: Mapping[int, CitedPage]) -> None:
        self._pages = pages
        self._terms = Terms()
        self._indexes: dict[int, PageIndex] = {}

    def judge(self, sentence: CitedSentence) -> Finding:
        """Return the finding on a sentence: that on its weakest part."""
        blank = Finding(
            start=sentence.start, end=sentence.end, text=sentence.text, sources=sentence.numbers, verdict="no_claim"
        )
        if not sentence.numbers:
            states = bool(_STATES.search(sentence.plain)) and not _asserts_nothing(sentence.text)
            return replace(blank, verdict="uncited") if states else blank
        part_findings = [self._of_part(part, blank) for part in sentence.parts]
        finding, _ = max(part_findings, key=lambda row: _RANK.index(row[0].verdict))
        if finding.verdict != "supported":
            return finding
        saying = {number for _, numbers in part_findings for number in numbers}
        others = tuple(number for number in sentence.numbers if number in self._pages and number not in saying)
        return replace(
            part_findings[0][0],
            unsupporting=others,
            notes=(*part_findings[0][0].notes, *(f"[{number}] does not say it" for number in others)),
            exact=all(part.exact for part, _ in part_findings),
            probability=min(part.probability or 0.0 for part, _ in part_findings),
        )

    def _of_part(self, part: Part, blank: Finding) -> tuple[Finding, frozenset[int]]:
        """Return the finding on a part of a sentence, and the numbers of the pages that support it."""
        text = part.text[:MAX_SENTENCE]
        numbers = [number for number in part.numbers if number in self._pages]
        if not numbers:
            return replace(blank, verdict="unknown_source"), frozenset()
        indexes = [self._index(number) for number in numbers]
        claims = {index.language.code: Claim(text, self._terms, index.language, part.start) for index in indexes}
        alone = [evidence(claims[index.language.code], [index]) for index in indexes]
        sure = [probability(support.counts) for support in alone]
        exact = [index.says(text) for index in indexes]
        order = sorted(range(len(numbers)), key=lambda at: (-exact[at], -sure[at], at))
        best = order[0]
        most, claim = sure[best], claims[indexes[best].language.code]
        if len(indexes) > 1 and not any(exact):
            most = max(most, probability(evidence(claim, indexes).counts))
        finding = self._with_passage(replace(blank, probability=round(most, 2)), numbers[best], claim, alone[best])
        signed = any(token.unit for token, _ in claim.values)  # a copy may differ by a sign that is no letter
        differences, place = ((), None) if exact[best] and not signed else near_copy(claim, alone[best])
        for disagreement, near in () if exact[best] else unquoted(claim, indexes, self._terms):
            differences, place = (*differences, disagreement), place or near
        if differences:
            source = numbers[indexes.index(place.index)] if place else numbers[best]
            finding = replace(
                _with_span(finding, place) if place else finding,
                verdict="contradicted",
                source=source,
                probability=round(min(most, _CONTRADICTED_PROBABILITY), 2),
                disagreements=tuple(replace(difference, source=source) for difference in differences),
            )
            return finding, frozenset()
        if exact[best]:
            finding = replace(finding, exact=True, probability=round(max(most, _EXACT_PROBABILITY), 2))
        if exact[best] or most >= _SUPPORT:
            saying = (
                at for at in order if exact[at] or sure[at] >= _SUPPORT or alone[at].counts[_ON_PAGE] >= _PART_SHARE
            )
            return replace(finding, verdict="supported"), frozenset(numbers[at] for at in saying)
        return self._missing(finding, self._pages[numbers[best]], text, indexes[best]), frozenset()

    def _index(self, number: int) -> PageIndex:
        if number not in self._indexes:
            page = self._pages[number]
            content = page.content if page.content is not None else page.snippet
            site = (urlsplit(page.url).hostname or "").removeprefix("www.") if "://" in page.url else ""
            self._indexes[number] = PageIndex(content, f"{page.title} {site}", self._terms)
        return self._indexes[number]

    def _with_passage(self, finding: Finding, number: int, claim: Claim, support: Evidence) -> Finding:
        page = self._pages[number]
        notes = (_CHANGED_NOTE,) if page.changed else ()
        finding = replace(finding, source=number, notes=notes)
        return _with_span(finding, _shortest(support.passages[0], claim)) if support.passages else finding

    def _missing(self, finding: Finding, page: CitedPage, text: str, index: PageIndex) -> Finding:
        """Return the finding on a sentence that is not on a page."""
        if page.content is None:
            note = "only a snippet of the page was seen" if page.snippet else "the page was not opened"
            note = _CONTENT_LOST_NOTE if page.version else note
            return replace(finding, verdict="not_opened", notes=(*finding.notes, note))
        mine = language_of(text)
        if mine and index.code and mine != index.code and {mine, index.code} != {"zh", "ja"}:
            return replace(finding, verdict="not_comparable", probability=None)
        return replace(finding, verdict="not_found")


_RANK: Final = ("supported", "unknown_source", "not_opened", "not_comparable", "not_found", "contradicted")


def _shortest(passage: PagePassage, claim: Claim) -> PagePassage:
    """Return the fewest sentences of a passage that have as many of a sentence's words."""

    def worth(first: int, size: int) -> float:
        words = passage.index.words(first, size)
        return sum(weight for term, weight in claim.weights.items() if term in words)

    passage_worth = worth(passage.first, passage.size)
    stop = min(passage.first + passage.size, len(passage.index.spans))
    for size in (1, 2):
        for first in range(passage.first, stop - size + 1):
            if worth(first, size) >= 0.98 * passage_worth:
                return PagePassage(passage.index, first, size)
    return passage


def _with_span(finding: Finding, passage: PagePassage) -> Finding:
    span = passage.index.span(passage.first, passage.size)
    text = passage.index.content[span.start : span.end]
    return replace(finding, passage=text, passage_start=span.start, passage_end=span.end)


def _asserts_nothing(text: str) -> bool:
    """Return whether a sentence is a heading or a question, introduces something, or is a code span."""
    bare = text.strip(" .,;:!")
    is_code = bare[:1] == bare[-1:] == "`" and "`" not in bare.strip("`")
    return is_code or bool(_HEADING.match(text)) or text.rstrip(' *_"”').endswith(("?", "？", ":"))
