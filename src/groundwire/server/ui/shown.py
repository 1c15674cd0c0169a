"""What a search has shown, kept for a while, so that reading one of its pages does not search again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from groundwire.errors import GroundwireError
from groundwire.models import SearchResponse
from groundwire.storage import Store, StoreError

__all__ = ["Found", "find_shown", "keep_shown"]

_LIFE = 3_600.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How a search ended."""

    response: SearchResponse | None = None
    """Its answer; None when it failed."""
    error: GroundwireError | None = None
    """Why it failed."""
    milliseconds: float = 0.0
    """How long it took."""
    at: datetime
    """When it ended."""
    again: bool = False
    """Whether this is a look back at what was found then."""


async def keep_shown(store: Store, session: str, fields: Mapping[str, str], found: Found) -> None:
    """Keep what a search of a session has found; a store that cannot keep it is no reason to fail."""
    if found.response is None:
        return
    said = {"at": found.at.isoformat(), "ms": found.milliseconds, "response": found.response.model_dump(mode="json")}
    try:
        await store.set(_key(session, fields), json.dumps(said).encode(), fresh=_LIFE)
    except StoreError:
        return


async def find_shown(store: Store, session: str, fields: Mapping[str, str]) -> Found | None:
    """Return what this session's search with these fields has found within the last hour; None when it is not known."""
    try:
        entry = await store.get(_key(session, fields))
        if entry is None:
            return None
        said = json.loads(entry.value)
        return Found(
            response=SearchResponse.model_validate(said["response"]),
            milliseconds=float(said["ms"]),
            at=datetime.fromisoformat(said["at"]).astimezone(UTC),
            again=True,
        )
    except (StoreError, ValueError, KeyError, TypeError):
        return None


def _key(session: str, fields: Mapping[str, str]) -> str:
    asked = json.dumps([session, sorted((name, value) for name, value in fields.items() if name != "fresh")])
    return f"shown:{hashlib.sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()}"
