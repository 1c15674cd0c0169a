"""The official client signs in at an authorization server that it is told about, and uses MCP as its tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import httpx2
import pytest
from mcp import Client, ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from components import heavy
from components.authorization_server import AuthorizationServer
from components.mcp_processes import HELLO
from components.processes import ReservedPort
from groundwire import Settings
from groundwire_server.api import build_gateway
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import make_key
from groundwire_server.uvicorn_runner import serving
from world import World

pytestmark = pytest.mark.xdist_group(heavy.GROUP)  # to call a tool, the client imports jsonschema

MCP = {"Accept": "application/json, text/event-stream"}


class _Person:
    """What a client remembers, and a browser that follows it to the authorization server."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None
        self._client: OAuthClientInformationFull | None = None
        self._back: dict[str, list[str]] = {}

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info

    async def visit(self, url: str) -> None:
        async with aiohttp.ClientSession() as browser, browser.get(url, allow_redirects=False) as response:
            self._back = parse_qs(urlsplit(response.headers["location"]).query)

    async def come_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=self._back["code"][0], state=self._back["state"][0])


@asynccontextmanager
async def signed_in(url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield an HTTP client that gets a token when it is asked for one."""
    person = _Person()
    wanted = OAuthClientMetadata.model_validate({"redirect_uris": ["http://127.0.0.1:9/back"], "client_name": "test"})
    provider = OAuthClientProvider(url, wanted, person, person.visit, person.come_back)
    async with httpx2.AsyncClient(auth=provider, timeout=100) as client:
        yield client


@pytest.fixture
async def issuer() -> AsyncIterator[AuthorizationServer]:
    made = AuthorizationServer()
    async with serving(made.app) as made.url:
        yield made


@pytest.fixture
async def key() -> tuple[str, Any]:
    return make_key("ci", datetime.now(UTC))


@pytest.fixture
async def url(
    issuer: AuthorizationServer, settings: Callable[..., Settings], tmp_path: Path, key: tuple[str, Any]
) -> AsyncIterator[str]:
    """The URL of MCP, in a gateway that accepts the tokens of the authorization server and one key."""
    KeyFile(tmp_path / "keys.json").add(key[1])
    port = ReservedPort()
    resource = f"http://127.0.0.1:{port.number}/mcp"
    oauth = {"issuers": [issuer.url], "resource": resource, "scopes": ["web"]}
    made = settings(server={"oauth": oauth, "key_file": str(tmp_path / "keys.json")}, session={"max_searches": 1})
    async with build_gateway(made) as gateway, serving(gateway, port=port.number):
        yield resource


async def test_the_metadata_name_the_authorization_server(url: str, issuer: AuthorizationServer) -> None:
    root = url.removesuffix("/mcp")
    async with aiohttp.ClientSession() as client:
        for path in ("", "/mcp"):
            async with client.get(f"{root}/.well-known/oauth-protected-resource{path}") as response:
                assert response.status == 200
                assert await response.json() == {
                    "resource": url,
                    "authorization_servers": [issuer.url],
                    "scopes_supported": ["web"],
                    "bearer_methods_supported": ["header"],
                    "resource_name": "Groundwire",
                }


async def test_a_client_with_sessions_signs_in(url: str, issuer: AuthorizationServer, world: World) -> None:
    async with (
        signed_in(url) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        answers = [await session.call_tool("web_search", {"query": f"bm25 {number}"}) for number in range(2)]
    assert [answer.is_error for answer in answers] == [False, True]  # the budget of its session
    (asked,) = issuer.granted
    assert (asked["resource"], asked["scope"]) == (url, "web")


async def test_a_client_of_a_protocol_without_sessions_signs_in(url: str, issuer: AuthorizationServer) -> None:
    for subject in ("alice", "bob"):
        issuer.subject = subject
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(signed_in(url))
            client = await stack.enter_async_context(Client(streamable_http_client(url, http_client=http)))
            assert client.protocol_version >= "2026"
            answers = [await client.call_tool("web_search", {"query": "bm25"}) for _ in range(2)]
            assert [answer.is_error for answer in answers] == [False, True]  # each subject has a budget of its own


async def test_a_session_is_of_its_tenant(url: str, issuer: AuthorizationServer, key: tuple[str, Any]) -> None:
    async with aiohttp.ClientSession(headers=MCP) as client:

        async def post(token: str, **headers: str) -> tuple[int, str]:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"} if headers else HELLO
            more = {"Authorization": f"Bearer {token}", **headers}
            async with client.post(url, json=body, headers=more) as response:
                return response.status, response.headers.get("Mcp-Session-Id", "")

        alice, bob = (issuer.token(aud=url, scope="web", sub=name) for name in ("alice", "bob"))
        for owner, strangers in ((alice, (bob, key[0])), (key[0], (alice, bob))):
            status, session = await post(owner)
            assert status == 200
            for stranger in strangers:
                assert (await post(stranger, **{"Mcp-Session-Id": session}))[0] == 404
            assert (await post(owner, **{"Mcp-Session-Id": session}))[0] == 200
        renewed = issuer.token(aud=url, scope="web", sub="alice", iat=1)
        _, session = await post(alice)
        assert (await post(renewed, **{"Mcp-Session-Id": session}))[0] == 200


async def test_the_day_of_each_user_is_limited(
    issuer: AuthorizationServer, settings: Callable[..., Settings], tmp_path: Path, world: World
) -> None:
    port = ReservedPort()
    root = f"http://127.0.0.1:{port.number}"
    oauth = {"issuers": [issuer.url], "resource": root, "calls_per_day": 2, "usd_per_day": 5.0}
    made = settings(server={"oauth": oauth, "key_file": str(tmp_path / "keys.json")}, session={"max_searches": 0})
    async with build_gateway(made) as gateway, serving(gateway, port=port.number), aiohttp.ClientSession() as client:

        async def search(subject: str, **claims: Any) -> tuple[int, str]:
            headers = {"Authorization": f"Bearer {issuer.token(aud=root, sub=subject, **claims)}"}
            async with client.post(f"{root}/v1/search", json={"query": "bm25"}, headers=headers) as response:
                return response.status, response.headers.get("Retry-After", "")

        assert [(await search("alice"))[0] for _ in range(2)] == [200, 200]
        status, seconds = await search("alice", iat=1)  # a renewed token
        assert status == 402
        assert 0 < int(seconds) <= 86_400
        assert (await search("bob"))[0] == 200


@pytest.mark.parametrize("claims", [{"aud": "https://other.example/mcp"}, {"exp": 1}, {"iss": "https://evil.example"}])
async def test_nothing_is_searched_for_another_token(
    claims: dict[str, Any], url: str, issuer: AuthorizationServer, world: World
) -> None:
    token = issuer.token(**{"aud": url, "scope": "web"} | claims)
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=100) as http:
        with pytest.raises(ExceptionGroup):
            async with Client(streamable_http_client(url, http_client=http)) as client:
                await client.call_tool("web_search", {"query": "bm25"})
    assert world.searxng.requests == []
