"""An answer on each channel says what it said, and its links lead to its sources."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from components.examples import examples
from groundwire.citations import CHANNELS, ChannelName, CitationStream, render_answer
from groundwire.errors import InvalidRequest
from groundwire.models import Source

pytestmark = pytest.mark.req("Y12")

SOURCES = (
    Source(citation_id=1, title="Rivers *of* [France] <b> & | co", url="https://one.example/a_(b)?x=1&y=[2]#c d|e"),
    Source(citation_id=2, title="", url="https://two.example/é/\\"),
    Source(citation_id=3, title="three\nlines\x1b[31m", url="javascript:alert(1)"),
    Source(citation_id=12, title="Twelve", url="http://twelve.example"),
)
LINKED = {
    1: "https://one.example/a_%28b%29?x=1&y=%5B2%5D#c%20d%7Ce",
    2: "https://two.example/%C3%A9/%5C",
    12: "http://twelve.example",
}

PARTS = [
    "[1]", "[2]", "[3]", "[12]", "[1, 3]", "[1][2]", "[1-3]", "【1】", "［2］", "【12†source】", "[99]", "[1, 99]",
    "[", "]", "(", ")", "`", "```", "```py\n", "\n", "\n\n", "\\", "!", ":", "https://a.example/", " ", "word ",
    "Fact",     "[link](http://b.example/[1])", "- ", "> ", "# ", "é", "日本", ",", "-", ".", "<b>", "</a>", "<script>",
    "&amp;", "&", "*", "_", "|", "~", "\x1b[2J", "\x07", "$", "+", "=", "{", "}",
]  # fmt: skip
ANSWERS = st.lists(st.sampled_from(PARTS), max_size=25).map("".join)

Shown = tuple[str, list[tuple[str, str]]]
"""A text as it is shown, and its links: label and address."""


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.links, self.open = "", list[tuple[str, str]](), list[str]()
        self._at = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert set(dict(attrs)) <= {"href", "rel", "class", "start"}
        self._at = len(self.text)
        if tag not in {"br", "hr"}:
            self.open.append(tag)
        if tag == "a":
            self.links.append(("", dict(attrs)["href"] or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "a":
            self.links[-1] = (self.text[self._at :], self.links[-1][1])

    def handle_data(self, data: str) -> None:
        self.text += data


TELEGRAM_TAGS = {"a", "b", "i", "s", "code", "pre", "blockquote"}


def read_html(text: str) -> Shown:
    parser = _Html()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser.text, parser.links


def read_telegram_html(text: str) -> Shown:
    assert set(re.findall(r"</?([a-z0-9]+)", text)) <= TELEGRAM_TAGS
    return read_html(text)


def read_telegram_markdown(text: str) -> Shown:
    """Read MarkdownV2 by its documented rules: what is special is escaped, or begins or ends what it stands for."""
    shown, links, place, begin = "", [], 0, -1
    while place < len(text):
        fence = re.compile(r"(```|`)((?:[^`\\]|\\.)*)\1", re.DOTALL).match(text, place)
        if fence:
            shown += re.sub(r"\\(.)", r"\1", fence[2])
            place = fence.end()
            continue
        character = text[place]
        if character == "\\":
            assert 0 < ord(text[place + 1]) < 127
            shown += text[place + 1]
            place += 2
            continue
        if character == "[":
            assert begin < 0
            begin = len(shown)
        elif character == "]":
            assert begin >= 0
            assert text[place + 1] == "("
            end = text.index(")", place)
            url = re.sub(r"\\(.)", r"\1", text[place + 2 : end])
            links.append((shown[begin:], url))
            place, begin = end, -1
        elif character == ">":
            assert not place or text[place - 1] in "\n>  "
        elif character not in "_*~":
            assert character not in "()`#+-=|{}.!", (character, text)
            shown += character
        place += 1
    assert begin < 0
    return shown, links


READERS: dict[str, Callable[[str], Shown]] = {
    "html": read_html,
    "telegram_markdown_v2": read_telegram_markdown,
    "telegram_html": read_telegram_html,
}
LETTERS = re.compile(r"[^\W\d_]+")

MARKDOWN = """## Rivers [1]

