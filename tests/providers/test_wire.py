"""What several wire formats share."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.errors import ProviderError, UnexpectedResponse
from groundwire.models import Filters
from groundwire.providers.operators import with_site_operators
from groundwire.providers.wire import (
    clipped,
    day,
    error_text,
    json_object,
    number_or_none,
    raise_for_status,
    retry_after,
    time_range_start,
)
from groundwire.transport import Reply

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def answer(body: bytes, status: int = 200, kind: str = "application/json") -> Reply:
    return Reply("https://a.example/", status, {"Content-Type": kind}, body[:64], body)


@pytest.mark.req("B1", "B6")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("17", 17.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("-3", 0.0),
        ("Sat, 21 Nov 2026 12:01:00 GMT", 60.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        ("Saturday, 21-Nov-26 12:00:30 GMT", 30.0),
        ("1e400", None),
        ("nan", None),
        ("soon", None),
        ("", None),
        ("99999999999", 366 * 86_400.0),
    ],
)
def test_retry_after_in_any_form_is_seconds(text: str, seconds: float | None) -> None:
    assert retry_after({"Retry-After": text}, now=NOW) == seconds


@given(st.text(max_size=40))
def test_any_retry_after_is_seconds_or_nothing(text: str) -> None:
    seconds = retry_after({"Retry-After": text}, now=NOW)
    assert seconds is None or 0 <= seconds <= 366 * 86_400


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error": {"message": "slow  down"}}', ": slow down"),
        (b'{"detail": [{"msg": "bad value"}]}', ": bad value"),
        (b'{"errors": []}', ""),
        (b"<html>", ""),
        (b'"plain"', ": plain"),
        (b'{"message": "wrong key=abcdef123456 given"}', ": wrong key=*** given"),
        (b'{"message": "Authorization: Bearer abcdef123456"}', ": Authorization: Bearer ***"),
        (b'{"message": "bearer abcdef123456"}', ": bearer ***"),
    ],
)
def test_a_services_own_words_are_passed_on_without_secrets(body: bytes, text: str) -> None:
    assert error_text(answer(body, 400)) == text


def test_long_words_are_cut() -> None:
    said = error_text(answer(b'{"error": "' + b"x" * 9_000 + b'"}', 400))
    assert len(said) == 202
    assert said.endswith("…")


@given(st.integers(100, 999), st.binary(max_size=60), st.sampled_from(["application/json", "text/html", ""]))
def test_any_status_is_an_error_or_none(status: int, body: bytes, kind: str) -> None:
    reply = answer(body, status, kind)
    if 200 <= status < 300:
        raise_for_status(reply, "svc")
        return
    with pytest.raises(ProviderError) as caught:
        raise_for_status(reply, "svc")
    assert caught.value.status == status


@given(st.binary(max_size=60))
def test_any_body_is_an_object_or_an_error(body: bytes) -> None:
    try:
        assert isinstance(json_object(answer(body), "svc"), dict)
    except UnexpectedResponse:
        return


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), (0.5, 0.5), (True, None), ("1", None), (None, None), (10**400, None), (float("nan"), None)],
)
def test_numbers(value: Any, number: float | None) -> None:
    assert number_or_none(value) == number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-01", "2026-11-01"),
        (" 2026-11-01T08:00:00Z ", "2026-11-01T08:00:00Z"),
        ("2 days ago", ""),
        ("November 1, 2026", ""),
        ("", ""),
    ],
)
def test_days(text: str, expected: str) -> None:
    assert day(text) == expected


def test_time_ranges_begin() -> None:
    today = date(2026, 11, 21)
    assert time_range_start("d", today) == date(2026, 11, 20)
    assert time_range_start("all", today) is None


@pytest.mark.req("B4")
@given(st.text(min_size=1, max_size=300), st.integers(5, 100), st.none() | st.integers(1, 20))
def test_what_is_clipped_is_said(query: str, characters: int, words: int | None) -> None:
    text, warnings = clipped("svc", query, characters=characters, words=words)
    if warnings:
        assert len(text) <= characters
        assert words is None or len(text.split()) <= words
        assert " ".join(query.split()).startswith(text)
    else:
        assert text == query


@pytest.mark.req("B4")
def test_domains_become_operators_in_parentheses() -> None:
    assert with_site_operators("q", Filters(allowed_domains=("a.com", "b.com"))) == (
        "q (site:a.com OR site:b.com)",
        None,
    )
    assert with_site_operators("q", Filters(blocked_domains=("a.com",))) == ("q -site:a.com", None)
    many = tuple(f"d{number}.com" for number in range(9))
    query, warning = with_site_operators("q", Filters(allowed_domains=many))
    assert query == "q"
    assert warning
    query, warning = with_site_operators("q" * 370, Filters(allowed_domains=("a.com",)))
    assert query == "q" * 370
    assert warning
