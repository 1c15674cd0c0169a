"""Rendering of one page in a browser: open it, wait for its scripts, and return the resulting HTML."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from groundwire.deadline import Deadline
from groundwire.errors import PageEmpty, PageUnavailable, TooManyRedirects, UnsupportedContent
from groundwire.reading.browser.idle_detection import (
    GOES_ON,
    MAX_ROUNDS,
    MORE,
    PENDING,
    PROBE,
    WATCH,
    Look,
    Settling,
)

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page, Request, Response

MAX_NAVIGATIONS: Final = 11  # the page itself and ten redirects, by the server or by scripts, as for plain HTTP
_POLL: Final = 0.03  # seconds between two polls
_LOOK_TIME: Final = 0.5  # seconds per poll; a page that does not respond in that time is busy
_MORE_TIME: Final = 10.0  # seconds to scroll and to render it; frames are slow where the processor is busy
_TAKE_TIMES: Final = (2.0, 4.0, 8.0)
"""Seconds to wait for a page's HTML; its scripts are stopped after the first time. Two seconds each were too few for
120,000 nodes on a busy machine: the page was given up although its scripts had long ended."""
_MAX_NODES: Final = 400_000  # elements; beyond, only the beginning of the HTML is taken
_TAKE_PART: Final = "size => document.documentElement.outerHTML.slice(0, size)"
_MARK_SHARE: Final = 0.5
"""The share of each of `_TAKE_TIMES` to mark what is not shown. Half a second in all was too little for 30,000 elements
on a busy machine: each attempt failed at once, and the page was said to have scripts that never finish."""
_MARK: Final = r"""(() => {
  const tools = new Set(["script", "style", "template", "head", "title", "link", "meta", "noscript", "base"]);
  const named = /hid|collaps|invisible|d-none|sr-only|screen-?reader|closed|off/i;
  const empty = /^rect\((0px|1px|auto)(, (0px|1px)){3}\)$|^inset\((50|100)%\)$/;
  let left = 30000;
  const set = (element, name, value) => element.style.setProperty(name, value, "important");
  const ends = (box, style) => (box.right + scrollX <= 0 || box.bottom + scrollY <= 0) && style.direction === "ltr";
  const isUnseen = (element, style) => {
    const box = element.getBoundingClientRect();
    const out = style.position === "absolute" || style.position === "fixed";
    if (out && (empty.test(style.clip) || ends(box, style))) return true;
    if (empty.test(style.clipPath)) return true;
    return (box.width <= 1 || box.height <= 1) && style.overflowX !== "visible" && style.overflowY !== "visible";
  };
  const look = (node, shown) => {
    for (const element of node.children) {
      if (left-- <= 0) return;
      if (tools.has(element.localName) || !(element instanceof HTMLElement) || !element.isConnected) continue;
      const style = getComputedStyle(element), boxed = style.display !== "contents" && style.display !== "inline";
      if (style.display === "none" || (boxed && isUnseen(element, style))) {
        set(element, "display", "none");
        continue;
      }
      if (element.hidden || named.test(element.className)) set(element, "display", style.display);
      const visible = style.visibility === "visible";
      if (visible !== shown) set(element, "visibility", style.visibility);
      if (element.shadowRoot) look(element.shadowRoot, visible);
      if (element.localName !== "details" || element.open) look(element, visible);
    }
  };
  if (document.body) look(document.body.parentNode, true);
})()"""
"""Writes what the browser shows and hides into the elements' own styles, where the reader of the HTML looks."""


class BrowserGone(Exception):
    """The browser, or the page's process, has died; the message says what happened.

    Args:
        message: What happened.
        fix: What to do.
    """

    def __init__(self, message: str = "the browser crashed on this page", fix: str = "") -> None:
        super().__init__(message)
        self.fix: str = fix


