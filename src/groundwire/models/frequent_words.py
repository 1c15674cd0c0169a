"""Words that occur in every text, in several languages, without accents."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

__all__ = ["FREQUENT"]

_TEXT: Final = files("groundwire.models").joinpath("frequent_words.txt").read_text(encoding="utf-8")
FREQUENT: Final = frozenset(_TEXT.split())
"""Articles, prepositions, pronouns, auxiliary verbs and words that ask."""
