"""Checking an answer against the pages it cites, without a model.

Whether two texts can be compared word by word: their scripts, and for Latin ones their languages.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import TypeAdapter

from groundwire.citations.marker_parser import Mark, find_marks
from groundwire.citations.verify.facts import Claim, disagreements, quoted_otherwise
from groundwire.citations.verify.passage_index import MAX_SENTENCE, IndexedPassage, PageIndex, squeezed
from groundwire.citations.verify.report import CitedPage, Disagreement, Finding, Report
from groundwire.citations.verify.segmentation import TextSpan, blank_markup, normal_form, sentences, words_of
from groundwire.citations.verify.vocabulary import ATTRIBUTION, TELLING_WORDS
from groundwire.errors import InvalidRequest
from groundwire.reading.workers.pool import Workers, WorkerUnavailable, WorkTooHeavy

__all__ = ["Entailment", "cited_numbers", "comparable", "verify_answer", "verify_in_worker", "verify_off_loop"]

_SCRIPTS: Final = re.compile(
    r"(?P<latin>[A-Za-z\u00c0-\u024f]+)|(?P<greek>[\u0370-\u03ff]+)|(?P<cyrillic>[\u0400-\u052f]+)"
    r"|(?P<hebrew>[\u0590-\u05ff]+)|(?P<arabic>[\u0600-\u06ff\u0750-\u077f]+)|(?P<indic>[\u0900-\u0dff]+)"
    r"|(?P<thai>[\u0e00-\u0e7f]+)|(?P<kana>[\u3040-\u30ff]+)|(?P<han>[\u3400-\u9fff]+)|(?P<hangul>[\uac00-\ud7af]+)"
)
_ENOUGH: Final = 3  # telling words from which on a language is believed
_SAMPLE: Final = 20_000  # characters
_WORD: Final = re.compile(r"[^\W\d_]+")


def comparable(claim: str, page: str) -> bool:
    """Tell whether a sentence may say in its words what a page says in its own; when in doubt it may."""
    one, two = _script(claim), _script(page[:_SAMPLE])
    if not one or not two:
        return True
    if one != two:
        return {one, two} == {"kana", "han"}
    if one != "latin":
        return True
    mine, theirs = _language(claim), _language(page[:_SAMPLE])
    return not mine or not theirs or mine == theirs


def _script(text: str) -> str:
    counts: Counter[str] = Counter()
    for found in _SCRIPTS.finditer(text):
        counts[found.lastgroup or ""] += len(found[0])
    return counts.most_common(1)[0][0] if counts else ""


def _language(text: str) -> str:
    """Return the language whose little words a text has most of; nothing when none is clearly ahead."""
    words = _WORD.findall(text.lower())
    counts = Counter(TELLING_WORDS[word] for word in words if word in TELLING_WORDS).most_common(2)
    if not counts or counts[0][1] < _ENOUGH:
        return ""
    second = counts[1][1] if len(counts) > 1 else 0
    return counts[0][0] if counts[0][1] >= 2 * second else ""


Entailment = Callable[[str, str], float]
"""A model of one's own: takes a passage and a sentence, returns how surely the one says the other, 0 to 1."""

_FOUND: Final = 0.5  # share of a sentence's words, by weight, that a passage must have to be the one meant
_ENTAILED: Final = 0.5
_MOSTLY: Final = 0.8  # share below which a sentence may be half from elsewhere
_RUN: Final = 4  # words of it in a row that are not there, from which on it is
_TOGETHER: Final = 0.7  # share of those that another passage must have
_WHOLE: Final = 0.97  # share from which on it may be there in the same words
_SHORT: Final = 4  # words; a shorter sentence must be there whole
_ATTRIBUTION: Final = frozenset(map(normal_form, ATTRIBUTION))
_JOB: Final = TypeAdapter(tuple[str, tuple[CitedPage, ...]])
_REPORT: Final = TypeAdapter(Report)
MAX_COMPARISONS: Final = 5_000
"""Sentences of an answer, each once for every source that it cites."""
_CHANGED: Final = "the page has changed since it was read, and what it said then is not kept; this is what it says now"
_NEWER: Final = "the page has changed since it was read; this is what it said then"
_GONE: Final = "the page was opened, but what it said is not kept any more"


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    text: str
    claim: Claim
    numbers: tuple[int, ...]


def verify_answer(answer: str, pages: Iterable[CitedPage], *, entailment: Entailment | None = None) -> Report:
    """Say of each sentence of an answer whether the page it cites says so.

    The rules are those of words: a sentence is compared with the passage that has most of its words, and numbers,
    units, dates, names, negations and quotations must agree. What is said in quite other words is reported as not
    found, never guessed. The same answer and pages give the same report.

    Args:
        answer: The answer in Markdown, with its marks.
        pages: What its numbers stand for.
        entailment: Is asked about each sentence that the rules find supported or do not find; a probability under one
            half takes support away, one over nine tenths gives it, unless a fact disagrees.

    Returns:
        A finding for each sentence. Of one of more than 4,000 characters these are compared.

    Raises:
        InvalidRequest: more than 5,000 sentences would have to be compared with sources.
    """
    known = {page.number: page for page in reversed(list(pages))}
    indexes: dict[int, PageIndex] = {}
    findings = []
    unknown: dict[int, None] = {}
    asserted = _sentences(answer)
    compared = sum(number in known for sentence in asserted for number in sentence.numbers)
    if compared > MAX_COMPARISONS:
        raise InvalidRequest(
            "answer",
            f"has {compared:,} sentences and sources to compare, and at most {MAX_COMPARISONS:,} are",
            "Check it in parts.",
        )
    for sentence in asserted:
        unknown.update(dict.fromkeys(number for number in sentence.numbers if number not in known))
        findings.append(_judge(sentence, known, indexes, entailment))
    return Report(findings=tuple(findings), unknown=tuple(unknown), warnings=_warnings(known, unknown))


