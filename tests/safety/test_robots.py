"""What a robots.txt says to us."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from components.work import growth
from groundwire._version import USER_AGENT
from groundwire.safety.robots import MAX_BYTES, Robots, agent_names, parse_robots

US = frozenset({"groundwire"})


def permits(text: str, target: str) -> bool:
    return parse_robots(text.encode(), US).permits(target)


@pytest.mark.req("B3")
@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("user-AGENT:*\ndisALLOW:/", "/a", False),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("User-agent: groundwire\nDisallow: /\n\nUser-agent: *\nAllow: /", "/a", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Groundwire\nDisallow: /x", "/a", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: groundwire\nDisallow:", "/a", True),
        ("User-agent: groundwire/2.0\nDisallow: /a", "/a", False),
        ("User-agent: groundwirebot\nDisallow: /a", "/a", True),
        ("User-agent: one\nUser-agent: groundwire\nDisallow: /a", "/a", False),
        ("User-agent: groundwire\n\n# a remark\n\nDisallow: /a", "/a", False),
        ("User-agent: groundwire\nAllow: /\nUser-agent: b\nAllow:\nUser-agent: groundwire\nDisallow: /c", "/c", False),
        ("User-agent: one\nCrawl-delay: 3\nUser-agent: two\nDisallow: /", "/a", True),
        ("User-agent: *\nSitemap: https://x.test/s\nUser-agent: two\nDisallow: /a", "/a", False),
        ("Disallow: /", "/a", True),
        ("User-agent: *\nDisallow: /a # why", "/a", False),
        ("User-agent: *\nDisallow: /a\rAllow: /ab\r\nDisallow: /abc", "/abcd", False),
        ("User-agent: *\nDisallow: /a\nAllow: /ab", "/abc", True),
        ("User-agent: *\nAllow: /page\nDisallow: /page", "/page", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z=1", True),
        ("User-agent: *\nDisallow: /$", "/", False),
        ("User-agent: *\nDisallow: /$", "/a", True),
        ("User-agent: *\nDisallow: *private", "/x/private/y", False),
        ("User-agent: *\nDisallow: /a*b*c", "/a1c2b", True),
        ("User-agent: *\nDisallow: /a*a$", "/a", True),
        ("User-agent: *\nDisallow: /*?q=", "/find?q=1", False),
        ("User-agent: *\nDisallow: /foo%2Fbar", "/foo/bar", True),
        ("User-agent: *\nDisallow: /foo/%62ar", "/foo/bar", False),
        ("User-agent: *\nDisallow: /caf%c3%a9", "/caf%C3%A9/x", False),
        ("User-agent: *\nDisallow: /café", "/caf%C3%A9/x", False),
        ("User-agent: *\nDisallow: /a%2A", "/a*", False),
        ("User-agent: *\nDisallow: /a%2A", "/ab", True),
        ("User-agent: *\nDisallow: page", "/page", True),
        ("\ufeffUser-agent: *\nDisallow: /", "/a", False),
        ("User agent : *\nDisallow /a", "/a", False),
        ("<html><body>Not found</body></html>", "/a", True),
    ],
)  # fmt: skip
def test_a_rule_decides(text: str, target: str, expected: bool) -> None:
    assert permits(text, target) is expected


def test_the_longest_rule_is_told() -> None:
    rule = parse_robots(b"User-agent: *\nDisallow: /a\nDisallow: /a/b*", US).verdict("/a/b/c")
    assert rule is not None
    assert rule.text == "Disallow: /a/b*"


@pytest.mark.parametrize(
    ("line", "expected"),
    [("2", 2.0), ("0.5", 0.5), (" 7 # slow", 7.0), ("-1", None), ("nan", None), ("inf", None), ("soon", None)],
)
def test_a_delay_is_read(line: str, expected: float | None) -> None:
    assert parse_robots(f"User-agent: *\nCrawl-delay: {line}\nDisallow: /x".encode(), US).delay == expected


@pytest.mark.parametrize(
    ("user_agent", "names"),
    [
        (USER_AGENT, {"groundwire"}),
        ("Mozilla/5.0 (compatible; Acme-Bot/2.1; +https://acme.example/bot/1) Chrome/130", {"acme-bot"}),
        ("curl", {"curl"}),
        ("(nobody)", {"*"}),
    ],
)
def test_our_names_are_the_products_of_our_introduction(user_agent: str, names: set[str]) -> None:
    assert agent_names(user_agent) == names


def test_what_is_beyond_the_bound_is_left_out() -> None:
    text = b"User-agent: *\nDisallow: /a\n" + b"#" * MAX_BYTES + b"\nDisallow: /b\n"
    robots = parse_robots(text, US)
    assert (robots.permits("/a"), robots.permits("/b")) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"User-agent: a{n}\n" for n in range(14_000)) + "Disallow: /\n" * 19_000,
        "User-agent: *\n" + "Disallow: /*a*a*a*a*a*a*b\n" * 19_000,
        "User-agent: groundwire\n" * 22_000,
        "User-agent: *\nDisallow: /" + "*a" * 250_000,
    ],
    ids=["many agents", "many rules", "the same agent", "one long rule"],
)
def test_a_hostile_file_takes_no_longer_than_its_size(text: str) -> None:
    def read(text: str) -> None:
        parse_robots(text.encode(), US).permits("/" + "a" * 7_000)

    read(text)
    assert growth(read, text[:25_000], text[:100_000]) < 5


@given(st.binary(max_size=400))
def test_any_bytes_are_a_file(body: bytes) -> None:
    robots = parse_robots(body, US)
    assert isinstance(robots.permits("/a?b=c"), bool)
    assert Robots.unpack(robots.pack()) == robots


_PATTERN = st.text("ab/*$.?=-", min_size=0, max_size=8).map(lambda text: f"/{text}")
_LINE = st.one_of(
    st.sampled_from(["User-agent: *", "User-agent: groundwire", "User-agent: other", "Crawl-delay: 4", "# a remark"]),
    st.tuples(st.sampled_from(["Allow", "Disallow"]), _PATTERN).map(": ".join),
)


@given(st.lists(_LINE, max_size=12), st.text("ab/.?=-", max_size=10).map(lambda text: f"/{text.lstrip('/')}"))
def test_another_parser_agrees(lines: list[str], target: str) -> None:
    text = "\n".join(lines)
    if any("$" in line.rstrip("$") or line.endswith("$$") for line in lines):
        return  # it reads a dollar in the middle, or two, in its own way
    theirs = Protego.parse(text)
    ours = parse_robots(text.encode(), US)
    assert ours.permits(target) == theirs.can_fetch(f"https://x.test{target}", "groundwire")
    assert ours.delay == theirs.crawl_delay("groundwire")
