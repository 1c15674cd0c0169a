"""The flow of opening a page: guard, domain lists, budget, cache, readers, archive."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from groundwire._version import __version__
from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedDomain,
    BudgetExceeded,
    DeadlineExceeded,
    GroundwireError,
    InvalidRequest,
    PermissionDenied,
)
from groundwire.models import Attempt, Page
from groundwire.providers import ReadProvider
from groundwire.providers.base import is_owned
from groundwire.reading.passages.token_budget import TextBudget
from groundwire.reading.passages.view import Ask
from groundwire.reading.readers import Readers
from groundwire.reading.sites.reader import SiteReaders
from groundwire.reading.workers.pool import Workers, view_off_loop
from groundwire.routing.budget import Reservation, SessionBudget
from groundwire.routing.cache import Cache
from groundwire.routing.cache_codec import age, identity, lifetime, page_codec, page_key, partition_of
from groundwire.routing.calls import AttemptLog, CacheMode, PageCall
from groundwire.routing.politeness import Politeness
from groundwire.safety.guard import Guard
from groundwire.safety.secret_scanner import SecretScanner
from groundwire.safety.tenancy import page_visibility
from groundwire.safety.urls import DomainPolicy, parse_url
from groundwire.settings import Settings
from groundwire.storage.base import Store
from groundwire.telemetry.call_events import CallListeners, PageDone
from groundwire.transport import Transport
from groundwire.web.known_urls import FROM_TEXT, KnownUrls, addresses_in
from groundwire.web.session_sources import SessionSources

__all__ = ["OpenPageFlow", "OpenPages", "PageTarget", "check_url", "check_urls", "make_politeness", "make_site_readers"]

_AT_ONCE = 20_000  # characters that are looked through without a thread, in about 10 ms


@dataclass(frozen=True, slots=True)
class PageTarget:
    """A requested page, before its URL is checked."""

    url: str
    """The URL as given."""
    selection: Ask
    """The requested part of the page."""
    deadline: Deadline
    """The deadline of the page."""
    cache_mode: CacheMode
    """The cache mode."""
    attempts: AttemptLog = field(default_factory=AttemptLog)
    """The attempts and their outcomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPageFlow:
    """Opens pages for one `Web` and all of its sessions."""

    settings: Settings
    """The settings in effect."""
    guard: Guard
    """The guard for URLs."""
    readers: Readers
    """The readers."""
    policy: DomainPolicy
    """The operator's domain lists."""
    cache: Cache | None
    """The page cache; None disables it."""
    secrets: SecretScanner
    """The scanner for secrets in URLs."""
    known: KnownUrls | None
    """The URLs known to sessions; None allows any."""
    sources: SessionSources | None
    """The numbering of a session's pages; None disables it."""
    workers: Workers
    """The workers for long pages."""
    state: Callable[[], Awaitable[tuple[str, ...]]]
    """Returns warnings about the store and the archive."""

    async def open(self, target: PageTarget, budget: SessionBudget) -> Page:
        """Read a page and return the requested part; see `whole` and `shown`."""
        return await self.shown(await self.whole(target, budget), target.selection, target, budget)

    async def shown(self, page: Page, selection: Ask, target: PageTarget, budget: SessionBudget) -> Page:
        """Return the requested part of a whole page, and count it.

        Raises:
            InvalidRequest: the page has no such part. DeadlineExceeded: searching a very long page took too long.
        """
        if self.sources is not None and target.cache_mode != "bypass":
            page = await self.sources.number_page(budget, page)
        said = await self.state()
        if self.known is not None and await self.known.origin(budget, parse_url(target.url)) == "pages":
            said = (*said, FROM_TEXT)
        if said:  # before the part is cut, as its limit counts them
            page = page.model_copy(update={"warnings": (*page.warnings, *said)})
        try:
            with target.deadline.timeout():
                part = await view_off_loop(self.workers, page, selection)
        except TimeoutError as error:
            raise DeadlineExceeded("The page was read, but searching it took too long. Allow more time.") from error
        await budget.read(part.content_length)
        if self.known is not None:
            text = f"<{part.final_url}>\n{part.content}"
            links = addresses_in(text) if len(text) < _AT_ONCE else await asyncio.to_thread(addresses_in, text)
            await self.known.note(budget, "pages", links)
        return part

    async def whole(self, target: PageTarget, budget: SessionBudget) -> Page:
        """Read a page allowed by the guard and the domain lists, within a session's budget.

        Raises:
            BlockedByPolicy, BudgetExceeded, PageError, ProviderError, DeadlineExceeded.
        """
        url = self.guard.admit(target.url)
        self.secrets.check(target.url, what="address")
        if self.known is not None:
            url = await self.known.admit(budget, url)
        if not self.policy.permits(url.text):
            raise BlockedDomain(f"The settings do not allow opening pages of {url.host}.")
        if not self.readers.readers:
            raise PermissionDenied("No provider that reads pages may be used here; the operator can allow one.")
        await budget.check_tokens()
        await budget.check_money()
        readers, reservation = await self._afforded(budget)
        call = PageCall(
            url=url,
            selection=target.selection,
            deadline=target.deadline,
            cache_mode=target.cache_mode,
            owner=budget.owner,
            session=budget.session,
            reservation=reservation,
            ledger=budget.ledger(reservation),
            attempts=target.attempts,
        )
        try:
            return await self._cached(call, readers)
        finally:
            await asyncio.shield(budget.settle(reservation, call.ledger.close()))

    async def _afforded(self, budget: SessionBudget) -> tuple[Readers, Reservation]:
        """Return the readers within budget and their reservation: all, or only the free ones if money is short.

        Raises:
            BudgetExceeded: the budget is used up, and no free reader is left.
        """
        try:
            return self.readers, await budget.take_page(self.readers.price_usd)
        except BudgetExceeded:
            free = self.readers.free()
            if not free.readers or not self.readers.price_usd:
                raise
            return free, await budget.take_page()

    async def _cached(self, call: PageCall, readers: Readers) -> Page:
        """Return a whole page from the cache, or from the readers."""
        if self.cache is None or call.cache_mode == "bypass":
            return await readers.open(call)
        owned = any(is_owned(reader) for reader in readers.readers)
        visibility = "private" if owned else page_visibility(call.url)
        partition = partition_of(call.owner, visibility, self.settings.storage.sharing)
        settings = self.settings.cache
        names = [identity(reader, self.settings) for reader in readers.readers]
        load = partial(readers.open, call)
        found = await self.cache.get_or_load(
            page_key(call.url, names, self._what_is_allowed(), partition=partition),
            load,
            call.deadline,
            page_codec(lifetime(settings.page_ttl, settings.stale_ttl)),
            owner=call.owner,
            refresh=call.cache_mode == "refresh",
            renew=load,
        )
        return found.value.model_copy(update=age(found.value.warnings, found.cached, found.stale, found.age))

    def _what_is_allowed(self) -> str:
        """Return the cache key part for the rules and code that a stored page depends on."""
        rules, read = self.settings.policy, self.settings.read
        origins = sorted(rules.allowed_origins), rules.origin_redirects
        sites = sorted(read.site_readers), sorted(read.site_hosts), sorted(read.parts.items())
        return repr((__version__, sorted(self.policy.allowed), sorted(self.policy.blocked), *origins, *sites))


