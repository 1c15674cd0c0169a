"""Document H: the chain with its texts, its counter and its environment variables."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from groundwire.integrations.hosts import fallback_chain
from groundwire.integrations.hosts.fallback_chain import SearchChain
from groundwire.testing import InjectedFault
from world import World

ORDER = "duckduckgo_lite,brave,tavily"


@pytest.fixture
def chain(surroundings: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchChain]:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", ORDER)
    monkeypatch.setenv("BRAVE_API_KEY", "test-key")
    monkeypatch.setenv("TAVILY_API_KEY", "test-key")
    made = SearchChain()
    yield made
    made.close()


@pytest.mark.req("H6")
def test_the_format_is_the_documents(chain: SearchChain) -> None:
    text = chain.search("reciprocal rank fusion", max_results=2)
    head, first, second = text.split("\n\n")
    assert head == "Search results for: reciprocal rank fusion\n(Source: DuckDuckGo)"
    assert re.fullmatch(r"1\. \S.*\n   URL: http://\S+\n   \S.*", first)
    assert second.startswith("2. ")


@pytest.mark.req("H1", "H2")
def test_the_next_provider_answers_when_one_fails(chain: SearchChain, surroundings: World) -> None:
    surroundings.service("duckduckgo_lite").fail(InjectedFault.status(403), times=99)
    assert "(Source: Brave)" in chain.search("reciprocal rank fusion")
    surroundings.service("brave").fail(InjectedFault.status(429), times=99)
    assert "(Source: Tavily)" in chain.search("reciprocal rank fusion")


@pytest.mark.req("H2")
def test_all_causes_are_told_when_all_fail(chain: SearchChain, surroundings: World) -> None:
    for name in ORDER.split(","):
        surroundings.service(name).fail(InjectedFault.status(500), times=99)
    text = chain.search("reciprocal rank fusion")
    assert text.startswith("Web search unavailable. Errors: ")
    assert all(title in text for title in ("DuckDuckGo: ", "Brave: ", "Tavily: "))


def test_domains_that_leave_nothing_are_named(chain: SearchChain) -> None:
    text = chain.search("reciprocal rank fusion", include_domains=["nowhere.example"])
    assert "DuckDuckGo: No results" in text
    assert "control" not in text
    assert text.endswith("\nThe search was limited by include_domains. Other results may exist.")


@pytest.mark.req("H3", "H4", "H5")
def test_the_limit_is_checked_first_and_said_as_the_document_says_it(
    chain: SearchChain, surroundings: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_SEARCH_SESSION_LIMIT", "3")
    monkeypatch.setenv("WEB_SEARCH_WARNING_THRESHOLD", "2")
    assert "WARNING" not in chain.search("fusion")
    assert chain.search("fusion").endswith("\n\n [WARNING: 1 searches remaining in session]")
    assert chain.search("fusion").endswith("[WARNING: 0 searches remaining in session]")
    before = len(surroundings.service("duckduckgo_lite").requests)
    assert chain.search("fusion") == (
        "Search limit reached (3/3). Use existing results or training knowledge. Limit resets with new session."
    )
    assert len(surroundings.service("duckduckgo_lite").requests) == before
    assert chain.statistics() == {"count": 3, "limit": 3, "remaining": 0, "session_id": None}
    chain.reset("workflow-2")
    assert chain.statistics() == {"count": 0, "limit": 3, "remaining": 3, "session_id": "workflow-2"}
    assert "Search results for: fusion" in chain.search("fusion")


@pytest.mark.req("H4")
def test_failed_searches_count_and_the_counter_is_exact_under_threads(
    chain: SearchChain, surroundings: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_SEARCH_SESSION_LIMIT", "7")
    for name in ORDER.split(","):
        surroundings.service(name).fail(InjectedFault.status(500), times=99)
    with ThreadPoolExecutor(10) as pool:
        texts = list(pool.map(lambda number: chain.search(f"fusion {number}"), range(10)))
    assert sum("Search limit reached (7/7)" in text for text in texts) == 3
    assert chain.statistics()["count"] == 7


@pytest.mark.req("H3")
@pytest.mark.parametrize("value", ["twenty", "-1", "3.5"])
def test_a_limit_that_is_no_number_counts_as_the_usual_one(
    chain: SearchChain, monkeypatch: pytest.MonkeyPatch, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WEB_SEARCH_SESSION_LIMIT", value)
    assert "Search results" in chain.search("fusion")
    assert chain.statistics()["limit"] == 20
    assert "WEB_SEARCH_SESSION_LIMIT" in caplog.text


def test_a_limit_of_nothing_allows_nothing(chain: SearchChain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_SEARCH_SESSION_LIMIT", "0")
    assert chain.search("fusion").startswith("Search limit reached (0/0). ")


@pytest.mark.req("H1", "H8")
def test_each_provider_is_a_function_within_the_same_session(
    surroundings: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("BRAVE_API_KEY", "TAVILY_API_KEY"):
        monkeypatch.setenv(key, "test-key")
    monkeypatch.setenv("WEB_SEARCH_SESSION_LIMIT", "3")
    fallback_chain.shared_chain.cache_clear()
    try:
        titles = {
            fallback_chain.duckduckgo_search: "DuckDuckGo",
            fallback_chain.brave_search: "Brave",
            fallback_chain.tavily_search: "Tavily",
        }
        for ask, title in titles.items():
            assert ask("fusion", max_results=2).startswith(f"Search results for: fusion\n(Source: {title})\n\n1. ")
        assert fallback_chain.brave_search("fusion").startswith("Search limit reached (3/3).")
    finally:
        fallback_chain.shared_chain().close()
        fallback_chain.shared_chain.cache_clear()


def test_a_provider_without_its_key_says_so(surroundings: World) -> None:
    chain = SearchChain()
    text = chain.search("fusion", provider="brave")
    chain.close()
    assert text.startswith("Web search unavailable. Errors: ")
    assert "BRAVE_API_KEY" in text


@pytest.mark.req("H7")
def test_each_search_is_logged_without_its_words(chain: SearchChain, caplog: pytest.LogCaptureFixture) -> None:
    chain.reset("workflow-1")
    with caplog.at_level(logging.INFO):
        chain.search("secret fusion")
    (record,) = [record for record in caplog.records if "query_length" in vars(record)]  # one line for one search
    assert record.name == fallback_chain.__name__
    facts = vars(record)
    assert (facts["query_length"], facts["session_count"], facts["session_limit"]) == (13, 1, 20)
    assert (facts["session_id"], facts["provider"]) == ("workflow-1", "duckduckgo_lite")
    assert facts["attempts"] == ["duckduckgo_lite: ok"]
    assert "secret fusion" not in caplog.text


@pytest.mark.parametrize(("wanted", "got"), [(0, 1), (99, 10), ("3", 3), (None, 5)])
def test_the_number_of_results_is_kept_in_bounds(chain: SearchChain, wanted: object, got: int) -> None:
    text = chain.search("the", wanted) if wanted == "nothing" else chain.search("search engine page", wanted)  # type: ignore[arg-type]  # as models do
    assert len(re.findall(r"^\d+\. ", text, re.MULTILINE)) == got


def test_domains_and_depth_reach_the_providers(
    chain: SearchChain, surroundings: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "tavily")
    deep = SearchChain()
    deep.search("fusion", include_domains=["g2.com"], search_depth="advanced")
    deep.search("fusion")
    deep.close()
    bodies: list[Any] = [request.json() for request in surroundings.service("tavily").requests]
    assert [body["search_depth"] for body in bodies[:1] + bodies[-1:]] == ["advanced", "basic"]
    assert bodies[0]["include_domains"] == ["g2.com"]


def test_an_empty_query_is_told(chain: SearchChain) -> None:
    assert chain.search("  ") == "Error: Search query cannot be empty"
    assert chain.statistics()["count"] == 0


def test_settings_that_are_wrong_are_told_and_not_raised(surroundings: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "altavista")
    assert "Unknown provider 'altavista'" in SearchChain().search("fusion")


@pytest.mark.req("H8")
def test_the_functions_are_the_documents(surroundings: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "duckduckgo_lite")
    signature = inspect.signature(fallback_chain.web_search)
    assert list(signature.parameters) == ["query", "max_results", "include_domains", "search_depth"]
    assert [one.default for one in signature.parameters.values()][1:] == [5, None, "basic"]
    assert fallback_chain.web_search.__name__ == "web_search"
    try:
        fallback_chain.reset_session_counter("workflow-1")
        assert "(Source: DuckDuckGo)" in fallback_chain.web_search("fusion")
        assert fallback_chain.get_session_stats()["count"] == 1
    finally:
        fallback_chain.shared_chain().close()
        fallback_chain.shared_chain.cache_clear()
