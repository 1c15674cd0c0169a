"""What several services have in common, each through its provider on the miniature web: keys, limits, filters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import pytest

from components.services import KEYED, READ, SEARCH, Makes, api_class
from groundwire.deadline import Deadline
from groundwire.errors import (
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.models import Filters
from groundwire.providers.query_mapping import Mapped
from world import World
from world.bombs import bomb_fault

FILTERING = [name for name in KEYED if name in SEARCH and api_class(name).capabilities.domains != "none"]
HASTY = ["exa", "firecrawl", "jina", "linkup", "parallel", "perplexity", "tavily", "you"]  # others have their own ways

REFUSED: list[tuple[str, str, object, int]] = [
    ("exa", "/nowhere", {}, 404),
    ("exa", "/search", [], 400),
    ("exa", "/search", {"query": "x", "numResults": 101}, 400),
    ("exa", "/search", {"query": "x", "type": "magic"}, 400),
    ("exa", "/search", {"query": "x", "highlights": True}, 400),
    ("exa", "/search", {"query": "x", "startPublishedDate": "soon"}, 400),
    ("exa", "/search", {"query": "x", "userLocation": "Germany"}, 400),
    ("exa", "/contents", {"urls": ["x"]}, 400),
    ("firecrawl", "/v1/search", {}, 404),
    ("firecrawl", "/v2/search", [], 400),
    ("firecrawl", "/v2/search", {"query": "x" * 501}, 400),
    ("firecrawl", "/v2/search", {"query": "x", "limit": 101}, 400),
    ("firecrawl", "/v2/search", {"query": "x", "sources": ["maps"]}, 400),
    ("firecrawl", "/v2/search", {"query": "x", "tbs": "soon"}, 400),
    ("firecrawl", "/v2/search", {"query": "x", "country": "Germany"}, 400),
    ("firecrawl", "/v2/search", {"query": "x", "includeDomains": ["a"], "excludeDomains": ["b"]}, 400),
    ("firecrawl", "/v2/scrape", {"url": "x"}, 400),
    ("firecrawl", "/v2/scrape", {"url": "https://a.example/x", "timeout": 5}, 400),
    ("linkup", "/v1/fetch", {"url": "x"}, 400),
    ("linkup", "/v1/fetch", {"url": "https://a.example/x", "renderJs": "yes"}, 400),
    ("parallel", "/v1/extract", {"urls": []}, 422),
    ("parallel", "/v1/extract", {"urls": ["https://a.example/x"], "full_content": True}, 422),
    ("parallel", "/v1/extract", {"urls": ["https://a.example/x"] * 21}, 422),
    ("perplexity", "/search", {"query": "x", "search_domain_filter": ["a.org", "-b.org"]}, 400),
    ("perplexity", "/search", {"query": "x", "search_domain_filter": ["a.org"] * 21}, 400),
    ("perplexity", "/search", {"query": "x", "search_after_date_filter": "2026-01-01"}, 400),
    (
        "perplexity",
        "/search",
        {"query": "x", "search_after_date_filter": "1/1/2026", "search_recency_filter": "week"},
        400,
    ),
    ("perplexity", "/search", {"query": "x", "max_results": 21}, 422),
    ("perplexity", "/search", {"query": "x", "search_language_filter": ["eng"]}, 422),
    ("tavily", "/nowhere", {}, 404),
    ("tavily", "/search", [], 422),
    ("tavily", "/search", {"query": "x" * 401}, 400),
    ("tavily", "/search", {"query": "x", "max_results": 21}, 400),
    ("tavily", "/search", {"query": "x", "topic": "sports"}, 400),
    ("tavily", "/search", {"query": "x", "include_domains": ["a.org"] * 301}, 400),
    ("tavily", "/search", {"query": "x", "start_date": "soon"}, 400),
    ("tavily", "/search", {"query": "x", "country": "DE"}, 400),
    ("tavily", "/search", {"query": "x", "safe_search": True, "search_depth": "fast"}, 400),
    ("tavily", "/extract", {}, 400),
    ("tavily", "/extract", {"urls": ["https://a.example/x"] * 21}, 400),
    ("you", "/v1/contents", {"urls": ["https://a.example/x"], "crawl_timeout": 61}, 422),
    ("you", "/v1/search", {"query": "x", "count": 101}, 422),
    ("you", "/v1/search", {"query": "x", "offset": 10}, 422),
    ("you", "/v1/search", {"query": "x", "freshness": "hour"}, 422),
    ("you", "/v1/search", {"query": "x", "country": "Germany"}, 422),
    ("you", "/v1/search", {"query": "x", "include_domains": ["a"], "exclude_domains": ["b"]}, 422),
]


def calls(provider: Any, page: str, *, seconds: float = 60.0) -> Sequence[Callable[[], Awaitable[Any]]]:
    """Return what a provider can be asked to do: search, read a page, or both."""
    able = provider.capabilities
    tasks: list[Callable[[], Awaitable[Any]]] = []
    if able.search:
        tasks.append(lambda: provider.search("wikipedia", deadline=Deadline.after(seconds)))
    if able.read:
        tasks.append(lambda: provider.read_url(page, deadline=Deadline.after(seconds)))
    return tasks


def used_up(service: Any, key: str) -> None:
    """Let a key's account be empty."""
    service.credits_left[key] = 0


