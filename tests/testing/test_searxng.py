from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import aiohttp
import pytest

from world import World

Raw = Callable[..., Awaitable[bytes]]


@pytest.fixture
def ask(world: World, raw: Raw) -> Callable[..., Awaitable[tuple[int, str, bytes]]]:
    async def ask(q: str | None, **params: str) -> tuple[int, str, bytes]:
        query = urlencode({"format": "json", **({} if q is None else {"q": q}), **params})
        received = await raw(f"{world.searxng.url}/search?{query}")
        head, _, body = received.partition(b"\r\n\r\n")
        return int(head[9:12]), head.decode(), body

    return ask


Ask = Callable[..., Awaitable[tuple[int, str, bytes]]]


@pytest.fixture
def found(ask: Ask) -> Callable[..., Awaitable[list[str]]]:
    async def found(q: str, **params: str) -> list[str]:
        status, _, body = await ask(q, **params)
        assert status == 200
        return [result["url"] for result in json.loads(body)["results"]]

    return found


Found = Callable[..., Awaitable[list[str]]]


async def test_the_article_on_fusion_comes_first(world: World, found: Found) -> None:
    urls = await found("reciprocal rank fusion")
    assert urls[0] == world.site("articles").page("reciprocal-rank-fusion")
    assert urls == await found("reciprocal rank fusion")


@pytest.mark.parametrize(
    ("query", "site", "page"),
    [
        ("how does BM25 rank documents", "articles", "bm25"),
        ("Retry-After header ignored", "forum", "retry-after-ignored"),
        ("larder configuration settings", "docs", "configuration"),
        ("hedged request second server", "articles", "hedged-requests"),
    ],
)
async def test_what_is_found(world: World, found: Found, query: str, site: str, page: str) -> None:
    assert (await found(query))[0] == world.site(site).page(page)


@pytest.mark.parametrize("time_range", ["", "day", "week", "month", "year"])
async def test_wikipedia_is_always_found(found: Found, time_range: str) -> None:
    assert await found("wikipedia", time_range=time_range)


async def test_nothing_is_found_for_nonsense(ask: Ask) -> None:
    body = json.loads((await ask("zzyzx of the qwertzuiop"))[2])
    assert (body["results"], body["unresponsive_engines"]) == ([], [])


async def test_results_lead_to_pages(world: World, found: Found, raw: Raw) -> None:
    for url in await found("page"):
        assert (await raw(url)).startswith(b"HTTP/1.1 200"), url


async def test_named_results(raw: Raw) -> None:
    with World(named=True) as world:
        received = await raw(f"{world.searxng.url}/search?q=larder&format=json")
        results = json.loads(received.partition(b"\r\n\r\n")[2])["results"]
        assert {urlsplit(result["url"]).hostname for result in results} == {"docs.test"}


async def test_time_ranges_are_nested_and_never_empty(world: World, found: Found) -> None:
    sets = [set(await found("page", time_range=name)) for name in ("day", "week", "month", "year")]
    everything = set(await found("page")) | set(await found("page", pageno="2"))
    assert sets[0]
    for smaller, larger in zip(sets, [*sets[1:], everything], strict=True):
        assert smaller < larger


async def test_paging(found: Found) -> None:
    first, second, third = [await found("page", pageno=str(number)) for number in (1, 2, 3)]
    assert len(first) == 10
    assert second
    assert not set(first) & set(second)
    assert third == []


@pytest.mark.parametrize(
    ("operator", "hosts"),
    [
        ("site:docs.test", {"docs"}),
        ("(site:docs.test OR site:forum.test)", {"docs", "forum"}),
        ("site:test -site:encyclopedia.test", {"docs", "forum"}),
        ("-site:docs.test -site:forum.test", {"articles"}),
        ("site:cs.test", set()),
    ],
)
async def test_site_operators(world: World, found: Found, operator: str, hosts: set[str]) -> None:
    ports = {world.site(name).port for name in hosts}
    assert {urlsplit(url).port for url in await found(f"page server code {operator}")} == ports


