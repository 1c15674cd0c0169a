"""What the page answers over HTTP: its headers, its forms, and what it does while a search takes its time."""

from __future__ import annotations

import asyncio
import re
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from components.held import Held
from components.stored_keys import stored_keys
from groundwire.telemetry import PageDone, SearchDone
from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from groundwire_server.ui.template_streaming import POLICY
from server.ui.conftest import Serve
from world import World

PATHS = ("/", "/?q=ranking", "/?q=x&limit=900", "/nowhere")


@pytest.fixture
async def client(serve: Serve) -> Any:
    _, url = await serve()
    async with aiohttp.ClientSession(url) as session:
        yield session


async def test_every_page_says_what_a_browser_may_do(client: aiohttp.ClientSession) -> None:
    for path in PATHS:
        async with client.get(path) as response:
            text = await response.text()
            if path == "/nowhere":
                assert response.status == 404
                continue
            assert response.headers["Content-Security-Policy"] == POLICY
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert response.headers["Referrer-Policy"] == "same-origin"
            assert response.headers["Content-Type"] == "text/html; charset=utf-8"
            assert " style=" not in text
            assert not re.search(r"<script(?! src=\"/page/page\.js)|\son\w+=", text)
    assert "default-src 'none'" in POLICY
    assert "frame-ancestors 'none'" in POLICY


async def test_files_of_the_page_are_sent_again_when_they_have_changed(client: aiohttp.ClientSession) -> None:
    async with client.get("/") as response:
        found = re.findall(r'(?:href|src)="(/page/[^"]+)"', await response.text())
    assert len(found) == 3
    for path in found:
        async with client.get(path) as response:
            assert response.status == 200
            assert response.headers["Cache-Control"] == "no-cache"
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert len(await response.read()) > 100
        async with client.get(path, headers={"If-None-Match": response.headers["ETag"]}) as again:
            assert again.status == 304
    async with client.get("/page/../secrets") as response:
        assert response.status == 404
    async with client.get("/page/page.py") as response:
        assert response.status == 404


async def test_who_is_asked_is_said_before_the_answer_is_there(serve: Serve, world: World) -> None:
    _, url = await serve()
    async with aiohttp.ClientSession(url) as client:
        world.searxng.fail(InjectedFault.hang())
        early = ""
        async with client.get("/?q=reciprocal+rank+fusion") as response:
            async for piece in response.content.iter_any():
                early += piece.decode()
                if "</span> called" in early:
                    break  # the search has not ended, and will not
            response.close()
        assert "Searching" in early
        assert "</form>" in early
        assert "arrived" not in early
        async with client.get("/?q=bm25") as response:
            whole = await response.text()
    assert whole.index("</span> called") < whole.index('<div class="arrived">') < whole.index(" from <strong>searxng")
    assert whole.rstrip().endswith("</html>")


class Ends:
    """Remembers how searches ended."""

    def __init__(self) -> None:
        self.errors: asyncio.Queue[str | None] = asyncio.Queue()

    def search_done(self, done: SearchDone) -> None:
        self.errors.put_nowait(done.error)

    def page_done(self, done: PageDone) -> None:
        self.errors.put_nowait(done.error)


@pytest.mark.parametrize("path", ["/?q=ranking", "/?open={site}/wiki/bm25"])
async def test_who_leaves_ends_the_search(serve: Serve, world: World, path: str) -> None:
    ends = Ends()
    _, url = await serve(call_listeners=[ends])
    world.searxng.fail(InjectedFault.hang())
    world.site("articles").fail(InjectedFault.hang())
    async with aiohttp.ClientSession(url) as client:
        async with client.get(path.format(site=world.site("articles").url)) as response:
            await response.content.readany()
            response.close()
        assert await ends.errors.get() == "CancelledError"