_MOST = 50  # pages per call


def check_url(field: str, url: object) -> str:
    """Validate a URL, or raise InvalidRequest."""
    if not isinstance(url, str):
        raise InvalidRequest(
            field,
            f"must be text, not {type(url).__name__}",
            "Pass one http or https address; open_pages() takes several.",
        )
    return url


def check_urls(urls: object) -> tuple[str, ...]:
    """Validate 1 to 50 URLs, or raise InvalidRequest."""
    if isinstance(urls, str) or not isinstance(urls, Iterable):
        raise InvalidRequest("urls", f"must be a list, not {type(urls).__name__}", "Pass a list of addresses.")
    checked = tuple(check_url("urls", url) for url in urls)
    if not 1 <= len(checked) <= _MOST:
        raise InvalidRequest("urls", f"has {len(checked):,} addresses", f"Pass 1 to {_MOST}.")
    return checked


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPages:
    """Opens pages and notifies the listeners of each."""

    flow: OpenPageFlow
    """The flow of one page."""
    call_listeners: CallListeners
    """Called at the end of each page."""

    def restricted(self, readers: Sequence[ReadProvider], policy: DomainPolicy) -> OpenPages:
        """Return a copy with only some of the readers, and another policy."""
        flow = replace(self.flow, readers=self.flow.readers.restricted(readers, policy), policy=policy)
        return replace(self, flow=flow)

    async def one(self, target: PageTarget, budget: SessionBudget) -> Page:
        """Open one page; see `Web.open_page`."""
        started = time.perf_counter()
        try:
            page = await self.flow.open(target, budget)
        except BaseException as error:
            self._done(target, started, error, budget)
            raise
        self._done(target, started, page, budget)
        return page

    async def all(
        self, targets: Sequence[PageTarget], budget: SessionBudget, *, shared: bool, limit: asyncio.Semaphore
    ) -> tuple[Page, ...]:
        """Open several pages with one selection; see `Web.open_pages`.

        Args:
            targets: The pages; one that is there twice is read once.
            budget: The session's.
            shared: Whether the selection's room is that of all together.
            limit: How many may be read at the same time.
        """
        often = Counter(target.url for target in targets)
        read = {target.url: _PageLoad(target) for target in targets}
        try:
            async with asyncio.TaskGroup() as group:
                for reading in read.values():
                    group.create_task(self._whole(reading, budget, limit))
        except BaseExceptionGroup as errors:  # a bug; the errors of pages are in their results
            raise errors.exceptions[0] from None
        room, parts = targets[0].selection.room, sum(often[url] for url in often if read[url].page is not None)
        for url in sorted(often, key=lambda url: read[url].length):
            reading = read[url]
            if reading.page is not None:
                mine = _share(room, parts) if shared else room
                await self._show(reading, replace(reading.target.selection, room=mine), budget)
                parts -= often[url]
                if shared and reading.page is not None:
                    room = _left(room, reading.page.content, often[url])
            self._done(reading.target, reading.started, reading.error or reading.result(), budget)
        return tuple(read[target.url].result() for target in targets)

    async def _whole(self, reading: _PageLoad, budget: SessionBudget, limit: asyncio.Semaphore) -> None:
        """Read a whole page, or record its error."""
        try:
            async with limit:
                reading.started = time.perf_counter()
                reading.page = await self.flow.whole(reading.target, budget)
        except GroundwireError as error:
            reading.error = error
        except BaseException as error:
            self._done(reading.target, reading.started, error, budget)
            raise

    async def _show(self, reading: _PageLoad, selection: Ask, budget: SessionBudget) -> None:
        """Replace the whole page by the selected part."""
        page, reading.page = reading.page, None
        if page is None:
            return
        try:
            reading.page = await self.flow.shown(page, selection, reading.target, budget)
        except GroundwireError as error:
            reading.error = error

    def _done(self, target: PageTarget, started: float, end: Page | BaseException, budget: SessionBudget) -> None:
        self.call_listeners.page_done(_record(target.url, target.attempts.entries, started, end, budget))


