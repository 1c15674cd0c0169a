"""Verification of an answer against the pages it cites, without a model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import Any, Final

from pydantic import TypeAdapter

from groundwire.citations.verify.alignment import Alignment, align
from groundwire.citations.verify.cited_parts import clauses, name_of_site, parts_by_page, unattributed
from groundwire.citations.verify.conditions import overstated
from groundwire.citations.verify.entities import same_date, same_number, same_quantity
from groundwire.citations.verify.facts import Claim, disagreements, quoted_otherwise
from groundwire.citations.verify.language_detection import language_of
from groundwire.citations.verify.language_packs import VOWEL_MARKS, Language, language
from groundwire.citations.verify.limits import check_size
from groundwire.citations.verify.passage_index import IndexedPassage, PageIndex
from groundwire.citations.verify.report import CitedPage, Disagreement, Finding, Report, Verdict, weighed
from groundwire.citations.verify.report_rendering import explained
from groundwire.citations.verify.segmentation import CitedSentence, Part, sentences_of, squeezed
from groundwire.citations.verify.word_order import loose_end, lost_run, spliced
from groundwire.errors import InvalidRequest
from groundwire.reading.workers.pool import Workers, WorkerUnavailable, WorkTooHeavy

__all__ = ["Entailment", "verify_answer", "verify_in_worker", "verify_off_loop"]

Entailment = Callable[[str, str], float]
"""An entailment model: takes a passage and a sentence and returns the probability that the passage states it."""

_FOUND: Final = 0.5  # share of a sentence's words, by weight, that its passage must have
_ANCHORED: Final = 0.25  # the same of one whose numbers and dates are all there
_ENTAILED: Final = 0.5
_VALUES = frozenset({"number", "unit", "quantifier"})  # kinds of differences that no other word explains
_MOSTLY: Final = 0.8  # share below which a sentence may be in another language than its page
_ALL: Final = 0.95  # share below which a part of a sentence may come from elsewhere
_RUN: Final = 4  # consecutive missing words from which it does
_TOGETHER: Final = 0.7  # share of those that another passage must have
_WHOLE: Final = 0.97  # share from which it may be there in the same words
_SHORT: Final = 4  # words; a shorter sentence must be there in full
_ACROSS: Final = 0.7  # confidence that a figure is missing from a page in another language
_HEADING: Final = re.compile(r"#{1,6}[ \t]|(\*\*|__)[^*_\n]*[^*_.!?。\n]\1:?$")
_Claims = Callable[[str, Language], Claim]
_RATHER: Final[Mapping[str, float]] = {"order": 0.6, "name": 0.4}  # share of all words from which it is a change
_JOB: Final = TypeAdapter(tuple[str, tuple[CitedPage, ...]])
_REPORT: Final = TypeAdapter(Report)
MAX_COMPARISONS: Final = 5_000
"""Sentences of an answer, or parts of them with separate citations, counted once per cited source."""
_CHANGED: Final = "the page has changed since it was read, and its old content is not stored; this is the new one"
_NEWER: Final = "the page has changed since it was read; this is what it said then"
_GONE: Final = "the page was opened, but its content is not stored any more"


def verify_answer(answer: str, pages: Iterable[CitedPage], *, entailment: Entailment | None = None) -> Report:
    """Verify each sentence of an answer against the page it cites.

    The rules are lexical: a sentence is compared with the passage that has most of its words, and numbers, units,
    dates, names, negations and quotations must agree. A free paraphrase is reported as not found, never guessed. The
    same answer and pages always give the same report.

    Args:
        answer: The answer in Markdown, with its markers.
        pages: The sources by number.
        entailment: Called for each sentence that the rules find supported or do not find; a probability below one half
            removes support, one above nine tenths adds it, unless a fact disagrees.

    Returns:
        A finding for each sentence. Of a longer sentence, the first 4,000 characters are compared, and the first 200
        numbers as values.

    Raises:
        InvalidRequest: more than 5,000 sentences would have to be compared with sources.
    """
    known = {page.number: page for page in reversed(list(pages))}
    indexes: dict[int, PageIndex] = {}
    findings = []
    unknown: dict[int, None] = {}
    asserted = sentences_of(answer)
    compared = sum(number in known for sentence in asserted for part in sentence.parts for number in part.numbers)
    if compared > MAX_COMPARISONS:
        raise InvalidRequest(
            "answer",
            f"has {compared:,} sentences and sources to compare, and at most {MAX_COMPARISONS:,} are",
            "Check it in parts.",
        )
    for sentence in asserted:
        unknown.update(dict.fromkeys(number for number in sentence.numbers if number not in known))
        finding = _judge(sentence, known, indexes, entailment)
        findings.append(explained(finding, sentence, indexes.get(finding.source or 0)))
    return Report(findings=tuple(findings), unknown=tuple(unknown), warnings=_warnings(known, unknown))


_IN_THREAD: Final = 2_000  # characters of an answer and its sources that take a few milliseconds
_VERIFY: Final = "groundwire.citations.verify.verifier:verify_in_worker"


async def verify_off_loop(
    workers: Workers, answer: str, pages: Sequence[CitedPage], *, entailment: Entailment | None = None
) -> Report:
    """Run `verify_answer` without blocking the event loop: a long answer is verified in another process.

    A canceled call leaves no process running. The caller's model is called in a thread.

    Args:
        workers: The worker processes.
        answer: The answer.
        pages: The sources by number.
        entailment: An entailment model.

    Raises:
        InvalidRequest: the answer is too long to verify.
    """
    check_size(answer, pages)
    size = len(answer) + sum(len(page.content or "") + len(page.snippet) for page in pages)
    if entailment is None and size > _IN_THREAD:
        try:
            fields, report = await workers.run(_VERIFY, {}, _JOB.dump_json((answer, tuple(pages))))
        except WorkTooHeavy as error:
            raise InvalidRequest("answer", "takes too long to check with its sources", "Check it in parts.") from error
        except WorkerUnavailable:
            pass  # a thread may block the loop for a while, but the answer is verified
        else:
            if "invalid" in fields:
                raise InvalidRequest(*fields["invalid"])
            return _REPORT.validate_json(report)
    return await asyncio.to_thread(verify_answer, answer, pages, entailment=entailment)


def verify_in_worker(_asked: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Verify the answer sent by another process."""
    try:
        return {}, _REPORT.dump_json(verify_answer(*_JOB.validate_json(body)))
    except InvalidRequest as error:
        return {"invalid": (error.field, error.problem, error.fix)}, b""