_IN_THREAD: Final = 2_000  # characters of an answer and its sources that take some milliseconds
_VERIFY: Final = "groundwire.citations.verify.verifier:verify_in_worker"


async def verify_off_loop(
    workers: Workers, answer: str, pages: Sequence[CitedPage], *, entailment: Entailment | None = None
) -> Report:
    """Do what `verify_answer` does without holding up the loop: a long answer is checked in a process.

    Whoever is cancelled here leaves no process at work for him. A model of the caller's is asked in a thread.

    Args:
        workers: The processes.
        answer: The answer.
        pages: What its numbers stand for.
        entailment: A model of one's own.

    Raises:
        InvalidRequest: the answer is too much to check.
    """
    size = len(answer) + sum(len(page.content or "") + len(page.snippet) for page in pages)
    if entailment is None and size > _IN_THREAD:
        try:
            fields, report = await workers.run(_VERIFY, {}, _JOB.dump_json((answer, tuple(pages))))
        except WorkTooHeavy as error:
            raise InvalidRequest("answer", "takes too long to check with its sources", "Check it in parts.") from error
        except WorkerUnavailable:
            pass  # a thread may hold up the loop for a while, but the answer is checked
        else:
            if "invalid" in fields:
                raise InvalidRequest(*fields["invalid"])
            return _REPORT.validate_json(report)
    return await asyncio.to_thread(verify_answer, answer, pages, entailment=entailment)


