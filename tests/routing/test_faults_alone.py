"""One provider ill in every way there is, and all of them at once: the whole `Web` over loopback."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from groundwire import Settings, Web
from groundwire.errors import AllProvidersFailed
from groundwire.models import Attempt
from groundwire.testing import InjectedFault
from world import World, wire_faults
from world.bombs import bomb_fault
from world.services.brave import Brave

NAMES = ("duckduckgo_lite", "brave", "tavily")
FOREVER = 600.0  # seconds; whoever waits for that long does not come to the end of a test

CERTAIN = (
    InjectedFault.status(202),
    InjectedFault.status(400),
    InjectedFault.status(401),
    InjectedFault.status(402),
    InjectedFault.status(403),
    InjectedFault.status(404),
    InjectedFault.status(429),
    InjectedFault.status(429, headers={"Retry-After": "7"}),
    InjectedFault.status(500),
    InjectedFault.status(503, headers={"Retry-After": "Wed, 21 Oct 2037 07:28:00 GMT"}),
    InjectedFault.redirect("https://elsewhere.example/"),
    InjectedFault.redirect("/lite/"),
    InjectedFault.close(),
    InjectedFault.reset(),
    InjectedFault.reset(0),
    InjectedFault.reset(100),
    InjectedFault.truncated(),
    wire_faults.wrong_length(),
    wire_faults.garbage(),
    InjectedFault.wrong_json(),
    InjectedFault.html_for_json(),
    InjectedFault.empty_body(),
    wire_faults.not_gzip(),
    bomb_fault("gzip", 20),
    wire_faults.endless(),
    wire_faults.endless_headers(),
)
"""The provider certainly failed: the next one is asked at once."""
SILENT = (
    InjectedFault.hang(),
    InjectedFault.delay(FOREVER),
    wire_faults.trickle(1.0),
    wire_faults.trickle_head(1.0),
)
"""Nothing shows that it failed: the next one is asked when it is late."""
CHANGED = {"reply"}  # not a fault but the way to make one


def made(world: World, **sections: dict[str, object]) -> Settings:
    services = [world.service(name) for name in NAMES]
    base: dict[str, dict[str, object]] = {
        "search": {"providers": NAMES, "timeout": FOREVER, "attempt_timeout": FOREVER},
        "session": {"max_searches": 0},
        "storage": {"url": "memory://"},
        "cache": {"enabled": False},
        "archive": {"enabled": False},
        "providers": {name: {"base_url": service.url} for name, service in zip(NAMES, services, strict=True)},
        "keys": {"BRAVE_API_KEY": "test-key", "TAVILY_API_KEY": "test-key"},
    }
    for name, values in sections.items():
        base[name] = base.get(name, {}) | values
    return Settings.model_validate(base)


def break_all(world: World, fault: InjectedFault) -> None:
    for name in NAMES:
        world.service(name).fail(fault, times=None)


def told_apart(fault: InjectedFault) -> str:
    return fault.label


def test_every_fault_of_the_miniature_web_is_here() -> None:
    known = {
        name
        for name, member in inspect.getmembers(InjectedFault, inspect.ismethod)
        if not name.startswith("_") and name not in CHANGED
    }
    functions = inspect.getmembers(wire_faults, inspect.isfunction)
    own = {name for name, function in functions if function.__module__ == wire_faults.__name__ and name[0] != "_"}
    known |= {"bomb", *own}
    assert known == {fault.label.partition("(")[0] for fault in (*CERTAIN, *SILENT)}


@pytest.mark.req("H2", "B1", "C5")
@pytest.mark.parametrize("fault", CERTAIN, ids=told_apart)
async def test_a_certain_failure_of_the_first_is_answered_by_the_second_at_once(
    world: World, fault: InjectedFault
) -> None:
    first, second = world.service("duckduckgo_lite"), world.service("brave")
    first.fail(fault, times=None)
    async with Web(
        made(world, search={"strategy": "fallback"})
    ) as web:  # no hedge helps over a failure that is not seen
        found = await web.search("search engines")
    assert (found.provider, bool(found.results), found.stale) == ("brave", True, False)
    failed = found.attempts[0]
    assert failed.provider == "duckduckgo_lite"
    assert failed.outcome not in {"ok", "partial", "empty", "timeout"}
    assert failed.reason
    assert len(second.requests) == 1


@pytest.mark.req("H2", "H9", "B14")
@pytest.mark.parametrize("fault", SILENT, ids=told_apart)
async def test_silence_of_the_first_is_answered_by_the_second_after_the_hedge_delay(
    world: World, fault: InjectedFault
) -> None:
    world.service("duckduckgo_lite").fail(fault, times=None)
    async with Web(made(world)) as web:
        found = await web.search("search engines")
    assert (found.provider, bool(found.results)) == ("brave", True)
    left = next(attempt for attempt in found.attempts if attempt.provider == "duckduckgo_lite")
    assert (left.outcome, left.abandoned) == ("timeout", True)


@pytest.mark.req("H2", "B1", "C5")
@pytest.mark.parametrize("fault", [*CERTAIN, *SILENT], ids=told_apart)
async def test_when_all_are_down_the_failure_names_each_within_the_deadline(world: World, fault: InjectedFault) -> None:
    break_all(world, fault)
    async with Web(made(world)) as web:
        with pytest.raises(AllProvidersFailed) as failure:
            await web.search("search engines", timeout=0.5)
    assert {attempt.provider for attempt in failure.value.attempts} == set(NAMES)
    assert all(attempt.outcome not in {"ok", "partial", "empty"} for attempt in failure.value.attempts)
    for attempt in failure.value.attempts:
        assert attempt.reason
        assert attempt.describe() in str(failure.value)


@pytest.mark.req("B13")
@pytest.mark.parametrize(
    "fault",
    [InjectedFault.status(500), InjectedFault.status(429), InjectedFault.hang(), InjectedFault.empty_body()],
    ids=told_apart,
)
async def test_when_all_are_down_the_archive_answers_and_says_when_it_saw_that(
    world: World, tmp_path: Path, fault: InjectedFault
) -> None:
    archive = {"enabled": True, "path": str(tmp_path / "archive.db")}
    async with Web(made(world, archive=archive)) as web:
        fresh = await web.search("search engines")
    break_all(world, fault)
    async with Web(made(world, archive=archive)) as web:
        found = await web.search("search engines", timeout=3)
        with pytest.raises(AllProvidersFailed):
            await web.search("zymurgy", timeout=3)
    assert (found.provider, found.stale) == ("archive", True)
    assert {row.url for row in found.results} <= {row.url for row in fresh.results}
    assert found.results
    assert all(row.published for row in found.results)
    assert [attempt.provider for attempt in found.attempts][-1] == "archive"
    assert {attempt.provider for attempt in found.attempts} == {*NAMES, "archive"}
    assert any("Web search unavailable" in warning for warning in found.warnings)


@pytest.mark.req("H2", "C5")
@pytest.mark.parametrize("strategy", ["hedge", "fallback"])
@pytest.mark.parametrize(
    "fault", [InjectedFault.status(500), InjectedFault.reset(), InjectedFault.html_for_json()], ids=told_apart
)
async def test_after_the_repair_the_next_search_is_answered_by_the_first(
    world: World, fault: InjectedFault, strategy: str
) -> None:
    first, second = world.service("duckduckgo_lite"), world.service("brave")
    assert isinstance(second, Brave)
    second.per_second = 1_000  # a plan that keeps nobody waiting
    async with Web(made(world, search={"strategy": strategy})) as web:
        first.fail(fault, times=2)
        for _ in range(2):
            assert (await web.search("search engines")).provider == "brave"
        asked = len(first.requests)
        assert (await web.search("search engines")).provider == "duckduckgo_lite"
        assert len(first.requests) == asked + 1


def test_a_long_pause_is_told_in_whole_seconds() -> None:
    attempt = Attempt(provider="tavily", outcome="rate_limited", reason="too many requests", retry_after=31_622_400.0)
    assert attempt.describe().endswith("too many requests (retry after 31,622,400 s)")
    assert attempt.model_copy(update={"retry_after": 0.25}).describe().endswith("(retry after 0.25 s)")
