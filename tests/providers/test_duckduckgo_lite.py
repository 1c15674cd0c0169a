"""DuckDuckGo's simple pages: recorded ones, built ones, and those of the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.exchanges import answer as answer_of
from components.exchanges import recorded, texts
from components.services import request_of
from groundwire.errors import (
    ProviderBlocked,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
    UnprovenEmpty,
)
from groundwire.models import Applied, Filters, Results
from groundwire.providers.duckduckgo_lite import DuckDuckGoLiteOptions, DuckDuckGoLiteSearchProvider, neutralize
from groundwire.providers.duckduckgo_page import document, next_fields, parse
from groundwire.routing.result_merging import plain
from groundwire.safety.guard import Guard
from groundwire.testing import InjectedFault
from groundwire.transport import Response, Transport
from world.services.duckduckgo_lite import DuckDuckGoLite

to_form = partial(request_of, "duckduckgo_lite")

Make = Callable[..., DuckDuckGoLiteSearchProvider]
LONG = 10**6  # characters, for titles and snippets that are compared whole


def answer(text: str | bytes, status: int = 200, **headers: str) -> Response:
    body = text if isinstance(text, bytes) else text.encode()
    return answer_of(body, status, "text/html", url="https://lite.duckduckgo.com/lite/", **headers)


def lite(href: str, title: str = "A", snippet: str = "s", row: str = "") -> str:
    return (
        f"<tr{row}><td>1.</td><td><a rel='nofollow' href=\"{href}\" class='result-link'>{title}</a></td></tr>"
        f"<tr{row}><td></td><td class='result-snippet'>{snippet}</td></tr>"
    )


def html(href: str, title: str = "A", snippet: str = "s", kind: str = "web-result") -> str:
    return (
        f'<div class="result results_links {kind}"><div class="result__body"><h2 class="result__title">'
        f'<a class="result__a" href="{href}">{title}</a></h2><a class="result__snippet" href="{href}">{snippet}</a>'
        "</div></div>"
    )


SEARCH_FORM = '<form action="/lite/" method="post"><input name="q" value="x"></form>'
PUZZLE = '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html"></form>'


class TestRecordings:
    @pytest.mark.req("C3", "Y5")
    def test_every_recording_reads_as_expected(self, recordings: Path) -> None:
        found = recorded(recordings, "duckduckgo")
        assert len(found) >= 7
        for one in found:
            want = one.want or {"ok": False}
            if not want["ok"]:
                with pytest.raises(ProviderError) as caught:
                    parse(one.reply)
                usual = "ProviderBlocked" if want.get("blocked") else "UnexpectedResponse"
                assert type(caught.value).__name__ == want.get("error", usual), one.name
                continue
            rows = parse(one.reply)
            assert all(plain(row.snippet, LONG) for row in rows), one.name
            wanted = [
                {"snippet": row.snippet} | said for row, said in zip(rows, want["results"], strict=True)
            ]  # not of every row the snippet was noted
            assert texts(rows) == texts(wanted), one.name

    def test_the_miniature_pages_have_their_make(self, recordings: Path, service: DuckDuckGoLite) -> None:
        """What the parser holds on to stands in the same places: form, selects, links, snippets, the way onwards."""
        for kind, name in (("lite", "lite__01.json"), ("html", "html__04.json")):
            [known] = recorded(recordings, "duckduckgo", name)
            ours = service._results(kind, "search page the a results query", {}, 0).body
            assert shape(ours) == shape(known.reply.body), kind


def shape(body: bytes) -> dict[str, Any]:
    page = document(body)
    link = page.xpath("//a[@class='result__a' or @class='result-link']")[0]
    snippet = page.xpath("//*[@class='result__snippet' or @class='result-snippet']")[0]
    path = [(element.tag, element.get("class")) for element in (*list(link.iterancestors())[:4], snippet)]
    return {
        "path": path,
        "wrapped": link.get("href").partition("uddg=")[0],
        "selects": [select.get("name") for select in page.xpath("//form[1]//select")],
        "onwards": sorted(next_fields(page)),
    }


class TestParse:
    @pytest.mark.req("C3")
    @pytest.mark.parametrize("make", [lite, html])
    @pytest.mark.parametrize(
        ("href", "url"),
        [
            ("https://a.example/x?a=1&amp;b=2", "https://a.example/x?a=1&b=2"),
            ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F%3Fq%3D1%2B2%26c%3D%2525&amp;rut=1", "https://a.example/?q=1+2&c=%25"),
            ("/l/?kh=-1&amp;uddg=https%3A%2F%2Fa.example%2F", "https://a.example/"),
            ("//duckduckgo.com/l/?uddg=%2F%2Fduckduckgo.com%2Fl%2F%3Fuddg%3Dhttps%253A%252F%252Fa.example", "https://a.example"),
            ("https://duckduckgo.com/about", "https://duckduckgo.com/about"),
        ],
    )  # fmt: skip
    def test_wrapped_links_are_decoded(self, make: Any, href: str, url: str) -> None:
        assert [row.url for row in parse(answer(make(href)))] == [url]

    @pytest.mark.req("C3")
    @pytest.mark.parametrize(
        "advertisement",
        [
            lite("https://duckduckgo.com/y.js?ad_domain=shop.example"),
            lite("//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dshop.example"),
            lite("https://www.bing.com/aclick?ld=1"),
            lite("https://shop.example/", row=" class='result-sponsored'"),
            lite("https://shop.example/") + "<tr><td></td><td><span>Sponsored link</span></td></tr>",
            html("https://shop.example/", kind="result--ad"),
            html("https://shop.example/").replace("</h2>", '<button class="badge--ad">Ad</button></h2>'),
            lite("javascript:alert(1)") + lite("ftp://a.example/") + lite("") + lite("//duckduckgo.com/l/?rut=1"),
            lite("http://[broken/") + lite("mailto:a@a.example"),
        ],
    )
    def test_advertisements_are_dropped(self, advertisement: str) -> None:
        found = parse(answer(advertisement + lite("https://a.example/", snippet="mine")))
        assert [(row.url, row.snippet) for row in found] == [("https://a.example/", "mine")]

    def test_text_about_advertisements_is_none(self) -> None:
        found = parse(answer(lite("https://a.example/", "Ad", "<b>Ad</b> or <b>Sponsored</b>: what the law says")))
        assert [plain(row.title, LONG) for row in found] == ["Ad"]

    def test_titles_and_snippets_keep_their_markup_for_whoever_cleans_them(self) -> None:
        [row] = parse(answer(lite("https://a.example/", "The &lt;b&gt; <b>tag</b>", "A &amp; <b>B</b> &amp; C")))
        assert (row.title, row.snippet) == ("The &lt;b&gt; <b>tag</b>", "A &amp; <b>B</b> &amp; C")
        assert (plain(row.title, LONG), plain(row.snippet, LONG)) == ("The <b> tag", "A & B & C")

    @pytest.mark.parametrize(
        ("text", "published"),
        [
            ("&nbsp; &nbsp; 2026-04-12T00:00:00.0000000", "2026-04-12"),
            ("2026-04-12T08:30:00.0000000", "2026-04-12T08:30:00"),
            ("2026-04-12", "2026-04-12"),
            ("yesterday", None),
            ("2026", None),
            ("20260412", None),
        ],
    )
    def test_dates_are_iso(self, text: str, published: str | None) -> None:
        [row] = parse(answer(lite("https://a.example/") + f"<tr><td><span class='timestamp'>{text}</span></td></tr>"))
        assert row.published == published

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(
        "mark",
        [
            "<tr><td>No results.</td></tr>",
            "<p>No  results.</p>",
            '<div class="no-results">No results found for <b>x</b>.</div>',
            '<div class="result result--no-result"><h2><a class="result__a">No  results.</a></h2></div>',
            "<td>No more results.</td>",
        ],
    )
    def test_a_page_that_says_so_is_empty(self, mark: str) -> None:
        assert parse(answer(f"<html>{SEARCH_FORM}{mark}</html>")) == Results(status=200)

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(
        ("reply", "error"),
        [
            (answer(f"<html>{SEARCH_FORM}</html>"), UnprovenEmpty),
            (answer(SEARCH_FORM + lite("https://duckduckgo.com/y.js?a=1")), UnprovenEmpty),
            (answer(""), UnexpectedResponse),
            (answer("<html><body>No results found for you, try our offers</body></html>"), UnexpectedResponse),
            (answer('{"results": []}'), UnexpectedResponse),
            (answer(PUZZLE), ProviderBlocked),
            (answer(PUZZLE, 202), ProviderBlocked),
            (answer(PUZZLE, 403), ProviderBlocked),
            (answer('<div class="anomaly-modal__title">Bots!</div>No results.'), ProviderBlocked),
            (answer("", 403), ProviderBlocked),
            (answer("", 202), RateLimited),
            (answer("<p>No results.</p>", 202), RateLimited),
            (answer("", 429), RateLimited),
            (answer("", 500), ProviderUnavailable),
            (answer("", 504), ProviderTimeout),
            (answer("", 301, Location="https://elsewhere.example/"), UnexpectedResponse),
            (answer("", 400), RequestRefused),
        ],
    )
    def test_each_failure_is_its_own_error(self, reply: Response, error: type[ProviderError]) -> None:
        with pytest.raises(ProviderError) as caught:
            parse(reply)
        assert type(caught.value) is error
        assert caught.value.status == reply.status

    def test_a_result_about_the_bot_check_is_a_result(self) -> None:
        assert parse(answer(lite("https://a.example/", "What is anomaly-modal?", "id=challenge-form")))

    def test_a_refusal_says_when_to_ask_again(self) -> None:
        with pytest.raises(RateLimited) as caught:
            parse(answer("", 202, **{"Retry-After": "17"}))
        assert caught.value.retry_after == 17

    @given(st.data())
    def test_a_mutated_page_gives_results_or_a_provider_error(self, data: st.DataObject) -> None:
        page = (
            SEARCH_FORM + lite("//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F") + html("https://b.example/")
        ).encode()
        for _ in range(data.draw(st.integers(1, 4))):
            start, end = sorted(data.draw(st.tuples(st.integers(0, len(page)), st.integers(0, len(page)))))
            page = (
                page[:start] + data.draw(st.binary(max_size=12) | st.just(b"&#xD800;<a")) + page[min(end, start + 20) :]
            )
        try:
            found = parse(answer(page))
        except ProviderError:
            return
        assert all(row.url.startswith("http") for row in found)


class TestForm:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "fields", "applied"),
        [
            (Filters(), {"q": "words", "kl": "", "df": ""}, {}),
            (Filters(time_range="w"), {"q": "words", "kl": "", "df": "w"}, {}),
            (Filters(region="US"), {"q": "words", "kl": "us-en", "df": ""}, {}),
            (Filters(region="us", language="es-MX"), {"q": "words", "kl": "us-es", "df": ""}, {"language": "native"}),
            (Filters(region="us", language="fr"), {"q": "words", "kl": "us-en", "df": ""}, {}),
            (Filters(region="gb"), {"q": "words", "kl": "uk-en", "df": ""}, {}),
            (Filters(region="jp", language="ja"), {"q": "words", "kl": "jp-jp", "df": ""}, {"language": "native"}),
            (Filters(region="si"), {"q": "words", "kl": "sl-sl", "df": ""}, {}),
            (Filters(region="sl"), {"q": "words", "kl": "", "df": ""}, {"region": "not_possible"}),
            (Filters(language="de"), {"q": "words", "kl": "", "df": ""}, {}),
            (Filters(allowed_domains=("a.org",)), {"q": "words site:a.org", "kl": "", "df": ""}, {}),
            (
                Filters(allowed_domains=("a.org", "b.org"), blocked_domains=("c.org",)),
                {"q": "words (site:a.org OR site:b.org) -site:c.org", "kl": "", "df": ""},
                {},
            ),
        ],
    )  # fmt: skip
    def test_filters_are_mapped(self, filters: Filters, fields: dict[str, str], applied: dict[str, Applied]) -> None:
        mapped = to_form("words", 5, filters)
        assert (mapped.values, mapped.applied, mapped.warnings) == (fields, applied, [])

    @pytest.mark.req("B4")
    def test_domains_that_do_not_fit_are_left_to_us(self) -> None:
        mapped = to_form("words", 5, Filters(allowed_domains=tuple(f"d{n}.org" for n in range(9))))
        assert mapped.applied == {"allowed_domains": "post_filter"}
        assert "not all domains fitted" in mapped.warnings[0]
        mapped = to_form("words", 5, Filters(blocked_domains=tuple(f"d{n}.org" for n in range(9))))
        assert mapped.applied == {"blocked_domains": "post_filter"}

    def test_the_html_page_has_a_field_more(self) -> None:
        assert to_form("words", 5, Filters(), endpoint="html").values == {"q": "words", "b": "", "kl": "", "df": ""}

    def test_a_long_query_is_cut_and_it_is_said(self) -> None:
        mapped = to_form("word " * 150, 5, Filters())
        assert len(mapped.values["q"]) <= 499
        assert "the query was cut" in mapped.warnings[0]

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("!w cats", "w cats"),
            ("cats !images", "cats images"),
            ("w! cats", "w cats"),
            ("what became of Yahoo!", "what became of Yahoo"),
            ("\\first", "first"),
            ("css !important rule", "css important rule"),
            ("a != b", "a = b"),
            ("5 ! 3", "5 3"),
            ("C:\\Users", "C:\\Users"),
            ("a!b", "a!b"),
            ("!!", '"!!"'),
        ],
    )
    def test_commands_are_neutralized(self, query: str, expected: str) -> None:
        assert neutralize(query) == expected

    @given(st.text(alphabet="!\\ab 3", max_size=20))
    def test_no_word_is_a_command(self, query: str) -> None:
        for word in neutralize(query).split():
            assert word[0] not in "!\\"
            assert not word.endswith("!")

    def test_dropped_commands_are_said(self) -> None:
        assert "operators" in to_form("!w cats", 5, Filters()).warnings[0]
        assert not to_form("hello world!", 5, Filters()).warnings


class TestOnTheWire:
    @pytest.mark.req("C3", "Y5")
    @pytest.mark.parametrize("endpoint", ["lite", "html"])
    async def test_it_finds_pages(self, service: DuckDuckGoLite, make: Make, endpoint: str) -> None:
        service.advertisements = 2
        found = await make(endpoint=endpoint).search("reciprocal rank fusion")
        assert plain(found[0].title, LONG) == "Reciprocal rank fusion"
        assert found[0].published
        assert not any("shop" in row.url for row in found)
        assert found.cost_usd == 0
        [request] = service.requests
        assert (request.method, request.path) == ("POST", f"/{endpoint}/")
        assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
        assert request.headers["User-Agent"].startswith("groundwire/")
        assert "Authorization" not in request.headers

    @pytest.mark.req("B4")
    async def test_filters_reach_the_wire(self, service: DuckDuckGoLite, make: Make) -> None:
        filters = Filters(time_range="m", region="at", language="de", blocked_domains=("forum.test",))
        found = await make().search("search", filters=filters)
        assert service.requests[-1].params == {"q": "search -site:forum.test", "kl": "at-de", "df": "m"}
        assert found.applied == {"language": "native"}

    async def test_a_further_page_follows_the_first(self, service: DuckDuckGoLite, make: Make) -> None:
        asked = make()
        first = await asked.search("search page the a results query")
        second = await asked.search("search page the a results query", filters=Filters(page=2))
        assert len(first) == 10
        assert second
        assert not {row.url for row in first} & {row.url for row in second}
        params = service.requests[-1].params
        assert (params["s"], params["dc"]) == ("10", "11")
        assert params["vqd"]
        assert len(service.requests) == 3

    async def test_past_the_last_page_is_empty(self, make: Make) -> None:
        asked = make()
        assert not await asked.search("bm25 okapi", filters=Filters(page=9))
        assert not await asked.search("zxqvy", filters=Filters(page=2))
        assert not await asked.search("search page the a results query", filters=Filters(page=9))

    @pytest.mark.req("B1")
    async def test_nothing_found_is_no_failure(self, service: DuckDuckGoLite, make: Make) -> None:
        assert await make().search("zxqvy") == Results(status=200)
        service.silent = True
        with pytest.raises(UnprovenEmpty):
            await make().search("zxqvy")

    @pytest.mark.req("B1")
    async def test_refusals_are_told_apart(self, service: DuckDuckGoLite, make: Make) -> None:
        service.throttled = True
        with pytest.raises(RateLimited):
            await make().search("x")
        service.throttled = False
        for status in (200, 202):
            service.bot_check = status
            with pytest.raises(ProviderBlocked, match="CAPTCHA"):
                await make().search("x")

    async def test_a_command_does_not_send_us_elsewhere(self, make: Make) -> None:
        assert await make().search("!w wikipedia")
        assert await make().search("wikipedia!")

    @pytest.mark.req("C3", "B3")
    async def test_three_redirects_are_followed(self, service: DuckDuckGoLite, make: Make) -> None:
        service.fail(InjectedFault.redirect("/lite/?q=wikipedia", 302), times=1)
        service.fail(InjectedFault.redirect("/html/?q=wikipedia", 302), times=1)
        service.fail(InjectedFault.redirect(f"{service.url}/lite/?q=wikipedia"), times=1)
        assert await make().search("wikipedia")
        assert [request.method for request in service.requests] == ["POST", "GET", "GET", "GET"]
        assert service.requests[1].body == b""

    async def test_the_form_goes_along_where_it_must(self, service: DuckDuckGoLite, make: Make) -> None:
        service.fail(InjectedFault.redirect("/html/", 307), times=1)
        assert await make().search("wikipedia")
        assert [request.params["q"] for request in service.requests] == ["wikipedia", "wikipedia"]

    @pytest.mark.req("C3", "B3")
    @pytest.mark.parametrize(
        "location",
        [
            "/lite/",
            "http://169.254.169.254/",
            "https://elsewhere.example/",
            "//elsewhere.example/",
            "javascript:1",
            "",
            "http://[",
        ],
    )
    async def test_no_other_redirect_is(self, service: DuckDuckGoLite, make: Make, location: str) -> None:
        service.fail(InjectedFault.redirect(location), times=None)
        with pytest.raises(UnexpectedResponse, match="redirects"):
            await make().search("x")
        assert len(service.requests) == (4 if location == "/lite/" else 1)

    @pytest.mark.parametrize(
        ("endpoint", "base_url", "address"),
        [
            ("lite", "", "https://lite.duckduckgo.com/lite/"),
            ("html", "", "https://html.duckduckgo.com/html/"),
            ("html", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/html/"),
        ],
    )
    def test_each_page_has_its_address(self, endpoint: str, base_url: str, address: str) -> None:
        options = DuckDuckGoLiteOptions.model_validate({"endpoint": endpoint})
        made = DuckDuckGoLiteSearchProvider(Transport(Guard()), base_url=base_url, name="d", options=options)
        assert made.address == address
