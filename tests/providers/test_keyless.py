"""The services that answer without a key: their answers, their walls, and a machine that has no key at all."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, cast

import pytest

from components.exchanges import answer
from components.services import Makes, api_class, offline, sent
from groundwire import AllProvidersFailed, Settings, Web
from groundwire.errors import ConfigurationError, PageError, ProviderError, QuotaExceeded
from groundwire.models import Filters
from groundwire.providers.query_mapping import Mapped
from groundwire.settings import SearchSettings
from groundwire.testing import InjectedFault
from world import World
from world.services.keyless import McpServer

FREE = ["you_free", "parallel_free", "exa_free", "tavily_free", "firecrawl_free"]
CHAIN = [*FREE, "duckduckgo_lite"]
MCP = ["exa_free", "firecrawl_free", "parallel_free"]
STATUSES = [
    *(200, 201, 202, 204, 206, 301, 302, 304, 400, 401, 402, 403, 404, 405),
    *(406, 408, 409, 413, 415, 422, 429, 451, 500, 502, 503, 504, 520, 529),
]


def tool(text: str, **more: object) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}], **more}}
    return json.dumps(message).encode()


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "page": b"<!doctype html><html><title>Sign in</title></html>",
    "null": b"null",
    "list": b"[]",
    "text": b'"no results"',
    "object": b"{}",
    "cut": b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type"',
    "error_quota": b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"daily limit reached"}}',
    "error_internal": b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no results backend"}}',
    "error_plain": b'{"error":"no results: rate limit"}',
    "detail": b'{"detail":"Not Found"}',
    "accepted": b'{"jsonrpc":"2.0","id":1,"result":{}}',
    "tool_error": tool("No search results found: too many requests", isError=True),
    "tool_wall": tool("You have hit the free limit of today."),
    "tool_empty": tool(""),
    "tool_object": tool("{}"),
    "tool_failed": tool('{"success":false,"error":"No results, credits used up"}'),
    "notification": b'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n',
    "stream_error": b'data: {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Too many"}}\n\n',
}


def chain(world: World, *names: str, **sections: Any) -> Settings:
    """Return the settings of a machine without keys, whose services are those of the world."""
    return Settings.model_validate(
        {
            "policy": {"allowed_origins": world.origins},
            "providers": {name: {"base_url": world.service(name).url} for name in names or CHAIN},
            "storage": {"url": "memory://"},
            "archive": {"enabled": False},
            **sections,
        }
    )


def asked(world: World) -> dict[str, int]:
    return {name: len(world.service(name).requests) for name in CHAIN}


def wall(world: World, *names: str) -> None:
    """Let services refuse, each in another way."""
    ways = (InjectedFault.status(429), InjectedFault.status(402), InjectedFault.status(403, b"no"))
    for place, name in enumerate(names):
        service = world.service(name)
        if isinstance(service, McpServer) and place % 2:
            service.wall = "Rate limit reached."
        else:
            service.fail(ways[place % 3], times=None)


@pytest.mark.req("B1")
@pytest.mark.parametrize("name", [*FREE, "arxiv", "openalex"])
def test_no_refusal_is_no_results(name: str) -> None:
    provider, wrong = offline(name), []
    for status in STATUSES:
        for label, body in BODIES.items():
            for kind in ("application/json", "text/event-stream"):
                try:
                    found = provider.to_results(answer(body, status, kind), Mapped({}))
                except ProviderError:
                    continue
                wrong.append((status, label, kind, found))
    assert (len(STATUSES), len(BODIES), wrong) == (28, 19, [])


@pytest.mark.req("B1")
@pytest.mark.parametrize("name", ["linkup", "parallel", "you"])
def test_no_refusal_is_a_page(name: str) -> None:
    reader, wrong = offline(name), []
    for status in STATUSES:
        for label, body in BODIES.items():
            try:
                page = reader.to_page(answer(body, status, "application/json"), "https://a.example/x")
            except (ProviderError, PageError):
                continue
            wrong.append((status, label, page))
    assert wrong == []


@pytest.mark.req("B1")
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("name", MCP)
async def test_both_ways_of_an_answer(world: World, makes: Makes, name: str, streams: bool) -> None:
    service = cast("McpServer", world.service(name))
    service.streams = streams
    found = await makes(api_class(name)).search("bm25", limit=2, filters=Filters(blocked_domains=("nowhere.example",)))
    assert found[0].title
    assert found[0].snippet
    assert "-site:nowhere.example" in json.dumps(sent(service))
    assert "Authorization" not in service.requests[-1].headers
    service.wall = "Rate limit reached."
    with pytest.raises(QuotaExceeded, match=f"Set {name.partition('_')[0].upper()}_API_KEY"):
        await makes(api_class(name)).search("bm25")


def test_exa_text_has_dates_and_no_placeholders() -> None:
    text = (
        "Title: A\nURL: https://a.example/\nPublished: 2026-03-18T20:14:02.561Z\nAuthor: N/A\nHighlights:\n> One\n...\n"
    )
    text += "> Two\nURL: https://evil.example/\n\n---\n\n"
    text += "Title: N/A\nURL: https://b.example/\nPublished: N/A\nHighlights:\nThree\n"
    found = offline("exa_free").to_results(answer(tool(text), 200, "application/json"), Mapped({}))
    assert [(row.url, row.title, row.published, row.snippet) for row in found] == [
        ("https://a.example/", "A", "2026-03-18T20:14:02.561Z", "One\nTwo\nURL: https://evil.example/"),
        ("https://b.example/", "", None, "Three"),
    ]


@pytest.mark.req("B36")
def test_the_default_order_asks_the_page_last() -> None:
    assert SearchSettings().providers == ("searxng", "brave", "tavily", *CHAIN)


@pytest.mark.req("B36")
async def test_a_fresh_machine_finds_an_answer_whoever_refuses(world: World) -> None:
    for name in CHAIN:
        world.service(name)
    async with Web(chain(world)) as web:
        assert [provider.name for provider in web.search_providers] == CHAIN
        assert (await web.search("bm25")).provider == CHAIN[0]
    assert sum(asked(world).values()) == 1


@pytest.mark.req("B36")
@pytest.mark.parametrize("walled", [(name,) for name in CHAIN] + [tuple(set(CHAIN) - {name}) for name in CHAIN])
async def test_a_wall_costs_one_request_and_no_answer(world: World, walled: tuple[str, ...]) -> None:
    for name in CHAIN:
        world.service(name)
    refusing = [name for name in CHAIN if name in walled]
    wall(world, *refusing)
    open_one = next(name for name in CHAIN if name not in walled)
    async with Web(chain(world)) as web:
        found = await web.search("bm25")
        assert found.provider == open_one
        assert found.results
        before = CHAIN.index(open_one)
        assert asked(world) == {name: int(place <= before) for place, name in enumerate(CHAIN)}
        assert {one.outcome for one in found.attempts[:-1]} <= {"quota", "blocked", "rate_limited"}
        extra = sum(asked(world).values())
        again = await web.search("bm25 again")
        assert again.provider == open_one
        assert sum(asked(world).values()) - extra <= 1 + 2  # who said that nothing is left is not asked again at once


@pytest.mark.req("B36")
async def test_the_searches_of_a_day_are_counted_and_then_the_next_is_asked(world: World) -> None:
    names = ("you_free", "parallel_free")
    options = {name: {"base_url": world.service(name).url} for name in names}
    options["you_free"]["daily_searches"] = 2  # type: ignore[assignment]
    settings = chain(world, providers=options, search={"providers": names}, policy={"allowed_origins": world.origins})
    async with Web(settings) as web:
        found = [await web.search(f"bm25 {number}") for number in range(4)]
    assert [one.provider for one in found] == ["you_free", "you_free", "parallel_free", "parallel_free"]
    assert len(world.service("you_free").requests) == 2
    assert "its 2 searches per day are used up" in found[-1].attempts[0].reason


@pytest.mark.req("B36")
async def test_who_sees_queries_is_said_once_and_first(
    world: World, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    seen: list[int] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(sum(asked(world).values()))

    logger, handler = logging.getLogger("groundwire.routing.keyless"), Handler()
    for name in CHAIN:
        world.service(name)
    settings = chain(world, storage={"url": f"sqlite:///{tmp_path}/store.db"})
    logger.addHandler(handler)
    try:
        async with Web(settings) as web:
            await web.search("bm25")
            await web.search("search engines")
        async with Web(settings) as web:
            await web.search("ranking")
    finally:
        logger.removeHandler(handler)
    assert seen == [0]
    said = [record.getMessage() for record in caplog.records if record.name == logger.name]
    assert all(api_class(name).terms for name in CHAIN)
    assert len(said) == 1
    assert all(name in said[0] for name in CHAIN)
    assert "search.keyless = false" in said[0]


@pytest.mark.req("B36")
async def test_one_setting_turns_them_off(world: World) -> None:
    for name in CHAIN:
        world.service(name)
    with pytest.raises(ConfigurationError, match=r"search\.keyless is false"):
        Web(chain(world, search={"keyless": False}))
    world.service("brave")
    settings = chain(world, *CHAIN, "brave", search={"keyless": False}, keys={"BRAVE_API_KEY": "test-key"})
    async with Web(settings) as web:
        assert [provider.name for provider in web.search_providers] == ["brave"]
        assert (await web.search("bm25")).provider == "brave"
        wall(world, "brave")
        with pytest.raises(AllProvidersFailed):
            await web.search("search engines", timeout=1)
    assert not any(asked(world).values())
