"""Requests recorded against a server, then replayed without one."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groundwire.cassette import Cassette
from groundwire.cassette.format import unpack
from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedAddress,
    Closed,
    DeadlineExceeded,
    GroundwireError,
    HostNotFound,
    PageNotFound,
    PageTooLarge,
    PageUnavailable,
    ProviderTimeout,
    ProviderUnreachable,
)
from groundwire.testing import InjectedFault
from groundwire.transport import Head, Response, Transport
from world import World, wire_faults
from world.bombs import bomb_fault

Make = Callable[..., Transport]


def soon(seconds: float = 3.0) -> Deadline:
    return Deadline.after(seconds)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()[1:]]


async def search(transport: Transport, service: Any, query: str = "x", **options: Any) -> Response:
    options.setdefault("deadline", soon())
    return await transport.call("brave", "GET", f"{service.url}/search", params={"q": query}, **options)


async def outcome(work: Any) -> tuple[type[BaseException], str]:
    with pytest.raises(GroundwireError) as caught:
        await work
    return type(caught.value), str(caught.value)


class TestAnswers:
    @pytest.mark.req("B12")
    async def test_are_the_same_without_a_network(
        self, transport: Make, service: Any, world: World, tmp_path: Path, offline: Any
    ) -> None:
        path = tmp_path / "deep" / "x.jsonl"

        async def work(client: Transport) -> list[Any]:
            replies = [
                await search(client, service),
                await client.call("x", "POST", f"{service.url}/post", json_body={"b": 1, "a": "ä"}, deadline=soon()),
                await client.call("x", "POST", f"{service.url}/post", form={"q": "words"}, deadline=soon()),
                await client.fetch(f"{service.named_url}/page", deadline=soon()),
                await client.fetch(f"{service.url}/latin", deadline=soon()),
                await client.fetch(f"{service.url}/large", deadline=soon()),
                await client.fetch(f"{service.url}/nowhere", deadline=soon()),
            ]
            return [(one.url, one.status, one.content_type, one.start, one.body) for one in replies]

        recorded = await work(transport(Cassette.record(path)))
        world.stop()
        offline.cut = True
        cassette = Cassette.replay(path)
        assert await work(transport(cassette)) == recorded
        assert offline.tried == []
        assert cassette.missing == ()

    async def test_the_switch_of_these_tests_does_cut_the_line(
        self, transport: Make, service: Any, offline: Any
    ) -> None:
        offline.cut = True
        with pytest.raises(ProviderUnreachable):
            await search(transport(None), service)
        with pytest.raises(ConnectionError):
            socket.getaddrinfo("localhost", 80)
        assert "socket.getaddrinfo" in offline.tried
        assert "socket.connect" in offline.tried

    async def test_are_lines_that_a_person_can_read(self, transport: Make, service: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        client = transport(Cassette.record(path))
        await client.call(
            "x", "POST", f"{service.url}/post", json_body={"query": "größe"}, headers={"Accept": "*/*"}, deadline=soon()
        )
        await client.fetch(f"{service.url}/latin", deadline=soon())
        await client.fetch(f"{service.url}/large", deadline=soon())
        assert json.loads(path.read_text().splitlines()[0])["groundwire_cassette"] == 1
        post, latin, large = lines(path)
        assert post["request"] == {
            "method": "POST",
            "url": f"{service.url}/post",
            "json": {"query": "größe"},
            "headers": {"Accept": "*/*"},
        }
        assert post["response"]["status"] == 200
        assert json.loads(json.loads(post["response"]["text"])["got"]) == {"query": "größe"}
        assert "größe" in path.read_text()
        assert post["ms"] >= 0
        assert base64.b64decode(latin["response"]["base64"]) == b"Gr\xfc\xdfe"
        assert gzip.decompress(base64.b64decode(large["response"]["gzip"])).startswith(b"A line of a large page.")

    async def test_equal_requests_get_theirs_in_order_and_the_last_repeats(
        self, transport: Make, service: Any, tmp_path: Path
    ) -> None:
        path = tmp_path / "x.jsonl"
        recording = transport(Cassette.record(path))
        service.fail(InjectedFault.status(429, headers={"Retry-After": "7"}))
        first = [(await search(recording, service)).status for _ in range(2)]
        assert first == [429, 200]
        client = transport(Cassette.replay(path))
        replies = [await search(client, service) for _ in range(4)]
        assert [one.status for one in replies] == [429, 200, 200, 200]
        assert replies[0].headers["retry-after"] == "7"
        assert len(service.requests) == 2

    async def test_redirects_are_recorded_hop_by_hop_and_judged_again(
        self, transport: Make, service: Any, tmp_path: Path
    ) -> None:
        path = tmp_path / "x.jsonl"
        recorded = await transport(Cassette.record(path)).fetch(f"{service.url}/old", deadline=soon())
        assert [line["response"]["status"] for line in lines(path)] == [302, 302, 200]
        replayed = await transport(Cassette.replay(path)).fetch(f"{service.url}/old", deadline=soon())
        assert replayed.body == recorded.body
        assert service.key not in replayed.url
        text = path.read_text().replace('"Location": "/older"', '"Location": "http://127.0.0.1:9/"')
        path.write_text(text)
        with pytest.raises(BlockedAddress, match="redirects to an address that is not allowed"):
            await transport(Cassette.replay(path)).fetch(f"{service.url}/old", deadline=soon())

    async def test_many_at_once(self, transport: Make, service: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        recording = transport(Cassette.record(path))
        words = [f"word {number}" for number in range(30)]
        await asyncio.gather(*(search(recording, service, word) for word in words))
        assert len(lines(path)) == 30
        client = transport(Cassette.replay(path))
        replies = await asyncio.gather(*(search(client, service, word) for word in words))
        assert [one.json()["query"] for one in replies] == words


class TestFailures:
    @pytest.mark.req("B12")
    @pytest.mark.parametrize(
        "fault",
        [
            InjectedFault.hang(),
            InjectedFault.reset(),
            InjectedFault.truncated(),
            wire_faults.garbage(),
            wire_faults.not_gzip(),
            bomb_fault(mb=8),
        ],
        ids=["hang", "reset", "truncated", "garbage", "not gzip", "bomb"],
    )
    async def test_are_replayed_as_they_were(
        self, fault: InjectedFault, transport: Make, service: Any, world: World, tmp_path: Path
    ) -> None:
        path = tmp_path / "x.jsonl"
        service.fail(fault, times=None)
        client = transport(Cassette.record(path))
        page = f"{service.url}/page"
        recorded = [
            await outcome(search(client, service, deadline=soon(0.3))),
            await outcome(client.fetch(page, deadline=soon(0.3), cap=1_000_000)),
        ]
        world.stop()
        client = transport(Cassette.replay(path))
        assert recorded == [
            await outcome(search(client, service)),
            await outcome(client.fetch(page, deadline=soon(), cap=1_000_000)),
        ]
        for line in lines(path):
            assert "failure" in line
            assert len(unpack(line.get("response", {"status": 0})).body) <= 1_024

    async def test_a_refused_connection_and_a_name_that_leads_nowhere(
        self, transport: Make, service: Any, world: World, tmp_path: Path
    ) -> None:
        path = tmp_path / "x.jsonl"

        async def inside(host: str, port: int) -> list[str]:
            if host == "inside.example":
                return ["10.0.0.1"]
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        async def work(client: Transport) -> list[tuple[type[BaseException], str]]:
            return [
                await outcome(client.call("x", "GET", f"{world.closed_url}/", deadline=soon())),
                await outcome(client.fetch("https://nowhere.example/", deadline=soon())),
                await outcome(client.fetch("https://inside.example/", deadline=soon())),
            ]

        recorded = await work(transport(Cassette.record(path), resolver=inside))
        assert [kind for kind, _ in recorded] == [ProviderUnreachable, HostNotFound, BlockedAddress]
        assert await work(transport(Cassette.replay(path))) == recorded
        assert "10.0.0.1" not in path.read_text()

    async def test_a_page_that_its_reader_refuses(self, transport: Make, service: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"

        def refuse(head: Head) -> None:
            raise PageNotFound(head.url, f"gone: {head.status} {head.start[:7]!r}")

        page = f"{service.url}/large"
        recorded = await outcome(transport(Cassette.record(path)).fetch(page, deadline=soon(), inspect=refuse))
        assert await outcome(transport(Cassette.replay(path)).fetch(page, deadline=soon(), inspect=refuse)) == recorded
        with pytest.raises(PageUnavailable, match="was not read in full when the cassette was recorded"):
            await transport(Cassette.replay(path)).fetch(page, deadline=soon())

    async def test_a_smaller_cap_holds_in_replay(self, transport: Make, service: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        await transport(Cassette.record(path)).fetch(f"{service.url}/large", deadline=soon())
        with pytest.raises(PageTooLarge, match="has more than 5,000 bytes"):
            await transport(Cassette.replay(path)).fetch(f"{service.url}/large", deadline=soon(), cap=5_000)

    async def test_who_was_given_up_is_late_again(self, transport: Make, service: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        service.fail(InjectedFault.hang())
        task = asyncio.ensure_future(search(transport(Cassette.record(path)), service))
        await asyncio.to_thread(service.wait_for_requests, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ProviderTimeout):
            await search(transport(Cassette.replay(path)), service)

    async def test_deadlines_hold_and_a_closed_client_is_closed(
        self, transport: Make, service: Any, tmp_path: Path
    ) -> None:
        path = tmp_path / "x.jsonl"
        await search(transport(Cassette.record(path)), service)
        cassette = Cassette.replay(path)
        client = transport(cassette)
        with pytest.raises(ProviderTimeout):
            await search(client, service, deadline=soon(0.0))
        with pytest.raises(DeadlineExceeded):
            await client.fetch(f"{service.url}/search?q=x", deadline=soon(0.0))
        assert (await search(client, service)).status == 200
        await client.aclose()
        with pytest.raises(Closed):
            await search(client, service)


class TestUnknownRequests:
    @pytest.mark.req("B12")
    async def test_fail_with_what_to_do_and_never_reach_the_network(
        self, transport: Make, service: Any, tmp_path: Path, offline: Any
    ) -> None:
        path = tmp_path / "x.jsonl"
        await search(transport(Cassette.record(path)), service)
        cassette = Cassette.replay(path)
        client = transport(cassette)
        offline.cut = True
        with pytest.raises(ProviderUnreachable) as call:
            await search(client, service, "another")
        with pytest.raises(PageUnavailable) as fetch:
            await client.fetch("https://nowhere.example/page", deadline=soon())
        for error, address in ((call, f"GET {service.url}/search?q=another"), (fetch, "https://nowhere.example/page")):
            assert f"is not in the cassette {path} with this request" in str(error.value)
            assert address in str(error.value)
            assert "Record it again, with GROUNDWIRE_RECORD=FILE" in str(error.value)
        assert offline.tried == []
        assert cassette.missing == (f"GET {service.url}/search?q=another", "GET https://nowhere.example/page")

    async def test_the_guard_still_judges(self, transport: Make, service: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        await search(transport(Cassette.record(path)), service)
        with pytest.raises(BlockedAddress):
            await transport(Cassette.replay(path)).fetch("http://169.254.169.254/latest", deadline=soon())


class TestSecrets:
    @pytest.mark.req("B12")
    async def test_no_key_is_in_the_file(self, transport: Make, service: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        client, key, base = transport(Cassette.record(path)), service.key, f"{service.url}/refusing"
        user = base64.b64encode(f"user:{key}".encode()).decode()
        for name, value in (
            ("Authorization", f"Bearer {key}"),
            ("Authorization", f"Basic {user}"),
            ("X-API-KEY", key),
            ("X-Subscription-Token", key),
            ("Api-Subscription-Key", key),
            ("X-Anything-Else", key),
            ("Cookie", f"a=b; session={key}"),
        ):
            await client.call("x", "GET", base, headers={name: value}, params={"n": name}, deadline=soon())
        for params in ({"key": key}, {"api_key": key}, {"q": "x", "apiKey": key}, {"subscription-key": key}):
            await client.call("x", "GET", base, params=params, deadline=soon())
        body = {"api_key": key, "query": "x", "nested": [{"token": key, "url": f"https://a.example/?token={key}"}]}
        await client.call("x", "POST", base, json_body=body, deadline=soon())
        await client.call("x", "POST", base, form={"q": "x", "key": key}, deadline=soon())
        text = path.read_text()
        assert len(lines(path)) == 13
        for canary in (key, user, "abc123def456ghi789"):
            assert canary not in text
        assert '"Authorization": "***"' in text
        assert "api_key=***" in text
        assert "Invalid key ***" in lines(path)[0]["response"]["text"]
        assert lines(path)[0]["response"]["headers"]["Retry-After"] == "7"

    async def test_another_key_is_answered_alike(self, transport: Make, service: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"

        async def ask(client: Transport, key: str) -> int:
            headers = {"Authorization": f"Bearer {key}"}
            url = f"{service.url}/search"
            params = {"api_key": key, "q": f"about {key}"}
            return (await client.call("x", "GET", url, headers=headers, params=params, deadline=soon())).status

        await ask(transport(Cassette.record(path)), service.key)
        assert await ask(transport(Cassette.replay(path)), "no-key-at-all") == 200

    async def test_hidden_texts(self, transport: Make, service: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        cassette = Cassette.record(path)
        cassette.hide("my own words", "short")
        await search(transport(cassette), service, "my own words, not short")
        assert "words, not" not in path.read_text()
        assert lines(path)[0]["response"]["text"] == '{"asked": 1, "query": "***, not short"}'