async def test_form_and_url_are_the_same(world: World, raw: Raw) -> None:
    by_url = await raw(f"{world.searxng.url}/search?q=bm25&format=json")
    by_form = await raw(
        f"{world.searxng.url}/search",
        method="POST",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        body=b"q=bm25&format=json",
    )
    assert by_url.partition(b"\r\n\r\n")[2] == by_form.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({}, "No query"),
        ({"q": "  "}, "No query"),
        ({"q": "x", "time_range": "bogus"}, "Invalid value bogus for parameter time_range"),
        ({"q": "x", "pageno": "0"}, "Invalid value 0 for parameter pageno"),
        ({"q": "x", "pageno": "-1"}, "Invalid value -1 for parameter pageno"),
        ({"q": "x", "language": "klingon!"}, "Invalid value klingon! for parameter language"),
        ({"q": "x", "safesearch": "7"}, "Invalid value 7 for parameter safesearch"),
    ],
)
async def test_bad_requests(ask: Ask, params: dict[str, str], error: str) -> None:
    status, head, body = await ask(params.pop("q", None), **params)
    assert (status, json.loads(body)) == (400, {"error": error})
    assert "Content-Type: application/json" in head


@pytest.mark.parametrize("language", ["en", "en-US", "pt-BR", "all", "auto", "zh-Hans"])
async def test_languages_are_accepted(ask: Ask, language: str) -> None:
    assert (await ask("bm25", language=language, safesearch="2"))[0] == 200


async def test_other_formats(world: World, ask: Ask) -> None:
    assert (await ask("bm25", format="nonsense"))[0] == 200
    assert "text/html" in (await ask("bm25", format="nonsense"))[1]
    assert (await ask("bm25", format="rss"))[0] == 403
    world.searxng.json_enabled = False
    status, head, body = await ask("bm25")
    assert status == 403
    assert "text/html" in head
    assert b"<h1>Forbidden</h1>" in body
    assert (await ask("bm25", format="html"))[0] == 200


@pytest.mark.parametrize("query", ["!!w bm25", "bm25 !!g"])
async def test_external_bangs_lead_outside(ask: Ask, query: str) -> None:
    status, head, _ = await ask(query)
    assert status == 302
    assert "Location: https://outside.invalid/search?q=bm25" in head


@pytest.mark.parametrize("query", ["!general bm25", ":fr bm25", "<3 bm25", "!it :en-US <850 bm25"])
async def test_prefixes_are_taken_away(ask: Ask, query: str) -> None:
    assert json.loads((await ask(query))[2])["query"] == "bm25"


@pytest.mark.parametrize("query", ["!important bm25", "\\!!w bm25", '"!!w" bm25', ":( bm25", "< 3 bm25", "a !! b"])
async def test_other_marks_stay(ask: Ask, query: str) -> None:
    status, _, body = await ask(query)
    assert (status, json.loads(body)["query"]) == (200, query)


async def test_limiter(world: World) -> None:
    world.searxng.limiter = True
    polite = {"Accept-Language": "en", "Accept-Encoding": "gzip", "User-Agent": "groundwire-test"}
    url = f"{world.searxng.url}/search?q=bm25&format=json"
    async with aiohttp.ClientSession(skip_auto_headers=["Accept-Encoding", "User-Agent"]) as session:

        async def status(headers: dict[str, str]) -> int:
            async with session.get(url, headers=headers) as answer:
                if answer.status == 429:
                    assert "Too Many Requests" in await answer.text()
                    assert "Retry-After" not in answer.headers
                return answer.status

        assert await status(polite) == 200
        for missing in ("Accept-Language", "Accept-Encoding"):
            assert await status({name: value for name, value in polite.items() if name != missing}) == 429
        assert await status({**polite, "User-Agent": "curl/8"}) == 429
        assert await status({**polite, "Connection": "close"}) == 429


