"""A user's browser: real Chromium, with a record of everything that a good page does not do."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from components.chromium import executable_or_skip

DESK = (1380, 860)
PHONE = (390, 844)

_WATCH = """
window.__ran = [];
window.__violations = [];
document.addEventListener("securitypolicyviolation",
  event => window.__violations.push(event.violatedDirective + " " + event.blockedURI));
"""


@dataclass
class Look:
    """A tab, and the problems of its pages."""

    page: Page
    url: str
    problems: list[str] = field(default_factory=list)
    refusals: bool = False
    """Whether pages with a status from 400 on are expected, which a browser notes of its own accord."""

    async def go(self, path: str) -> None:
        """Open a path and wait until it is loaded."""
        await self.page.goto(self.url + path)
        await self.check()

    async def submit(self, selector: str, text: str) -> None:
        """Type into a field, press Enter, and wait for the next page."""
        await self.page.fill(selector, text)
        async with self.page.expect_navigation():
            await self.page.press(selector, "Enter")
        await self.check()

    async def follow(self, selector: str) -> None:
        """Click a link, and wait for the next page."""
        async with self.page.expect_navigation():
            await self.page.click(selector)
        await self.check()

    async def turn(self, scheme: Literal["light", "dark"], size: tuple[int, int]) -> None:
        """Give the tab other colors and another size."""
        await self.page.emulate_media(color_scheme=scheme)
        await self.page.set_viewport_size({"width": size[0], "height": size[1]})

    async def check(self) -> None:
        """Check that nothing violated the page's Content-Security-Policy."""
        await self.page.wait_for_load_state()
        self.problems += await self.page.evaluate("window.__violations ?? []")
        if self.refusals:
            self.problems = [one for one in self.problems if "responded with a status of 4" not in one]
        assert self.problems == []

    async def check_axe(self) -> None:
        """Check that axe has no findings, and has checked a minimum of elements."""
        found = (await Axe().run(self.page)).response
        said = [(one["id"], node["target"], node["html"][:200]) for one in found["violations"] for node in one["nodes"]]
        assert said == [], f"{self.page.url}: {said}"
        assert len(found["passes"]) > 15

    async def text(self, selector: str) -> str:
        """Return the text of an element, with plain spaces."""
        return re.sub(r"\s+", " ", await self.page.inner_text(selector)).strip()


Open = Callable[..., Any]


@asynccontextmanager
async def launched_browser() -> AsyncIterator[Browser]:
    """Start a browser."""
    executable = executable_or_skip()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(executable), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def tabs(browser: Browser, url: str) -> AsyncIterator[Open]:
    """Yield a function that opens a tab for a site, each with cookies of its own.

    The function's arguments: `scheme` (`light` or `dark`), `size` (width and height), `script` (whether scripts run).
    """
    async with AsyncExitStack() as stack:

        async def open_(*, scheme: Any = "light", size: tuple[int, int] = DESK, script: bool = True) -> Look:
            context = await browser.new_context(
                viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, java_script_enabled=script
            )
            stack.push_async_callback(context.close)
            return await _tab(context, url)

        yield open_


@asynccontextmanager
async def browsing(url: str) -> AsyncIterator[Open]:
    """Start a browser, and yield the function of `tabs`."""
    async with launched_browser() as browser, tabs(browser, url) as open_:
        yield open_


async def _tab(context: BrowserContext, url: str) -> Look:
    context.set_default_timeout(60_000)
    await context.add_init_script(_WATCH)
    page = await context.new_page()
    look = Look(page, url)
    page.on("console", lambda message: look.problems.append(f"console {message.type}: {message.text}"))
    page.on("pageerror", lambda error: look.problems.append(f"error: {error}"))
    page.on("dialog", lambda dialog: look.problems.append(f"dialog: {dialog.message}"))
    page.on(
        "request",
        lambda request: None if request.url.startswith(f"{url}/") else look.problems.append(f"asked {request.url}"),
    )
    return look
