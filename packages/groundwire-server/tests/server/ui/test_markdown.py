"""Pages of the web as inert HTML: what a page says is shown, and nothing of it acts."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.work import growth
from groundwire_server.ui.page_view import inert_html

TAGS = {
    *("p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "hr", "br", "em", "strong", "s", "a", "code", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td", "div", "span"),
}
ATTRIBUTES = {"href", "rel", "target", "title", "class", "tabindex", "role", "aria-label", "start", "lang", "dir"}
REL = "noopener noreferrer nofollow"


class Elements(HTMLParser):
    """What a browser would make of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(str(html))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")


def check_inert(markdown: str) -> Elements:
    return check_inert_html(inert_html(markdown))


def check_inert_html(html: str) -> Elements:
    elements = Elements(html)
    for tag, attributes in elements.found:
        assert tag in TAGS, tag
        assert set(attributes) <= ATTRIBUTES, attributes
        if tag == "a":
            assert str(attributes["href"]).startswith(("http://", "https://"))
            assert attributes["rel"] == REL
    return elements


PIECES = st.sampled_from(
    [
        *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!-- -->", "<![CDATA[", "&lt;script&gt;", "<"),
        *(
            "[a](javascript:alert(1))",
            "[a](JaVa\tScript:alert(1))",
            '[b](https://a.test/"onclick=1)',
            "<data:text/html,x>",
        ),
        *(
            "![x](https://evil.test/p.png)",
            "![x][q]",
            "\n\n[q]: javascript:alert(1)\n\n",
            "[x](//evil.test)",
            "](",
            "![[",
        ),
        *(
            "\n\n| a | b |\n| :-- | --: |\n| <b> | `x` |\n\n",
            "\n```html\n<script>\n```\n",
            "\n# ",
            "\n#### x\n",
            "\n> ",
            "\n- ",
        ),
        *(
            "**",
            "_",
            "`",
            "~~",
            "\\",
            "\n",
            "\n\n",
            "    code",
            "https://a.test/?a=1&b=2",
            "<https://a.test/x>",
            "\x00",
            "\u202e",
            "'\"",
        ),
        *(
            "[](https://a.test)",
            "[ ](https://a.test)",
            "[![y](data:image/png;base64,AA)](https://a.test)",
            "[x](http://[)",
        ),
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=30))
def test_nothing_of_a_page_acts(pieces: list[str]) -> None:
    check_inert("".join(pieces))


def test_markup_is_shown_as_text() -> None:
    elements = check_inert('Before <script>alert("x")</script> and <img src=x onerror=alert(1)> after')
    assert elements.text.strip() == 'Before <script>alert("x")</script> and <img src=x onerror=alert(1)> after'


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "//evil.test/x", "/path", "ftp://a.test/", "#top"]
)
def test_a_link_leads_to_the_web_or_nowhere(url: str) -> None:
    elements = check_inert(f"[words]({url})")
    assert [tag for tag, _ in elements.found] == ["p", "span"]
    assert elements.text.strip() == "words"


def test_a_picture_is_words() -> None:
    elements = check_inert("![a chart of prices](https://evil.test/pixel.png?who=me) ![](https://evil.test/2.png)")
    assert "evil.test" not in str(elements.found) + elements.text
    assert "a chart of prices" in elements.text
    assert "image without a description" in elements.text


def test_headings_begin_below_ours_and_skip_none() -> None:
    html = inert_html("# One\n\n#### Four\n\n###### Six\n\n## Two")
    assert [tag for tag, _ in Elements(html).found] == ["h3", "h4", "h5", "h4"]


def test_the_title_is_not_said_twice() -> None:
    assert inert_html("# The  Title\n\nText", title="the title") == "<p>Text</p>\n"
    assert "<h3>" in inert_html("# Another\n\nText", title="the title")
    assert "<h3>" in inert_html("#\n\nText", title="")


def test_tables_and_code_can_be_scrolled_with_a_keyboard() -> None:
    elements = check_inert("| a |  |\n| --- | :-: |\n| 1 | 2 |\n\n```py\nx = 1\n```")
    tags = Counter(tag for tag, _ in elements.found)
    assert (tags["th"], tags["td"]) == (1, 3)  # a heading without words is none
    assert [one["tabindex"] for tag, one in elements.found if tag in {"div", "pre"}] == ["0", "0"]
    assert elements.text.strip().endswith("x = 1")


@pytest.mark.parametrize(
    "piece", ["[", "![", "**a ", "*a_", "> ", "`", "<a", "|a", "- ", "[a](", "\\", "&", "#", "~~a", "1. ", "[a]: x\n"]
)
def test_no_text_keeps_it_busy(piece: str) -> None:
    check_inert((piece * 5_000)[:5_000])
    assert growth(inert_html, (piece * 500)[:500], (piece * 2_000)[:2_000]) < 5
