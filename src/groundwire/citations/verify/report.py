"""The report on a verified answer, as data, and the parser for sources in JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, TypeAdapter, ValidationError

from groundwire.errors import InvalidRequest

Verdict = Literal[
    "supported", "contradicted", "not_found", "not_opened", "unknown_source", "not_comparable", "uncited", "no_claim"
]
"""The verdict on a sentence.

`supported`: the page states it. `contradicted`: the page has nearly the same words, with another number, date, unit or
quoted text, or denies it; or the sentence quotes what the page does not have. `not_found`: the page does not state it,
as far as words tell. `not_opened`: only a snippet of the page was seen, which does not state it. `unknown_source`: its
marker has no source. `not_comparable`: the page is in another language or script. `uncited`: it states something
without a marker. `no_claim`: it has no marker and states nothing that could be verified.
"""

Kind = Literal["quote", "number", "unit", "date", "negation"]
"""The kind of a disagreement between a sentence and its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPage:
    """A source."""

    number: Annotated[int, Field(validation_alias=AliasChoices("number", "citation_id"))]
    """Its number in citations."""
    url: str = ""
    """Its URL; empty if it has none."""
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
    """The source that supports or contradicts it, or has most of its words."""
    passage: str = ""
    """The passage, verbatim."""
    passage_start: int | None = None
    """The passage's first code point in the page's Markdown."""
    passage_end: int | None = None
    """The code point after its last."""
    exact: bool = False
    """Whether the page states it in the same words."""
    probability: float | None = None
    """The probability that the pages support it, 0 to 1, if half of such sentences are supported.

    It is calibrated on claims that people judged; None if no page was compared.
    """
    judge: Literal["words", "model"] = "words"
    """What the verdict rests on: the words of the page, or the judgment of a model."""
    disagreements: tuple[Disagreement, ...] = ()
    """The differences."""
    notes: tuple[str, ...] = ()
    """Further remarks, such as that the page has changed since."""
    unsupporting: tuple[int, ...] = ()
    """The cited numbers of a supported sentence whose pages do not support it."""
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


@dataclass(frozen=True)
class _Listing:
    results: tuple[CitedPage, ...] = ()
    sources: tuple[CitedPage, ...] = ()


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
        value = TypeAdapter(tuple[CitedPage, ...] | _Listing).validate_json(text)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        if unnumbered := next((row["loc"] for row in problems if row["type"] == "missing"), ()):
            raise InvalidRequest("sources", f"have no number in entry {int(unnumbered[-2]) + 1}", form) from error
        where = ": ".join(filter(None, (".".join(map(str, problems[0]["loc"])), problems[0]["msg"])))
        raise InvalidRequest("sources", f"are not a JSON list of sources ({where})", form) from error
    return value if isinstance(value, tuple) else value.results or value.sources
