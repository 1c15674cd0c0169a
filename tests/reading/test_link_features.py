"""Where the links of a block lead, and which of them are the title of another page."""

from __future__ import annotations

import pytest
import turbohtml

from groundwire.reading.main_content.blocks import lay_out
from groundwire.reading.main_content.classifier import load_model
from groundwire.reading.main_content.features import FEATURES, describe

PAGE = "https://www.harbor.example/2024/storm-closes-port"
STORM = "Storm closes the port again"


def feature(name: str, markup: str, url: str = PAGE) -> list[int]:
    """Return a feature of each block of a page."""
    facts = describe(lay_out(turbohtml.parse(f"<body>{markup}</body>"), url), load_model().lexicon)
    return list(facts.columns[FEATURES.index(name)])


@pytest.mark.parametrize(
    ("href", "name"),
    [
        ("#notes", "to_fragment"),
        ("/2024/storm-closes-port#notes", "to_fragment"),
        ("HTTPS://harbor.example/2024/storm-closes-port#notes", "to_fragment"),
        ("?page=2", "to_page"),
        ("/2023/fog", "to_page"),
        ("//www.harbor.example/fog?x=/tag/fog", "to_page"),
        ("https://other.example/fog", "to_other_site"),
        ("https://www.facebook.com/sharer?u=x", "to_social"),
        ("https://x.com/harbor", "to_social"),
        ("mailto:news@harbor.example", "to_social"),
        ("/tag/storms/", "to_taxonomy"),
        ("/author/ada", "to_taxonomy"),
        ("https://harbor.example/category/news?page=2", "to_taxonomy"),
        ("javascript:void(0)", ""),
        ("", ""),
    ],
)
def test_a_link_is_one_of_five_kinds(href: str, name: str) -> None:
    markup = f'<p><a href="{href}">{"x" * 30}</a>{"y" * 30}</p>'
    kinds = ("to_fragment", "to_page", "to_other_site", "to_social", "to_taxonomy")
    assert [feature(kind, markup) for kind in kinds] == [[100 if kind == name else 0] for kind in kinds]


@pytest.mark.parametrize(
    ("href", "common"),
    [
        ("/2025/storm-closes-port-again", 4),
        ("/2025/storm-opens-port.html", 2),
        ("/2025/storm", 0),
        ("/2025/fog-at-sea", 0),
        ("/tag/storm-closes-port", 0),
        ("https://other.example/storm-closes-port", 0),
    ],
)
def test_words_of_the_address_in_the_text_make_an_entry(href: str, common: int) -> None:
    assert feature("entry", f'<p><a href="{href}">{STORM}</a></p>') == [common]


def test_entries_are_counted_among_siblings_and_neighbors() -> None:
    entry = f'<li><a href="/storm-closes-port-again">{STORM}</a></li>'
    markup = f"<ul>{entry * 3}<li>Other</li></ul><div><p>Far</p></div>"
    assert feature("entries@1", markup) == [150] * 4 + [0]
    assert feature("entries_near", markup) == [3] * 5


def test_a_block_in_a_linked_card_has_the_cards_link() -> None:
    assert feature("to_page", '<a href="/fog"><div>Fog</div><div>Sea</div></a><div>Land</div>') == [200, 200, 0]


def test_a_page_without_a_url_has_links_of_other_sites_only() -> None:
    markup = f'<p><a href="https://harbor.example/a-b-c">{STORM}</a></p>'
    assert feature("to_other_site", markup, "") == feature("to_other_site", markup, "http://[") == [200]


def test_a_block_knows_the_heading_and_the_label_above_it() -> None:
    model = load_model().lexicon
    word = next(word for word in model.openings if word.isascii() and word.strip().isalpha() and word.endswith(" "))
    markup = f"<h2>{word}</h2><p>{'x' * 50}.</p><div>{word.upper()}</div><p>{'y' * 50}.</p>"
    code = model.openings[word]
    assert feature("under_heading1", markup) == [128, code, code, code]
    assert feature("under_label1", f"<div>{word}</div><p>One.</p><p>Two.</p>") == [128, code, code]
