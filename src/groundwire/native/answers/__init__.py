"""Answers of model APIs that searched the web by themselves, in one shape.

`read_answer` reads a whole body, `AnswerStream` and `stream_answer` read a stream, `resolve_redirects` finds the
pages behind redirecting links, and `audit` checks what was cited against domain lists.
"""

from __future__ import annotations

from groundwire.native.answers.audit import Audit, audit
from groundwire.native.answers.events import (
    AnswerEvent,
    CitationAdded,
    Ended,
    ErrorMet,
    PageOpened,
    QueryIssued,
    SourceFound,
    TextAdded,
    UsageReported,
)
from groundwire.native.answers.model import (
    HostedAnswer,
    HostedCall,
    HostedCitation,
    HostedError,
    HostedSource,
    HostedUsage,
)
from groundwire.native.answers.reading import AnswerApi, read_answer
from groundwire.native.answers.redirects import resolve_redirects
from groundwire.native.answers.stream import AnswerStream, stream_answer

__all__ = [
    "AnswerApi",
    "AnswerEvent",
    "AnswerStream",
    "Audit",
    "CitationAdded",
    "Ended",
    "ErrorMet",
    "HostedAnswer",
    "HostedCall",
    "HostedCitation",
    "HostedError",
    "HostedSource",
    "HostedUsage",
    "PageOpened",
    "QueryIssued",
    "SourceFound",
    "TextAdded",
    "UsageReported",
    "audit",
    "read_answer",
    "resolve_redirects",
    "stream_answer",
]
