"""What a search sends to a real Valkey, counted by the server: round trips and bytes."""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.valkey import Valkey
from groundwire import Capabilities, SearchResult, Settings, Web
from groundwire.storage.base import Get
from groundwire.storage.valkey import ValkeyStore

_TRIPS, _SENT = 2, 4_096  # round trips of a search, and its bytes at most
_BEFORE, _MEASURED = 30, 100  # searches


class _Different:
    """A provider that never returns a page twice, with snippets of the usual length."""

    name = "different"
    capabilities = Capabilities(search=True)

    def __init__(self) -> None:
        self._numbers = itertools.count()

    async def search(self, query: str, **options: Any) -> Sequence[SearchResult]:
        words = " ".join(f"word{one} of {query}" for one in range(12))
        numbers = itertools.islice(self._numbers, 10)
        return [
            SearchResult(title=f"Page {one}", url=f"https://w{one}.example/docs", snippet=f"{one} {words}")
            for one in numbers
        ]


def _info(server: Valkey, section: str) -> dict[str, str]:
    """Return what the server tells of itself."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"INFO {section}\r\n".encode())
        with connection.makefile("rb") as answer:
            size = int(answer.readline()[1:])
            text = answer.read(size).decode()
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def _counted(server: Valkey) -> tuple[int, int]:
    """Return how many scripts the server ran, each a round trip, and how many bytes it received."""
    stats = _info(server, "commandstats")
    scripts = int(stats["cmdstat_evalsha"].split("calls=")[1].split(",")[0]) if "cmdstat_evalsha" in stats else 0
    return scripts, int(_info(server, "stats")["total_net_input_bytes"])


async def test_connections_open_without_commands_of_their_own(valkey_server: Valkey) -> None:
    valkey_server.restart()
    valkey_server.flush()
    store = ValkeyStore(valkey_server.url, timeout=60)
    before, (scripts, _) = _info(valkey_server, "commandstats"), _counted(valkey_server)
    for _ in range(2):
        await asyncio.gather(*(store.batch((Get(f"key {number}"),)) for number in range(40)))
    opened = int(_info(valkey_server, "clients")["connected_clients"])
    told = {name for name, value in _info(valkey_server, "commandstats").items() if value != before.get(name)}
    scripts_now, _ = _counted(valkey_server)
    await store.aclose()
    assert opened > 20
    assert told - {"cmdstat_info"} == {"cmdstat_evalsha", "cmdstat_script|load", "cmdstat_get"}
    assert scripts_now - scripts == 80, "no call finds the script missing"


async def test_a_search_takes_two_round_trips_and_four_kilobytes(valkey_server: Valkey, tmp_path: Path) -> None:
    valkey_server.restart()
    valkey_server.flush()
    settings = Settings(
        storage={"url": valkey_server.url},  # type: ignore[arg-type]  # as a user may write it
        session={"id": "named", "max_searches": 1_000},  # type: ignore[arg-type]
        archive={"path": str(tmp_path / "archive.db")},  # type: ignore[arg-type]
    )
    async with Web(settings, search_providers=[_Different()]) as web:
        for number in range(_BEFORE):
            await web.search(f"query {number}", limit=10)
        _, sent = _counted(valkey_server)
        with valkey_server.searching() as exchanges:
            for number in range(_MEASURED):
                found = await web.search(f"question {number}", limit=10)
        assert found[-1].citation_id == 10 * (_BEFORE + _MEASURED)
        _, sent_now = _counted(valkey_server)
    assert len(exchanges) == _TRIPS * _MEASURED
    assert (sent_now - sent) / _MEASURED <= _SENT
