"""Brave's LLM context: built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from typing import Any

import pytest

from components.exchanges import answer
from components.services import Makes, request_of, results_of
from groundwire import Settings, Web
from groundwire.errors import UnexpectedResponse
from groundwire.models import NO_FILTERS, Filters
from groundwire.providers.brave_context import BraveContextProvider
from world import World
from world.services.brave import BraveContext

parse = partial(results_of, "brave_context")
to_params = partial(request_of, "brave_context")

Make = Callable[..., BraveContextProvider]
URL = "https://a.example/x"


@pytest.mark.req("B1")
@pytest.mark.parametrize("body", [{}, {"grounding": None}, {"grounding": {"map": []}}, {"grounding": {"generic": {}}}])
def test_another_form_is_no_empty_result(body: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedResponse):
        parse(answer(body))
    assert not parse(answer({"grounding": {"generic": [], "map": []}, "sources": {}}))


@pytest.mark.parametrize(
    ("about", "date_of"),
    [
        ({URL: {"age": ["Friday, May 1, 2026", "2026-05-01", "200 days ago"]}}, ("2026-05-01", "")),
        ({URL: {"age": ["yesterday"]}}, (None, "yesterday")),
        ({URL: {"age": []}}, (None, "")),
        ({URL: "text"}, (None, "")),
        ({}, (None, "")),
        (None, (None, "")),
    ],
)
def test_passages_are_the_snippet_and_the_date_is_the_one_in_numbers(about: object, date_of: tuple[str, str]) -> None:
    item = {"url": URL, "title": "A", "snippets": ["one", None, " ", "two"]}
    [row] = parse(answer({"grounding": {"generic": [item]}, "sources": about}))
    assert (row.url, row.title, row.snippet) == (URL, "A", "one\n\ntwo")
    assert (row.published, row.published_origin) == date_of


@pytest.mark.parametrize(("limit", "pages", "tokens"), [(1, "1", "1024"), (10, "10", "5120"), (80, "50", "25600")])
def test_it_asks_for_no_more_than_it_can_show(limit: int, pages: str, tokens: str) -> None:
    mapped = to_params("words", limit, Filters(safesearch="off", page=2))
    assert mapped.path == "/res/v1/llm/context"
    assert mapped.values == {
        "q": "words",
        "maximum_number_of_urls": pages,
        "maximum_number_of_tokens": tokens,
        "maximum_number_of_tokens_per_url": "512",
    }
    assert to_params("words", 5, NO_FILTERS).values["q"] == "words"


@pytest.mark.req("Y5", "B4")
async def test_it_finds_passages(make: Make, service: BraveContext, world: World) -> None:
    found = await make().search("reciprocal rank fusion", limit=2)
    assert len(found) == 2
    assert found[0].title == "Reciprocal rank fusion"
    assert found[0].snippet.endswith("\n\nAlso: Reciprocal rank fusion.")
    assert found[0].published == (world.today - timedelta(days=12)).isoformat()
    assert found.cost_usd == pytest.approx(0.005)
    assert service.requests[-1].headers["X-Subscription-Token"] == "test-key"
    site = world.site("articles")
    here = await make().search(
        "search", filters=Filters(allowed_domains=(site.host,), published_after=date(2020, 1, 1))
    )
    assert here
    assert all(row.url.startswith(site.url) for row in here)


async def test_only_the_settings_choose_it(makes: Makes) -> None:
    assert "brave_context" not in Settings().search.providers
    async with Web(Settings(), search_providers=[makes(BraveContextProvider)]) as web:
        found = await web.search("bm25", safesearch="strict", page=2)
    assert [(receipt.filter, receipt.applied) for receipt in found.filters] == [
        ("safesearch", "not_possible"),
        ("page", "not_possible"),
    ]
