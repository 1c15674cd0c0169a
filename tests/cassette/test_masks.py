"""Secrets are taken out by name, and wherever else they appear."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.cassette.redaction import MASK, Masks

KEY = "CANARY0k3y1234567890"


class TestAddresses:
    @pytest.mark.req("B12")
    @pytest.mark.parametrize(
        ("url", "masked"),
        [
            ("https://a.example/s?q=key&key=K", "https://a.example/s?q=key&key=***"),
            ("https://a.example/s?api_key=K&q=x", "https://a.example/s?api_key=***&q=x"),
            ("https://a.example/s?X-Amz-Signature=K", "https://a.example/s?X-Amz-Signature=***"),
            ("https://a.example/s?accessToken=K;b=1", "https://a.example/s?accessToken=***;b=1"),
            ("https://a.example/s?user%5Bpassword%5D=K", "https://a.example/s?user%5Bpassword%5D=***"),
            ("https://a.example/cb#access_token=K", "https://a.example/cb#access_token=***"),
            ("https://r.example/https://a.example/?token=K", "https://r.example/https://a.example/?token=***"),
            (
                "https://r.example/?url=https%3A%2F%2Fa.example%2F%3Ftoken%3DK&x=1",
                "https://r.example/?url=https%3A%2F%2Fa.example%2F%3Ftoken%3D***&x=1",
            ),
            ("https://a.example/?code=a1b2c3d4e5f6a7b8c9", "https://a.example/?code=***"),
        ],
    )
    def test_secret_parameters(self, url: str, masked: str) -> None:
        assert Masks().url(url) == masked

    @pytest.mark.parametrize(
        "url",
        [
            "https://a.example/",
            "https://a.example/?key=",
            "https://a.example/?pageToken=abc&nextPageKey=1",
            "https://a.example/?code=E0382&session=morning",
            "https://a.example/keyboard?monkey=1&author=b&keywords=token",
            "https://a.example/?q=what+is+an+api_key",
        ],
    )
    def test_others_stay(self, url: str) -> None:
        assert Masks().url(url) == url

    @given(st.text(alphabet="abkey=&?;#/%2D*token_", max_size=40))
    def test_masking_again_changes_nothing(self, tail: str) -> None:
        once = Masks().url(f"https://a.example/{tail}")
        assert Masks().url(once) == once


class TestEverywhere:
    @given(st.text(min_size=6, max_size=30))
    def test_a_known_secret_is_nowhere(self, secret: str) -> None:
        masks = Masks()
        masks.learn(secret)
        seen = json.dumps(masks.value({"q": f"<{secret}>", "list": [secret, 1, None]}), ensure_ascii=False)
        if secret != MASK and secret not in MASK:
            assert secret not in json.loads(seen)["q"].replace(MASK, "")
            assert json.loads(seen)["list"][1:] == [1, None]
        body = masks.body(f"<{secret}>{quote(secret, safe='')}".encode("utf-8", "surrogatepass"))
        assert secret.encode("utf-8", "surrogatepass") not in body.replace(MASK.encode(), b"")

    def test_a_header_shows_what_to_take_out_of_the_rest(self) -> None:
        masks = Masks()
        shown = masks.request_headers({"Authorization": f"Bearer {KEY}", "Accept": "text/html", "X-Timeout": "9"})
        assert shown == {"Authorization": MASK, "Accept": "text/html"}
        assert masks.url(f"https://a.example/{KEY}/x") == f"https://a.example/{MASK}/x"
        assert masks.body(f'{{"error": "bad key {KEY}"}}'.encode()) == b'{"error": "bad key ***"}'

    def test_a_word_is_no_secret_elsewhere(self) -> None:
        masks = Masks()
        assert masks.request_headers({"X-Return-Style": "markdown"}) == {"X-Return-Style": MASK}
        assert masks.url("https://a.example/?token=conference") == "https://a.example/?token=***"
        assert masks.text("markdown at a conference") == "markdown at a conference"

    def test_fields_of_bodies(self) -> None:
        body = {"api_key": KEY, "token_budget": 5, "query": "key", "keys": ["a"], "options": [{"password": "p"}]}
        assert Masks().value(body) == {
            "api_key": MASK,
            "token_budget": 5,
            "query": "key",
            "keys": ["a"],
            "options": [{"password": MASK}],
        }

    def test_headers_of_answers(self) -> None:
        given_headers = {
            "content-type": "text/html",
            "Set-Cookie": "a=b",
            "Location": "/x?token=abc",
            "X-RateLimit-Remaining": "0, 5",
            "X-Usage-Tokens": "7",
            "Content-Encoding": "gzip",
            "Content-Length": "7",
            "Via": "1.1 office.example",
        }
        assert Masks().response_headers(given_headers) == {
            "content-type": "text/html",
            "Location": "/x?token=***",
            "X-RateLimit-Remaining": "0, 5",
            "X-Usage-Tokens": "7",
        }
