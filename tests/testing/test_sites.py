from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from datetime import date
from email.message import Message

import pytest

from groundwire.testing.sites import load_documents, plain_text
from world import World

Raw = Callable[..., Awaitable[bytes]]
Answer = tuple[int, Message, bytes]


class Stay(urllib.request.HTTPRedirectHandler):
    """Shows redirects instead of following them."""

    def redirect_request(self, *_: object) -> None:
        return None


def get(url: str, *, method: str = "GET", **headers: str) -> Answer:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, method=method, headers=fields)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay).open(request) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.headers, answer.read()


@pytest.fixture(scope="module")
def web() -> Iterator[World]:
    with World(today=date(2030, 6, 15)) as web:
        yield web


def test_every_article_is_long_enough_and_dressed_like_a_page(web: World) -> None:
    articles = web.site("articles")
    assert len(articles.pages) >= 8
    for name in articles.pages:
        status, headers, body = get(articles.page(name))
        page = body.decode()
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        for mark in ("<nav", "<aside", "<footer", "cookie-notice", "og:title", "ld+json", "<time", "Related articles"):
            assert mark in page, (name, mark)
        words = plain_text(page.split("<article>")[1].split("</article>")[0]).split()
        assert 300 <= len(words) <= 900, name
        described = json.loads(re.findall(r"ld\+json\">(.*?)</script>", page)[0])
        assert described["mainEntityOfPage"] == articles.page(name)


def test_links_between_articles_lead_somewhere(web: World) -> None:
    articles = web.site("articles")
    for document in load_documents("articles"):
        for link in re.findall(r'href="([a-z0-9-]+)"', document.html):
            assert link in articles.pages, (document.slug, link)


def test_the_fusion_article_has_formula_table_and_references(web: World) -> None:
    page = get(web.site("articles").page("reciprocal-rank-fusion"))[2].decode()
    for mark in ("1 / (k + rank", "0.03252", '<ol class="references">', "language-python"):
        assert mark in page
    assert '<time datetime="2030-06-03">03 June 2030</time>' in page


def test_documentation_has_code_tables_and_lists(web: World) -> None:
    docs = web.site("docs")
    everything = "".join(get(docs.page(name))[2].decode() for name in docs.pages)
    languages = set(re.findall(r'class="language-(\w+)"', everything))
    assert {"python", "bash", "toml", "json", "rust", "javascript"} <= languages
    for mark in ("<table", "<dl>", "<ol", '<h2 id="limits">', "headerlink"):
        assert mark in everything


def test_forum_thread(web: World) -> None:
    page = get(web.site("forum").page("retry-after-ignored"))[2].decode()
    assert page.count('class="post answer') == 3
    for mark in ("lanternfish", '<span class="score">42</span>', "<blockquote>", "<pre><code"):
        assert mark in page


@pytest.mark.parametrize(
    ("name", "codec", "content_type", "words"),
    [
        ("gbk-meta", "gbk", "text/html", "茶馆的清晨"),
        ("gbk-header", "gbk", "text/html; charset=gbk", "茶馆的清晨"),
        ("gbk-silent", "gbk", "text/html", "茶馆的清晨"),
        ("windows-1251", "windows-1251", "text/html; charset=windows-1251", "Библиотека у реки"),
        ("shift-jis", "shift_jis", "text/html; charset=Shift_JIS", "駅前の時計"),
        ("iso-8859-1", "iso-8859-1", "text/html; charset=ISO-8859-1", "Le marché d'été"),
        ("utf-8-bom", "utf-8-sig", "text/html", "café"),
        ("utf-16-bom", "utf-16", "text/html", "café"),
    ],
)
def test_legacy_bytes(web: World, name: str, codec: str, content_type: str, words: str) -> None:
    _, headers, body = get(web.site("legacy").page(name))
    assert headers["Content-Type"] == content_type
    assert words in body.decode(codec)
    assert (b"charset=" in body) == name.endswith("meta")


def test_legacy_boms(web: World) -> None:
    legacy = web.site("legacy")
    assert get(legacy.page("utf-8-bom"))[2][:3] == b"\xef\xbb\xbf"
    assert get(legacy.page("utf-16-bom"))[2][:2] == b"\xff\xfe"


@pytest.mark.parametrize(
    ("name", "status", "content_type", "start"),
    [
        ("shell", 200, "text/html; charset=utf-8", b"<!doctype html>"),
        ("json", 200, "application/json", b'{"items": ['),
        ("text", 200, "text/plain; charset=utf-8", b"Notes from the orchard"),
        ("markdown", 200, "text/markdown; charset=utf-8", b"# Orchard planner"),
        ("image", 200, "image/png", b"\x89PNG\r\n\x1a\n"),
        ("untyped", 200, None, b"<!doctype html>"),
        ("nothing", 204, None, b""),
        ("empty", 200, "text/html; charset=utf-8", b""),
        ("pdf", 200, "application/pdf", b"%PDF-1.4"),
    ],
)
def test_app_types(web: World, name: str, status: int, content_type: str | None, start: bytes) -> None:
    answer = get(web.site("app").page(name))
    assert (answer[0], answer[1]["Content-Type"]) == (status, content_type)
    assert answer[2].startswith(start)


def test_the_shell_is_empty_without_its_script(web: World) -> None:
    page = get(web.site("app").page("shell"))[2].decode()
    assert '<div id="root"></div>' in page
    assert "enable JavaScript" in page
    assert "Quince" not in page


