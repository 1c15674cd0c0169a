"""Secrets that must not leave, in whatever clothes."""

from __future__ import annotations

import base64
import codecs
import gzip
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.work import growth
from groundwire.errors import BlockedSecret
from groundwire.safety.secret_scanner import SecretScanner

KEY = "tvly-dev-Qx81LmZpa0T7hYcV3nRsWb2K"
CANARIES = SecretScanner([KEY, "", "short", "correct horse battery staple", "YOUR_SEARCH_API_KEY_HERE"])

ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper case": str.upper,
    "reversed": lambda text: text[::-1],
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "percent": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "percent of percent": lambda text: quote("".join(f"%{byte:02X}" for byte in text.encode())),
    "hex": lambda text: text.encode().hex(),
    "hex in capitals": lambda text: text.encode().hex().upper(),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 without padding": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 of base64": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "percent of base64": lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
    "labels": lambda text: ".".join(text[at : at + 4] for at in range(0, len(text), 4)),
    "path": lambda text: "/".join(text),
    "plus signs": lambda text: "+".join(text),
    "base85": lambda text: quote(base64.b85encode(text.encode()).decode(), safe=""),
    "ascii85": lambda text: quote(base64.a85encode(text.encode()).decode(), safe=""),
    "codes": lambda text: ",".join(str(ord(char)) for char in text),
    "octal codes": lambda text: "\\".join(f"{ord(char):o}" for char in text),
    "hex codes": lambda text: ",".join(f"0x{ord(char):02x}" for char in text),
    "references": lambda text: quote("".join(f"&#{ord(char)};" for char in text)),
}
PACKED: dict[str, Callable[[bytes], str]] = {
    "hex": bytes.hex,
    "base32": lambda data: base64.b32encode(data).decode(),
    "base64": lambda data: base64.b64encode(data).decode(),
    "base64 for addresses": lambda data: base64.urlsafe_b64encode(data).decode().rstrip("="),
    "base85": lambda data: quote(base64.b85encode(data).decode(), safe=""),
}

PLACES = (
    "https://evil.example/?d={}",
    "https://evil.example/{}/pixel.png",
    "https://{}.evil.example/",
    "https://evil.example/#{}",
    "https://redirect.example/go?to=https://evil.example/{}",
    "https://evil.example/?{}=1",
    "weather in {} tomorrow",
)


@pytest.mark.req("B10")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_secret_is_found(encoding: str) -> None:
    assert [place for place in PLACES if not CANARIES.found_in(place.format(ENCODINGS[encoding](KEY)))] == []


@pytest.mark.req("B10")
@given(st.sampled_from(sorted(ENCODINGS)), st.text(max_size=20), st.text(max_size=20))
def test_it_is_found_among_other_words(encoding: str, before: str, after: str) -> None:
    data = (before + KEY + after).encode("utf-8", "ignore").decode()
    assert CANARIES.found_in(f"https://evil.example/?d={ENCODINGS[encoding](data)}")


@pytest.mark.req("B10")
@pytest.mark.parametrize("encoding", sorted(ENCODINGS.keys() - {"base64 of base64", "percent of base64"}))
def test_it_is_found_when_half_of_it_is_missing(encoding: str) -> None:
    for cut in range(16):  # in base 85 some of these parts have only letters
        assert CANARIES.found_in(f"https://evil.example/?d={ENCODINGS[encoding](KEY[cut : cut + 21])}"), cut


@pytest.mark.req("B10")
@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("place", ["https://evil.example/?a=1&d={}", "https://evil.example/x/{}", "look up {} please"])
def test_it_is_found_in_compressed_data(place: str, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    data = pack(f"what I was told: {KEY}".encode())
    assert CANARIES.found_in(place.format(PACKED[encoding](data)))


@pytest.mark.req("B10")
@given(st.permutations([KEY[:10], KEY[10:21], KEY[21:]]), st.sampled_from(["x", "-", "&p=", " and "]))
def test_it_is_found_in_three_pieces_in_any_order(pieces: list[str], between: str) -> None:
    assert CANARIES.found_in(f"https://evil.example/?p={between.join(pieces)}")
    reverse = between.join(piece[::-1] for piece in pieces)
    assert CANARIES.found_in(f"https://evil.example/?p={reverse}")


def test_the_error_does_not_tell() -> None:
    with pytest.raises(BlockedSecret, match="The query holds a secret") as caught:
        CANARIES.check("harmless", f"find {KEY}", what="query")
    assert KEY[:12] not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "https://docs.example/tvly-dev/quickstart?key=tvly-dev-",
        "how long should a secret like tvly-dev-Qx81 be",
        "your search api key",
        "correct horse",
        "short",
        "",
    ],
)
def test_what_only_resembles_one_may_go(text: str) -> None:
    assert not CANARIES.found_in(text)


def test_a_whole_phrase_may_not() -> None:
    assert CANARIES.found_in("https://evil.example/correct-horse-battery-staple")


def test_without_secrets_everything_may_go() -> None:
    assert not SecretScanner([]).found_in(KEY)


def test_no_address_of_real_pages_is_taken_for_one(page_addresses: list[str]) -> None:
    canaries = SecretScanner([KEY, *(base64.b64encode(bytes(range(n, n + 24))).decode() for n in range(20))])
    assert [url for url in page_addresses if canaries.found_in(url)] == []


def test_a_long_address_takes_no_longer() -> None:
    canaries = SecretScanner([f"{n}{KEY}{n}" for n in range(20)])
    url = "https://a.example/?" + "%25%32%35ab" * 800
    assert growth(canaries.found_in, url[: len(url) // 4], url) < 5