class Unreachable(Exception):
    """The page could not be loaded; the message is the browser's error code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A rendered page."""

    url: str
    """Its URL after all redirects."""
    html: str
    """Its HTML, with declarative shadow roots."""
    status: int = 200
    """The HTTP status of its document."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers of its document."""
    warnings: tuple[str, ...] = ()
    """Warnings about it."""


class _Watch:
    """Records the activity of a page while it loads."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.settling = Settling(time.monotonic())
        self.document: Response | None = None
        self.crashed = asyncio.Event()
        self.navigations = 0
        self.busy = False
        self._page = page
        context.on("page", self._popup)
        page.on("request", self._began)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.on("response", self._answered)
        page.on("crash", lambda _: self.crashed.set())

    def _began(self, request: Request) -> None:
        self.settling.began(request, request.resource_type, time.monotonic())
        if self._is_main(request):
            self.navigations += 1

    def _ended(self, request: Request) -> None:
        self.settling.ended(request, time.monotonic())

    def _answered(self, response: Response) -> None:
        if self._is_main(response.request) and not 300 <= response.status < 400:
            self.document = response

    def _is_main(self, request: Request) -> bool:
        from playwright.async_api import Error

        if not request.is_navigation_request():
            return False
        try:
            return request.frame == self._page.main_frame
        except Error:  # of a page that does not exist yet
            return False

    async def _popup(self, page: Page) -> None:
        from playwright.async_api import Error

        if page is not self._page:
            with suppress(Error):
                await page.close()


async def render(
    context: BrowserContext, page: Page, url: str, *, deadline: Deadline, settle: float, max_length: int
) -> Rendered:
    """Render a page and return the HTML produced by its scripts.

    Args:
        context: The page's own context.
        page: An empty page of it.
        url: The URL.
        deadline: The deadline of the result; shortly before it, the current state is taken.
        settle: Maximum seconds to wait for scripts after the page has started to load.
        max_length: Maximum characters of markup.

    Raises:
        PageError: it cannot be read. Unreachable: the connection failed. BrowserGone: retry with another browser.
    """
    from playwright.async_api import Error

    watch = _Watch(context, page)
    spare = min(1.5, deadline.remaining() / 4)
    session = await context.new_cdp_session(page)
    await page.add_init_script(PENDING)
    await page.add_init_script(WATCH)
    try:
        await page.goto(url, wait_until="commit", timeout=deadline.remaining() * 1_000)
    except Error as error:
        _raise_for(str(error), url, watch)
    until = time.monotonic() + max(0.0, min(settle, deadline.remaining() - spare))
    settled = await _settle(page, watch, url, until)
    goes_on = settled and await _load_more(
        page, watch, url, min(until + settle, time.monotonic() + deadline.remaining() - spare)
    )
    html, stopped = await _take(page, session, watch, max_length)
    return Rendered(
        url=page.url,
        html=html[:max_length],
        status=watch.document.status if watch.document else 200,
        headers=watch.document.headers if watch.document else {},
        warnings=_remarks(watch, settled=settled, stopped=stopped, cut=len(html) >= max_length)
        + ((GOES_ON,) if goes_on else ()),
    )


async def _settle(page: Page, watch: _Watch, url: str, until: float) -> bool:
    """Wait until a page has finished loading or the time is up; return whether it has finished."""
    from playwright.async_api import Error

    while True:
        if watch.crashed.is_set():
            raise BrowserGone
        if watch.navigations > MAX_NAVIGATIONS:
            raise TooManyRedirects(
                url, f"The page redirects more than {MAX_NAVIGATIONS - 1} times. Look for another URL of it."
            )
        try:
            async with asyncio.timeout(_LOOK_TIME):
                watch.settling.saw(Look.of(await page.evaluate(PROBE)), time.monotonic())
            watch.busy = False
        except TimeoutError:
            watch.busy = True
        except Error as error:
            if page.is_closed() or "closed" in str(error) or "crashed" in str(error):
                raise BrowserGone from error
            # Otherwise it has navigated to another URL in the meantime.
        now = time.monotonic()
        if watch.settling.done(now):
            return True
        if now >= until:
            return False
        await asyncio.sleep(min(_POLL, until - now))


async def _load_more(page: Page, watch: _Watch, url: str, until: float) -> bool:
    """Load more of an endless list until it stops growing or the bound is reached; return whether it may go on."""
    from playwright.async_api import Error

    start = page.url
    if time.monotonic() >= until:
        return False  # no time was left to find out whether there is a list
    for number in range(MAX_ROUNDS):
        before = watch.settling.look
        try:
            async with asyncio.timeout(min(_MORE_TIME, until - time.monotonic())):
                if before.nodes > _MAX_NODES or not await page.evaluate(MORE, number == 0):
                    return False
        except TimeoutError:
            return True
        except Error:
            return False
        watch.settling.changed = time.monotonic()
        await _settle(page, watch, url, until)
        look = watch.settling.look
        if page.url != start or look.text <= before.text or time.monotonic() >= until:
            break
    else:
        return True
    return time.monotonic() >= until


async def _take(page: Page, session: CDPSession, watch: _Watch, max_length: int) -> tuple[str, bool]:
    """Return a page's HTML, and whether its scripts had to be stopped."""
    from playwright.async_api import Error

    stopped = False
    for seconds in _TAKE_TIMES:
        try:
            if watch.busy:
                stopped = True
                await session.send("Emulation.setScriptExecutionDisabled", {"value": True})
                await session.send("Runtime.terminateExecution")
            async with asyncio.timeout(seconds):
                if watch.settling.look.nodes > _MAX_NODES:
                    return str(await page.evaluate(_TAKE_PART, max_length)), stopped
                await _mark_unseen(session, seconds * _MARK_SHARE)
                root = await session.send("DOM.getDocument", {"depth": 0})
                node = {"nodeId": root["root"]["nodeId"], "includeShadowDOM": True}
                return str((await session.send("DOM.getOuterHTML", node))["outerHTML"]), stopped
        except TimeoutError:
            watch.busy = True
        except Error as error:
            if page.is_closed() or "closed" in str(error) or "crashed" in str(error) or watch.crashed.is_set():
                raise BrowserGone from error
    raise PageUnavailable(page.url, "The page's scripts never finish.")


