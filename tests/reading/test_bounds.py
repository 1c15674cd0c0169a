from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
import turbohtml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.examples import examples
from components.work import growth
from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded
from groundwire.reading.block_pages.classify import soft_block
from groundwire.reading.convert import convert
from groundwire.reading.documents.pdf.blocks import join_broken
from groundwire.reading.documents.pdf.headings import _NUMBERING
from groundwire.reading.html.limits import MAX_DEPTH, MAX_LINKS, MAX_MARKUP, MAX_NODES, MAX_TAGS, fit, is_heavy, trim
from groundwire.reading.html.math import is_formula
from groundwire.reading.html.semantics import parse_page
from groundwire.reading.markdown.escaping import web_url
from groundwire.reading.text.sanitize import clean_text
from groundwire.reading.visibility.unrendered import drop_unrendered
from groundwire.reading.visibility.visible import drop_unseen
from groundwire.reading.workers.pool import Conversion

pytestmark = pytest.mark.req("B2", "Y15")

GIANTS: dict[str, Callable[[], str]] = {
    "nesting": lambda: "<div>" * 200_000 + "deep",
    "paragraphs": lambda: "".join(f"<p>Paragraph number {number}.</p>" for number in range(100_000)),
    "links": lambda: "".join(f'<a href="/p/{number}">link {number}</a> ' for number in range(60_000)),
    "table": lambda: "<table>" + ("<tr>" + "<td>cell</td>" * 700 + "</tr>") * 700 + "</table>",
    "word": lambda: "<p>" + "w" * 5_000_000,
    "line": lambda: "<p>" + "w w " * 1_250_000,
    "attributes": lambda: "<div " + " ".join(f"a{number}=1" for number in range(200_000)) + ">x</div>",
    "entities": lambda: "<p>" + "&notit;" * 300_000,
    "open-tags": lambda: "<b>" * 1_000_000 + "x",
    "formatting": lambda: "".join(f"<p><b id={number}>" for number in range(100_000)),
    "formatting-hidden-ends": lambda: "".join(f"<p><b id={number}><!-- </b> -->" for number in range(50_000)),
    "formatting-quoted-ends": lambda: "".join(f'<p><b x" y="{number}>x</b>">' for number in range(50_000)),
    "formatting-in-tables": lambda: "".join(f"<p><b id={number}><table></b></table>" for number in range(20_000)),
    "formatting-in-objects": lambda: "".join(f"<p><i id={number}><object></i></object>" for number in range(20_000)),
    "adoption": lambda: "<b>" + "<div>" * 50_000 + "</b>" * 50_000,
    "nested-tables": lambda: "<table><tr><td>" * 100_000 + "x",
    "fostered": lambda: "<table>" + "<b>x" * 50_000,
    "lists": lambda: "<ul><li>" * 100_000 + "x",
    "style": lambda: "<style>" + "a{color:red}" * 500_000 + "</style>x",
    "script": lambda: "<script>" + "a<b;" * 1_000_000 + "</script><p>x",
    "less": lambda: "<" * 1_000_000,
    "svg": lambda: "<svg>" * 150_000 + "x",
    "template": lambda: "<template>" * 100_000 + "x",
    "select": lambda: "<select>" + "<option>x" * 200_000,
}


def levels(document: turbohtml.Document) -> int:
    """Return how deep the elements of a document are nested."""
    depths: dict[object, int] = {}
    for element in document.iter_elements():
        depths[element] = depths.get(element.parent, 0) + 1
    return max(depths.values(), default=0)


@pytest.mark.parametrize("name", GIANTS)
def test_a_giant_becomes_a_tree_of_bounded_size_in_bounded_time(name: str) -> None:
    markup = GIANTS[name]()
    fitting, _ = fit(markup)
    document = turbohtml.parse(fitting, positions=False)
    trim(document)
    assert len(fitting) <= MAX_MARKUP
    assert sum(1 for _ in document.descendants) <= 2 * MAX_NODES
    assert levels(document) <= MAX_DEPTH
    assert len(document.select("a[href]")) <= MAX_LINKS


@pytest.mark.parametrize("name", ["paragraphs", "links", "table", "word"])
def test_what_is_cut_is_said_to_be_cut_and_is_the_beginning(name: str) -> None:
    markup = GIANTS[name]()
    fitting, cut = fit(markup)
    assert cut
    assert markup.startswith(fitting)


