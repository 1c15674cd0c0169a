"""Record and replay: what the outside world answered, kept in a file that a person can read.

A test of an agent records once and then runs without a network, the same every time. Nothing in here opens a
connection: `groundwire.transport` and providers with a client of their own ask a `Cassette` before they would.
"""

from __future__ import annotations

from groundwire.cassette.format import Answer, CallFailed, Exchange, RecordedFailure, count_exchanges
from groundwire.cassette.recorder import (
    RECORD_VARIABLE,
    REPLAY_VARIABLE,
    Cassette,
    cassette_from_environment,
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
    "cassette_from_environment",
    "choose_cassette",
    "count_exchanges",
]
