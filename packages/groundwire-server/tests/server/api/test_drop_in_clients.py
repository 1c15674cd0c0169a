"""The gateway in the place of other services, asked by their own clients, where these are installed."""

from __future__ import annotations

import asyncio
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.environment import environment_with
from components.needs import needed
from world import World

WORDS = "reciprocal rank fusion"
ROOT = Path(__file__).resolve().parents[5]
SDKS = {
    "tavily-python==0.8.5": {"research": "/v1/ask", "get_research": "/v1/ask"},
    "exa-py==2.28.0": {"find_similar": "/v1/search", "agent.runs.create": "/v1/ask", "websets.list": "/v1/search"},
    "firecrawl-py==4.55.0": {
        "agent": "/v1/ask",
        "batch_scrape": "/v1/pages",
        "extract": "/v1/pages",
        "crawl": "/crawl",
    },
    "perplexityai==0.46.1": {"responses.create": "--upstream"},
}
"""The clients, and what some of their methods are told to use instead."""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.req("B32")
@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("sdk", SDKS)
async def test_each_method_works_as_the_guide_says_or_is_refused(
    sdk: str, kind: str, gateway: Any, world: World
) -> None:
    name = sdk.partition("==")[0]
    python = needed(lambda: environment_with(ROOT / f".venv-{name}", (sdk,), "about 20 s", print)) / "bin/python"
    served = await gateway()
    command = [
        python,
        Path(__file__).with_name("drop_in_methods.py"),
        name,
        served.url,
        world.library.search(WORDS)[0].url,
        kind,
    ]
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    outcomes = {method: tuple(said) for method, said in json.loads(out.splitlines()[-1]).items()}
    works = {method for method, (_, statuses, _) in outcomes.items() if statuses and set(statuses) == {200}}
    row = re.search(rf"^\| {name} \| (.*?) \|", (ROOT / "docs/guides/searching.md").read_text("utf-8"), re.MULTILINE)
    assert row
    told = set(re.findall(r"`([\w.]+)`", row[1])) & outcomes.keys()
    assert {re.sub(r"^v[12]\.", "", method) for method in works} == told
    for method, (said, statuses, kinds) in outcomes.items():
        if method not in works and statuses:
            # one searches for several topics, and leaves out what is refused
            assert said != "works" or 200 in statuses, (method, statuses)
            assert (set(statuses) <= {200, 400, 404}, kinds) == (True, ["application/json"]), (method, statuses, said)
            assert SDKS[sdk].get(method, "") in said, method