def _warnings(known: Mapping[int, CitedPage], unknown: Iterable[int]) -> tuple[str, ...]:
    gone = [f"[{number}]" for number in unknown]
    if gone and not known:
        return ("no source of this session is known: the markers cannot be checked",)
    return (f"there is no source for {', '.join(gone)}",) if gone else ()


def _judge(
    sentence: CitedSentence,
    known: Mapping[int, CitedPage],
    indexes: dict[int, PageIndex],
    entailment: Entailment | None,
) -> Finding:
    blank = Finding(
        start=sentence.start, end=sentence.end, text=sentence.text, sources=sentence.numbers, verdict="no_claim"
    )
    if not sentence.numbers:
        states = Claim(sentence.plain, language(language_of(sentence.plain)[0])).states_facts
        return blank if _asserts_nothing(sentence.text) or not states else replace(blank, verdict="uncited")
    for number in sentence.numbers:
        if number in known and number not in indexes:
            page = known[number]
            content = page.content if page.content is not None else page.snippet
            indexes[number] = PageIndex(content, f"{page.title} {name_of_site(page.url)}".strip())
    if not any(number in known for number in sentence.numbers):
        return replace(blank, verdict="unknown_source")
    judged: list[Finding] = []
    saying: set[int] = set()
    for part in sentence.parts:
        pages = [known[number] for number in part.numbers if number in known]
        if not pages:
            judged.append(replace(blank, verdict="unknown_source"))
            continue
        finding, by = _of_part(part, pages, indexes, blank, entailment)
        judged.append(finding)
        saying |= by
    finding = max(judged, key=lambda one: (one.verdict == "altered", _rank(one)))  # a contradiction comes first
    if finding.verdict == "supported":
        others = tuple(number for number in sentence.numbers if number in known and number not in saying)
        told = [f"[{number}] does not say it" for number in others]
        sure = min(one.confidence for one in judged)
        finding = replace(judged[0], unsupporting=others, notes=(*judged[0].notes, *told), confidence=sure)
    return finding


