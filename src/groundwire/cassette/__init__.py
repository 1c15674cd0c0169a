"""Record and replay: responses of the outside world, in a file that a person can read.

A test of an agent is recorded once and then runs without a network, the same every time. This package opens no
connection: `groundwire.transport` and providers with their own client consult a `Cassette` first.
"""

from __future__ import annotations

from groundwire.cassette.format import Answer, CallFailed, Exchange, RecordedFailure
from groundwire.cassette.recorder import (
    RECORD_VARIABLE,
    REPLAY_VARIABLE,
    Cassette,
    choose_cassette,
)

__all__ = [
    "RECORD_VARIABLE",
    "REPLAY_VARIABLE",
    "Answer",
    "CallFailed",
    "Cassette",
    "Exchange",
    "RecordedFailure",
    "choose_cassette",
]
