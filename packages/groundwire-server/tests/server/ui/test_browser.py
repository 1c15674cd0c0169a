"""The page as a person has it: in real Chromium, light and dark, wide and narrow, with and without a script."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.browsing import DESK, PHONE, Look
from components.held import Held
from components.writer import Writer
from groundwire.testing import EmulatedResponse, InjectedFault, Recorded
from server.ui.conftest import Browsing, Serve
from world import World

pytestmark = pytest.mark.xdist_group("browser")

QUERY = "/?q=reciprocal+rank+fusion"
CITED = "all => all.map(one => [one.textContent, one.href])"
SMALL = """all => {
  const inSentence = ".unseen, .skip, p:not(.origin, .next, .back), .prose, .wide";
  return all.filter(one => one.checkVisibility() && !one.closest(inSentence))
    .filter(one => one.getBoundingClientRect().height < 44).map(one => one.outerHTML);
}"""


async def _check_looks(look: Look, *, every: bool = False) -> None:
    """Check with axe, and that nothing sticks out: light and wide, dark and narrow; with `every`, also crosswise."""
    crosswise = (("dark", DESK), ("light", PHONE)) if every else ()
    for scheme, size in (*crosswise, ("dark", PHONE), ("light", DESK)):
        await look.turn(scheme, size)
        await look.check_axe()
        assert await look.page.evaluate("document.documentElement.scrollWidth") == size[0]


async def test_every_view_is_well_made(serve: Serve, world: World, browsing: Browsing) -> None:
    _, url = await serve()
    async with browsing(url) as open_:
        look = await open_()
        for path in ("/", "/?q=ranking&time=y&language=en", "/?q=x&limit=900"):
            await look.go(path)
            await _check_looks(look)
        await look.go(QUERY)
        await look.follow(".found a.read >> nth=0")
        await _check_looks(look, every=True)
        world.searxng.fail(InjectedFault.status(500), times=None)
        await look.go("/?q=nobody+answers")
        await _check_looks(look)


@pytest.mark.parametrize("script", [True, False])
async def test_a_search_under_way_is_seen(serve: Serve, world: World, script: bool, browsing: Browsing) -> None:
    _, url = await serve()
    held = Held()
    world.searxng.fail(held.fault, times=None)
    async with browsing(url) as open_:
        look = await open_(script=script)
        await look.page.goto(url + QUERY, wait_until="commit")
        waiting = look.page.locator(".waiting")
        await waiting.wait_for(state="visible")
        assert "Searching" in await waiting.inner_text()
        if script:
            await look.check_axe()
        held.release()
        await look.page.locator(".found").wait_for(state="visible")
        await waiting.wait_for(state="hidden")
        await look.check()


@pytest.mark.req("B34")
@pytest.mark.parametrize("script", [True, False])
async def test_an_answer_is_seen_while_it_is_written(
    serve: Serve, world: World, script: bool, browsing: Browsing
) -> None:
    writer = world.add(Writer(["Let me look. "], ["*Lists* `a`.\n\n**Ranks** are **", "merged** [1]."], pause=True))
    _, url = await serve(answer={"model": "m", "base_url": f"{writer.url}/v1"})
    async with browsing(url) as open_:
        look = await open_(script=script)
        await look.page.goto(url + QUERY + "&answer=1", wait_until="commit")
        draft = look.page.locator(".draft", has_text="Ranks are")
        await draft.wait_for(state="visible")
        assert "Let me look" not in await look.text("#results")  # it was not the answer
        assert await draft.locator("em").inner_text() == "Lists"
        assert (await draft.inner_text()).split() == ["Lists", "a.", "Ranks", "are"]  # Markdown is not seen
        found = await look.page.locator(".found").bounding_box()
        assert (await draft.bounding_box())["y"] < found["y"]  # above the results, which are there already
        if script:
            await look.check_axe()
        writer.go_on.set()
        await look.page.locator(".answer .cards").wait_for(state="visible")
        assert await draft.is_hidden()
        assert "Ranks are merged 1." in await look.text(".answer .arrived .prose")
        assert await look.page.get_attribute(".answer .cite", "title") == "Reciprocal rank fusion"
        assert "Ranks are merged" not in await look.text("#results > div > .arrived")
        await look.check()
        if script:
            await look.check_axe()


async def test_why_there_is_no_answer_is_seen(serve: Serve, world: World, browsing: Browsing) -> None:
    writer = world.add(Writer([]))
    writer.fail(InjectedFault.status(401, '{"error": {"message": "no such key"}}'), times=None)
    _, url = await serve(answer={"model": "m", "base_url": f"{writer.url}/v1"})
    async with browsing(url) as open_:
        look = await open_()
        await look.go(QUERY + "&answer=1")
        assert "no such key" in await look.text(".answer")
        assert await look.page.locator(".found").is_visible()
        await look.check_axe()


async def test_the_theme_can_be_chosen(serve: Serve, browsing: Browsing) -> None:
    _, url = await serve()
    async with browsing(url) as open_:
        look = await open_(scheme="light")
        paper = "getComputedStyle(document.documentElement).backgroundColor"
        await look.go("/")
        light = await look.page.evaluate(paper)
        await look.page.click("text=Dark theme")
        assert await look.page.evaluate(paper) != light
        await look.check_axe()
        await look.go(QUERY)  # it holds for the next page
        assert await look.page.evaluate(paper) != light


async def test_searching_and_reading(serve: Serve, browsing: Browsing) -> None:
    _, url = await serve(session={"max_searches": 20})
    async with browsing(url) as open_:
        look = await open_()
        await look.go("/")
        await look.submit("#q", "reciprocal rank fusion")
        assert look.page.url == url + QUERY  # fields that say nothing are not sent
        assert await look.text(".receipt") == "3 results from searxng Details"
        await look.page.click(".receipt summary")
        receipt = await look.text(".receipt")
        assert "free" in receipt
        assert "19 of 20 searches left" in receipt
        assert "12 days ago" in await look.text(".found")
        boxes = [await look.page.locator(f".{name}").bounding_box() for name in ("found", "receipt")]
        assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]  # what is of interest to few comes last
        await look.follow(".found a.read >> nth=0")
        await look.page.click(".receipt summary")
        assert "Searched" in await look.text(".receipt")  # it was not searched again
        reader = await look.text(".reader")
        assert "read by local" not in reader
        await look.page.click(".reader summary:has-text('Details')")
        assert "read by local" in await look.text(".reader")
        assert "Let L be the set of lists" in reader
        boxes = [await look.page.locator(f".{name}").bounding_box() for name in ("results", "reader")]
        assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1  # beside each other
        scrolls = "one => one.scrollHeight > one.clientHeight"
        assert await look.page.locator("html").evaluate(scrolls) is False
        assert await look.page.locator("#reader").evaluate(scrolls) is True  # by itself, so that the results stay
        await look.submit("#about", "which constant is usual")
        assert "Best passages" in await look.text(".answers")
        assert "The usual choice is k = 60" in await look.text(".answers")
        await look.submit("#find", "rank")
        assert re.search(r"\d+ matches on the page", await look.text(".reader"))
        assert await look.page.evaluate("CSS.highlights.get('found').size") > 3


async def test_a_long_page_is_read_piece_by_piece(serve: Serve, world: World, browsing: Browsing) -> None:
    _, url = await serve(read={"max_length": 1_000})
    address = f"{world.site('articles').url}/wiki/reciprocal-rank-fusion"
    async with browsing(url) as open_:
        look = await open_(script=False)
        await look.page.goto(f"{url}/")
        await look.submit("#q", address)
        first = await look.text(".reader")
        assert "Truncated or removed" in first
        assert re.search(r"You see characters 0 to [\d,]+ of 3,\d{3}", first)
        await look.follow("text=Continue reading")
        second = await look.text(".reader")
        assert re.search(r"You see characters [1-9]\d* to", second)
        await look.page.click("summary:has-text('sections')")
        await look.follow(".contents a >> nth=1")
        assert "Definition" in await look.text(".reader .prose")


async def test_everything_works_without_a_script(serve: Serve, browsing: Browsing) -> None:
    _, url = await serve()
    async with browsing(url) as open_:
        look = await open_(script=False)
        await look.page.goto(url)
        await look.page.fill("#q", "reciprocal rank fusion")
        await look.follow("button:has-text('Search')")
        assert "3 results" in await look.text(".receipt")
        assert not await look.page.locator(".waiting").is_visible()
        await look.follow(".found a.read >> nth=1")
        await look.page.click(".reader summary:has-text('Details')")
        assert "read by local" in await look.text(".reader")
        assert look.problems == []


async def test_a_keyboard_is_enough(serve: Serve, browsing: Browsing) -> None:
    _, url = await serve()
    async with browsing(url) as open_:
        look = await open_()
        await look.go(QUERY)
        await look.page.keyboard.press("Tab")
        assert await look.page.evaluate("document.activeElement.textContent") == "Skip to the content"
        box = await look.page.locator(".skip").bounding_box()
        assert box["y"] >= 0  # it is seen once it has the focus
        await look.page.keyboard.press("Enter")
        assert await look.page.evaluate("document.activeElement.id") == "main"
        await look.page.keyboard.press("/")
        assert await look.page.evaluate("document.activeElement.id") == "q"
        await look.page.keyboard.press("Escape")
        for key, place in (("j", 0), ("j", 1), ("k", 0)):
            await look.page.keyboard.press(key)
            links = "[...document.querySelectorAll('.found a.read')].indexOf(document.activeElement)"
            assert await look.page.evaluate(links) == place
        ring = "getComputedStyle(document.activeElement).outlineStyle"
        assert await look.page.evaluate(ring) == "solid"  # the focus is seen
        await look.page.keyboard.press("Enter")
        await look.page.wait_for_url("**open=**")
        await look.check()
        assert await look.page.evaluate("document.activeElement.id") == "reader"
        await look.page.keyboard.press("Tab")
        await look.page.keyboard.press("Tab")
        assert await look.page.evaluate("document.activeElement.id") == "about"
        await look.page.keyboard.type("the constant")
        await look.page.keyboard.press("Enter")
        await look.page.wait_for_url("**about=**")
        await look.check()
        assert "Best passages" in await look.text(".reader")


async def test_a_failure_is_seen_as_one(serve: Serve, world: World, browsing: Browsing) -> None:
    _, url = await serve(session={"max_searches": 1, "warning_threshold": 1})
    async with browsing(url) as open_:
        look = await open_()
        world.searxng.fail(InjectedFault.status(500), times=None)
        await look.go(QUERY)
        trouble = await look.text(".trouble")
        assert "The search failed" in trouble
        assert "HTTP 500" in trouble
        assert await look.page.locator(".nothing").count() == 0
        world.searxng.heal()
        await look.go("/?q=zxqv+wwkj+pppq")
        assert "searxng found nothing" in await look.text(".nothing")
        assert await look.page.locator(".trouble").count() == 0
        await look.go(QUERY)
        assert "Search limit reached" in await look.text(".trouble")
        await look.follow("text=Start a new session")
        await look.go(QUERY)
        assert "3 results" in await look.text(".receipt")
        await look.go(f"/?open={world.site('articles').url}/nothing-here")
        assert "This page could not be read" in await look.text(".reader")


async def test_a_conversation_has_cards_and_goes_on(serve: Serve, browsing: Browsing) -> None:
    _, url = await serve()
    async with browsing(url) as open_:
        look = await open_()
        await look.go("/?q=reciprocal+rank+fusion&answer=1")
        cards = look.page.locator(".cards li")
        first = {
            await card.locator("a").inner_text(): await card.locator(".number").inner_text()
            for card in await cards.all()
        }
        assert first
        said = await look.page.locator(".answer [data-question]").inner_text()
        cited = await look.page.locator(".answer .cite").evaluate_all(CITED)
        assert cited
        for card in await cards.all():
            assert await card.locator(".host").inner_text()
            assert await card.locator(".snippet").inner_text()
        await _check_looks(look)
        await look.page.locator("#follow").focus()
        await look.page.keyboard.type("What is BM25?")
        await look.page.keyboard.press("Enter")
        await look.page.locator("text=Follow-up to").wait_for()
        assert await look.page.locator(".answer .by a").inner_text() == "reciprocal rank fusion"
        earlier = look.page.locator(".answer .earlier")  # the answer before this one stands above it, closed
        assert await earlier.locator("summary").all_inner_texts() == ["reciprocal rank fusion"]
        assert not await earlier.locator(".prose").is_visible()
        await earlier.locator("summary").click()
        assert (await earlier.locator(".prose").inner_text()).split() == said.split()  # a table has tabs
        assert await earlier.locator(".cite").evaluate_all(CITED) == cited  # its numbers lead to its own sources
        again = {
            await card.locator("a").inner_text(): await card.locator(".number").inner_text()
            for card in await cards.all()
        }
        assert again
        assert all(again[title] == number for title, number in first.items() if title in again)  # one numbering
        assert not set(again.values()) & {number for title, number in first.items() if title not in again}
        await _check_looks(look)
        await cards.first.locator("a").focus()
        await look.page.keyboard.press("Enter")
        await look.page.locator("#reader .prose").last.wait_for()


async def test_fingers_hit_what_they_aim_at(serve: Serve, world: World, browsing: Browsing) -> None:
    _, url = await serve()
    page = f"&open={world.site('articles').url}/wiki/bm25"
    async with browsing(url) as open_:
        look = await open_(size=PHONE)
        for path in ("/", QUERY, QUERY + "&answer=1", QUERY + page):
            await look.go(path)
            assert await look.page.evaluate("document.documentElement.scrollWidth") == PHONE[0], path
            assert await look.page.locator("a, button, summary, input, select").evaluate_all(SMALL) == [], path


async def test_earlier_searches_are_suggested_while_typing(serve: Serve, browsing: Browsing) -> None:
    _, url = await serve()
    async with browsing(url) as open_:
        look = await open_()
        for path in (QUERY, "/?q=ranking+of+lists", "/"):
            await look.go(path)
        field, options = look.page.locator("#q"), look.page.locator("#suggestions li")
        await field.fill("ran")  # at once: suggestions for "ra" would come in between
        await options.first.wait_for()
        texts = await options.all_inner_texts()
        assert texts[:2] == ["ranking of lists", "reciprocal rank fusion"]
        await look.check_axe()
        for key, value in (("ArrowDown", texts[0]), ("ArrowDown", texts[1]), ("ArrowUp", texts[0]), ("ArrowUp", "ran")):
            await look.page.keyboard.press(key)
            assert await field.input_value() == value
        await look.page.keyboard.press("ArrowUp")  # around, to the last
        active = await field.get_attribute("aria-activedescendant")
        assert await look.text(f"#{active}") == texts[-1] == await field.input_value()
        await look.check_axe()
        await look.page.keyboard.press("Escape")
        assert await field.get_attribute("aria-expanded") == "false"
        assert await look.page.evaluate("document.activeElement.id") == "q"  # the list alone is closed
        await look.page.keyboard.press("Escape")
        assert await look.page.evaluate("document.activeElement.id") != "q"
        await field.fill("rec")
        await options.first.click()
        await look.page.wait_for_url(f"{url}{QUERY}")
        other = await open_()  # another browser has searched for nothing
        await other.go("/")
        async with other.page.expect_response("**/page/suggestions?q=ran") as response:
            await other.page.locator("#q").press_sequentially("ran")
        assert await (await response.value).json() == []


class _Judge(Writer):
    """A model that is asked about the sentences of its answer, too, and takes its time over them."""

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the next turn, or a judgment when it may go on."""
        body: Any = request.json()
        if body.get("stream"):
            return super().handle(request)
        assert self.go_on.wait(60)
        return EmulatedResponse.json({"choices": [{"message": {"content": "1 yes"}, "finish_reason": "stop"}]})


@pytest.mark.req("B34")
async def test_checking_the_citations_is_seen(serve: Serve, world: World, browsing: Browsing) -> None:
    judge = world.add(
        _Judge([], ["Reciprocal rank fusion combines ordered lists by summing reciprocal positions. [1]"])
    )
    judge.go_on.clear()
    _, url = await serve(answer={"model": "m", "base_url": f"{judge.url}/v1", "judge": "model"})
    async with browsing(url) as open_:
        look = await open_()
        await look.page.goto(url + QUERY + "&answer=1", wait_until="commit")
        checking = look.page.locator(".answer .waiting", has_text="Checking citations")
        await checking.wait_for(state="visible")
        assert await look.page.locator(".draft", has_text="positions").is_visible()
        assert await look.page.locator(".waiting", has_text="Answering").is_hidden()
        await look.check_axe()
        judge.go_on.set()
        await look.page.locator(".answer .cards").wait_for()
        assert await checking.is_hidden()
