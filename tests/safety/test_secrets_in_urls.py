"""Which addresses carry a secret, and which only look as if."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.safety.url_redaction import _IN_PATH, _MARKED, has_secret

# What the patterns consist of, to put together.
_PARTS = (
    *(
        "/",
        "/",
        "/",
        "-",
        "_",
        ".",
        ":",
        "(s(",
        "))",
        "reset/",
        "magic-link/",
        "share/",
        "s/",
        "services/t",
        "b0a0a0a0/",
    ),
    *("api/webhooks/", "bot", "private-", "123456789012", "0a1b2c3d4e5f6a7b8c9d", "abcdefghijklmnopqrstuvwxyzabcdef"),
    *("eyJ", "ghp_", "github_pat_", "glpat-", "AKIA", "ASIA", "AIza", "ya29.", "xoxb-", "sk-", "sk_live_", "rk_live_"),
    *("hf_", "tvly-", "npm_", "pypi-", "SG.", "words", "news"),
)

SECRET = [
    "https://a.example/reset/0a1B2c3D4e5F6a7B8c9D",
    "https://a.example/Magic-Link/0a1B2c3D4e5F6a7B8c9D/",
    "https://a.example/x/Private-0123456789abcdef0123/basic.ics",
    "https://api.example/BOT123456789:AAabcdefghijklmnopqrstuvwxyz/getUpdates",
    "https://a.example/x;SID=1",
    "https://a.example/file-tvly-abcdefghijklmnopqrst",
    "https://a.example/AIza" + "b" * 35,
    "https://user:pass@a.example/",
    "https://user@a.example/x",
    "https://a.example/?token=abc",
    "https://a.example/x?a=1&access_token=abc",
    "https://a.example/x?a=1;accessToken=abc",
    "https://a.example/x?ACCESS-TOKEN=abc",
    "https://a.example/x?%74oken=abc",
    "https://a.example/x?user%5Bpassword%5D=abc",
    "https://a.example/x?passwd=1",
    "https://a.example/x?client_secret=1",
    "https://a.example/x?apikey=1",
    "https://a.example/x?api_key=1",
    "https://a.example/x?x-api-key=1",
    "https://a.example/x?subscription-key=1",
    "https://bucket.s3.example/x?AWSAccessKeyId=1&Expires=2",
    "https://bucket.s3.example/x?X-Amz-Credential=1&X-Amz-Signature=2",
    "https://a.example/x?X-Goog-Signature=2",
    "https://blob.example/x?sv=2026&sig=Zm9vYmFyYmF6cXV4MTIz%3D",
    "https://a.example/x?PHPSESSID=q1w2",
    "https://a.example/x?session_id=12",
    "https://a.example/x?sid=4f3c2b1a09f8e7d6c5b4",
    "https://a.example/x?key=550e8400-e29b-41d4-a716-446655440000",
    "https://a.example/cb?code=4%2F0AbCdEfGhIjKlMn123&state=x",
    "https://a.example/x?auth=QUJDREVGR0hJSktMTU5PUFFS",
    "https://a.example/#access_token=abc&expires_in=3600",
    "https://a.example/#/reset?token=abc",
    "https://a.example/x?a=1?token=2",
    "https://a.example/go?to=https%3A%2F%2Fb.example%2F%3Ftoken%3Dx",
    "https://a.example/go?to=https%3A%2F%2Fu%3Ap%40b.example%2F",
    "https://a.example/x;jsessionid=1A2B3C",
    "https://a.example/x%3Bjsessionid=1A2B3C?q=1",
    "https://a.example/(S(x3k5f1qz0hwyzr55hz4lbd2v))/page.aspx",
    "https://hooks.example/services/T0AAAAAAA/B0AAAAAAA/abcdefghijkl12345678",
    "https://chat.example/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyz",
    "https://api.example/bot123456789:AAabcdefghijklmnopqrstuvwxyz/getUpdates",
    "https://calendar.example/ical/me/private-0123456789abcdef0123/basic.ics",
    "https://a.example/x?d=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    "https://a.example/ghp_" + "a1" * 18,
    "https://a.example/x?u=AKIA" + "A1" * 8,
]

HARMLESS = [
    "https://a.example/",
    "https://a.example/token/secret/password",
    "https://a.example/?q=access_token",
    "https://a.example/?q=what+is+an+api_key",
    "https://a.example/@user/post",
    "https://a.example/?page_token=CAUQAA",
    "https://a.example/?nextPageToken=CAUQAA1234567890abcdef",
    "https://a.example/?cursor=abcdef0123456789abcdef",
    "https://a.example/?keywords=python&max_tokens=12",
    "https://a.example/?key=c-major",
    "https://a.example/?key=2026-world-economic-outlook",
    "https://a.example/?session=2026-spring",
    "https://a.example/?code=DE",
    "https://a.example/?token=",
    "https://a.example/?token",
    "https://video.example/watch?v=dQw4w9WgXcQ",
    "https://a.example/commit/0123456789abcdef0123456789abcdef01234567",
    "https://a.example/?author=jane&design=1&monkey=2&assignature=3",
    "https://a.example/#section-2",
    "https://a.example/?u=https%3A%2F%2Fb.example%2F%3Fx%3D1",
    "https://a.example/eyJustAWord.html",
]


@pytest.mark.req("B10")
@pytest.mark.parametrize("url", SECRET)
def test_a_secret_is_seen(url: str) -> None:
    assert has_secret(url)


@pytest.mark.parametrize("url", HARMLESS)
def test_a_harmless_address_is_not_taken_for_one(url: str) -> None:
    assert not has_secret(url)


@given(st.lists(st.sampled_from([*_PARTS, *map(str.upper, _PARTS), *map(str.title, _PARTS)]), max_size=8))
def test_an_address_that_a_pattern_matches_is_never_told_apart_by_its_words(parts: list[str]) -> None:
    path = "".join(parts)
    address = f"https://a.example/{path}"
    if any(pattern.search(text) for pattern in (_MARKED, _IN_PATH) for text in (path, f"/{path}", address)):
        assert has_secret(address)
    # Parameters are looked at beside the patterns; with some, no address is told apart.
    assert has_secret(address) == has_secret(f"{address}?a=1")


@given(st.text(max_size=200))
def test_any_text_has_an_answer(url: str) -> None:
    assert isinstance(has_secret(url), bool)


@given(st.text(max_size=40), st.sampled_from(["token", "Password", "X-Amz-Signature", "apiKey", "client_secret"]))
def test_a_secret_is_seen_wherever_it_stands(text: str, name: str) -> None:
    before = text.replace("#", "").replace("?", "")
    assert has_secret(f"https://a.example/x?{before}&{name}=1")
    assert has_secret(f"https://a.example/x#{before}&{name}=1")


def test_a_long_address_takes_no_longer() -> None:
    for filler in ("a=", "key=" + "a" * 30 + "&", "?", ";", "https%3A%2F%2F", "%25", "/(S(", "eyJ"):
        assert has_secret("https://a.example/?" + filler * (8_000 // len(filler)) + "&token=1")
