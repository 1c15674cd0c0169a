from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from components.hostile import BEHAVIORS, CAP, HostileServer
from groundwire.deadline import Deadline
from groundwire.errors import GroundwireError
from groundwire.reading.local import LocalReadProvider
from groundwire.safety.guard import Guard
from groundwire.transport import Transport

pytestmark = pytest.mark.req("B2", "Y15")
SECONDS = 1.0  # what ends a page that would not end
AHEAD = 1_000_000  # bytes that may be under way when the reader stops


@pytest.fixture
async def server() -> AsyncIterator[HostileServer]:
    async with HostileServer() as server:
        yield server
    assert server.faults == []


@pytest.fixture
async def reader(server: HostileServer) -> AsyncIterator[LocalReadProvider]:
    origin = server.origin
    transport = Transport(Guard(allowed_origins=(origin, origin.replace("http:", "https:"))))
    reader = LocalReadProvider(transport)
    yield reader
    await reader.aclose()
    await transport.aclose()


@pytest.mark.parametrize("name", BEHAVIORS)
async def test_every_misbehavior_ends_in_time_with_a_named_error_or_the_right_text(
    name: str, server: HostileServer, reader: LocalReadProvider
) -> None:
    outcomes = BEHAVIORS[name][1].split()
    seconds = SECONDS if "DeadlineExceeded" in outcomes else 60.0
    try:
        result = await reader.read_url(f"{server.origin}/{name}", deadline=Deadline.after(seconds))
    except GroundwireError as error:
        outcome, text = type(error).__name__, str(error)
    else:
        outcome = "text" if "The lighthouse keeper counts ships every eve" in result.content else "Heavy"
        text = result.content
    assert outcome in outcomes, text[:300]
    assert text.strip()
    await asyncio.sleep(0)
    assert server.sent.get(name, 0) <= CAP + AHEAD


async def test_a_server_without_tls_under_https_is_named(server: HostileServer, reader: LocalReadProvider) -> None:
    url = server.origin.replace("http:", "https:")
    with pytest.raises(GroundwireError, match="TLS"):
        await reader.read_url(f"{url}/right", deadline=Deadline.after(60))
