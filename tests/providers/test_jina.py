"""Jina Reader's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from components.exchanges import answer, recorded
from components.services import offline, page_of
from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    GroundwireError,
    PageEmpty,
    PageError,
    PageNotFound,
    PageRefused,
    PageTooLarge,
    PageUnavailable,
    ProviderBlocked,
    ProviderTimeout,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.providers.jina import JinaReadProvider
from groundwire.providers.query_mapping import Mapped
from groundwire.transport import Response
from world import World
from world.services.jina import Jina

parse_page = partial(page_of, "jina")

Make = Callable[..., JinaReadProvider]
URL = "https://a.example/x"


def page(**data: Any) -> dict[str, Any]:
    whole = {"title": "A", "description": "", "url": URL, "content": "# A\n\ntext", "usage": {"tokens": 12}} | data
    return {"code": 200, "status": 20000, "data": whole, "meta": {"usage": {"tokens": 12}}}


def failure(number: int, message: str = "words", **more: Any) -> dict[str, Any]:
    return {
        "data": None,
        "code": number // 100,
        "status": number,
        "message": message,
        "readableMessage": message,
    } | more


class TestRecordings:
    @pytest.mark.req("Y6")
    def test_recorded_texts_read_as_they_should(self, recordings: Path) -> None:
        found = recorded(recordings, "jina_reader", "read_text*.json")
        refused = recorded(recordings, "jina_reader", "error_422__*.json")
        assert len(found) + len(refused) >= 3
        for one in (*found, *refused):
            url, text = one.url.removeprefix("https://r.jina.ai/"), one.reply.body.decode()
            if one.reply.status == 200 and "Warning: Target URL returned error" not in text:
                read = parse_page(one.reply, url)
                assert read.success
                assert read.title == text.partition("\n")[0].removeprefix("Title: ")
                assert read.content == text.partition("Markdown Content:\n")[2].strip()
                assert read.final_url == url
            else:
                with pytest.raises(PageError):
                    parse_page(one.reply, url)

    async def test_the_emulator_has_the_shape_of_the_recordings(self, recordings: Path, make: Make) -> None:
        [known] = recorded(recordings, "jina_reader", "error_422__01.json")
        ours = await make("").ask(Mapped({}), Response.json, method="GET", path="/https://nope.invalid/", deadline=None)
        assert {key: type(ours[key]) for key in known.body} == {key: type(value) for key, value in known.body.items()}


FAILURES: list[tuple[str, Response, type[GroundwireError]]] = [
    ("wrong key", answer(failure(40103), 401), AuthenticationFailed),
    ("key of an unverified account", answer(failure(40104), 401), AuthenticationFailed),
    ("balance", answer(failure(40203), 402), QuotaExceeded),
    ("credits", answer(failure(40201), 402), QuotaExceeded),
    ("too many requests", answer(failure(42903), 429), RateLimited),
    ("wrong parameter", answer(failure(40001), 400), RequestRefused),
    ("budget of tokens", answer(failure(40904), 409), RequestRefused),
    ("locked", answer(failure(40903), 409), ProviderUnavailable),
    ("malformed", answer(failure(42203), 422), RequestRefused),
    ("name", answer(failure(42203, "Domain 'nope.invalid' could not be resolved"), 422), PageUnavailable),
    ("name, as the source says it", answer(failure(40001, "Domain 'x' could not be resolved"), 400), PageUnavailable),
    ("no content", answer(failure(42206, "No content available for URL"), 422), PageUnavailable),
    ("file too large", answer(failure(41302), 413), PageTooLarge),
    ("blocked address", answer(failure(45102), 451), ProviderBlocked),
    ("harmful", answer(failure(45101), 451), ProviderBlocked),
    ("disabled", answer(failure(50301), 503), ProviderUnavailable),
    ("its own time", answer(b"", 524, "text/html"), ProviderUnavailable),
    ("gateway's time", answer(b"", 504, "text/html"), ProviderTimeout),
    ("redirect", answer(b"", 302, "text/html", Location="https://elsewhere.example/"), UnexpectedResponse),
    ("a failure within 200", answer(failure(42903)), RateLimited),
    ("web page", answer(b"<html>", 200, "text/html"), UnexpectedResponse),
    ("broken JSON", answer(b'{"data": {'), UnexpectedResponse),
    ("no data", answer({"code": 200, "status": 20000, "data": None}), UnexpectedResponse),
    ("content of another type", answer(page(content=["a"])), UnexpectedResponse),
    ("a list", answer([1]), UnexpectedResponse),
    ("nothing in it", answer(page(content=" \n ")), PageEmpty),
    ("no content key", answer({"data": {"title": "A"}}), PageEmpty),
    ("target 404", answer(page(warning="Target URL returned error 404: Not Found")), PageNotFound),
    ("target 410", answer(page(warning="Target URL returned error 410: Gone")), PageNotFound),
    ("target 403", answer(page(warning="Target URL returned error 403: Forbidden")), PageRefused),
    ("target 429", answer(page(warning="Target URL returned error 429: Too Many Requests")), PageRefused),
    ("target 500", answer(page(warning="Target URL returned error 500: Oh")), PageUnavailable),
    ("captcha", answer(page(warning="This page maybe requiring CAPTCHA, please make sure")), PageRefused),
    ("login", answer(page(warning="This page seems to want a login")), PageRefused),
    ("captcha before the status", answer(page(warning="CAPTCHA\nTarget URL returned error 404")), PageNotFound),
    ("text of a missing page", answer(b"Title: A\n\nURL Source: b\n\nWarning: Target URL returned error 404: N\n\n"
     b"Markdown Content:\nx", 200, "text/plain"), PageNotFound),
    ("text without content", answer(b"Title: A\n\nMarkdown Content:\n", 200, "text/plain"), PageEmpty),
]  # fmt: skip


class TestParse:
    @pytest.mark.req("B1", "Y6")
    @pytest.mark.parametrize(("reply", "error"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
    def test_each_failure_is_its_own_error(self, reply: Response, error: type[GroundwireError]) -> None:
        with pytest.raises(error) as caught:
            parse_page(reply, URL)
        assert type(caught.value) is error

    @pytest.mark.req("Y6")
    def test_a_page_is_read(self) -> None:
        data = page(publishedTime="Thu, 29 Oct 2026 08:00:00 GMT", metadata={"lang": "en-GB"}, title="A\n b ")
        read = parse_page(answer(data), "https://a.example/y")
        assert (read.success, read.url, read.final_url) == (True, "https://a.example/y", URL)
        assert (read.title, read.content, read.content_length) == ("A b", "# A\n\ntext", 9)
        assert (read.published, read.language, read.warnings) == ("2026-10-29T08:00:00+00:00", "en-GB", ())

    @pytest.mark.parametrize(
        ("said", "published"),
        [("2026-10-29", "2026-10-29"), ("2026-10-29T08:00Z", "2026-10-29T08:00Z"), ("last week", None), (7, None)],
    )
    def test_dates_are_iso_or_unknown(self, said: object, published: str | None) -> None:
        assert parse_page(answer(page(publishedTime=said)), URL).published == published

    def test_other_warnings_are_passed_on(self) -> None:
        read = parse_page(answer(page(warning="This is a cached snapshot.\n\nThe page is not yet fully loaded.")), URL)
        assert read.warnings == ("jina: This is a cached snapshot", "jina: The page is not yet fully loaded")

    def test_an_address_that_is_none_is_left_out(self) -> None:
        for address in ("javascript:alert(1)", "", None, 7, "https://user:pass@a.example/"):
            assert parse_page(answer(page(url=address)), URL).final_url == ""

    def test_the_plain_form_is_read_too(self) -> None:
        text = b"Title: A\n\nURL Source: https://a.example/x\n\nPublished Time: 2026-10-29\n\nMarkdown Content:\n# A\n"
        read = parse_page(answer(text, 200, "text/plain"), URL)
        assert (read.title, read.final_url, read.published, read.content) == ("A", URL, "2026-10-29", "# A")

    @pytest.mark.parametrize(
        ("headers", "more", "seconds"),
        [({"Retry-After": "17"}, {}, 17), ({}, {"retryAfter": 9}, 9), ({}, {"retryAfter": -1}, 0), ({}, {}, None)],
    )
    def test_a_refusal_says_when_to_ask_again(
        self, headers: Mapping[str, str], more: Mapping[str, Any], seconds: float | None
    ) -> None:
        with pytest.raises(RateLimited) as caught:
            parse_page(answer(failure(42903, **more), 429, **headers), URL)
        assert caught.value.retry_after == seconds


def test_where_the_address_goes() -> None:
    long = "https://a.example/" + "x" * 2_000
    for url, *wanted in (
        ("https://a.example/x?y=1", "GET", "/https://a.example/x?y=1", {}),
        ("https://a.example/#/x", "POST", "/", {"url": "https://a.example/#/x"}),
        (long, "POST", "/", {"url": long}),
    ):
        mapped = offline("jina").to_page_request(url, Deadline.after(9))
        assert [mapped.method, mapped.path, mapped.values] == wanted


class TestOnTheWire:
    @pytest.mark.req("Y6")
    async def test_it_reads_a_page(self, world: World, service: Jina, make: Make) -> None:
        url = world.site("articles").page("bm25")
        read = await make("").read_url(url, deadline=Deadline.after(20, lambda: 0.0))
        assert (read.success, read.title, read.url, read.final_url) == (True, "BM25", url, url)
        assert read.content.startswith("# BM25")
        assert read.published
        assert read.cost_usd == 0  # without a key it is free of charge
        [request] = service.requests
        assert (request.method, request.target) == ("GET", f"/{url}")
        sent = {name: request.headers[name] for name in ("Accept", "X-Timeout", "X-Retain-Images", "DNT")}
        assert sent == {"Accept": "application/json", "X-Timeout": "19", "X-Retain-Images": "none", "DNT": "1"}
        assert not {"Authorization", "X-Engine", "X-No-Cache", "X-Token-Budget"} & set(request.headers)

    @pytest.mark.req("Y6", "B1")
    async def test_a_key_goes_along_and_tokens_cost(self, world: World, service: Jina, make: Make) -> None:
        read = await make("test-key").read_url(world.site("articles").page("bm25"))
        assert service.requests[-1].headers["Authorization"] == "Bearer test-key"
        assert read.cost_usd == pytest.approx(len(read.content) // 4 * 0.00000005)
        assert read.cost_usd > 0

    async def test_an_address_with_a_fragment_is_posted(self, world: World, service: Jina, make: Make) -> None:
        url = world.site("articles").page("bm25") + "#scoring"
        assert (await make("").read_url(url)).success
        assert service.requests[-1].json() == {"url": url}

    async def test_no_address_climbs_out_of_the_path(self, world: World, service: Jina, make: Make) -> None:
        site = world.site("articles").url
        assert (await make("").read_url(f"{site}/wiki/../../../../wiki/bm25")).success
        assert service.requests[-1].target == f"/{site}/wiki/bm25"

    @pytest.mark.req("B10")
    async def test_a_secret_does_not_leave_the_house(self, service: Jina, make: Make) -> None:
        with pytest.raises(PageRefused, match="carries a password, key or token") as caught:
            await make("").read_url("https://a.example/?reset_token=canary-secret")
        assert "canary-secret" not in str(caught.value)
        assert service.requests == []

    @pytest.mark.req("Y6", "B1")
    async def test_the_page_s_own_failures_are_the_page_s(self, world: World, service: Jina, make: Make) -> None:
        asked = make("")
        with pytest.raises(PageNotFound) as missing:
            await asked.read_url(f"{world.site('articles').url}/wiki/nothing-here")
        assert missing.value.status == 404
        with pytest.raises(PageUnavailable, match="could not be resolved"):
            await asked.read_url("https://nope.invalid/")
        with pytest.raises(PageUnavailable, match="No content available"):
            await asked.read_url(world.site("app").page("empty"))
        service.captcha = True
        with pytest.raises(PageRefused, match="CAPTCHA"):
            await asked.read_url(world.site("articles").page("bm25"))

    async def test_what_it_refuses_and_what_it_warns_of(self, world: World, service: Jina, make: Make) -> None:
        asked, url = make(""), world.site("articles").page("bm25")
        service.cached = True
        assert (await asked.read_url(url)).warnings == ("jina: This is a cached snapshot of the original page",)
        service.refused_hosts = {"127.0.0.1"}
        with pytest.raises(ProviderBlocked):
            await asked.read_url(url)
        service.down = True
        with pytest.raises(ProviderUnavailable):
            await asked.read_url(url)


class TestEmulator:
    async def test_it_answers_in_text_to_whoever_takes_text(self, world: World, make: Make) -> None:
        url = world.site("articles").page("bm25")
        for accept, kind in {"application/json": "application/json", "*/*": "text/plain"}.items():
            taking = Mapped({}, headers={"Accept": accept})
            reply = await make("").ask(taking, lambda reply: reply, method="GET", path=f"/{url}", deadline=None)
            assert reply.media_type == kind
            assert parse_page(reply, url).title == "BM25"
        taking = Mapped({"url": url}, headers={"Accept": "text/plain"})
        reply = await make("").ask(taking, lambda reply: reply, method="POST", path="/", deadline=None)
        assert reply.body.startswith(b"Title: BM25\n\nURL Source: ")
