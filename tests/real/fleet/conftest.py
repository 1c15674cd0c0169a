"""Three gateways with one Valkey behind one HAProxy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from components.balancer import Balancer
from components.gateways import GatewayProcess
from components.needs import require
from components.valkey import Valkey
from world import World
from world.services.tavily import Tavily

LIMIT = 40
INTERVAL = 0.02

_SETTINGS = """
[search]
providers = ["tavily"]
# The usual strategy asks a provider again that has been silent for long; here one request is to be one call.
strategy = "fallback"
timeout = 60.0
attempt_timeout = 60.0
[session]
max_searches = {limit}
warning_threshold = {limit}
[storage]
url = "{store}"
# On a busy machine a store that is there may answer late; a gateway that counted alone meanwhile would break the sums.
timeout = 30.0
[providers.tavily]
base_url = "{tavily}"
delay = {interval}
"""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Everything of a fleet."""

    gateways: tuple[GatewayProcess, ...]
    """Its gateways, which the balancer calls gateway-1 to gateway-3."""
    balancer: Balancer
    """What stands before them."""
    valkey: Valkey
    """Their store."""
    tavily: Tavily
    """The provider that they ask."""
    limit: int = LIMIT
    """The searches of a session."""
    interval: float = INTERVAL
    """Seconds between two searches at the provider, all gateways together."""


@pytest.fixture(scope="module")
def _fleet(
    valkey_server: Valkey, warm_python: Path, tmp_path_factory: pytest.TempPathFactory, say: Callable[[str], None]
) -> Iterator[Fleet]:
    require("haproxy")
    folder = tmp_path_factory.mktemp("fleet")
    with World() as world:
        tavily = world.service("tavily")
        assert isinstance(tavily, Tavily)
        settings = folder / "groundwire.toml"
        settings.write_text(
            _SETTINGS.format(limit=LIMIT, store=valkey_server.url, tavily=tavily.url, interval=INTERVAL), "utf-8"
        )
        gateways = tuple(
            GatewayProcess(f"gateway-{n}", settings, _made(folder / str(n)), python=warm_python, notice=2)
            for n in (1, 2, 3)
        )
        say("starting three gateways (2 to 8 s)")
        balancer = None
        try:
            _all_up(gateways)
            balancer = Balancer([gateway.port for gateway in gateways], _made(folder / "balancer"))
            yield Fleet(gateways, balancer, valkey_server, tavily)
        finally:
            if balancer is not None:
                balancer.stop()
            for gateway in gateways:
                gateway.stop()


@pytest.fixture
def fleet(_fleet: Fleet) -> Fleet:
    """The fleet, with all its gateways at work and nothing counted yet."""
    _all_up(_fleet.gateways)
    _fleet.balancer.wait_until_up(3)
    _fleet.valkey.flush()
    _fleet.tavily.heal()
    _fleet.tavily.forget()
    return _fleet


def _all_up(gateways: tuple[GatewayProcess, ...]) -> None:
    for gateway in gateways:
        gateway.launch()
    for gateway in gateways:
        gateway.wait()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
