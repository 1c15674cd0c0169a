"""What several wire formats share."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.exchanges import answer
from groundwire.errors import ProviderError, UnexpectedResponse
from groundwire.models import Filters
from groundwire.providers.http_parsing import (
    day,
    error_text,
    json_object,
    number_or_none,
    objects,
    raise_for_status,
    result,
    results,
    retry_after,
)
from groundwire.providers.query_mapping import (
    Mapped,
    clipped,
    time_range_start,
    window,
    with_site_operators,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


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
        (b'{"error": "The key is missing."}', ": The key is missing"),
        (b'{"error": "..."}', ""),
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
        ("November 1, 2026", "2026-11-01"),
        ("1 Nov 2026", "2026-11-01"),  # as Google writes it in most countries
        ("31 November 2026", ""),
        ("", ""),
    ],
)
def test_days(text: str, expected: str) -> None:
    assert day(text) == expected


def test_time_ranges_begin() -> None:
    today = date(2026, 11, 21)
    assert time_range_start("d", today) == date(2026, 11, 20)
    assert time_range_start("all", today) is None


@pytest.mark.parametrize(
    ("filters", "days"),
    [
        (Filters(), (None, None)),
        (Filters(time_range="w"), (date(2026, 11, 14), None)),
        (Filters(time_range="w", published_after=date(2026, 11, 1)), (date(2026, 11, 14), None)),
        (Filters(time_range="w", published_after=date(2026, 11, 20)), (date(2026, 11, 20), None)),
        (Filters(time_range="d", published_before=date(2026, 1, 1)), (date(2026, 11, 20), date(2026, 1, 1))),
    ],
)
def test_dates_and_a_time_range_leave_a_window(filters: Filters, days: tuple[date | None, date | None]) -> None:
    assert window(filters, date(2026, 11, 21)) == days


def read(item: dict[str, Any], name: str) -> Any:
    return result(name, url=item.get("url"), title=item.get("title"), snippet=None, date=item.get("date"), score="x")


@pytest.mark.req("B1")
def test_rows_become_results_and_what_is_none_is_left_out() -> None:
    items = [{"url": "https://a.example/", "title": 7, "date": " 2 days ago "}, {"url": ""}, None, "text", {"url": 5}]
    found = results(answer(b""), "svc", items, [read(item, "svc") for item in objects(items)])
    assert [(row.url, row.title, row.published, row.published_origin, row.score) for row in found] == [
        ("https://a.example/", "", None, "2 days ago", None)
    ]
    assert len(results(answer(b""), "svc", [], [])) == 0
    others: tuple[object, ...] = (None, {}, "text", items[1:])
    for wrong in others:
        with pytest.raises(UnexpectedResponse):
            results(answer(b""), "svc", wrong, [read(item, "svc") for item in objects(wrong)])


ALLOWED, BLOCKED = ("a.org", "b.org", "c.org"), ("x.a.org", "y.a.org")


@pytest.mark.req("B4")
@pytest.mark.parametrize(
    ("filters", "bounds", "lists", "left"),
    [
        (Filters(), {}, {}, []),
        (Filters(allowed_domains=ALLOWED, blocked_domains=BLOCKED), {}, {"in": [*ALLOWED], "out": [*BLOCKED]}, []),
        (Filters(allowed_domains=ALLOWED), {"most": 3}, {"in": [*ALLOWED]}, []),
        (Filters(allowed_domains=ALLOWED), {"most": 2}, {}, ["allowed_domains"]),
        (Filters(blocked_domains=BLOCKED), {"most": 1}, {"out": ["x.a.org"]}, ["blocked_domains"]),
        (Filters(blocked_domains=BLOCKED), {"most": 2, "most_blocked": 1}, {"out": ["x.a.org"]}, ["blocked_domains"]),
        (
            Filters(allowed_domains=ALLOWED, blocked_domains=BLOCKED),
            {"one_list": True},
            {"in": [*ALLOWED]},
            ["blocked_domains"],
        ),
        (Filters(blocked_domains=BLOCKED), {"one_list": True}, {"out": [*BLOCKED]}, []),
        (
            Filters(allowed_domains=ALLOWED, blocked_domains=BLOCKED),
            {"one_list": True, "most": 2},
            {},
            ["allowed_domains", "blocked_domains"],
        ),
    ],
)
def test_domains_that_do_not_go_out_are_left_to_the_check(
    filters: Filters, bounds: dict[str, Any], lists: dict[str, list[str]], left: list[str]
) -> None:
    mapped = Mapped({})
    assert mapped.domain_lists(filters, "svc", ("in", "out"), **bounds) == lists
    assert sorted(mapped.applied) == left
    assert set(mapped.applied.values()) <= {"post_filter"}


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