def _of_part(
    part: Part,
    pages: Sequence[CitedPage],
    indexes: Mapping[int, PageIndex],
    blank: Finding,
    entailment: Entailment | None,
) -> tuple[Finding, set[int]]:
    """Judge one part of a sentence; return the finding and the numbers of the pages that support it or a part of it."""
    claims = cache(lambda said, tongue: Claim(said.translate(VOWEL_MARKS), tongue))

    def judge(text: str, page: CitedPage) -> Finding:
        finding = _against(text, claims, page, indexes[page.number], blank)
        return _asked(finding, text, entailment) if entailment else finding

    findings = [judge(part.text, page) for page in pages]
    saying = {one.source for one in findings if one.source is not None and one.verdict == "supported"}
    best = min(findings, key=_rank)
    if saying and best.share >= _ALL:
        return best, saying
    if len(pages) == 1:
        best = _in_pieces(part.text, claims, pages[0], indexes[pages[0].number], best, blank)
        return best, {pages[0].number} if best.verdict == "supported" else set()
    told = [judge(text, page) for text, page in parts_by_page(part.text, pages, indexes)]
    if len(told) < 2:
        return best, saying
    worst = max(told, key=_rank)
    if worst.verdict != "supported":
        return worst, set()
    sure = min(one.confidence for one in told)
    return replace(told[0], confidence=sure), {one.source for one in told if one.source is not None}


def _in_pieces(text: str, claims: _Claims, page: CitedPage, index: PageIndex, best: Finding, blank: Finding) -> Finding:
    """Return the finding on a sentence that is not on a page as a whole, but may be in parts."""
    pieces = clauses(text)
    if len(pieces) < 2 or best.verdict != "not_found" or any(one.stated for one in best.disagreements):
        return best
    compared = (_against(piece, claims, page, index, blank) for piece in pieces)
    told = list(takewhile(lambda one: one.verdict == "supported", compared))
    if len(told) < len(pieces) or len({one.passage_start for one in told}) < 2:
        return best
    shares = [one.share for one in told]
    if max(shares) >= _ALL and min(shares) < _TOGETHER:  # the rest is not in the page's words, as the copy is
        return best
    return replace(told[0], confidence=min(one.confidence for one in told))


def _asserts_nothing(text: str) -> bool:
    """Return whether a sentence is a heading or a question, introduces something, or is a code span."""
    bare = text.strip(" .,;:!")
    is_code = bare[:1] == bare[-1:] == "`" and "`" not in bare.strip("`")
    return is_code or bool(_HEADING.match(text)) or text.rstrip(' *_"”').endswith(("?", "？", ":"))


_ORDER: Final = ("supported", "unknown_source", "altered", "not_opened", "not_comparable", "not_found")


def _rank(finding: Finding) -> tuple[int, int, float]:
    return _ORDER.index(finding.verdict), len(finding.disagreements), -finding.share


def _against(text: str, claims: _Claims, page: CitedPage, index: PageIndex, blank: Finding) -> Finding:
    """Compare a sentence, or a part of one, with one page."""
    finding, aligned = _compared(text, claims, page, index, blank)
    judged = finding.verdict in {"supported", "altered", "not_found"} and not finding.exact
    return weighed(finding, aligned) if judged and aligned and not finding.confidence else finding


