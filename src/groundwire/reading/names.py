"""Whether a text can be a name.

Authors and sites are named where nobody looks, in the head of a page; so what stands there must not be a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["is_name", "is_site"]

_BETWEEN_NAMES: Final = re.compile(r"[,;&/|\u2022\u00b7]")


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a person, or a list of names."""
    return "://" not in text and all(_is_titled(part.split(), 3, 7) for part in _BETWEEN_NAMES.split(text))


def is_site(text: str) -> bool:
    """Tell whether a text can be the name of a site."""
    return "://" not in text and _is_titled(text.split(), 4, 14)


def _is_titled(words: Sequence[str], few: int, many: int) -> bool:
    """Tell whether words are few, or not many and mostly with capitals, where their script has any."""
    return len(words) <= few or (len(words) <= many and 2 * sum(not word[0].islower() for word in words) >= len(words))
