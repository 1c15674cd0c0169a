"""OpenAlex's wire format: built answers, and the miniature web."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import pytest

from components.exchanges import answer
from components.services import request_of, results_of
from groundwire.errors import QuotaExceeded
from groundwire.models import Filters
from groundwire.providers.openalex import OpenAlexSearchProvider
from world.services.papers import OpenAlex

parse = partial(results_of, "openalex")
to_request = partial(request_of, "openalex")
Make = Callable[..., OpenAlexSearchProvider]
TODAY = date(2026, 3, 15)
WORK: dict[str, Any] = {
    "id": "https://openalex.org/W1",
    "doi": "https://doi.org/10.1145/1571941.1572114",
    "display_name": "Reciprocal rank fusion",
    "publication_date": "2009-07-19",
    "authorships": [{"author": {"display_name": name}} for name in ("Ash", "Birch", "Cedar", "Dogwood", "Elm")],
    "primary_location": {"landing_page_url": "https://dl.example/1", "source": {"display_name": "SIGIR"}},
    "cited_by_count": 1234,
}


def works(**more: Any) -> dict[str, Any]:
    return {"meta": {"count": 1}, "results": [WORK | more]}


def test_a_row_has_day_address_and_byline() -> None:
    row = parse(answer(works(abstract_inverted_index={"fusion": [1, 3], "Rank": [0], "beats": [2]})))[0]
    assert (row.title, row.url, row.published) == ("Reciprocal rank fusion", WORK["doi"], "2009-07-19")
    assert row.snippet == "Ash, Birch, Cedar and 2 more; SIGIR; cited by 1,234. Rank fusion beats fusion"


@pytest.mark.parametrize(
    ("more", "address"),
    [
        ({"doi": "https://doi.org/10.48550/arXiv.1706.03762"}, "https://arxiv.org/abs/1706.03762"),
        (
            {"best_oa_location": {"landing_page_url": "http://arxiv.org/abs/2005.11401v4"}},
            "https://arxiv.org/abs/2005.11401",
        ),
        (
            {"best_oa_location": {"landing_page_url": "https://arxiv.org/pdf/cs/0112017"}},
            "https://arxiv.org/abs/cs/0112017",
        ),
        ({"doi": None}, "https://dl.example/1"),
        ({"doi": None, "primary_location": None}, "https://openalex.org/W1"),
    ],
)
def test_the_address_is_one_that_can_be_read(more: dict[str, Any], address: str) -> None:
    assert parse(answer(works(**more)))[0].url == address


def test_any_index_gives_back_its_abstract() -> None:
    draw = random.Random(45)
    for size in (1, 2, 30, 399):
        text = [draw.choice(("a", "of", "Rank,", "fusion.", "é")) for _ in range(size)]
        index: dict[str, list[int]] = {}
        for place in draw.sample(range(size), size):
            index.setdefault(text[place], []).append(place)
        assert parse(answer(works(abstract_inverted_index=index)))[0].snippet.endswith(". " + " ".join(text))
    assert parse(answer(works(abstract_inverted_index={"x": [10**9, True, None]})))[0].snippet.endswith("1,234.")


def test_filters_are_sent() -> None:
    wanted = Filters(time_range="w", published_before=date(2026, 3, 14), language="de-AT", page=3)
    sent = to_request("what is fusion?", 200, wanted, today=TODAY).values
    assert (sent["search"], sent["per_page"], sent["page"]) == ("what is fusion", "100", "3")
    assert sent["filter"] == "from_publication_date:2026-03-08,to_publication_date:2026-03-14,language:de"
    assert "filter" not in to_request("x", 5, Filters(allowed_domains=("a.example",), region="at")).values


async def test_dates_reach_the_catalog(make: Make, service: OpenAlex) -> None:
    every = {row.url: row.published or "" for row in await make().search("search", limit=50)}
    middle = sorted(every.values())[len(every) // 2]
    late = await make().search("search", limit=50, filters=Filters(published_after=date.fromisoformat(middle)))
    assert {row.url for row in late} == {url for url, day in every.items() if day >= middle}
    assert 0 < len(late) < len(every)


async def test_the_day_is_told_from_haste(make: Make, service: OpenAlex) -> None:
    service.used_up = {""}
    with pytest.raises(QuotaExceeded, match="free key") as caught:
        await make("").search("bm25")
    assert caught.value.retry_after == 3600
    assert "Authorization" not in service.requests[-1].headers
    assert "@" not in json.dumps(dict(service.requests[-1].query))
