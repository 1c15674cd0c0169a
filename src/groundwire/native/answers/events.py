"""What a streamed answer says while it comes."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire.native.answers.model import HostedAnswer, HostedCitation, HostedError, HostedSource, HostedUsage

__all__ = [
    "AnswerEvent",
    "CitationAdded",
    "Ended",
    "ErrorMet",
    "PageOpened",
    "QueryIssued",
    "SourceFound",
    "TextAdded",
    "UsageReported",
]


@dataclass(frozen=True, slots=True)
class TextAdded:
    """More of the answer's text; all of them joined are the text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class QueryIssued:
    """The model searches for these words."""

    query: str


@dataclass(frozen=True, slots=True)
class SourceFound:
    """A page was found or fetched."""

    source: HostedSource


@dataclass(frozen=True, slots=True)
class PageOpened:
    """The model opened a page."""

    url: str


@dataclass(frozen=True, slots=True)
class CitationAdded:
    """The answer cites a page; spans that depend on the whole text come at its end."""

    citation: HostedCitation


@dataclass(frozen=True, slots=True)
class ErrorMet:
    """Something went wrong; the answer may go on."""

    error: HostedError


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What the answer cost."""

    usage: HostedUsage


@dataclass(frozen=True, slots=True)
class Ended:
    """The stream is over; this is the whole answer, as `read_answer` gives it for the whole body."""

    answer: HostedAnswer


AnswerEvent = TextAdded | QueryIssued | SourceFound | PageOpened | CitationAdded | ErrorMet | UsageReported | Ended
"""Any of them."""
