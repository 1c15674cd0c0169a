"""What training has learned: the words' meanings, the trees, the thresholds; read from the package's data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from groundwire.reading.lexicon import Lexicon
from groundwire.reading.scorer import Forest

__all__ = ["KINDS", "Model", "load_model", "read_model"]

KINDS: Final = ("article", "documentation", "forum", "product", "listing", "collection", "service")
"""The kinds of pages that are told apart."""


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that choosing the main content needs to know."""

    lexicon: Lexicon
    first: Forest
    """Judges a block by itself and its place."""
    kinds: tuple[Forest, ...]
    """One for each of `KINDS`; judges a page."""
    second: Forest
    """Judges a block by the first scores around it, too."""
    cuts: tuple[float, ...]
    """The score from which a block is content, one for each of `KINDS`; 0 to 254."""


def read_model(data: bytes) -> Model:
    """Return the model that `benchmarks/extraction/train.py` wrote."""
    raw = json.loads(gzip.decompress(data))
    return Model(
        lexicon=Lexicon(**raw["lexicon"]),
        first=_forest(raw["first"]),
        kinds=tuple(_forest(forest) for forest in raw["kinds"]),
        second=_forest(raw["second"]),
        cuts=tuple(raw["cuts"]),
    )


def _forest(raw: Mapping[str, Any]) -> Forest:
    return Forest(
        questions=tuple((feature, threshold, bool(at_most)) for feature, threshold, at_most in raw["questions"]),
        trees=tuple(
            tuple((tree[at], tree[at + 1], tree[at + 2]) for at in range(0, len(tree), 3)) for tree in raw["trees"]
        ),
        base=raw["base"],
        scale=raw["scale"],
        zero=raw["zero"],
    )


@cache
def load_model() -> Model:
    """Return the model that comes with the package; it is read once."""
    return read_model(files("groundwire.reading").joinpath("data", "blocks.json.gz").read_bytes())
