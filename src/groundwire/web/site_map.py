"""The addresses of a site: its sitemaps, feeds, and links, breadth first, within the prefix of the first address."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, Self, TypeVar

from groundwire.errors import (
    BlockedByPolicy,
    BlockedByRobots,
    BlockedDomain,
    BudgetExceeded,
    Closed,
    GroundwireError,
    PageNotFound,
    PagePaced,
    PageRefused,
    PageTooLarge,
    PageUnavailable,
    PermissionDenied,
    UnsupportedContent,
)
from groundwire.models import SiteUrl
from groundwire.reading.local import refuse_unreadable
from groundwire.reading.refresh import refresh_target
from groundwire.reading.site_links import SiteLinks, read_site_links
from groundwire.reading.workers import WorkerUnavailable, WorkTooHeavy
from groundwire.routing.calls import PageCall
from groundwire.routing.politeness import Politeness
from groundwire.safety.urls import WebUrl, parse_url
from groundwire.transport import Transport
from groundwire.web.open_page import OpenPageFlow

_T = TypeVar("_T")

_MAX_CONCURRENT: Final = 2  # pages of the site that are fetched at the same time
_MAX_SITEMAPS: Final = 200
_MAX_FEEDS: Final = 5
_DEFAULT_DEPTH: Final = 3  # links, where no sitemap lists the pages
_MAX_FAILURES_IN_A_ROW: Final = 20  # failures after which a site is taken to refuse
_MAX_ATTEMPTS: Final = 3
_MAX_PAUSE_SECONDS: Final = 3_600.0  # seconds, as long as politeness keeps what a site asked for
_PAUSE_SECONDS: Final = 1.0  # seconds before the second try at a site that does not say how long it is busy
_SITE_LINKS: Final = "groundwire.reading.site_links:site_links_in_worker"
_BUSY_STATUSES: Final = frozenset({429, 503})
_ACCEPT: Final = "text/html, application/xhtml+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1"


async def patiently(open_page: Callable[[], Awaitable[_T]]) -> _T:
    """Await a page, and again, twice at most, after the pause that its site asks for.

    Raises:
        GroundwireError: the last error.
    """
    for number in range(1, _MAX_ATTEMPTS):
        try:
            return await open_page()
        except PagePaced as error:
            if error.retry_after > _MAX_PAUSE_SECONDS:
                raise
            pause = error.retry_after
        except (PageRefused, PageUnavailable) as error:
            if error.status not in _BUSY_STATUSES:
                raise
            pause = _PAUSE_SECONDS * number  # a longer one that the site asks for is kept by politeness
        await asyncio.sleep(pause)
    return await open_page()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkReader:
    """Fetches the documents of a site for their links, as politely as pages are read."""

    flow: OpenPageFlow
    """What opens pages: its rules apply."""
    transport: Transport
    """Fetches them."""
    politeness: Politeness
    """The rules of sites."""
    new_call: Callable[[str], PageCall]
    """Returns a call for an address, with a deadline of its own."""

    async def read(self, url: str) -> tuple[WebUrl, SiteLinks]:
        """Return the address of a document after redirects, and what it leads to.

        Raises:
            BlockedByPolicy, PageError, BudgetExceeded, DeadlineExceeded, Closed.
        """
        return await patiently(lambda: self._read(self.new_call(url)))

    async def sitemaps(self, url: WebUrl) -> tuple[str, ...]:
        """Return the addresses of the sitemaps in a site's robots.txt."""
        return await self.politeness.sitemaps(url, self.new_call(url.text).deadline)

    async def check(self, url: WebUrl) -> None:
        """Raise BlockedByPolicy if a page of the site may not be read."""
        if not self.flow.policy.permits(url.text):
            raise BlockedDomain(f"The settings do not allow opening pages of {url.host}.")
        await self.politeness.check(url, self.new_call(url.text).deadline)

    async def _read(self, call: PageCall) -> tuple[WebUrl, SiteLinks]:
        if not any(reader.name == "local" for reader in self.flow.readers.readers):
            raise PermissionDenied("A site is mapped from this machine: add local to the setting read.providers.")
        url, settings = await self.flow.admitted(call), self.flow.settings.read
        async with call.paid_from(await call.budget.take_page()):
            reply = await self.transport.fetch(
                url.text, deadline=call.deadline, headers={"Accept": _ACCEPT}, cap=settings.max_bytes, cut=True,
                inspect=refuse_unreadable, leads_to=refresh_target,
            )  # fmt: skip
        final = parse_url(reply.url)
        if not self.flow.policy.permits(final.text):
            raise BlockedDomain("The page redirects to a domain that the settings do not allow.")
        if settings.isolation != "process":
            links = await asyncio.to_thread(read_site_links, reply.body, reply.content_type, final.text)
        else:
            job = {"content_type": reply.content_type, "url": final.text}
            try:
                data, _ = await self.flow.workers.run(_SITE_LINKS, job, reply.body)
            except WorkTooHeavy as error:
                raise PageTooLarge(final.text, "Reading its links exceeded the memory or CPU limit.") from error
            except WorkerUnavailable as error:
                raise UnsupportedContent(final.text, "It is read in a process, and none can be started.") from error
            rows, feeds = tuple(map(tuple, data["rows"])), tuple(data["feeds"])
            links = SiteLinks(data["kind"], rows, feeds, data["problem"])
        if len(reply.body) == settings.max_bytes:  # the last address may be cut off, too
            problem = f"only its first {settings.max_bytes:,} bytes were read (read.max_bytes)"
            links = replace(links, rows=links.rows[:-1], problem=problem)
        return final, links


