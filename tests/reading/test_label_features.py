"""The heading and the label above a block."""

from __future__ import annotations

import turbohtml

from groundwire.reading.main_content.blocks import lay_out
from groundwire.reading.main_content.classifier import load_model
from groundwire.reading.main_content.features import FEATURES, describe


def feature(name: str, markup: str) -> list[int]:
    """Return a feature of each block of a page."""
    facts = describe(lay_out(turbohtml.parse(f"<body>{markup}</body>")), load_model().lexicon)
    return list(facts.columns[FEATURES.index(name)])


def test_a_block_knows_the_heading_and_the_label_above_it() -> None:
    model = load_model().lexicon
    word = next(word for word in model.openings if word.isascii() and word.strip().isalpha() and word.endswith(" "))
    markup = f"<h2>{word}</h2><p>{'x' * 50}.</p><div>{word.upper()}</div><p>{'y' * 50}.</p>"
    code = model.openings[word]
    assert feature("under_heading1", markup) == [128, code, code, code]
    assert feature("under_label1", f"<div>{word}</div><p>One.</p><p>Two.</p>") == [128, code, code]