async def test_unresponsive_engines(world: World, ask: Ask) -> None:
    world.searxng.unresponsive = [("google", "Suspended: CAPTCHA")]
    body = json.loads((await ask("bm25"))[2])
    assert body["unresponsive_engines"] == [["google", "Suspended: CAPTCHA"]]
    assert body["results"]
    world.searxng.only_unresponsive = True
    body = json.loads((await ask("bm25"))[2])
    assert body["unresponsive_engines"] == [["google", "Suspended: CAPTCHA"]]
    assert body["results"] == []


async def test_number_of_results_of_older_versions(world: World, ask: Ask) -> None:
    assert "number_of_results" not in json.loads((await ask("bm25"))[2])
    world.searxng.number_of_results = 0
    assert json.loads((await ask("bm25"))[2])["number_of_results"] == 0


async def test_other_paths(world: World, raw: Raw) -> None:
    assert (await raw(f"{world.searxng.url}/healthz")).endswith(b"\r\n\r\nOK")
    assert (await raw(world.searxng.url)).startswith(b"HTTP/1.1 200")
    assert (await raw(f"{world.searxng.url}/{quote('élan')}")).startswith(b"HTTP/1.1 404")


def recorded(recordings: Path, kind: str) -> list[dict[str, Any]]:
    paths = sorted((recordings / "searxng").glob(f"{kind}__*.json"))
    assert paths
    return [json.loads(path.read_text(encoding="utf-8"))["response"] for path in paths]


def json_types(values: list[dict[str, Any]]) -> dict[str, set[str]]:
    types: dict[str, set[str]] = {}
    for value in values:
        for key, item in value.items():
            types.setdefault(key, set()).add("number" if isinstance(item, (int, float)) else type(item).__name__)
    return types


def check_shape(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    known = json_types(theirs)
    for key, types in json_types(ours).items():
        assert key in known, f"{key} was never seen"
        # null stands for a missing value; a key of which only null was recorded tells nothing about its type
        assert types <= known[key] or known[key] == {"NoneType"}, f"{key}: {types}, recorded {known[key]}"
    always = set.intersection(*(set(value) for value in theirs))
    assert all(always <= set(value) for value in ours)


async def test_answers_have_the_recorded_shape(world: World, ask: Ask, recordings: Path) -> None:
    bodies = [entry["body"] for entry in recorded(recordings, "json")]
    world.searxng.unresponsive = [("google", "Suspended: CAPTCHA")]
    ours = json.loads((await ask("page"))[2])
    check_shape([ours], bodies)
    check_shape(ours["results"], [result for body in bodies for result in body["results"]])
    for engine in ours["unresponsive_engines"]:
        assert [type(part) for part in engine] == [str, str]
    for result in ours["results"]:
        assert [type(part) for part in result["parsed_url"]] == [str] * 6


async def test_errors_are_as_recorded(world: World, ask: Ask, recordings: Path) -> None:
    (bad,) = recorded(recordings, "error_400")
    status, head, body = await ask("test", time_range="bogus")
    assert (status, json.loads(body)) == (bad["status"], bad["body"])
    assert f"Content-Type: {bad['headers']['content-type']}" in head
    (forbidden,) = recorded(recordings, "error_403")
    world.searxng.json_enabled = False
    status, head, body = await ask("test")
    assert status == forbidden["status"]
    assert f"Content-Type: {forbidden['headers']['content-type']}" in head
    for mark in ("<title>403 Forbidden</title>", "<h1>Forbidden</h1>"):
        assert mark in forbidden["text"]
        assert mark in body.decode()


async def test_all_unresponsive_is_as_recorded(world: World, ask: Ask, recordings: Path) -> None:
    (silent,) = recorded(recordings, "json_all_unresponsive")
    world.searxng.only_unresponsive = True
    world.searxng.unresponsive = [(name, words) for name, words in silent["body"]["unresponsive_engines"]]
    status, _, body = await ask(silent["body"]["query"], pageno="2")
    assert (status, json.loads(body)) == (silent["status"], silent["body"])
