"""The strict parser: canonical forms, helpful refusals, joining, and agreement with other parsers."""

from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from yarl import URL

from components.examples import examples
from groundwire.errors import BlockedAddress, InvalidRequest
from groundwire.safety.urls import MAX_LENGTH, WebUrl, join_url, parse_url, with_scheme

pytestmark = pytest.mark.req("Y13", "B3")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://EXAMPLE.COM:443/A?B#C", "https://example.com/A?B#C"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://example.com:0443/", "https://example.com/"),
        ("http://example.com:00008080/", "http://example.com:8080/"),
        ("https://example.com:/", "https://example.com/"),
        ("https://example.com./", "https://example.com/"),
        ("https://example.com?x=1", "https://example.com/?x=1"),
        ("https://example.com/?", "https://example.com/"),
        ("https://example.com/#", "https://example.com/"),
        ("https://under_score.example.com/", "https://under_score.example.com/"),
        ("https://a--b.example.com/", "https://a--b.example.com/"),
        ("https://bü_cher.example.com/", "https://xn--b_cher-3ya.example.com/"),
        ("https://xn--11b2ezcw70k.example.com/", "https://xn--11b2ezcw70k.example.com/"),  # a joiner after a virama
        ("https://bücher.example.com/é?é#é", "https://xn--bcher-kva.example.com/%C3%A9?%C3%A9#%C3%A9"),
        ("https://cafe\u0301.example.com/", "https://xn--caf-dma.example.com/"),
        ("https://straße.example.com/", "https://xn--strae-oqa.example.com/"),
        ("https://xn--strae-oqa.example.com/", "https://xn--strae-oqa.example.com/"),
        ("https://\uff45\uff58\uff41\uff4d\uff50\uff4c\uff45.com/", "https://example.com/"),
        ("https://例え\u3002example\uff0ejp/", "https://xn--r8jz45g.example.jp/"),
        ("https://i\u2764.example.com/", "https://xn--i-7iq.example.com/"),
        ("http://[2606:4700:0::0:1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"),
        ("https://example.com/a%2fb%zz%/100%", "https://example.com/a%2fb%zz%/100%"),
        ("https://example.com/a\"<b>`{c}^|[]'", "https://example.com/a%22%3Cb%3E%60%7Bc%7D%5E|[]'"),
        ("https://example.com/?a[]=\"'<{|}>`^", "https://example.com/?a[]=%22%27%3C{|}%3E`^"),
        ("https://example.com/a/./b/../%2e%2E/c/..", "https://example.com/"),
        ("https://example.com/a/b/..", "https://example.com/a/"),
        ("https://example.com/../../x//y/", "https://example.com/x//y/"),
        ("https://example.com/x@y?z@#@", "https://example.com/x@y?z@#@"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert parse_url(text).text == canonical
    assert str(parse_url(canonical)) == canonical


def test_the_parts() -> None:
    url = parse_url("https://Example.com:8443/a?b=c#d")
    assert url == WebUrl("https", "example.com", 8443, "/a?b=c", "d")
    assert url.origin == "https://example.com:8443"
    assert url.request_text == "https://example.com:8443/a?b=c"
    assert url.address is None
    assert url.address is None
    assert str(parse_url("http://[::1]/").address) == "::1"
    assert parse_url("http://127.0.0.1/").address is not None


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("", "is empty", "https://example.com/"),
        (" \t", "is empty", "https://example.com/"),
        ("example.com", "no scheme", "https://example.com"),
        ("example.com:8080/x", "no scheme", "https://example.com:8080/x"),
        ("localhost:8080", "no scheme", "http://localhost:8080"),
        ("//example.com/x", "no scheme", "https://example.com/x"),
        ("0://example.com/", "does not begin with a scheme", "Begin it with https://"),
        ("://example.com/", "does not begin with a scheme", "Begin it with https://"),
        ("file:///etc/passwd", "scheme file", "http://"),
        ("mailto:a@example.com", "scheme mailto", "http://"),
        ("https:example.com", "missing the //", "https://"),
        ("https:/example.com", "missing the //", "https://"),
        ("https:///x", "no host", "https://example.com/"),
        ("https://:80/x", "no host", "https://example.com/"),
        ("https://example.com/a b", "a space", "%20"),
        (" https://example.com/", "a space", "leave it out"),
        ("https://example.com/\n", "U+000A", "Leave it out"),
        ("https://example.com/\u202e", "U+202E", "percent-encode"),
        ("https://exam\u200dple.com/", "U+200D", "Leave it out"),
        ("https://example.com/\ud800", "U+D800", "Leave it out"),
        ("https://example.com\\x", "backslash", "%5C"),
        ("https://me:secret@example.com/", "user name", "Leave out"),
        ("https://ex%61mple.com/", "% in the host", "themselves"),
        ("https://example.com:0/", "port 0", "1 to 65535"),
        ("https://example.com:65536/", "port 65536", "1 to 65535"),
        ("https://example.com:00/", "port 00", "1 to 65535"),
        ("https://example.com:8a/", "port 8a", "1 to 65535"),
        ("https://example.com:\u0668\u0660/", "port", "1 to 65535"),
        ("https://example.com:80:80/", "port 80:80", "1 to 65535"),
        ("https://[::1/", "brackets", "or a name"),
        ("https://[::1]x/", "brackets", "or a name"),
        ("https://[127.0.0.1]/", "brackets", "or a name"),
        ("https://[v1.fe80::1]/", "brackets", "or a name"),
        ("https://[1::2::3]/", "not an IPv6 address", "brackets"),
        ("https://a..b/", "empty part", "one dot"),
        ("https://example.com../", "empty part", "one dot"),
        ("https://" + "a" * 64 + ".com/", "too long", "63"),
        ("https://" + "a." * 130 + "com/", "too long", "253"),
        ("https://" + "é." * 1030 + "com/", "too long", "253"),
        ("https://-a.com/", "an invalid character", "inner hyphens"),
        ("https://a;b.com/", "an invalid character", "slash"),
        ("https://a\uff20b.com/", "an invalid character", "slash"),
        ("https://a\u2100b.com/", "an invalid character", "slash"),
        ("https://a\ue000b.com/", "no host name may have", "first slash"),
        ("https://a\ufe0fb.com/", "invisible", "Remove"),
        ("https://xn--a.com/", "international", "spelling"),
        ("https://xn--example-.com/", "international", "spelling"),
        ("https://xn--127-.example.com/", "international", "spelling"),
        ("https://a.\u2776/", "international", "spelling"),
        ("https://xn--ab-m1t.com/", "international", "spelling"),  # a joiner that joins nothing
        ("https://\u0301a.com/", "international", "spelling"),
        ("https://a\u05d0.com/", "international", "spelling"),
        ("https://example.com?a@b", "is ambiguous", "Put a /"),
        ("https://example.com#@127.0.0.1/", "is ambiguous", "Put a /"),
        ("https://example.com/" + "a" * MAX_LENGTH, f"{MAX_LENGTH + 20:,} characters", f"{MAX_LENGTH:,}"),
        ("https://example.com/" + "é" * (MAX_LENGTH // 2), "characters", f"{MAX_LENGTH:,}"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_to_write(text: str, problem: str, fix: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_url(text)
    assert caught.value.field == "url"
    assert problem in caught.value.problem
    assert fix in caught.value.fix
    assert "secret" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [None, 7, b"https://example.com/"])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(InvalidRequest, match="must be text"):
        parse_url(value)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0X7F.1",
        "0177.0.0.1",
        "127.1",
        "127.0.0.01",
        "256.1.1.1",
        "1.2.3.4.5",
        "8.8.8.8.",
        "a.0x",
        "example.1",
        "\uff18.8.8.8",
        "8\u30028\u30028\u30028",
        "\u2460.1.1.1",
        "127.0.0.\u0967",
        "127.0.0.\u06f1",
    ],
)
def test_odd_spellings_of_an_address_are_not_allowed(host: str) -> None:
    with pytest.raises(BlockedAddress, match="only public web addresses"):
        parse_url(f"http://{host}/")