def test_a_page_within_the_bounds_stays_as_it_is() -> None:
    page = "<h1>Bread</h1>" + "<p><b>Rye</b> and <i class=x>wheat</i> <a href=/more>more</a></p>" * 3_000
    assert fit(page) == (page, False)
    document = turbohtml.parse(page)
    before = document.html
    assert not trim(document)
    assert document.html == before


def test_many_closed_formatting_tags_are_no_explosion() -> None:
    page = '<p><b class="a"><i>rye</i> <u>bread</u></b></p>' * 4_000
    assert fit(page) == (page, False)


def test_formatting_that_multiplies_loses_its_effect_and_no_text() -> None:
    markup, cut = fit("".join(f"<p><b id={number}>Part {number}" for number in range(5_000)))
    assert not cut
    assert turbohtml.parse(markup).text == "".join(f"Part {number}" for number in range(5_000))


def test_the_tags_are_cut_before_the_first_that_is_too_many() -> None:
    assert fit("<p>a" * (MAX_TAGS + 1)) == ("<p>a" * MAX_TAGS, True)
    assert fit("<p>a" * MAX_TAGS) == ("<p>a" * MAX_TAGS, False)


def test_what_is_too_deep_keeps_its_text_and_its_order() -> None:
    n = 3 * MAX_DEPTH
    document = turbohtml.parse("".join(f"<div>{number} " for number in range(n)) + "</div>" * n)
    assert trim(document)
    assert levels(document) == MAX_DEPTH
    assert document.text.split() == [str(number) for number in range(n)]


def test_links_after_the_last_that_counts_stay_as_text() -> None:
    document = turbohtml.parse("".join(f"<a href=/{number}>{number}</a> " for number in range(MAX_LINKS + 5)))
    assert trim(document)
    assert len(document.select("a[href]")) == MAX_LINKS
    assert document.text.split()[-1] == str(MAX_LINKS + 4)


@pytest.mark.parametrize(
    ("body", "heavy"),
    [
        (b"<p>rye</p>" * 1_000, False),
        (b"<i>rye</i>" * 3_000, True),
        (b"r" * 600_000, True),
        (b"<p>" * 30_000, True),
        (("<p>" * 30_000).encode("utf-16"), True),
    ],
)
def test_a_heavy_body_is_told_by_its_size_and_its_tags(body: bytes, heavy: bool) -> None:
    assert is_heavy(body) is heavy


@given(
    st.lists(
        st.sampled_from(
            ["<p>", "<b>", "<b x='1'>", "</b>", "<i>", "</i>", "<a href=x>", "</a>", "<table>", "<td>", "</table>",
             "text", "<!--", "-->", "<div>", "</div>", "<font size=1>", "</font>", "<svg>", "<object>", "&amp;", "<"]
        ),
        max_size=60,
    ).map("".join)
)  # fmt: skip
def test_small_pages_are_never_cut(markup: str) -> None:
    assert fit(markup) == (markup, False)


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is that of Linux")
def test_formatting_that_multiplies_does_not_fill_the_memory() -> None:
    code = (
        "import resource, turbohtml\n"
        "from groundwire.reading.html.limits import fit\n"
        "markup = ''.join(f'<p><b id={number}>' for number in range(100_000))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "document = turbohtml.parse(fit(markup)[0], positions=False)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    grown = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert grown * 1_024 < 100_000_000


_PIECES = (
    "<b id={0}>", "</b>", "<i id={0}>", "</i>", "<code id='{0}'>", "</code>", "<a href={0}>", "</a>", "<span>",
    "</span>", "<p>", "</p>", "<svg>", "</svg>", "<br>", "<!-- </b> -->", "<td>", "x",
)  # fmt: skip


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.sampled_from(_PIECES), min_size=2, max_size=7))
@example(["<b id={0}>", "<i id={0}>", "</b>", "<p>"])
@example(["<b id={0}>", "<!-- </b> -->", "<p>"])
@example(["<b id={0}>", "<span>", "<b id={0}>", "</b>", "</span>", "<p>"])
@example(["<b id={0}>", "<p>", "<td>", "<b id={0}>", "<p>"])
@example(["<svg>", "<p>", "<code id='{0}'>", "<p>", "</b>", "</b>"])
def test_whatever_is_left_open_again_and_again_makes_a_tree_of_bounded_size(pieces: list[str]) -> None:
    markup = "".join("".join(pieces).format(number) for number in range(1_200))
    document = turbohtml.parse(fit(markup)[0])
    assert sum(1 for _ in document.iter_elements()) <= 2 * MAX_NODES


