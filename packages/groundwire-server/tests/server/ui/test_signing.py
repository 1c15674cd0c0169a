"""Signing in at the real gateway with real keys: who is shown what, and until when."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from components.browsing import browsing
from groundwire import Settings
from groundwire_server.api import build_gateway
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import KeyLimits, KeyRecord, make_key
from groundwire_server.ui.login_sessions import local_path
from groundwire_server.uvicorn_runner import serving


@dataclass
class House:
    """A gateway that asks for keys."""

    url: str
    file: KeyFile
    stack: AsyncExitStack = field(repr=False)

    def key(self, name: str, *, operator: bool = False, **limits: Any) -> tuple[str, KeyRecord]:
        """Make a key, and return it with its record."""
        key, record = make_key(name, datetime.now(UTC), operator=operator, limits=KeyLimits.model_validate(limits))
        self.file.add(record)
        return key, record

    async def browser(self, key: str = "") -> aiohttp.ClientSession:
        """Return a client with cookies, which has signed in if a key is given."""
        jar = aiohttp.CookieJar(unsafe=True)
        client = await self.stack.enter_async_context(aiohttp.ClientSession(self.url, cookie_jar=jar))
        if key:
            assert await self.sign_in(client, key) == 303
        return client

    async def sign_in(self, client: aiohttp.ClientSession, key: str, **headers: str) -> int:
        """Send the form; return the status."""
        sent = {"Origin": self.url, **headers}
        async with client.post("/sign-in", data={"key": key}, headers=sent, allow_redirects=False) as response:
            return response.status


@pytest.fixture
async def house(settings: Callable[..., Settings], tmp_path: Path) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        path = tmp_path / "keys.json"
        archive = {"enabled": True, "path": str(tmp_path / "archive.db")}
        limited = {"max_searches": 20}
        made = settings(
            server={"key_file": str(path), "require_key": True, "trusted_proxies": ["127.0.0.1"]},
            archive=archive,
            session=limited,
        )
        KeyFile(path).add(make_key("first", datetime.now(UTC))[1])
        gateway = await stack.enter_async_context(build_gateway(made))
        yield House(await stack.enter_async_context(serving(gateway)), KeyFile(path), stack)


async def read(client: aiohttp.ClientSession, path: str) -> str:
    async with client.get(path, allow_redirects=False) as response:
        return await response.text() if response.status == 200 else f"{response.status} {response.headers['Location']}"


async def test_nothing_is_shown_before_signing_in(house: House) -> None:
    client = await house.browser()
    for path in ("/", "/?q=ranking", "/page/suggestions?q=x"):
        assert (await read(client, path)).startswith("303 /sign-in?next=%2F")
    form = await read(client, "/sign-in?next=%2F%3Fq%3Dranking")
    assert 'name="next" value="/?q=ranking"' in form
    async with client.post("/session/new", headers={"Origin": house.url}, allow_redirects=False) as response:
        assert response.headers["Location"].startswith("/sign-in")


async def test_a_key_opens_the_page_and_is_nowhere_in_it(house: House) -> None:
    key, record = house.key("nightly")
    client = await house.browser()
    async with client.post(
        "/sign-in", data={"key": f" {key} ", "next": "/?q=bm25"}, headers={"Origin": house.url}, allow_redirects=False
    ) as response:
        assert (response.status, response.headers["Location"]) == (303, "/?q=bm25")
        assert response.headers["Cache-Control"] == "no-store"
        cookies = response.headers.getall("Set-Cookie")
    (cookie,) = [one for one in cookies if one.startswith("groundwire_sign_in=")]
    assert re.fullmatch(r"groundwire_sign_in=[\w-]{43}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict", cookie)
    text = await read(client, "/")
    assert '<span class="who" dir="auto">nightly</span>' in text
    assert key not in text + "".join(cookies)
    assert record.digest not in text + "".join(cookies)
    assert "3 results" in await read(client, "/?q=reciprocal+rank+fusion")


async def test_a_form_with_too_many_fields_is_refused(house: House) -> None:
    client, data = await house.browser(), {f"field{number}": "x" for number in range(21)}
    async with client.post("/sign-in", data=data, headers={"Origin": house.url}) as response:
        assert (response.status, "has more than 20 fields" in await response.text()) == (400, True)


async def test_a_cookie_over_tls_stays_on_tls(house: House) -> None:
    key, _ = house.key("tls")
    client = await house.browser()
    origin = house.url.replace("http://", "https://")  # a load balancer ends TLS
    for headers in ({"Origin": origin}, {"Origin": house.url, "X-Forwarded-Proto": "https"}):
        async with client.post("/sign-in", data={"key": key}, headers=headers, allow_redirects=False) as response:
            assert "; Secure" in next(one for one in response.headers.getall("Set-Cookie") if "sign_in" in one)


async def test_a_revoked_key_is_out_with_the_next_request(house: House) -> None:
    key, record = house.key("leaver")
    client = await house.browser(key)
    assert "leaver" in await read(client, "/")
    house.file.revoke(record.id, datetime.now(UTC))
    async with asyncio.timeout(100):  # the gateway looks at its file four times in a second
        while True:
            with suppress(aiohttp.ClientPayloadError):  # what was on its way is cut off
                if (await read(client, "/")).startswith("303 /sign-in"):
                    break
    assert await house.sign_in(client, key) == 403


async def test_signing_out_forgets_the_browser(house: House) -> None:
    key, _ = house.key("someone")
    client = await house.browser(key)
    old = {cookie.key: cookie.value for cookie in client.cookie_jar}["groundwire_sign_in"]
    async with client.post("/sign-out", headers={"Origin": house.url}, allow_redirects=False) as response:
        assert response.headers["Location"] == "/sign-in"
    thief = await house.browser()
    async with thief.get("/", headers={"Cookie": f"groundwire_sign_in={old}"}, allow_redirects=False) as response:
        assert response.status == 303


async def test_wrong_keys_are_told_and_slowed_down(house: House) -> None:
    client = await house.browser()
    wrong, _ = make_key("elsewhere", datetime.now(UTC))
    statuses = [await house.sign_in(client, key) for key in (wrong, "", "x", *[wrong] * 7)]
    while statuses[-1] == 403:  # on a busy machine, some more are allowed meanwhile
        statuses.append(await house.sign_in(client, wrong))
    assert (statuses[:10], statuses[-1]) == ([403] * 10, 429)
    assert (await read(client, "/")).startswith("303 /sign-in")
    assert await house.sign_in(client, house.key("right")[0]) == 303, "a right key has to wait for no wrong one"
    addresses = [f"2001:db8::{number}" for number in range(12)]
    statuses = [await house.sign_in(client, "x", **{"X-Forwarded-For": address}) for address in addresses]
    assert statuses == [403] * 10 + [429] * 2, "one subscriber has a /64"


async def test_the_form_must_be_ours(house: House) -> None:
    key, _ = house.key("victim")
    client = await house.browser()
    assert await house.sign_in(client, key, Origin="https://evil.test") == 403
    assert await house.sign_in(client, key, Origin="null") == 403


async def test_a_browser_gets_a_page_where_there_is_nothing_and_opens_no_endpoint(house: House) -> None:
    client, stranger = await house.browser(house.key("lost")[0]), await house.browser()
    page = {"Accept": "text/html,*/*;q=0.8", "Sec-Fetch-Mode": "navigate"}
    async with client.get("/nothing/here", headers=page) as response:
        assert (response.status, response.content_type) == (404, "text/html")
        assert "There is no page at this address" in await response.text()
    async with stranger.get("/nothing/here", headers=page, allow_redirects=False) as response:
        assert response.headers["Location"] == "/sign-in?next=%2Fnothing%2Fhere"
    for path in ("/v1/search?query=x", "/v1/nothing", "/metrics", "/tools"):
        async with client.get(path, headers={**page, "Accept": "application/json"}) as response:
            assert (response.status, response.content_type) == (401, "application/json")
    for path in ("/v1/search?query=x", "/search?q=x&format=json", "/metrics", "/openapi.json", "/v1/crawl", "/mcp"):
        async with client.get(path, headers=page) as response:
            assert response.status == (404 if path == "/v1/crawl" else 401), "a login opens the page, not the API"


async def test_suggestions_count_apart_from_what_a_key_asks(house: House) -> None:
    key, _ = house.key("typist", rate=1, burst=2)
    client = await house.browser(key)
    typed = [await client.get("/page/suggestions?q=a") for _ in range(20)]
    assert [response.status for response in typed] == [200] * 20
    while typed[-1].status == 200:  # on a busy machine, some more are allowed meanwhile
        typed.append(await client.get("/page/suggestions?q=a"))
    assert typed[-1].status == 429
    for path in ("/page/page.css", "/"):  # the files are everyone's
        async with client.get(path) as response:
            assert response.status == 200


async def test_tenants_see_only_what_is_theirs(house: House) -> None:
    alice = await house.browser(house.key("alice", calls_per_day=50)[0])
    bob = await house.browser(house.key("bob")[0])
    boss = await house.browser(house.key("boss", operator=True)[0])
    assert "3 results" in await read(alice, "/?q=reciprocal+rank+fusion")
    suggested = [await read(one, "/page/suggestions?q=recip") for one in (alice, bob, boss)]
    assert suggested == ['["reciprocal rank fusion"]', "[]", "[]"]


async def test_a_browsers_session_is_not_carried_to_another_tenant(house: House) -> None:
    alice = await house.browser(house.key("alice2")[0])
    assert "19 of 20 searches left" in await read(alice, "/?q=reciprocal+rank+fusion")
    mark = {cookie.key: cookie.value for cookie in alice.cookie_jar}["groundwire_session"]
    bob = await house.browser(house.key("bob2")[0])
    async with bob.get("/", cookies={"groundwire_session": mark}) as response:
        assert "This browser's session has made 0 of 20 searches" in await response.text()


@pytest.mark.parametrize(
    "text",
    ["//evil.test", "/\\evil.test", "https://evil.test/", "javascript:alert(1)", "/a\r\nSet-Cookie: x", "", "/é"],
)
def test_signing_in_leads_nowhere_else(text: str) -> None:
    assert local_path(text) == "/"
    assert local_path("/sign-out") == "/"
    assert local_path("/?q=ranking") == "/?q=ranking"


async def test_signing_in_with_a_browser(house: House) -> None:
    key, _ = house.key("person")
    async with browsing(house.url) as open_:
        look = await open_()
        await look.go("/?q=ranking")
        assert await look.text("h1") == "Sign in"
        await look.check_axe()
        look.refusals = True
        await look.submit("#key", "gw_wrong")
        assert "unknown or revoked" in await look.text("#problem")
        await look.check_axe()
        await look.submit("#key", key)
        assert look.page.url.endswith("/?q=ranking")
        assert "person" in await look.text(".who")
        assert await look.page.evaluate("document.cookie") == ""
        await look.follow("text=Sign out")
        assert await look.text("h1") == "Sign in"


async def test_coming_from_another_site(house: House) -> None:
    key, _ = house.key("reader")
    client = await house.browser(key)
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    async with client.get("/?q=ranking", headers=link) as response:
        assert "Another site sent you here" in await response.text()
    stranger = await house.browser()
    async with stranger.get("/?q=ranking", headers=link) as response:
        text = await response.text()
        assert response.url.path == "/sign-in"
        assert 'Already signed in? <a href="/?q=ranking">' in text
    async with stranger.get("/sign-in", headers={**link, "Sec-Fetch-Dest": "iframe"}) as response:
        assert response.status == 403
