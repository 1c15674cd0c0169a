"""Pages and results that attack whoever is shown them, in real Chromium: nothing runs, and nothing is loaded."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from components.data_sets import hostile_pages
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from server.ui.conftest import Browsing, Serve
from server.ui.test_markdown import check_inert_html
from world import World

pytestmark = [pytest.mark.req("B11"), pytest.mark.xdist_group("browser")]

HOSTILE = {page.name: page for page in hostile_pages()}
RUN = "window.__ran.push(1)"
ATTACKS = (
    f"<script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg onload={RUN}>",
    f"</title></style></textarea><script>{RUN}</script>",
    f"{{{{ {RUN} }}}} {{% print(1) %}} ${{{RUN}}}",
    f"<a href=javascript:{RUN}>x</a>",
    f"<iframe srcdoc='<script>parent.{RUN[7:]}</script>'></iframe>",
    "\u202eright to left\u202c \x00\x1b[31m",
)
URLS = (
    f"javascript:{RUN}//https://a.test/",
    f'https://a.test/?x="onmouseover="{RUN}',
    f"https://a.test/'><script>{RUN}</script>",
    f"data:text/html,<script>{RUN}</script>",
    "https://a.test/#" + "a" * 500,
)
MARKDOWN = "\n\n".join(
    [
        *ATTACKS,
        *(f"[click]({url})" for url in URLS),
        f'![pixel](https://tracker.test/p.png) ![x](x "onerror={RUN}")',
        f'```html"><script>{RUN}</script>\ncode\n```',
        "| <b>a</b> | b |\n| - | - |\n| <img src=x> | y |",
        f'<javascript:{RUN}> <https://a.test/"onclick={RUN}>',
    ]
)


class Attacker(EmulatedServer):
    """A search engine whose results attack, and a site whose pages do."""

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return results, a Markdown file, or a hostile page."""
        if request.path == "/search":
            rows = [
                {"title": attack, "content": attack * 2, "url": url, "engine": attack, "publishedDate": attack}
                for attack in ATTACKS
                for url in (*URLS, f"{self.url}/page?{quote(attack)}")
            ]
            return EmulatedResponse.json(
                {"query": ATTACKS[0], "results": rows, "unresponsive_engines": [[ATTACKS[0], ATTACKS[1]]]}
            )
        if request.path == "/markdown.md":
            return EmulatedResponse(body=MARKDOWN.encode(), content_type="text/markdown")
        if (hostile := HOSTILE.get(request.path[1:])) is not None:
            return EmulatedResponse(body=hostile.body, content_type=hostile.row["content_type"])
        page = f"<title>{ATTACKS[3]}</title><h1>{'x' * 3}</h1><p>{'Words of the page. ' * 30}{' '.join(ATTACKS)}</p>"
        return EmulatedResponse.html(f"<!doctype html><html lang='\"><script>{RUN}</script>'>{page}")


@pytest.fixture
def attacker(world: World) -> Attacker:
    return world.add(Attacker("attacker"))


@pytest.fixture
async def page(serve: Serve, attacker: Attacker, world: World) -> str:
    _, url = await serve(
        providers={"searxng": {"base_url": attacker.url}},
        policy={"allowed_origins": (*world.origins, attacker.url)},
    )
    return str(url)


async def check(look: Any) -> None:
    await look.check()
    assert await look.page.evaluate("window.__ran") == []
    assert await look.page.locator("main script, main iframe, main object, main style, main base").count() == 0
    assert await look.page.locator("main img").count() == 0
    hrefs = await look.page.locator("main a").evaluate_all("all => all.map(one => one.protocol)")
    assert set(hrefs) <= {"http:", "https:"}
    names = "[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames())"
    bad = f"{names}.some(name => /^on|^style$|^srcdoc$/i.test(name))"
    assert not await look.page.evaluate(bad)
    outside = "a => a.filter(e => e.origin !== location.origin && e.rel !== 'noopener noreferrer nofollow').length"
    assert await look.page.locator("a").evaluate_all(outside) == 0


async def test_results_that_attack(page: str, browsing: Browsing) -> None:
    async with browsing(page) as open_:
        look = await open_()
        for attack in ATTACKS:
            await look.go(f"/?q={quote(attack)}&site={quote('a.test')}&language={quote(attack)}")
            await check(look)
        await look.go("/?q=attack&limit=50")
        assert await look.page.locator(".found li").count() > 3
        for link in await look.page.locator(".found a").all():
            await link.hover()
        await check(look)
        await look.check_axe()
        await look.follow(".found a.read >> nth=0")
        await check(look)


async def test_pages_that_attack(page: str, attacker: Attacker, browsing: Browsing) -> None:
    async with browsing(page) as open_:
        look = await open_()
        for path in ("/markdown.md", "/any"):
            for more in ("", "&about=words+of+the+page", f"&find={quote('<script>')}", f"&at={quote('#1')}"):
                await look.go(f"/?open={quote(attacker.url + path)}{more}")
                await check(look)
                assert await look.page.locator(".reader .prose, .reader .trouble").count() > 0
        await look.go(f"/?open={quote(attacker.url)}/markdown.md")
        assert "<script>" in await look.text(".prose")  # what it says is shown
        await look.check_axe()


async def test_hostile_pages_are_shown_without_what_was_hidden(page: str, attacker: Attacker) -> None:
    async with aiohttp.ClientSession(page) as client:
        for name, hostile in HOSTILE.items():
            row = hostile.row
            async with client.get("/", params={"open": f"{attacker.url}/{name}"}) as response:
                text = await response.text()
            begin = text.index('<div class="prose"')
            prose = check_inert_html(text[begin : text.index("</section>", begin)])
            said = prose.text + str([one.get("href") for _, one in prose.found])
            hidden = [words for words in row["must_not_contain"] if words.startswith("zx-canary")]
            assert [words for words in hidden if words in prose.text] == [], name
            assert [words for words in row["must_contain"] if words not in said] == [], name


async def test_hostile_pages_do_nothing(page: str, attacker: Attacker, browsing: Browsing) -> None:
    async with browsing(page) as open_:
        look = await open_()
        for name in list(HOSTILE)[::6]:
            await look.go(f"/?open={quote(f'{attacker.url}/{name}')}")
            await check(look)
