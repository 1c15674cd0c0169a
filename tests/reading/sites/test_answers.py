"""The files of the sites without a network: whatever an API answers, it becomes a page or a clear error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.examples import examples
from groundwire.reading.sites import SITES
from groundwire.reading.sites.parts import (
    SitePart,
    code,
    facts,
    heading,
    html,
    markdown,
    pack,
    plain,
    render,
    render_in_worker,
    say,
)
from groundwire.reading.sites.reader import _WRONG_SHAPES
from groundwire.reading.sites.site import FormatChanged, NotAvailable, SiteContent, SiteRequest, day
from groundwire.safety.urls import parse_url

pytestmark = pytest.mark.req("B26")

PATHS = {
    "arxiv": ("https://arxiv.org/abs/2601.01234",),
    "crates": ("https://crates.io/crates/lantern", "https://crates.io/crates/lantern/2.1.0"),
    "docs_rs": ("https://docs.rs/lantern/latest/lantern/",),
    "github": tuple(
        f"https://github.com/harbor/lantern{path}"
        for path in (
            *("", "/issues/5", "/pull/8", "/releases", "/releases/tag/v2.1", "/blob/main/README.md", "/tree/main/docs"),
            *("/issues", "/pull/8/files"),
        )
    ),
    "hackernews": ("https://news.ycombinator.com/item?id=100",),
    "mediawiki": ("https://en.wikipedia.org/wiki/Light_vessel", "https://en.wikipedia.org/?curid=9"),
    "npm": ("https://www.npmjs.com/package/lantern",),
    "pypi": ("https://pypi.org/project/lantern/",),
    "reddit": ("https://www.reddit.com/r/harbors/comments/1lamp/x/",),
    "stackexchange": ("https://stackoverflow.com/questions/4711/x", "https://stackoverflow.com/questions/4711/x/4713"),
    "youtube": ("https://www.youtube.com/watch?v=lampLAMP-_1",),
}
APIS = (
    *("api.github.com", "api.stackexchange.com", "crates.io", "export.arxiv.org", "hn.algolia.com", "pypi.org"),
    *("raw.githubusercontent.com", "registry.npmjs.org", "static.crates.io", "www.reddit.com", "www.youtube.com"),
)
KEYS = tuple(
    re.findall(
        r"\S+",
        "title body body_html items data children kind info name version versions crate parse text query pages id "
        "number user login labels comments full_name tag_name dist-tags latest videoDetails events segs utf8 tStartMs "
        "author topics error assets license project_urls requires_dist description owner tags replies question_id url "
        "closed_reason options captions playerCaptionsTracklistRenderer "
        "captionTracks audioTracks baseUrl gallery_data poll_data state",
    )
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**14) | st.floats() | st.text(max_size=20) | st.sampled_from(KEYS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=8),
    max_leaves=30,
)
TEXTS = st.text(max_size=200) | st.sampled_from(
    (
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>T</title></entry></feed>",
        '<title>T</title><section id="main-content"><h1>T</h1></section>',
        'var ytInitialPlayerResponse = {"videoDetails": {"title": "T", "lengthSeconds": []}};',
    )
)


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
@hypothesis.settings(max_examples=examples(100))
@given(data=st.data())
def test_whatever_an_api_answers(site: Any, data: st.DataObject) -> None:
    for address in PATHS[site.name]:
        page = outcome(site, address, data)
        assert page is None or isinstance(render(page.parts, address).content, str)


def outcome(site: Any, address: str, data: st.DataObject) -> SiteContent | None:
    """Return the page that comes of any answers; None when the site's file says that it makes none of them."""
    steps, requests = site.visit(parse_url(address))
    try:
        for _ in range(5):
            requests = steps.send(tuple(data.draw(answer(get)) for get in requests))
    except StopIteration as end:
        page: SiteContent = end.value
        return page
    except (FormatChanged, NotAvailable, *_WRONG_SHAPES):
        return None
    raise AssertionError("it goes on asking")


def answer(get: SiteRequest) -> st.SearchStrategy[Any]:
    found = TEXTS if get.kind == "text" else VALUES
    return st.none() | found if get.optional else found


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_requests_go_to_the_site_only_whatever_the_address_says(site: Any) -> None:
    """No piece of an address leaves its place in the API's."""
    odd = ("..", "%2e%2e", "%2F..%2F..%2F", "a%2Fb", "a%3Fb", "a%23b", "a%0Ab", "@evil.example", "a%5C..%5Cb", "%00")
    for address in PATHS[site.name]:
        for part in odd:
            for place in (address.replace("lantern", part), address.replace("main", part), f"{address}/{part}"):
                for get in first_requests(site, place):
                    asked = parse_url(get.url)
                    assert asked.host in {parse_url(address).host, *APIS}
                    assert "/../" not in asked.target


