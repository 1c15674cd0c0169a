"""Matching, calls of other clients, and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from groundwire.cassette import CallFailed, Cassette, Exchange, RecordedFailure, choose_cassette
from groundwire.cassette.recorder import Index
from groundwire.errors import ConfigurationError
from groundwire.safety.guard import Guard

DAY = date(2026, 1, 31)


def recorded(request: dict[str, Any], answer: str = "", day: date = DAY) -> Exchange:
    return Exchange(kind="http", request=request, response={"status": 200, "text": answer}, day=day)


def get(url: str) -> dict[str, Any]:
    return {"method": "GET", "url": url}


class TestMatching:
    def test_headers_and_the_order_of_fields_do_not_count(self) -> None:
        index = Index([recorded({"url": "u", "json": {"a": 1, "b": [2]}, "headers": {"Accept": "x"}})])
        assert index.take("http", {"json": {"b": [2], "a": 1}, "url": "u"}, DAY)
        assert not index.take("http", {"json": {"b": [3], "a": 1}, "url": "u"}, DAY)
        assert not index.take("http", {"form": {"b": [2], "a": 1}, "url": "u"}, DAY)
        assert not index.take("ddgs", {"json": {"b": [2], "a": 1}, "url": "u"}, DAY)

    def test_how_long_we_wait_does_not_count(self) -> None:
        index = Index([recorded({"url": "u", "json": {"url": "p", "timeout": 9_871}})])
        assert index.take("http", {"url": "u", "json": {"url": "p", "timeout": 9_900}}, DAY)
        assert not index.take("http", {"url": "u", "json": {"url": "p", "timeout": "9900"}}, DAY)

    @pytest.mark.req("B12")
    @pytest.mark.parametrize(
        ("template", "style"),
        [
            ("https://a.example/?after={}&b=1", "%Y-%m-%d"),
            ("https://a.example/?freshness={}to2020-01-01", "%Y-%m-%d"),
            ("https://a.example/?from={}T00:00:00Z", "%Y-%m-%d"),
            ("https://a.example/?tbs=cdr:1,cd_min:{}", "%m/%d/%Y"),
        ],
    )
    def test_the_last_week_is_the_last_week_on_every_day(self, template: str, style: str) -> None:
        if "2020" in template:
            template = template.replace("2020-01-01", "{}")
        asked_on = DAY + timedelta(days=100)

        def ask(day: date, back: int) -> dict[str, Any]:
            text = (day - timedelta(days=back)).strftime(style)
            return get(template.format(text, text))

        index = Index([recorded(ask(DAY, 7), "week"), recorded(ask(DAY, 31), "month")])
        for back, answer in ((7, "week"), (31, "month")):
            found = index.take("http", ask(asked_on, back), asked_on)
            assert found is not None
            assert found.response == {"status": 200, "text": answer}
        assert index.take("http", ask(asked_on, 8), asked_on) is None
        assert index.take("http", ask(DAY, 7), asked_on)  # the same dates, said outright

    def test_what_is_no_date_stays(self) -> None:
        index = Index([recorded(get("u?a=2026-13-45"))])
        assert index.take("http", get("u?a=2026-13-45"), DAY)
        assert index.take("http", get("u?a=2026-13-46"), DAY) is None


class TestCalls:
    @pytest.mark.req("B12")
    def test_are_made_once_and_then_answered_from_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        made: list[str] = []

        def do() -> Mapping[str, Any]:
            made.append("once")
            return {"rows": [{"title": "T"}], "status": 200}

        request = {"backend": "duckduckgo", "text": "words"}
        answer = Cassette.record(path).call("ddgs", request, do)
        assert Cassette.replay(path).call("ddgs", request, do) == answer
        assert made == ["once"]
        cassette = Cassette.replay(path)
        with pytest.raises(CallFailed) as caught:
            cassette.call("ddgs", request | {"text": "other"}, do)
        assert caught.value.failure.kind == "cassette"
        assert "is not in the cassette" in caught.value.failure.detail
        assert len(cassette.missing) == 1

    def test_failures_are_replayed_and_faults_are_not_recorded(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"

        def late() -> Mapping[str, Any]:
            raise CallFailed(RecordedFailure("timeout", "no answer in time"))

        def broken() -> Mapping[str, Any]:
            raise ZeroDivisionError

        recording = Cassette.record(path)
        with pytest.raises(CallFailed):
            recording.call("ddgs", {"a": 1}, late)
        with pytest.raises(ZeroDivisionError):
            recording.call("ddgs", {"a": 2}, broken)
        with pytest.raises(CallFailed, match="timeout: no answer in time") as caught:
            Cassette.replay(path).call("ddgs", {"a": 1}, dict)
        assert caught.value.failure == RecordedFailure("timeout", "no answer in time")
        with pytest.raises(CallFailed, match="is not in the cassette"):
            Cassette.replay(path).call("ddgs", {"a": 2}, dict)


async def test_names_need_no_look_up_in_replay(tmp_path: Path) -> None:
    recording = Cassette.record(tmp_path / "x.jsonl")
    with pytest.raises(RuntimeError):
        await recording.resolve("a.example", 443)
    cassette = Cassette.replay(tmp_path / "x.jsonl")
    assert (await Guard(resolver=cassette.resolve).check("https://a.example/")).host == "a.example"


class TestEnvironment:
    @pytest.mark.req("B12")
    def test_names_the_file(self, tmp_path: Path) -> None:
        path = str(tmp_path / "x.jsonl")
        assert choose_cassette(None, None, None, {}) is None
        assert choose_cassette(None, None, None, {"GROUNDWIRE_RECORD": " ", "GROUNDWIRE_REPLAY": ""}) is None
        for number in range(2):  # a program may make several
            cassette = choose_cassette(None, None, None, {"GROUNDWIRE_RECORD": path})
            assert cassette is not None
            assert not cassette.replaying
            cassette.add("test", {"n": number}, response={})
        cassette = choose_cassette(None, None, None, {"GROUNDWIRE_REPLAY": path})
        assert cassette is not None
        assert cassette.replaying
        assert repr(cassette) == f"<Cassette replays {path}>"
        assert cassette.find("test", {"n": 0}).response is not None
        assert cassette.find("test", {"n": 1}).response is not None

    def test_both_are_a_mistake(self) -> None:
        with pytest.raises(ConfigurationError, match="GROUNDWIRE_RECORD and GROUNDWIRE_REPLAY are both set"):
            choose_cassette(None, None, None, {"GROUNDWIRE_RECORD": "a", "GROUNDWIRE_REPLAY": "b"})
