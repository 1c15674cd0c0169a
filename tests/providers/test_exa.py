"""Exa's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    MissingKey,
    PageError,
    PageNotFound,
    PageRefused,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.models import Filters
from groundwire.providers.base import ProviderContext
from groundwire.providers.exa import ExaOptions, ExaProvider, parse, parse_page, to_body
from groundwire.providers.keys import Keys
from groundwire.providers.prices import load_prices
from groundwire.routing.normalise import plain
from groundwire.safety.guard import Guard
from groundwire.settings import Settings
from groundwire.testing.services.exa import Exa
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

PAGE = "https://a.example/x"
CANARY = "canary-5f0c1e2d"


def answer(body: object, status: int = 200, **headers: str) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply("https://service.example/x", status, {"Content-Type": "application/json", **headers}, data[:64], data)


def service(world: World) -> Exa:
    found = world.service("exa")
    assert isinstance(found, Exa)
    return found


@asynccontextmanager
async def provider(world: World, *keys: str, options: ExaOptions | None = None) -> AsyncIterator[ExaProvider]:
    url = service(world).url
    transport = Transport(Guard(allow_origins=(url,)))
    yield ExaProvider(
        transport,
        keys=Keys("exa", [SecretStr(key) for key in keys]),
        base_url=url,
        prices=load_prices()["exa"],
        name="exa",
        options=options,
    )
    await transport.aclose()


def sent(world: World) -> dict[str, Any]:
    body = service(world).requests[-1].json()
    assert isinstance(body, dict)
    return body


def shape(values: list[Any]) -> Any:
    """Return what all the values have in common: keys that none lacks, and the types of their leaves."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, dict) for value in known):
        return {key: shape([value[key] for value in known]) for key in set.intersection(*map(set, known))}
    if known and all(isinstance(value, list) for value in known):
        return [shape([item for value in known for item in value])]
    return {float if type(value) is int else type(value) for value in known}


