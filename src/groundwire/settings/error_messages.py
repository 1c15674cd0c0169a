"""Error messages of the settings, with what the operator can do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pydantic import ValidationError

__all__ = ["did_you_mean", "faults"]

_MOST_NAMED = 12  # names; a longer list is not read


def did_you_mean(word: str, known: Iterable[str], *, prefix: str = "") -> str:
    """Return "; did you mean X?" for the nearest of the known words, else the list of them if it is short.

    Args:
        word: What was written.
        known: What would be right.
        prefix: What all of them begin with, which is no likeness.
    """
    choices = {choice.removeprefix(prefix).lower(): choice for choice in sorted(known)}
    near = difflib.get_close_matches(word.removeprefix(prefix).lower(), choices, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {choices[near[0]]!r}?"
    return f"; known here: {', '.join(choices.values())}." if 0 < len(choices) <= _MOST_NAMED else "."


def faults(error: ValidationError) -> list[tuple[str, str]]:
    """Return pydantic's complaints as (dotted key, what is wrong), without the values, which may be secret."""
    found = []
    for item in error.errors(include_url=False, include_input=False, include_context=False):
        key = ".".join(str(part) for part in item["loc"])
        text = item["msg"].removeprefix("Value error, ")
        found.append((key, text[:1].lower() + text[1:]))
    return found
