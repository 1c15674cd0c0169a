"""The flow of opening a page: guard, domain lists, budget, cache, readers, archive."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from groundwire._version import __version__
from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedDomain,
    BudgetExceeded,
    DeadlineExceeded,
    GroundwireError,
    InvalidRequest,
    PageUnavailable,
    PermissionDenied,
    ProviderError,
)
from groundwire.models import Attempt, Page
from groundwire.observing.records import Watchers
from groundwire.reading.handle.room import Room
from groundwire.reading.handle.view import Ask, view
from groundwire.reading.readers import Readers
from groundwire.routing.budget import Reservation, SessionBudget
from groundwire.routing.cache import Cache, CacheTtl
from groundwire.routing.cache_codec import age, identity, life_of_page, lifetime, pack_page, page_key, unpack_page
from groundwire.safety.addresses_in_text import addresses_in
from groundwire.safety.canaries import Canaries
from groundwire.safety.domains import DomainPolicy
from groundwire.safety.guard import Guard
from groundwire.safety.urls import WebUrl
from groundwire.settings import Settings
from groundwire.storage import StoreError
from groundwire.storage.archive import Archive
from groundwire.web.call_records import cost_of, page_done
from groundwire.web.known_urls import KnownUrls
from groundwire.web.session_sources import SessionSources

__all__ = ["OpenPageFlow", "OpenPages", "check_url", "check_urls"]

_AT_ONCE = 20_000  # characters that are looked through without a thread, in about 10 ms


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPageFlow:
    """Opens pages, for one `Web` and all of its sessions."""

    settings: Settings
    """What is in force."""
    guard: Guard
    """Judges addresses."""
    readers: Readers
    """Read the pages."""
    policy: DomainPolicy
    """The operator's domain lists."""
    cache: Cache | None
    """Keeps pages; None keeps nothing."""
    archive: Archive | None
    """Remembers pages for good; None remembers nothing."""
    canaries: Canaries
    """Know the secrets that must go out in no address."""
    known: KnownUrls | None
    """Know which addresses a session may open; None lets it open any."""
    sources: SessionSources | None
    """Number what a session is shown; None gives pages no number."""

    async def open(
        self, url: str, ask: Ask, deadline: Deadline, refresh: bool, attempts: list[Attempt], budget: SessionBudget
    ) -> Page:
        """Read a page and return the part that is wanted; see `whole` and `shown`."""
        return await self.shown(await self.whole(url, deadline, refresh, attempts, budget), ask, deadline, budget)

    async def shown(self, page: Page, ask: Ask, deadline: Deadline, budget: SessionBudget) -> Page:
        """Return the part of a whole page that is wanted, and count it.

        Raises:
            InvalidRequest: the page has no such part. DeadlineExceeded: looking through a giant took too long.
        """
        if self.sources is not None:
            page = await self.sources.number_page(budget, page)
        if len(page.content) < _AT_ONCE:
            part = view(page, ask)
        else:
            try:
                async with deadline.timeout():
                    part = await asyncio.get_running_loop().run_in_executor(None, view, page, ask)
            except TimeoutError as error:
                raise DeadlineExceeded("The page was read, but not looked through in time. Allow more time.") from error
        await budget.read(part.content_length)
        if self.known is not None:
            said = f"<{part.final_url}>\n{part.content}"
            links = addresses_in(said) if len(said) < _AT_ONCE else await asyncio.to_thread(addresses_in, said)
            await self.known.note(budget.session, "pages", links)
        return part

    async def whole(
        self, url: str, deadline: Deadline, refresh: bool, attempts: list[Attempt], budget: SessionBudget
    ) -> Page:
        """Read a page that the guard and the domain lists allow, within a session's budget.

        Args:
            url: Its address.
            deadline: When the page must be here.
            refresh: Whether to skip the cache; the new result is stored.
            attempts: Takes one entry per reader that was asked.
            budget: The session's.

        Raises:
            BlockedByPolicy, BudgetExceeded, PageError, ProviderError, DeadlineExceeded.
        """
        target = self.guard.admit(url)
        self.canaries.check(url, what="address")
        if self.known is not None:
            target = await self.known.admit(budget.session, target)
        if not self.policy.permits(target.text):
            raise BlockedDomain(f"The settings do not allow opening pages of {target.host}.")
        if not self.readers.readers:
            raise PermissionDenied("No provider that reads pages may be used here; the operator can allow one.")
        await budget.check_tokens()
        await budget.check_money()
        readers, reservation = await self._afforded(budget)
        try:
            return await self._kept(target, deadline, refresh, attempts, readers)
        finally:
            await asyncio.shield(budget.settle(reservation, cost_of(attempts)))

    async def _afforded(self, budget: SessionBudget) -> tuple[Readers, Reservation]:
        """Return the readers that may be asked and what was set aside for them: all, or the free ones if money lacks.

        Raises:
            BudgetExceeded: not even a free page may be read, or none of them is free.
        """
        try:
            return self.readers, await budget.take_page(self.readers.price_usd)
        except BudgetExceeded:
            free = self.readers.free()
            if not free.readers or not self.readers.price_usd:
                raise
            return free, await budget.take_page()

    async def _kept(
        self, target: WebUrl, deadline: Deadline, refresh: bool, attempts: list[Attempt], readers: Readers
    ) -> Page:
        """Return a whole page from the cache, or from the readers."""

        async def load(known: Page | None = None) -> Page:
            try:
                page = await readers.read(target, deadline, attempts, known=known)
            except (PageUnavailable, ProviderError, DeadlineExceeded) as error:
                old = await self._archived(target)
                if old is None:
                    raise
                return old.model_copy(update={"warnings": (*old.warnings, f"it cannot be read now: {error}")})
            if self.archive is not None and not (page.freshness is not None and page.freshness.no_store):
                self.archive.remember(page)
            return page

        if self.cache is None:
            return await load()
        whole = lifetime(self.settings.cache.page_ttl, self.settings.cache.stale)
        names = [identity(reader, self.settings) for reader in readers.readers]
        kept = await self.cache.get_or_load(
            page_key(target, names, self._what_is_allowed()),
            load,
            pack=pack_page,
            unpack=unpack_page,
            life=lambda page: CacheTtl() if page.stale else life_of_page(page, whole),
            deadline=deadline,
            refresh=refresh,
            renew=load,
        )
        return kept.value.model_copy(update=age(kept.value.warnings, kept.cached, kept.stale, kept.age))

    async def _archived(self, target: WebUrl) -> Page | None:
        """Return a page as it was when it was last read, if the archive has it."""
        if self.archive is None:
            return None
        try:
            old = await self.archive.get_page(target.text)
        except StoreError:
            return None
        if old is None or not self.policy.permits(old.final_url or old.url):
            return None
        return old

    def _what_is_allowed(self) -> str:
        """Return what decides which pages may be shown, and how: one kept by other rules or code is another page."""
        origins = self.settings.policy.allow_origins
        return repr((__version__, sorted(self.policy.allowed), sorted(self.policy.blocked), sorted(origins)))


