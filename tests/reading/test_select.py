"""The choice of the main content, on small pages of each kind and on any tree."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from components.data_sets import SavedPages
from components.examples import examples
from groundwire.reading.extract import extract
from groundwire.reading.html.semantics import parse_page
from groundwire.reading.main_content.blocks import lay_out
from groundwire.reading.main_content.classifier import KINDS
from groundwire.reading.main_content.page_blocks import Verdict
from groundwire.reading.main_content.select import Selection, choose, select_main
from groundwire.reading.markdown.serializer import to_markdown
from groundwire.reading.markdown.tables import is_layout
from groundwire.reading.visibility.visible import drop_unseen

_NAV = """<header><a href="/">Harbour Gazette</a><nav class="menu"><ul><li><a href="/news">News</a></li>
<li><a href="/sport">Sport</a></li><li><a href="/login">Log in</a></li></ul></nav></header>"""
_FOOT = """<footer class="site-footer"><p>© 2026 Harbour Gazette. All rights reserved.</p>
<ul><li><a href="/privacy">Privacy Policy</a></li><li><a href="/terms">Terms of Service</a></li></ul></footer>"""
_PROSE = (
    "The ferry that has crossed the sound every morning since 1931 will make its last trip in April, the county said.",
    "Passengers on the quay were told that the hull can no longer be repaired, and that a bridge is planned.",
    "Maria Lindqvist, who has sold coffee on board for eighteen years, said that nobody had asked those who ride it.",
    "The bridge will cost some forty million, of which the state is to pay half; work may begin as early as autumn.",
)


def _page(body: str, head: str = "") -> str:
    return (
        f"<!doctype html><html><head><title>Harbour Gazette</title>{head}</head><body>{_NAV}{body}{_FOOT}</body></html>"
    )


def _read(markup: str) -> tuple[Selection, str]:
    selection = select_main(turbohtml.parse(markup))
    return selection, " ".join(selection.root.text.split())


def _paragraphs(*texts: str) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def test_article_without_menu_and_footer() -> None:
    related = (
        '<aside class="related"><h3>Related stories</h3><ul><li><a href="/a">Harbour dredged</a></li></ul></aside>'
    )
    selection, text = _read(
        _page(f"<main><article><h1>Last ferry</h1>{_paragraphs(*_PROSE)}</article>{related}</main>")
    )
    assert selection.kind == "article"
    assert not selection.is_complete
    for sentence in _PROSE:
        assert sentence in text
    for unwanted in ("Log in", "Privacy Policy", "All rights reserved", "Harbour dredged"):
        assert unwanted not in text


def test_documentation_keeps_code() -> None:
    code = "client = Client(timeout=30)\nfor row in client.rows('orders'):\n    print(row)"
    body = f"""<div class="sidebar"><ul class="toctree"><li><a href="a.html">Install</a></li>
    <li><a href="b.html">Reference</a></li></ul></div>
    <div class="document"><div class="body" role="main"><section id="usage"><h1>Usage</h1>
    <p>A client holds one connection; it is made once and is shared by all threads of the program.</p>
    <div class="highlight"><pre><code class="language-python">{code}</code></pre></div>
    <h2>Timeouts</h2>
    <p>A timeout is given in seconds. When it has passed, the call raises an error and the connection is closed.</p>
    </section></div></div>"""
    selection, text = _read(_page(body))
    assert "for row in client.rows('orders'):" in text
    assert "A timeout is given in seconds." in text
    assert "Log in" not in text
    assert selection.root.find("pre") is not None


def test_forum_keeps_every_post() -> None:
    posts = [
        "My boiler shows error 41 after every restart, and the manual has no such number. Has anybody seen this?",
        "Had the same last winter: it was the pressure sensor. Have the plug cleaned first, it costs nothing.",
        "Thanks, cleaning the plug did it! It has been running for two days without the error now.",
    ]
    rows = "".join(
        f'<div class="post" id="p{n}"><div class="author"><a href="/u/{n}">user{n}</a></div>'
        f'<div class="post-body"><p>{text}</p></div></div>'
        for n, text in enumerate(posts)
    )
    _, text = _read(_page(f'<div class="thread"><h1>Boiler error 41</h1>{rows}</div>'))
    for post in posts:
        assert post in text
    assert "Privacy Policy" not in text


def test_a_forum_says_who_wrote_a_post_and_when() -> None:
    posts = "".join(
        f"<div class=post id=p{n}><p class=author>by <a class=username href=/u/{n}>user{n}</a> » Tue May {n}, 2024</p>"
        f"<div class=content>{_PROSE[n]} {_PROSE[n - 1]}</div></div>"
        for n in range(1, 4)
    )
    page = _page(f"<h1>The last ferry</h1><div class=topic>{posts}</div>", "<meta name=generator content=phpBB>")
    found = extract(page, "https://forum.example/viewtopic.php?t=4")
    assert found.kind == "forum"
    for n in range(1, 4):
        assert f"user{n}" in found.content
        assert f"May {n}, 2024" in found.content


def test_product_keeps_its_facts() -> None:
    body = """<div class="product"><h1>Walking boot Nordfjell</h1><span class="price">€ 189.00</span>
    <div class="product-description">
    <p>A light boot of waxed leather for three seasons, with a sole that can be replaced by any cobbler.</p></div>
    <table class="specs"><tr><th>Weight</th><td>540 g</td></tr><tr><th>Upper</th><td>Waxed leather</td></tr>
    <tr><th>Sole</th><td>Natural rubber</td></tr></table></div>"""
    _, text = _read(_page(body))
    assert "waxed leather for three seasons" in text
    for fact in ("540 g", "Natural rubber"):
        assert fact in text


def test_listing_keeps_its_items() -> None:
    titles = [f"Walk number {n} along the coast of the northern islands" for n in range(1, 13)]
    items = "".join(
        f'<div class="card"><h3><a href="/w/{n}">{title}</a></h3>'
        f"<p>A day of {n + 8} kilometers, with a bus back in the evening.</p></div>"
        for n, title in enumerate(titles)
    )
    _, text = _read(_page(f'<main><h1>All walks</h1><div class="list">{items}</div></main>'))
    assert sum(title in text for title in titles) == len(titles)
    assert "Terms of Service" not in text


@pytest.mark.parametrize(
    "markup",
    [
        "<p>Just this.</p>",
        "Just this.",
        "<a href=/x>Just this.</a>",
        "<nav><a href=/x>Just this.</a></nav>",
        "<footer>Just this.</footer>",
        "<table><tr><td>Just this.</table>",
        "<custom-element>Just this.</custom-element>",
    ],
)
def test_page_with_text_is_never_empty(markup: str) -> None:
    _, text = _read(markup)
    assert "Just this." in text


@pytest.mark.parametrize(
    "markup", ["", "<html></html>", "<script>alert(1)</script>", "<frameset></frameset>", "<!-- -->"]
)
def test_page_without_text_is_whole(markup: str) -> None:
    selection, text = _read(markup)
    assert selection.is_complete
    assert not text


def test_row_of_a_table_keeps_its_empty_cells() -> None:
    rows = "".join(f"<tr><td>Station {n}</td><td></td><td>{n * 7} mm of rain fell there</td></tr>" for n in range(1, 9))
    table = f"<table><tr><th>Place</th><th>Note</th><th>Rain</th></tr>{rows}</table>"
    selection, text = _read(_page(f"<article><h1>Rain</h1>{_paragraphs(*_PROSE)}{table}</article>"))
    assert "Station 8" in text
    assert {len(row.find_all(["td", "th"])) for row in selection.root.find_all("tr")} == {3}


@pytest.mark.req("B25")
def test_real_tables_are_kept_whole_or_dropped_whole(saved_pages: SavedPages) -> None:
    seen = 0
    for name in sorted(saved_pages.truth)[:: 1 if saved_pages.is_own else 12]:
        if (body := saved_pages.body(name).lower()).count(b"<td") < 4 or body.count(b"<table") > 20:
            continue
        document = parse_page(saved_pages.body(name).decode("utf-8", "replace"))
        drop_unseen(document)
        tables = [table for table in document.find_all("table") if not is_layout(table)]
        marks: list[list[str]] = []
        for table in tables:
            around = table.parent
            if isinstance(around, turbohtml.Element) and any(around.closest("table") == outer for outer in tables):
                continue
            cells = table.select("td, th")
            marks.append([f"q{len(marks)}x{number}q" for number in range(len(cells))])
            for cell, mark in zip(cells, marks[-1], strict=True):
                cell.append(turbohtml.Text(f" {mark} "))
        content = to_markdown(select_main(document).root, "https://site.example/")
        for row in marks:
            found = {mark in content for mark in row}
            assert len(found) <= 1, name
            seen += found == {True}
    assert seen or saved_pages.is_own  # of which none has a table of data in its main content


@pytest.mark.req("B25")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.text("abcdefgh 0123456789", max_size=12), min_size=2, max_size=5), min_size=2, max_size=8),
    st.booleans(),
    st.sampled_from(["article", "aside", "div class=related", "footer"]),
)
def test_no_cell_of_a_table_that_is_kept_is_lost(rows: list[list[str]], header: bool, around: str) -> None:
    marked = [[f"r{row}c{place} {text}".split() for place, text in enumerate(cells)] for row, cells in enumerate(rows)]
    lines = [
        "".join(f"<{tag}>{' '.join(cell)}</{tag}>" for cell in cells)
        for cells, tag in zip(marked, ["th" if header else "td", *["td"] * len(rows)], strict=False)
    ]
    table = "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
    page = _page(f"<article><h1>Rain</h1>{_paragraphs(*_PROSE)}</article><{around}>{table}</{around.split()[0]}>")
    content = extract(page, "https://site.example/rain").content
    found = [" ".join(cell) in content for cells in marked for cell in cells]
    assert all(found) or not any(found)


def test_same_page_same_choice() -> None:
    markup = _page(f"<article><h1>Last ferry</h1>{_paragraphs(*_PROSE)}</article>")
    first, second = _read(markup), _read(markup)
    assert first[1] == second[1]
    assert first[0].root.html == second[0].root.html


def test_deep_and_wide_pages_are_read() -> None:
    deep = "<div>" * 400 + "".join(_PROSE) + "</div>" * 400
    assert _PROSE[0] in _read(deep)[1]
    wide = _page("<article>" + _paragraphs(*(f"{_PROSE[n % 4]} ({n})" for n in range(3000))) + "</article>")
    assert "(2990)" in _read(wide)[1]


_NAMES = st.sampled_from(
    ["div", "p", "ul", "li", "table", "tr", "td", "a", "span", "nav", "h2", "pre", "b", "x-y", "noscript", "button"]
)
_TREES = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(lambda text: text.replace("<", "&lt;")),
    lambda inner: st.builds(
        lambda name, cls, parts: f'<{name} class="{cls}">{"".join(parts)}</{name}>',
        _NAMES,
        st.sampled_from(["", "menu", "post-body", "comment item", "price", "é\u202e"]),
        st.lists(inner, max_size=5),
    ),
    max_leaves=40,
)


@settings(max_examples=examples(60), deadline=None)
@given(_TREES)
def test_any_tree(markup: str) -> None:
    words = Counter(re.findall(r"\w+", turbohtml.parse(markup).text))
    selection, text = _read(markup)
    assert selection.kind in KINDS
    kept = Counter(re.findall(r"\w+", selection.root.text))
    assert sum(kept.values()) <= sum(words.values())
    visible = turbohtml.parse(markup)
    for part in visible.find_all("noscript"):
        part.decompose()
    if visible.text.strip():
        assert text
    if selection.is_complete:
        assert kept == Counter(re.findall(r"\w+", visible.text)) or "noscript" in markup


def test_saved_pages_reach_a_floor(saved_pages: SavedPages) -> None:
    scores = []
    for name in sorted(saved_pages.truth)[:: 1 if saved_pages.is_own else 25]:
        markup = saved_pages.body(name).decode("utf-8", "replace")
        wanted = Counter(re.findall(r"\w+", saved_pages.truth[name]["text"].lower()))
        document = parse_page(markup)
        drop_unseen(document)
        found = Counter(re.findall(r"\w+", _spaced(select_main(document).root)))
        scores.append(2 * (wanted & found).total() / (wanted.total() + found.total()))
    assert sum(scores) / len(scores) > 0.85


def _spaced(root: turbohtml.Element) -> str:
    return " ".join(root.strings).lower()


_LINKS = "".join(f'<a href="/{number}">Department {number}</a> ' for number in range(6))
_BODY = f"<div>{_paragraphs(*_PROSE)}</div>"


def _blocks(body: str) -> str:
    return " ".join(lay_out(turbohtml.parse(f"<body>{body}</body>")).texts)


@pytest.mark.parametrize(
    "menu",
    [
        f'<div><div class="TopBar-links">{_LINKS}</div></div>',
        f'<header id="top">{_LINKS}</header>',
        f"<aside>{_LINKS}</aside>",
        f"<footer><p>All of us</p>{_LINKS}</footer>",
        f'<section role="contentinfo">{_LINKS}</section>',
    ],
)
def test_what_is_called_a_menu_and_is_nothing_but_links_is_no_block(menu: str) -> None:
    assert "Department" not in _blocks(menu + _BODY)


@pytest.mark.parametrize(
    "part",
    [
        f'<div class="lamps">{_LINKS}</div>',  # a list of links by any other name
        f'<header id="top"><h1>Departments</h1>{_LINKS}</header>',  # what it heads is what the page is about
        f'<header id="top"><p>{_PROSE[0]} {_PROSE[1]}</p>{_LINKS}</header>',  # text for the most part
        '<div class="menu"><a href="/1">Department 1</a></div>',  # a link or two
        "<div>" * 9 + f'<div class="menu">{_LINKS}</div>' + "</div>" * 9,  # deep inside
    ],
)
def test_other_links_are_blocks(part: str) -> None:
    assert "Department 1" in _blocks(part + _BODY)


def test_a_page_of_many_parts_keeps_them() -> None:
    parts = "".join(f"<div><div><p>Part {number} of the inventory</p></div></div>" for number in range(400))
    assert _blocks(parts + f'<div class="menu">{_LINKS}</div>').count("of the inventory") == 400


def _verdict(scores: list[int], *, documentation: float = 0.0, cut: float = 120) -> Verdict:
    kinds = [0.0] * len(KINDS)
    kinds[KINDS.index("documentation")], kinds[KINDS.index("article")] = documentation, 1 - documentation
    return Verdict(scores, tuple(kinds), cut)


_TWICE = f"<div class=wide>{_paragraphs(*_PROSE)}</div><div class=narrow>{_paragraphs(*_PROSE)}</div>"


@pytest.mark.req("B2")
def test_what_a_page_says_in_two_places_is_kept_once() -> None:
    layout = lay_out(turbohtml.parse(f"<body>{_TWICE}"))
    assert choose(layout, _verdict([240] * 8)).keep == [True] * 4 + [False] * 4


def test_a_copy_stands_in_for_a_text_that_is_not_kept() -> None:
    layout = lay_out(turbohtml.parse(f"<body>{_TWICE}"))
    assert choose(layout, _verdict([10] * 4 + [240] * 4)).keep == [False] * 4 + [True] * 4


def test_what_is_repeated_in_one_place_stays() -> None:
    layout = lay_out(turbohtml.parse(f"<body><div>{_paragraphs(*_PROSE, *_PROSE)}</div>"))
    assert choose(layout, _verdict([240] * 8)).keep == [True] * 8


def test_documentation_may_repeat_a_note_at_every_function() -> None:
    layout = lay_out(turbohtml.parse(f"<body>{_TWICE}"))
    assert choose(layout, _verdict([240] * 8, documentation=0.4)).keep == [True] * 8


def test_cells_and_code_may_be_repeated() -> None:
    row = f"<tr><td>{_PROSE[0]}</td><td>{_PROSE[1]}</td></tr>"
    code = f"<div><pre>{_PROSE[2]}</pre></div>"
    layout = lay_out(
        turbohtml.parse(f"<body><table>{row}</table><table>{row}</table>{code}{code}{_paragraphs(*_PROSE)}")
    )
    keep = choose(layout, _verdict([240] * 10)).keep
    assert keep[:6] == [True] * 6


def test_short_texts_may_be_repeated() -> None:
    layout = lay_out(turbohtml.parse(f"<body>{'<div><p>Anchor</p><p>Ship</p></div>' * 2}{_paragraphs(*_PROSE)}"))
    assert choose(layout, _verdict([240] * 8)).keep == [True] * 8


@given(st.lists(st.sampled_from([*_PROSE, "Ship", "Anchor"]), min_size=1, max_size=12), st.data())
def test_a_repeated_text_never_goes_altogether(texts: list[str], data: st.DataObject) -> None:
    layout = lay_out(turbohtml.parse("<body>" + "".join(f"<div><p>{text}</p></div>" for text in texts)))
    scores = data.draw(st.lists(st.integers(0, 254), min_size=len(texts), max_size=len(texts)))
    verdict = _verdict(scores)
    keep = choose(layout, verdict).keep
    wanted = {text for text, score in zip(texts, scores, strict=True) if score >= verdict.cut}
    assert wanted <= {text for text, kept in zip(texts, keep, strict=True) if kept}
