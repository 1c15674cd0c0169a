"""Values as a reader wants them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from groundwire_server.ui.formatting import (
    age,
    bold,
    counted,
    duration,
    host,
    money,
    origin,
    tile,
    web_url,
)

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("2026-11-22", "today"),
        ("2026-11-21", "yesterday"),
        ("2026-11-20", "2 days ago"),
        ("2026-11-22T09:29:30+00:00", "just now"),
        ("2026-11-22T08:30:00Z", "1 hour ago"),
        ("2026-11-22T10:20:00+02:00", "1 hour ago"),
        ("2026-11-21T09:31:00", "23 hours ago"),
        ("2026-09-22", "2 months ago"),
        ("2020-01-01", "6 years ago"),
        ("2027-03-01", "dated 2027-03-01"),
        ("soon", ""),
        (None, ""),
        (NOW - timedelta(minutes=5), "5 minutes ago"),
    ],
)
def test_ages(when: str | datetime | None, said: str) -> None:
    assert age(when, NOW) == said


def test_quantities() -> None:
    assert [money(one) for one in (None, 0, 0.00001, 0.0015, 0.005, 0.02, 0.25, 1234.5)] == [
        *("–", "$0", "< $0.0001", "$0.0015", "$0.005", "$0.02", "$0.25", "$1,234.50")
    ]
    assert [duration(one) for one in (None, 431.4, 2_440)] == ["–", "431\u00a0ms", "2.4\u00a0s"]
    assert [counted(1, "search", "searches"), counted(12_000, "page")] == ["1 search", "12,000 pages"]


def test_addresses() -> None:
    assert [host(f"https://www.a.test{port}/x") for port in ("", ":443", ":8080")] == [
        "a.test",
        "a.test",
        "a.test:8080",
    ]
    assert [origin(one) for one in ("HTTPS://u:p@A.test/x", "http://[::1]:80/", "file:///x", "http://a.test:x/")] == [
        *("https://a.test", "http://[::1]", "", "")
    ]
    assert host("http://[") == ""
    assert web_url(" https://a.test/x ") == "https://a.test/x"
    assert [web_url(one) for one in ("javascript:x", "http://", "//a.test", "http://[", "ftp://a.test")] == [""] * 5


@pytest.mark.parametrize(
    ("text", "query", "html"),
    [
        ("Ranking by rank & <b>", "ranks the", "<b>Ranking</b> by <b>rank</b> &amp; &lt;b&gt;"),
        ("The band Who", "the who", "<b>The</b> band <b>Who</b>"),
        ("新しい東京タワーの話", "東京タワー 高さ", "新しい<b>東京タワー</b>の話"),
        ("Café", "cafe", "<b>Café</b>"),
        ("Nothing", "", "Nothing"),
    ],
)
def test_words_of_the_query_are_bold(text: str, query: str, html: str) -> None:
    assert bold(text, query) == html


def test_a_site_has_the_same_letter_and_color_everywhere() -> None:
    assert tile("https://www.example.org/a")[0] == "E"
    assert tile("https://www.example.org/a") == tile("https://example.org/b?c")
    assert {tile(f"https://{name}.org/")[1] for name in "abcdefgh"} == set(range(6))
    assert tile("mailto:x")[0] == tile("http://127.0.0.1/")[0] == "•"
