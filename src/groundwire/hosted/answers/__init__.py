"""Answers of model APIs with hosted search, in a common format.

`read_answer` parses a whole body, `AnswerStream` a stream, `resolve_redirects` finds the pages behind redirecting
links, and `audit` checks citations against domain lists.
"""

from __future__ import annotations

from groundwire.hosted.answers.read_answer import AnswerStream, read_answer
from groundwire.hosted.answers.source_audit import Audit, audit, resolve_redirects
from groundwire.hosted.answers.types import (
    HostedAnswer,
    HostedCall,
    HostedCitation,
    HostedError,
    HostedSource,
    HostedUsage,
)

__all__ = [
    "AnswerStream",
    "Audit",
    "HostedAnswer",
    "HostedCall",
    "HostedCitation",
    "HostedError",
    "HostedSource",
    "HostedUsage",
    "audit",
    "read_answer",
    "resolve_redirects",
]
