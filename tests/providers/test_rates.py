"""What services say about their limits in the headers of their answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.models import RateWindow
from groundwire.providers.key_rotation import rate_windows

NOW = 1_790_000_000.0


def windows(headers: dict[str, str]) -> tuple[RateWindow, ...]:
    return rate_windows(headers, lambda: NOW)


@pytest.mark.req("B6")
def test_braves_two_windows() -> None:
    headers = {
        "X-RateLimit-Limit": "1, 2000",
        "X-RateLimit-Policy": "1;w=1, 2000;w=2592000",
        "X-RateLimit-Remaining": "0, 1999",
        "X-RateLimit-Reset": "1, 1419704",
    }
    assert windows(headers) == (
        RateWindow(limit=1, seconds=1, remaining=0, reset=1),
        RateWindow(limit=2_000, seconds=2_592_000, remaining=1_999, reset=1_419_704),
    )


@pytest.mark.parametrize(
    ("headers", "window"),
    [
        ({"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "3"}, RateWindow(limit=60, remaining=3)),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"}, RateWindow(remaining=0, reset=30)),
        ({"RateLimit-Limit": "5", "RateLimit-Policy": "5; w = 10"}, RateWindow(limit=5, seconds=10)),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 7)}, RateWindow(remaining=0, reset=7)),
        (
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{int(NOW) + 7}000"},
            RateWindow(remaining=0, reset=7),
        ),
        ({"X-RateLimit-Limit": "5", "X-RateLimit-Reset": "9" * 10}, RateWindow(limit=5, reset=366 * 86_400.0)),
    ],
)
def test_other_forms(headers: dict[str, str], window: RateWindow) -> None:
    assert windows(headers) == (window,)


@pytest.mark.parametrize(
    "headers", [{}, {"X-RateLimit-Limit": "many"}, {"X-RateLimit-Limit": ""}, {"X-RateLimit-Reset": "5"}]
)
def test_what_says_nothing_is_nothing(headers: dict[str, str]) -> None:
    assert windows(headers) == ()


@given(
    st.dictionaries(
        st.sampled_from([f"X-RateLimit-{kind}" for kind in ("Limit", "Remaining", "Reset", "Policy")]), st.text()
    )
)
def test_any_text_is_survived(headers: dict[str, str]) -> None:
    for window in windows(headers):
        for value in (window.limit, window.seconds, window.remaining, window.reset):
            assert value is None or value >= 0