async def test_other_sites_cannot_spend(serve: Serve, world: World) -> None:
    _, url = await serve()
    address = f"{world.site('articles').url}/wiki/bm25"
    async with aiohttp.ClientSession(url) as client:
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Purpose": "prefetch"}):
            for path in ("/?q=ranking", f"/?open={address}"):
                async with client.get(path, headers=headers) as response:
                    text = await response.text()
                    assert "Another site sent you here" in text
                    assert "Set-Cookie" not in response.headers
        async with client.head("/?q=ranking") as response:
            assert response.status == 200
    assert world.searxng.requests == []
    assert world.site("articles").requests == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Origin": "https://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[", "Sec-Fetch-Site": "same-origin"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Origin": "{url}"}, 303),
    ],
)
async def test_a_form_comes_from_the_page_itself(serve: Serve, headers: dict[str, str], status: int) -> None:
    _, url = await serve()
    headers = {name: value.replace("{url}", url) for name, value in headers.items()}
    async with aiohttp.ClientSession(url) as client:
        async with client.post("/session/new", headers=headers, allow_redirects=False) as response:
            assert response.status == status
            assert ("Set-Cookie" in response.headers) == (status == 303)
        async with client.get("/session/new") as response:
            assert response.status == 405


async def test_without_a_limit_its_searches_are_counted_too(serve: Serve) -> None:
    _, url = await serve(session={"max_searches": 0})
    async with aiohttp.ClientSession(url) as client, client.get("/") as response:
        assert "This browser's session has made 0 searches" in await response.text()


async def test_a_browser_has_a_session_of_its_own(serve: Serve) -> None:
    web, url = await serve(session={"max_searches": 20})
    jars = [aiohttp.CookieJar(unsafe=True) for _ in range(2)]
    for jar, made in zip(jars, (2, 1), strict=True):
        async with aiohttp.ClientSession(url, cookie_jar=jar) as client:
            for number in range(made):
                async with client.get(f"/?q=ranking+{number}") as response:
                    cookie = response.headers.get("Set-Cookie", "")
                    assert (number == 0) == ("HttpOnly; SameSite=Strict" in cookie)
                    await response.read()
            async with client.get("/") as response:
                text = await response.text()
    assert "This browser's session has made 1 of 20 searches" in text
    token = next(iter(jars[1])).value
    assert token not in text  # who reads the name of a session cannot go on with it
    names = await stored_keys(web.store, "sources:page-")
    assert len(names) == 2


async def test_a_broken_cookie_is_as_good_as_none(client: aiohttp.ClientSession) -> None:
    for cookie in ("x" * 24, "../../etc", "' or 1=1 --", "0" * 24 + "0"):
        async with client.get("/", headers={"Cookie": f"groundwire_session={cookie}"}) as response:
            assert response.status == 200
            assert "groundwire_session=" in response.headers["Set-Cookie"]


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/?q=x&limit=900",
            "/?q=x&time=z",
            "/?q=x&after=soon",
            "/?q=x&site=a%20b%2F",
            "/?q=x&p=99",
            "/?q=x&limit=%F0%9F",
        ),
        *("/?q=%00", "/?q=x&language=%3Cscript%3E", "/?open=ftp://x.test", "/?open=http://127.0.0.1:1/"),
        *("/?open=http://169.254.169.254/", "/?q=x&strategy=all", "/?open=https://a.test&at=%23nowhere"),
    ],
)
async def test_what_is_wrong_is_said(client: aiohttp.ClientSession, path: str) -> None:
    async with client.get(path) as response:
        text = await response.text()
        assert response.status == 200
        assert 'class="trouble" role="alert"' in text
        assert "<script>" not in text


@pytest.mark.parametrize("path", ["/?q=" + "x" * 5_000, "/?open=" + "x" * 5_000])
async def test_what_cannot_be_shown_is_refused(client: aiohttp.ClientSession, path: str) -> None:
    async with client.get(path) as response:
        assert response.status == 400
        assert "Request refused" in await response.text()


