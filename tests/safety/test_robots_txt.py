"""What a robots.txt says to us."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.work import growth
from groundwire._version import USER_AGENT
from groundwire.safety.robots_txt import MAX_BYTES, Robots, agent_names, parse_robots

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
        ("User-agent: *\nDisallow: */private", "/private", False),
        ("User-agent: *\nDisallow: */private", "/x/private", False),
        ("User-agent: *\nDisallow: */private", "/x/y/private/z", False),
        ("User-agent: *\nDisallow: */private", "/xprivate", True),
        ("User-agent: *\nDisallow: */private$", "/x/private", False),
        ("User-agent: *\nDisallow: */private$", "/x/private/z", True),
        ("User-agent: *\nDisallow: */a*/b", "/a/b", False),
        ("User-agent: *\nDisallow: */a*/b", "/b/a", True),
        ("User-agent: *\nDisallow: /ab*ba", "/aba", True),
        ("User-agent: *\nDisallow: /ab*ba", "/abba", False),
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
        ("User-agent: ground\nDisallow: /", "/a", True),
        ("User-agent: *\nNoindex: /b\nUser-agent: two\nDisallow: /a", "/a", False),
        ("User-agent: *\nDisallow: /x\u2028User-agent: two\nDisallow: /a", "/a", False),
        ("User-agent: *\nDissalow: /a", "/a", False),
        ("User-agent: *\nAllow: /$\nDisallow: /", "/", True),
        ("<html><body>Not found</body></html>", "/a", True),
    ],
)  # fmt: skip
def test_a_rule_decides(text: str, target: str, expected: bool) -> None:
    assert permits(text, target) is expected


def test_the_longest_rule_is_told() -> None:
    robots = parse_robots(b"User-agent: *\nDisallow: /a\nDisallow: /a/b* # why\nAllow: /a/b/c/d", US)
    assert [robots.forbidding(target) for target in ("/a/c", "/a/b/c", "/a/b/c/d", "/b")] == [
        "Disallow: /a",
        "Disallow: /a/b*",
        None,
        None,
    ]


@pytest.mark.parametrize("count", range(1, 14))
def test_the_longest_of_many_rules_is_told(count: int) -> None:
    lines = [f"Disallow: /{'a' * length}" for length in range(1, count + 1)]
    robots = parse_robots("\n".join(("User-agent: *", "Allow: /b", *lines)).encode(), US)
    assert [robots.forbidding(line.partition(" ")[2] + "x") for line in lines] == lines


@pytest.mark.parametrize(
    ("line", "expected"),
    [("2", 2.0), ("0.5", 0.5), (" 7 # slow", 7.0), ("-1", None), ("nan", None), ("inf", None), ("soon", None)],
)
def test_a_delay_is_read(line: str, expected: float | None) -> None:
    assert parse_robots(f"User-agent: *\nCrawl-delay: {line}\nDisallow: /x".encode(), US).delay == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Request-rate: 1/5", 5.0),
        ("Request-rate: 2/1m", 30.0),
        ("Request-rate: 1/10\nCrawl-delay: 3", 10.0),
        ("Request-rate: 10/5\nCrawl-delay: 3", 3.0),
        ("Request-rate: 1/0", None),
        (f"Request-rate: {'9' * 4_000}/1", 1e-9),
        (f"Request-rate: 1/{'9' * 4_000}", 1e9),
    ],
)
def test_a_rate_is_a_delay(lines: str, expected: float | None) -> None:
    assert parse_robots(f"User-agent: *\n{lines}\n".encode(), US).delay == expected


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


@pytest.mark.parametrize("beyond", [0, 1])
def test_the_bound_is_five_hundred_kibibytes(beyond: int) -> None:
    start, end = b"User-agent: *\n#", b"\nDisallow: /ab"
    text = start + b"#" * (512_000 + beyond - len(start) - len(end)) + end
    robots = parse_robots(text, US)
    assert robots.permits("/ab") is False
    assert robots.permits("/ac") is not bool(beyond)


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


def test_rules_survive_being_kept() -> None:
    robots = parse_robots("User-agent: *\nDisallow: /café\nCrawl-delay: 3\nAllow: /b".encode(), US)
    assert len(robots.lines) == 3
    assert Robots.unpack(robots.pack()) == robots
    assert Robots.unpack(b"") == Robots()
    with pytest.raises(ValueError, match=r"not the rules of a robots\.txt"):
        Robots.unpack(b"Disallow: /a\nsomething else")


_PATTERN = st.text("ab/*$.?=-", min_size=0, max_size=8).map(lambda text: f"/{text}") | st.just("*/a*b")
_RULES = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), _PATTERN), max_size=12)


@given(_RULES, st.text("ab/.?=-", max_size=10).map(lambda text: f"/{text.lstrip('/')}"))
def test_the_longest_pattern_decides(rules: list[tuple[str, str]], target: str) -> None:
    def matches(pattern: str) -> bool:
        end = "$" if pattern.endswith("$") else ""
        parts = pattern.removesuffix("$").split("*")
        return re.match(".*".join(map(re.escape, parts)) + end, target) is not None

    matching = [(len(pattern), field == "Allow") for field, pattern in rules if matches(pattern)]
    text = "\n".join(["User-agent: *", *map(": ".join, rules)])
    if not any("$" in pattern[:-1] for _, pattern in rules):  # a dollar within a pattern has a longer spelling
        assert permits(text, target) is max(matching, default=(0, True))[1]
