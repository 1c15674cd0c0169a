"""What of an address somebody else's reader may see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.safety.url_redaction import for_third_parties


@pytest.mark.req("B10")
@pytest.mark.parametrize(
    ("url", "shown", "left_out"),
    [
        ("https://a.example/x?utm_source=m&q=1&gclid=abc", "https://a.example/x?q=1", ("utm_source", "gclid")),
        ("https://a.example/x?UTM_Medium=m", "https://a.example/x", ("UTM_Medium",)),
        ("https://a.example/x?PHPSESSID=q1w2e3r4t5&p=2#s", "https://a.example/x?p=2#s", ("PHPSESSID",)),
        ("https://a.example/f.php?t=3&sid=4f3c2b1a09f8e7d6c5b4", "https://a.example/f.php?t=3", ("sid",)),
        ("https://a.example/x;jsessionid=1A2B3C?q=1", "https://a.example/x?q=1", ("the session in the path",)),
        ("https://a.example/(S(x3k5f1qz0hwyzr55))/p.aspx", "https://a.example/p.aspx", ("the session in the path",)),
        ("https://a.example/x#access_token=abc", "https://a.example/x", ("the fragment",)),
        ("https://a.example/x?mkt_tok=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "https://a.example/x", ("mkt_tok",)),
    ],
)
def test_what_a_page_does_not_need_is_left_out(url: str, shown: str, left_out: tuple[str, ...]) -> None:
    found = for_third_parties(url)
    assert (found.url, found.left_out, found.secret) == (shown, left_out, False)


@pytest.mark.req("B10")
@pytest.mark.parametrize(
    "url",
    [
        "https://b.s3.example/x?X-Amz-Credential=1&X-Amz-Signature=2&X-Amz-Expires=60",
        "https://b.blob.example/x?sv=2026-01-01&se=2026-12-01&sr=b&sp=r&sig=Zm9vYmFyYmF6cXV4MTIz%3D",
        "https://d1.example/x?Expires=1790000000&Signature=abc&Key-Pair-Id=K1",
        "https://cdn.example/v.mp4?md5=0cc175b9c0f1b6a831c399e269772661&expires=1790000000",
        "https://cdn.example/v.mp4?hdnea=exp=1790000000~acl=/*~hmac=abc",
        "https://a.example/reset/8f14e45fceea167a5a36dedd4bea2543",
        "https://a.example/invite/Zx81LmQpa0T7hYcV3nRs",
        "https://a.example/p?x=Qx81LmZpa0T7hYcV3nRsWb2KQx81LmZpa0T7hYcV3nRsWb2K",
        "https://a.example/p?utm_source=m&api_key=1",
    ],
)
def test_a_secret_that_the_page_needs_stays_with_us(url: str) -> None:
    assert for_third_parties(url).secret


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/reset/how-to-reset-a-router-2026",
        "https://a.example/share/2026/spring-collection",
        "https://a.example/s/topic/frequently-asked-questions",
        "https://video.example/playlist?list=PLQx81LmZpa0T7hYcV3nRsWb2KQx81LmZpa0T7hYcV",
        "https://a.example/login/?ref=aHR0cHM6Ly9mb3J1bS5leGFtcGxlLmNvbS9mb3J1bXMvdG9waWMvMTg4Njgy",
        "https://a.example/x?session_redirect=%2Fpulse%2F5-trends-from-nutrition-8n6xe",
        "https://a.example/x?productCode=AT-US-FREETRIAL-30M-AUTO-1HR",
        "https://a.example/x?expires=1790000000&lang=en",
        "https://a.example/x?sid=1&a=2",
    ],
)
def test_a_harmless_address_is_shown_as_it_is(url: str) -> None:
    found = for_third_parties(url)
    assert (found.url, found.left_out, found.secret) == (url, (), False)


_WORD = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=10)


@given(st.lists(_WORD, max_size=4), st.dictionaries(_WORD.map("x{}".format), st.integers(0, 99_999), max_size=3))
def test_plain_addresses_are_left_alone(path: list[str], query: dict[str, int]) -> None:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    url = f"https://a.example/{'/'.join(path)}" + (f"?{text}" if text else "")
    found = for_third_parties(url)
    assert (found.url, found.secret) == (url, False)


@given(st.text(max_size=200))
def test_any_text_has_an_answer_and_what_is_left_is_left_again(text: str) -> None:
    found = for_third_parties(f"https://a.example/{text}")
    again = for_third_parties(found.url)
    assert again.url == found.url or again.left_out


@pytest.mark.req("B10")
def test_no_address_of_real_pages_is_refused(page_addresses: list[str]) -> None:
    assert [url for url in page_addresses if for_third_parties(url).secret] == []