def _compared(
    text: str, claims: _Claims, page: CitedPage, index: PageIndex, blank: Finding
) -> tuple[Finding, Alignment | None]:
    """Return what the rules find, and the word alignment that they used."""
    notes = (_CHANGED,) if page.changed else (_NEWER,) if page.newer else ()
    tongue = index.language
    text = " ".join(text.split())  # markup and line breaks leave gaps
    claim, finding = claims(text, tongue), replace(blank, source=page.number, notes=notes)
    passage, share = index.literally(text), 1.0
    exact = literal = passage is not None
    if passage is None:
        if (bare := unattributed(text, index)) != text:
            text, claim = bare, claims(bare, tongue)
        passage, share = index.best(_told(claim.words, index), also=claim.digits)
        exact = _is_there(claim, index, passage, share)
    quotes = () if exact else tuple(quoted_otherwise(claim, index))
    aligned = align(claim.tokens, passage.tokens, tongue) if passage is not None and not exact else None
    if aligned and _ANCHORED <= aligned.share < _MOSTLY:
        second, _ = index.best(_told(claim.words, index), also=claim.digits, related=True)
        if second is not None and (passage is None or second.span != passage.span):
            again = align(claim.tokens, second.tokens, tongue)
            if again.share > aligned.share:
                passage, aligned = second, again
    share = max(share, 0.95 * aligned.share) if aligned else share
    if passage is not None:
        span = passage.span
        finding = replace(
            finding,
            passage=index.content[span.start : span.end],
            passage_start=span.start,
            passage_end=span.end,
            share=round(share, 3),
            exact=exact,
            confidence=float(exact),
        )
    if exact and passage is not None:  # characters such as currency signs are not letters
        aligned = align(claim.tokens, passage.tokens, tongue) if claim.numbers else None
        signs = disagreements(claim, passage, aligned, words=False) if aligned and not literal else ()
        parts = overstated(aligned) if aligned else ()
        other = tuple(one for one in (*signs, *parts) if one.kind in _VALUES)
        verdict: Verdict = "altered" if other else "supported"
        return replace(finding, verdict=verdict, share=1.0, disagreements=other), aligned
    if passage is not None and (end := spliced(text, index)):
        return replace(finding, verdict="altered", disagreements=(*quotes, end)), aligned
    if share < _MOSTLY and not index.may_say(text, doubt=share >= _FOUND):
        return _missing(finding, page, text, index, quotes), aligned
    enough = _FOUND if len(claim.words) > _SHORT else 0.6
    if passage is None or aligned is None or share < (_ANCHORED if aligned.anchored else enough):
        return _missing(finding, page, text, index, quotes), aligned
    if share < _ALL and (gap := _gap(index, passage, aligned) or loose_end(text, passage, aligned)):
        told = disagreements(claim, passage, aligned, words=False)
        other = tuple(one for one in told if one.kind in _VALUES or (one.kind == "name" and aligned.copies))
        if any(_is_evident(one, aligned) for one in other):
            return replace(finding, verdict="altered", disagreements=(*quotes, *other)), aligned
        note = f"the page says a part of it, but nothing of this: {gap}"
        return replace(finding, verdict="not_found", disagreements=quotes, notes=(*finding.notes, note)), aligned
    differ = (*quotes, *disagreements(claim, passage, aligned, words=not quotes))
    verdict = "altered" if any(_is_evident(one, aligned) for one in differ) else "not_found" if differ else "supported"
    return replace(finding, verdict=verdict, disagreements=differ), aligned


def _is_evident(one: Disagreement, aligned: Alignment) -> bool:
    """Return whether a difference contradicts a sentence: it has a counterpart, or all else is in the page's words."""
    words = map(aligned.tongue.normal_form, (one.claimed, one.stated))
    synonym = one.kind == "word" and not aligned.tongue.exclude(*words)
    if synonym or (not one.stated and one.kind in {"quantifier", "modal"}):  # the page may say so otherwise
        return False
    if not one.stated:
        return aligned.copies or one.kind == "quote"
    return aligned.copies or aligned.strict_share >= _RATHER.get(one.kind, 0.0)


