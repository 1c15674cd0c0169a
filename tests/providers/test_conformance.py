"""Every service's provider passes the checks that are there for anyone's provider."""

from __future__ import annotations

import asyncio

import pytest

from components.services import APIS, api_class
from groundwire.providers.base import load_prices
from groundwire.testing import InjectedFault, conformance
from groundwire.testing.conformance import CHECKS, Check, ProviderCase
from world import World
from world.services.brave import Brave

UNSEEN = {"wikipedia": frozenset({"language"}), "duckduckgo_lite": frozenset({"page"})}
"""The language is in the host's name; the second page needs more rows than "search" has."""

REFUSED_WITH_EVERYTHING = ("brave", "exa", "arxiv", "duckduckgo_lite", "parallel_free")
"""One of each kind: GET, POST, XML, HTML, MCP. The others get every body with every status in slow runs."""


def case(world: World, name: str) -> ProviderCase:
    provider, service = api_class(name), world.service(name)
    if isinstance(service, Brave):
        service.per_second = 1_000  # what is tested is not how long the next request waits
    prices = load_prices().get(name)
    cost = prices.cost("request") or prices.cost("credit", provider.search_credits) if prices else 0.0
    return ProviderCase(
        name=name,
        provider=provider,
        service=service,
        query="search",
        url=world.site("articles").page("bm25"),
        options={"delay": 0.0} if name == "arxiv" else {},
        keys=dict.fromkeys(provider.key_variables[:1], "test-key"),
        cost_usd=cost,
        unseen_filters=UNSEEN.get(name, frozenset()),
    )


def _marks(name: str, check: Check) -> list[pytest.MarkDecorator]:
    if check is conformance.no_refusal_is_an_answer and name not in REFUSED_WITH_EVERYTHING:
        return [pytest.mark.slow]
    return []


PAIRS = [
    pytest.param(name, check, id=f"{name}-{check.__name__}", marks=_marks(name, check))
    for name in APIS
    for check in CHECKS
]


@pytest.mark.req("B1", "B4", "Y5", "Y6", "Y7")
@pytest.mark.parametrize(("name", "check"), PAIRS)
def test_it_conforms(world: World, name: str, check: Check) -> None:
    check(case(world, name))


@pytest.mark.req("B1", "Y5")
@pytest.mark.parametrize("name", [name for name in APIS if name not in REFUSED_WITH_EVERYTHING])
def test_no_status_and_no_body_of_a_refusal_is_an_answer(world: World, name: str) -> None:
    """Each status once and each body twice; together the services get every body with every status."""
    refused, bodies, first = case(world, name), conformance._BODIES, APIS.index(name)

    async def ask() -> None:
        async with conformance._maker(refused) as make:
            for number, status in enumerate(conformance._STATUSES, first):
                body = bodies[number % len(bodies)]
                await conformance._failures(refused, make, InjectedFault.status(status, body))

    asyncio.run(ask())
