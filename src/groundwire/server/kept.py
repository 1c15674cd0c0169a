"""What a run has done when the model calls a function of the client's in the middle of it.

The client does not see our calls, so its next request lacks them; what is kept here puts them back. It is found only
by a conversation that begins as the one that it is of, under the same key.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from groundwire.loop import Ledger
from groundwire.web import Web

__all__ = ["Keep", "Kept", "digest"]

_MOST = 2_000
_LIFE = 3_600.0  # seconds that a client may take for its function


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One run that waits for the client."""

    begun: int
    """How many messages the client had sent."""
    begins: str
    """The digest of these."""
    added: tuple[Any, ...]
    """What the run added: the turns of the model, and the results of our tools."""
    trailing: tuple[Any, ...]
    """Those of them that follow the last turn of the model."""
    web: Web
    """The session that pays."""
    ledger: Ledger
    """The numbering of its sources."""


class Keep:
    """Keeps runs for an hour, by the ids of the calls that they wait for.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str, str], tuple[float, Kept]] = OrderedDict()

    def put(self, owner: str, call_ids: Sequence[str], kept: Kept) -> None:
        """Keep a run."""
        for id_ in call_ids:
            self._kept[owner, id_, kept.begins] = (self._clock() + _LIFE, kept)
        while len(self._kept) > _MOST or (self._kept and next(iter(self._kept.values()))[0] < self._clock()):
            self._kept.popitem(last=False)

    def find(self, owner: str, call_id: str, messages: Sequence[Any]) -> Kept | None:
        """Return the run that waits for a call, if the conversation begins with what it began with."""
        for (whose, id_, _), (until, kept) in self._kept.items():
            waits = (whose, id_) == (owner, call_id) and until >= self._clock()
            if waits and kept.begins == digest(messages[: kept.begun]):
                return kept
        return None


def digest(messages: object) -> str:
    """Return a short name for a conversation."""
    return hashlib.sha256(json.dumps(messages, sort_keys=True, default=str).encode()).hexdigest()
