from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.data_sets import HostilePage, SavedPages, hostile_pages
from components.examples import examples
from groundwire.reading.convert import convert
from groundwire.reading.encoding.decode import decode
from groundwire.reading.extract import Extracted, extract
from groundwire.reading.extracted import MAX_CONTENT

URL = "https://gazette.example.com/news/bakery"
PAGE = """<!DOCTYPE html><html lang="en-GB"><head><meta charset="utf-8">
<title>The bakery by the bridge | Example Gazette</title>
<meta property="og:title" content="The bakery by the bridge">
<meta name="author" content="Ada Marlow"><meta property="article:published_time" content="2024-03-14T08:00:00Z">
<meta property="og:site_name" content="Example Gazette"></head><body>
<nav><a href="/">Home</a> <a href="/news">News</a></nav><main><article><h1>The bakery by the bridge</h1>
<p>The bakery by the bridge opens at five in the morning, and by seven the first trays of rye bread are gone.</p>
<h2>What it costs</h2>
<p>Prices have not changed for two years, as the <a href="prices.html">list on the door</a> shows to everybody.</p>
<ul><li>Rye bread, a kilo, for three coins and a half</li><li>Rolls with seeds, four for one coin only</li></ul>
<table><tr><th>Day</th><th>Hours</th></tr>
<tr><td>Monday</td><td>closed all day</td></tr>
<tr><td>Tuesday</td><td>five to noon</td></tr></table>
<h2>How to order</h2><pre><code>curl -d rolls=4 https://bakery.example/orders
echo done</code></pre>
<p>Orders that arrive before midnight are baked in the same night and can be fetched from six o'clock on.</p>
</article></main><footer>Printed since 1952.</footer></body></html>"""

