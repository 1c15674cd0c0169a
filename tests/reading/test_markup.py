from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.reading.body import MAX_CONTENT, whole_body
from groundwire.reading.clean import clean, strip_controls
from groundwire.reading.markup import attribute, shorten, tokens, unescape, web_address

pytestmark = pytest.mark.req("B2")

URL = "https://library.example/rooms/"
pieces = st.sampled_from(
    [
        *("<p>", "</p>", "<div hidden>", "</div>", "<a href='x y'>", "</a>", "<ul>", "<li>", "</ul>", "<h1>", "</h1>"),
        *("<table>", "<tr>", "<td>", "</td>", "</tr>", "</table>", "<pre>", "</pre>", "<br>", "<script>", "</script>"),
        *("<!--", "-->", "<", ">", '"', "=", "&amp;", "&#99999999999;", "words ", "```", "|", "<svg>", "</svg>"),
        *('<a b="', "<base href=/q/>", "\n"),
    ]
)
pages = st.lists(pieces | st.text(max_size=5), max_size=40).map("".join)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h2>Opening hours</h2><p>From nine<br>to five.</p>", "## Opening hours\n\nFrom nine\nto five."),
        ("<ul><li>one<li>two<ol><li>a</li></ol></ul>", "- one\n- two\n  1. a"),
        ("<p>See <a href='../map?a=1&amp;b=2'>the map</a>.</p>", "See [the map](https://library.example/map?a=1&b=2)."),
        ("<base href='https://other.example/'><a href='map'>map</a>", "[map](https://other.example/map)"),
        ("<a href='javascript:x()'>run</a> <a href='data:,x'>load</a> <a href='#'>", "run load"),
        (
            "<table><tr><th>Day<th>Hours<tr><td>Mon|Tue<td>9</table>",
            "| Day | Hours |\n| --- | --- |\n| Mon\\|Tue | 9 |",
        ),
        ("<table><tr><td>menu<td><table><tr><td>a<td>b</table></table>", "menu\n\n| a | b |\n| --- | --- |"),
        ("<pre>x  = 1\n```\n</pre>", "````\nx  = 1\n```\n````"),
        ("<p>a<script>var p = '<p>b'</script><style>p{}</style>c</p>", "ac"),
        ("<p>a</p><!-- <p>b</p> --><template><p>c</p></template><p hidden>d<p>e", "a\n\ne"),
        ("<p class='hidden'>seen</p>", "seen"),
        ("<nav>Home</nav><main>" + "words " * 60 + "</main><footer>Since 1952</footer>", ("words " * 60).strip()),
        ("<nav>Home</nav><p>short</p>", "Home\n\nshort"),
        ("1 < 2 and 3 <4", "1 < 2 and 3 <4"),
        ("text <a b=\"never closed", "text"),
    ],
)  # fmt: skip
def test_a_whole_page_as_markdown(markup: str, expected: str) -> None:
    assert clean(whole_body(markup, URL)[0]) == expected


def test_the_title_comes_from_its_element_or_the_first_heading() -> None:
    assert whole_body("<title>The  library\n&amp; more</title><h1>Hours</h1>", URL)[1] == "The library & more"
    assert whole_body("<h1>Hours</h1><svg><title>icon</title></svg>", URL)[1] == "Hours"


@given(pages)
def test_any_markup_is_taken(markup: str) -> None:
    text, _, _ = whole_body(markup, URL)
    assert len(text) <= MAX_CONTENT
    starts = [token.start for token in tokens(markup)]
    assert starts == sorted(starts)


@given(pages, st.integers(min_value=0, max_value=100))
def test_shortened_markup_fits(markup: str, length: int) -> None:
    short, cut = shorten(markup, length)
    assert len(short) <= length
    if len(markup) <= length:
        assert (short, cut) == (markup, False)


def test_what_is_not_text_goes_before_the_text_does() -> None:
    markup = f"<script>{'x' * 900}</script><!--{'y' * 900}--><style>{'z' * 900}</style><p>words</p>"
    assert shorten(markup, 100) == ("<script></script><style></style><p>words</p>", False)
    assert shorten(f'<img src="data:{"x" * 3_000}"><p>words</p>', 100) == ("<img src=''><p>words</p>", False)
    assert shorten("<p>" + "words " * 100, 20) == ("<p>words words words", True)


def test_attributes_and_references() -> None:
    assert attribute(" class=x HREF = '/a&amp;b' ", "href") == "/a&b"
    assert attribute(" data-href=x", "href") is None
    assert unescape("&#" + "9" * 10_000 + ";&eacute;") == "\ufffdé"


@pytest.mark.parametrize(
    ("reference", "address"),
    [
        ("a (b).html", "https://library.example/rooms/a%20%28b%29.html"),
        ("//other.example", "https://other.example"),
        ("mailto:a@b.example", ""),
        ("http://[broken", ""),
        ("x" * 10_000, ""),
    ],
)
def test_addresses_are_fit_for_markdown(reference: str, address: str) -> None:
    assert web_address(URL, reference) == address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b]8;;https://evil.example\x07link\x1b]8;;\x07b", "alinkb"),
        ("a\x1b]52;c;cm0=\x1b\\b\x9d52;c;cm0=\x9cc", "abc"),
        ("a\x1b[31mred\x1b[0m\x9b1mb", "aredb"),
        ("a\x00\x07\x7f\x8db\ufdd0\ud800", "ab"),
        ("a\r\nb\rc\u2028d\te", "a\nb\nc\nd\te"),
    ],
)
def test_controls_go_with_their_payload(text: str, expected: str) -> None:
    assert strip_controls(text) == expected


@given(st.text(alphabet="ab \t\r\n\x0b\x1b[]m\x07\x9d", max_size=100))
def test_clean_text_has_no_trailing_space_and_no_gaps(text: str) -> None:
    cleaned = clean(text)
    assert all(line == line.rstrip() for line in cleaned.split("\n"))
    assert "\n\n\n\n" not in cleaned
    assert not set(cleaned) & set("\r\x0b\x1b\x07\x9d")
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    "unit",
    ["\x1b]", "\x9d", "\x9da", "\x1b[0;", " \t", "\n \n", "<a ", '<a "', "<!--", "</", "=", "&#9", "<a =", '<a b="'],
)
def test_a_megabyte_of_anything_is_quick(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.perf_counter()
    clean(text)
    shorten(f"<p {text}>", 500_000)
    whole_body(text, URL)
    assert time.perf_counter() - started < 4
