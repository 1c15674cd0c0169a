"""Which blocks are kept, given their scores: each rule at its limits, and what tells a page's kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import exp
from operator import mul

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import Element

from components.work import growths
from groundwire.models.validators import PAGE_PARTS
from groundwire.reading.extract import extract
from groundwire.reading.html.semantics import marked_elements, parse_page
from groundwire.reading.main_content.blocks import Layout, lay_out
from groundwire.reading.main_content.boxes import _BOX_NAME, _STEMS
from groundwire.reading.main_content.classifier import KINDS, Forest, Model, load_model
from groundwire.reading.main_content.features import FEATURES, ElementFacts, describe
from groundwire.reading.main_content.page_blocks import PageBlocks, Verdict
from groundwire.reading.main_content.page_parts import PARTS, STEMS, part_blocks
from groundwire.reading.main_content.page_type import read_hints
from groundwire.reading.main_content.posts import label_posts
from groundwire.reading.main_content.rules import RULES, apply_rules, copies, may_repeat
from groundwire.reading.main_content.select import MENUS_ONLY, is_tiny, judge, kind_row, prune, select_main
from groundwire.reading.main_content.select import choose as choose_page
from groundwire.reading.main_content.stated_content import stated_content
from groundwire.reading.main_content.text_features import NameIndex, names_of
from groundwire.reading.metadata.embedded_json import Thing, things

LONG = "x" * 40
FILLER = "<pre>" + "y" * 220 + "</pre>"  # so that the page is not tiny; in the verdicts it always counts


def page(markup: str) -> Layout:
    return lay_out(turbohtml.parse(f"<body>{FILLER}{markup}</body>"))


def verdict(*scores: int, documentation: float = 0.0, cut: float = 120) -> Verdict:
    kinds = [0.0] * len(KINDS)
    kinds[KINDS.index("documentation")], kinds[KINDS.index("article")] = documentation, 1 - documentation
    return Verdict(list(scores), tuple(kinds), cut)


def choose(layout: Layout, verdict: Verdict) -> list[bool]:
    return choose_page(layout, replace(verdict, names=names_of(layout))).keep


def apply(
    names: str | Collection[str],
    layout: Layout,
    keep: list[bool],
    kinds: Mapping[str, float] | str = "article",
    parts: Mapping[str, bool] | None = None,
) -> list[bool]:
    """Return what is kept once some of the rules have been applied, in their order."""
    shares = {kinds: 1.0} if isinstance(kinds, str) else kinds
    model = Verdict([200] * len(keep), tuple(shares.get(kind, 0.0) for kind in KINDS), 120, names_of(layout))
    page_now = PageBlocks(layout, model, list(keep), parts or {})
    apply_rules(page_now, [rule for rule in RULES if rule.name in ([names] if isinstance(names, str) else names)])
    return page_now.keep


NAMED = {*PARTS, "headline"}
BY_NAME = [rule.name for rule in RULES if rule.part in NAMED and not rule.keeps]
BY_NAME += ["what is wanted", "buttons of what is wanted"]
"""The rules for parts of a page."""


def chosen(markup: str, *scores: int, documentation: float = 0.0, cut: float = 120) -> list[bool]:
    """Return what is kept of some blocks beside one that is kept surely."""
    layout = page(markup)
    assert len(layout.texts) == len(scores) + 1
    return choose(layout, verdict(200, *scores, documentation=documentation, cut=cut))[1:]


@pytest.mark.parametrize(("length", "tiny"), [(199, True), (200, True), (201, False)])
def test_a_page_of_two_hundred_characters_is_tiny(length: int, tiny: bool) -> None:
    layout = lay_out(turbohtml.parse(f"<body><div>{'x' * (length - 5)}</div><div>abcde</div></body>"))
    assert is_tiny(layout) is tiny
    assert choose(layout, verdict(254, 0)) == [True, tiny]


@pytest.mark.parametrize(("best", "kept"), [(63, [True, True]), (64, [True, False])])
def test_a_page_whose_best_block_is_no_content_is_kept_whole(best: int, kept: list[bool]) -> None:
    assert choose(page(f"<p>{LONG}</p>"), verdict(best, 0)) == kept
    assert choose(page("<div>other</div>"), verdict(best, 0, cut=40)) == kept


@pytest.mark.parametrize(
    ("score", "cut", "kept"),
    [(119, 120, False), (120, 120, True), (119, 250, False), (120, 250, True), (99, 100, False), (100, 100, True)],
)
def test_a_block_is_kept_from_the_cut_on_or_with_a_share_of_the_best(score: int, cut: float, kept: bool) -> None:
    assert chosen("<div>some block</div>", score, cut=cut) == [kept]


@pytest.mark.parametrize(
    ("markup", "scores", "kept"),
    [
        ("<div>no</div><h2>Head</h2><div>text</div>", (0, 0, 200), [False, True, True]),
        ("<h1>One</h1><h6>Two</h6><div>text</div>", (0, 0, 200), [True, True, True]),
        ("<div>text</div><h2>Head</h2><div>no</div>", (200, 0, 0), [True, False, False]),
        ("<div>text</div><h2>Head</h2>", (200, 0), [True, False]),
        ("<div>text</div><pre>code</pre><div>text</div>", (200, 0, 200), [True, True, True]),
        (f"<div>{LONG}</div><pre>code</pre><div>text</div>", (0, 0, 200), [False, False, True]),
        ("<nav>no</nav><p>no</p><pre>code</pre><div>text</div>", (0, 0, 0, 200), [False, False, False, True]),
        ("<div>text</div><pre>code</pre><div>no</div>", (200, 0, 0), [True, False, False]),
        (
            f"<div>yes</div><nav>{LONG}</nav><pre>code</pre><div>text</div>",
            (200, 0, 0, 200),
            [True, False, False, True],
        ),
        ("<div>no</div><div>between</div><div>text</div>", (0, 0, 200), [False, False, True]),
    ],
)
def test_headings_go_with_what_follows_and_code_with_what_is_around(
    markup: str, scores: tuple[int, ...], kept: list[bool]
) -> None:
    assert chosen(markup, *scores) == kept


def test_the_first_block_may_be_a_heading_and_the_second_code() -> None:
    heading = lay_out(turbohtml.parse(f"<body><h2>Head</h2><div>{LONG * 6}</div><div>last</div></body>"))
    assert choose(heading, verdict(0, 200, 0)) == [True, True, False]
    code = lay_out(turbohtml.parse(f"<body><div>{LONG * 6}</div><pre>code</pre><div>last</div></body>"))
    assert choose(code, verdict(200, 0, 200)) == [True, True, True]
    assert choose(code, verdict(200, 0, 0)) == [True, False, False]


def test_code_at_the_very_beginning_has_nothing_before_it() -> None:
    layout = lay_out(turbohtml.parse(f"<body><pre>code</pre><div>{LONG * 6}</div><div>last</div></body>"))
    assert choose(layout, verdict(0, 200, 200)) == [False, True, True]


@pytest.mark.parametrize(
    ("table", "scores", "kept"),
    [
        ("<tr><th>Head</th><td>cell</td></tr>", (0, 200), True),
        ("<tr><th>Head</th><td>cell</td></tr>", (200, 0), False),
        ("<tr><td>one</td><td>two</td></tr><tr><td>six</td><td>ten</td></tr>", (0, 0, 200, 200), True),
        ("<tr><td>one</td><td>two</td></tr><tr><td>six</td><td>ten</td></tr>", (0, 0, 0, 200), False),
        (
            "<tr><th>A</th><td><table><tr><td>one<td>two<tr><td>six<td>ten</table></td></tr>",
            (0, 0, 200, 200, 200),
            True,
        ),
    ],
)
def test_tables_of_data_are_kept_whole_or_not_at_all(table: str, scores: tuple[int, ...], kept: bool) -> None:
    assert chosen(f"<p>{LONG}</p><table>{table}</table>", 200, *scores) == [True, *(kept for _ in scores)]


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        ((200, 0, 200, 200), [True] * 4),
        ((200, 0, 200), [True, False, True]),
        ((200, 0), [True, False]),
        ((119, 119, 119, 119), [False] * 4),
    ],
)
def test_lists_of_which_most_is_kept_are_not_torn(scores: tuple[int, ...], kept: list[bool]) -> None:
    items = "".join(f"<li>item {number}</li>" for number in range(len(scores)))
    assert chosen(f"<ul>{items}</ul>", *scores) == kept


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        ((200, *[0] * 6, 200), [True] * 8),
        ((200, *[0] * 7, 200), [True, *[False] * 7, True]),
        ((200, *[0] * 6, 10), [True, *[False] * 7]),
        ((10, *[0] * 6, 200), [*[False] * 7, True]),
    ],
)
def test_a_short_list_between_kept_blocks_is_kept_whole(scores: tuple[int, ...], kept: list[bool]) -> None:
    items = "".join(f"<li>item {number}</li>" for number in range(len(scores) - 2))
    assert chosen(f"<section>{LONG}</section><ul>{items}</ul><blockquote>{LONG}</blockquote>", *scores) == kept


@pytest.mark.parametrize(
    ("order", "scores", "kept"),
    [
        ("list long long", (70, 50, 200, 200), [False, False, True, True]),
        ("long long list", (200, 200, 70, 50), [True, True, False, False]),
        ("long list long", (200, 70, 50, 200), [True] * 4),
    ],
)
def test_a_short_list_at_an_end_of_the_page_is_between_nothing(
    order: str, scores: tuple[int, ...], kept: list[bool]
) -> None:
    parts = {"list": "<ul><li>one</li><li>two</li></ul>", "long": f"<section>{LONG * 3}</section>"}
    markup = "".join(
        part.replace("<section>", f"<section>{at} ") for at, part in enumerate(map(parts.__getitem__, order.split()))
    )
    layout = lay_out(turbohtml.parse(f"<body>{markup}"))
    assert choose(layout, verdict(*scores)) == kept


def test_a_list_that_is_repeated_is_not_brought_back_by_its_scores() -> None:
    items = f"<li>{LONG}a</li><li>{LONG}b</li>"
    assert chosen(f"<ul>{items}</ul><ol>{items}</ol>", 200, 200, 200, 200) == [True, True, False, False]


def test_lists_inside_an_item_are_lists_of_their_own() -> None:
    inner = "".join(f"<li>{LONG * 2}{number}</li>" for number in range(4))
    outer = f"<ul><li>{LONG * 2}x<ol>{inner}</ol></li><li>{LONG * 2}y</li></ul>"
    assert chosen(outer, 0, 200, 200, 200, 0, 0) == [False, True, True, True, True, False]
    assert chosen(outer, 0, 200, 200, 0, 0, 0) == [False, True, True, False, False, False]
    assert chosen(outer, 200, 0, 0, 0, 0, 0) == [True, *[False] * 5]


def test_the_parts_of_an_item_are_judged_with_its_list() -> None:
    items = "".join(f"<li><p>{LONG * 2}{number}</p><blockquote>{LONG * 2}{number}</blockquote></li>" for number in "ab")
    assert chosen(f"<ul>{items}</ul>", 200, 0, 200, 200) == [True] * 4
    assert chosen(f"<ul>{items}</ul>", 200, 0, 200, 0) == [True, False, True, False]


SAID = "It was the best trip that we have ever made."


@pytest.mark.parametrize(
    ("markup", "scores", "kept"),
    [
        (f"<blockquote><p>{SAID}</p><footer>Jane Doe</footer></blockquote>", (200, 0), [True, True]),
        (f"<figure><blockquote>{SAID}</blockquote><figcaption>Jane Doe</figcaption></figure>", (200, 0), [True, True]),
        (f"<figure><p>{SAID}</p><figcaption>Jane Doe</figcaption></figure>", (200, 0), [True, False]),
        (f"<blockquote><div>Jane said:</div><p>{SAID}</p></blockquote>", (0, 200), [True, True]),
        (f"<blockquote><div>See this post</div><p>{SAID}</p></blockquote>", (0, 200), [False, True]),
        (f"<blockquote><p>{SAID}</p><div><a role=button>More</a></div></blockquote>", (200, 0), [True, False]),
        (f"<blockquote><p>{SAID}</p><p>{SAID}!</p></blockquote>", (200, 0), [True, False]),
        (f"<blockquote><p>{SAID}</p><footer>Jane Doe</footer></blockquote>", (0, 0), [False, False]),
        (
            f"<blockquote><blockquote><p>{SAID}</p></blockquote><footer>Jane Doe</footer></blockquote>",
            (200, 0),
            [True, True],
        ),
    ],
)
def test_who_said_a_quotation_is_kept_with_it(markup: str, scores: tuple[int, ...], kept: list[bool]) -> None:
    assert chosen(markup, *scores) == kept


def test_table_that_is_all_there_is_stays() -> None:
    rows = "".join(f"<tr><td>{LONG * 2}{number}</td><td>{LONG * 2}{number}</td></tr>" for number in range(2))
    layout = lay_out(turbohtml.parse(f"<body><table>{rows}</table>"))
    assert choose(layout, verdict(200, 0, 0, 0)) == [True] * 4


def test_table_that_lays_out_a_page_is_no_table_of_data() -> None:
    columns = (
        f"<table role=presentation><tr><td>menu</td><td>{LONG}</td></tr><tr><td>imprint</td><td>x</td></tr></table>"
    )
    assert chosen(columns, 0, 200, 0, 0) == [False, True, False, False]


@pytest.mark.parametrize(("documentation", "kept"), [(0.15, False), (0.16, True)])
def test_documentation_may_say_a_thing_twice(documentation: float, kept: bool) -> None:
    twice = f"<main><p>{LONG}</p></main><aside><p>{LONG}</p></aside>"
    assert chosen(twice, 200, 200, documentation=documentation) == [True, kept]
    assert may_repeat(verdict(documentation=documentation).kinds) is kept


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        (f"<main><p>{LONG}</p></main><aside><p>{LONG}</p></aside>", [2]),
        (f"<main><p>{LONG[1:]}</p></main><aside><p>{LONG[1:]}</p></aside>", []),
        (f"<main><p>{LONG}</p><p>{LONG}</p></main>", []),
        (f"<main><p>{LONG}</p></main><aside><pre>{LONG}</pre></aside>", []),
        (f"<main><p>{LONG}</p></main><table><tr><td>{LONG}</td></tr></table>", []),
    ],
)
def test_what_is_said_twice(markup: str, found: list[int]) -> None:
    layout = page(markup)
    assert list(copies(layout, [True] * len(layout.texts))) == found
    assert list(copies(layout, [False] * len(layout.texts))) == []


def facts(**columns: bytes) -> ElementFacts:
    """Return facts of two blocks of 10 and 30 characters, all columns 0 but those that are given."""
    rows = [columns.get(name, b"\0\0") for name in FEATURES]
    return ElementFacts(rows, [10, 30], [])


def test_a_pages_kind_is_told_by_its_own_features_and_the_average_of_its_content() -> None:
    own = len(FEATURES) - FEATURES.index("page_blocks")
    first = FEATURES[FEATURES.index("page_blocks")]
    row = kind_row(facts(**{first: b"\x07\x08", "link_share": b"\x64\x14", "kw_thread": b"\0\x01"}), [254, 127])
    # The weights are 10 * 254 and 30 * 127, which is 2 to 3.
    assert row[0] == 7
    assert row[own] == (2 * 100 + 3 * 20) // 5
    assert row[own + 3] == 50 * 3 // 5, "a flag is counted in fiftieths"
    assert sum(row[own:-2]) == 52 + 30
    assert row[-2:] == [200 * (254 + 127) // (254 * 2), 200 * 1 // 2]


@pytest.mark.parametrize(("scores", "share"), [((178, 178), 0), ((179, 178), 100), ((179, 254), 200)])
def test_a_block_that_is_likely_content_counts(scores: tuple[int, int], share: int) -> None:
    assert kind_row(facts(), scores)[-1] == share


def test_no_average_leaves_its_byte_and_no_content_is_no_failure() -> None:
    full = facts(link_share=b"\xfe\xfe", kw_thread=b"\xfe\xfe")
    own = len(FEATURES) - FEATURES.index("page_blocks")
    assert kind_row(full, [254, 254])[own] == 254
    assert kind_row(full, [254, 254])[own + 3] == 254
    assert kind_row(full, [254, 254])[-2:] == [200, 200]
    assert kind_row(full, [253, 253])[-2:] == [199, 200]
    ones, twos = facts(kw_thread=b"\x01\x01"), facts(kw_thread=b"\x02\x02")
    assert (kind_row(ones, [254, 254])[own + 3], kind_row(twos, [254, 254])[own + 3]) == (50, 100)
    assert sum(kind_row(facts(), [1, 0])) == 0
    assert kind_row(full, [0, 0])[-2:] == [0, 0]
    assert kind_row(full, [0, 0])[own] == 0


def test_the_kinds_are_shares_of_one_and_the_cut_is_their_mixture() -> None:
    layout, model = page(f"<article><h1>Head</h1><p>{LONG}</p></article>"), load_model()
    found = judge(layout, model)
    assert sum(found.kinds) == pytest.approx(1)
    assert min(found.kinds) > 0
    assert min(model.cuts) <= found.cut <= max(model.cuts)
    assert found.cut == pytest.approx(sum(kind * cut for kind, cut in zip(found.kinds, model.cuts, strict=True)))
    assert len(found.scores) == len(layout.texts) == len(describe(layout, model.lexicon).sizes)


def forest(base: int, zero: int, *steps: tuple[int, int, int]) -> Forest:
    """Return a forest whose total is `base`, and more for a column that is above a threshold."""
    trees = [(number, (0, None, None), (step[2], None, None)) for number, step in enumerate(steps)]
    return Forest([step[:2] for step in steps], [*trees, (base, None, None)], 100.0, zero)


def test_the_kinds_are_weighed_by_their_odds() -> None:
    layout, built = page(f"<p>{LONG}</p>"), load_model()
    totals = (300, 100, 200, 150, 120, 110, 130)  # 100 units are one of the log odds
    kinds = tuple(forest(base, 100) for base in totals)
    cuts = (100.0, 40.0, 60.0, 80.0, 20.0, 10.0, 30.0)
    odds = [exp((total - 100) / 100) for total in totals]
    shares = [one / sum(odds) for one in odds]
    found = judge(layout, Model(built.lexicon, forest(1_000, 1_000), kinds, cuts))
    assert found.scores == [127] * 2
    assert found.kinds == pytest.approx(shares)
    assert found.cut == pytest.approx(sum(map(mul, shares, cuts)))
    assert list(found.names) == describe(layout, built.lexicon).names


def test_the_page_says_to_the_forests_of_kinds_what_its_content_is_like() -> None:
    layout, built = page(f"<p>{LONG}</p>"), load_model()
    facts = describe(layout, built.lexicon)
    row = kind_row(facts, [254, 0])
    asked = forest(1_000, 1_000, (len(row) - 1, row[-1] - 1, 300))
    surely = forest(60_000, 1_000)
    for first, share in ((surely, (1 + 6 * exp(-3)) ** -1), (forest(0, 60_000), 1 / 7)):
        model = Model(built.lexicon, first, (asked, *[forest(1_000, 1_000)] * 6), (0.0,) * 7)
        assert judge(layout, model).kinds[0] == pytest.approx(share)


@pytest.mark.parametrize("texts", [4, 5])
def test_a_page_with_prose_has_more_than_menus_however_low_its_scores(texts: int) -> None:
    menu = "<ul>" + "<li><a href=/a>Lamps</a></li>" * 3 + "</ul>"
    markup = "<body>" + menu + "".join(f"<p>{number} {LONG * 3}</p>" for number in range(texts)) + f"<p>{'n' * 90}</p>"
    keep = choose(lay_out(turbohtml.parse(markup)), verdict(1, 1, 1, *[20] * texts, 2))
    assert keep == ([False] * 3 + [True] * texts + [False] if texts == 5 else [True] * 8)
    built, low = load_model(), forest(1_000, 1_400)
    found = select_main(turbohtml.parse(markup), Model(built.lexicon, low, (low,) * 7, (100.0,) * 7))
    assert (found.best >= MENUS_ONLY) is (texts == 5)


def test_a_page_without_text_is_whole() -> None:
    selection = select_main(turbohtml.parse("<body><div></div></body>"))
    assert (selection.root.tag, selection.kind, selection.is_complete, selection.best) == ("body", KINDS[0], True, 1.0)


def test_the_best_block_is_told_as_a_chance() -> None:
    menu = "".join(f'<li><a href="/{number}">Menu {number}</a></li>' for number in range(60))
    selection = select_main(turbohtml.parse(f"<body><nav><ul>{menu}</ul></nav></body>"))
    assert 0 <= selection.best <= 1
    tiny = select_main(turbohtml.parse("<body><p>Not much.</p></body>"))
    assert (tiny.is_complete, tiny.best) == (True, 1.0)


def test_text_of_a_kept_element_goes_without_it() -> None:
    document = turbohtml.parse(
        "<body><div>loose words<p>a paragraph</p><b>bold</b> end</div><ul><li>item</li></ul></body>"
    )
    layout = lay_out(document)
    keep = ["paragraph" in text for text in layout.texts]
    assert sum(keep) == 1
    prune(layout, keep)
    assert " ".join(layout.elements[0].text.split()) == "a paragraph"
    assert layout.elements[0].find("b") is None
    assert layout.elements[0].find("ul") is None


def pruned(markup: str, *kept: str) -> str:
    """Return what is left of a page of which some texts are kept."""
    layout = lay_out(turbohtml.parse(f"<body>{markup}"))
    prune(layout, [text in kept for text in layout.texts])
    return layout.elements[0].html.removeprefix("<body>").removesuffix("</body>")


@pytest.mark.parametrize(
    ("markup", "left"),
    [
        ("<ul><li>menu</li></ul><p>kept</p>", "<p>kept</p>"),
        ("<p>kept</p><ul><li>menu</li></ul>", "<p>kept</p>"),
        ("<div>menu</div><div>other</div>", ""),
        ("<div><b>loose<p>kept</p></b></div>", "<div><b><p>kept</p></b></div>"),
        ("<div><i><b>loose</b></i> and <b>more</b><p>kept</p></div>", "<div><p>kept</p></div>"),
        ("<div></div><figure><img src=x></figure><p>kept</p>", "<p>kept</p>"),
        (
            "<table role=presentation><tr><td>menu</td><td></td><td>kept</td></tr></table>",
            '<table role="presentation"><tbody><tr><td></td><td>kept</td></tr></tbody></table>',
        ),
        ("<ul><li><label>menu</label><p>kept</p></li></ul>", "<ul><li><p>kept</p></li></ul>"),
        (
            "<ul><li class=task-list-item><label><input type=checkbox></label><p>kept</p></li></ul>",
            '<ul><li class="task-list-item"><label><input type="checkbox"></label><p>kept</p></li></ul>',
        ),
        ("<ul><li><div><input type=checkbox></div><p>kept</p></li></ul>", "<ul><li><p>kept</p></li></ul>"),
    ],
)
def test_what_is_left_of_a_page(markup: str, left: str) -> None:
    assert pruned(markup, "kept") == left


def test_a_page_is_told_by_its_best_block_and_its_parts_are_left_out() -> None:
    built = load_model()
    even = forest(1_000, 1_000)
    kinds = (forest(2_000, 1_000), *[even] * 6)  # an article, most probably
    model = Model(built.lexicon, even, kinds, (100.0,) * 7)
    page_of = f"<body><main><p>{{}}</p></main><div class=comments><p>{LONG}</p></div></body>"
    for text, whole, best in (("z" * 300, False, 127 / 254), ("z" * 100, True, 1.0)):
        found = select_main(turbohtml.parse(page_of.format(text)), model)
        assert (found.is_complete, found.best, found.kind) == (whole, best, "article")
        assert (LONG in found.root.text) is whole
        with_comments = select_main(turbohtml.parse(page_of.format(text)), model, parts={"comments": True})
        assert LONG in with_comments.root.text
    assert select_main(turbohtml.parse("<frameset></frameset>")).root.tag == "html"


def test_a_page_of_which_something_is_left_out_is_not_whole() -> None:
    prose = "".join(
        f"<p>The harbour of the town number {at} was dredged in the spring of that year.</p>" for at in range(9)
    )
    menu = "".join(f'<li><a href="/{number}">Menu {number}</a></li>' for number in range(20))
    with_footer = f"<body><main><h1>Harbours</h1>{prose}</main><footer class=footer><ul>{menu}</ul></footer></body>"
    assert not select_main(turbohtml.parse(with_footer)).is_complete
    assert select_main(turbohtml.parse(f"<body><main>{prose}</main></body>")).is_complete


@pytest.mark.parametrize(
    ("scores", "kept"),
    [((200, 0, 0, 0), True), ((0, 200, 200, 200), False), ((0, 0, 0, 0), False)],
)
def test_a_table_of_headers_is_judged_by_all_of_its_text(scores: tuple[int, ...], kept: bool) -> None:
    table = "<table><tr><th>The longer one</th><th>Other</th></tr><tr><th>one</th><th>two</th></tr></table>"
    assert chosen(f"<p>{LONG}</p>{table}", 200, *scores) == [True, *[kept] * 4]


def test_two_tables_are_judged_apart() -> None:
    rows = "<tr><td>one</td><td>two</td></tr><tr><td>six</td><td>ten</td></tr>"
    tables = f"<table>{rows}</table><p>{LONG}</p><table>{rows}</table>"
    assert chosen(tables, 200, 200, 200, 0, 200, 0, 0, 0, 200) == [*[True] * 5, *[False] * 4]


def test_a_table_around_others_lays_them_out() -> None:
    inner = "<table><tr><td>one</td><td>two</td></tr><tr><td>six</td><td>ten</td></tr></table>"
    layout = (
        f"<table role=presentation><tr><td>menu</td><td>{inner}</td></tr><tr><td>imprint</td><td>x</td></tr></table>"
    )
    assert chosen(f"<p>{LONG}</p>{layout}", 200, 0, 200, 200, 200, 0, 0, 0) == [
        True, False, True, True, True, True, False, False]  # fmt: skip


def test_what_is_in_the_tables_stays_if_there_is_nothing_else() -> None:
    rows = "".join(f"<tr><td>{LONG * 2}{number}</td><td>{LONG * 2}{number}</td></tr>" for number in range(2))
    layout = lay_out(turbohtml.parse(f"<body><div>menu</div><table>{rows}</table><table>{rows}</table>"))
    assert choose(layout, verdict(0, 200, 0, 0, 0, 0, 0, 0, 0)) == [False, *[True] * 4, *[False] * 4]


COMMENTS = f"<div id=comments><h3>Comments</h3><p>{LONG}</p><button>Reply</button></div>"


@pytest.mark.parametrize(
    ("markup", "kept", "found"),
    [
        (COMMENTS, [1, 1, 1, 0], [1, 2, 3]),
        (COMMENTS.replace("<p>", f"<p>{LONG * 12}"), [1, 1, 1, 0], []),  # most of the page: what it is for
        (COMMENTS.replace("comments", "commentary"), [1, 1, 1, 0], []),
        (COMMENTS.replace("comments", "tsd-comment"), [1, 1, 1, 0], []),  # what a program's source says
        (COMMENTS.replace("comments", "deprecation-comment"), [1, 1, 1, 0], []),
        (f"<div class=x>{COMMENTS}</div><p>after</p>", [1, 1, 1, 0, 1], [1, 2, 3]),
        (f"<div class=comment><p>{LONG * 4}</p></div>" * 2, [0, 1, 1], []),  # one by one less than most, but all
    ],
)
def test_comments_are_known_by_the_names_around_them(markup: str, kept: list[int], found: list[int]) -> None:
    layout = page(markup)
    assert part_blocks(layout, names_of(layout), list(map(bool, kept)), "comments") == found


def test_comments_may_be_longer_than_an_article_that_is_long_enough() -> None:
    for length, found in ((1_900, []), (2_100, [2])):
        layout = page(f"<p>{'y' * (length - 220)}</p><div class=comment-list><p>{'x' * 9_000}</p></div>")
        assert part_blocks(layout, names_of(layout), [True] * 3, "comments") == found


@pytest.mark.parametrize(
    ("name", "found"),
    [("copy-legal", [2]), ("copyright", [2]), ("category-legal", []), ("legal-services", []), ("legal-notice", [2])],
)
def test_small_print_is_a_notice_but_not_a_page_about_law(name: str, found: list[int]) -> None:
    layout = page(f"<p>{LONG}</p><p class='{name}'>Offer for new members.</p>")
    assert part_blocks(layout, names_of(layout), [True] * 3, "notices") == found


@pytest.mark.parametrize(("name", "found"), [("stat-block online-list", [2]), ("whosonline", [2]), ("online-shop", [])])
def test_who_is_online_in_a_forum_is_no_part_of_a_thread(name: str, found: list[int]) -> None:
    layout = page(f"<p>{LONG * 9}</p><div class='{name}'><p>Ada and 3 guests</p></div>")
    assert part_blocks(layout, names_of(layout), [True] * 3, "profiles") == found


def test_what_says_that_the_rest_is_for_subscribers_stays() -> None:
    wall = "<div class=paywall><p>Weiterlesen mit Plus. Dieser Artikel ist exklusiv für Abonnenten.</p></div>"
    layout = page(f"<p>{LONG * 9}</p>{wall}")
    keep = [True] * 3
    assert apply(BY_NAME, layout, keep) == [True] * 3


ALL_PARTS = (
    "<main><p>{0}</p><p>{0}</p><p>{0}</p><p class=byline>By Ada</p><figure><figcaption>The marsh</figcaption></figure>"
    "<div id=comments><p>So it is.</p><button>Reply</button></div><div class=cookie-banner><p>We bake.</p></div>"
    "<div class=related-posts><p>The hill.</p></div><div class=product-reviews><p>Five stars.</p></div>"
    "<div class=size-modal><p>Sizes.</p></div><ul class=facet-list><li>Red</li></ul>"
    "<h1>The marsh today</h1><p class=standfirst>It dries.</p><p><time>4 May 2024</time></p>"
    "<div class=share-bar>Send it</div><nav><a href=/>Home</a></nav><div class=newsletter>Weekly</div>"
    "<div class=user-badges>Gold</div></main>"
)
NUMBERS = {
    "bylines": [4],
    "captions": [5],
    "comments": [6, 7],
    "notices": [8],
    "related": [9],
    "reviews": [10],
    "dialogs": [11],
    "filters": [12],
    "headline": [13],
    "subtitles": [14],
    "dates": [15],
    "controls": [7, 16],
    "navigation": [17],
    "promotions": [18],
    "profiles": [19],
}


@pytest.mark.parametrize("part", sorted(NUMBERS))
def test_the_parts_of_a_page_are_known_by_their_names_and_kept_if_wanted(part: str) -> None:
    layout = page(ALL_PARTS.format(LONG))
    keep = [True] * 4 + [False] * 16
    assert part_blocks(layout, names_of(layout), keep, part) == NUMBERS[part]
    keep = apply(BY_NAME, layout, keep, parts={part: True})
    wanted = {*range(4), *NUMBERS[part]} - ({7} if part == "comments" else set())  # without the button
    assert [number for number, kept in enumerate(keep) if kept] == sorted(wanted)


@pytest.mark.parametrize("part", sorted(NUMBERS))
def test_a_part_that_is_not_wanted_is_left_out_of_every_kind_of_page(part: str) -> None:
    layout = page(ALL_PARTS.format(LONG * 3))
    for kind in KINDS:
        usual = apply(BY_NAME, layout, [True] * 20, kind)
        without = apply(BY_NAME, layout, [True] * 20, kind, {part: False})
        gone = {number for number, kept in enumerate(usual) if not kept} | set(NUMBERS[part])
        assert {number for number, kept in enumerate(without) if not kept} == gone


def test_something_is_left_whatever_is_not_wanted() -> None:
    layout = lay_out(turbohtml.parse(f"<body><h1>{LONG}</h1><p class=byline>{LONG}</p></body>"))
    assert any(apply(BY_NAME, layout, [True, True], "service", dict.fromkeys(PAGE_PARTS, False)))


@pytest.mark.parametrize("part", sorted(PARTS))
@given(st.data())
def test_every_word_for_a_part_has_one_of_its_stems(part: str, data: st.DataObject) -> None:
    named = data.draw(st.from_regex(PARTS[part])).lower()
    assert any(stem in named for stem in STEMS[part])


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("article", [4, 5, 6, 7, 8, 9]),
        ("product", [6, 7, 8, 11, 19]),
        ("collection", [6, 7, 8, 11, 12, 19]),
        ("listing", [6, 7, 8, 11, 19]),
        ("documentation", [6, 7]),
        ("forum", [19]),
        ("service", [6, 7, 8, 9, 19]),
    ],
)
def test_what_is_left_out_depends_on_the_kind_of_page(kind: str, left: list[int]) -> None:
    layout = page(ALL_PARTS.format(LONG * 3))
    for sure, gone in ((1.0, left), (0.51, left), (0.49, [])):  # the most likely of two kinds
        keep = apply(BY_NAME, layout, [True] * 20, {kind: sure})
        assert [number for number, kept in enumerate(keep) if not kept] == gone


@pytest.mark.parametrize(("forum", "kept"), [(0.3, False), (0.41, True)])
def test_comments_stay_where_a_forum_is_the_likeliest_kind(forum: float, *, kept: bool) -> None:
    layout = page(f"<p>{LONG * 9}</p><div class=comments><p class=author>Ada</p><p>{LONG}</p></div>")
    kinds = {**dict.fromkeys(KINDS, 0.05), "article": 0.4, "forum": forum}
    keep = apply([*BY_NAME, "bylines of posts"], layout, [True, True, False, True], kinds)
    assert keep == [True, True, kept, kept]


def test_what_is_wanted_wins_over_a_part_inside_that_is_left_out() -> None:
    layout = page(f"<p>{LONG * 9}</p><div class=comments><p class=byline>By Ada</p><p>So it is.</p></div>")
    for include, kept in (([], [0, 1]), (["comments"], [0, 1, 2, 3]), (["bylines"], [0, 1, 2])):
        keep = apply(BY_NAME, layout, [True] * 4, parts=dict.fromkeys(include, True))
        assert [number for number, chosen in enumerate(keep) if chosen] == kept


def test_a_heading_is_no_part_though_its_name_repeats_its_words() -> None:
    layout = page(f"<p>{LONG * 9}</p><h2 id=what-you-may-have>What you may have</h2><p class=you-may>Elsewhere</p>")
    assert part_blocks(layout, names_of(layout), [True] * 4, "related") == [3]


@pytest.mark.parametrize(
    ("markup", "goes"),
    [
        ("<p>Read more: The bridge that was never built</p>", True),
        ("<p><b>Lea también:</b> El puente que nunca se construyó</p>", True),
        ("<div>» Siehe auch | Die Brücke</div>", True),
        ("<p>Mira: El puente</p>", True),
        ("<p>Mira el puente: es nuevo.</p>", False),
        ("<p>Schon gelesen?</p>", True),
        ("<p>Related – The bridge</p>", True),
        ("<p>See also</p>", True),
        ("<p>Related-party sales fell.</p>", False),
        ("<p>Read more books, he said: they are cheap.</p>", False),
        ("<p>More from the bridge came: a shout.</p>", False),
        ("<h2>See also</h2>", False),
        (f"<p>Read more: {'x' * 189}</p>", True),
        (f"<p>Read more: {'x' * 190}</p>", False),
    ],
)
def test_a_line_that_leads_to_another_page_is_left_out(markup: str, goes: bool) -> None:
    layout = page(f"<p>{LONG}</p>{markup}<p>{LONG}</p>")
    for kind, share, include, gone in (
        ("article", 1.0, [], goes),
        ("service", 0.51, [], goes),
        ("service", 0.49, [], False),
        ("documentation", 1.0, [], False),
        ("forum", 1.0, [], False),
        ("article", 1.0, ["related"], False),
    ):
        keep = apply(BY_NAME, layout, [True] * 4, {kind: share}, dict.fromkeys(include, True))
        assert keep == [True, True, not gone, True]


def test_lines_that_lead_to_other_pages_stay_if_there_is_nothing_else() -> None:
    layout = lay_out(turbohtml.parse("<body><p>Read more: one</p><p>Read more: two</p></body>"))
    assert apply(BY_NAME, layout, [True, True]) == [True, True]


def test_every_part_of_the_setting_is_known() -> None:
    assert sorted([*PARTS, "copies", "headline"]) == list(PAGE_PARTS)


POST = "<div class=post>{}</div>" + f"<div class=post><p class=author>Bo</p><p>{LONG * 2}</p><p>2 May 2024</p></div>"

TAGLINE = "Ada 12 points, 13 points, 14 points, score hidden, 3 hours ago"


@pytest.mark.parametrize(
    ("markup", "kept"),
    [
        (
            "<p class=username>Ada</p><p>Joined</p><p>May 2009</p><time>1 May 2024</time><p>{0}</p>",
            ["Ada", "1 May 2024"],
        ),
        ("<h4 class=message-name>Ada</h4><p>Posts: 12, 2009</p><p>3 hours ago</p><p>{0}</p>", ["Ada", "3 hours ago"]),
        ("<p>{0}</p><p>edited 2 May 2024</p><p>asked at 10:15</p><p class=author>Ada</p>", ["asked at 10:15", "Ada"]),
        ("<p class=tagline>Ada, 3 hours ago</p><p>1 May 2024</p><p>{0}</p>", ["Ada, 3 hours ago"]),
        ("<p class=author>Ada</p><p class=author>Eve</p><p>{0}</p>", ["Ada"]),
        ("<p class=author>Ada</p><p>{0}</p><p>{0}</p>", ["Ada"]),
        ("<div class=user-stats><p class=author>Ada</p></div><p>{0}</p>", []),
        ("<button class=author>Ada</button><p class=author>#7</p><p class=author>{1}</p><p>{0}</p>", []),
        ("<p>Ada</p><p>1 May 2024</p><p>{0}</p>", []),
        ("<h3><a class=bigusername>Ada</a> Newcomer</h3><p>{0}</p>", ["Ada Newcomer"]),
        ("<p class=tagline>Ada 12 points, 13 points, 14 points, score hidden, 3 hours ago</p><p>{0}</p>", [TAGLINE]),
        ("<div><p>1 May 2024</p><p>#1</p></div><div><p class=author>Ada</p><p>{0}</p></div>", ["1 May 2024", "Ada"]),
        ("<p><a class=username>@Ada</a> see below</p><p>{0}</p>", []),
    ],
)
def test_posts_of_a_forum_keep_who_wrote_them_and_when(markup: str, kept: list[str]) -> None:
    layout = page(POST.format(markup.format(LONG * 2, "A" * 61)))
    said = [number > 0 and text.startswith(LONG) for number, text in enumerate(layout.texts)]
    for kind, names in (("forum", [*kept, "Bo", "2 May 2024"]), ("article", [])):
        keep = apply("bylines of posts", layout, said, kind)
        found = [text for text, now, before in zip(layout.texts, keep, said, strict=True) if now and not before]
        assert found == names


def thread(*bodies: str) -> Layout:
    posts = "".join(
        f"<li id=post{number}><div><p class=username>U{number}</p></div><div class=body>{body}</div></li>"
        for number, body in enumerate(bodies)
    )
    return page(f"<ol class=thread>{posts}</ol><div class=more><div><p class=username>Eve</p></div><p>Latest</p></div>")


@pytest.mark.req("B25")
def test_a_post_is_kept_where_the_others_have_their_text_however_short() -> None:
    layout = thread(
        LONG * 2, "Thanks!", f"<blockquote>{LONG}</blockquote><p>Same here.</p>", LONG, "<b>@U1</b> Not at all"
    )
    said = [
        text.startswith(LONG) and layout.tags[owner] != "blockquote"
        for text, owner in zip(layout.texts, layout.owners, strict=True)
    ]
    for kind, names in (("forum", ["Thanks!", "Same here.", "@U1 Not at all"]), ("article", [])):
        keep = apply("texts of posts", layout, said, kind)
        assert [text for text, now, before in zip(layout.texts, keep, said, strict=True) if now and not before] == names


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param([LONG, *["Another thread"] * 9], id="a list of threads, of which little is kept"),
        pytest.param([LONG * 20, "Long. " * 101], id="scores tell longer text"),
        pytest.param([LONG], id="nothing to compare"),
    ],
)
def test_what_is_no_short_post_is_left_to_its_score(bodies: list[str]) -> None:
    layout = thread(*bodies)
    said = [text.startswith(LONG) for text in layout.texts]
    assert apply("texts of posts", layout, said, "forum") == said


def test_the_author_of_a_long_first_post_is_told_above_short_answers() -> None:
    layout = thread(LONG * 9, "Thanks! I have looked for this everywhere.")
    said = [text.startswith((LONG, "Thanks")) for text in layout.texts]
    keep = apply("bylines of posts", layout, said, "forum")
    assert [text for text, kept in zip(layout.texts, keep, strict=True) if kept and len(text) < 40] == ["U0", "U1"]


@pytest.mark.parametrize(
    ("markup", "title", "kept"),
    [
        ("<a href=https://tides.example/n>Tides of the north</a>{0}", "Tides of the north | Board", 2),
        ("<a href=https://tides.example/n>Tides of the north</a>{0}", "Tides of the south | Board", 0),
        ("<a href=https://tides.example/n>Tides of the north</a> (tides.example){0}", "Tides of the north", 2),
        ("<a href=/n>Tides of the north</a>{0}", "Tides of the north", 0),
        ("<a href=https://news.example/n>Tides of the north</a>{0}", "Tides of the north", 0),
        ("<a href=https://tides.example/n>Tides</a>{0}", "Tides", 0),
        ("<a href=https://tides.example/n>Tides of the north</a><p>Reply</p>", "Tides of the north", 1),
    ],
)
def test_the_link_to_what_a_page_discusses_is_kept(markup: str, title: str, kept: int) -> None:
    layout = page(markup.format("<p>42 points by op 5 hours ago</p>") + f"<p>{LONG}</p>")
    layout.url, layout.title = "https://news.example/item?id=1", title
    assert sum(apply("story", layout, [False] * len(layout.texts))) == kept


@pytest.mark.parametrize(
    ("markup", "price"),
    [
        ("<div class=old-price>€ 129</div><div class=price>€ 99</div><div class=price>€ 9</div>", ["€ 129", "€ 99"]),
        ("<p><span class=prodPrice>12,99 EUR</span></p>", ["12,99 EUR"]),
        ("<ul class=offers><li class=preis><div><p>30 kr</p></div></li></ul>", ["30 kr"]),
        ("<p class=price>On request</p><p>99 kr</p>", []),
        ("<p class=price><a href=/x>EUR 9</a></p>", []),
        ("<p class=price>" + "9 " * 31 + "</p>", []),
    ],
)
def test_the_price_below_the_name_of_a_product_is_kept(markup: str, price: list[str]) -> None:
    layout = page(f"<p class=price>1</p><h1>Lamp</h1>{markup}<p>{LONG}</p>")
    for kind, kept in (("product", price), ("collection", [])):
        keep = apply("price", layout, [False] * len(layout.texts), kind)
        assert [text for text, now in zip(layout.texts, keep, strict=True) if now] == kept


def test_the_properties_of_a_product_are_kept() -> None:
    rows = "".join(f"<tr><th>Property {number}</th><td>{number} mm</td></tr>" for number in range(3))
    other = "<table><tr><td>Call</td><td>555</td></tr></table><table>" + "<tr><td>1</td></tr>" * 9 + "</table>"
    layout = page(f"<h1>Lamp</h1><table><tr><th>Size</th></tr>{rows}</table>{other}<p>{LONG}</p>")
    for kind, kept in (("product", 7), ("article", 0)):
        assert sum(apply("specifications", layout, [False] * len(layout.texts), kind)) == kept


def test_a_writer_beside_the_posts_wrote_none_of_them() -> None:
    layout = page(f"<p class=author>Eve</p><p>Latest</p><main>{POST.format('')}{POST.format('')}</main>")
    keep = [number > 0 and text.startswith(LONG) for number, text in enumerate(layout.texts)]
    keep = apply("bylines of posts", layout, keep, "forum")
    assert [text for text, kept in zip(layout.texts, keep, strict=True) if kept and len(text) < 40] == [
        "Bo", "2 May 2024", "Bo", "2 May 2024",
    ]  # fmt: skip


def test_the_last_line_of_a_page_is_no_label_of_its_first() -> None:
    post = f"<div><p>1 May 2024</p><p class=author>Ada</p><p>{LONG * 2}</p></div>"
    layout = lay_out(turbohtml.parse(f"<body>{post}{POST.format('')}<p>Latest posts</p></body>"))
    keep = apply("bylines of posts", layout, [text.startswith(LONG) for text in layout.texts], "forum")
    assert [text for text, kept in zip(layout.texts, keep, strict=True) if kept and len(text) < 40] == [
        "1 May 2024", "Ada", "Bo", "2 May 2024",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "gone"),
    [
        ("Related articles", [2, 3, 4]),
        ("Weitere Artikel zum Thema:", [2, 3, 4]),
        ("Más noticias", [2, 3, 4]),
        ("Advertisement. Scroll to continue reading.", [2, 3, 4]),
        ("Story continues below", [2, 3, 4]),
        ("Pubblicità", [2, 3, 4]),
        ("■関連記事", [2, 3, 4]),
        ("社会の新着", [2, 3, 4]),
        ("あわせて読みたい", [2, 3, 4]),
        ("関連法案の行方", []),
        ("Advertisements for marshes", []),
        ("More about the marsh", []),
        ("Related articles " + "x" * 60, []),
    ],
)
def test_the_links_below_a_heading_of_other_pages_are_left_out(heading: str, gone: list[int]) -> None:
    links = "<ul><li><a href=/a>The hill</a></li><li>12 May: <a href=/b>The river</a></li></ul>"
    layout = page(f"<p>{LONG * 3}</p><h3>{heading}</h3>{links}<p>{LONG}</p>")
    for kind, include, left in (("article", [], gone), ("article", ["related"], []), ("listing", [], [])):
        keep = apply(BY_NAME, layout, [True] * 6, kind, dict.fromkeys(include, True))
        assert [number for number, kept in enumerate(keep) if not kept] == left


_RECIPE = """{"@type": "Recipe", "recipeIngredient": ["200 g rye flour", ["Salt"], "3 apples, peeled", "1 1/2 plums"],
"recipeInstructions": [{"@type": "HowToStep", "text": "<p>Stir the flour into the warm milk &amp; wait.</p>"},
{"@type": "HowToTip", "text": ""}, "Bake it."], "author": "Salted"}"""


@pytest.mark.parametrize(
    ("markup", "kept"),
    [
        ("<li>▢ 200 g Rye flour</li><li>Salt</li><li>a pinch of salt</li><li>Salted</li>", "1110"),
        ("<div>3</div><div>apples</div><div>peeled</div><div>3</div>", "1110"),
        ("<div>Stir the flour into the warm milk &amp; wait. Bake it.</div><div>and wait.</div>", "00"),
        ("<div>the flour into the warm milk &amp; wait</div><div>Bake it.</div><div>milk</div>", "110"),
        ("<div>3 apples,</div><div>peeled</div>", "11"),
        ("<li>1½ plums</li><li>1 ½ plums</li><li>½ pear</li>", "110"),
        ("<p>2 spoons of</p><p>200 g</p><p>rye flour</p>", "011"),
        ("<b itemprop=recipeIngredient>Honey</b><p>Honey</p><p>2 spoons of honey</p><p>Honeymoon</p>", "1110"),
        ('<ol itemprop="recipeInstructions"><li>Melt it.<li>Pour it.</ol><p>Pour</p>', "110"),
    ],
)
def test_the_ingredients_and_steps_that_structured_data_state_are_kept(markup: str, kept: str) -> None:
    source = f'<script type="application/ld+json">{_RECIPE}</script><body>{FILLER}{markup}'
    document = parse_page(source)
    stated = stated_content(things(document), marked_elements(document))
    layout = lay_out(document)
    layout.stated = stated
    assert apply("stated content", layout, [True] + [False] * len(kept)) == [True, *(sign == "1" for sign in kept)]


@pytest.mark.parametrize(("stated", "kept"), [(["3applespeeled"], True), ([], False)])
def test_stated_content_is_no_other_part_whatever_its_name(stated: list[str], kept: bool) -> None:
    layout = page("<div class=recipe-nutrition-disclaimer><h3>Ingredients</h3><p>3 apples, peeled</p></div>")
    layout.stated = stated
    assert apply(["stated content", "notices"], layout, [True] * 3) == [True, kept, kept]


@pytest.mark.parametrize(("kind", "kept"), [("article", True), ("product", False)])
def test_stated_answers_are_kept_but_on_the_page_of_a_product(kind: str, kept: bool) -> None:
    answer = {"@type": "Answer", "text": "It leaves at ten, or at eleven."}
    asked: Thing = {"@type": "FAQPage", "mainEntity": [{"@type": "Question", "acceptedAnswer": answer}]}
    markup = f"<body>{FILLER}<p>It leaves at ten, or at eleven.</p>"
    document = parse_page(markup)
    layout = lay_out(document)
    layout.stated = stated_content([asked], marked_elements(document))
    assert apply("stated content", layout, [True, False], kind) == [True, kept]


def test_a_page_that_states_twice_to_be_an_article_is_one() -> None:
    layout = page("<ul>" + "<li><a href=/a>A flat in the harbor</a> <b>300 €</b></li>" * 60 + "</ul>")
    kinds = {}
    for metas in ({"og:type": "article"}, {"og:type": "website"}):
        for data in ({"@type": "NewsArticle"}, {}):
            row = judge(
                layout, load_model(), read_hints([dict[str, object](data)], metas, "https://flats.example/search/")
            ).kinds
            kinds[metas["og:type"], bool(data)] = KINDS[row.index(max(row))]
    assert kinds.pop(("article", True)) == "article"
    assert "article" not in kinds.values()


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("<p>Photo: Ada Byron</p>", True),
        ("<p>Fotos © Ada Byron</p>", True),
        ("<p>The mill, by Ada Byron/Getty Images</p>", True),
        ("<p>© privat</p>", True),
        ("<p>Photos of the mill</p>", False),
        ("<p>Photo: Ada" + "a" * 150 + "</p>", False),
        ("<h3>Image: what it is</h3>", False),
        ("<p>© 2024</p>", False),
    ],
)
def test_a_line_that_credits_a_picture_is_a_caption(line: str, gone: bool) -> None:
    layout = page(f"<p>{LONG * 3}</p>{line}<p>{LONG}</p>")
    for kind, include, left in (
        ("article", [], gone), ("listing", [], gone), ("article", ["captions"], False), ("forum", [], False),
    ):  # fmt: skip
        keep = apply(BY_NAME, layout, [True] * 4, kind, dict.fromkeys(include, True))
        assert keep == [True, True, not left, True]


STANDFIRST = "The marsh dries up a little more each summer, and nobody can say why."


@pytest.mark.parametrize(
    ("markup", "kept"),
    [
        ("<h1>T</h1><p class=standfirst>{0}</p>", True),
        ("<div><h1>T</h1></div><div class=article__lead><div><p>{0}</p></div></div>", True),
        ("<header><div><h1>T</h1></div><div><p>{0}</p></div></header>", True),
        ("<h1>T</h1><h2 class=bajada>{0}</h2><div class=meta>By Ada</div>", True),
        ("<h1>T</h1>" + "<p>a</p>" * 11 + "<p class=lead>{0}</p>", True),
        ("<h1>T</h1>" + "<p>a</p>" * 12 + "<p class=lead>{0}</p>", False),
        ("<h1>T</h1><p>{0}</p>", False),
        ("<p class=lead>{0}</p><h1>T</h1>", False),
        ("<div class=lead>{0}</div>", False),
        ("<h1>T</h1><p class=leads-form>{0}</p>", True),
        ("<h1>T</h1><p class=leading>{0}</p>", False),
        ("<h1>T</h1><div class=author><p class=summary>{0}</p></div>", False),
        ("<h1>T</h1><p class='intro affiliate'>{0}</p>", False),
        ("<header><h1>T</h1><figure><figcaption>{0}</figcaption></figure></header>", False),
        ("<header><h1>T</h1><ul><li>{0}</ul></header>", False),
        ("<h1>T</h1><p class=lead><a href=x>{0}</a></p>", False),
        ("<h1>T</h1><p class=lead>The marsh dries up a little more each summer, maybe.</p>", False),
        ("<h1>T</h1><p class=lead>{0} {1}</p>", False),
        ("<h1>T</h1><p class=text>{1}</p><p class=lead>{0}</p>", False),
    ],
)
def test_the_standfirst_of_an_article_is_kept(markup: str, kept: bool) -> None:
    layout = page(markup.format(STANDFIRST, "y" * 500))
    keep = [number == 0 or text.startswith("yy") for number, text in enumerate(layout.texts)]
    after = apply("standfirst", layout, keep)
    changed = [text for text, now, old in zip(layout.texts, after, keep, strict=True) if now != old]
    assert changed == ([STANDFIRST] if kept else [])


def test_a_standfirst_goes_with_the_subtitles() -> None:
    text = "".join(f"<p>{STANDFIRST} They asked {number} people who live beside it.</p>" for number in range(6))
    head = f"<h1>The marsh</h1><div class='lead newsletter widget'><small>Now {STANDFIRST}</small></div>"
    markup = f"<meta property=og:type content=article><header class='footer sidebar'>{head}</header><main>{text}</main>"
    assert f"Now {STANDFIRST}" in extract(markup, "https://news.example/2024/05/the-marsh").content
    without = extract(markup, "https://news.example/2024/05/the-marsh", parts={"subtitles": False}).content
    assert f"Now {STANDFIRST}" not in without
    assert "They asked 5" in without


@pytest.mark.parametrize(
    ("markup", "scores", "kept"),
    [
        ("<div class={0}><p>Note</p><p>Text.</p></div>", (0, 200), [True, True]),
        ("<div class={0}><p>Note</p><p>Text.</p></div>", (200, 0), [True, True]),
        ("<p>Yes.</p><p>No.</p><div class={0}><p>Note</p><p>Text.</p></div>", (200, 0, 0, 0), [True, *[False] * 3]),
        ("<main><p>Yes.</p><div class={0}>Text.</div><p>No.</p></main>", (200, 0, 0), [True, "manual", False]),
        ("<main><p>No.</p><div class={0}>Text.</div><p>Yes.</p></main>", (0, 0, 200), [False, "manual", True]),
        ("<main><p>Yes.</p><div class={0}>Text.</div><p>Yes.</p></main>", (200, 0, 200), [True, True, True]),
        ("<p>Yes.</p><div class={0}>" + "x" * 2_001 + "</div><p>Yes.</p>", (200, 0, 200), [True, False, True]),
        ("<p>Yes.</p><div class={0}-x>Text.</div><p>Yes.</p>", (200, 0, 200), [True, False, True]),
        ("<p>Yes.</p><div class={0}><button>Close</button><p>Text.</p></div>", (200, 0, 200), [True, False, True]),
        ("<table><tr class={0}><td>a</td><td>b</td></tr></table>", (0, 200), [False, True]),
    ],
)
def test_boxes_with_notes_are_kept_whole(markup: str, scores: tuple[int, ...], kept: list[bool | str]) -> None:
    for name in ("note", "admonition"):
        layout = page(markup.format(name))
        keep = [True, *(score > 100 for score in scores)]
        assert len(keep) == len(layout.texts)
        after = apply("boxes", layout, keep)
        assert after[1:] == [(name == "admonition") if state == "manual" else state for state in kept]


@given(st.from_regex(_BOX_NAME).filter(lambda name: "\0" not in name))  # a parser leaves none
def test_every_name_of_a_box_has_one_of_its_stems(name: str) -> None:
    assert NameIndex(["", name, "other"]).having(_STEMS) == {name}


def test_names_are_found_by_stems_in_any_case_wherever_they_are() -> None:
    names = NameIndex(["Ad box", "header", "", "nav\nbar", "body", "HEADER"])
    assert names.having(("ad", "bar")) == {"Ad box", "header", "nav\nbar", "HEADER"}
    assert names.having(("nav", "xad", "b")) == {"nav\nbar", "Ad box", "body"}
    assert names.having(()) == set()
    assert NameIndex([]).having(("ad",)) == set()


CARD = "<div class='card {2}'><h4>{0}</h4><p>{1}</p></div>"


QUESTION = (
    "<div itemscope itemtype='https://schema.org/Question'><h1>Which bridge?</h1><p>{0} one</p>"
    "<li class=comment><span>{1}</span></li></div>"
    "<div class=answer itemprop=acceptedAnswer><pre>code</pre>"
    "<div class=answer><p>{0} two</p></div><p>{0} three</p></div>"
    "<div class=answer><p>{0} four</p></div><div class=answer><p>{0} five</p></div>"
)


def test_questions_answers_and_comments_of_a_forum_are_told_apart() -> None:
    for kind, labels in (
        ("forum", ["Question:", "Comment:", "Accepted answer:", "Answer:"]),
        ("article", []),
    ):
        layout = page(QUESTION.format(LONG, LONG))
        keep = [True] * 8 + [False]
        label_posts(layout, names_of(layout), [float(one == kind) for one in KINDS], keep)
        assert [mark.text for mark in layout.elements[0].find_all("strong")] == labels
        texts = [mark.parent.text for mark in layout.elements[0].find_all("strong") if isinstance(mark.parent, Element)]
        said = [f"{LONG} one", LONG, f"{LONG} two", f"{LONG} four"]
        assert texts == [f"{label} {text}" for label, text in zip(labels, said, strict=False)]


def test_replies_in_a_discussion_are_no_comments_on_a_question() -> None:
    layout = page(f"<div class=comment><p>{LONG}</p></div><div class=comment><p>{LONG}</p></div>")
    label_posts(layout, names_of(layout), [float(one == "forum") for one in KINDS], [True] * 3)
    assert layout.elements[0].find("strong") is None


def test_the_writer_of_a_comment_that_is_left_out_is_left_out() -> None:
    comment = "<div class=comment><p>{0}</p><p class=author>Eve</p></div>"
    layout = page(POST.format(f"<p class=author>Ada</p><p>{LONG * 2}</p>{comment.format(LONG * 3)}"))
    keep = [number > 0 and text == LONG * 2 for number, text in enumerate(layout.texts)]
    keep = apply("bylines of posts", layout, keep, "forum")
    kept = [text for text, wanted in zip(layout.texts, keep, strict=True) if wanted and len(text) < 40]
    assert kept == ["Ada", "Bo", "2 May 2024"]


ARTICLE = (
    "<html><body><nav><a href=/a>Harbor</a> <a href=/b>Quarry</a> <a href=/c>Chapel</a> <a href=/d>Orchard</a>"
    "<div class=size-modal>Sizes</div></nav><article><h1>The marsh today</h1><p class=standfirst>How it dries</p>"
    "<time>4 May 2024</time>{0}<p class=byline>By Ada Byron</p></article></body></html>"
)
PROSE = "".join(
    f"<p>The {name} was drained in the spring, and nobody who lived beside it had been asked what they thought.</p>"
    for name in ("northern marsh", "southern marsh", "long meadow", "pond of the mill", "ditch by the road")
)


@pytest.mark.parametrize(
    ("parts", "there", "gone"),
    [
        ({}, ["northern marsh"], ["Harbor", "Sizes"]),
        ({"navigation": True}, ["Harbor", "northern marsh"], []),
        ({"dialogs": True}, ["Sizes", "northern marsh"], ["Harbor"]),
        ({"headline": True}, ["The marsh today"], ["Harbor"]),
        ({"headline": False}, ["northern marsh"], ["The marsh today"]),
        ({"bylines": True, "dates": True}, ["By Ada Byron", "4 May 2024"], []),
        ({"bylines": False, "dates": False}, ["northern marsh"], ["By Ada Byron", "4 May 2024"]),
        ({"subtitles": True}, ["How it dries"], []),
        ({"subtitles": False}, ["northern marsh"], ["How it dries"]),
    ],
)
def test_callers_choose_the_parts_of_a_page(parts: dict[str, bool], there: list[str], gone: list[str]) -> None:
    read = extract(ARTICLE.format(PROSE), "https://a.example/marsh", parts=parts).content
    assert [text for text in there if text not in read] == []
    assert [text for text in gone if text in read] == []


def test_copies_are_a_part_too() -> None:
    twice = f"<h1>The marsh</h1>{PROSE}<section class=wide>{PROSE}</section>"
    for parts, times in (({}, 1), ({"copies": True}, 2), ({"copies": False}, 1)):
        read = extract(ARTICLE.format(twice), "https://news.example/2024/05/marsh", parts=parts).content
        assert read.count("The northern marsh was drained") == times


def test_posts_of_a_forum_lose_their_bylines_if_these_are_not_wanted() -> None:
    built, even = load_model(), forest(1_000, 1_000)
    kinds = tuple(forest(2_000 if kind == "forum" else 1_000, 1_000) for kind in KINDS)
    model = Model(built.lexicon, even, kinds, (100.0,) * 7)
    for parts, names, times in (({}, 3, 3), ({"bylines": False}, 0, 3), ({"dates": False}, 3, 0)):
        posts = "".join(
            f"<div class=post><p class=author>Ada</p><p class=date>{n} May 2024</p><p>{n} {LONG * 3}</p></div>"
            for n in range(1, 4)
        )
        found = select_main(turbohtml.parse(f"<body><div class=topic>{posts}</div></body>"), model, parts=parts)
        assert (found.root.text.count("Ada"), found.root.text.count("May 2024")) == (names, times)


@pytest.mark.parametrize(
    ("markup", "keep", "left"),
    [
        ("<h2>Head</h2><p>text</p><p>end</p>", [1, 0, 0], [0, 0, 0]),
        ("<h2>Head</h2><p>text</p><p>end</p>", [1, 0, 1], [1, 0, 1]),
        ("<h2>Head</h2><p>text</p><h2>Next</h2><p>end</p>", [1, 0, 1, 1], [0, 0, 1, 1]),
        ("<h2>Head</h2><p>text</p><h3>Below</h3><p>end</p>", [1, 0, 1, 1], [1, 0, 1, 1]),
        ("<h3>Head</h3><p>text</p><h2>Above</h2><p>end</p>", [1, 0, 1, 1], [0, 0, 1, 1]),
        ("<h2>Head</h2><h3>Below</h3><p>text</p>", [1, 1, 0], [0, 0, 0]),
        ("<h1>Head</h1><p>text</p>", [1, 0], [1, 0]),
        ("<h2>Head</h2><h2>Next</h2><p>text</p>", [1, 1, 1], [1, 1, 1]),
        ("<h2><a href=/a>Head</a></h2><p>text</p>", [1, 0], [1, 0]),
        ("<h2>Head</h2><p><a href=/a>text</a></p>", [1, 0], [0, 0]),
        ("<h2>Head <a href=/a>edit</a></h2><p>text</p>", [1, 0], [0, 0]),
    ],
)
def test_a_heading_never_outlives_its_section(markup: str, keep: list[int], left: list[int]) -> None:
    for kind in KINDS:
        state = [True, *map(bool, keep)]
        after = apply("empty sections", page(markup), state, kind)
        assert after[1:] == (state[1:] if kind == "service" else [*map(bool, left)])


@pytest.mark.parametrize(
    ("markup", "keep", "left"),
    [
        ("<h1>One</h1><h2>Two</h2><p>text</p>", [0, 0, 1], [1, 1, 1]),
        ("<h2>One</h2><h2>Two</h2><p>text</p>", [0, 0, 1], [0, 1, 1]),
        ("<h3>One</h3><h2>Two</h2><p>text</p>", [0, 0, 1], [0, 1, 1]),
        ("<h3>One</h3><h2>Two</h2><p>text</p>", [0, 1, 1], [0, 1, 1]),
        ("<h2>One</h2><p>no</p><p>text</p>", [0, 0, 1], [0, 0, 1]),
    ],
)
def test_a_heading_is_kept_above_its_section_only(markup: str, keep: list[int], left: list[int]) -> None:
    assert apply("headings", page(markup), [True, *map(bool, keep)])[1:] == [*map(bool, left)]


def test_the_last_heading_stays_if_there_is_nothing_else() -> None:
    layout = lay_out(turbohtml.parse("<body><h2>Head</h2><p>text</p></body>"))
    assert apply("empty sections", layout, [True, False]) == [True, False]


@pytest.mark.parametrize(
    ("sizes", "others", "score", "kept"),
    [
        ((300,) * 5, (375, 375), 60, True),
        ((300,) * 5, (375, 375), 59, False),
        ((300,) * 5, (376, 375), 60, False),
        ((299,) * 5, (), 60, False),
        ((400,) * 4, (), 60, False),
        ((400,) * 6, (), 60, True),
    ],
)
def test_the_longest_prose_is_kept_on_a_page_of_teasers(
    sizes: tuple[int, ...], others: tuple[int, ...], score: int, kept: bool
) -> None:
    text, teasers = ("".join(f"<p>{'x' * size}</p>" for size in part) for part in (sizes, others))
    layout = page(f"<div><div>{text}</div></div><section><div>{teasers}</div></section>")
    model = Verdict([200] + [score] * len(sizes) + [0] * len(others), (1.0, *[0.0] * 6), 120, names_of(layout))
    state = PageBlocks(layout, model, [True] + [False] * (len(sizes) + len(others)))
    apply_rules(state, [rule for rule in RULES if rule.name == "the longest prose"])
    assert state.keep == [True, *[kept] * len(sizes), *[False] * len(others)]


NOTES = "<section><h2>Notes</h2><ol><li id=n-1><p>In 1931.<li id=n-2><p>In 1932.</ol></section>"


@pytest.mark.parametrize(
    ("mark", "kept"),
    [
        ("<sup><a href=#n-1>1</a></sup>", ["Notes", "In 1931."]),
        ("<a href=#n-1><sup>[1]</sup></a>", ["Notes", "In 1931."]),
        ("<sup><a href=#n-1>1</a> <a href=#n-2>2</a></sup>", ["Notes", "In 1931.", "In 1932."]),
        ("<a href=#n-1>the first of the notes</a>", []),
        ("<a href=#n-1>1</a>", ["Notes", "In 1931."]),
        ("<sup><a href=#n-3>3</a></sup>", []),
        ("<sup><a href=https://a.example/#n-1>1</a></sup>", []),
    ],
)
def test_the_notes_that_kept_text_refers_to_are_kept(mark: str, kept: list[str]) -> None:
    layout = page(f"<p>{LONG}{mark}</p>{NOTES}")
    state = [True, True, False, False, False]
    after = apply(["notes", "headings", "empty sections"], layout, state)
    assert [text for text, now, old in zip(layout.texts, after, state, strict=True) if now and not old] == kept
    assert apply("notes", page(f"<p>{LONG}{mark}</p>{NOTES}"), [True, *[False] * 4]) == [True, *[False] * 4]


def test_an_article_keeps_its_notes_though_they_are_at_its_end_and_only_links() -> None:
    links = ", ".join(f"<a href=https://{name}.example/>{name}</a>" for name in ("reed", "sedge", "rush", "fern"))
    note = f"<section class=footnotes><ol><li id=fn-1><p>{links}. <a href=#ref-1>↩</a></ol></section>"
    body = PROSE.replace("</p>", "<sup><a href=#fn-1 id=ref-1>1</a></sup></p>", 1)
    read = extract(f"<article><h1>The marsh</h1>{body}{note}</article>", "https://news.example/2024/05/marsh").content
    assert "thought.[^1]" in read
    assert "\n[^1]: [reed](https://reed.example/), [sedge]" in read


@pytest.mark.parametrize(
    ("mark", "note", "kept"),
    [
        ("<a href=https://a.example/x#anchor-1>1</a>", True, True),
        ("<a href='#anchor-1'>1</a>", True, True),
        ("<a href='#anchor-1'>1</a>", False, False),
        ("<a href=/next>1</a>", True, False),
        ("<a href='#top'>Back to the top</a>", True, False),
        ("<a href='#slide-2'>Next</a>", True, False),
        ("<a href='/list#facet'>(104)</a>", True, False),
    ],
)
def test_the_mark_of_a_kept_note_is_kept(mark: str, note: bool, kept: bool) -> None:
    layout = page(f"<p>{LONG}</p><div>{mark}<div><p>{LONG}</p></div></div>")
    assert apply("marks of notes", layout, [True, True, False, note]) == [True, True, kept, note]


@pytest.mark.parametrize(
    ("kind", "there"), [("article", False), ("product", False), ("listing", False), ("service", True)]
)
def test_the_heading_of_a_part_that_is_left_out_goes_with_it(kind: str, *, there: bool) -> None:
    built, even = load_model(), forest(1_000, 1_000)
    kinds = tuple(forest(20_000 if one == kind else 1_000, 1_000) for one in KINDS)
    model = Model(built.lexicon, even, kinds, (100.0,) * 7)
    names = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("Red", "Blue", "Green", "Violet"))
    markup = f"<h1>Marsh</h1>{PROSE}<section><h3>Colors</h3><ul class=filters>{names}</ul></section>"
    found = select_main(turbohtml.parse(f"<body>{markup}</body>"), model, parts={"filters": False})
    assert ("Colors" in found.root.text, "Violet" in found.root.text) == (there, False)


@pytest.mark.parametrize(
    "unit",
    [
        "<h2>Head</h2><p>text</p>",
        "<h3>Head</h3><h2>Head</h2><p>text</p>",
        "<div class=card><h4>Head</h4><p>text</p></div>",
        "<div class=a><div class=b><div class=b>a<p>b</p></div></div></div>",
        "<div class=answer><p class=author>Ada</p><p>text</p><div class=comment>text</div></div>",
        f"<div>{LONG}</div>",
        "<div class=note><b>Note</b><p>text</p></div><p>text</p>",
        "<div class=admonition><p>a</p><section><p>text</p></section>",
        "<section class=lead><h1>a</h1><div class=intro>" + LONG + LONG,
    ],
)
def test_what_belongs_together_is_found_in_linear_work(unit: str) -> None:
    forum = [float(kind == "forum") for kind in KINDS]

    def choose_together(layout: Layout) -> None:
        names, keep = names_of(layout), [number % 3 != 1 for number in range(len(layout.texts))]
        for kind in ("article", "forum"):
            for state in (keep, [layout.tags[owner][0] == "h" for owner in layout.owners]):
                apply([rule.name for rule in RULES], layout, state, kind)
        label_posts(layout, names, forum, keep)

    layouts = [page(f"<h2>Head</h2>{unit * times}") for times in (100, 200, 400)]
    assert max(growths(choose_together, *layouts)) < 2.5


@pytest.mark.req("B25")
@pytest.mark.parametrize("name", ["plain", "author", "date", "comment", "caption", "related"])
@pytest.mark.parametrize("parts", [{}, {"dates": False, "bylines": False}, {"comments": True}])
def test_no_column_of_a_table_is_lost_for_its_name(name: str, parts: dict[str, bool]) -> None:
    rows = "".join(f"<tr><td>Book {n}</td><td class={name}>Writer {n}</td><td>{n} May 1904</td></tr>" for n in range(8))
    table = f"<table><tr><th>Title</th><th>Author</th><th>Day</th></tr>{rows}</table>"
    markup = (
        f"<head><meta property=og:type content=article></head><article><h1>Books</h1>{PROSE}{table}{PROSE}</article>"
    )
    read = extract(markup, "https://a.example/news/2024/05/01/books-of-the-marsh", parts=parts)
    assert read.kind == "article"
    cells = [f"{cell} {n}" for n in range(8) for cell in ("Book", "Writer")] + [f"{n} May 1904" for n in range(8)]
    assert [cell for cell in cells if cell not in read.content] == []


@pytest.mark.parametrize("address", ["http://[bad/x", "https://a\u2100b.example/", "://", "http://"])
def test_a_malformed_link_is_a_link_like_others(address: str) -> None:
    prose = "".join(f"<p>Paragraph {number} says something about ships that sail at night.</p>" for number in range(9))
    html = f'<title>Ships that sail at night</title><article><p><a href="{address}">Ships that sail at night</a></p>'
    content = extract(f"{html}{prose}</article>", "https://news.example/item").content
    assert "Paragraph 8 says something" in content
