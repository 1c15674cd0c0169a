"""What a key's holder may do with a `Web`, and that tenants do not meet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from groundwire import Settings, Web
from groundwire.errors import BlockedDomain, BudgetExceeded, InvalidRequest, PermissionDenied
from groundwire.safety.urls import DomainPolicy
from groundwire.testing.fault_injection import InjectedFault
from groundwire_server.auth.authentication import Tenant, tenant_of
from groundwire_server.auth.keys import KeyLimits, make_key
from world import World


def tenant(name: str = "ci", *, shared: str = "", **limits: Any) -> Tenant:
    return Tenant.of(make_key(name, datetime.now(UTC), tenant=shared, limits=KeyLimits.model_validate(limits))[1])


@pytest.fixture
async def web(settings: Callable[..., Settings]) -> AsyncIterator[Web]:
    async with Web(settings(session={"max_searches": 0}, storage={"url": "memory://"})) as made:
        yield made


def test_sessions_of_two_tenants_never_have_one_name() -> None:
    one, other = tenant(), tenant()
    assert one.session("a") != other.session("a")
    assert tenant("x", shared="team").session("a") == tenant("y", shared="team").session("a")
    assert tenant("x", shared="a").session("b:c") != tenant("y", shared="a.b").session("c")
    for wrong in ("", "x" * 101, "a\nb", "a\x00", "\u202e"):
        with pytest.raises(InvalidRequest):
            one.session(wrong)
    assert tenant_of({}) is None
    assert tenant_of({"groundwire.tenant": "somebody"}) is None


async def test_a_tenant_does_not_see_what_another_was_shown(web: Web, world: World) -> None:
    one, other = tenant(), tenant()
    mine = one.narrow(web).session(one.session("research"))
    await mine.search("reciprocal rank fusion")
    assert await mine.sources()
    theirs = other.narrow(web).session(other.session("research"))
    assert await theirs.sources() == ()
    assert (await theirs.usage())["searches"] == 0
    again = one.narrow(web).session(one.session("research"))
    assert await again.sources() == await mine.sources()


async def test_a_days_calls_are_those_of_all_sessions(web: Web, world: World) -> None:
    limited = tenant(calls_per_day=3)
    found = await limited.narrow(web).session().search("reciprocal rank fusion")
    await limited.narrow(web).session(limited.session("a")).open_page(found.results[0].url)
    await limited.narrow(web).search("reciprocal rank fusion")
    for call in (
        lambda: limited.narrow(web).session().search("reciprocal rank fusion"),
        lambda: limited.narrow(web).open_page(found.results[0].url),
    ):
        with pytest.raises(BudgetExceeded) as caught:
            await call()
        assert 0 < (caught.value.retry_after or 0) <= 86_400
    quota = limited.narrow(web)._budget.quota
    assert quota is not None
    assert await quota.used() == {"calls": 3, "cost_usd": 0}
    assert web._budget.quota is None
    assert (await tenant(calls_per_day=3).narrow(web).search("reciprocal rank fusion")).results


async def test_domains_hold_for_results_and_pages(web: Web, world: World) -> None:
    rows = (await web.search("reciprocal rank fusion", limit=10)).results
    host = rows[0].url.split("/")[2].partition(":")[0]
    without = tenant(blocked_domains=[host]).narrow(web)
    found = await without.search("reciprocal rank fusion", limit=10)
    assert found.results == (), "all pages of the miniature web have one host"
    with pytest.raises(BlockedDomain):
        await without.open_page(rows[0].url)
    with pytest.raises(BlockedDomain):
        await without.session("x").open_page(rows[0].url)
    page = (await tenant(blocked_domains=[host]).narrow(web).open_pages([rows[0].url]))[0]
    assert page.status == "error"
    elsewhere = tenant(allowed_domains=["elsewhere.example"]).narrow(web)
    with pytest.raises(BlockedDomain):
        await elsewhere.open_page(rows[0].url)
    assert (await tenant(allowed_domains=[host]).narrow(web).open_page(rows[0].url)).content


async def test_a_page_that_somebody_else_had_opened_is_not_had_from_the_cache(
    settings: Callable[..., Settings], world: World
) -> None:
    async with Web(settings(cache={"enabled": True}, session={"max_searches": 0})) as web:
        url = (await web.search("reciprocal rank fusion")).results[0].url
        host = url.split("/")[2].partition(":")[0]
        assert (await web.open_page(url)).content
        with pytest.raises(BlockedDomain):
            await tenant(blocked_domains=[host]).narrow(web).open_page(url)
        found = await tenant(blocked_domains=[host]).narrow(web).search("reciprocal rank fusion")
        assert found.results == ()


async def test_a_page_that_led_elsewhere_is_not_had_from_the_cache_either(
    settings: Callable[..., Settings], world: World
) -> None:
    kept = settings(cache={"enabled": True}, session={"max_searches": 0})
    async with Web(kept, resolver=world.resolver) as web:
        world.site("docs").fail(InjectedFault.redirect(world.site("articles").page("bm25", named=True)))
        url = world.site("docs").page("api", named=True)
        assert "encyclopedia.test" in (await web.open_page(url)).final_url
        world.site("docs").fail(InjectedFault.redirect(world.site("articles").page("bm25", named=True)))
        with pytest.raises(BlockedDomain):
            await tenant(blocked_domains=["encyclopedia.test"]).narrow(web).open_page(url)


async def test_only_the_providers_that_are_allowed(settings: Callable[..., Settings], world: World) -> None:
    chain = {"providers": ("searxng", "wikipedia")}
    async with Web(settings(search=chain, session={"max_searches": 0})) as web:
        narrow = tenant(providers=["searxng"]).narrow(web)
        assert (await narrow.search("reciprocal rank fusion")).provider == "searxng"
        with pytest.raises(PermissionDenied, match="reads pages"):
            await narrow.open_page(f"{world.origins[0]}/")
        with pytest.raises(PermissionDenied, match="wikipedia may not be used"):
            narrow.with_providers("wikipedia")
        assert (await narrow.with_providers("searxng").search("reciprocal rank fusion")).provider == "searxng"
        reader = tenant(providers=["local"]).narrow(web)
        with pytest.raises(PermissionDenied, match="searches"):
            await reader.search("reciprocal rank fusion")
        both = tenant(providers=["local"]).narrow(narrow)
        with pytest.raises(PermissionDenied):
            await both.search("reciprocal rank fusion")
        with pytest.raises(PermissionDenied):
            await both.open_page(f"{world.origins[0]}/")


async def test_narrowing_leaves_nothing_behind(web: Web) -> None:
    tenant(providers=["searxng"]).narrow(web)  # the readers are made when they are first needed
    made = len(web._resources.owned)
    for _ in range(100):
        tenant(providers=["searxng"], blocked_domains=["a.example"]).narrow(web).session("x")
    assert len(web._resources.owned) == made


@pytest.mark.parametrize(
    ("one", "other", "lets", "keeps"),
    [
        (((), ()), (("a.example",), ()), ["a.example", "x.a.example"], ["b.example"]),
        ((("example",), ()), (("a.example",), ()), ["a.example"], ["b.example"]),
        ((("a.example",), ()), (("example",), ()), ["a.example"], ["b.example"]),
        ((("a.example",), ()), (("b.example",), ()), [], ["a.example", "b.example", "c.example"]),
        (((), ("a.example",)), ((), ("b.example",)), ["c.example"], ["a.example", "b.example"]),
        ((("example",), ()), ((), ("b.example",)), ["a.example"], ["b.example"]),
    ],
)
def test_both_policies_hold(one: Any, other: Any, lets: list[str], keeps: list[str]) -> None:
    for both in (DomainPolicy(*one).within(DomainPolicy(*other)), DomainPolicy(*other).within(DomainPolicy(*one))):
        assert all(map(both.permits, lets))
        assert not any(map(both.permits, keeps))