@pytest.mark.parametrize(
    ("reference", "result"),
    [
        # RFC 3986, 5.4.1 and 5.4.2, without the references that leave http
        ("g", "http://a.example/b/c/g"),
        ("./g", "http://a.example/b/c/g"),
        ("g/", "http://a.example/b/c/g/"),
        ("/g", "http://a.example/g"),
        ("//g.example", "http://g.example/"),
        ("?y", "http://a.example/b/c/d;p?y"),
        ("g?y", "http://a.example/b/c/g?y"),
        ("#s", "http://a.example/b/c/d;p?q#s"),
        ("g#s", "http://a.example/b/c/g#s"),
        ("g?y#s", "http://a.example/b/c/g?y#s"),
        (";x", "http://a.example/b/c/;x"),
        ("g;x", "http://a.example/b/c/g;x"),
        ("g;x?y#s", "http://a.example/b/c/g;x?y#s"),
        ("", "http://a.example/b/c/d;p?q"),
        (".", "http://a.example/b/c/"),
        ("./", "http://a.example/b/c/"),
        ("..", "http://a.example/b/"),
        ("../", "http://a.example/b/"),
        ("../g", "http://a.example/b/g"),
        ("../..", "http://a.example/"),
        ("../../g", "http://a.example/g"),
        ("../../../g", "http://a.example/g"),
        ("/./g", "http://a.example/g"),
        ("/../g", "http://a.example/g"),
        ("g.", "http://a.example/b/c/g."),
        (".g", "http://a.example/b/c/.g"),
        ("g..", "http://a.example/b/c/g.."),
        ("./../g", "http://a.example/b/g"),
        ("./g/.", "http://a.example/b/c/g/"),
        ("g/./h", "http://a.example/b/c/g/h"),
        ("g/../h", "http://a.example/b/c/h"),
        ("g;x=1/./y", "http://a.example/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a.example/b/c/y"),
        ("g?y/./x", "http://a.example/b/c/g?y/./x"),
        ("g?y/../x", "http://a.example/b/c/g?y/../x"),
        ("g#s/../x", "http://a.example/b/c/g#s/../x"),
        # ours
        ("https://b.example:8443/x", "https://b.example:8443/x"),
        ("/x?to=https://b.example/", "http://a.example/x?to=https://b.example/"),
        ("/..//b.example/", "http://a.example//b.example/"),
        ("/é", "http://a.example/%C3%A9"),
        ("/x y", "http://a.example/x%20y"),
        (" \tg h?i j#k l\n", "http://a.example/b/c/g%20h?i%20j#k%20l"),
        (" https://b.example/x y ", "https://b.example/x%20y"),
    ],
)
def test_joining(reference: str, result: str) -> None:
    base = parse_url("http://a.example/b/c/d;p?q#f")
    assert join_url(base, reference).text == result