def first_requests(site: Any, address: str) -> Iterator[SiteRequest]:
    try:
        url = parse_url(address)
    except ValueError:
        return
    visit = site.visit(url)
    if visit is not None:
        yield from visit[1]


def shown(*parts: SitePart) -> str:
    return render(parts, "https://site.test/a/b").content


class TestParts:
    def test_markdown_of_others_loses_what_no_one_sees(self) -> None:
        found = render(
            [
                markdown(
                    "Seen *words*.\n\n<!-- unseen -->\n\n[note]: # (unseen)\n\n<p hidden>unseen</p>\n\n"
                    '<span style="font-size:0">unseen</span><script>unseen</script>![a picture](https://x.test/unseen.png)'
                )
            ],
            "https://site.test/",
        )
        assert "Seen *words*." in found.content
        assert "unseen" not in found.content
        assert found.warnings == ("hidden text removed: 2",)

    def test_headings_of_others_go_below_ours_and_code_stays(self) -> None:
        source = "# One\n\n```sh\n# a comment\n```\n\nTwo\n---\n\n###### Six"
        assert shown(heading(2, "Ours"), markdown(source, below=2)) == (
            "## Ours\n\n### One\n\n```sh\n# a comment\n```\n\n#### Two\n\n###### Six"
        )

    def test_relative_links_start_from_where_the_text_is(self) -> None:
        assert shown(markdown("[a](x.md) [b](/y)", base="https://site.test/docs/z")) == (
            "[a](https://site.test/docs/x.md) [b](https://site.test/y)"
        )
        assert shown(markdown("[a](javascript:alert(1))")) == "[a\\](javascript:alert(1))"

    def test_what_others_wrote_is_escaped_in_our_frame(self) -> None:
        assert shown(heading(1, "a <b> `c` *d*\n# e")) == "# a \\<b> \\`c\\` \\*d\\* # e"
        assert shown(say("a", "", "[x](javascript:y)")) == "a \u00b7 [x\\](javascript:y)"
        assert shown(facts(("Name", "x"), ("None", ""), ("Home", "https://site.test/(a)"))) == (
            "- Name: x\n- Home: <https://site.test/(a)>"
        )

    def test_only_what_is_picked_without_what_is_dropped(self) -> None:
        source = "<nav>menu</nav><main><p>text<b class=x>no</b></p></main>"
        assert shown(html(source, pick="main", drop=".x")) == "text"
        assert shown(html(source, pick="article")) == ""

    def test_plain_text_is_no_markup(self) -> None:
        assert shown(plain("1 < 2 <b>\nnext\n\n# no heading")) == "1 < 2 \\<b>\nnext\n\n\\# no heading"
        assert shown(code("a ``` b", "rst")) == "````rst\na ``` b\n````"

    def test_long_texts_are_cut_and_it_is_said(self) -> None:
        found = render([markdown("word " * 300_000)], "https://site.test/")
        assert found.cut
        assert "long texts shortened: 1" in found.warnings

    def test_a_worker_renders_the_same(self) -> None:
        parts = [heading(1, "T"), markdown("# a <!-- b -->"), html("<p hidden>x</p>y", below=1)]
        fields, content = render_in_worker({"url": "https://site.test/"}, pack(parts))
        here = render(parts, "https://site.test/")
        assert (content.decode(), tuple(fields["warnings"]), fields["cut"]) == (here.content, here.warnings, here.cut)

    @hypothesis.settings(max_examples=examples(200))
    @given(st.lists(st.builds(SitePart, st.sampled_from(("markdown", "html")), st.text(max_size=200)), max_size=3))
    def test_any_texts(self, parts: list[SitePart]) -> None:
        content = shown(*parts)
        assert content == content.strip()


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        (1_788_000_000, "2026-08-29"),
        ("2026-01-02T03:04:05Z", "2026-01-02"),
        ("soon", ""),
        (None, ""),
        (-1, ""),
        (True, ""),
    ],
)
def test_days(moment: object, said: str) -> None:
    assert day(moment) == said