_OPENED = "".join(f"<b id={number}>" for number in range(300))


@pytest.mark.parametrize(
    "markup",
    [
        f"<p>{_OPENED}{'<html>' * 3}",
        f"<p>{_OPENED}{'<table><td></table>' * 3}",
        f"<p>{_OPENED}{'<table><caption>x<tr><td></table>' * 3}",
        f"<p>{_OPENED}{'<table><td><table><td></table></table>' * 3}",
        f"<p>{_OPENED}{'<select>' * 4}",
        f"<p>{_OPENED}{'<svg><object>' * 3}",
        f"<p>x<table>{_OPENED}</table>",
        f"<p>x<table>{_OPENED}<table></table>",
        f"<p>x<select>{_OPENED}</select>",
    ],
)
def test_what_seems_to_limit_formatting_hides_none(markup: str) -> None:
    document = turbohtml.parse(fit(markup + "<p>x" * 5_000)[0], positions=False)
    assert sum(1 for _ in document.iter_elements()) <= 2 * MAX_NODES


_ARTICLE = "<p>" + "The wheel was mended, and the miller wrote down what each spoke had cost. " * 12 + "</p>"


@pytest.mark.parametrize(
    "markup",
    [
        f"<p>{'-' * 200_000}x</p>",
        f"<p style='filter:{'a' * 100_000}'>x</p>",
        f"<p style='clip-path:{'a-' * 100_000}'>x</p>",
        f"<p style='transform:{'a(' * 100_000}'>x</p>",
        f"<p style='clip-path:path(\"{'m1' * 100_000}\")'>x</p>",
        f"<p style='clip-path:shape({'from a ' * 50_000})'>x</p>",
        f"<p style='color:attr(a {'type(' * 100_000})'>x</p>",
        f"<style>{'@font-face{src:url(data:' * 30_000}</style><p>x</p>",
        f"<style>@font-face{{{'src:local(' * 50_000}}}</style><p>x</p>",
    ],
    ids=["dashes", "filter", "clip-path", "transform", "path", "shape", "attr", "faces", "sources"],
)
def test_a_long_run_of_one_sign_takes_no_more_than_its_length(markup: str) -> None:
    found = convert((markup + _ARTICLE).encode(), "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "wrote down what each spoke" in found.extracted.content


def test_a_long_word_at_the_beginning_of_a_heading_is_no_number() -> None:
    assert _NUMBERING.sub("", "Donaudampfschifffahrtsgesellschaft" * 20) == "Donaudampfschifffahrtsgesellschaft" * 20
    assert _NUMBERING.sub("", "Chapter 3.2.1 The wheel") == "The wheel"


def test_a_text_without_spaces_is_joined_in_its_length() -> None:
    assert join_broken("水" * 200_000, "車", frozenset()) == "水" * 200_000 + " 車"


@pytest.mark.parametrize("text", ["your network ", "アクセス", "a.", "[a](b)", "subscribe to "])
def test_what_a_short_page_pleads_is_looked_for_in_no_more_than_its_length(text: str) -> None:
    for content in (text * 20_000, text.replace(" ", "_") * 20_000):
        soft_block({}, "https://mill.example/", "<p>", title=content, content=content)


async def test_a_page_that_cannot_be_ended_does_not_hold_up_the_next() -> None:
    rules = "".join(f"[data-x*='{number}'] p{{display:none}}" for number in range(3_000))
    slow = f"<style>{rules}</style><div data-x='{'12345' * 3_000}'>{'<p>x</p>' * 2_000}".encode()
    pages = Conversion()
    first = pages._threads
    try:
        for _ in range(2):
            with pytest.raises(DeadlineExceeded):
                await pages.convert(slow, "text/html", "https://a.example/", headers={}, deadline=Deadline.after(0.05))
        found = await pages.convert(
            _ARTICLE.encode(), "text/html", "https://a.example/", headers={}, deadline=Deadline.after(60)
        )
    finally:
        await pages.aclose()
    assert pages._threads is not first, "an ordinary page waits for one that nobody waits for any more"
    assert "wrote down" in found.extracted.content


async def test_style_rules_that_take_long_to_match_are_given_up() -> None:
    rules = "".join(f"[data-x*='{number}'] p{{display:none}}" for number in range(3_000))
    slow = f"<style>{rules}</style><div data-x='{'12345' * 3_000}'></div>{'<p>x</p>' * 2_000}{_ARTICLE}".encode()
    found = convert(slow, "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "wrote down" in found.extracted.content


@pytest.mark.parametrize(
    "style",
    [
        "font-size:1e999em",
        f"font-size:{'9' * 5_000}px",
        "font-size:1.2.3em",
        "position:fixed;right:1.2.3vw",
        "display:-webkit-box;-webkit-line-clamp:1e999",
        "column-count:1e999",
        "column-width:1e-320px",
        "margin-inline:calc(infinity / infinity)",
        "width:calc(infinity * 1px);margin-left:calc(-infinity * 1px)",
        "rotate:1e999deg",
        "transform:skewx(1e999deg)",
        "clip-path:path('m 1.2.3 4 h 5 v 6 h 7')",
        "color:hsl(. 50% 50%)",
        "color:oklch(50% .1 1e999deg)",
        "color:lab(1e300 1e300 1e300)",
        "color:oklab(1e300 1e300 1e300)",
        "color:color(display-p3 1e300 -1e300 1e300)",
        f"color:{'color-mix(in srgb, red, ' * 5_000}blue{')' * 5_000}",
    ],
)
def test_no_number_in_a_style_is_too_large(style: str) -> None:
    box = (
        f'<div style="position:relative;overflow:hidden;height:40px"><p style="{style};overflow:hidden">a <b>b</b></p>'
    )
    page = f"<style>@media (min-resolution:1.2.3dppx){{p{{{style}}}}}</style>{_ARTICLE}{box}"
    found = convert(page.encode(), "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "wrote down" in found.extracted.content


def test_a_long_base_is_not_repeated_with_each_link() -> None:
    links = "".join(f"<li><a href=p{number}>Page {number} of the mill's book</a>" for number in range(1_000))
    page = f"<base href='https://mill.example/{'x/' * 20_000}'>{_ARTICLE}<ul>{links}</ul>"
    found = convert(page.encode(), "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert len(found.extracted.content) < 2 * len(page)
    assert web_url("p1", f"https://mill.example/book/?{'x' * 5_000}") == "https://mill.example/book/p1"


def test_attributes_of_repeated_roots_do_not_fill_the_memory() -> None:
    roots = "".join(f"<p>Part {number}</p><html a{number}=1><BODY\nb{number}='>'>" for number in range(2_000))
    markup, cut = fit(f"{_ARTICLE}<!-- <body> -->{roots}<p>The end")
    document = turbohtml.parse(markup, positions=False)
    assert not cut
    assert sum(len(element.attrs) for element in document.find_all(["html", "body"])) < 50
    assert "Part 1999" in markup
    assert document.text.endswith("The end")


def test_words_of_a_formula_are_looked_for_in_no_more_than_a_formula() -> None:
    shown = "xyzw" * 1_000_000 + "sail"
    assert not is_formula("sail " * 200_000, shown)
    document = parse_page("<math>" + "<annotation encoding=tex>x^2</annotation>" * 100_000 + "</math>")
    assert not drop_unrendered(document)


@pytest.mark.parametrize(
    "page",
    [
        lambda count: (
            "<script src=x></script>"
            + "".join(f"<template id=B:{number}></template>" for number in range(count))
            + "".join(f"<div hidden id=S:{number}>part</div>" for number in range(count))
        ),
        lambda count: "<div>" * (count // 5) + "<div style='position:absolute;left:-500px'>x</div>" * count,
        lambda count: (
            "<div style='background:#fff'>"
            + "<div>" * (count // 5)
            + "<div style='position:relative;z-index:-1'>x</div>" * count
        ),
    ],
    ids=["streamed parts", "absolute boxes", "boxes behind"],
)
def test_what_is_hidden_is_found_in_linear_time(page: Callable[[int], str]) -> None:
    assert growth(lambda count: drop_unseen(parse_page(page(count))), 500, 2_000) < 5


def test_the_columns_of_a_table_are_looked_for_once() -> None:
    document = parse_page(f"<table>{'<tr><td>a<td>b' * 50_000}{'<col style=visibility:collapse>' * 50_000}</table>")
    assert not drop_unseen(document).counts


@pytest.mark.parametrize("text", ["[x]", "[x\\]", "[a](b ", "[a](b(c)", "[a](<b", "](x"])
def test_links_are_looked_for_in_no_more_than_the_text(text: str) -> None:
    markdown = text * (400_000 // len(text)) + "[mill](javascript:x) [sail](sail.html)"
    cleaned, _ = clean_text(markdown)
    assert "javascript" not in cleaned.rpartition("mill")[2]
    assert cleaned.endswith("[sail](sail.html)")


@pytest.mark.parametrize(
    "selector",
    [
        ":is(:is(:is(i.a .a) .a) .a) .q",
        ":is(:is(:is(i.a ~ .a) ~ .a) ~ .a) ~ .q",
        ":not(:not(:not(i.a .a) .a) .a) .q",
        "*:not(:has(i.a)) .q",
        ".q:has(~ .a ~ .a ~ i.q)",
        ".q:nth-child(2n + 1 of :nth-child(2n + 1 of :nth-child(2n + 1 of .a)))",
    ],
)
def test_selectors_within_selectors_take_a_limited_number_of_steps(selector: str) -> None:
    boxes = "<div class='a q'>" * 400 + "x" + "</div>" * 400 + "<p class='a q'>x</p>" * 2_000 + "<i>x</i>"
    page = f"<style>{''.join(f'{selector}:not(#x{number}){{display:none}}' for number in range(50))}</style>{boxes}"
    found = convert((page + _ARTICLE).encode(), "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "wrote down" in found.extracted.content


@pytest.mark.parametrize("state", [":hover", ":checked", ":not(:checked)"])
def test_selectors_within_selectors_of_a_state_are_not_looked_for(state: str) -> None:
    boxes = "<div class='a q'>" * 400 + "x" + "</div>" * 400 + "<p class='a q'>x</p>" * 2_000 + "<i>x</i>"
    inner = ":is(:is(:is(i.a .a) .a) .a) .q"
    rules = f".q{state} {inner}{{display:block}}{inner}{state} .q{{display:block}}.h{{display:none}}"
    page = f"<script src=a.js></script><style>{rules}</style>{boxes}<div class=h>{_ARTICLE}</div>{_ARTICLE}"
    found = convert(page.encode(), "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "wrote down" in found.extracted.content


def test_a_selector_within_a_selector_finds_no_host_of_a_part() -> None:
    shadow = "<x-a class=q><template shadowrootmode=open><p part=x>The wheel turns.</p></template></x-a>"
    boxes = "<div class='a q'>" * 400 + shadow + "</div>" * 400
    page = f"<style>:is(:is(:is(:is(:is(i.a .a) .a) .a) .a) .a) .q::part(x){{display:none}}</style>{boxes}{_ARTICLE}"
    found = convert(page.encode(), "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "wrote down" in found.extracted.content


def test_a_selector_within_a_selector_is_matched_on_an_ordinary_page() -> None:
    rule = ":is(.menu, .box:has(> b)) :is(main .a, .b ~ .c):not(.d .e) {display: none}"
    page = f"{_ARTICLE}<style>{rule}</style><main class=menu><p class=a>unseen</p><p class=a2>seen</p></main>"
    found = convert(page.encode(), "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "unseen" not in found.extracted.content


def test_a_character_of_four_bytes_does_not_fill_the_memory_of_the_caller() -> None:
    text = "The mill turned.\n" * 500_000
    found = convert(f"{text}\U0001f468".encode(), "text/plain", "https://mill.example/log.txt", headers={})
    assert found.extracted.cut
    assert 4 * len(found.extracted.content) < 20_000_000
    found = convert(text.encode(), "text/plain", "https://mill.example/log.txt", headers={})
    assert not found.extracted.cut


@pytest.mark.parametrize("selector", [":::part(x)", "> ::part(x)", "x-a ~::part(x)", "x-a[b::part(x)", ":hover > [x"])
def test_an_invalid_selector_of_a_part_matches_nothing(selector: str) -> None:
    shadow = "<x-a><template shadowrootmode=open><p part=x>The wheel turns.</p></template></x-a>"
    page = f"<style>{selector}{{display:none}}</style>{_ARTICLE}{shadow}"
    found = convert(page.encode(), "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "The wheel turns." in found.extracted.content


def test_a_link_to_no_address_is_no_link_to_the_front_page() -> None:
    page = f"<title>The wheel - The mill</title><p><a href='//['>No one</a> <a href=/>The mill</a></p>{_ARTICLE}"
    found = convert(page.encode(), "text/html; charset=utf-8", "https://mill.example/wheel", headers={})
    assert found.extracted.site == "The mill"
