"""Who may come in, by the name and the address of the server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from groundwire.errors import ConfigurationError
from groundwire.fair_queue import CURRENT_TENANT
from groundwire.settings import ServerSettings, Settings
from groundwire.storage import MemoryStore
from groundwire_server.api import build_mcp, build_proxy
from groundwire_server.auth import Access, Authenticator, Failures, KeyFile, check_listening, needs_key
from groundwire_server.auth.authentication import client_address
from groundwire_server.auth.keys import make_key
from groundwire_server.host_check import HostCheck, is_loopback


def names(host: str, *also: str) -> HostCheck:
    return HostCheck.of(host, also)


@pytest.mark.parametrize(
    ("names", "host", "origin", "fault"),
    [
        (names("127.0.0.1"), "127.0.0.1:8765", None, None),
        (names("127.0.0.1"), "localhost", "http://localhost:3000", "page"),
        (names("127.0.0.1"), "[::1]:8765", None, None),
        (names("127.0.0.1"), "evil.example", None, "name"),
        (names("127.0.0.1"), "10.0.0.1", None, "name"),
        (names("127.0.0.1"), None, None, "name"),
        (names("127.0.0.1"), "", None, "name"),
        (names("127.0.0.1"), "[", None, "name"),
        (names("127.0.0.1"), "localhost", "https://evil.example", "page"),
        (names("127.0.0.1"), "localhost", "null", "page"),
        (names("127.0.0.1"), "localhost", "", "page"),
        (names("127.0.0.1", "tools.example"), "TOOLS.example", "https://tools.example", None),
        (names("0.0.0.0"), "10.0.0.1:8765", None, None),
        (names("0.0.0.0"), "evil.example", None, "name"),
        (names("tools.example"), "tools.example", None, None),
    ],
)
def test_hosts_and_origins(names: HostCheck, host: str | None, origin: str | None, fault: str | None) -> None:
    assert names.judge(host, origin) == fault


def test_where_a_server_may_listen(tmp_path: Path) -> None:
    settings, keys = Settings(), KeyFile(tmp_path / "keys.json")
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        assert is_loopback(host)
        check_listening(settings, keys, host=host)
        assert not needs_key(settings.server, host)
    for host in ("0.0.0.0", "::", "10.0.0.1", "tools.example"):
        with pytest.raises(ConfigurationError, match="groundwire keys create NAME"):
            check_listening(settings, keys, host=host)
        assert needs_key(settings.server, host)


def test_a_proxy_that_takes_no_access_tokens_needs_a_key_even_where_there_are_issuers(tmp_path: Path) -> None:
    oauth = {"issuers": ["https://login.example"], "resource": "https://tools.example/mcp"}
    server = {"key_file": str(tmp_path / "keys.json"), "oauth": oauth}
    for host in ("127.0.0.1", "0.0.0.0"):
        with pytest.raises(ConfigurationError, match=r"takes no access tokens.* groundwire keys create NAME"):
            build_proxy("http://127.0.0.1:1/v1", Settings.model_validate({"server": server}), host=host)
    build_mcp(Settings.model_validate({"server": server}))
    for path in ("", "/v1", "/v1/chat", "/v1beta", "/api"):
        at = {"server": server | {"oauth": oauth | {"resource": f"https://tools.example{path}"}}}
        build_proxy("http://127.0.0.1:1/v1", Settings.model_validate(at))
    KeyFile(tmp_path / "keys.json").add(make_key("ci", datetime.now(UTC))[1])
    build_proxy("http://127.0.0.1:1/v1", Settings.model_validate({"server": server}))


async def test_clients_without_a_key_share_a_turn_with_all_addresses_of_their_network(tmp_path: Path) -> None:
    owners: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        owners.append(CURRENT_TENANT.get())
        await Response()(scope, receive, send)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        assert message.get("status", 200) == 200

    store = MemoryStore()
    checked = Authenticator(KeyFile(tmp_path / "keys.json"), must=False, failures=Failures(store))
    access = Access(app, ServerSettings(), checked, store)
    for address in ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"):
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/",
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        await access({**scope, "client": (address, 1)}, receive, send)
    assert owners == ["192.0.2.1", "192.0.2.2", "2001:db8::/64", "2001:db8::/64", "2001:db8:0:1::/64"]
    await access.aclose()


@pytest.mark.parametrize(
    ("trusted", "peer", "said", "client"),
    [
        (["10.0.0.0/8"], "10.0.0.9", [], "10.0.0.9"),
        (["10.0.0.0/8"], "10.0.0.9", [b"203.0.113.5"], "203.0.113.5"),
        (["10.0.0.0/8"], "10.0.0.9", [b"1.2.3.4, 203.0.113.5, 10.0.0.8"], "203.0.113.5"),
        (["10.0.0.0/8"], "10.0.0.9", [b"1.2.3.4", b"203.0.113.5"], "203.0.113.5"),
        (["10.0.0.0/8"], "10.0.0.9", [b"10.0.0.7"], "10.0.0.7"),
        (["10.0.0.0/8"], "10.0.0.1", [b"2001:db8::1, 10.0.0.2"], "2001:db8::1"),
        (["10.0.0.0/8"], "203.0.113.9", [b"1.2.3.4"], "203.0.113.9"),
        (["10.0.0.0/8"], "unix", [b"1.2.3.4"], "unix"),
        (["10.0.0.1"], "10.0.0.1", [b"1.2.3.4, 10.0.0.2"], "10.0.0.2"),
        (["10.0.0.0/8", "2001:db8::/32"], "2001:db8::9", [b"1.2.3.4"], "1.2.3.4"),
        ([], "10.0.0.9", [b"1.2.3.4"], "10.0.0.9"),
        (["10.0.0.0/8"], None, [b"1.2.3.4"], ""),
    ],
)
async def test_whose_word_on_the_client_is_believed(
    tmp_path: Path, trusted: list[str], peer: str | None, said: list[bytes], client: str
) -> None:
    clients: list[str] = []
    logged: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        clients.append(client_address(scope))
        await Response()(scope, receive, send)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        pass

    server = ServerSettings.model_validate({"trusted_proxies": trusted})
    store = MemoryStore()
    checked = Authenticator(KeyFile(tmp_path / "keys.json"), must=False, failures=Failures(store))
    access = Access(app, server, checked, store, count=lambda facts: logged.append(facts.client))
    headers = [(b"host", b"localhost"), *((b"x-forwarded-for", value) for value in said)]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}
    await access({**scope, "client": None if peer is None else (peer, 1)}, receive, send)
    assert (clients, logged) == ([client], [client])
    await access.aclose()
