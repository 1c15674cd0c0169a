"""arXiv's wire format: built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial

import pytest

from components.exchanges import answer
from components.services import request_of, results_of
from groundwire.errors import RateLimited, UnexpectedResponse
from groundwire.models import Filters
from groundwire.providers.arxiv import ArxivOptions, ArxivSearchProvider
from world.services.papers import Arxiv

parse = partial(results_of, "arxiv")
to_request = partial(request_of, "arxiv")
Make = Callable[..., ArxivSearchProvider]
FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/1.1/"
  xmlns:arxiv="http://arxiv.org/schemas/atom"><o:totalResults>1</o:totalResults>
<entry><id>http://arxiv.org/abs/1706.03762v7</id><title>Attention
  is all</title><summary>
  We propose
  it.</summary><published>2017-06-12T17:57:34Z</published><author><name>Ash</name></author>
<arxiv:journal_ref>NeurIPS 2017</arxiv:journal_ref></entry></feed>"""


def test_a_row_has_day_address_and_byline() -> None:
    row = parse(answer(FEED.encode(), 200, "application/atom+xml"))[0]
    assert (row.title, row.url) == ("Attention is all", "https://arxiv.org/abs/1706.03762")
    assert (row.published, row.snippet) == ("2017-06-12T17:57:34Z", "Ash; NeurIPS 2017. We propose it.")


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("What is the attention mechanism?", "all:attention AND all:mechanism"),
        ('state-of-the-art "dense retrieval"', 'all:"state-of-the-art" AND all:"dense retrieval"'),
        ("who is who", "all:who AND all:is AND all:who"),
        ("a) OR all:b AND (", "all:all AND all:b"),
        ("???", 'all:"???"'),
    ],
)
def test_all_words_are_wanted_and_none_is_an_operator(query: str, sent: str) -> None:
    assert to_request(query, 5, Filters()).values["search_query"] == sent


def test_days_and_pages() -> None:
    wanted = Filters(published_after=date(2026, 3, 1), published_before=date(2026, 3, 9), page=3)
    sent = to_request("x", 80, wanted).values
    assert sent["search_query"] == "all:x AND submittedDate:[202603010000 TO 202603092359]"
    assert (sent["start"], sent["max_results"], sent["sortBy"]) == ("100", "50", "relevance")
    assert ArxivOptions().delay == 3


async def test_results_that_are_left_out_are_no_empty_answer(make: Make, service: Arxiv) -> None:
    service.late = True
    with pytest.raises(UnexpectedResponse, match="lacks its results"):
        await make().search("bm25")
    service.late, service.rate_limited = False, True
    with pytest.raises(RateLimited):
        await make().search("bm25")


async def test_days_reach_the_catalog(make: Make, service: Arxiv) -> None:
    every = {row.url: (row.published or "")[:10] for row in await make().search("search", limit=50)}
    middle = sorted(every.values())[len(every) // 2]
    late = await make().search("search", limit=50, filters=Filters(published_after=date.fromisoformat(middle)))
    assert {row.url for row in late} == {url for url, day in every.items() if day >= middle}
    assert service.requests[-1].headers["User-Agent"].startswith("groundwire/")