async def test_the_film_never_ends(web: World, raw: Raw) -> None:
    received = await raw(web.site("app").page("video"), limit=300_000)
    assert b"Content-Type: video/mp4" in received
    assert len(received) == 300_000


@pytest.mark.parametrize("hops", [0, 1, 5, 25])
def test_chains_have_the_length_they_say(web: World, hops: int) -> None:
    url, count = f"{web.site('maze').url}/hops/{hops}", 0
    while (answer := get(url))[0] == 302:
        url, count = web.site("maze").url + answer[1]["Location"], count + 1
    assert count == hops
    assert b"The way out" in answer[2]


def test_a_chain_may_choose_its_status(web: World) -> None:
    status, headers, _ = get(f"{web.site('maze').url}/hops/2?status=308")
    assert (status, headers["Location"]) == (308, "/hops/1?status=308")


@pytest.mark.parametrize(
    ("name", "location"),
    [
        ("loop", "/loop/back"),
        ("loop-back", "/loop"),
        ("relative", "../end"),
        ("private-metadata", "http://169.254.169.254/"),
        ("private-port", "http://127.0.0.1:1/"),
        ("private-ipv6", "http://[::1]/"),
        ("file", "file:///etc/passwd"),
        ("absolute", "{maze}/end"),
        ("protocol-relative", "//{host}/end"),
        ("cross-site", "{articles}/wiki/bm25"),
        ("query", "?step=2"),
    ],
)
def test_redirects(web: World, name: str, location: str) -> None:
    maze = web.site("maze")
    status, headers, _ = get(maze.page(name))
    expected = location.format(maze=maze.url, host=maze.url.removeprefix("http://"), articles=web.site("articles").url)
    assert (status, headers["Location"]) == (302, expected)


def test_the_query_redirect_arrives(web: World) -> None:
    assert b"The way out" in get(f"{web.site('maze').url}/query?step=2")[2]


def test_crossing_keeps_to_names(web: World) -> None:
    maze = web.site("maze")
    headers = get(maze.page("cross-site"), Host=f"maze.test:{maze.port}")[1]
    assert headers["Location"] == web.site("articles").page("bm25", named=True)


def test_slow_pages(web: World) -> None:
    slow = web.site("slow")
    assert b"patient" in get(f"{slow.url}/delay/0.01")[2]
    assert b"patient" in get(f"{slow.url}/trickle/0.000001")[2]
    assert get(f"{slow.url}/delay/soon")[0] == 404


@pytest.mark.parametrize(
    ("name", "least", "mark", "count"),
    [
        ("huge", 20_000_000, b"<p>Paragraph ", 30_000),
        ("deep", 1_000_000, b"<div>", 100_000),
        ("word", 5_000_000, b"a" * 5_000_000, 1),
        ("table", 500_000, b"<tr>", 20_001),
    ],
)
def test_too_much_of_something(web: World, name: str, least: int, mark: bytes, count: int) -> None:
    body = get(web.site("slow").page(name))[2]
    assert least <= len(body) < least * 1.5 + 1_000_000
    assert body.count(mark) >= count
    assert body.endswith(b"</html>\n")


@pytest.mark.parametrize("page", ["trickle", "trickle-head", "hang", "endless", "endless-headers"])
async def test_pages_that_do_not_finish(web: World, raw: Raw, page: str) -> None:
    limit = 0 if page == "hang" else 10
    assert len(await raw(web.site("slow").page(page), limit=limit)) == limit


def test_validators(web: World) -> None:
    url = web.site("docs").page("tables")
    _, headers, _ = get(url)
    assert headers["Last-Modified"] == "Fri, 07 Jun 2030 00:00:00 GMT"
    for known in (
        {"If_None_Match": headers["ETag"]},
        {"If_None_Match": f'"other", W/{headers["ETag"]}'},
        {"If_Modified_Since": headers["Last-Modified"]},
    ):
        status, again, body = get(url, **known)
        assert (status, again["ETag"], body) == (304, headers["ETag"], b"")
    assert get(url, If_None_Match='"other"', If_Modified_Since=headers["Last-Modified"])[0] == 200


def test_head_has_the_headers_and_no_body(web: World) -> None:
    for url in (web.site("docs").page("tables"), web.site("slow").page("huge")):
        status, headers, body = get(url, method="HEAD")
        assert (status, headers["Content-Type"], body) == (200, "text/html; charset=utf-8", b"")
    whole = get(web.site("docs").page("tables"))[2]
    assert get(web.site("docs").page("tables"), method="HEAD")[1]["Content-Length"] == str(len(whole))


@pytest.mark.parametrize(("site", "page"), [("docs", "tables"), ("slow", "huge"), ("app", "untyped"), ("maze", "loop")])
async def test_head_sends_nothing_more(web: World, raw: Raw, site: str, page: str) -> None:
    assert (await raw(web.site(site).page(page), method="HEAD")).endswith(b"\r\n\r\n")


def test_what_every_site_answers(web: World) -> None:
    for site in web.sites.values():
        assert get(f"{site.url}/robots.txt")[2].startswith(b"User-agent: *")
        assert site.host.encode() in get(site.url)[2]
        assert get(f"{site.url}/nowhere")[0] == 404
        assert get(f"{site.url}/", method="POST")[0] == 405
