"""The reader with a browser, with a real Chromium, on a site of the miniature web whose pages are made by scripts."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright

from components.application import FILL, PARAGRAPHS, Application, shell
from components.attacks import NAVIGATIONS, attacking_page, worker_script
from components.chromium import executable_or_skip, processes, until_gone
from components.forbidden import Forbidden
from groundwire import Settings, Web
from groundwire.errors import (
    BlockedAddress,
    Closed,
    ConfigurationError,
    DeadlineExceeded,
    GroundwireError,
    PageEmpty,
    PageNotFound,
    PageUnavailable,
    TooManyRedirects,
    UnsupportedContent,
)
from groundwire.reading.browser import chromium
from groundwire.reading.browser.idle_detection import GOES_ON, MAX_ROUNDS
from groundwire.reading.browser.launch import NOWHERE
from groundwire.testing import EmulatedResponse, InjectedFault, Recorded
from world import World, wire_faults

Make = Callable[..., Web]


@pytest.fixture(scope="module")
def executable() -> Path:
    """The browser of this machine."""
    return executable_or_skip()


@pytest.fixture
def site(world: World) -> Application:
    return world.add(Application())


@pytest.fixture
def forbidden() -> Iterator[Forbidden]:
    with Forbidden() as place:
        yield place
        assert place.hits == []


@pytest.fixture
def make(world: World, site: Application, executable: Path) -> Make:
    """Make a `Web` that reads with the browser, to which the site is open by its address and by its name."""

    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host == "rebinding.test" else await world.resolver(host, port)

    def web(*, readers: Sequence[str] = ("browser",), origins: Sequence[str] = (), **options: Any) -> Web:
        return Web(
            Settings.model_validate(
                {
                    "search": {"providers": ("duckduckgo",)},
                    "read": {"providers": readers, "timeout": 100},  # a busy machine may take long to start it
                    "policy": {"allowed_origins": origins or (site.url, site.named_url)},
                    "providers": {"browser": {"executable": str(executable), **options}},
                    "storage": {"url": "memory://"},
                    "cache": {"enabled": False},
                    "archive": {"enabled": False},
                }
            ),
            resolver=resolver,
        )

    return web


@pytest.fixture
async def web(make: Make) -> AsyncIterator[Web]:
    async with make() as opened:
        yield opened


@pytest.mark.req("B2", "Y6")
@pytest.mark.parametrize("path", ["/now", "/late"])
async def test_a_page_that_fills_itself_is_read(web: Web, site: Application, path: str) -> None:
    page = await web.open_page(site.url + path)
    assert page.title == "The orchard"
    assert page.reader == "browser"
    assert all(text in page.content for text in PARAGRAPHS)
    assert "Loading" not in page.content
    assert page.warnings == ()


async def test_a_timer_is_waited_for_behind_menus_that_have_text(web: Web, site: Application) -> None:
    menus = "<nav>" + "".join(f"<a href='/{number}'>Menu item {number}</a> " for number in range(40)) + "</nav>"
    site.pages["/menus"] = EmulatedResponse.html(
        shell(f"app.textContent = ''; {FILL} setTimeout(fill, 300)", body=menus)
    )
    assert PARAGRAPHS[1] in (await web.open_page(site.url + "/menus")).content


@pytest.mark.req("B2")
async def test_what_the_local_reader_cannot_read_goes_to_the_browser(make: Make, site: Application) -> None:
    async with make(readers=("local", "browser")) as web:
        page = await web.open_page(site.url + "/late")
    assert page.reader == "browser"
    assert PARAGRAPHS[0] in page.content


async def test_shadow_trees_and_streamed_events_are_shown(web: Web, site: Application) -> None:
    words = " ".join(PARAGRAPHS)
    site.pages["/shadow"] = EmulatedResponse.html(
        shell(
            "customElements.define('a-page', class extends HTMLElement { constructor() { super();"
            f" this.attachShadow({{mode: 'closed'}}).innerHTML = '<h2>Inside</h2><p>{words}</p>' }} }});"
            "app.innerHTML = '<a-page></a-page>'"
        )
    )
    site.pages["/events"] = EmulatedResponse(
        content_type="text/event-stream", body=f"retry: 60000\ndata: {PARAGRAPHS[1]}\n\n".encode()
    )
    site.pages["/streamed"] = EmulatedResponse.html(
        shell("new EventSource('/events').onmessage = e => { app.innerHTML = '<p>' + e.data + '</p>' }")
    )
    assert PARAGRAPHS[2] in (await web.open_page(site.url + "/shadow")).content
    assert PARAGRAPHS[1] in (await web.open_page(site.url + "/streamed")).content


@pytest.mark.req("B11")
async def test_what_the_browser_does_not_show_is_not_read(web: Web, site: Application) -> None:
    words = " ".join(PARAGRAPHS)
    rules = {
        "display:none": False,
        "visibility:hidden": False,
        "position:absolute;left:-9999px": False,
        "position:absolute;clip:rect(0 0 0 0);width:1px;height:1px;overflow:hidden": False,
        "height:0;overflow:hidden": False,
        "color:#333": True,
        "height:0": True,
        "width:90%;overflow:hidden": True,
        "position:absolute;left:20px": True,
        "display:contents": True,
    }
    hidden = ".hidden{display:block!important}.gone span{visibility:visible}.gone{visibility:hidden}.fold{display:none}"
    site.pages["/site.css"] = EmulatedResponse(
        content_type="text/css",
        body=(hidden + "".join(f".q{number}{{{rule}}}" for number, rule in enumerate(rules))).encode(),
    )
    told = "".join(f"<div class=q{number}>Sentence {number} of the style sheet.</div>" for number in range(len(rules)))
    more = (
        "<div class=hidden>The class says nothing here.</div><div class=gone>Whole <span>Part</span></div>"
        "<button aria-controls=more>More</button><div class=fold id=more>A click opens this.</div>"
        f"<details><summary>About the mill</summary><p>A closed detail of it.</p></details><p>{words}</p>"
    )
    watching = (
        "new MutationObserver(all => { for (const {target} of all) target.removeAttribute('style') })"
        ".observe(document, {subtree: true, attributes: true})"
    )
    site.pages["/styled"] = EmulatedResponse.html(
        shell(
            f"app.innerHTML = '<article><h1>The orchard</h1><p>{words}</p>{told}{more}</article>'; {watching}",
            head="<link rel=stylesheet href=/site.css>",
        )
    )
    content = (await web.open_page(site.url + "/styled")).content
    assert [f"Sentence {number} " in content for number in range(len(rules))] == list(rules.values())
    assert "Part" in content
    assert "Whole" not in content
    assert all(text in content for text in ("The class says", "A click opens", "A closed detail", PARAGRAPHS[1]))


async def test_a_web_socket_fills_a_page(web: Web, site: Application) -> None:
    import base64
    import hashlib

    def accept(request: Any) -> EmulatedResponse:
        key = request.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        text = PARAGRAPHS[0].encode()

        async def play(wire: Any, reply: EmulatedResponse) -> Any:
            digest = base64.b64encode(hashlib.sha1(key.encode(), usedforsecurity=False).digest()).decode()
            head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            await wire.raw(f"{head}Sec-WebSocket-Accept: {digest}\r\n\r\n".encode() + bytes([0x81, len(text)]) + text)
            await wire.gone()

        return EmulatedResponse(fault=InjectedFault("websocket", play))

    site.pages["/socket"] = accept
    site.pages["/socketed"] = EmulatedResponse.html(
        shell("new WebSocket(`ws://${location.host}/socket`).onmessage = e => { app.innerHTML = `<p>${e.data}</p>` }")
    )
    assert PARAGRAPHS[0] in (await web.open_page(site.url + "/socketed")).content


@pytest.mark.req("B3", "Y13")
async def test_a_page_reaches_nothing_that_is_forbidden(make: Make, site: Application, forbidden: Forbidden) -> None:
    site.pages["/attack"] = EmulatedResponse.html(attacking_page(forbidden.port))
    worker = worker_script(forbidden.port).encode()
    site.pages["/worker.js"] = EmulatedResponse(body=worker, content_type="text/javascript")
    async with make() as web:
        page = await web.open_page(site.named_url + "/attack")
    assert "stand there from the beginning" in page.content
    assert "SECRET" not in page.content
    (refused,) = (warning for warning in page.warnings if "not allowed" in warning)
    assert int(refused.split()[5]) > 20
    assert {"/attack", "/worker.js"} <= {request.path for request in site.requests}


@pytest.mark.req("B3")
async def test_a_page_reaches_no_allowed_origin_but_its_own(make: Make, site: Application, world: World) -> None:
    inner = world.add(Application("inner"))
    ways = f"""
        fetch('{inner.url}/post', {{method: 'POST', mode: 'no-cors', body: 'x'}});
        fetch('{inner.url}/get', {{mode: 'no-cors'}});
        navigator.sendBeacon('{inner.url}/beacon', 'x');
        new Image().src = '{inner.url}/image';
        new WebSocket('{inner.url.replace("http", "ws")}/socket');
        document.body.append(Object.assign(document.createElement('iframe'), {{src: '{inner.url}/frame'}}));
        document.body.append(Object.assign(document.createElement('script'), {{src: '{inner.url}/script'}}));
        fetch('/own', {{method: 'POST', body: 'x'}});
    """
    site.pages["/attack"] = EmulatedResponse.html(shell(f"{ways} {FILL} setTimeout(fill, 300)"))
    site.pages["/leads-there"] = EmulatedResponse.redirect(f"{inner.url}/redirected")
    site.pages["/goes-there"] = EmulatedResponse.html(shell(f"location = '{inner.url}/navigated'"))
    async with make(origins=(site.url, inner.url)) as web:
        page = await web.open_page(site.url + "/attack")
        assert PARAGRAPHS[0] in page.content
        (refused,) = (warning for warning in page.warnings if "not allowed" in warning)
        assert int(refused.split()[5]) >= 6
        for path in ("/leads-there", "/goes-there"):
            with pytest.raises(BlockedAddress):
                await web.open_page(site.url + path)
        assert inner.requests == []
        assert {request.method for request in site.requests} == {"GET"}
        assert PARAGRAPHS[0] in (await web.open_page(inner.url + "/now")).content, "its own page may be read"


@pytest.mark.req("B3")
async def test_without_the_proxy_the_same_page_reaches_it(site: Application, executable: Path) -> None:
    """The attacks are real: this is what the test above would see if the proxy let them pass."""
    with Forbidden() as place:
        site.pages["/attack"] = EmulatedResponse.html(attacking_page(place.port))
        site.pages["/worker.js"] = EmulatedResponse(
            body=worker_script(place.port).encode(), content_type="text/javascript"
        )
        async with async_playwright() as playwright:
            rules = "--host-resolver-rules=MAP rebinding.test 127.0.0.1"
            browser = await playwright.chromium.launch(executable_path=executable, args=[rules])
            page = await browser.new_page()
            await page.goto(f"{site.url}/attack")
            await page.wait_for_function("document.getElementById('out').textContent.startsWith('DONE')")
            assert "SECRET" in await page.inner_text("#out")
            await browser.close()
        seen = b" ".join(place.hits)
    for way in (
        b"/img",
        b"/iframe",
        b"/beacon",
        b"/socket",
        b"/events",
        b"/worker-fetch",
        b"/prefetch",
        b"\x21\x12\xa4\x42",
    ):
        assert way in seen, way


@pytest.mark.req("B3")
async def test_a_page_that_leads_inside_is_refused(web: Web, site: Application, forbidden: Forbidden) -> None:
    there = f"http://127.0.0.1:{forbidden.port}/x"
    site.pages["/302"] = EmulatedResponse.redirect(there)
    site.pages["/name"] = EmulatedResponse.redirect(there.replace("127.0.0.1", "rebinding.test"))
    for way, markup in NAVIGATIONS.items():
        site.pages[f"/{way}"] = EmulatedResponse.html(markup.format(there=there))
    for path in ("/302", "/name", *(f"/{way}" for way in NAVIGATIONS)):
        with pytest.raises(BlockedAddress, match="redirects to an address that is not allowed"):
            await web.open_page(site.named_url + path)


async def test_redirects_are_followed_and_their_end_is_said(web: Web, site: Application) -> None:
    site.pages["/first"] = EmulatedResponse.redirect("/second")
    site.pages["/second"] = EmulatedResponse.html("<script>location = '/now'</script>")
    page = await web.open_page(site.url + "/first")
    assert page.final_url == site.url + "/now"
    assert PARAGRAPHS[0] in page.content


async def test_redirects_without_end_are_refused(web: Web, site: Application) -> None:
    site.pages["/server"] = EmulatedResponse.redirect("/server")
    site.pages["/script"] = EmulatedResponse.html("<script>location = '/script?' + Math.random()</script>")
    for path in ("/server", "/script"):
        with pytest.raises(TooManyRedirects):
            await web.open_page(site.url + path)


NO_PAGES: tuple[tuple[EmulatedResponse, type[GroundwireError]], ...] = (
    (EmulatedResponse(status=404, body=b"<h1>none</h1>"), PageNotFound),
    (EmulatedResponse(status=500, body=b"<h1>failed</h1>"), PageUnavailable),
    (EmulatedResponse(status=204, content_type=None), PageEmpty),
    (EmulatedResponse(fault=InjectedFault.reset()), PageUnavailable),
    (EmulatedResponse(fault=wire_faults.garbage()), PageUnavailable),
    (EmulatedResponse(body=b"PK\x05\x06" + bytes(18), content_type="application/zip"), UnsupportedContent),
    (
        EmulatedResponse(body=b"words", headers={"Content-Disposition": 'attachment; filename="words.txt"'}),
        UnsupportedContent,
    ),
)


async def test_what_is_no_page_has_its_own_error(web: Web, site: Application) -> None:
    for reply, error in NO_PAGES:
        site.pages["/x"] = reply
        with pytest.raises(error):
            await web.open_page(site.url + "/x")


ENDLESS = {
    "for (;;) alert('again')": "",
    "onbeforeunload = () => 'stay'; alert('once'); prompt('twice'); setTimeout(fill)": "",
    "for (;;) {}": "stopped",
    "setInterval(() => { for (;;) {} }, 10)": "stopped",
    "for (let i = 0; i < 20; i++) window.open('/now'); fill()": "",
    "setInterval(() => { app.innerHTML += '<p>more and more</p>' }, 1)": "",
    "(function again() { Promise.resolve().then(again) })()": "stopped",
}


@pytest.mark.req("B2")
async def test_pages_that_will_not_end_are_read_as_far_as_they_are(make: Make, site: Application) -> None:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)
    async with make(settle=1.0, pages_at_once=3) as web:

        async def read(number: int, script: str, said: str) -> None:
            site.pages[f"/{number}"] = EmulatedResponse.html(shell(f"{FILL}\n{script}", body=f"<main>{text}</main>"))
            page = await web.open_page(f"{site.url}/{number}", timeout=100)
            assert PARAGRAPHS[0] in page.content, script
            assert said in " ".join(page.warnings), script

        await asyncio.gather(*(read(number, *one) for number, one in enumerate(ENDLESS.items())))
        assert PARAGRAPHS[0] in (await web.open_page(site.url + "/now")).content


LIST = """let next = 1;
async function more() {
  const rows = await (await fetch("/api/rows?from=" + next)).json();
  next += rows.length;
  for (const row of rows) {
    const item = document.createElement("li");
    item.textContent = row;
    document.getElementById("list").append(item);
  }
  return rows.length;
}
"""
LISTS = {
    "scrolled": "<div style='height: 2000px'></div><div id=end>.</div>",
    "button": "<button onclick='more()'>Load more ships</button>",
    "link": "<a href='/elsewhere'>Load more</a>",
    "form": "<form action='/elsewhere'><button>Load more</button></form>",
}


@pytest.mark.parametrize(
    ("kind", "rows", "shown", "goes_on"),
    [
        ("scrolled", 40, 40, False),
        ("button", 40, 40, False),
        ("button", 10_000, 10 * (MAX_ROUNDS + 1), True),
        ("link", 40, 10, False),
        ("form", 40, 10, False),
    ],
)
async def test_a_list_that_loads_more_is_read_to_a_bound(
    make: Make, site: Application, kind: str, rows: int, shown: int, goes_on: bool
) -> None:
    def reply(request: Recorded) -> EmulatedResponse:
        start = int(request.query["from"])
        return EmulatedResponse.json(
            [f"Ship {row} of the endless list." for row in range(start, min(start + 10, rows + 1))]
        )

    start = "more();"
    if kind == "scrolled":
        start = "more().then(() => new IntersectionObserver(seen => seen[0].isIntersecting && more()).observe("
        start += "document.getElementById('end')));"
    body = f"<h1>Ships</h1><p>{' '.join(PARAGRAPHS)}</p><ul id=list></ul>{LISTS[kind]}"
    site.pages["/api/rows"] = reply
    site.pages["/list"] = EmulatedResponse.html(f"<!doctype html><body>{body}<script>{LIST}{start}</script>")
    async with make(settle=100) as web:  # rounds end the list here, not the time
        page = await web.open_page(site.url + "/list", timeout=100)
    found = {int(number) for number in re.findall(r"Ship (\d+) of the endless list", page.content)}
    assert found == set(range(1, shown + 1))
    assert (GOES_ON in page.warnings) == goes_on


async def test_sections_that_are_loaded_as_they_come_into_view_are_read(make: Make, site: Application) -> None:
    start = "const seen = new IntersectionObserver(all => all.forEach(one => { if (one.isIntersecting)"
    start += " one.target.textContent = `Section ${one.target.id} tells about a ship of its own.` }));"
    start += "document.querySelectorAll('section').forEach(one => seen.observe(one))"
    body = "".join(f"<section id={number} style='min-height: 1500px'></section>" for number in range(6))
    page = f"<!doctype html><body><h1>Ships</h1><p>{' '.join(PARAGRAPHS)}</p>{body}<script>{start}</script>"
    site.pages["/sections"] = EmulatedResponse.html(page)
    async with make(settle=100) as web:
        read = await web.open_page(site.url + "/sections", timeout=100)
    assert re.findall(r"Section (\d)", read.content) == list("012345")


async def test_a_page_that_never_stops_coming_is_read_when_its_time_is_up(make: Make, site: Application) -> None:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)

    def parts() -> Iterator[bytes]:
        yield shell("", body=f"<main>{text}</main>").removesuffix("</body></html>").encode()

    async def play(wire: Any, reply: EmulatedResponse) -> Any:
        await wire.raw(reply.head() + next(parts()))
        await wire.gone()

    site.pages["/hangs"] = EmulatedResponse(fault=InjectedFault("hangs", play))
    async with make(settle=1.0) as web:
        page = await web.open_page(site.url + "/hangs")
    assert PARAGRAPHS[0] in page.content
    assert "the page was still loading when it was read" in page.warnings


async def test_a_huge_tree_is_cut(make: Make, site: Application) -> None:
    site.pages["/huge"] = EmulatedResponse.html(
        shell(
            "let s = ''; for (let i = 0; i < 40000; i++) s += '<p>' + i + ' of many <b>lines</b></p>';app.innerHTML = s"
        )
    )
    async with make(settle=1.5) as web:
        page = await web.open_page(site.url + "/huge", timeout=100)
    assert page.truncated
    assert "0 of many" in page.content


async def test_bytes_are_bounded(make: Make, site: Application) -> None:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)
    site.pages["/endless"] = EmulatedResponse(content_type="text/plain", fault=wire_faults.endless(bytes(10_000)))
    site.pages["/greedy"] = EmulatedResponse.html(shell("fetch('/endless')", body=f"<main>{text}</main>"))
    async with make(max_bytes=1_000_000) as web:
        page = await web.open_page(site.url + "/greedy")
        assert PARAGRAPHS[0] in page.content
        assert "exceeds the download limit" in " ".join(page.warnings)


@pytest.mark.req("B2")
async def test_the_deadline_holds(web: Web, site: Application) -> None:
    await web.open_page(site.url + "/now")
    site.pages["/silent"] = EmulatedResponse(fault=InjectedFault.hang())
    for seconds in (0.2, 1.0):
        with pytest.raises(DeadlineExceeded):
            await web.open_page(site.url + "/silent", timeout=seconds)


async def test_ten_pages_at_once(web: Web, site: Application) -> None:
    pages = await asyncio.gather(*(web.open_page(f"{site.url}/late?{number}", timeout=100) for number in range(10)))
    assert all(PARAGRAPHS[1] in page.content for page in pages)


async def test_a_browser_that_is_killed_is_replaced(web: Web, site: Application) -> None:
    before = processes()
    await web.open_page(site.url + "/now")
    site.pages["/slow"] = lambda request: EmulatedResponse.html(shell(f"{FILL} setTimeout(fill, 1000)"))
    reading = asyncio.create_task(web.open_page(site.url + "/slow"))
    await asyncio.to_thread(site.wait_for_requests, 3)
    for process in processes() - before:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    assert PARAGRAPHS[0] in (await reading).content


async def test_a_worn_browser_is_replaced(make: Make, site: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "MAX_PAGES", 2)
    before, seen = processes(), list[set[int]]()

    def answer(_request: Any) -> EmulatedResponse:
        seen.append(processes() - before)  # now, as a worn browser may end before its page is returned
        return EmulatedResponse.html(shell(FILL + "fill()"))

    site.pages["/worn"] = answer
    async with make() as web:
        for _ in range(2):
            assert PARAGRAPHS[0] in (await web.open_page(site.url + "/worn")).content
        assert seen[0] & seen[1]  # helpers come and go in between
        await until_gone(before)
        assert PARAGRAPHS[0] in (await web.open_page(site.url + "/worn")).content
    await until_gone(before)


async def test_a_start_serves_all_who_wait_and_outlives_the_one_who_gives_up(executable: Path) -> None:
    browser = chromium.Chromium(executable, sandbox=False)

    async def opened() -> Any:
        async with browser.page(NOWHERE) as (context, _):
            return context.browser

    first, *others = [asyncio.create_task(opened()) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    one, other = await asyncio.gather(*others)
    assert one is other
    await browser.aclose()
    with pytest.raises(Closed):
        await opened()


@pytest.mark.parametrize("way", ["closed", "cancelled"])
async def test_nothing_is_left_of_a_browser(make: Make, site: Application, way: str) -> None:
    before = processes()

    async def read(web: Web) -> None:
        async with web:
            await web.open_page(site.url + "/never")

    site.pages["/never"] = EmulatedResponse(fault=InjectedFault.hang())
    web = make()
    task = asyncio.create_task(read(web))
    await asyncio.to_thread(site.wait_for_requests, 1)
    assert processes() - before
    if way == "closed":
        await web.aclose()
        with pytest.raises(Closed):
            await task
    else:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await until_gone(before)


@pytest.mark.req("B12")
async def test_what_was_shown_can_be_replayed_without_a_browser(
    site: Application, executable: Path, tmp_path: Path
) -> None:
    def settings(**browser: str) -> Settings:
        return Settings.model_validate(
            {
                "search": {"providers": ("duckduckgo",)},
                "read": {"providers": ("local", "browser")},
                "policy": {"allowed_origins": (site.url,)},
                "providers": {"browser": browser},
            }
        )

    file = tmp_path / "pages.jsonl"
    async with Web(settings(executable=str(executable)), record=file) as web:
        recorded = await web.open_page(site.url + "/late")
    site.forget()
    before = processes()
    async with Web(settings(), replay=file) as web:
        replayed = await web.open_page(site.url + "/late")
        with pytest.raises(PageUnavailable, match="not in the cassette"):
            await web.open_page(site.url + "/now")
        assert processes() == before
    assert (replayed.reader, replayed.content, replayed.final_url) == ("browser", recorded.content, recorded.final_url)
    assert PARAGRAPHS[0] in replayed.content
    assert site.requests == []


async def test_a_web_that_reads_nothing_starts_no_browser(make: Make, site: Application) -> None:
    before = processes()
    async with make():
        assert processes() == before


async def test_a_wrong_program_is_told(make: Make, site: Application, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"providers\.browser\.executable"):
        make(executable=str(tmp_path / "none"))
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o700)
    async with make(executable=str(program)) as web:
        with pytest.raises(GroundwireError, match="the browser does not start"):
            await web.open_page(site.url + "/now")