def verify_in_worker(_asked: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Check the answer that another process sent."""
    try:
        return {}, _REPORT.dump_json(verify_answer(*_JOB.validate_json(body)))
    except InvalidRequest as error:
        return {"invalid": (error.field, error.problem, error.fix)}, b""


def cited_numbers(answer: str) -> frozenset[int]:
    """Return the numbers that the marks of an answer name."""
    return frozenset(number for piece in find_marks(answer) if isinstance(piece, Mark) for number in piece.numbers)


def _warnings(known: Mapping[int, CitedPage], unknown: Iterable[int]) -> tuple[str, ...]:
    gone = [f"[{number}]" for number in unknown]
    if gone and not known:
        return ("no source of this session is known: the marks cannot be checked",)
    return (f"there is no source for {', '.join(gone)}",) if gone else ()


def _sentences(answer: str) -> list[_Sentence]:
    """Return the sentences of an answer with the numbers they cite; a line of marks alone belongs to the one before."""
    clean, cited, places = [], list[Mark](), list[int]()
    place = 0
    for piece in find_marks(answer):
        if isinstance(piece, Mark):
            cited.append(piece)
            places.append(place)
            clean.append(" " * len(piece.text))
            place += len(piece.text)
        else:
            clean.append(piece)
            place += len(piece)
    plain = blank_markup("".join(clean))
    found: list[tuple[TextSpan, dict[int, None]]] = []
    for span in sentences(answer):
        marks = cited[bisect_left(places, span.start) : bisect_left(places, span.end)]
        numbers = dict.fromkeys(number for mark in marks for number in mark.numbers)
        if squeezed(plain[span.start : span.end]):
            found.append((span, numbers))
        elif numbers and found:
            first, known = found[-1]
            found[-1] = (TextSpan(first.start, span.end), known)
            known.update(numbers)
    return [_sentence(answer, plain, span, tuple(numbers)) for span, numbers in found]


def _sentence(answer: str, plain: str, span: TextSpan, numbers: tuple[int, ...]) -> _Sentence:
    claim = Claim(plain[span.start : min(span.end, span.start + MAX_SENTENCE)].rstrip())
    return _Sentence(span.start, span.end, answer[span.start : span.end], claim, numbers)


def _judge(
    sentence: _Sentence,
    known: Mapping[int, CitedPage],
    indexes: dict[int, PageIndex],
    entailment: Entailment | None,
) -> Finding:
    blank = Finding(
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        sources=sentence.numbers,
        verdict="no_claim",
    )
    if not sentence.numbers:
        return blank if _asks(sentence.text) or not sentence.claim.states_facts else replace(blank, verdict="uncited")
    cited = [known[number] for number in sentence.numbers if number in known]
    if not cited:
        return replace(blank, verdict="unknown_source")
    findings = []
    for page in cited:
        if page.number not in indexes:
            indexes[page.number] = PageIndex(page.content if page.content is not None else page.snippet, page.title)
        finding = _against(sentence, page, indexes[page.number], blank)
        findings.append(_asked(finding, sentence, entailment) if entailment else finding)
    return min(findings, key=_rank)


def _asks(text: str) -> bool:
    return text.rstrip(' *_"”').endswith(("?", "？", ":"))


_ORDER: Final[Sequence[str]] = ("supported", "altered", "not_opened", "not_comparable", "not_found")


def _rank(finding: Finding) -> tuple[int, int, float]:
    return _ORDER.index(finding.verdict), len(finding.disagreements), -finding.share


def _against(sentence: _Sentence, page: CitedPage, index: PageIndex, blank: Finding) -> Finding:
    """Compare a sentence with one page."""
    notes = (_CHANGED,) if page.changed else (_NEWER,) if page.newer else ()
    claim = sentence.claim
    finding = replace(blank, source=page.number, notes=notes)
    passage, share = index.literally(claim.text.strip()), 1.0
    exact = literal = passage is not None
    if passage is None:
        passage, share = index.best(_told(claim.words, index))
        exact = _is_there(claim, index, passage, share)
    quotes = () if exact else tuple(quoted_otherwise(claim, index))
    if passage is not None:
        span = passage.span
        finding = replace(
            finding,
            passage=index.content[span.start : span.end],
            passage_start=span.start,
            passage_end=span.end,
            share=round(share, 3),
            exact=exact,
        )
    if exact and passage is not None:  # signs such as those of currencies are no letters
        signs = () if literal or not claim.numbers else disagreements(claim, passage)
        other = tuple(one for one in signs if one.kind in {"number", "unit"})
        return replace(finding, verdict="altered" if other else "supported", share=1.0, disagreements=other)
    enough = _FOUND if len(claim.words) > _SHORT else 0.6
    if passage is None or share < enough:
        return _missing(finding, page, claim, index, quotes)
    if share < _MOSTLY and (gap := _gap(claim, index, passage)):
        note = f"the page says a part of it, but nothing of this: {gap}"
        return replace(finding, verdict="not_found", disagreements=quotes, notes=(*finding.notes, note))
    differ: tuple[Disagreement, ...] = (*quotes, *disagreements(claim, passage))
    if differ:
        return replace(finding, verdict="altered", disagreements=differ)
    return replace(finding, verdict="supported")


def _is_there(claim: Claim, index: PageIndex, passage: IndexedPassage | None, share: float) -> bool:
    """Tell whether the page has a sentence in the same words."""
    if passage is None or share < _WHOLE:
        return False
    words = squeezed(claim.text)
    return words in squeezed(passage.around(1, 1).text) or words in index.squeezed


def _gap(claim: Claim, index: PageIndex, passage: IndexedPassage) -> str:
    """Return words of a sentence, several in a row, that stand neither near a passage nor together elsewhere."""
    near = set(words_of(passage.around(1, 1).text))
    runs: list[list[str]] = [[]]
    for word in _told(claim.words, index):
        if word in near:
            runs.append([])
        else:
            runs[-1].append(word)
    run = max(runs, key=len)
    if len(run) < _RUN:
        return ""
    spelled = {word: claim.words[word] for word in run}
    _, elsewhere = index.best(spelled)
    return " ".join(spelled.values()) if elsewhere < _TOGETHER else ""


def _told(words: Mapping[str, str], index: PageIndex) -> Mapping[str, str]:
    """Return a sentence's words without those that only say who says it, unless the page has them."""
    told = {form: word for form, word in words.items() if form not in _ATTRIBUTION or index.has(form, word)}
    return told or words


def _missing(
    finding: Finding, page: CitedPage, claim: Claim, index: PageIndex, quotes: tuple[Disagreement, ...]
) -> Finding:
    """Say why a sentence was not found."""
    if page.content is None:
        seen = "only a snippet of the page was seen" if page.snippet else "the page was not opened"
        note = _GONE if page.version else seen
        return replace(finding, verdict="not_opened", notes=(*finding.notes, note))
    if not comparable(claim.text, index.sample):
        return replace(
            finding, verdict="not_comparable", notes=(*finding.notes, "the page is in another language or script")
        )
    if quotes and any(quote.stated for quote in quotes):
        return replace(finding, verdict="altered", disagreements=quotes)
    return replace(finding, verdict="not_found", disagreements=quotes)


def _asked(finding: Finding, sentence: _Sentence, entailment: Entailment) -> Finding:
    """Let a model of the caller's judge what the rules could not, or found supported in other words."""
    if finding.exact or not finding.passage or finding.verdict not in {"supported", "not_found"}:
        return finding
    sure = entailment(finding.passage, sentence.claim.text.strip())
    if finding.verdict == "supported" and sure < _ENTAILED:
        said = Disagreement(kind="entailment", claimed=sentence.claim.text.strip(), stated=finding.passage)
        return replace(finding, verdict="altered", disagreements=(said,))
    if finding.verdict == "not_found" and sure > 0.9 and not finding.disagreements:
        return replace(finding, verdict="supported", notes=(*finding.notes, "a model says so; the words differ"))
    return finding
