"""The report on a verified answer, as data, the confidence of a finding, and the parser for sources in JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from types import MappingProxyType
from typing import Final, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated_dataclass

from groundwire.citations.verify.alignment import Alignment
from groundwire.citations.verify.language_packs import fold
from groundwire.errors import InvalidRequest

__all__ = [
    "CitedPage", "Disagreement", "Finding", "Kind", "Report", "Verdict", "evidence", "pages_from_json", "weighed",
]  # fmt: skip

Verdict = Literal[
    "supported", "altered", "not_found", "not_opened", "unknown_source", "not_comparable", "uncited", "no_claim"
]
"""The verdict on a sentence.

`supported`: the page states it. `altered`: the page states nearly that, but something disagrees. `not_found`: the page
does not state it. `not_opened`: only a snippet of the page was seen, which does not state it. `unknown_source`: its
marker has no source. `not_comparable`: the page is in another language or script. `uncited`: it states facts without a
marker. `no_claim`: it has no marker and states nothing that could be verified.
"""

Kind = Literal[
    "quote",
    "number",
    "unit",
    "date",
    "name",
    "negation",
    "opposite",
    "quantifier",
    "modal",
    "comparison",
    "word",
    "order",
    "entailment",
]
"""The kind of a disagreement between a sentence and its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPage:
    """A source."""

    number: int
    """Its number in citations."""
    url: str
    """Its URL."""
    title: str = ""
    """Its title."""
    content: str | None = None
    """The page as Markdown, as given to the model; None if it was not opened."""
    snippet: str = ""
    """Its snippet in a search result."""
    version: str = ""
    """The hash of the content, if it was opened."""
    changed: bool = False
    """Whether `content` is another version than the model saw, because that one is no longer stored."""
    newer: bool = False
    """Whether the page has changed since; `content` is the version that the model saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A difference between a sentence and its source."""

    kind: Kind
    """The kind of difference."""
    claimed: str
    """The text in the answer."""
    stated: str
    """The corresponding text on the page; empty if there is none."""
    source: int | None = None
    """The number of that page."""
    claimed_start: int | None = None
    """Its position in the answer: the index of its first code point."""
    claimed_end: int | None = None
    """The code point after its last."""
    stated_start: int | None = None
    """Its position in the page's Markdown: the index of its first code point."""
    stated_end: int | None = None
    """The code point after its last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One sentence of the answer, and its verdict."""

    start: int
    """Its first code point in the answer."""
    end: int
    """The code point after its last."""
    text: str
    """The sentence with its markers."""
    sources: tuple[int, ...]
    """The numbers it cites."""
    verdict: Verdict
    """The verdict."""
    source: int | None = None
    """The source that supports it, or nearly does."""
    passage: str = ""
    """The passage, verbatim."""
    passage_start: int | None = None
    """The passage's first code point in the page's Markdown."""
    passage_end: int | None = None
    """The code point after its last."""
    exact: bool = False
    """Whether the page states it in the same words."""
    share: float = 0.0
    """The share of the sentence's words, by weight, that the passage has: 0 to 1."""
    disagreements: tuple[Disagreement, ...] = ()
    """The differences."""
    notes: tuple[str, ...] = ()
    """Further remarks, such as that the page has changed since."""
    unsupporting: tuple[int, ...] = ()
    """The cited numbers of a supported sentence whose pages do not support it."""
    confidence: float = 0.0
    """The probability that the verdict is right, 0 to 1, if half of the sentences are true; 1 if it is certain."""
    reason: str = ""
    """The reason, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The verdicts on all sentences of an answer."""

    findings: tuple[Finding, ...]
    """One per sentence, in order."""
    unknown: tuple[int, ...]
    """The cited numbers that have no source."""
    warnings: tuple[str, ...] = ()
    """Warnings about the answer as a whole."""

    @property
    def supported(self) -> bool:
        """Whether every sentence with a marker is supported."""
        return all(finding.verdict == "supported" for finding in self.findings if finding.sources)

    def count(self, verdict: Verdict) -> int:
        """Return how many sentences have a verdict."""
        return sum(finding.verdict == verdict for finding in self.findings)


@validated_dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="ignore", strict=True))
class _Given:
    number: int | None = None
    citation_id: int | None = None
    url: str = ""
    title: str = ""
    content: str | None = None
    snippet: str = ""


@validated_dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="ignore", strict=True))
class _ReportResult:
    results: list[_Given] = field(default_factory=list)
    sources: list[_Given] = field(default_factory=list)


