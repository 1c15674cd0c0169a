"""Which blocks are kept, given their scores: each rule at its limits, and what tells a page's kind."""

from __future__ import annotations

import pytest
import turbohtml

from groundwire.models.validators import PAGE_PARTS
from groundwire.reading.main_content.blocks import Layout, lay_out
from groundwire.reading.main_content.classifier import KINDS, load_model
from groundwire.reading.main_content.features import FEATURES, ElementFacts, describe
from groundwire.reading.main_content.page_parts import PARTS, choose_parts, part_blocks
from groundwire.reading.main_content.select import (
    Verdict,
    choose,
    is_tiny,
    judge,
    kind_row,
    may_repeat,
    prune,
    repeats,
    select_main,
    side_by_side,
    with_companions,
)
from groundwire.reading.main_content.text_features import names_of

LONG = "x" * 40
FILLER = "<pre>" + "y" * 220 + "</pre>"  # so that the page is not tiny; in the verdicts it always counts


def page(markup: str) -> Layout:
    return lay_out(turbohtml.parse(f"<body>{FILLER}{markup}</body>"))


def verdict(*scores: int, documentation: float = 0.0, cut: float = 120) -> Verdict:
    kinds = [0.0] * len(KINDS)
    kinds[KINDS.index("documentation")], kinds[KINDS.index("article")] = documentation, 1 - documentation
    return Verdict(list(scores), tuple(kinds), cut)


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


@pytest.mark.parametrize(("best", "kept"), [(50, [True, True]), (51, [True, False])])
def test_a_page_whose_best_block_is_no_content_is_kept_whole(best: int, kept: list[bool]) -> None:
    assert choose(page(f"<p>{LONG}</p>"), verdict(best, 0)) == kept


@pytest.mark.parametrize(
    ("best", "cut", "kept"), [(126, 200, True), (128, 200, False), (100, 90, True), (128, 90, False)]
)
def test_a_page_without_running_text_is_kept_whole_when_nothing_is_likely(best: int, cut: int, kept: bool) -> None:
    assert choose(page("<div>other</div>"), verdict(best, 0, cut=cut)) == [True, kept]


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
        ("<div>no</div><pre>code</pre><div>text</div>", (0, 0, 200), [False, False, True]),
        ("<div>text</div><pre>code</pre><div>no</div>", (200, 0, 0), [True, False, False]),
        ("<div>yes</div><div>no</div><pre>code</pre><div>text</div>", (200, 0, 0, 200), [True, False, False, True]),
        ("<div>no</div><div>between</div><div>text</div>", (0, 0, 200), [False, False, True]),
    ],
)
def test_headings_go_with_what_follows_and_code_with_what_is_around(
    markup: str, scores: tuple[int, ...], kept: list[bool]
) -> None:
    assert chosen(markup, *scores) == kept


def test_code_at_the_very_beginning_has_nothing_before_it() -> None:
    layout = lay_out(turbohtml.parse(f"<body><pre>code</pre><div>{LONG * 6}</div><div>last</div></body>"))
    assert choose(layout, verdict(0, 200, 200)) == [False, True, True]


@pytest.mark.parametrize(("score", "kept"), [(59, False), (60, True)])
def test_a_paragraph_between_two_kept_ones_needs_half_as_much(score: int, kept: bool) -> None:
    two = f"<section><p>{LONG}a</p><p>{LONG}b</p></section>"
    assert chosen(f"<main><p>{LONG}a</p><p>{LONG}b</p><p>{LONG}c</p></main>", 120, score, 120, cut=120)[1] is kept
    assert chosen(two, 120, 100) == [True, False], "at the end it is between nothing"
    assert chosen(two, 100, 120) == [False, True]


def test_paragraphs_side_by_side_are_judged_together_from_three_on() -> None:
    three = page(f"<main><p>{LONG}</p><p>{LONG}</p><p>{'x' * 160}</p></main>")
    (group,) = side_by_side(three)
    assert group == [1, 2, 3]
    assert with_companions(three, [200, 200, 0, 100], [group]) == [200, 200, 100, 100]
    assert with_companions(three, [200, 0, 0, 101], [group]) == [200, 50, 50, 101]
    assert with_companions(three, [200, 200, 0, 100], [group[:2]]) == [200, 200, 0, 100]


@pytest.mark.parametrize(
    ("markup", "groups"),
    [
        (f"<p>{LONG}</p>", [[1]]),
        (f"<p>{LONG[1:]}</p>", []),
        (f"<p>{LONG}</p><p>{LONG}</p><ul><li>{LONG}</li></ul>", [[1, 2], [3]]),
        (f"<div><p>{LONG}</p></div><section><p>{LONG}</p></section>", [[1], [2]]),
        (f"<div>{LONG}</div>", []),
        (f"<p><a href=x>{'x' * 20}</a>{'y' * 30}</p>", [[1]]),
        (f"<p><a href=x>{'x' * 21}</a>{'y' * 29}</p>", []),
    ],
)
def test_what_stands_side_by_side(markup: str, groups: list[list[int]]) -> None:
    assert side_by_side(page(markup)) == groups


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
        ((200, 0, 200, 200, 0), [True] * 5),
        ((200, 0, 200, 0, 0), [True, False, True, False, False]),
        ((200, 0, 200), [True] * 3),
        ((200, 0, 159), [True, False, True]),
        ((200, 40), [True, True]),
        ((200, 39), [True, False]),
    ],
)
def test_lists_of_which_most_is_kept_are_not_torn(scores: tuple[int, ...], kept: list[bool]) -> None:
    items = "".join(f"<li>item {number}</li>" for number in range(len(scores)))
    assert chosen(f"<ul>{items}</ul>", *scores) == kept


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        ((200, 70, 50, 200), [True] * 4),
        ((200, 70, 49, 200), [True, False, False, True]),
        ((200, 70, 50, 10), [True, False, False, False]),
        ((10, 70, 50, 200), [False, False, False, True]),
    ],
)
def test_a_short_list_between_selected_blocks_needs_half(scores: tuple[int, ...], kept: list[bool]) -> None:
    markup = f"<section>{LONG}</section><ul><li>one</li><li>two</li></ul><blockquote>{LONG}</blockquote>"
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
    assert repeats(layout, [True] * len(layout.texts)) == found
    assert repeats(layout, [False] * len(layout.texts)) == []


