"""The gateway in the place of SearXNG, Perplexity, Tavily, Exa and Firecrawl, asked by our providers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groundwire import AllProvidersFailed, Settings, Web
from groundwire.testing.fault_injection import InjectedFault
from groundwire_server.api.compat_apis import FORMS
from groundwire_server.api.compat_searxng import SearxngReply, SearxngRequest
from world import World

WORDS = "reciprocal rank fusion"


def web_over(settings: Callable[..., Settings], url: str, provider: str) -> Web:
    """Return a `Web` whose one provider is the gateway."""
    made = settings(search={"providers": (provider,)}, providers={provider: {"base_url": url}})
    return Web(made.with_key(f"{provider.upper()}_API_KEY", _secret("any")))


def _secret(text: str) -> Any:
    from pydantic import SecretStr

    return SecretStr(text)


@pytest.mark.req("B18")
@pytest.mark.parametrize("provider", ["searxng", "perplexity"])
async def test_our_own_provider_finds_the_same(
    gateway: Any, settings: Callable[..., Settings], provider: str, world: World
) -> None:
    served = await gateway()
    async with web_over(settings, served.url, provider) as there, served.gateway.web.session() as here:
        expected = await here.search(WORDS, limit=4)
        found = await there.search(WORDS, limit=4)
        assert [(row.url, row.title) for row in found.results] == [(row.url, row.title) for row in expected.results]
        assert [row.published[:10] for row in found.results if row.published] == [
            row.published[:10] for row in expected.results if row.published
        ]
        host = expected.results[0].url.split("/")[2].split(":")[0]
        only = await there.search(WORDS, allowed_domains=[host], time_range="y", language="en", region="us")
        assert only.results
        world.searxng.fail(InjectedFault.status(404), times=None)  # an outage would be waited for, here and there
        with pytest.raises(AllProvidersFailed) as failed:
            await there.search("something else", timeout=5)
        assert failed.value.attempts[0].outcome == "unavailable"


@pytest.mark.req("B32")
@pytest.mark.parametrize("provider", ["tavily", "exa", "firecrawl"])
async def test_the_paths_of_other_apis_answer_in_their_form(
    gateway: Any, settings: Callable[..., Settings], provider: str
) -> None:
    served = await gateway()
    async with web_over(settings, served.url, provider) as there, served.gateway.web.session() as here:
        expected = await here.search(WORDS, limit=3)
        found = await there.search(WORDS, limit=3)
        assert [(row.url, row.title) for row in found] == [(row.url, row.title) for row in expected]
        assert all(row.snippet for row in found) or provider == "exa"  # which only takes the texts of pages


@pytest.mark.req("B32")
@pytest.mark.parametrize(
    ("path", "asked", "at"),
    [
        ("/extract", {"urls": ["URL", "http://gone.invalid/"]}, lambda body: body["results"][0]["raw_content"]),
        ("/extract", {"urls": "URL", "extract_depth": "basic"}, lambda body: body["results"][0]["raw_content"]),
        ("/contents", {"urls": ["URL"], "text": True}, lambda body: body["results"][0]["text"]),
        ("/v1/scrape", {"url": "URL", "formats": ["markdown"]}, lambda body: body["data"]["markdown"]),
        ("/v2/scrape", {"url": "URL", "onlyMainContent": True}, lambda body: body["data"]["markdown"]),
    ],
)
async def test_pages_in_the_form_of_other_apis(
    gateway: Any, world: World, path: str, asked: dict[str, Any], at: Callable[[Any], str]
) -> None:
    served = await gateway()
    client, url = await served.client(), f"{world.site('articles').url}/wiki/bm25"
    given = json.loads(json.dumps(asked).replace("URL", url))
    async with client.post(path, json=given) as response:
        body = await response.json()
    assert (response.status, at(body)) == (200, (await served.gateway.web.open_page(url)).content)
    assert [row["url"] for row in body.get("failed_results", ())] == [
        one for one in given.get("urls", ()) if "gone" in one
    ]
    if "data" in body:
        assert body["success"]
        assert body["data"]["metadata"]["sourceURL"] == url


@pytest.mark.req("B32")
async def test_pages_that_cannot_be_read_are_no_empty_result(gateway: Any, world: World) -> None:
    client, gone = await (await gateway()).client(), "http://gone.invalid/"
    for path in ("/v1/scrape", "/v2/scrape"):
        for given in ({"url": gone}, {"urls": [gone]}, {"urls": [gone, gone]}):
            async with client.post(path, json=given) as response:
                body = await response.json()
            code = "host_not_found" if "url" in given else "page_unavailable"  # of several, each may differ
            is_text = FORMS[path].text_errors
            problem = body if is_text else body["error"]
            assert (response.status, problem["code"]) == (502, code), (path, given)
            assert "gone.invalid" in problem["error" if is_text else "message"]
    urls = [f"{world.site('articles').url}/wiki/bm25", gone]
    async with client.post("/v2/scrape", json={"urls": urls}) as response:
        body = await response.json()
    assert (len(body["data"]), [row["url"] for row in body["failed"]]) == (1, [gone])
    async with client.post("/contents", json={"urls": urls}) as response:
        body = await response.json()
    assert [(row["id"], row["status"]) for row in body["statuses"]] == [(gone, "error")]


@pytest.mark.req("B32")
async def test_a_search_of_another_api_is_not_ignored_in_part(gateway: Any) -> None:
    client = await (await gateway()).client()

    async def posted(**given: Any) -> tuple[int, Any]:
        async with client.post("/search", json={"query": WORDS, **given}) as response:
            return response.status, await response.json()

    assert (await posted(include_domains=["nowhere.test"]))[1]["results"] == []
    assert (await posted(search_domain_filter=[".gov"]))[0] == 200
    status, body = await posted(max_result=3)
    assert (status, body["error"]["field"]) == (400, "max_result")
    assert body["detail"]["error"] == body["error"]["message"]
    assert body["error"]["message"].endswith("; did you mean 'limit'?")
    assert (await posted(api_key="in a header, too", search_after_date_filter=None))[0] == 200
    status, body = await posted(numResults=1, includeAnswer=True, searchDepth="deep")
    assert (status, len(body["results"]), body["query"]) == (200, 1, WORDS)
    assert "rank" in body["answer"].lower()
    assert [note[:11] for note in body["warnings"]] == ["searchDepth"]
    for given, field in (
        ({"keep": "no"}, "keep"),
        ({"refresh": "maybe"}, "refresh"),
        ({"include_domains": {"a.test": 1}}, "include_domains"),
        ({"include_domains": ["a.test"] * 101}, "include_domains"),
        ({"max_results": 1, "numResults": 2}, "numResults"),
        ({"q": "other words"}, "q"),
        ({"search_domain_filter": ["a.test"], "include_domains": ["b.test"]}, "include_domains"),
        ({"includeDomains": ["a.test"], "include_domains": ["b.test"]}, "include_domains"),
        ({"search_recency_filter": "day", "time_range": "year"}, "search_recency_filter"),
    ):
        status, body = await posted(**given)
        assert (status, body["error"]["field"]) == (400, field), given
    status, body = await posted(exact_match=True)
    assert (status, body["error"]["field"]) == (400, "exact_match")


@pytest.mark.req("B32")
@pytest.mark.parametrize(
    ("path", "asked", "at"),
    [
        ("/search", {"include_raw_content": "markdown"}, lambda body: body["results"][0]["raw_content"]),
        ("/search", {"contents": {"text": True}}, lambda body: body["results"][0]["text"]),
        ("/v2/search", {"scrapeOptions": {"formats": ["markdown"]}}, lambda body: body["data"]["web"][0]["markdown"]),
        ("/answer", {"text": True}, lambda body: body["citations"][0]["text"]),
    ],
)
async def test_texts_of_the_pages_come_with_the_results(
    gateway: Any, world: World, path: str, asked: dict[str, Any], at: Callable[[Any], str]
) -> None:
    served = await gateway(search={"limit": 2})
    client = await served.client()
    async with client.post(path, json={"query": WORDS, **asked}) as response:
        body = await response.json()
    assert (response.status, body.get("warnings", [])) == (200, []), body
    text = at(body)
    url = next(iter(body.get("citations") or body.get("results") or body["data"]["web"]))["url"]
    assert text == (await served.gateway.web.open_page(url, max_length=10_000_000)).content
    async with client.post(path, json={"query": WORDS}) as response:
        plain = await response.json()
    assert "markdown" not in json.dumps(plain)
    assert text not in json.dumps(plain)


@pytest.mark.req("B32")
@pytest.mark.parametrize(
    ("path", "asked", "field"),
    [
        ("/search", {"query": WORDS, "includeImages": True}, "include_images"),
        ("/search", {"query": WORDS, "include_answer": True, "time_range": "week"}, "include_answer"),
        ("/search", {"query": WORDS, "contents": {"text": True, "summary": {"query": "why"}}}, "contents.summary"),
        ("/search", {"query": WORDS, "contents": {"subpages": 2}}, "contents.subpages"),
        ("/search", {"query": WORDS, "contents": {"text": {"includeHtmlTags": True}}}, "text"),
        ("/search", {"query": WORDS, "contents": {"maxCharacters": 9}}, "contents.max_characters"),
        ("/v2/search", {"query": WORDS, "scrapeOptions": {"formats": ["html"]}}, "scrapeOptions.formats"),
        ("/v2/search", {"query": WORDS, "scrapeOptions": {"actions": [{"type": "wait"}]}}, "scrapeOptions.actions"),
        ("/v2/search", {"query": WORDS, "scrapeOptions": ["markdown"]}, "scrapeOptions"),
        ("/v2/scrape", {"url": "URL", "formats": [{"type": "summary"}]}, "formats"),
        ("/v2/scrape", {"url": "URL", "formats": ["markdown", "links"]}, "formats"),
        ("/contents", {"urls": ["URL"], "highlights": True}, "highlights"),
        ("/extract", {"urls": ["URL"], "include_images": True}, "include_images"),
        ("/answer", {"query": WORDS, "stream": True}, "stream"),
        ("/v2/map", {"url": "URL", "search": "ranks"}, "search"),
        ("/v2/map", {"url": "URL", "sitemap": "only"}, "sitemap"),
        ("/crawl", {"url": "URL", "select_paths": ["/wiki/.*"]}, "select_paths"),
        ("/crawl", {"url": "URL", "scrapeOptions": {"formats": ["markdown"]}}, "scrape_options"),
        ("/map", {"url": "URL", "include_raw_content": True}, "include_raw_content"),
        ("/v2/map", {"url": "URL", "highlights": True}, "highlights"),
    ],
)
async def test_what_a_client_would_miss_is_refused(
    gateway: Any, world: World, path: str, asked: dict[str, Any], field: str
) -> None:
    client, site = await (await gateway()).client(), world.site("articles")
    given = json.loads(json.dumps(asked).replace("URL", f"{site.url}/wiki/bm25"))
    async with client.post(path, json=given) as response:
        body = await response.json()
    problem = body if FORMS[path].text_errors else body["error"]
    assert (response.status, problem["field"]) == (400, field), body
    assert body["detail"]["error"] == (body["error"] if problem is body else problem["message"])


@pytest.mark.req("B32")
async def test_a_site_in_the_form_of_other_apis(gateway: Any, world: World) -> None:
    served = await gateway()
    client, url = await served.client(), f"{world.site('articles').url}/"
    expected = [row.url async for row in served.gateway.web.map(url, limit=3)]
    assert len(expected) == 3
    asked = {"url": url, "limit": 3, "max_depth": None, "sitemap": "include", "timeout": 30_000}
    async with client.post("/v2/map", json=asked) as response:
        body = await response.json()
    assert (response.status, body["success"], body["links"]) == (200, True, expected)
    async with client.post("/map", json={"url": url, "max_depth": 1, "limit": 3, "timeout": 60}) as response:
        assert (await response.json())["results"] == expected
    async with client.post("/crawl", json={"url": url, "limit": 3}) as response:
        body = await response.json()
    assert {row["url"]: row["raw_content"] for row in body["results"]} == {
        page.url: page.content for page in await served.gateway.web.open_pages(expected, max_length=1_000_000)
    }
    async with client.post("/map", json={"url": "http://gone.invalid/"}) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (502, "host_not_found")


@pytest.mark.req("B32")
@pytest.mark.parametrize(
    ("method", "path", "instead"),
    [
        ("POST", "/v2/crawl", "crawls do not run in the background. /crawl"),
        ("GET", "/v2/crawl/x1/errors", "crawls do not run"),
        ("POST", "/v2/batch/scrape", "/v1/pages"),
        ("POST", "/v2/extract", "/v1/ask"),
        ("DELETE", "/v2/scrape/x1/interact", "no browser"),
        ("GET", "/v2/search/research/papers", "no such index"),
        ("POST", "/research", "/v1/ask"),
        ("POST", "/findSimilar", "/v1/search"),
        ("GET", "/websets/v0/websets", "/v1/search"),
    ],
)
async def test_what_other_apis_have_alone_is_refused_with_what_to_use(
    method: str, path: str, instead: str, gateway: Any
) -> None:
    client = await (await gateway()).client()
    async with client.request(method, path, json={"url": "http://pub.example.com/"}) as response:
        body = await response.json()
    assert (response.status, body["code"], body["success"]) == (400, "not_supported", False)
    assert instead in body["error"] == body["detail"]["error"]
    for tavilys in ("/extract", "/crawl"):
        async with client.post(tavilys, json={"url": "http://pub.example.com/", "format": "text"}) as response:
            assert (response.status, (await response.json())["error"]["field"]) == (400, "format")
    async with client.get("/v1/nonsense") as response:
        assert (response.status, (await response.json())["error"]["code"]) == (404, "no_such_path")


@pytest.mark.req("B18")
async def test_nothing_found_is_said_as_these_services_say_it(gateway: Any) -> None:
    client = await (await gateway()).client()
    params = {"q": "zzyzx qwrtp vbnmk", "format": "json"}
    async with client.get("/search", params=params) as response:
        body = await response.json()
        assert (response.status, body["results"], body["unresponsive_engines"]) == (200, [], [])
    async with client.post("/search", json={"query": "zzyzx qwrtp vbnmk"}) as response:
        assert (response.status, (await response.json())["results"]) == (200, [])


@pytest.mark.req("B18")
async def test_a_failure_has_its_status_where_searxng_would_say_nothing_found(gateway: Any, world: World) -> None:
    client = await (await gateway()).client()
    world.searxng.fail(InjectedFault.status(500), times=50)
    async with client.get("/search", params={"q": WORDS, "format": "json"}) as response:
        body = await response.json()
        assert (response.status, list(body)) == (502, ["error"])
        assert "Web search unavailable: searxng: failed (HTTP 500)" in body["error"]
    async with client.post("/search", json={"query": [WORDS, "another"]}) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (502, "all_providers_failed")


@pytest.mark.req("B18")
async def test_the_shape_is_that_of_recorded_answers(gateway: Any, recordings: Path) -> None:
    client = await (await gateway()).client()
    async with client.get("/search", params={"q": WORDS, "format": "json"}) as response:
        ours = await response.json()
    theirs = json.loads((recordings / "searxng" / "json__01.json").read_text())["response"]["body"]
    assert set(theirs) <= set(ours) | {"number_of_results"}
    for key in set(theirs["results"][0]) & set(ours["results"][0]) - {"publishedDate"}:
        assert type(ours["results"][0][key]) is type(theirs["results"][0][key]), key
    assert {"url", "title", "content", "engine", "engines", "score", "category", "publishedDate", "parsed_url"} <= set(
        ours["results"][0]
    )
    async with client.post("/search", json={"query": WORDS, "max_results": 1}) as response:
        ours = await response.json()
    theirs = json.loads((recordings / "perplexity_search" / "search__01.json").read_text())["response"]["body"]
    assert set(theirs) <= set(ours)  # and what the clients of Tavily and Exa read
    assert set(ours["results"][0]) - set(theirs["results"][0]) == {"id", "content", "score", "publishedDate"}


async def test_searxng_by_form_and_at_the_root(gateway: Any) -> None:
    client = await (await gateway()).client()
    form = {"q": WORDS, "format": "json", "theme": "simple", "pageno": "", "safesearch": "0"}
    async with client.post("/search", data=form) as response:
        body = await response.json()
        assert (response.status, bool(body["results"])) == (200, True)
    async with client.get(
        "/", params={"q": WORDS, "format": "json", "language": "en"}
    ) as response:  # as LangChain asks
        assert (response.status, response.url.path) == (200, "/search")
        assert [row["url"] for row in (await response.json())["results"]] == [row["url"] for row in body["results"]]


@pytest.mark.parametrize(
    ("params", "status", "error"),
    [
        ({"format": "json"}, 400, "No query"),
        ({"q": " ", "format": "json"}, 400, "No query"),
        ({"q": "x", "format": "html"}, 403, "format=json"),
        ({"q": "x", "format": "csv"}, 403, "format=json"),
        ({"q": "x", "format": "json", "time_range": "bogus"}, 400, "Invalid value bogus for parameter time_range"),
        ({"q": "x", "format": "json", "pageno": "0"}, 400, "Invalid value 0 for parameter pageno"),
        ({"q": "x", "format": "json", "language": "klingon!"}, 400, "Invalid value klingon! for parameter language"),
        ({"q": "x", "format": "json", "safesearch": "3"}, 400, "Invalid value 3 for parameter safesearch"),
        ({"q": "x", "format": "json", "categories": "images,videos"}, 400, "not images, videos"),
        ({"q": "x", "format": "json", "categories": "it"}, 400, "general, news, and science, not it"),
        ({"q": "x", "format": "json", "engines": "google"}, 400, "no engine google; its engines are searxng"),
    ],
)
async def test_what_searxng_refuses(gateway: Any, params: dict[str, str], status: int, error: str) -> None:
    client = await (await gateway()).client()
    async with client.get("/search", params=params) as response:
        body = await response.json()
    assert (response.status, list(body)) == (status, ["error"])
    assert error in body["error"]


async def test_a_form_without_q_is_told_what_to_send(gateway: Any) -> None:
    client = await (await gateway()).client()
    for form in ({"query": WORDS}, f'{{"query": "{WORDS}"}}'):  # the second is JSON, sent as curl sends it
        kind = "application/x-www-form-urlencoded"
        async with client.post("/search", data=form, headers={"content-type": kind}) as response:
            error = (await response.json())["error"]
        assert (response.status, error) == (
            400,
            "No query; send q in the form, or JSON with Content-Type: application/json",
        )


async def test_engines_and_categories(gateway: Any, world: World) -> None:
    other = world.add_searxng("second")
    sections = {
        "search": {"providers": ("searxng", "searxng:second"), "strategy": "fallback"},
        "providers": {"searxng": {"base_url": world.searxng.url}, "searxng:second": {"base_url": other.url}},
    }
    client = await (await gateway(**sections)).client()

    async def ask(**more: str) -> Any:
        async with client.get("/search", params={"q": WORDS, "format": "json"} | more) as response:
            return await response.json()

    body = await ask(engines="searxng:second,google", categories="news,images")
    assert body["results"][0]["engines"] == ["searxng:second"]
    assert {row["category"] for row in body["results"]} == {"news"}
    assert dict(body["unresponsive_engines"]) == {
        "google": "not a provider of this gateway",
        "images": "not searched by this gateway",
    }
    world.searxng.fail(InjectedFault.status(429), times=10)
    body = await ask(q="rank fusion")
    assert body["results"][0]["engine"] == "searxng:second"
    assert body["unresponsive_engines"] == [["searxng", "too many requests"]]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"query": ""},
        {"query": []},
        {"query": ["a"] * 6},
        {"query": "a", "max_results": 51},
        {"query": "a", "search_domain_filter": ["a example"]},
        {"query": "a", "search_language_filter": ["en", "de"]},
        {"query": "a", "search_recency_filter": "decade"},
        {"query": "a", "search_after_date_filter": "2/30/2026"},
        {"query": "a", "search_type": "people"},
        {"query": "a", "last_updated_after_filter": "1/1/2026"},
    ],
)
async def test_what_perplexity_refuses(gateway: Any, wrong: Any) -> None:
    client = await (await gateway()).client()
    async with client.post("/search", json=wrong) as response:
        body = await response.json()
    assert (response.status, body["error"]["code"]) == (400, "invalid_request")
    assert body["error"]["message"].startswith(tuple(wrong or {"query": ""})), "names that the client knows"


async def test_perplexity_with_several_queries_and_short_snippets(gateway: Any) -> None:
    client = await (await gateway()).client()
    asked = {"query": [WORDS, "rank fusion"], "max_results": 5, "max_tokens_per_page": 5}
    async with client.post("/search", json=asked | {"display_server_time": True}) as response:
        body = await response.json()
    urls = [row["url"] for row in body["results"]]
    assert (response.status, len(urls), len(set(urls))) == (200, len(urls), len(urls))
    assert all(0 < len(row["snippet"]) <= 20 for row in body["results"])
    assert body["server_time"]
    async with client.post("/search", json={"query": WORDS, "max_tokens": 10}) as response:
        body = await response.json()
    assert sum(len(row["snippet"]) for row in body["results"]) <= 40


def test_the_models_of_the_drop_in_hold_what_searxng_sends() -> None:
    assert "timeout" not in SearxngRequest.model_fields
    assert {"answers", "infoboxes", "suggestions", "corrections"} <= set(SearxngReply.model_fields)


@pytest.mark.req("B32")
async def test_a_path_that_is_not_there_is_a_page_for_browsers_and_json_for_programs(gateway: Any) -> None:
    client = await (await gateway()).client()
    for path in ("/nowhere", "/v1/nowhere", "/page/../x"):
        async with client.get(path, headers={"Accept": "text/html,*/*;q=0.8"}) as response:
            assert (response.status, response.content_type) == (404, "text/html")
            assert "There is no page at this address." in await response.text()
        async with client.get(path) as response:
            assert (response.status, response.content_type) == (404, "application/json")
    async with client.post("/nowhere", headers={"Accept": "text/html"}) as response:
        assert (response.status, response.content_type) == (404, "application/json")
    async with client.get("/healthz", headers={"Accept": "text/html"}) as response:
        assert response.status == 200


async def test_paths_that_people_type_from_memory(gateway: Any) -> None:
    client = await (await gateway()).client()
    for path, right in (
        ("/health", "/healthz"),
        ("/v1/ping", "/healthz"),
        ("/ready", "/readyz"),
        ("/v1/read", "/v1/pages"),
    ):
        async with client.get(path) as response:
            assert (response.status, f"did you mean {right}?" in await response.text()) == (404, True), path
    async with client.get("/v1/tools") as response:
        tools = (await response.json())["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["web_search", "open_page"]
    async with client.post("/v1/tools/tavily-search", json={"query": WORDS, "max_results": 1}) as response:
        assert len((await response.json())["results"]) == 1
    async with client.post("/v1/ask", json={"question": WORDS, "quote": True}) as response:
        answer = await response.json()
    assert answer["answer"] == answer["text"]