GIANTS: dict[str, Callable[[int], str]] = {
    "deep": lambda n: "<div>" * n + "deep words" + "</div>" * n,
    "deep-wrong-ends": lambda n: "<div>" * n + "deep words" + "</span>" * n,
    "deep-lists": lambda n: "<ul><li>" * n + "deep words",
    "deep-tables": lambda n: "<table><tr><td>" * (n // 2) + "deep words",
    "flat": lambda n: "".join(f"<p>Paragraph number {i}.</p>" for i in range(n)),
    "attr": lambda n: f'<p>Before.</p><div data-x="{"x" * n}">inside</div>',
    "brackets": lambda n: f"<p>{'[' * n}</p>",
    "colspan": lambda n: (
        "<table>"
        + "".join(f"<tr><td colspan={n}>cell {i}</td><td rowspan={n}>b</td></tr>" for i in range(200))
        + "</table>"
    ),
    "table": lambda n: "<table>" + ("<tr>" + "<td>cell</td>" * n + "</tr>") * n + "</table>",
    "links": lambda n: "".join(f'<a href="/p/{i}">link number {i}</a> ' for i in range(n)),
    "word": lambda n: f"<p>{'w' * n}</p>",
    "less": lambda n: f"<p>{'<' * n}</p>",
    "comment": lambda n: "<!-- x -->" * n,
    "number": lambda n: f"<p>&#{'9' * n};</p>",
    "script": lambda n: f"<script>{'x' * n}</script>",
}
SIZES = {
    "deep": 20_000, "deep-wrong-ends": 150_000, "deep-lists": 10_000, "deep-tables": 20_000, "flat": 100_000,
    "attr": 3_000_000, "brackets": 50_000, "colspan": 100_000, "table": 700, "links": 60_000, "word": 5_000_000,
    "less": 500_000, "comment": 150_000, "number": 100_000, "script": 5_000_000,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def engine_is_loaded() -> None:
    """Pay for the engine's import once, outside the time limits."""
    extract(PAGE, URL)


def test_an_article_keeps_its_structure_and_says_what_it_is() -> None:
    found = extract(PAGE, URL)
    assert found.title == "The bakery by the bridge"
    assert (found.published, found.language, found.author, found.site) == (
        "2024-03-14T08:00:00Z",
        "en-GB",
        "Ada Marlow",
        "Example Gazette",
    )
    assert not found.cut
    for part in (
        "## What it costs",
        "[list on the door](https://gazette.example.com/news/prices.html)",
        "- Rolls with seeds",
        "| Monday | closed all day |",
        "```\ncurl -d rolls=4 https://bakery.example/orders\necho done\n```",
    ):
        assert part in found.content
    assert "Printed since" not in found.content


@pytest.mark.parametrize(
    ("html", "content", "title"),
    [
        ("<p>Open daily.</p>", "Open daily.", ""),
        ("Open daily.", "Open daily.", ""),
        ("<html><body><h1>Hours</h1>Nine to five</body></html>", "# Hours\n\nNine to five", "Hours"),
        ("<title>Shop</title><nav><a href=/a>Apples</a></nav>", "[Apples](https://gazette.example.com/a)", "Shop"),
        ("", "", ""),
        ("   \n", "", ""),
        ("<!-- nothing -->", "", ""),
        ("<script>let a</script>", "", ""),
    ],
)
def test_a_short_page_comes_back_whole(html: str, content: str, title: str) -> None:
    found = extract(html, URL)
    assert (found.title, re.sub(r"\n+", "\n\n", found.content).replace("# Hours", "Hours")) == (
        title,
        content.replace("# Hours", "Hours"),
    )


MENUS = "".join(
    f'<div class="{name}"><ul>'
    + "".join(f'<li><a href="/{name}/{word}">{word}</a></li>' for word in words)
    + "</ul></div>"
    for name, words in {
        "top-nav": (
            "Help center",
            "Sell with us",
            "Get the app",
            "English",
            "Sign in",
            "Register",
            "Cart",
            "Wish list",
        ),
        "footer-links": (
            "Privacy policy",
            "Terms of use",
            "Cookies",
            "Careers",
            "Press",
            "Sitemap",
            "Contact",
            "About us",
        ),
        "social-menu": ("Facebook", "Instagram", "Video channel", "Newsletter", "Our blog", "Forum", "Podcast"),
        "country-menu": ("Norway", "Sweden", "Denmark", "Finland", "Iceland", "Germany", "France", "Spain"),
    }.items()
)


def test_a_page_of_nothing_but_menus_whose_content_a_script_would_bring_has_none() -> None:
    found = extract(f"<title>Shop</title><script src=app.js></script><div id=root></div><footer>{MENUS}</footer>", URL)
    assert (found.title, found.content) == ("Shop", "")
    assert "the response has only menus" in found.warnings[0]
    plain = extract(f"<title>Shop</title>{MENUS}", URL).content
    for word in ("Help center", "Germany"):
        assert word in plain, "without scripts it is what there is"


def test_a_page_that_says_next_to_nothing_is_no_page_of_menus() -> None:
    page = "<title>Shop</title><script src=app.js></script><div class=modal><p>Sign in</p></div>"
    assert extract(page, URL).content == "Sign in"


def test_joiners_of_scripts_and_emoji_survive() -> None:
    text = "می\u200cخواهم این کتاب را از کتابخانه بگیرم \U0001f469\u200d\U0001f4bb"
    html = PAGE.replace("Prices have", f"{text} &zwnj; Prices have")
    assert text in extract(html, URL).content


def test_links_that_lead_nowhere_on_the_web_lose_their_target() -> None:
    content = extract(PAGE.replace("prices.html", "javascript:alert(1)"), URL).content
    assert "list on the door" in content
    assert "javascript" not in content


@pytest.mark.req("B2")
@pytest.mark.parametrize("kind", SIZES)
def test_a_giant_page_takes_a_bounded_time(kind: str) -> None:
    body = GIANTS[kind](SIZES[kind])
    html = f"<html><head><title>Giant</title></head><body>{body}<p>The last words of it.</p></body></html>"
    found = extract(html, URL)
    assert found.title == "Giant"
    assert len(found.content) <= MAX_CONTENT
    assert found.cut or "The last words of it." in found.content


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(
        st.text(max_size=8)
        | st.sampled_from(
            [
                "<p>",
                "</p>",
                "<div>",
                "<a href='",
                "'>",
                "<table><tr><td>",
                "</table>",
                "<!--",
                "<ul><li>",
                "<pre>",
                "<svg>",
                "&#",
                "<html>",
                "<body>",
                "<frameset>",
                "<meta name=date content='",
                "<title>",
                "<script type=application/ld+json>{",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_any_text_is_taken(html: str) -> None:
    found = extract(html, URL)
    assert isinstance(found, Extracted)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|[ \t]\n|\n{4}", found.content)


@pytest.mark.req("B2")
@pytest.mark.parametrize("most", [30, pytest.param(200, marks=pytest.mark.slow)])
def test_saved_pages_are_read_and_not_as_nothing(saved_pages: SavedPages, most: int) -> None:
    names = sorted(saved_pages.truth)
    read = 0
    for name in names if saved_pages.is_own else names[::7][:most]:
        page = saved_pages.truth[name]
        html = decode(saved_pages.body(name), "text/html").text
        found = extract(html, page["url"])
        visible = re.sub(r"(?s)<(script|style|noscript)\b.*?</\1>|<[^<>]*>|\bcontent=\"[^\"]*\"", " ", html)
        if re.sub(r"\W", "", page["text"][:40]) in re.sub(r"\W", "", visible):
            assert found.content, name
            read += 1
    assert read >= 5


BYTES = [page for page in hostile_pages() if page.row["kind"] in {"encoding", "must-survive", "control"}]


@pytest.mark.req("B2")
@pytest.mark.parametrize("page", BYTES, ids=lambda page: str(page.name))
def test_hostile_bytes_are_read_right(page: HostilePage) -> None:
    row = page.row
    content = extract(decode(page.body, row["content_type"]).text, row["url"]).content
    assert all(word in content for word in row["must_contain"])
    assert not any(word in content for word in row["must_not_contain"])
    assert not any(re.search(pattern, content) for pattern in row["must_not_match"])


_TEXT = (
    "<p>The harbour was quiet that morning, and the boats lay in two rows along the wall, as they had for years.</p>"
)


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://site.example/2020/01/13/last-ferry", "2020-01-13"),
        ("https://site.example/news/2020-1-3-ferry.html", "2020-01-03"),
        ("https://site.example/20200316/ferry", "2020-03-16"),
        ("https://site.example/news/~02-01-2022-ferry", "2022-01-02"),
        ("https://site.example/presse/220126_ferry.html", "2022-01-26"),
        ("https://web.archive.org/web/20140109030403/http://site.example/2013/12/09/ferry", "2013-12-09"),
        ("https://site.example/2020/13/01/ferry", None),
        ("https://site.example/item/20209999/ferry", None),
        ("https://site.example/ferry?day=2020-01-13", None),
        ("https://[site/2020/01/13", None),
    ],
)
def test_day_of_publication_is_read_from_the_address(url: str, day: str | None) -> None:
    assert extract(f"<h1>Ferry</h1>{_TEXT}", url).published == day


@pytest.mark.parametrize(
    ("said", "language", "day"),
    [
        ("13 January 2020", "en", "2020-01-13"),
        ("January 13th, 2020", "en", "2020-01-13"),
        ("13. Jänner 2020", "de", "2020-01-13"),
        ("13.01.2020", "de", "2020-01-13"),
        ("3.1.20", "de", "2020-01-03"),
        ("le 13 février 2020", "fr", "2020-02-13"),
        ("13 de enero de 2020", "es", "2020-01-13"),
        ("2020年1月13日", "ja", "2020-01-13"),
        ("13/01/2020", "en", "2020-01-13"),
        ("03/04/2020", "fr", "2020-04-03"),
        ("03/04/2020", "en", None),  # the order depends on the country
        ("Last updated: 13 January 2020", "en", "2020-01-13"),
        ("Copyright: 13 January 2020", "en", None),
        ("31.02.2020", "de", None),
        ("version 1.13.2020", "de", None),
        ("13 apples 2020", "en", None),
    ],
)
def test_day_of_publication_is_read_beside_the_heading(said: str, language: str, day: str | None) -> None:
    page = f"<html lang={language}><body><h1>Ferry</h1><p class=x>{said}</p>{_TEXT}{_TEXT}"
    assert extract(page, "https://site.example/ferry").published == day


def test_a_day_that_is_only_that_of_the_last_change_is_told_apart() -> None:
    note = "the page states only the day of its last change"
    page = f"<html lang=en><body><h1>Ferry</h1><p class=x>{{}}</p>{_TEXT}{_TEXT}"
    changed = extract(page.format("Last updated: 13 January 2020"), "https://site.example/ferry")
    assert (changed.published, changed.warnings) == ("2020-01-13", (note,))
    both = page.format("12 January 2020</p><p>Last updated: 13 January 2020")
    assert note not in extract(both, "https://site.example/ferry").warnings
    assert note not in extract(page.format("Updated 13 January 2020"), "https://site.example/2020/01/13/x").warnings


def test_day_that_is_hidden_is_no_day() -> None:
    page = f"<h1>Ferry</h1><p style='display:none'>13 January 2020</p>{_TEXT}"
    assert extract(page, "https://site.example/ferry").published is None


def test_address_tells_the_day_of_a_moment_in_utc() -> None:
    head = '<meta property="article:published_time" content="2020-02-25T02:25:54Z">'
    assert extract(f"{head}<h1>Ferry</h1>{_TEXT}", "https://site.example/2020/02/24/ferry").published == "2020-02-24"
    assert extract(f"{head}<h1>Ferry</h1>{_TEXT}", "https://site.example/2020/02/20/ferry").published != "2020-02-20"


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        (
            'Write to <a href="/cdn-cgi/l/email-protection" class="__cf_email__" '
            'data-cfemail="422a2330202d30023337233b6c273a232f322e27">[email&#160;protected]</a> today.',
            "Write to harbor@quay.example today.",
        ),
        ('Ask <span class="__cf_email__" data-cfemail="2a4b6a48044941">[email&#160;protected]</span>.', "Ask a@b.ck."),
        ('<a href="/cdn-cgi/l/email-protection#2a4b6a48044941">Write to us</a>.', "Write to us."),
        ('Ask <span data-cfemail="2a4b">them</span> or <span data-cfemail="zz">us</span>.', "Ask them or us."),
    ],
)
def test_mail_addresses_that_cloudflare_hides_are_shown(markup: str, shown: str) -> None:
    content = extract(f"<h1>Ferry</h1>{_TEXT}<p>{markup}</p>{_TEXT}", "https://site.example/ferry").content
    assert shown in content


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=400), st.sampled_from([b"", b"<style>", b"<h1>1</h1><p style='", b"<table><tr><td>"]))
def test_no_bytes_make_it_fail(body: bytes, start: bytes) -> None:
    convert(start + body, "text/html", "https://site.example/", headers={})