@pytest.mark.req("B1")
@pytest.mark.parametrize("name", sorted({*SEARCH, *READ}))
async def test_a_bomb_is_no_answer(world: World, makes: Makes, name: str) -> None:
    world.service(name).fail(bomb_fault("gzip", mb=50), times=None)
    for call in calls(makes(api_class(name)), world.site("articles").page("bm25")):
        with pytest.raises(UnexpectedResponse):
            await call()


@pytest.mark.req("B1", "B16")
@pytest.mark.parametrize("name", KEYED)
async def test_the_next_key_takes_over_when_the_money_is_used_up(world: World, makes: Makes, name: str) -> None:
    service: Any = world.service(name)
    service.keys = {"first", "second"}
    provider = makes(api_class(name), "first", "second")
    call = calls(provider, world.site("articles").page("bm25"))[0]
    await call()
    used_up(service, "first")
    for _ in range(2):
        await call()
    sent = [request.headers[provider.key_header].removeprefix("Bearer ") for request in service.requests]
    assert sent == ["first", "first", "second", "second"]
    used_up(service, "second")
    with pytest.raises(QuotaExceeded):
        await call()


@pytest.mark.req("B1")
@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("", None)])
@pytest.mark.parametrize("name", HASTY)
async def test_haste_says_when_to_come_back(
    world: World, makes: Makes, name: str, header: str, seconds: float | None
) -> None:
    page, service = world.site("articles").page("bm25"), cast("Any", world.service(name))
    service.retry_after = header
    for number in range(len(calls(makes(api_class(name)), page))):
        with pytest.raises(RateLimited) as caught:
            await calls(makes(api_class(name)), page)[number]()
        assert caught.value.retry_after == seconds


@pytest.mark.req("B4")
@pytest.mark.parametrize("name", FILTERING)
async def test_filters_reach_the_index(world: World, makes: Makes, name: str) -> None:
    provider = makes(api_class(name))
    site, dates = world.site("articles"), {one.url: one.published for one in world.library.search("search")}

    async def found(**filters: Any) -> set[str]:
        return {row.url for row in await provider.search("search", limit=20, filters=Filters(**filters))}

    every = await found()
    assert every == set(dates)
    here = await found(allowed_domains=(site.host,))
    assert here == {url for url in every if url.startswith(site.url)}
    assert await found(blocked_domains=(site.host,)) == every - here
    assert 0 < len(here) < len(every)
    middle = sorted(dates.values())[len(dates) // 2]
    late = await found(published_after=middle)
    assert late == {url for url in every if dates[url] >= middle}
    assert 0 < len(late) < len(every)
    if provider.capabilities.dates:
        assert await found(published_before=middle) == {url for url in every if dates[url] <= middle}


@pytest.mark.req("B4")
@pytest.mark.parametrize("name", [name for name in SEARCH if api_class(name).capabilities.pages])
async def test_pages_follow_each_other(makes: Makes, name: str) -> None:
    provider = makes(api_class(name))
    every = [row.url for row in await provider.search("search", limit=20)]
    size = 10 if name == "duckduckgo_lite" else 2  # it has no way to ask for fewer
    second = await provider.search("search", limit=size, filters=Filters(page=2))
    assert [row.url for row in second] == every[size : 2 * size]


@pytest.mark.req("B1")
@pytest.mark.parametrize("name", ["exa", "linkup", "parallel", "perplexity", "tavily", "you", "kagi", "firecrawl"])
async def test_a_wrong_request_is_told_from_a_wrong_key(makes: Makes, name: str) -> None:
    with pytest.raises(RequestRefused):
        await makes(api_class(name)).search("" if name == "parallel" else " ")


@pytest.mark.parametrize(("name", "path", "body", "status"), REFUSED)
async def test_an_emulator_refuses_what_its_service_refuses(
    makes: Makes, name: str, path: str, body: Any, status: int
) -> None:
    provider = makes(api_class(name))
    assert (
        await provider.ask(Mapped(body), lambda reply: reply.status, method="POST", path=path, deadline=None) == status
    )
