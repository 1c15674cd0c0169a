"""What became of checking an answer, as data.

Sources that come in as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated_dataclass

from groundwire.errors import InvalidRequest

__all__ = ["CitedPage", "Disagreement", "Finding", "Kind", "Report", "Verdict", "pages_from_json"]

Verdict = Literal[
    "supported", "altered", "not_found", "not_opened", "unknown_source", "not_comparable", "uncited", "no_claim"
]
"""What is said of a sentence.

`supported`: the page says it. `altered`: the page says nearly that, but something disagrees. `not_found`: the page does
not say it. `not_opened`: only a snippet of the page was seen, and it does not say it. `unknown_source`: its mark has no
source. `not_comparable`: the page is in another language or script. `uncited`: it states facts and has no mark.
`no_claim`: it has no mark and states nothing that could be checked.
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
"""In what a sentence and its source disagree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPage:
    """What is known of a source."""

    number: int
    """The number it is cited by."""
    url: str
    """Its address."""
    title: str = ""
    """Its title."""
    content: str | None = None
    """The page as Markdown, as it was given to the model; None when it was not opened."""
    snippet: str = ""
    """What a search showed of it."""
    version: str = ""
    """The hash of the content, when it was opened."""
    changed: bool = False
    """Whether `content` is another version than the model saw, because that one is not kept any more."""
    newer: bool = False
    """Whether the page has changed since; `content` is what the model saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One thing in which a sentence and its source differ."""

    kind: Kind
    """What kind of thing."""
    claimed: str
    """What the answer says."""
    stated: str
    """What the page says in its place; empty when nothing there is like it."""
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
    """One sentence of the answer, and what was found about it."""

    start: int
    """Its first code point in the answer."""
    end: int
    """The code point after its last."""
    text: str
    """The sentence with its marks."""
    sources: tuple[int, ...]
    """The numbers it cites."""
    verdict: Verdict
    """What is said of it."""
    source: int | None = None
    """The source that was found to say it, or to say nearly that."""
    passage: str = ""
    """What the page says, word for word."""
    passage_start: int | None = None
    """The passage's first code point in the page's Markdown."""
    passage_end: int | None = None
    """The code point after its last."""
    exact: bool = False
    """Whether the page says it in the same words."""
    share: float = 0.0
    """How much of the sentence's words, by weight, the passage has: 0 to 1."""
    disagreements: tuple[Disagreement, ...] = ()
    """In what they differ."""
    notes: tuple[str, ...] = ()
    """What else should be known, such as that the page has changed since."""
    unsupporting: tuple[int, ...] = ()
    """The numbers that a supported sentence cites though their pages do not say it."""
    confidence: float = 0.0
    """How sure the verdict is: 0 to 1. It ranks findings; it is no probability."""
    reason: str = ""
    """Why, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of every sentence of an answer."""

    findings: tuple[Finding, ...]
    """One a sentence, in order."""
    unknown: tuple[int, ...]
    """The numbers in marks that no source has."""
    warnings: tuple[str, ...] = ()
    """What holds for the answer as a whole."""

    @property
    def supported(self) -> bool:
        """Whether every sentence with a mark is supported."""
        return all(finding.verdict == "supported" for finding in self.findings if finding.sources)

    def count(self, verdict: Verdict) -> int:
        """Return how many sentences got a verdict."""
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
    """Return sources from a JSON list of objects, or from an object with such a list as `sources` or `results`.

    Each has a `number` (or `citation_id`, as our tools say) and what is known of `url`, `title`, `content` and
    `snippet`; other members are ignored.

    Raises:
        InvalidRequest: it is no such list; the text says where.
    """
    form = 'Pass [{"number": 1, "url": "https://…", "content": "…"}].'
    try:
        whole = TypeAdapter(list[_Given] | _ReportResult).validate_json(text)
    except (ValidationError, RecursionError) as error:
        first = error.errors(include_url=False, include_input=False)[0] if isinstance(error, ValidationError) else None
        where = f" ({'.'.join(map(str, first['loc']))}: {first['msg']})" if first else ""
        raise InvalidRequest("sources", f"are not a JSON list of sources{where}", form) from error
    pages = []
    rows = whole if isinstance(whole, list) else whole.results or whole.sources
    for place, row in enumerate(rows, start=1):
        number = row.number if row.number is not None else row.citation_id
        if number is None:
            raise InvalidRequest("sources", f"have no number in entry {place}", form)
        pages.append(CitedPage(number=number, url=row.url, title=row.title, content=row.content, snippet=row.snippet))
    return tuple(pages)