@dataclass(slots=True)
class _PageLoad:
    """The state of one of several pages."""

    target: PageTarget
    started: float = field(default_factory=time.perf_counter)
    page: Page | None = None
    error: GroundwireError | None = None

    @property
    def length(self) -> int:
        return len(self.page.content) if self.page is not None else 0

    def result(self) -> Page:
        """Return the page, or its error as a page."""
        if self.page is not None:
            return self.page
        shown = self.target.url[:2_048].encode("utf-8", "replace").decode()
        return Page(url=shown, status="error", error=str(self.error))


def _share(room: TextBudget, parts: int) -> TextBudget:
    """Return an even share of the rest; the shortest page comes first, and leaves its surplus to the others."""
    tokens = None if room.tokens is None else room.tokens // parts
    return room.limited(room.characters // parts, tokens)


def _left(room: TextBudget, content: str, times: int) -> TextBudget:
    tokens = None if room.tokens is None else room.tokens - times * room.tokens_of(content)
    return room.limited(room.characters - times * len(content), tokens)


def _record(
    url: str, attempts: Sequence[Attempt], started: float, end: Page | BaseException, budget: SessionBudget
) -> PageDone:
    """Return the event for call listeners; `end` is the page, or the exception."""
    page = end if isinstance(end, Page) else None
    try:
        host = parse_url(url).host
    except GroundwireError:
        host = ""
    return PageDone(
        session=budget.session,
        host=host,
        reader=page.reader if page else None,
        attempts=tuple(attempts),
        characters=page.content_length if page else 0,
        seconds=time.perf_counter() - started,
        cached=bool(page and page.cached),
        stale=bool(page and page.stale),
        error=None if page else type(end).__name__,
        cost_usd=sum(attempt.cost_usd for attempt in attempts),
    )


def make_politeness(settings: Settings, pages: Transport, store: Store) -> Politeness:
    """Return the crawl rules for page requests from the settings."""
    read = settings.read
    return Politeness(
        pages,
        store,
        robots=read.robots,
        exceptions=read.robots_exceptions,
        delay=read.crawl_delay,
        at_once=read.max_per_host,
        user_agent=settings.network.user_agent,
    )


def make_site_readers(settings: Settings, pages: Transport, store: Store, workers: Workers) -> SiteReaders | None:
    """Create the readers for well-known sites from the settings, or return None if there are none."""
    read = settings.read
    isolated = read.isolation == "process"
    if not read.site_readers and not read.site_hosts:
        return None
    return SiteReaders(pages, store, workers, names=read.site_readers, hosts=read.site_hosts, isolated=isolated)
