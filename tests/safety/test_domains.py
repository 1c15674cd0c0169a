"""Domain lists: subdomains go along, look-alikes do not, a block wins."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.safety.urls import DomainPolicy, host_matches

pytestmark = pytest.mark.req("Y10")


@pytest.mark.parametrize(
    ("host", "domain", "matches"),
    [
        ("example.com", "example.com", True),
        ("www.example.com", "example.com", True),
        ("a.b.example.com", "example.com", True),
        ("EXAMPLE.com.", "example.COM.", True),
        ("www.example.com", "*.example.com", True),
        ("www.example.com", ".example.com", True),
        ("example.com", "www.example.com", False),
        ("notexample.com", "example.com", False),
        ("example.com.evil.org", "example.com", False),
        ("example.community", "example.com", False),
        ("example.com", "com", True),
        ("example.com", "", False),
        ("", "", False),
        ("", "example.com", False),
        ("bücher.example", "xn--bcher-kva.example", True),
        ("www.xn--bcher-kva.example", "BÜCHER.example", True),
        ("cafe\u0301.example", "café.example", True),
        ("bucher.example", "bücher.example", False),
        ("1.2.3.4", "1.2.3.4", True),
        ("1.2.3.4", "3.4", False),
        ("1.1.2.3.4", "1.2.3.4", False),
        ("[2A00:0::1]", "2a00::1", True),
        ("example.com/", "example.com", False),
        ("example.com:80", "example.com", False),
        ("me@example.com", "example.com", False),
    ],
)
def test_matching(host: str, domain: str, matches: bool) -> None:
    assert host_matches(host, domain) is matches


@pytest.mark.parametrize(
    ("what", "permitted"),
    [
        ("https://example.com/", True),
        ("https://docs.example.com:8443/a?b#c", True),
        ("docs.example.com", True),
        ("https://example.org/", False),
        ("https://ads.example.com/", False),
        ("https://x.ads.example.com/", False),
        ("ads.example.com.", False),
        ("https://xads.example.com/", True),
        ("https://example.com@evil.org/", False),
        ("https://evil.org/?https://example.com/", False),
        ("https://evil.org\\.example.com/", False),
        ("http://0x7f.example.com/", True),
        ("http://0x7f.1/", False),
        ("ftp://example.com/", False),
        ("//example.com/", False),
        ("not a host", False),
        ("", False),
    ],
)
def test_a_policy(what: str, permitted: bool) -> None:
    policy = DomainPolicy(allowed=("example.com",), blocked=("ads.example.com",))
    assert policy.permits(what) is permitted


def test_no_lists_let_every_url_through_that_is_one() -> None:
    assert DomainPolicy().permits("https://example.com/")
    assert not DomainPolicy().permits("https://")


def test_a_block_wins_over_the_same_domain_allowed() -> None:
    assert not DomainPolicy(allowed=("example.com",), blocked=("example.com",)).permits("https://example.com/")


@pytest.mark.parametrize(
    ("one", "other", "allowed"),
    [
        ((), (), ()),
        (("a.com",), (), ("a.com",)),
        ((), ("a.com",), ("a.com",)),
        (("a.com", "b.com"), ("b.com", "c.com"), ("b.com",)),
        (("x.a.com", "c.com"), ("a.com",), ("x.a.com",)),
        (("a.com",), ("x.a.com", "c.com"), ("x.a.com",)),
        (("a.com",), ("b.com",), ("nowhere.invalid",)),
    ],
)
def test_two_policies_let_through_what_both_do(
    one: tuple[str, ...], other: tuple[str, ...], allowed: tuple[str, ...]
) -> None:
    both = DomainPolicy(one, ("bad.com",)).within(DomainPolicy(other, ("worse.com", "bad.com")))
    assert both == DomainPolicy(allowed, ("bad.com", "worse.com"))


LABELS = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
DOMAINS = st.lists(LABELS, min_size=2, max_size=3).map(".".join)


@settings(deadline=None)
@given(DOMAINS, LABELS)
def test_sub_domains_match_and_longer_words_do_not(domain: str, label: str) -> None:
    assert host_matches(domain, domain)
    assert host_matches(f"{label}.{domain}", domain)
    assert host_matches(f"{label}.{domain}.".upper(), domain)
    assert not host_matches(f"{label}{domain}", domain)
    assert not host_matches(f"{domain}.{label}x", domain) or f"{domain}.{label}x".endswith(f".{domain}")
    assert not host_matches(domain, f"{label}.{domain}")


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_judged(host: str, domain: str) -> None:
    assert host_matches(host, domain) in {True, False}
    assert DomainPolicy(allowed=(domain,), blocked=(host,)).permits(host) is False


@pytest.mark.parametrize(("host", "domain"), [("example.com]", "xample.com"), ("[example.com", "example.co")])
def test_half_of_a_pair_of_brackets_makes_no_host(host: str, domain: str) -> None:
    assert not host_matches(host, domain)
    assert not DomainPolicy(allowed=(domain,)).permits(host)