async def called(method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a method of a client that blocks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return await asyncio.to_thread(method, *arguments, **options)


@pytest.mark.req("B32")
async def test_tavily(gateway: Any, world: World) -> None:
    tavily = pytest.importorskip("tavily")
    served = await gateway()
    client = tavily.TavilyClient(api_key="tvly-any", api_base_url=served.url)
    found = await called(client.search, WORDS, max_results=3, include_answer=True, include_raw_content=True)
    first = found["results"][0]
    page = await served.gateway.web.open_page(first["url"], max_length=10_000_000)
    assert (first["raw_content"], len(found["results"])) == (page.content, 3)
    assert "rank" in found["answer"].lower()
    assert any(row["url"] in found["answer"] for row in found["results"]), "the answer names its sources"
    assert "rank" in (await called(client.qna_search, WORDS)).lower()
    old = await called(client.search, WORDS, topic="general", days=7, max_results=3)  # as get_search_context asks
    assert [row["url"] for row in old["results"]] == [row["url"] for row in found["results"]]
    plain = await called(client.search, WORDS, max_results=1)
    assert (plain.get("answer"), plain["results"][0].get("raw_content")) == (None, None)
    for wrong in (
        {"include_images": True},
        {"include_favicon": True},
        {"include_answer": True, "time_range": "week"},
        {"exact_match": True},
    ):
        with pytest.raises(tavily.BadRequestError, match=next(iter(wrong))):
            await called(client.search, WORDS, **wrong)
    url = f"{world.site('articles').url}/wiki/"
    addresses = (await called(client.map, f"{url}bm25", limit=4))["results"]
    assert addresses[0] == f"{url}bm25"
    crawled = (await called(client.crawl, f"{url}bm25", limit=1))["results"]
    assert crawled[0]["raw_content"] == (await served.gateway.web.open_page(f"{url}bm25")).content
    with pytest.raises(tavily.BadRequestError, match="/v1/ask answers"):
        await called(client.research, WORDS)
    with pytest.raises(tavily.BadRequestError, match="instructions"):
        await called(client.crawl, url, instructions="only the pages about ranks")


@pytest.mark.req("B32")
async def test_exa(gateway: Any) -> None:
    exa_py = pytest.importorskip("exa_py")
    served = await gateway()
    client = exa_py.Exa("any", base_url=served.url)
    found = (await called(client.search_and_contents, WORDS, text=True, num_results=3)).results
    page = await served.gateway.web.open_page(found[0].url, max_length=10_000_000)
    assert found[0].text == page.content
    async with served.gateway.web.session() as here:
        expected = (await here.search(WORDS, limit=3)).results
    assert [row.published_date for row in found] == [row.published and row.published[:10] for row in expected]
    cut = (await called(client.search, WORDS, contents={"text": {"max_characters": 40}, "highlights": True})).results
    assert (cut[0].text, cut[0].highlights) == (page.content[:40], [expected[0].snippet])
    assert (await called(client.search, WORDS, contents=False)).results[0].text is None
    assert (await called(client.get_contents, [found[0].url])).results[0].text == page.content[:10_000]
    said = await called(client.answer, WORDS, text=True)
    assert "rank" in said.answer.lower()
    assert said.citations[0].text
    for wrong in ({"summary": True}, {"text": True, "subpages": 2}):
        with pytest.raises(ValueError, match="400"):
            await called(client.search_and_contents, WORDS, **wrong)
    with pytest.raises(ValueError, match="/v1/ask streams"):
        list(await called(client.stream_answer, WORDS))


@pytest.mark.req("B32")
async def test_firecrawl(gateway: Any, world: World) -> None:
    firecrawl = pytest.importorskip("firecrawl")
    types = pytest.importorskip("firecrawl.v2.types")
    errors = pytest.importorskip("firecrawl.v2.utils.error_handler")
    served = await gateway()
    client = firecrawl.Firecrawl(api_key="any", api_url=served.url)
    plain = (await called(client.search, WORDS, limit=2)).web
    assert plain[0].description
    read = (await called(client.search, WORDS, limit=2, scrape_options=types.ScrapeOptions(formats=["markdown"]))).web
    page = await served.gateway.web.open_page(plain[0].url, max_length=10_000_000)
    assert (read[0].markdown, read[0].metadata.source_url) == (page.content, plain[0].url)
    assert (await called(client.scrape, plain[0].url, formats=["markdown"], timeout=30_000)).markdown == page.content
    url = f"{world.site('articles').url}/wiki/bm25"
    assert (await called(client.map, url, limit=3, timeout=60_000)).links[0].url == url
    with pytest.raises(errors.BadRequestError, match="formats"):
        await called(client.scrape, url, formats=["markdown", "links"])
    with pytest.raises(errors.BadRequestError, match="formats"):
        await called(client.search, WORDS, scrape_options=types.ScrapeOptions(formats=["html"]))
    with pytest.raises(errors.BadRequestError, match="crawls do not run in the background"):
        await called(client.start_crawl, url)


@pytest.mark.req("B18")
async def test_perplexity(gateway: Any) -> None:
    perplexity = pytest.importorskip("perplexity")
    served = await gateway()
    client = perplexity.Perplexity(api_key="any", base_url=served.url, max_retries=0)
    found = await called(client.search.create, query=WORDS, max_results=2)
    assert (len(found.results), bool(found.results[0].snippet)) == (2, True)
    with pytest.raises(perplexity.BadRequestError, match="search_language_filter"):
        await called(client.search.create, query=WORDS, search_language_filter=["en", "de"])


@pytest.mark.req("B18")
async def test_langchain_with_searxng(gateway: Any) -> None:
    utilities = pytest.importorskip("langchain_community.utilities")
    served = await gateway()
    client = utilities.SearxSearchWrapper(searx_host=served.url)
    assert (await called(client.results, WORDS, 2))[0]["link"]
    assert await called(client.run, WORDS, engines=["searxng"])
    with pytest.raises(ValueError, match="no engine google; its engines are searxng"):
        await called(client.results, WORDS, 2, engines=["google"])
    assert (await called(client.results, WORDS, 2, categories=["news"]))[0].get("category", "news") == "news"
    with pytest.raises(ValueError, match="not images"):
        await called(client.results, WORDS, 2, categories=["images"])
