"""Errors of the settings, said so that the operator can mend them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pydantic import ValidationError

__all__ = ["did_you_mean", "faults"]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" for the nearest of the known words, else the list of them."""
    choices = sorted(known)
    near = difflib.get_close_matches(word, choices, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known here: {', '.join(choices)}." if choices else "."


def faults(error: ValidationError) -> list[tuple[str, str]]:
    """Return pydantic's complaints as (dotted key, what is wrong), without the values, which may be secret."""
    found = []
    for item in error.errors(include_url=False, include_input=False, include_context=False):
        key = ".".join(str(part) for part in item["loc"])
        text = item["msg"].removeprefix("Value error, ")
        found.append((key, text[:1].lower() + text[1:]))
    return found