async def test_an_address_is_opened_rather_than_searched_for(client: aiohttp.ClientSession, world: World) -> None:
    address = f"{world.site('articles').url}/wiki/bm25"
    async with client.get("/", params={"q": address}, allow_redirects=False) as response:
        assert response.status == 303
        assert response.headers["Location"].startswith("/?open=http%3A%2F%2F127.0.0.1")
    bare = address.removeprefix("http://")
    for params in ({"q": bare}, {"open": bare}):
        async with client.get("/", params=params, allow_redirects=False) as response:
            assert (response.status, response.headers["Location"]) == (303, f"/?open={quote(address, safe='')}#reader")
    for words in (f"what is {address}", "node.js"):
        async with client.get("/", params={"q": words}, allow_redirects=False) as response:
            assert response.status == 200


async def test_an_address_that_cannot_be_read_stays_in_the_field(client: aiohttp.ClientSession, world: World) -> None:
    address = f"{world.site('articles').url}/nothing-here"
    async with client.get("/", params={"q": address}) as response:
        text = await response.text()
    assert "There is no such page" in text
    assert f'name="q" value="{address}"' in text


async def test_results_come_before_their_details_with_the_words_in_bold(client: aiohttp.ClientSession) -> None:
    async with client.get("/?q=reciprocal+rank+fusion") as response:
        text = await response.text()
    assert text.index('class="found"') < text.index('class="receipt"')
    rows = text[text.index('class="found"') :]
    assert '#reader"><b>Reciprocal rank fusion</b></a>' in rows
    assert "adding up the <b>reciprocals</b> of the <b>ranks</b>" in rows


@pytest.mark.req("B34")
async def test_a_follow_up_without_a_model_is_said_to_be_a_new_search(serve: Serve) -> None:
    _, url = await serve(answer={"local_servers": []})
    path = "/?q=What+is+BM25&answer=1&follows=reciprocal+rank+fusion"
    async with aiohttp.ClientSession(url) as client, client.get(path) as response:
        text = await response.text()
    assert "Without a model, this was searched as a new question" in text
    assert text.index("Checking citations") < text.index('aria-label="Answer"')


