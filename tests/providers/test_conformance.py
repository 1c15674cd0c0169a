"""Every service's provider passes the checks that are there for anyone's provider."""

from __future__ import annotations

import pytest

from components.services import APIS, api_class
from groundwire.providers.base import load_prices
from groundwire.testing.conformance import CHECKS, Check, ProviderCase
from world import World

UNSEEN = {"wikipedia": frozenset({"language"}), "duckduckgo_lite": frozenset({"page"})}
"""The language is in the host's name; the second page needs more rows than "search" has."""


@pytest.mark.req("B1", "B4", "Y5", "Y6", "Y7")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", APIS)
def test_it_conforms(world: World, name: str, check: Check) -> None:
    provider = api_class(name)
    prices = load_prices().get(name)
    cost = prices.cost("request") or prices.cost("credit", provider.search_credits) if prices else 0.0
    check(
        ProviderCase(
            name=name,
            provider=provider,
            service=world.service(name),
            query="search",
            url=world.site("articles").page("bm25"),
            keys=dict.fromkeys(provider.key_variables[:1], "test-key"),
            cost_usd=cost,
            unseen_filters=UNSEEN.get(name, frozenset()),
        )
    )
