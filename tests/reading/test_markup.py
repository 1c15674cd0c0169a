from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.work import growth
from groundwire.reading.extract import extract
from groundwire.reading.html.limits import shorten
from groundwire.reading.text.sanitize import clean, strip_controls

pytestmark = pytest.mark.req("B2")

pieces = st.sampled_from(
    [
        *("<p>", "</p>", "<div hidden>", "</div>", "<a href='x y'>", "</a>", "<ul>", "<li>", "</ul>", "<h1>", "</h1>"),
        *("<table>", "<tr>", "<td>", "</td>", "</tr>", "</table>", "<pre>", "</pre>", "<br>", "<script>", "</script>"),
        *("<!--", "-->", "<", ">", '"', "=", "&amp;", "&#99999999999;", "words ", "```", "|", "<svg>", "</svg>"),
        *('<a b="', "<base href=/q/>", "\n"),
    ]
)
pages = st.lists(pieces | st.text(max_size=5), max_size=40).map("".join)


@given(pages, st.integers(min_value=0, max_value=100))
def test_shortened_markup_fits(markup: str, length: int) -> None:
    short, cut = shorten(markup, length)
    assert len(short) <= length
    if len(markup) <= length:
        assert (short, cut) == (markup, False)


def test_what_is_not_text_goes_before_the_text_does() -> None:
    markup = f"<script>{'x' * 900}</script><!--{'y' * 900}--><style>{'z' * 900}</style><p>words</p>"
    assert shorten(markup, 1_000) == (f"<script></script><style>{'z' * 900}</style><p>words</p>", False)
    huge = f"<style>{'z' * 200_000}</style><p>words</p>"
    assert shorten(huge, 100) == ("<style></style><p>words</p>", False)
    assert shorten(f'<img src="data:{"x" * 3_000}"><p>words</p>', 100) == ("<img src=''><p>words</p>", False)
    assert shorten("<p>" + "words " * 100, 20) == ("<p>words words words", True)
    assert shorten("<p>words<br><br>", 12) == ("<p>words<br>", True)
    assert shorten("<p>words<br><br>", 11) == ("<p>words<br", True)
    assert shorten("1 < 2 " + "words " * 9, 18) == ("1 < 2 words words ", True)


def test_a_tag_that_is_cut_is_no_text() -> None:
    tail = '<p title="cut here, and no more of it is text">'
    for size in range(2, len(tail)):
        assert extract(f"<p>1 < 2, he said. {'words ' * 20}{tail[:size]}", "").content.endswith("words")


@pytest.mark.parametrize(
    "kept",
    [
        '<a title="a > b <script>">x</a>', "<a title='<!--'>x</a>", '<A HREF="x"  CLASS=y >x</A >', "1 < 2 <3",
        "<p a= \"<style>\">x</p>", "<a b c='\"'>x", "<textarea><script></textarea>x", "<title><!--</title>x",
        "<strong>x</strong><time>y</time>", "<a b=c<script>x</a>",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_script_or_a_comment_stays(kept: str) -> None:
    gone = f"<SCRIPT a>{'x' * 900}</SCRIPT>"
    assert shorten(f"{gone}<p>words</p>{kept}<!-- x -->{gone}", 800) == (
        f"<SCRIPT a></SCRIPT><p>words</p>{kept}<SCRIPT a></SCRIPT>", False
    )  # fmt: skip


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

    def work(text: str) -> None:
        clean(text)
        shorten(f"<p {text}>", len(text) // 2)

    work(text)
    assert growth(work, text[:10_000], text[:40_000]) < 5