@pytest.mark.parametrize(
    "reference",
    [
        "http:g",
        "g:h",
        "1:2",
        "file:///x",
        "///x",
        "//",
        "/\\b.example",
        "\\\\b.example",
        "//b .example/",
        "https://b .example/",
        "/a\tb",
        "//me@b.example/",
        "/\r\nX: y",
    ],
)
def test_joining_is_as_strict_as_parsing(reference: str) -> None:
    with pytest.raises(InvalidRequest):
        join_url(parse_url("https://a.example/"), reference)


def test_joining_blocks_odd_addresses() -> None:
    with pytest.raises(BlockedAddress):
        join_url(parse_url("https://a.example/"), "//0x7f.1/")


_PIECES = st.one_of(
    st.sampled_from(list("/:?#@[].%\\-_&=;'\"<>`{|}^~0189aéß\u3002\uff0f\u2460\u200d\u0301\u05d0\u0661")),
    st.sampled_from(["//", "..", "%2e", "%41", "127.0.0.1", "0x7f", "::1", ":8080", "example", "xn--", "xn--e1afmkfd"]),
)
_LIKELY = st.builds(
    lambda scheme, pieces: scheme + "".join(pieces),
    st.sampled_from(["", "http://", "https://", "HTTP://", "//", "https://example.com", "http://[2a00::1]"]),
    st.lists(_PIECES, max_size=12),
)
URLS = st.one_of(st.text(max_size=80), _LIKELY)
"""Any text, and texts that look like URLs."""