class _Changed(EmulatedServer):
    """A site whose page says when it was changed, and in `?only` not when it was published."""

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the page."""
        date = "" if "only" in request.query else "<p>Published 4 May 2024</p>"
        page = f"<h1>Ferry times</h1>{date}<p>Last updated: 7 June 2024</p><p>{'The ferry leaves at six. ' * 30}</p>"
        return EmulatedResponse.html(f"<!doctype html><html lang=en><title>Ferry times</title>{page}")


async def test_a_page_that_is_read_says_when_it_was_changed(serve: Serve, world: World) -> None:
    site = world.add(_Changed("changed"))
    web, url = await serve(policy={"allowed_origins": (*world.origins, site.url)})
    for query, published in (("", "2024-05-04"), ("?only=1", "2024-06-07")):
        page = await web.open_page(f"{site.url}/ferry{query}")
        assert (page.published, page.modified) == (published, "2024-06-07")
        async with aiohttp.ClientSession(url) as client, client.get("/", params={"open": page.url}) as response:
            shown = re.sub(r"\s+", " ", re.sub(r"<time ([^>]*)>[^<]*</time>", r"\1", await response.text()))
        about = shown.partition('class="where"')[2].partition("</p>")[0]
        assert ('updated datetime="2024-06-07"' in about, 'datetime="2024-05-04"' in about) == (True, not query)
        assert about.count("datetime=") == (1 if query else 2)


async def test_what_was_shown_is_not_searched_again(serve: Serve, world: World) -> None:
    _, url = await serve()
    address = f"{world.site('articles').url}/wiki/bm25"
    async with aiohttp.ClientSession(url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        async with client.get("/?q=ranking") as response:
            await response.read()
        async with client.get("/", params={"q": "ranking", "open": address}) as response:
            text = await response.text()
        assert "from the cache, free" in text
        async with client.get("/", params={"q": "ranking", "open": address, "refresh": "1"}) as response:
            assert "from the cache, free" in await response.text()
        assert len(world.searxng.requests) == 1


async def test_without_a_cache_opening_a_page_is_no_search_either(serve: Serve, world: World) -> None:
    _, url = await serve(cache={"enabled": False})
    address = f"{world.site('articles').url}/wiki/bm25"
    params = {"q": "ranking", "open": address}
    async with aiohttp.ClientSession(url) as client, client.get("/", params=params) as response:
        assert "Search again for" in await response.text()
    assert world.searxng.requests == []


async def test_the_markdown_is_shown_as_it_is(client: aiohttp.ClientSession, world: World) -> None:
    address = f"{world.site('articles').url}/wiki/reciprocal-rank-fusion"
    async with client.get("/", params={"open": address, "as": "markdown"}) as response:
        text = await response.text()
    source = re.search(r'<pre class="source"[^>]*>(.*?)</pre>', text, re.DOTALL)
    assert source
    assert "# Reciprocal rank fusion" in source[1]
    assert "**Reciprocal rank fusion** (RRF)" in source[1]
    assert "Show formatted" in text


async def test_what_is_kept_can_be_had_anew(serve: Serve, world: World) -> None:
    _, url = await serve(cache={"enabled": True})
    address = f"{world.site('articles').url}/wiki/bm25"
    async with aiohttp.ClientSession(url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        for count, more, offered in ((1, "", False), (1, "", True), (2, "&refresh=1", False)):
            async with client.get(f"/?q=ranking{more}") as response:
                text = await response.text()
            assert len(world.searxng.requests) == count
            assert ("Refresh" in text) == offered
            assert "refresh=1&amp;open" not in text  # the wish counts once
        for count, fresh, offered in ((1, {}, False), (1, {}, True), (2, {"refresh": "1"}, False)):
            async with client.get("/", params={"open": address, **fresh}) as response:
                text = await response.text()
            assert len(world.site("articles").requests) == count
            assert ("Refresh" in text) == offered


@pytest.mark.req("B34")
async def test_an_answer_is_above_the_results(serve: Serve, world: World) -> None:
    _, url = await serve(answer={"local_servers": []})
    async with aiohttp.ClientSession(url) as client, client.get("/?q=reciprocal+rank+fusion&answer=1") as response:
        text = await response.text()
    answer, results = text.index('aria-label="Answer"'), text.index('class="found"')
    assert results < answer  # the results are there first, and do not wait
    assert text.index('<slot name="answer"></slot><slot></slot>') < results  # the answer stands above them
    assert "Every cited sentence is supported by its source." in text[answer:]
    number = re.search(r'class="cite"[^>]*>(\d+)<', text[answer:])
    assert number
    assert f'<span class="number">{number[1]}</span>' in text[results:answer]  # one numbering for both


@pytest.mark.req("B34")
async def test_why_there_is_no_answer_is_said(serve: Serve, world: World) -> None:
    world.searxng.fail(InjectedFault.status(500), times=None)
    _, url = await serve(answer={"local_servers": []})
    async with aiohttp.ClientSession(url) as client, client.get("/?q=reciprocal+rank+fusion&answer=1") as response:
        assert "No answer" in await response.text()


@pytest.mark.req("B37")
async def test_a_provider_that_was_only_slower_is_no_failure(serve: Serve, world: World) -> None:
    held = Held()
    world.searxng.fail(held.fault)
    second = world.add_searxng("second")
    _, url = await serve(
        search={"providers": ("searxng", "searxng:second")},
        providers={"searxng": {"base_url": world.searxng.url}, "searxng:second": {"base_url": second.url}},
    )
    async with aiohttp.ClientSession(url) as client, client.get("/", params={"q": "ranking"}) as response:
        text = await response.text()
    held.release()
    trail = text[text.index('<details class="trail">') :]
    assert 'class="left"' in trail
    assert 'class="bad"' not in trail
    assert '<span class="outcome">abandoned</span>' in trail
    assert "another provider answered first" in trail