**Bold** [12], *slanted*, ~~struck~~, `code [1]`, $x[1]$, a [link](http://b.example/x_y),
![image](http://c.example/i.png) <script>

- first [12]
  - nested
- second

3. third
4. fourth

| Name | Length |
| --- | --- |
| Loire | long |

```py
x = a[1]
```

> quoted
"""
WRITTEN = {
    "html": [
        "<h2>Rivers <a href=",
        "<strong>Bold</strong>",
        "<em>slanted</em>",
        "<s>struck</s>",
        "<code>code [1]</code>",
        "$x[1]$",
        "&lt;script&gt;",
        "<ul><li>first ",
        '<ol start="3"><li>third',
        "<th>Name</th>",
        '<pre><code class="language-py">x = a[1]\n</code></pre>',
        "<blockquote><p>quoted</p></blockquote>",
        '<a href="http://c.example/i.png" rel="nofollow noopener noreferrer">image</a>',
    ],
    "telegram_html": ["<b>Rivers ", "<i>slanted</i>", "<code>code [1]</code>", "• first", "  • nested", "3. third",
                      "<pre><code>Name   Length\nLoire  long</code></pre>", '<pre><code class="language-py">x = a[1]'],
    "telegram_markdown_v2": ["*Rivers ", "_slanted_", "~struck~", "`code [1]`", "$x\\[1\\]$",
                             "3\\. third", "```py\nx = a[1]\n```", ">quoted"],
    "plain": ["Rivers [1]", "Bold [12], slanted, struck, code [1], $x[1]$, a link (http://b.example/x_y)",
              "• first [12]", "Loire  long"],
}  # fmt: skip


@pytest.mark.parametrize("channel", sorted(WRITTEN))
def test_the_answers_own_markdown_is_written_in_the_markup_of_the_channel(channel: ChannelName) -> None:
    text = render_answer(MARKDOWN, SOURCES, channel, footer=False, untrusted_images="keep").text
    assert [part for part in WRITTEN[channel] if part not in text] == []


@pytest.mark.parametrize("channel", sorted(READERS))
@given(answer=ANSWERS)
@settings(max_examples=examples(200))
def test_every_word_is_shown_and_nothing_gets_out_of_its_place(channel: ChannelName, answer: str) -> None:
    """A parser of the channel's markup reads the words that a parser of Markdown reads in the answer."""
    shown, links = READERS[channel](render_answer(answer, SOURCES, channel, footer=False, untrusted_images="keep").text)
    for word in ("Fact", "word", "日本"):
        assert shown.count(word) >= read_markdown(answer)[0].count(word)
    assert all(url.startswith(("http://", "https://")) for _, url in links)
    assert {url for _, url in links} - {"http://b.example/%5B1%5D"} <= set(LINKED.values())


@pytest.mark.parametrize("channel", ["html", "telegram_html"])
def test_a_marker_in_the_label_of_a_link_is_no_link_of_its_own(channel: ChannelName) -> None:
    answer = "[a [1, 99][1]\\[link](http://b.example/[1])"
    text = render_answer(answer, SOURCES, channel, footer=False, untrusted_images="keep").text
    assert "http://b.example/" in text
    assert "one.example" not in text


@pytest.mark.parametrize("channel", ["html", "telegram_html"])
@pytest.mark.parametrize(
    ("answer", "linked"),
    [
        ("It is $x[1]$", 0),
        ("$$\na[1]\n$$", 0),
        ("It is \\(a[1]\\) long", 0),
        ("It costs $5 [1] and $6", 1),
        ("`$a` [1] and `$b`", 1),
    ],
)
def test_marks_in_formulas_stay(channel: ChannelName, answer: str, linked: int) -> None:
    assert render_answer(answer, SOURCES, channel, footer=False).text.count("one.example") == linked


def read_markdown(text: str) -> tuple[str, list[str]]:
    """Return what a Markdown parser shows of a text, and where its links lead."""
    shown, links = "", []
    for token in MarkdownIt("commonmark", {"html": False}).parse(text):
        for inner in token.children or [token]:
            shown += "<image>" if inner.type == "image" else ""
            shown += inner.content + ("\n" if inner.type in {"softbreak", "hardbreak"} else "")
            if inner.type == "link_open":
                links.append(str(inner.attrs["href"]))
    return shown, links


# What an answer defines itself ("[1]: address") cannot be known before it is read, and shows in about one of 10,000
# such heaps of marks and brackets, so the examples are always the same.
@given(answer=ANSWERS)
@settings(max_examples=examples(500), derandomize=True)
def test_markdown_shows_the_same_with_links(answer: str) -> None:
    before, links_before = read_markdown(answer)
    after, links_after = read_markdown(
        render_answer(answer, SOURCES, "markdown", footer=False, untrusted_images="keep").text
    )
    assert after == before
    assert len(links_after) >= len(links_before)


@pytest.mark.parametrize("channel", get_args(ChannelName))
@given(answer=ANSWERS, data=st.data())
@settings(max_examples=examples(60))
def test_chunks_do_not_matter(channel: ChannelName, answer: str, data: st.DataObject) -> None:
    whole = render_answer(answer, SOURCES, channel)
    cuts = data.draw(st.lists(st.integers(0, len(answer)), max_size=6).map(sorted))
    for places in (range(len(answer)), cuts):
        stream, ends = CitationStream(SOURCES, channel), [0, *places, len(answer)]
        written = "".join(stream.feed(answer[begin:end]) for begin, end in itertools.pairwise(ends))
        assert written + stream.close() == whole.text
        assert (stream.used, stream.unknown) == (whole.used, whole.unknown)


def test_plain_text_passes_through() -> None:
    answer = "Fact [1], x[2] and [7].\x1b"
    assert render_answer(answer, SOURCES, "plain", footer=False).text == answer


@pytest.mark.parametrize("channel", get_args(ChannelName))
def test_the_sources_that_were_used_stand_below(channel: ChannelName) -> None:
    rendered = render_answer("Later [12], then [1] and [44], then [3] and `[2]`.", SOURCES, channel)
    assert rendered.used == (1, 3, 12)
    assert rendered.unknown == (44,)
    footer = rendered.text.partition("Sources")[2]
    places = [footer.index(word) for word in ("Rivers", "three lines", "Twelve")]
    assert places == sorted(places)
    assert "two.example" not in footer
    assert "javascript" not in footer or channel == "plain"  # there nothing is a link
    assert "<b> &" not in footer or channel == "plain"
    assert (
        render_answer("Nothing [44].", SOURCES, channel).text
        == render_answer("Nothing [44].", SOURCES, channel, footer=False).text
    )


def test_titles_mean_nothing_to_markdown() -> None:
    text = render_answer("[1]", SOURCES, "markdown").text
    shown, links = read_markdown(text)
    assert "Rivers *of* [France] <b> & | co" in shown
    assert links == [LINKED[1], LINKED[1]]


def test_code_that_was_left_open_does_not_swallow_the_sources() -> None:
    shown, links = read_markdown(render_answer("[12]\n```py\nx = a[1]", SOURCES, "markdown").text)
    assert links == [LINKED[12], LINKED[12]]
    assert "x = a[1]\n" in shown


def test_a_mark_after_an_exclamation_mark_is_no_image() -> None:
    text = render_answer("Wow![12]", SOURCES, "markdown", footer=False).text
    assert read_markdown(text) == ("Wow![12]", [LINKED[12]])


def test_a_backslash_before_a_wide_bracket_takes_no_link_away() -> None:
    text = render_answer("C:\\【12】", SOURCES, "markdown", footer=False).text
    assert read_markdown(text) == ("C:\\【12】", [LINKED[12]])


def test_an_unknown_channel_is_named() -> None:
    with pytest.raises(InvalidRequest, match="markdown"):
        CitationStream(SOURCES, "fax")  # type: ignore[arg-type]
    assert set(CHANNELS) == set(get_args(ChannelName))
