"""Every provider through a `Web`, on the miniature web; and no key ever in sight."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from components.services import APIS, KEYED, READ, SEARCH, Makes, api_class
from groundwire import AllProvidersFailed, GroundwireError, Settings, Web
from groundwire.errors import ConfigurationError, MissingKey
from groundwire.providers.base import load_prices
from groundwire.providers.registry import provider_names
from groundwire.setup import provider_statuses
from world import World
from world.services import SERVICES

CANARY = "canary-3f9c1e77d2"


def settings(world: World, name: str, key: str | None = "test-key", **sections: Any) -> Settings:
    able = api_class(name).capabilities
    variable = next(iter(api_class(name).key_variables), None)
    return Settings.model_validate(
        {
            "search": {"providers": (name,) if able.search else ("duckduckgo",), "timeout": 10.0},
            "read": {"providers": (name,) if able.read else ("local",), "timeout": 10.0},
            "policy": {"allowed_origins": world.origins},
            "providers": {name: {"base_url": world.service(name).url} | ({"delay": 0.0} if name == "arxiv" else {})},
            "keys": {variable: SecretStr(key)} if variable and key else {},
            **sections,
        }
    )


def test_every_service_has_a_provider_and_the_other_way_round() -> None:
    assert sorted(SERVICES) == list(APIS)
    assert {"archive", "browser", "crawl4ai", "duckduckgo", "searxng", "local"} == set(provider_names()) - set(APIS)


@pytest.mark.req("Y5", "B4")
@pytest.mark.parametrize("name", SEARCH)
async def test_each_searches(world: World, name: str) -> None:
    async with Web(settings(world, name)) as web:
        found = await web.search("reciprocal rank fusion", limit=3)
    assert 1 <= len(found.results) <= 3
    assert found.provider == name
    assert found.attempts[0].outcome == "ok"
    assert found.attempts[0].status == 200
    for row in found.results:
        assert row.title
        assert row.source.startswith(name)
        assert "<" not in row.title + row.snippet


@pytest.mark.req("Y6", "Y15")
@pytest.mark.parametrize("name", READ)
async def test_each_reads(world: World, name: str) -> None:
    async with Web(settings(world, name)) as web:
        page = await web.open_page(world.site("articles").page("bm25"), max_length=400)
        assert page.reader == name
        assert page.truncated
        assert "BM25" in page.title + page.content
        with pytest.raises(GroundwireError):
            await web.open_page(world.site("articles").url + "/no-such-page")


@pytest.mark.req("B4")
@pytest.mark.parametrize("name", SEARCH)
async def test_every_filter_has_a_receipt_and_off_domain_rows_stay_out(world: World, name: str) -> None:
    host = world.site("articles").url.removeprefix("http://").partition(":")[0]
    async with Web(settings(world, name)) as web:
        for domain, found_some in ((host, name != "wikipedia"), ("nowhere.example", False)):
            try:
                found = await web.search(
                    "search engines", allowed_domains=[domain], time_range="y", language="de", region="at", page=1
                )
            except AllProvidersFailed:
                found = None
            assert found_some == bool(found and found.results)
            if found is None:
                continue
            assert {receipt.filter for receipt in found.filters} == {
                "allowed_domains",
                "time_range",
                "language",
                "region",
            }
            assert all(domain in row.url for row in found.results)


@pytest.mark.req("Y4")
@pytest.mark.parametrize("name", [name for name in READ if name in SEARCH])
async def test_a_hybrid_is_one_object(world: World, name: str) -> None:
    web = Web(settings(world, name))
    assert len([made for made in web.__dict__["_resources"].owned if getattr(made, "name", "") == name]) == 1
    await web.aclose()


@pytest.mark.req("S5", "H1")
@pytest.mark.parametrize("name", [name for name in KEYED if api_class(name).key_needed])
def test_without_its_key_it_is_skipped_or_refused(world: World, name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} needs a key: set {api_class(name).key_variables[0]}"):
        Web(settings(world, name, key=None))
    chain = {"search": {"providers": (name, "duckduckgo")}, "read": {"providers": ("local",)}}
    web = Web(settings(world, name, key=None, **chain))
    assert [reason for reason in web.skipped if name in reason]
    assert issubclass(MissingKey, ValueError)


@pytest.mark.req("B16")
@pytest.mark.parametrize("name", [name for name in KEYED if name in SEARCH])
async def test_a_variable_may_hold_two_keys(world: World, name: str) -> None:
    async with Web(settings(world, name, key=f"wrong-{CANARY},test-key")) as web:
        found = await web.search("bm25")
    assert found.attempts[0].outcome == "ok"
    assert len(world.service(name).requests) == 2


def test_prices_are_dated_and_sourced() -> None:
    for name, prices in load_prices().items():
        assert name in provider_names()
        assert prices.as_of.startswith("2026-")
        assert prices.source
        assert all(0 < price < 1 for price in prices.units.values())


def test_a_price_list_is_old_after_a_year() -> None:
    for name, prices in load_prices().items():
        day = date.fromisoformat(prices.as_of)
        assert prices.age_note(day + timedelta(days=365)) == ""
        old = prices.age_note(day + timedelta(days=366))
        assert (f"prices of {prices.as_of}, over a year old" in old) == bool(prices.units), name


@pytest.mark.parametrize("name", [name for name in KEYED if name in SEARCH and load_prices()[name].units])
async def test_an_old_price_is_said_to_be_old_once(makes: Makes, name: str) -> None:
    provider = makes(api_class(name))
    provider.today = date.fromisoformat(load_prices()[name].as_of)
    assert not (await provider.search("bm25")).warnings
    provider.today += timedelta(days=366)
    [said] = (await provider.search("bm25")).warnings
    assert said.startswith(f"{name}: prices of {load_prices()[name].as_of}, over a year old")
    assert not (await provider.search("bm25")).warnings


async def test_the_list_of_providers_has_the_price_of_the_mode_and_the_age_of_the_list(world: World) -> None:
    usual, deep = settings(world, "exa"), settings(world, "exa", providers={"exa": {"type": "deep"}})
    day = date.fromisoformat(load_prices()["exa"].as_of)
    [status] = [row for row in await provider_statuses(usual, only_used=True, today=day) if row.name == "exa"]
    assert (status.price, status.price_note) == ("$7.00", "")
    later = day + timedelta(days=366)
    [status] = [row for row in await provider_statuses(deep, only_used=True, today=later) if row.name == "exa"]
    assert (status.price, status.price_note) == ("$12.00", load_prices()["exa"].age_note(later))
