"""ddgs on its real wire path: its own TLS client and its own parsers, against engines on loopback."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from components.upstream import Row
from components.wire import Wire
from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    ProviderBlocked,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    RateLimited,
    UnprovenEmpty,
)
from groundwire.models import Filters
from groundwire.providers.duckduckgo import DuckDuckGoOptions, DuckDuckGoSearchProvider
from groundwire.settings import Settings
from groundwire.web import Web

ROWS = [Row(f"Title {number}", f"https://site{number}.example/", f"text {number}") for number in range(8)]


def provider(wire: Wire) -> DuckDuckGoSearchProvider:
    return DuckDuckGoSearchProvider(DuckDuckGoOptions(ca_file=Path(wire.ca_file)), proxy=wire.url)


def web(wire: Wire, **options: Any) -> Web:
    return Web(
        Settings.model_validate(
            {
                "search": {"providers": ("duckduckgo",)},
                "network": {"proxy": wire.url},
                "providers": {"duckduckgo": {"ca_file": str(wire.ca_file), **options}},
            }
        )
    )


@pytest.mark.req("Y5", "H1")
async def test_it_is_searched(ddgs_wire: Wire) -> None:
    ddgs_wire.rows = ROWS
    async with web(ddgs_wire) as asked:
        response = await asked.search("reciprocal rank fusion", limit=3)
    assert [(row.title, row.url, row.snippet, row.source) for row in response.results] == [
        (f"Title {number}", f"https://site{number}.example/", f"text {number}", "duckduckgo") for number in range(3)
    ]
    (request,) = ddgs_wire.log
    assert request.host == "html.duckduckgo.com"
    assert request.form["q"] == "reciprocal rank fusion"


@pytest.mark.req("B4")
async def test_filters_reach_the_wire(ddgs_wire: Wire) -> None:
    ddgs_wire.rows = ROWS
    asked = provider(ddgs_wire)
    filters = Filters(time_range="y", region="de", language="de", allowed_domains=("a.org", "b.org"))
    await asked.search("words", filters=filters)
    await asked.aclose()
    (request,) = ddgs_wire.log
    assert request.form["df"] == "y"
    assert request.form["l"] == "de-de"
    assert request.form["q"] == "words (site:a.org OR site:b.org)"


@pytest.mark.req("B1", "H9")
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (202, RateLimited),
        (429, RateLimited),
        (403, ProviderBlocked),
        (500, ProviderUnavailable),
        (503, ProviderUnavailable),
    ],
)
async def test_a_refusal_is_seen_for_what_it_is(ddgs_wire: Wire, status: int, error: type[ProviderError]) -> None:
    ddgs_wire.answer_with(status, {"content-type": "text/html", "retry-after": "9"}, b"<html>no</html>")
    asked = provider(ddgs_wire)
    with pytest.raises(error) as caught:
        await asked.search("x")
    await asked.aclose()
    assert caught.value.status == status
    assert caught.value.retry_after == 9


@pytest.mark.req("B1")
@pytest.mark.parametrize("body", [b"<html><body></body></html>", b"<form id='challenge-form'></form>"])
async def test_a_page_without_results_proves_nothing(ddgs_wire: Wire, body: bytes) -> None:
    ddgs_wire.answer_with(200, body=body)
    asked = provider(ddgs_wire)
    with pytest.raises(UnprovenEmpty):
        await asked.search("x")
    await asked.aclose()


async def test_an_empty_body_is_a_failure(ddgs_wire: Wire) -> None:
    ddgs_wire.answer_with(200, body=b"")
    async with web(ddgs_wire) as asked:
        with pytest.raises(AllProvidersFailed):
            await asked.search("x")


async def test_a_cut_connection_is_a_network_failure(ddgs_wire: Wire) -> None:
    ddgs_wire.drop()
    asked = provider(ddgs_wire)
    with pytest.raises(ProviderUnreachable):
        await asked.search("x")
    await asked.aclose()


async def test_a_wrong_certificate_is_a_network_failure(ddgs_wire: Wire) -> None:
    asked = DuckDuckGoSearchProvider(DuckDuckGoOptions(), proxy=ddgs_wire.url)
    with pytest.raises(ProviderUnreachable):
        await asked.search("x")
    await asked.aclose()


async def test_the_call_returns_at_its_deadline_although_the_engine_is_silent(ddgs_wire: Wire) -> None:
    ddgs_wire.hold()
    asked = provider(ddgs_wire)
    with pytest.raises(ProviderTimeout):
        await asked.search("x", deadline=Deadline.after(0.3))
    ddgs_wire.release()
    await asked.aclose()


async def test_cancelling_returns_at_once_although_the_thread_goes_on(ddgs_wire: Wire) -> None:
    ddgs_wire.hold()
    asked = provider(ddgs_wire)
    task = asyncio.create_task(asked.search("x", deadline=Deadline.after(60)))
    assert await asyncio.to_thread(ddgs_wire.wait_until_asked)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task  # nobody has released the answer
    ddgs_wire.release()
    await asked.aclose()


async def test_64_parallel_calls_all_come_back(ddgs_wire: Wire) -> None:
    ddgs_wire.rows = ROWS
    asked = provider(ddgs_wire)
    answers = await asyncio.gather(*(asked.search(f"query {number}") for number in range(64)))
    await asked.aclose()
    assert [len(answer) for answer in answers] == [len(ROWS)] * 64
    assert sorted(request.form["q"] for request in ddgs_wire.log) == sorted(f"query {number}" for number in range(64))


async def test_calls_beyond_the_cap_wait_and_end_at_their_deadline(ddgs_wire: Wire) -> None:
    ddgs_wire.hold()
    asked = provider(ddgs_wire)
    first = [asyncio.create_task(asked.search(f"query {number}", deadline=Deadline.after(60))) for number in range(16)]
    assert await asyncio.to_thread(ddgs_wire.wait_until_asked, 16)
    calls = (asked.search(f"query {number}", deadline=Deadline.after(0.5)) for number in range(16, 22))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {ProviderTimeout}
    assert len(ddgs_wire.log) == 16
    for call in first:
        call.cancel()
    await asyncio.wait(first)
    ddgs_wire.release()
    await asked.aclose()


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "DDGS_PROXY", "PRIMP_PROXY"])
async def test_a_proxy_of_the_environment_is_not_used(
    ddgs_wire: Wire, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, ddgs_wire.url)
    asked = DuckDuckGoSearchProvider(DuckDuckGoOptions(ca_file=Path(ddgs_wire.ca_file)))
    with pytest.raises(ProviderError):
        await asked.search("x", deadline=Deadline.after(2))
    await asked.aclose()
    assert ddgs_wire.log == []
