"""What is said about a call, and that nobody who hears it can break it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from groundwire import Capabilities, Results, SearchResult, Settings, Web
from groundwire.storage import MemoryStore
from groundwire.telemetry import CallListener, CallLog, Metrics, PageDone, SearchDone, Spans
from groundwire.telemetry.call_events import CallListeners
from groundwire.telemetry.daily_counters import Scores

Make = Callable[..., Any]


class Recorder:
    def __init__(self) -> None:
        self.heard: list[SearchDone | PageDone] = []

    def search_done(self, done: SearchDone) -> None:
        self.heard.append(done)

    def page_done(self, done: PageDone) -> None:
        self.heard.append(done)


class Broken:
    def search_done(self, done: SearchDone) -> None:
        raise RuntimeError("search")

    def page_done(self, done: PageDone) -> None:
        raise RuntimeError("page")


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        ({}, "ok"),
        ({"results": 0}, "empty"),
        ({"results": 0, "error": "AllProvidersFailed"}, "failed"),
        ({"results": 0, "error": "BudgetExceeded"}, "refused"),
        ({"results": 0, "error": "InvalidRequest"}, "refused"),
        ({"results": 0, "error": "CancelledError"}, "canceled"),
    ],
)
def test_how_a_search_ended(facts: dict[str, Any], outcome: str, searched: Make) -> None:
    assert searched(**facts).outcome == outcome


def test_how_a_page_ended(opened: Make) -> None:
    assert opened().outcome == "ok"
    assert opened(error="PageNotFound").outcome == "failed"
    assert opened(error="BlockedAddress").outcome == "refused"


def test_a_fallback_is_an_answer_from_another_than_the_first(searched: Make, attempt: Make) -> None:
    tries = (attempt("duckduckgo", "rate_limited"), attempt("brave"))
    assert searched(attempts=tries).fell_back
    assert not searched().fell_back
    assert not searched(attempts=tries, strategy="fuse").fell_back
    assert not searched(attempts=(), cached=True).fell_back
    assert not searched(attempts=tries, provider=None, results=0, error="AllProvidersFailed").fell_back


def test_a_403_is_shown_only_by_a_failure(searched: Make, attempt: Make) -> None:
    tries = (attempt("duckduckgo", "blocked", status=403), attempt("brave"))
    assert not searched(attempts=tries).forbidden_shown
    assert searched(attempts=tries, results=0, error="AllProvidersFailed").forbidden_shown
    assert not searched(results=0, error="AllProvidersFailed").forbidden_shown


@pytest.mark.req("B18")
def test_a_watcher_that_raises_is_logged_once_and_the_others_hear(
    searched: Make, opened: Make, caplog: pytest.LogCaptureFixture
) -> None:
    before, after = Recorder(), Recorder()
    watchers = CallListeners([before, Broken(), after])
    with caplog.at_level(logging.ERROR, "groundwire"):
        for _ in range(3):
            watchers.search_done(searched())
            watchers.page_done(opened())
    assert len(before.heard) == len(after.heard) == 6
    assert [record.getMessage() for record in caplog.records] == [
        "The listener Broken failed; its further errors are ignored"
    ]
    assert caplog.records[0].exc_info


def test_all_of_ours_are_watchers(searched: Make, opened: Make) -> None:
    ours: list[CallListener] = [CallLog(), Metrics(), Scores(MemoryStore()), Spans()]
    watchers = CallListeners(ours)
    watchers.search_done(searched())
    watchers.page_done(opened())


async def test_a_search_that_finds_nothing_is_no_failure() -> None:
    recorder = Recorder()

    class Elsewhere:
        name, capabilities = "elsewhere", Capabilities(search=True, domains="native")

        async def search(self, query: str, **options: Any) -> Results:
            return Results((SearchResult(title=query, url="https://other.example/"),), status=200)

    settings = Settings.model_validate({"storage": {"url": "memory://"}, "archive": {"enabled": False}})
    async with Web(settings, search_providers=[Elsewhere()], call_listeners=[recorder]) as web:
        found = await web.search("anything", allowed_domains=["only.example"])
    assert not found.results
    (done,) = recorder.heard
    assert isinstance(done, SearchDone)
    assert (done.outcome, done.provider, done.error, done.results) == ("empty", "elsewhere", None, 0)