def fits(wanted: Any, value: Any) -> bool:
    """Whether a value has everything that a shape has."""
    if value is None or wanted == set():
        return True
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(key in value and fits(one, value[key]) for key, one in wanted.items())
    if isinstance(wanted, list):
        return isinstance(value, list) and all(fits(wanted[0], item) for item in value)
    return (float if type(value) is int else type(value)) in wanted


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in a JSON value with each of its keys."""
    if isinstance(value, (dict, list)):
        for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key
            yield from places(item)


JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["\ud800", "\x00", [], {}, [[]], [None], {"url": None}, 10**30])
)


@st.composite
def mutated(draw: st.DrawFn, body: Any) -> bytes:
    """Return a body of the service with some of its parts dropped or replaced, and sometimes cut off."""
    changed = {"body": copy.deepcopy(body)}
    for _ in range(draw(st.integers(0, 4))):
        spots = list(places(changed))
        holder, key = spots[draw(st.integers(0, len(spots) - 1))]
        if isinstance(holder, dict) and holder is not changed and draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = copy.deepcopy(draw(JUNK))
    data = json.dumps(changed["body"]).encode()
    return data if draw(st.integers(0, 4)) else data[: draw(st.integers(0, len(data)))]


@dataclass
class Clients:
    """The HTTP clients that a provider is made with."""

    api: Transport
    pages: Transport

    def operator(self, base_url: str) -> Transport:
        return self.api


OK = {
    "requestId": "r",
    "results": [
        {
            "id": PAGE,
            "url": PAGE,
            "title": "A",
            "score": 0.4,
            "publishedDate": "2026-10-30T00:00:00.000Z",
            "highlights": ["one", "two"],
            "summary": "s",
        },
        {"id": "b", "url": "https://b.example/", "title": None, "text": "t"},
    ],
    "costDollars": {"total": 0.007},
}
OK_PAGE = {
    "results": [{"id": PAGE, "url": PAGE, "title": "A", "text": "# A", "publishedDate": "2026-10-30T00:00:00.000Z"}],
    "statuses": [{"id": PAGE, "status": "success"}],
    "costDollars": {"total": 0.001},
}


class TestRecordings:
    @pytest.mark.req("Y5", "Y6")
    def test_every_recording_reads_as_expected(self, recordings: Path) -> None:
        expected = json.loads((recordings / "expected.json").read_text())
        seen = 0
        for path in sorted((recordings / "exa").glob("*.json")):
            want = expected.get(f"exa/{path.name}")
            if want is None:
                continue
            response = json.loads(path.read_text())["response"]
            reply = answer(response["body"], response["status"])
            seen += 1
            if not want["ok"]:
                with pytest.raises(ProviderError) as caught:
                    parse(reply)
                assert caught.value.status == want["status"]
            elif want["kind"] == "contents":
                page = parse_page(reply, want["results"][0]["url"])
                assert page.title == want["results"][0]["title"]
                assert page.content.startswith(want["results"][0]["snippet"])
            else:
                got = [(row.url, plain(row.title, 10**6), plain(row.snippet[:500], 10**6)) for row in parse(reply)]
                assert got == [
                    (row["url"], plain(row["title"], 10**6), plain(row["snippet"], 10**6)) for row in want["results"]
                ], path.name
        assert seen >= 10

    async def test_the_emulator_has_their_shape(self, recordings: Path, world: World) -> None:
        bodies: dict[str, list[Any]] = {"search": [], "contents": []}
        for path in sorted((recordings / "exa").glob("*.json")):
            recorded = json.loads(path.read_text())
            if recorded["kind"] in bodies:
                bodies[recorded["kind"]].append(recorded["response"]["body"])
        async with provider(world, "test-key") as exa:
            one = await exa.ask("POST", "/search", Reply.json, json_body={"query": "wikipedia"}, deadline=None)
            url = world.site("docs").page("api")
            two = await exa.ask("POST", "/contents", Reply.json, json_body={"urls": [url], "text": True}, deadline=None)
        assert one["results"]
        assert two["results"]
        assert fits(shape(bodies["search"]), one)
        assert fits(shape(bodies["contents"]), two)
        assert not fits(shape(bodies["search"]), {**one, "results": [{"url": PAGE}]})


class TestParse:
    def test_a_snippet_is_whatever_contents_came(self) -> None:
        first, second = parse(answer(OK))
        assert first.snippet == "one … two"
        assert (second.snippet, second.title) == ("t", "")
        assert parse(answer({"results": [{"url": PAGE, "summary": "s"}]}))[0].snippet == "s"

    def test_dates_are_kept_and_words_are_not_guessed(self) -> None:
        rows = [{"url": PAGE, "publishedDate": said} for said in ("2026-10-30T00:00:00.000Z", "last week", None)]
        found = parse(answer({"results": rows}))
        assert [row.published for row in found] == ["2026-10-30T00:00:00.000Z", None, None]
        assert [row.published_origin for row in found] == ["", "last week", ""]

    @pytest.mark.parametrize("tag", ["NO_MORE_CREDITS", "API_KEY_BUDGET_EXCEEDED"])
    def test_tags_of_money_are_a_quota(self, tag: str) -> None:
        with pytest.raises(QuotaExceeded, match="Add credits"):
            parse(answer({"requestId": "r", "error": "Said.", "tag": tag}, 402))

    def test_too_much_load_is_a_rate_limit_but_a_proxy_is_not(self) -> None:
        with pytest.raises(RateLimited):
            parse(answer({"error": "overloaded"}, 503))
        with pytest.raises(ProviderUnavailable):
            parse(answer(b"<html>", 503))

    def test_a_very_long_page_is_said_to_be_cut(self) -> None:
        page = parse_page(answer({"results": [{"url": PAGE, "text": "x" * 500_000}]}), PAGE)
        assert page.truncated


class TestTolerance:
    @given(mutated(OK), st.sampled_from([200, 200, 200, 400, 402, 429, 500]))
    def test_any_answer_to_a_search_gives_rows_or_a_provider_error(self, body: bytes, status: int) -> None:
        try:
            found = parse(answer(body, status))
        except ProviderError:
            return
        assert all(row.url for row in found)

    @given(mutated(OK_PAGE), st.sampled_from([200, 200, 200, 400, 402, 403, 500]))
    def test_any_answer_for_a_page_gives_content_or_an_error(self, body: bytes, status: int) -> None:
        try:
            page = parse_page(answer(body, status), PAGE)
        except (ProviderError, PageError):
            return
        assert page.success
        assert page.content.strip()
        assert page.model_dump_json()

    def test_half_of_a_surrogate_pair_does_not_get_into_a_page(self) -> None:
        body = json.dumps(OK_PAGE).replace('"# A"', '"# A \\ud83d \\u0000"')
        page = parse_page(answer(body.encode()), PAGE)
        assert page.content == "# A ? "
        assert page.model_dump_json()

    @given(st.binary(max_size=100), st.integers(100, 599))
    def test_any_bytes_give_an_error(self, body: bytes, status: int) -> None:
        for read in (parse, lambda reply: parse_page(reply, PAGE)):
            with pytest.raises((ProviderError, PageError)):
                read(answer(b"\xff" + body, status))


class TestBody:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "wanted", "applied"),
        [
            (Filters(), {"moderation": True}, {}),
            (Filters(safesearch="off"), {"moderation": False}, {}),
            (
                Filters(published_after=date(2026, 3, 1), published_before=date(2026, 4, 1)),
                {"startPublishedDate": "2026-03-01T00:00:00.000Z", "endPublishedDate": "2026-04-01T23:59:59.999Z"},
                {},
            ),
            (
                Filters(published_after=date(2099, 3, 1), time_range="d"),
                {"startPublishedDate": "2099-03-01T00:00:00.000Z"},
                {},
            ),
            (Filters(blocked_domains=("b.org",)), {"excludeDomains": ["b.org"]}, {}),
            (
                Filters(allowed_domains=("a.org",), blocked_domains=("b.a.org",)),
                {"includeDomains": ["a.org"]},
                {"blocked_domains": "post_filter"},
            ),
            (Filters(region="gb"), {"userLocation": "GB"}, {}),
        ],
    )
    def test_filters_are_mapped(self, filters: Filters, wanted: dict[str, Any], applied: dict[str, str]) -> None:
        mapped = to_body("words", 120, filters)
        usual = {
            "query": "words",
            "type": "auto",
            "numResults": 100,
            "contents": {"highlights": {"maxCharacters": 1_000}},
            "moderation": True,
        }
        assert mapped.values == usual | wanted
        assert mapped.applied == applied
        assert mapped.warnings == []

    def test_a_time_range_is_a_date(self) -> None:
        body = to_body("words", 5, Filters(time_range="w")).values
        age = datetime.now(UTC).date() - date.fromisoformat(body["startPublishedDate"][:10])
        assert 6 <= age.days <= 8

    def test_options_go_into_the_body(self) -> None:
        body = to_body("words", 5, Filters(), ExaOptions(type="fast", category="news")).values
        assert (body["type"], body["category"]) == ("fast", "news")


class TestOnTheWire:
    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, world: World) -> None:
        async with provider(world, "test-key") as exa:
            found = await exa.search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].snippet
        assert date.fromisoformat((found[0].published or "")[:10]) == world.today - timedelta(days=12)
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.007)
        assert service(world).requests[-1].headers["x-api-key"] == "test-key"

    @pytest.mark.req("B4")
    async def test_filters_are_honoured(self, world: World) -> None:
        filters = Filters(
            allowed_domains=("encyclopedia.test",), blocked_domains=("docs.test",), time_range="w", region="us"
        )
        async with provider(world, "test-key") as exa:
            found = await exa.search("search engines", filters=filters)
            assert sent(world)["includeDomains"] == ["encyclopedia.test"]
            other = await exa.search("search engines", filters=Filters(blocked_domains=("encyclopedia.test",)))
        assert found
        assert all("/wiki/" in row.url for row in found)
        assert all(date.fromisoformat((row.published or "")[:10]) >= world.today - timedelta(days=8) for row in found)
        assert found.applied == {"blocked_domains": "post_filter"}
        assert not any("/wiki/" in row.url for row in other)

    @pytest.mark.req("Y6")
    async def test_it_reads_a_page(self, world: World) -> None:
        url = world.site("docs").page("quickstart")
        async with provider(world, "test-key") as exa:
            page = await exa.read_url(url)
        assert page.success
        assert page.content.startswith("# ")
        assert page.title
        assert (page.final_url, page.content_length, page.truncated) == (url, len(page.content), False)
        assert page.cost_usd == pytest.approx(0.001)

    @pytest.mark.req("Y6")
    async def test_a_dead_page_is_an_error(self, world: World) -> None:
        async with provider(world, "test-key") as exa:
            with pytest.raises(PageNotFound, match="CRAWL_NOT_FOUND"):
                await exa.read_url(world.site("docs").url + "/nowhere")
        with pytest.raises(PageRefused):
            parse_page(answer({"statuses": [{"status": "error", "error": {"httpStatusCode": 403}}]}), PAGE)

    @pytest.mark.req("B1")
    async def test_a_wrong_key_is_named_as_such(self, world: World) -> None:
        async with provider(world, "wrong") as exa:
            with pytest.raises(AuthenticationFailed):
                await exa.search("x")

    @pytest.mark.req("B1")
    async def test_a_wrong_request_is_told_from_a_wrong_key(self, world: World) -> None:
        async with provider(world, "test-key") as exa:
            with pytest.raises(RequestRefused, match="query is missing"):
                await exa.search(" ")

    @pytest.mark.req("B1")
    async def test_its_limits_say_when_to_come_back(self, world: World) -> None:
        service(world).retry_after = "3"
        async with provider(world, "test-key") as exa:
            with pytest.raises(RateLimited) as caught:
                await exa.search("x")
            assert caught.value.retry_after == 3
        service(world).overloaded = True
        async with provider(world, "test-key") as exa:
            with pytest.raises(RateLimited, match="overloaded"):
                await exa.search("x")

    @pytest.mark.req("B16")
    async def test_the_second_key_takes_over(self, world: World) -> None:
        service(world).keys = {"one", "two"}
        service(world).calls_left = {"one": 1}
        async with provider(world, "one", "two") as exa:
            for _ in range(3):
                assert await exa.search("wikipedia")
        assert [request.headers["x-api-key"] for request in service(world).requests] == ["one", "one", "two", "two"]

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            (Fault.status(500), ProviderUnavailable),
            (Fault.reset(), ProviderUnreachable),
            (Fault.wrong_json(), UnexpectedResponse),
            (Fault.html_for_json(), UnexpectedResponse),
            (Fault.empty_body(), UnexpectedResponse),
            (Fault.redirect("http://169.254.169.254/"), UnexpectedResponse),
            (Fault.hang(), ProviderTimeout),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else "",
    )
    async def test_each_fault_has_its_outcome(self, world: World, fault: Fault, error: type[ProviderError]) -> None:
        service(world).fail(fault, times=None)
        async with provider(world, "test-key") as exa:
            with pytest.raises(ProviderError) as caught:
                await exa.search("x", deadline=Deadline.after(0.7))
            assert type(caught.value) is error
            with pytest.raises(ProviderError) as caught:
                await exa.read_url(PAGE, deadline=Deadline.after(0.7))
            assert type(caught.value) is error

    async def test_what_the_service_says_that_it_cost_counts(self, world: World) -> None:
        service(world).fail(Fault.status(200, json.dumps(OK | {"costDollars": {"total": 0.015}})))
        service(world).fail(Fault.status(200, json.dumps(OK_PAGE | {"costDollars": {"total": 0.002}})))
        async with provider(world, "test-key") as exa:
            found = await exa.search("x")
            page = await exa.read_url(PAGE)
        assert found.cost_usd == pytest.approx(0.015)
        assert page.cost_usd == pytest.approx(0.002)

    @pytest.mark.parametrize(
        ("path", "body", "status"),
        [
            ("/nowhere", {}, 404),
            ("/search", [], 400),
            ("/search", {"query": "x", "numResults": 101}, 400),
            ("/search", {"query": "x", "type": "magic"}, 400),
            ("/search", {"query": "x", "highlights": True}, 400),
            ("/search", {"query": "x", "startPublishedDate": "soon"}, 400),
            ("/search", {"query": "x", "userLocation": "Germany"}, 400),
            ("/contents", {"urls": ["x"]}, 400),
        ],
    )
    async def test_the_emulator_refuses_what_the_service_refuses(
        self, world: World, path: str, body: object, status: int
    ) -> None:
        async with provider(world, "test-key") as exa:
            got = await exa.ask("POST", path, lambda reply: reply.status, json_body=body, deadline=None)
        assert got == status

    @pytest.mark.req("Y7")
    async def test_a_key_stays_out_of_sight(self, world: World) -> None:
        service(world).keys = {CANARY}
        async with provider(world, CANARY) as exa:
            found = await exa.search("wikipedia")
            service(world).keys = set()
            with pytest.raises(AuthenticationFailed) as caught:
                await exa.search("wikipedia")
            seen = repr(exa) + repr(vars(exa)) + repr(found) + repr(caught.value) + str(caught.value)
        assert CANARY not in seen + "".join(request.target for request in service(world).requests)

    async def test_without_a_key_it_names_the_variable(self, world: World) -> None:
        transport = Transport(Guard(allow_origins=(service(world).url,)))
        with pytest.raises(MissingKey, match="EXA_API_KEY"):
            ExaProvider.create(ProviderContext("exa", Settings(), Clients(transport, transport), {}))
        settings = Settings.model_validate({"keys": {"EXA_API_KEY": "wrong, test-key"}})
        context = ProviderContext("exa", settings, Clients(transport, transport), {"base_url": service(world).url})
        assert await ExaProvider.create(context).search("wikipedia")
        await transport.aclose()
