"""Log records of calls."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.telemetry import CallLog, JsonFormatter

Make = Callable[..., Any]


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self.lines.append(json.loads(self.format(record)))


@pytest.fixture
def kept() -> Iterator[Kept]:
    """A handler with our formatter on the logger of the calls."""
    handler = Kept()
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("groundwire.calls")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.req("H7", "B18")
def test_a_search_and_everything_that_was_tried(kept: Kept, searched: Make, attempt: Make) -> None:
    tries = (
        attempt("duckduckgo", "rate_limited", status=429, reason="too many, said about secret words"),
        attempt("brave", cost_usd=0.003),
    )
    CallLog().search_done(searched(attempts=tries, cost_usd=0.003))
    (record,), (line,) = kept.records, kept.lines
    assert (record.name, record.levelno, record.getMessage()) == (
        "groundwire.calls",
        logging.INFO,
        "Web search executed",
    )
    assert record.__dict__["session_count"] == 3
    del line["time"]
    assert line == {
        "level": "INFO",
        "logger": "groundwire.calls",
        "message": "Web search executed",
        "session_id": "s-1",
        "session_count": 3,
        "session_limit": 20,
        "query_length": 22,
        "results": 5,
        "strategy": "fallback",
        "provider": "brave",
        "outcome": "ok",
        "error": None,
        "attempts": [
            {"provider": "duckduckgo", "outcome": "rate_limited", "latency_ms": 200, "status": 429},
            {"provider": "brave", "outcome": "ok", "latency_ms": 200, "cost_usd": 0.003},
        ],
        "latency_ms": 250,
        "cost_usd": 0.003,
        "cached": False,
        "stale": False,
    }


@pytest.mark.req("H7")
def test_the_words_of_a_query_are_not_written(kept: Kept, searched: Make) -> None:
    CallLog().search_done(searched())
    assert "query" not in kept.lines[0]


def test_a_page_is_named_by_its_host(kept: Kept, opened: Make) -> None:
    CallLog().page_done(opened(error="PageNotFound", reader=None))
    (line,) = kept.lines
    assert line["message"] == "Page opened"
    assert (line["host"], line["reader"], line["outcome"], line["error"]) == (
        "docs.example",
        None,
        "failed",
        "PageNotFound",
    )


@pytest.mark.usefixtures("kept")
def test_nothing_is_made_when_nobody_listens() -> None:
    unread: Any = object()  # reading any field of it would raise
    logging.getLogger("groundwire.calls").setLevel(logging.WARNING)
    CallLog().search_done(unread)
    CallLog().page_done(unread)


@given(
    st.dictionaries(
        st.text(min_size=1).filter(lambda name: name not in logging.makeLogRecord({}).__dict__),
        st.recursive(
            st.none() | st.floats() | st.text(st.characters()) | st.binary() | st.builds(object),
            lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.text(), inner),
            max_leaves=5,
        ),
    ),
    st.text(st.characters()),
)
def test_any_record_is_one_line_of_json(extra: dict[str, Any], message: str) -> None:
    record = logging.makeLogRecord({"msg": message, **extra})
    line = JsonFormatter().format(record)
    assert line.isascii()
    assert "\n" not in line

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    assert json.loads(line, parse_constant=refuse)["message"] == message


def test_an_exception_and_its_time() -> None:
    try:
        raise ValueError("wrong")
    except ValueError:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": sys.exc_info(), "created": 0.5})
    line = json.loads(JsonFormatter().format(record))
    assert line["time"] == "1970-01-01T00:00:00.500+00:00"
    assert line["exception"].endswith("ValueError: wrong")