_MOST = 50  # pages of one call


def check_url(field: str, url: object) -> str:
    """Return an address that is text, or raise InvalidRequest."""
    if not isinstance(url, str):
        raise InvalidRequest(field, f"must be text, not {type(url).__name__}", "Pass an http or https address.")
    return url


def check_urls(urls: object) -> tuple[str, ...]:
    """Return 1 to 50 addresses, or raise InvalidRequest."""
    if isinstance(urls, str) or not isinstance(urls, Iterable):
        raise InvalidRequest("urls", f"must be a list, not {type(urls).__name__}", "Pass a list of addresses.")
    checked = tuple(check_url("urls", url) for url in urls)
    if not 1 <= len(checked) <= _MOST:
        raise InvalidRequest("urls", f"has {len(checked):,} addresses", f"Pass 1 to {_MOST}.")
    return checked


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPages:
    """Opens pages and tells the watchers of each."""

    opening: OpenPageFlow
    """The flow of one page."""
    call_listeners: Watchers
    """Are told when a page is done."""

    async def one(self, url: str, ask: Ask, deadline: Deadline, refresh: bool, budget: SessionBudget) -> Page:
        """Open one page; see `Web.open_page`."""
        started = time.perf_counter()
        attempts: list[Attempt] = []
        try:
            page = await self.opening.open(url, ask, deadline, refresh, attempts, budget)
        except BaseException as error:
            self.call_listeners.page_done(page_done(url, attempts, started, error, budget))
            raise
        self.call_listeners.page_done(page_done(url, attempts, started, page, budget))
        return page

    async def all(
        self,
        urls: Sequence[str],
        ask: Ask,
        deadline: Deadline,
        refresh: bool,
        budget: SessionBudget,
        *,
        shared: bool,
        limit: asyncio.Semaphore,
    ) -> tuple[Page, ...]:
        """Open several pages; see `Web.open_pages`.

        Args:
            urls: Their addresses.
            ask: What is wanted of each.
            deadline: When all must be here.
            refresh: Whether to skip the cache; the new result is stored.
            budget: The session's.
            shared: Whether the room is that of all together.
            limit: How many may be read at the same time.
        """
        often = Counter(urls)
        read = {url: _Reading(url) for url in often}
        try:
            async with asyncio.TaskGroup() as group:
                for reading in read.values():
                    group.create_task(self._whole(reading, deadline, refresh, budget, limit))
        except BaseExceptionGroup as errors:  # a fault of ours; what a page can do wrong is kept with it
            raise errors.exceptions[0] from None
        room, parts = ask.room, sum(often[url] for url in often if read[url].page is not None)
        for url in sorted(often, key=lambda url: read[url].length):
            reading = read[url]
            if reading.page is not None:
                mine = _share(room, parts) if shared else room
                await self._show(reading, replace(ask, room=mine), deadline, budget)
                parts -= often[url]
                if shared and reading.page is not None:
                    room = _left(room, reading.page.content, often[url])
            end = reading.error or reading.result()
            self.call_listeners.page_done(page_done(url, reading.attempts, reading.started, end, budget))
        return tuple(read[url].result() for url in urls)

    async def _whole(
        self, reading: _Reading, deadline: Deadline, refresh: bool, budget: SessionBudget, limit: asyncio.Semaphore
    ) -> None:
        """Read a whole page, or note what went wrong."""
        try:
            async with limit:
                reading.started = time.perf_counter()
                reading.page = await self.opening.whole(reading.url, deadline, refresh, reading.attempts, budget)
        except GroundwireError as error:
            reading.error = error
        except BaseException as error:
            self.call_listeners.page_done(page_done(reading.url, reading.attempts, reading.started, error, budget))
            raise

    async def _show(self, reading: _Reading, ask: Ask, deadline: Deadline, budget: SessionBudget) -> None:
        """Put the part that is wanted in the place of the whole page."""
        page, reading.page = reading.page, None
        try:
            reading.page = await self.opening.shown(page, ask, deadline, budget) if page is not None else None
        except GroundwireError as error:
            reading.error = error


@dataclass(slots=True)
class _Reading:
    """One page of a batch on its way."""

    url: str
    started: float = field(default_factory=time.perf_counter)
    attempts: list[Attempt] = field(default_factory=list)
    page: Page | None = None
    error: GroundwireError | None = None

    @property
    def length(self) -> int:
        return len(self.page.content) if self.page is not None else 0

    def result(self) -> Page:
        """Return the page, or what went wrong as one."""
        if self.page is not None:
            return self.page
        shown = self.url[:2_048].encode("utf-8", "replace").decode()
        return Page(url=shown, status="error", error=str(self.error))


def _share(room: Room, parts: int) -> Room:
    """Return an even share of what is left; the shortest page comes first, and what it leaves is there for the rest."""
    tokens = None if room.tokens is None else room.tokens // parts
    return room.limited(room.characters // parts, tokens)


def _left(room: Room, content: str, times: int) -> Room:
    tokens = None if room.tokens is None else room.tokens - times * room.tokens_of(content)
    return room.limited(room.characters - times * len(content), tokens)
