"""The Valkey store on a real Valkey: the suite of all stores, and what only a server can do to it."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from components.authority import Authority
from components.stampede import Upstream, ask_in_four_processes
from components.store_suite import FleetSuite, Stage, StoreSuite, worker
from components.valkey import Valkey
from groundwire import BudgetExceeded, Settings, Web
from groundwire.models import SearchResult
from groundwire.providers import Capabilities
from groundwire.storage import Count, ResilientStore, Store, StoreError, open_store
from groundwire.storage.base import Add, Get
from groundwire.storage.valkey import ValkeyStore
from world import World


class ServerStage:
    """Stores on a server, in the server's own time."""

    unit = 1.0

    def __init__(self, url: str) -> None:
        self._url = url
        self.opened: list[Store] = []

    def open(self) -> Store:
        self.opened.append(ValkeyStore(self._url, timeout=60))  # a busy machine takes its time
        return self.opened[-1]

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)  # the server's clock is nobody's to set

    def now(self) -> float:
        return time.time()


@pytest.fixture
def url(valkey_server: Valkey) -> Iterator[str]:
    """The URL of an empty server."""
    valkey_server.restart()
    valkey_server.flush()
    yield valkey_server.url
    valkey_server.restart()


class TestValkey(StoreSuite):
    @pytest.fixture
    async def stage(self, url: str) -> AsyncIterator[Stage]:
        stage = ServerStage(url)
        yield stage
        for store in stage.opened:
            await store.aclose()


class TestValkeyProcesses(FleetSuite):
    pass


@pytest.fixture
def redis_url(redis_server: Valkey) -> str:
    """The URL of an empty Redis."""
    redis_server.flush()
    return redis_server.url


class TestRedis(StoreSuite):
    @pytest.fixture
    async def stage(self, redis_url: str) -> AsyncIterator[Stage]:
        stage = ServerStage(redis_url)
        yield stage
        for store in stage.opened:
            await store.aclose()


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    yield server
    server.close()


@pytest.mark.req("B19", "B20")
@pytest.mark.parametrize("kind", ["valkey_server", "redis_server"])
def test_fifty_tasks_in_four_processes_cause_one_call(
    kind: str, upstream: Upstream, warm_python: Path, request: pytest.FixtureRequest
) -> None:
    server: Valkey = request.getfixturevalue(kind)
    server.restart()
    server.flush()
    answers = ask_in_four_processes(warm_python, server.url, f"{upstream.url}/page")
    assert upstream.asked == {"/page": 1}
    assert Counter((answer.value, answer.cached, answer.stale) for answer in answers) == {
        ("answer 1", False, False): 1,
        ("answer 1", True, False): 49,
    }


@pytest.mark.req("B5", "B20")
async def test_searching_and_reading_go_on_when_the_server_is_killed_in_mid_run(
    url: str,
    valkey_server: Valkey,
    world: World,
    settings: Callable[..., Settings],
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = settings(storage={"url": url}, cache={"enabled": True}, session={"id": "team", "max_searches": 4})
    async with Web(own) as web:
        assert (await web.search("bm25")).results
        assert (await web.open_page(world.site("articles").page("bm25"))).content
        valkey_server.stop()
        for words in ("reciprocal rank fusion", "bm25", "citations"):
            assert (await web.search(words)).results
            assert (await web.open_page(world.site("articles").page("bm25"))).content
        with pytest.raises(BudgetExceeded, match="4/4"):
            await web.search("one more than the session has")
        assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


@pytest.mark.req("B20")
async def test_a_server_that_is_stopped_and_comes_back(url: str, valkey_server: Valkey) -> None:
    store = open_store(url, timeout=20)
    await store.set("k", b"v", fresh=60)
    assert await store.count("c", 3, limit=5) == Count(True, 3)
    valkey_server.stop()
    assert await store.get("k") is None
    assert await store.count("c", 2, limit=5) == Count(True, 5)
    assert await store.count("c", 1, limit=5) == Count(False, 5)
    assert await store.lease("l", owner="one", ttl=60)
    valkey_server.restart()
    for _ in range(200):
        await store.count("other", 1)
        if valkey_server.command("EXISTS", "groundwire:c:c") == ":1":
            break
        await asyncio.sleep(0.05)  # the pause is the store's own and real
    assert await store.count("c", 0) == Count(True, 2)  # what was counted meanwhile; the server forgot the rest
    await store.aclose()


async def test_a_bare_store_says_that_the_server_is_gone_and_finds_it_again(url: str, valkey_server: Valkey) -> None:
    store = ValkeyStore(url, timeout=60)
    await store.count("c", 1)
    valkey_server.stop()
    with pytest.raises(StoreError, match="server of the store"):
        await store.count("c", 1)
    valkey_server.restart()
    assert await store.count("c", 1) == Count(True, 1)  # the scripts are sent anew
    await store.aclose()


@pytest.mark.req("B20")
async def test_a_restart_of_the_server_fails_one_call_and_not_one_for_each_connection(
    url: str, valkey_server: Valkey
) -> None:
    store = ValkeyStore(url, timeout=60)
    await asyncio.gather(*(store.count("c", 1) for _ in range(8)))
    valkey_server.stop()
    valkey_server.restart()
    with pytest.raises(StoreError, match="server of the store"):
        await store.count("c", 1)
    counts = await asyncio.gather(*(store.count("c", 1) for _ in range(8)))
    assert sorted(count.total for count in counts) == list(range(1, 9))
    await store.aclose()


@pytest.mark.req("B19")
async def test_the_lease_of_a_killed_process_runs_out(url: str) -> None:
    store = ValkeyStore(url, timeout=60)
    with worker("lease", url, "victim", "1.5") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "true\n"]
        process.kill()
        process.wait()
    assert not await store.lease("fleet", owner="other", ttl=60)
    for _ in range(200):
        if won := await store.lease("fleet", owner="other", ttl=60):
            break
        await asyncio.sleep(0.05)  # the server's clock is nobody's to set
    assert won
    await store.aclose()


