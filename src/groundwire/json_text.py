"""JSON written by others: anything may be in it, or it may be none."""

from __future__ import annotations

import json
from typing import Any


def json_or_none(text: str | bytes) -> Any:
    """Parse a text as JSON; None for what is none, or is nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """Parse a text as a JSON object; None for anything else."""
    value = json_or_none(text)
    return value if isinstance(value, dict) else None