def pages_from_json(text: str) -> tuple[CitedPage, ...]:
    """Parse sources from a JSON list of objects, an object with such a list as `sources` or `results`, or JSON lines.

    Each has a `number` (or `citation_id`, as in tool results) and any of `url`, `title`, `content` and `snippet`; other
    members are ignored.

    Raises:
        InvalidRequest: it is not such a list; the message says where.
    """
    lines = text.strip().splitlines()
    if lines and all(line.startswith('{"citation_id"') for line in lines):  # of groundwire search --json
        text = f"[{','.join(lines)}]"
    form = 'Pass [{"number": 1, "url": "https://…", "content": "…"}].'
    try:
        whole = TypeAdapter(list[_Given] | _ReportResult).validate_json(text)
    except (ValidationError, RecursionError) as error:
        first = error.errors(include_url=False, include_input=False)[0] if isinstance(error, ValidationError) else None
        where = f" ({': '.join(filter(None, ('.'.join(map(str, first['loc'])), first['msg'])))})" if first else ""
        raise InvalidRequest("sources", f"are not a JSON list of sources{where}", form) from error
    pages = []
    rows = whole if isinstance(whole, list) else whole.results or whole.sources
    for place, row in enumerate(rows, start=1):
        number = row.number if row.number is not None else row.citation_id
        if number is None:
            raise InvalidRequest("sources", f"have no number in entry {place}", form)
        pages.append(CitedPage(number=number, url=row.url, title=row.title, content=row.content, snippet=row.snippet))
    return tuple(pages)


_SYNONYM: Final = 0.45  # confidence that a sentence with another word than the page's is not what the page says
_OWN_WORDS: Final = 0.6  # share of its tokens that are the page's, below which a sentence is in other words
_LITTLE: Final = 0.3  # share of a sentence's words, by weight
_BRIEF: Final = 4  # words of a sentence
_LOST: Final = 8  # words without a counterpart that are compared by their letters
_FREE: Final = 100  # words of a passage that they are compared with
_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "every sentence": 1.81,
        "altered": -2.65,
        "not found": -1.81,
        "copies": -0.37,
        "copies and differs": -1.30,
        "brief": -0.71,
        "little found": -1.30,
        "missing in a row": -2.08,
        "last word missing": -0.75,
        "numbers found": 1.55,
        "opposite": -1.32,
        "word": -0.70,
        "flagged, in other words": 1.24,
        "flagged, letters in common": -1.64,
    }
)
"""How much each piece of evidence adds to the logit of the probability that the page states a sentence.

Fitted by logistic regression to the tuning halves of the hand-written sentences and to sentences changed by rule.
"""


def weighed(finding: Finding, aligned: Alignment) -> Finding:
    """Return a finding with its confidence: the probability that its verdict is right."""
    told = evidence(finding, aligned)
    stated = 1.0 / (1.0 + math.exp(-sum(weight * told[name] for name, weight in _WEIGHTS.items())))
    sure = stated if finding.verdict == "supported" else 1.0 - stated
    if finding.verdict == "not_found" and {one.kind for one in finding.disagreements} == {"word"}:
        sure = min(sure, _SYNONYM)
    return replace(finding, confidence=sure)


def evidence(finding: Finding, aligned: Alignment) -> dict[str, float]:
    """Return the evidence for and against a sentence, by the names of the weights.

    Args:
        finding: The verdict of the rules.
        aligned: The word alignment with the passage.
    """
    words = [at for at, token in enumerate(aligned.claim) if token.kind in {"word", "number"}]
    lost = [at for at in words if at not in aligned.pairs and aligned.claim[at].key not in aligned.tongue.attribution]
    runs = (len(list(run)) for is_lost, run in groupby(words, frozenset(lost).__contains__) if is_lost)
    numbers = sum(aligned.claim[at].value is not None for at in aligned.pairs)
    kinds = {one.kind for one in finding.disagreements}
    flagged = finding.verdict != "supported"
    return {
        "every sentence": 1.0,
        "altered": finding.verdict == "altered",
        "not found": finding.verdict == "not_found",
        "copies": aligned.copies,
        "copies and differs": aligned.copies and bool(kinds),
        "brief": len(words) <= _BRIEF,
        "little found": finding.share < _LITTLE,
        "missing in a row": min(max(runs, default=0) / 6, 1.0),
        "last word missing": bool(lost) and lost[-1] == words[-1],
        "numbers found": min(numbers / 3, 1.0),
        "opposite": aligned.literal_share * ("opposite" in kinds),
        "word": aligned.literal_share * ("word" in kinds),
        "flagged, in other words": flagged and aligned.literal_share < _OWN_WORDS,
        "flagged, letters in common": _likeness(aligned, lost) if flagged else 0.0,
    }


def _likeness(aligned: Alignment, lost: Sequence[int]) -> float:
    """Return the trigrams that the least similar missing word has in common with any free word of the page, 0 to 1."""
    free = (token.text for at, token in enumerate(aligned.page) if token.kind == "word" and at not in aligned.back)
    others = [_trigrams(word) for word in islice(free, _FREE)]
    mine = [_trigrams(aligned.claim[at].text) for at in lost[:_LOST] if aligned.claim[at].kind == "word"]
    shares = (max((len(one & other) / len(one | other) for other in others), default=0.0) for one in mine)
    return min(shares, default=1.0)


def _trigrams(word: str) -> frozenset[str]:
    text = f"^{fold(word)}$"
    return frozenset(text[at : at + 3] for at in range(max(1, len(text) - 2)))