def facts(**columns: bytes) -> ElementFacts:
    """Return facts of two blocks of 10 and 30 characters, all columns 0 but those that are given."""
    rows = [columns.get(name, b"\0\0") for name in FEATURES]
    return ElementFacts(rows, [], [], [], [], [], [], [], [10, 30], [False, False], [])


def test_a_pages_kind_is_told_by_its_own_features_and_the_average_of_its_content() -> None:
    own = len(FEATURES) - FEATURES.index("page_blocks")
    first = FEATURES[FEATURES.index("page_blocks")]
    row = kind_row(facts(**{first: b"\x07\x07", "link_share": b"\x64\x14", "kw_thread": b"\0\x01"}), [254, 127])
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


def test_a_page_without_text_is_whole() -> None:
    selection = select_main(turbohtml.parse("<body><div></div></body>"))
    assert (selection.root.tag, selection.kind, selection.whole, selection.best) == ("body", KINDS[0], True, 1.0)


def test_the_best_block_is_told_as_a_chance() -> None:
    menu = "".join(f'<li><a href="/{number}">Menu {number}</a></li>' for number in range(60))
    selection = select_main(turbohtml.parse(f"<body><nav><ul>{menu}</ul></nav></body>"))
    assert 0 <= selection.best <= 1
    tiny = select_main(turbohtml.parse("<body><p>Not much.</p></body>"))
    assert (tiny.whole, tiny.best) == (True, 1.0)


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


def test_a_page_of_which_something_is_left_out_is_not_whole() -> None:
    prose = "".join(
        f"<p>The harbour of the town number {at} was dredged in the spring of that year.</p>" for at in range(9)
    )
    menu = "".join(f'<li><a href="/{number}">Menu {number}</a></li>' for number in range(20))
    assert not select_main(turbohtml.parse(f"<body><ul>{menu}</ul><main>{prose}</main></body>")).whole
    assert select_main(turbohtml.parse(f"<body><main>{prose}</main></body>")).whole


def test_entries_below_a_kept_entry_are_not_torn_off() -> None:
    contents = "<ul><li>{}<ul><li>Early</li><li>{}</li></ul></li><li>Use</li></ul>"
    assert chosen(contents.format("History", "Late"), 200, 0, 0, 200) == [True] * 4
    assert chosen(contents.format("History", "Late"), 0, 0, 0, 200) == [False, False, False, True]
    assert chosen(contents.format("History", LONG * 2), 200, 0, 0, 0) == [True, True, False, False]


COMMENTS = f"<div id=comments><h3>Comments</h3><p>{LONG}</p><button>Reply</button></div>"


@pytest.mark.parametrize(
    ("markup", "kept", "found"),
    [
        (COMMENTS, [1, 1, 1, 0], [1, 2, 3]),
        (COMMENTS.replace("<p>", f"<p>{LONG * 12}"), [1, 1, 1, 0], []),  # most of the page: what it is for
        (COMMENTS.replace("comments", "commentary"), [1, 1, 1, 0], []),
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


ALL_PARTS = (
    "<main><p>{0}</p><p>{0}</p><p>{0}</p><p class=byline>By Ada</p><figure><figcaption>The marsh</figcaption></figure>"
    "<div id=comments><p>So it is.</p><button>Reply</button></div><div class=cookie-banner><p>We bake.</p></div>"
    "<div class=related-posts><p>The hill.</p></div><div class=product-reviews><p>Five stars.</p></div></main>"
)
NUMBERS = {"bylines": [4], "captions": [5], "comments": [6, 7], "notices": [8], "related": [9], "reviews": [10]}


@pytest.mark.parametrize("part", sorted(PARTS))
def test_the_parts_of_a_page_are_known_by_their_names_and_kept_if_wanted(part: str) -> None:
    layout = page(ALL_PARTS.format(LONG))
    names, kinds = names_of(layout), [float(kind == "article") for kind in KINDS]
    keep = [True] * 4 + [False] * 7
    assert part_blocks(layout, names, keep, part) == NUMBERS[part]
    choose_parts(layout, names, kinds, keep, [part])
    wanted = {*range(4), *NUMBERS[part]} - {7}  # without the button
    assert [number for number, kept in enumerate(keep) if kept] == sorted(wanted)


@pytest.mark.parametrize(
    ("kind", "left"),
    [("article", [6, 7, 8]), ("product", [6, 7, 8, 10]), ("documentation", [6, 7]), ("forum", []), ("service", [6, 7])],
)
def test_what_is_left_out_depends_on_the_kind_of_page(kind: str, left: list[int]) -> None:
    layout, keep = page(ALL_PARTS.format(LONG * 3)), [True] * 11
    choose_parts(layout, names_of(layout), [float(one == kind) for one in KINDS], keep)
    assert [number for number, kept in enumerate(keep) if not kept] == left


def test_every_part_of_the_setting_is_known() -> None:
    assert sorted(PARTS) == list(PAGE_PARTS)
