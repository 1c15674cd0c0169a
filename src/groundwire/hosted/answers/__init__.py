"""Answers of model APIs that searched the web by themselves, in one shape.

`read_answer` reads a whole body, `AnswerStream` and `stream_answer` read a stream, `resolve_redirects` finds the
pages behind redirecting links, and `audit` checks what was cited against domain lists.
"""

from __future__ import annotations

from groundwire.hosted.answers.read_answer import AnswerApi, read_answer
from groundwire.hosted.answers.source_audit import Audit, audit, resolve_redirects
from groundwire.hosted.answers.stream import AnswerStream, stream_answer
from groundwire.hosted.answers.types import (
    AnswerEvent,
    CitationAdded,
    Ended,
    ErrorMet,
    HostedAnswer,
    HostedCall,
    HostedCitation,
    HostedError,
    HostedSource,
    HostedUsage,
    PageOpened,
    QueryIssued,
    SourceFound,
    TextAdded,
    UsageReported,
)

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
