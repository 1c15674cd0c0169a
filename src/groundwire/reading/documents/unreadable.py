"""Why a document gives no text, in the words that its reader gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Unreadable", "UnreadableDocument", "Why"]

Why = Literal["protected", "scanned", "broken", "empty", "large", "missing"]
"""What stands in the way: a password, pictures instead of text, damage, nothing, size, a library."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What stands in place of a document's text."""

    why: Why
    """What stands in the way."""
    message: str
    """What happened and what to do next, as sentences."""


class UnreadableDocument(Exception):
    """A document gives no text; raised where that is found, and caught where documents are converted.

    Args:
        why: What stands in the way.
        message: What happened and what to do next, as sentences.
    """

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message)
        self.found = Unreadable(why, message)