def _is_there(claim: Claim, index: PageIndex, passage: IndexedPassage | None, share: float) -> bool:
    """Return whether the page has a sentence in the same words."""
    if passage is None or share < _WHOLE:
        return False
    words = squeezed(claim.text)
    for said in (squeezed(passage.around(1, 1).text), index.squeezed) if words else ():
        if (at := said.find(words)) >= 0:
            return not index.language.ends_denying(said[max(0, at - 20) : at])
    return False


def _gap(index: PageIndex, passage: IndexedPassage, aligned: Alignment) -> str:
    """Return consecutive words of a sentence that are neither near a passage nor together elsewhere."""
    tongue = index.language
    least = _RUN if not tongue.dense else 2 * _RUN
    run = lost_run(aligned, frozenset())
    if len(run) >= least:
        run = lost_run(aligned, frozenset(key for token in passage.around(1, 1).tokens for key in token.keys))
    if len(run) < least:
        return ""
    _, elsewhere = index.best({tongue.normal_form(word): word for word in run})
    return ("" if tongue.dense else " ").join(run) if elsewhere < _TOGETHER else ""


def _told(words: Mapping[str, str], index: PageIndex) -> Mapping[str, str]:
    """Return a sentence's words without attributions, unless the page has those words."""
    said = index.language.attribution
    told = {form: word for form, word in words.items() if form not in said or index.has(form, word)}
    return told or words


def _missing(
    finding: Finding, page: CitedPage, text: str, index: PageIndex, quotes: tuple[Disagreement, ...]
) -> Finding:
    """Return a finding with the reason why a sentence was not found."""
    if page.content is None:
        seen = "only a snippet of the page was seen" if page.snippet else "the page was not opened"
        note = _GONE if page.version else seen
        return replace(finding, verdict="not_opened", notes=(*finding.notes, note))
    if not index.may_say(text):
        finding = replace(finding, notes=(*finding.notes, "the page is in another language or script"))
        other = tuple(_figures(text, index))
        verdict: Verdict = "altered" if other else "not_comparable"
        return replace(finding, verdict=verdict, disagreements=other, confidence=_ACROSS if other else 0.0)
    if quotes and any(quote.stated for quote in quotes):
        return replace(finding, verdict="altered", disagreements=quotes)
    return replace(finding, verdict="not_found", disagreements=quotes)


def _figures(text: str, index: PageIndex) -> Iterator[Disagreement]:
    """Yield the numbers and dates of a sentence that are missing from a page in another language."""
    tongue = language(language_of(text)[0])
    claim = Claim(text, tongue)
    for date in claim.dates:
        if not any(same_date(date, other) for other in index.figures[1]):
            yield Disagreement(kind="date", claimed=date.text, stated="")
    for number in claim.numbers:
        if number.amount > 1 and not any(
            same_number(number, one) or same_quantity(number, one) for one in index.figures[0]
        ):
            yield Disagreement(kind="number", claimed=number.text, stated="")


def _asked(finding: Finding, text: str, entailment: Entailment) -> Finding:
    """Apply the caller's model to sentences that are not found, or supported in other words."""
    if finding.exact or not finding.passage or finding.verdict not in {"supported", "not_found"}:
        return finding
    sure = entailment(finding.passage, text.strip())
    if finding.verdict == "supported" and sure < _ENTAILED:
        said = Disagreement(kind="entailment", claimed=text.strip(), stated=finding.passage)
        return replace(finding, verdict="altered", disagreements=(said,), confidence=1.0 - sure)
    if finding.verdict == "not_found" and sure > 0.9 and not finding.disagreements:
        notes = (*finding.notes, "a model says so; the words differ")
        return replace(finding, verdict="supported", notes=notes, confidence=sure)
    return finding