def seen_alike(url: WebUrl) -> None:
    """Assert that other parsers read the canonical text as we do, and that ours gives the same again."""
    assert parse_url(url.text) == url
    assert parse_url(url.request_text).target == url.target
    assert url.text.isascii()
    plain, quick = urlsplit(url.text), URL(url.text, encoded=True)
    assert (plain.scheme, plain.hostname) == (url.scheme, url.host)
    assert (plain.port or quick.port) == url.port
    assert plain.username is None
    assert (quick.scheme, quick.raw_host, quick.port) == (url.scheme, url.host, url.port)
    assert quick.raw_path_qs == url.target
    assert quick.raw_fragment == plain.fragment == url.fragment


@settings(max_examples=examples(400), deadline=None)
@given(URLS)
@example("https://example.com/?#?")
@example("https://example.com//../..//x")
@example("https://example.com/%")
def test_any_text_is_read_by_everybody_alike_or_refused(text: str) -> None:
    try:
        url = parse_url(text)
    except (InvalidRequest, BlockedAddress):
        return
    seen_alike(url)


@settings(max_examples=examples(400), deadline=None)
@given(
    URLS, st.sampled_from(["https://example.com/", "http://[2a00::1]:8080/a/b?c#d", "https://xn--e1afmkfd.example//x/"])
)
def test_any_location_leads_to_a_url_that_everybody_reads_alike_or_is_refused(location: str, base: str) -> None:
    try:
        url = join_url(parse_url(base), location)
    except (InvalidRequest, BlockedAddress):
        return
    seen_alike(url)


_LABELS = st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True).filter(
    lambda label: not label.startswith("xn--")
)


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(_LABELS, min_size=1, max_size=4).map(".".join), st.integers(1, 65_535), st.text("abc/?&=.%~é", max_size=20)
)
def test_ordinary_addresses_are_read(host: str, port: int, rest: str) -> None:
    url = parse_url(f"https://{host}:{port}/{rest}")
    assert (url.host, url.port) == (host, port)
    seen_alike(url)


_PARTS = (
    "a",
    "b-c",
    "xn--",
    "--",
    "-",
    ".",
    "..",
    "%2e",
    "%2E",
    "/",
    "?",
    "#",
    "@",
    ":",
    "8080",
    "70000",
    "0",
    "1",
    "'",
    '"',
    "~",
    "é",
    "%",
    "com",
    "x" * 64,
)


@given(st.lists(st.sampled_from(_PARTS), max_size=12).map("".join), st.sampled_from(["http", "https"]))
@example("example.com/a/b.html?x=1&y=%2e", "https")
@example("example.com:65536/", "https")
@example(f"{'a.' * 40}com/", "https")
@example("example.com/a/%2e%2e/b", "https")
@example("example.com/?a'b", "https")
@example("192.0.2.255:80/a", "http")
@example("192.0.2.256/a", "http")
@example("192.0.02.25/a", "http")
def test_an_address_in_canonical_form_takes_a_short_way_to_the_same_result(rest: str, scheme: str) -> None:
    def read(text: str) -> WebUrl | str:
        try:
            return parse_url(text)
        except (InvalidRequest, BlockedAddress) as error:
            return str(error)

    assert read(f"{scheme}://{rest}") == read(f"{scheme.upper()}://{rest}")  # capitals take the long way


def test_a_location_of_blanks_is_empty() -> None:
    with pytest.raises(InvalidRequest, match="is empty"):
        join_url(parse_url("https://example.com/a"), "  ")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        *((host, f"https://{host}") for host in ("example.org", "a.example:8443/x?q=1", "www.example.org?q")),
        *((host, f"http://{host}") for host in ("127.0.0.1:8800/wiki", "localhost:80", "[::1]:80/x")),
        *((same, same) for same in ("http://a.test", "localhost", "a/b", "mailto:x@a.test", "1.2", "two words", "")),
    ],
)
def test_a_missing_scheme_is_added(text: str, url: str) -> None:
    assert with_scheme(text) == url