async def _mark_unseen(session: CDPSession, seconds: float) -> None:
    """Mark what the browser does not show, as external style sheets are no part of the HTML.

    The page's scripts are over, so that none takes the marks away, and in a world of its own the script calls no
    function that the page has replaced.
    """
    await session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    tree = await session.send("Page.getFrameTree")
    world = await session.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
    script = {"expression": _MARK, "contextId": world["executionContextId"], "timeout": 1_000 * seconds}
    await session.send("Runtime.evaluate", script)


def _raise_for(text: str, url: str, watch: _Watch) -> None:
    """Raise the error for a failed navigation."""
    if "Download is starting" in text:
        raise UnsupportedContent(url, "The URL is a file to download, not a page.")
    if "ERR_TOO_MANY_REDIRECTS" in text:
        raise TooManyRedirects(url, "The page redirects endlessly. Look for another URL of it.")
    if watch.document is not None and watch.document.status == 204:
        raise PageEmpty(url, "The page has no content (HTTP 204).", status=204)
    if "Timeout" in text:
        raise TimeoutError
    if "ERR_" in text:
        raise Unreachable(text.partition("net::")[2].partition(" ")[0].strip() or "ERR_FAILED")
    if "closed" in text or "crashed" in text or watch.crashed.is_set():
        raise BrowserGone
    raise Unreachable("ERR_FAILED")


def _remarks(watch: _Watch, *, settled: bool, stopped: bool, cut: bool) -> tuple[str, ...]:
    warnings = []
    if stopped:
        warnings.append("the page's scripts did not finish and were stopped")
    elif not settled and not watch.settling.finished:
        warnings.append("the page was still loading when it was read")
    if cut:
        warnings.append("the page is very large; only its beginning was read")
    return tuple(warnings)