class SiteMap:
    """The addresses of a site, to be iterated with `async for`; see `Web.map`.

    Args:
        reader: Fetches its documents.
        url: The first address.
        limit: Maximum addresses.
        depth: Maximum links from the first page to an address; None is 1 if sitemaps list pages, else 3.
    """

    def __init__(self, reader: LinkReader, url: str, *, limit: int, depth: int | None) -> None:
        self.pages_read: int = 0
        """The documents that were fetched so far."""
        self._reader = reader
        self._start = url
        self._prefix = parse_url(url)
        self._limit = limit
        self._depth = depth
        self._addresses: set[str] = set()
        self._count = 0
        self._is_full = False
        self._not_followed = 0
        self._forbidden: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._first_failed: dict[str, str] = {}
        self._elsewhere: Counter[str] = Counter()
        self._in_a_row = 0
        self._notes: list[str] = []
        self._rows = self._walk()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SiteUrl:
        return await anext(self._rows)

    async def aclose(self) -> None:
        """Stop early."""
        await self._rows.aclose()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is missing and why, as known so far: limits that ended the map, and what could not be read."""
        notes = list(self._notes)
        if self._full():
            notes.append(f"the map ends at {self._limit:,} addresses, its limit; the site has more")
        if self._not_followed:
            depth = self._depth or _DEFAULT_DEPTH
            notes.append(
                f"the links of {self._not_followed:,} pages were not followed: these pages are {depth} links from the "
                "first one, the limit of depth"
            )
        if self._elsewhere:
            (host, _), *_ = self._elsewhere.most_common(1)
            count = self._elsewhere.total()
            notes.append(f"{count:,} not listed: addresses of sitemaps and feeds on other hosts, most on {host}")
        notes += (f"{count:,} not listed: {why}" for why, count in self._forbidden.items())
        notes += (
            f"{count:,} not read for their links, such as {self._first_failed[why]}: {why}"
            for why, count in self._failed.most_common(10)
        )
        return tuple(notes)

    def _full(self) -> bool:
        """Return whether the limit was reached, and an address was left over."""
        return self._is_full

    async def _walk(self) -> AsyncGenerator[SiteUrl]:
        final, links = await self._reader.read(self._start)
        self.pages_read += 1
        self._note_problem(self._start, links.problem)
        self._prefix = _prefix(parse_url(self._start), final)
        if links.kind != "page":  # a sitemap or a feed, which is no page of the site
            self._prefix = final._replace(target="/")
        elif (start := await self._new(final.request_text)) is not None:
            yield SiteUrl(url=start, origin="start", depth=0)
        waiting: deque[tuple[str, int]] = deque()
        listed = 0
        async for row in self._listed(final, links):
            listed += row.origin == "sitemap"
            waiting.append((row.url, 1))
            yield row
        depth = self._depth or (1 if listed else _DEFAULT_DEPTH)
        level, following = 1, links.rows if links.kind == "page" else ()
        while not self._full():
            for address, _ in following:
                if (url := await self._new(address)) is not None:
                    waiting.append((url, level))
                    yield SiteUrl(url=url, origin="link", depth=level)
                if self._full():
                    return
            if not waiting or self._in_a_row >= _MAX_FAILURES_IN_A_ROW:
                break
            if waiting[0][1] >= depth:
                self._not_followed = 0 if listed and self._depth is None else len(waiting)
                break
            level = waiting[0][1] + 1
            size = min(_MAX_CONCURRENT, len(waiting))
            batch = [waiting.popleft()[0] for _ in range(size) if waiting[0][1] + 1 == level]
            documents = await asyncio.gather(*map(self._links_of, batch))
            following = tuple(row for links in documents for row in links.rows)
        if self._in_a_row >= _MAX_FAILURES_IN_A_ROW and waiting:
            self._notes.append(f"the map ends early: {_MAX_FAILURES_IN_A_ROW} pages in a row could not be read")

    async def _listed(self, start: WebUrl, links: SiteLinks) -> AsyncGenerator[SiteUrl]:
        """Yield what the sitemaps of the site and the feeds of its first page list."""
        try:
            declared = await self._reader.sitemaps(start)
        except PageUnavailable as error:
            declared = ()
            self._note_problem(f"{start.origin}/robots.txt", str(error))
        documents = deque((*(declared or [f"{start.origin}/sitemap.xml"]), *links.feeds[:_MAX_FEEDS]))
        visited: set[str] = {start.request_text}
        document = links if links.kind != "page" else None
        while (documents or document is not None) and not self._full():
            if document is None:
                url = documents.popleft()
                if url in visited:
                    continue
                if len(visited) > _MAX_SITEMAPS:
                    self._notes.append(f"only the first {_MAX_SITEMAPS} sitemaps were read")
                    return
                visited.add(url)
                is_guess = not declared and url == f"{start.origin}/sitemap.xml"
                document = await self._links_of(url, silent=is_guess)
            if document.kind == "index":
                documents.extendleft(url for url, _ in reversed(document.rows[: _MAX_SITEMAPS + 1]))
            elif document.kind != "page":
                for address, day in document.rows:
                    if (host := parse_url(address).host) != self._prefix.host:
                        self._elsewhere[host] += 1
                    elif (new := await self._new(address)) is not None:
                        is_feed = document.kind == "feed"
                        yield SiteUrl(url=new, origin="feed" if is_feed else "sitemap", depth=1, modified=day or None)
                    if self._full():
                        return
            document = None

    async def _links_of(self, url: str, *, silent: bool = False) -> SiteLinks:
        """Return what a document leads to; nothing if it cannot be read, which is counted."""
        try:
            _, links = await self._reader.read(url)
        except (BudgetExceeded, Closed):
            raise
        except GroundwireError as error:
            if not (silent and isinstance(error, (PageNotFound, PageRefused, BlockedByRobots))):
                self._note_problem(url, str(error))
                self._in_a_row += 1
            return SiteLinks("page")
        self.pages_read += 1
        self._in_a_row = 0
        self._note_problem(url, links.problem)
        return links

    def _note_problem(self, url: str, problem: str) -> None:
        if problem:
            self._failed[problem] += 1
            self._first_failed.setdefault(problem, url)

    async def _new(self, address: str) -> str | None:
        """Return an address as it is listed; None if it was seen, is of another part of the web, or is forbidden."""
        url = parse_url(address)
        if (
            url.host == self._prefix.host
            and url.scheme != self._prefix.scheme
            and {url.port, self._prefix.port} == {80, 443}
        ):
            url = url._replace(scheme=self._prefix.scheme, port=self._prefix.port)
        text = url.request_text
        if text in self._addresses or not _is_below(url, self._prefix):
            return None
        if self._count >= self._limit:
            self._is_full = True
            return None
        self._addresses.add(text)
        try:
            await self._reader.check(url)
        except BlockedByPolicy as error:
            self._forbidden[str(error)] += 1
            return None
        except PageUnavailable as error:
            self._note_problem(text, str(error))
            return None
        self._count += 1
        return text


def _prefix(requested: WebUrl, final: WebUrl) -> WebUrl:
    """Return the address below which a map stays: that of the folder that was asked for, where it redirects to."""
    path, final_path = requested.target.partition("?")[0], final.target.partition("?")[0]
    path = path if final_path.startswith(path) else final_path
    folder, _, name = path.rpartition("/")
    return final._replace(target=f"{folder}/" if "." in name or not name else path, fragment="")


def _is_below(url: WebUrl, prefix: WebUrl) -> bool:
    """Return whether an address is the prefix or below it."""
    if url.origin != prefix.origin:
        return False
    path = url.target.partition("?")[0]
    return path == prefix.target or path.startswith(prefix.target.rstrip("/") + "/")
