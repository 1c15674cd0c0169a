"""Two real tokenizers."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def real() -> Callable[[str], int]:
    """Count the tokens of a text, in the vocabulary in which it has more of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how the tokenizer loads its own data
        import bpe_openai

        encodings = [bpe_openai.get_encoding(name) for name in ("cl100k_base", "o200k_base")]
    return lambda text: max(len(encoding.encode_ordinary(text)) for encoding in encodings)
