"""Two real tokenizers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

_HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests with the real tokenizers in one worker: to load them takes longer than most of those tests."""
    for item in items:
        if item.path.parent == _HERE and "real" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("tokenizers"))


@pytest.fixture(scope="session")
def real() -> Callable[[str], int]:
    """Count the tokens of a text, in the vocabulary in which it has more of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how the tokenizer loads its own data
        import bpe_openai

        encodings = [bpe_openai.get_encoding(name) for name in ("cl100k_base", "o200k_base")]
    return lambda text: max(len(encoding.encode_ordinary(text)) for encoding in encodings)
