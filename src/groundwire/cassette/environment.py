"""Which cassette a `Web` gets: the one it is given, or for programs that know of none, the environment's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from groundwire.cassette.tape import Cassette
from groundwire.errors import ConfigurationError

__all__ = ["RECORD_VARIABLE", "REPLAY_VARIABLE", "cassette_from_environment", "choose_cassette"]

RECORD_VARIABLE = "GROUNDWIRE_RECORD"
"""Names the file to which exchanges are added."""
REPLAY_VARIABLE = "GROUNDWIRE_REPLAY"
"""Names the file from which requests are answered; nothing reaches the network."""


def cassette_from_environment(environment: Mapping[str, str]) -> Cassette | None:
    """Return the cassette that the environment names, or None. An empty variable counts as not set.

    Recording adds to the file, because a program may consist of several processes or make several `Web` objects.

    Args:
        environment: The variables, usually `os.environ`.

    Raises:
        ConfigurationError: both variables are set, or the file cannot be used.
    """
    record = environment.get(RECORD_VARIABLE, "").strip()
    replay = environment.get(REPLAY_VARIABLE, "").strip()
    if record and replay:
        raise ConfigurationError(f"{RECORD_VARIABLE} and {REPLAY_VARIABLE} are both set; keep one of them.")
    if record:
        return Cassette.record(record, append=True)
    return Cassette.replay(replay) if replay else None


def choose_cassette(
    cassette: Cassette | None, record: str | Path | None, replay: str | Path | None, environment: Mapping[str, str]
) -> Cassette | None:
    """Return the one cassette that is given, or that of the environment if none is.

    Args:
        cassette: A cassette.
        record: A file to be recorded into, begun anew.
        replay: A file to be replayed.
        environment: The variables, usually `os.environ`.

    Raises:
        ConfigurationError: more than one is given, or the file cannot be used.
    """
    if sum(given is not None for given in (cassette, record, replay)) > 1:
        raise ConfigurationError("Give one of cassette, record and replay.")
    if record is not None:
        return Cassette.record(record)
    if replay is not None:
        return Cassette.replay(replay)
    return cassette or cassette_from_environment(environment)
