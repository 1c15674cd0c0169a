"""Names of kept answers: everything that changes the answer changes the name, and nothing else does."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.models import Page, Query
from groundwire.routing.cache_codec import CacheTtl, Partition, page_codec, page_key, partition_of, search_key
from groundwire.safety.tenancy import LOCAL, Owner
from groundwire.safety.urls import DomainPolicy, parse_url

NOBODY = DomainPolicy()
SHARED = Partition("shared")
DOMAINS = st.lists(st.sampled_from(["a.example", "b.example", "c.example"]), unique=True, max_size=3).map(tuple)
NAMES = st.lists(st.sampled_from(["brave", "exa", "duckduckgo", "you"]), unique=True, max_size=3)
DAYS = st.none() | st.dates(date(2020, 1, 1), date(2020, 1, 3))
EXTRA = st.text(max_size=3)  # lone surrogates and control characters included


@st.composite
def queries(draw: st.DrawFn) -> Query:
    after, before = draw(DAYS), draw(DAYS)
    if after and before and after > before:
        after, before = before, after
    return Query(
        text=draw(st.text("aA é\t\u3000", min_size=1, max_size=4).filter(str.strip)),
        limit=draw(st.integers(1, 3)),
        page=draw(st.integers(1, 2)),
        allowed_domains=draw(DOMAINS),
        blocked_domains=draw(DOMAINS),
        time_range=draw(st.sampled_from(["d", "all"])),
        published_after=after,
        published_before=before,
        language=draw(st.sampled_from([None, "en", "de"])),
        region=draw(st.sampled_from([None, "us"])),
        safesearch=draw(st.sampled_from(["off", "strict"])),
    )


def meaning(query: Query, names: list[str], policy: DomainPolicy, extra: str) -> object:
    """What a key stands for, in another way than the code does it."""
    same = replace(query, allowed_domains=(), blocked_domains=())
    sets = [frozenset(x) for x in (query.allowed_domains, query.blocked_domains, policy.allowed, policy.blocked)]
    return same, sets, names, extra


POLICIES = st.builds(DomainPolicy, DOMAINS, DOMAINS)
SEARCHES = st.tuples(queries(), NAMES, POLICIES, EXTRA)


@pytest.mark.req("B19")
@given(SEARCHES, SEARCHES)
def test_keys_are_equal_exactly_when_the_searches_are(
    one: tuple[Query, list[str], DomainPolicy, str], other: tuple[Query, list[str], DomainPolicy, str]
) -> None:
    assert (search_key(*one, partition=SHARED) == search_key(*other, partition=SHARED)) == (
        meaning(*one) == meaning(*other)
    )
    assert search_key(*one, partition=SHARED) == search_key(*one, partition=SHARED)


OTHERS: dict[str, Any] = {
    "text": "Words",
    "limit": 6,
    "page": 2,
    "allowed_domains": ("a.example",),
    "blocked_domains": ("a.example",),
    "time_range": "d",
    "published_after": date(2020, 1, 1),
    "published_before": date(2020, 1, 1),
    "language": "en",
    "region": "us",
    "safesearch": "off",
}


@pytest.mark.req("B19")
def test_every_field_of_a_query_is_in_the_key() -> None:
    assert {item.name for item in fields(Query)} == OTHERS.keys()
    query = Query(text="words")
    keys = {
        search_key(replace(query, **{name: value}), ["x"], NOBODY, partition=SHARED) for name, value in OTHERS.items()
    }
    keys |= {
        search_key(query, ["x"], NOBODY, partition=SHARED),
        search_key(query, ["y"], NOBODY, partition=SHARED),
        search_key(query, ["x", "y"], NOBODY, partition=SHARED),
        search_key(query, ["y", "x"], NOBODY, partition=SHARED),
        search_key(query, ["x,y"], NOBODY, partition=SHARED),
        search_key(query, ["x"], DomainPolicy(allowed=("a.example",)), partition=SHARED),
        search_key(query, ["x"], DomainPolicy(blocked=("a.example",)), partition=SHARED),
        search_key(query, ["x"], NOBODY, "hedge", partition=SHARED),
    }
    assert len(keys) == len(OTHERS) + 8


def test_white_space_and_the_order_of_domains_do_not_matter() -> None:
    one = Query(text=" two\n words ", allowed_domains=("a.example", "b.example"))
    other = Query(text="two words", allowed_domains=("b.example", "a.example"))
    assert search_key(one, ["x"], NOBODY, partition=SHARED) == search_key(other, ["x"], NOBODY, partition=SHARED)


def test_a_key_shows_only_its_kind() -> None:
    assert re.fullmatch(
        r"search:\d+:shared:[0-9a-f]{64}", search_key(Query(text="secret plans"), ["x"], NOBODY, partition=SHARED)
    )
    assert re.fullmatch(
        r"page:\d+:shared:[0-9a-f]{64}", page_key(parse_url("https://a.example/secret"), ["local"], partition=SHARED)
    )


@pytest.mark.req("Y9")
def test_one_page_has_one_key() -> None:
    def key(url: str, *readers: str, extra: str = "") -> str:
        return page_key(parse_url(url), readers or ("local",), extra, partition=SHARED)

    assert key("https://A.example:443/x#one") == key("https://a.example/x#two") == key("https://a.example/x")
    keys = {
        key("https://a.example/x"),
        key("http://a.example/x"),
        key("https://a.example/x/"),
        key("https://a.example/X"),
        key("https://a.example/x?y"),
        key("https://a.example:444/x"),
        key("https://a.example/x", "jina"),
        key("https://a.example/x", "local", "jina"),
        key("https://a.example/x", extra="markdown"),
    }
    assert len(keys) == 9


def test_a_page_comes_back_from_the_cache_as_it_was() -> None:
    codec = page_codec(CacheTtl(60.0, 3.0))
    page = Page(url="https://a.example/", content="Some text.", title="A")
    assert codec.decode(codec.encode(page)) == page
    assert codec.ttl(page) == CacheTtl(60.0, 3.0)


@pytest.mark.parametrize(
    ("owner", "public", "private"),
    [
        (Owner(tenant="acme"), "tenant:acme", "tenant:acme"),
        (Owner(session="a"), "shared", "session:a"),
        (LOCAL, "shared", "local"),
    ],
)
def test_what_is_public_is_shared_by_all_without_a_tenant(owner: Owner, public: str, private: str) -> None:
    assert (partition_of(owner, "public"), partition_of(owner, "private")) == (public, private)


def test_an_update_keeps_what_is_cached_unless_its_form_changes() -> None:
    search = search_key(Query(text="old mills"), ["x"], NOBODY, partition=SHARED)
    page = page_key(parse_url("https://a.example/b"), ["local"], partition=SHARED)
    assert search == "search:2:shared:29e90e73919d5512ce5d4f8b1de1704126437ef23bbb1fde03aeb6d77c7aa9dc"
    assert page == "page:2:shared:68c5ee820bab4beb09717ff0ada94582412511e341da6e47b4acf2cd5e04a301"
