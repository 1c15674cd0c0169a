"""What a page says of its own kind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.examples import examples
from groundwire.reading.main_content.page_type import HINTS, NO_HINTS, read_hints
from groundwire.reading.main_content.quantize import log


def _hint(name: str, url: str = "", metas: dict[str, str] | None = None, *things: dict[str, object]) -> int:
    return read_hints(things, metas or {}, url)[HINTS.index(name)]


def test_a_page_that_says_nothing_gives_no_hints() -> None:
    assert read_hints([], {}, "") == NO_HINTS


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.com/blog/a-day", "at_article"),
        ("https://docs.example.com/en/intro", "at_manual"),
        ("https://example.com/threads/17", "at_forum"),
        ("https://example.com/products/lamp", "at_product"),
        ("https://example.com/collections/lamps", "at_collection"),
        ("https://example.com/tag/lamps", "at_list"),
        ("https://www.example.com/", "at_service"),
    ],
)
def test_an_address_tells_a_kind(url: str, name: str) -> None:
    assert _hint(name, url) == 1
    assert _hint(name, "https://example.com/2f/lamps-of-glass") == 0


def test_an_address_tells_its_depth_and_the_words_of_its_end() -> None:
    url = "https://example.com/a/b/one-two-three?x=1"
    assert (_hint("at_depth", url), _hint("at_words", url), _hint("at_query", url)) == (4, 3, 2)


def test_things_are_counted_wherever_they_stand() -> None:
    page: dict[str, object] = {
        "@type": "WebPage",
        "breadcrumb": {
            "@type": "BreadcrumbList",
            "itemListElement": [{"@type": "ListItem", "item": {"name": "Lamps"}}, {"@type": "ListItem", "name": "Red"}],
        },
        "mainEntity": {
            "@type": "Product",
            "description": "d" * 300,
            "review": [{"@type": "Review", "reviewBody": "r" * 40}, {"@type": "Review", "reviewBody": "r" * 60}],
        },
    }
    assert _hint("is_product", "", None, page) == 1
    assert _hint("said_products", "", None, page) == log(1)
    assert _hint("said_paths", "", None, page) == log(2)
    assert _hint("said_items", "", None, page) == 0
    assert _hint("said_answers", "", None, page) == log(2)
    assert _hint("said_description", "", None, page) == log(300)
    assert _hint("said_comments", "", None, page) == log(100)


def test_the_entries_of_a_list_are_no_path() -> None:
    page: dict[str, object] = {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": {"name": "A"}}]}
    assert (_hint("said_items", "", None, page), _hint("said_paths", "", None, page)) == (log(1), 0)


def test_the_head_tells_type_and_generator() -> None:
    metas = {"og:type": "product", "generator": "WordPress 6.1", "article:published_time": "2026-01-01"}
    assert (_hint("open_graph", "", metas), _hint("generator", "", metas), _hint("dated", "", metas)) == (3, 4, 1)
    assert _hint("generator", "", {"generator": "home-made"}) != 0


_JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["Product", "BreadcrumbList", "a text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["@type", "name", "item", "itemListElement", "text"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=examples(40))
@given(st.dictionaries(st.sampled_from(["@type", "@graph", "text"]), _JSON, max_size=3), st.text(max_size=20))
def test_whatever_a_page_says_makes_codes(thing: dict[str, object], url: str) -> None:
    hints = read_hints([thing], {"og:type": url, "generator": url}, f"https://{url}")
    assert len(hints) == len(HINTS)
    assert all(0 <= code <= 254 for code in hints)


def test_a_thing_within_itself_is_counted_once() -> None:
    thing: dict[str, object] = {"@type": "Product"}
    thing["isRelatedTo"] = [thing, thing]
    assert _hint("said_products", "", None, thing) == log(1)
