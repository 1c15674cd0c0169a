"""Words that occur in every text, in several languages, without accents."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_TEXT: Final = Path(__file__).with_name("frequent_words.txt").read_text(encoding="utf-8")
FREQUENT: Final = frozenset(_TEXT.split())
"""Articles, prepositions, pronouns, auxiliary verbs and words that ask."""