async def test_a_password(url: str, valkey_server: Valkey) -> None:
    valkey_server.command("ACL", "SETUSER", "tester", "on", ">se/cret", "~*", "+@all")
    right = open_store(f"valkey://tester:se%2Fcret@127.0.0.1:{valkey_server.port}/3", timeout=20)
    assert await right.count("c", 1) == Count(True, 1)
    await right.aclose()
    assert valkey_server.command("EXISTS", "groundwire:c:c") == ":0"  # it is in database 3
    wrong = ValkeyStore(f"redis://tester:hunter2@127.0.0.1:{valkey_server.port}/3", timeout=60)
    with pytest.raises(StoreError) as caught:
        await wrong.get("k")
    assert "hunter2" not in str(caught.value)
    await wrong.aclose()
    valkey_server.command("ACL", "DELUSER", "tester")


async def test_tls(url: str, valkey_server: Valkey, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    authority = Authority(tmp_path)
    async with _relay(valkey_server.port, context=authority.context("localhost")) as port:
        trusting = open_store(f"valkeys://localhost:{port}/0?ssl_ca_certs={authority.ca_file}", timeout=20)
        assert await trusting.count("c", 1) == Count(True, 1)
        await trusting.aclose()
        assert valkey_server.command("GET", "groundwire:c:c") == "$1"
        assert not caplog.records
        wary = ValkeyStore(f"rediss://localhost:{port}/0", timeout=60)
        with pytest.raises(StoreError, match="certificate"):
            await wary.get("k")
        await wary.aclose()


@pytest.mark.req("B20")
async def test_a_connection_that_takes_longer_than_the_bound_is_used_when_it_stands(
    url: str, valkey_server: Valkey
) -> None:
    now, gate = [0.0], asyncio.Event()
    async with _relay(valkey_server.port, gate=gate) as port:
        server = ValkeyStore(f"redis://127.0.0.1:{port}/0", timeout=60)
        store = ResilientStore(server, bound=0.05, clock=lambda: now[0])
        assert await store.count("c", 1) == Count(True, 1)
        gate.set()
        assert await server.count("elsewhere", 1) == Count(True, 1)  # waits for the connection that was begun then
        for _ in range(100):  # a busy machine may need more than the bound once more
            now[0] += 100
            await store.count("c", 0)
            if not store.degraded:
                break
        assert await server.count("c", 0) == Count(True, 1)
        assert valkey_server.command("GET", "groundwire:c:elsewhere") == "$1"
        await store.aclose()


async def test_a_full_server_is_an_outage_of_writing_only(
    url: str, valkey_server: Valkey, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(url, timeout=20)
    await store.set("k", b"v", fresh=60)
    valkey_server.command("CONFIG", "SET", "maxmemory", "1")
    try:
        await store.set("new", b"v", fresh=60)
        assert await store.count("c", 1) == Count(True, 1)
        assert await store.get("new") is not None
        assert await store.get("k") is not None
    finally:
        valkey_server.command("CONFIG", "SET", "maxmemory", "0")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    await store.aclose()


async def test_a_server_that_has_become_a_replica_is_an_outage_of_writing_until_it_is_none(
    url: str, valkey_server: Valkey, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="groundwire.storage")
    store = open_store(url, timeout=20)

    async def search() -> float:
        await store.batch((Get("active", ends=True), Add("c", 0)))
        await store.lease("load", owner="me", ttl=3.0)
        return (await store.count("c", 1)).total

    assert sorted(await asyncio.gather(*(search() for _ in range(5)))) == [1, 2, 3, 4, 5]
    valkey_server.command("REPLICAOF", "127.0.0.1", "1")
    try:
        assert sorted(await asyncio.gather(*(search() for _ in range(5)))) == [6, 7, 8, 9, 10]
        assert sorted(await asyncio.gather(*(search() for _ in range(5)))) == [11, 12, 13, 14, 15]
        assert [record.levelname for record in caplog.records] == ["WARNING"]
    finally:
        valkey_server.command("REPLICAOF", "NO", "ONE")
    while isinstance(store, ResilientStore) and store.degraded:
        await store.set("k", b"v", fresh=60)
        await asyncio.sleep(0.01)
    assert await store.count("c", 1) == Count(True, 16)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    await store.aclose()


async def test_a_server_that_has_become_a_replica_is_looked_up_anew_as_another_may_have_its_address(
    url: str, valkey_server: Valkey
) -> None:
    received = "return tonumber(string.match(redis.call('INFO', 'stats'), 'total_connections_received:(%d+)'))"

    async def fail() -> int:
        with pytest.raises(StoreError, match="read only"):
            await store.count("c", 1)
        return int(valkey_server.command("EVAL", received, "0").removeprefix(":"))

    store = ValkeyStore(url, timeout=60)
    await store.count("c", 1)
    valkey_server.command("REPLICAOF", "127.0.0.1", "1")
    try:
        assert await fail() + 2 == await fail()  # with the connection that asks
    finally:
        valkey_server.command("REPLICAOF", "NO", "ONE")
    await store.aclose()


async def test_a_server_whose_clock_is_set_back_stops_no_pace(url: str, valkey_server: Valkey) -> None:
    valkey_server.command("SET", "groundwire:p:p", f"{(time.time() + 1_000) * 1_000_000:.0f}")
    valkey_server.command("SET", "groundwire:p:busy", f"{(time.time() + 800) * 1_000_000:.0f}")
    store = ValkeyStore(url, timeout=60)
    assert (await store.pace("p", interval=10, max_wait=0)).granted
    assert not (await store.pace("p", interval=10, max_wait=5)).granted
    assert not (await store.pace("busy", interval=10, max_wait=600)).granted
    await store.aclose()


async def test_what_another_program_keeps_under_our_names_is_no_value(url: str, valkey_server: Valkey) -> None:
    for kind in "ecp":
        valkey_server.command("SET", f"groundwire:{kind}:k", "x")
    store = ValkeyStore(url, timeout=60)
    assert await store.get("k") is None
    assert await store.count("k", 1) == Count(True, 1)
    assert (await store.pace("k", interval=1)).granted
    await store.aclose()


async def test_more_calls_than_connections(url: str) -> None:
    store = open_store(url, timeout=600)
    answers = await asyncio.gather(*(store.count("c", 1, limit=500) for _ in range(1_000)))
    assert sum(answer.granted for answer in answers) == 500
    await store.aclose()


@asynccontextmanager
async def _relay(
    port: int, *, context: ssl.SSLContext | None = None, gate: asyncio.Event | None = None
) -> AsyncIterator[int]:
    """A port that hands everything on to another port of loopback: through TLS, or when a gate is opened."""

    async def pipe(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                target.write(data)
                await target.drain()
        target.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if gate is not None:
            await gate.wait()
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pipe(reader, back), pipe(there, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    yield int(server.sockets[0].getsockname()[1])
    server.close()


class Distinct:
    """A provider whose results are others for each query."""

    name = "distinct"
    capabilities = Capabilities(search=True)

    async def search(self, query: str, **_: object) -> list[SearchResult]:
        return [
            SearchResult(title=f"{query} {row}", url=f"https://w{query}.test/{row}", snippet=f"{query} " * 40)
            for row in range(10)
        ]


@pytest.mark.req("B9", "B20")
async def test_a_search_is_two_exchanges_whatever_its_session_has_seen(
    settings: Callable[..., Settings], url: str, valkey_server: Valkey
) -> None:
    own = settings(
        storage={"url": url},
        session={"id": "team", "max_searches": 0},
        cache={"enabled": True},
        search={"timeout": 600},  # a busy machine refuses no call with so much time
    )
    exchanges, sizes = [], []
    async with Web(own, search_providers=[Distinct()]) as web:
        await web.search("999", limit=10)
        for first in (100, 200, 300):
            with valkey_server.searching() as sent:
                for number in range(first, first + 20):
                    found = await web.search(str(number), limit=10)
            exchanges.append(len(sent))
            sizes.append(sum(map(len, sent)) / 20)
        known = await web.sources(content=False)
    assert exchanges == [40, 40, 40]
    assert max(sizes) < 1.02 * min(sizes)
    assert found.results[-1].citation_id == len(known) == 610
