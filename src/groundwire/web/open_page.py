"""The flow of opening a page: guard, domain lists, budget, cache, readers, archive."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from groundwire._version import __version__
from groundwire.errors import (
    BlockedDomain,
    BudgetExceeded,
    DeadlineExceeded,
    GroundwireError,
    InvalidRequest,
    PermissionDenied,
)
from groundwire.models import Page
from groundwire.providers import ReadProvider
from groundwire.providers.base import is_owned
from groundwire.reading.local_files import FileReader
from groundwire.reading.passages.token_budget import TextBudget
from groundwire.reading.passages.view import Ask
from groundwire.reading.readers import Readers
from groundwire.reading.workers.pool import Workers, view_off_loop
from groundwire.routing.budget import Reservation
from groundwire.routing.cache import Cache
from groundwire.routing.cache_codec import CacheTtl, age_fields, identity, page_codec, page_key, partition_of
from groundwire.routing.calls import PageCall
from groundwire.safety.files import LocalFile, is_file_url
from groundwire.safety.guard import Guard
from groundwire.safety.secret_scanner import SecretScanner
from groundwire.safety.tenancy import page_visibility
from groundwire.safety.urls import DomainPolicy, WebUrl, url_or_none
from groundwire.settings import Settings
from groundwire.telemetry.call_events import CallListeners, PageDone
from groundwire.web.known_urls import FROM_TEXT, KnownUrls, addresses_in
from groundwire.web.session_sources import SessionSources

_MAX_LOOP_CHARS = 20_000  # characters that are looked through without a thread, in about 10 ms


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
    known_urls: KnownUrls | None
    """The URLs known to sessions; None allows any."""
    sources: SessionSources
    """The numbering of a session's pages."""
    workers: Workers
    """The workers for long pages."""
    call_listeners: CallListeners
    """Called at the end of each page."""
    state: Callable[[], Awaitable[tuple[str, ...]]]
    """Returns warnings about the store and the archive."""
    files: FileReader
    """Reads local files."""

    def restricted(self, readers: Sequence[ReadProvider], policy: DomainPolicy) -> OpenPageFlow:
        """Return a copy with only some of the readers, and another policy."""
        return replace(self, readers=self.readers.restricted(readers, policy), policy=policy)

    async def open(self, call: PageCall, *, whole: bool = False) -> Page:
        """Open one page and tell the listeners how that ended; see `Web.open_page`.

        Args:
            call: The page.
            whole: Whether it is wanted as a whole, without a citation number; see `Web.read_many`.
        """
        started = time.perf_counter()
        try:
            page = await self._whole(call)
            page = page if whole else await self._selected(call, page, call.selection)
        except BaseException as error:
            self._done(call, started, error)
            raise
        self._done(call, started, page)
        return page

    async def admitted(self, call: PageCall) -> WebUrl:
        """Return a URL that the guard, the domain lists, and the session allow to open.

        Raises:
            BlockedByPolicy, InvalidRequest.
        """
        url = self.guard.admit(call.address)
        self.secrets.check(call.address, what="address")
        if self.known_urls is not None:
            url, origin = await self.known_urls.admit(call.budget, url)
            call.from_text = origin == "pages"
        if not self.policy.permits(url.text):
            raise BlockedDomain(f"The settings do not allow opening pages of {url.host}.")
        return url

    async def open_all(self, calls: Sequence[PageCall], *, shared: bool, limit: asyncio.Semaphore) -> tuple[Page, ...]:
        """Open several pages with one selection; see `Web.open_pages`.

        Args:
            calls: The pages; one that is there twice is read once.
            shared: Whether the selection's room is that of all together.
            limit: How many may be read at the same time.
        """
        often = Counter((call.address, call.path) for call in calls)
        loads = {(call.address, call.path): _PageLoad(call) for call in calls}
        try:
            async with asyncio.TaskGroup() as group:
                for load in loads.values():
                    group.create_task(self._load(load, limit))
        except BaseExceptionGroup as errors:  # a bug; the errors of pages are in their results
            raise errors.exceptions[0] from None
        room, parts = calls[0].selection.room, sum(often[url] for url in often if loads[url].page is not None)
        for url in sorted(often, key=lambda url: loads[url].length):
            load = loads[url]
            if load.page is not None:
                mine = _share(room, parts) if shared else room
                try:
                    load.page = await self._selected(load.call, load.page, replace(load.call.selection, room=mine))
                    room = _remaining_room(room, load.page.content, often[url]) if shared else room
                except GroundwireError as error:
                    load.page, load.error = None, error
                parts -= often[url]
            self._done(load.call, load.started, load.error or load.result())
        return tuple(loads[call.address, call.path].result() for call in calls)

    async def _load(self, load: _PageLoad, limit: asyncio.Semaphore) -> None:
        """Read a whole page, or record its error."""
        try:
            async with limit:
                load.started = time.perf_counter()
                load.page = await self._whole(load.call)
        except GroundwireError as error:
            load.error = error
        except BaseException as error:
            self._done(load.call, load.started, error)
            raise

    def _done(self, call: PageCall, started: float, end: Page | BaseException) -> None:
        """Tell the listeners how a call ended: with a page, or with an exception."""
        page = end if isinstance(end, Page) else None
        attempts = tuple(call.attempts)
        url = url_or_none(call.address)
        done = PageDone(
            session=call.budget.session,
            host=url.host if url else "",
            reader=page.reader if page else None,
            attempts=attempts,
            characters=page.content_length if page else 0,
            seconds=time.perf_counter() - started,
            cached=bool(page and page.cached),
            stale=bool(page and page.stale),
            error=None if page else type(end).__name__,
            cost_usd=sum(attempt.cost_usd for attempt in attempts),
        )
        self.call_listeners.page_done(done)

    async def _selected(self, call: PageCall, page: Page, selection: Ask) -> Page:
        """Return the requested part of a whole page, and count it.

        Raises:
            InvalidRequest: the page has no such part. DeadlineExceeded: searching a very long page took too long.
        """
        if call.cache_mode != "bypass":
            page = await self.sources.number_page(call.budget, page)
        warnings = await self.state()
        if call.from_text:
            warnings = (*warnings, FROM_TEXT)
        if warnings:  # before the part is cut, as its limit counts them
            page = page.model_copy(update={"warnings": (*page.warnings, *warnings)})
        try:
            with call.deadline.timeout():
                part = await view_off_loop(self.workers, page, selection)
        except TimeoutError as error:
            raise DeadlineExceeded("The page was read, but searching it took too long. Allow more time.") from error
        await call.budget.count_page_text(part.content_length)
        if self.known_urls is not None:
            text = f"<{part.final_url}>\n{part.content}"
            links = addresses_in(text) if len(text) < _MAX_LOOP_CHARS else await asyncio.to_thread(addresses_in, text)
            await self.known_urls.note(call.budget, "pages", links)
        return part

    async def _whole(self, call: PageCall) -> Page:
        """Read a page allowed by the guard and the domain lists, within a session's budget.

        Raises:
            BlockedByPolicy, BudgetExceeded, PageError, ProviderError, DeadlineExceeded.
        """
        if is_file_url(call.address):
            return await self._local(call, LocalFile.of(call.path or call.address, call.folders))
        url = await self.admitted(call)
        if not self.readers.readers:
            raise PermissionDenied("No provider that reads pages may be used here; the operator can allow one.")
        call.url = url
        await call.budget.check_tokens()
        await call.budget.check_money()
        readers, reservation = await self._reserve(call)
        async with call.paid_from(reservation):
            return await self._cached(call, readers)

    async def _local(self, call: PageCall, file: LocalFile) -> Page:
        """Read a local file; it is a call of the day like any page, and free."""
        await call.budget.check_tokens()
        async with call.paid_from(await call.budget.take_page()):
            return await self.files.read(file, call.deadline)

    async def _reserve(self, call: PageCall) -> tuple[Readers, Reservation]:
        """Count a page, reserve its price, and return the readers, all or only the free ones, with what is reserved.

        Raises:
            BudgetExceeded: the budget is used up, and no free reader is left.
        """
        try:
            return self.readers, await call.budget.take_page(self.readers.price_usd)
        except BudgetExceeded:
            free = self.readers.free()
            if not free.readers or not self.readers.price_usd:
                raise
            return free, await call.budget.take_page()

    async def _cached(self, call: PageCall, readers: Readers) -> Page:
        """Return a whole page from the cache, or from the readers."""
        if self.cache is None or call.cache_mode == "bypass":
            return await readers.open(call)
        owned = any(is_owned(reader) for reader in readers.readers)
        visibility = "private" if owned else page_visibility(call.url)
        partition = partition_of(call.owner, visibility)
        settings = self.settings.cache
        names = [identity(reader, self.settings) for reader in readers.readers]
        load = partial(readers.open, call)
        result = await self.cache.get_or_load(
            page_key(call.url, names, self._policy_key(), partition=partition),
            load,
            call.deadline,
            page_codec(CacheTtl(settings.page_ttl, settings.stale_ttl)),
            owner=call.owner,
            refresh=call.cache_mode == "refresh",
            renew=load,
        )
        return result.value.model_copy(
            update=age_fields(result.value.warnings, result.cached, result.stale, result.age)
        )

    def _policy_key(self) -> str:
        """Return the cache key part for the rules and code that a stored page depends on."""
        rules, settings = self.settings.policy, self.settings.read
        origins = sorted(rules.allowed_origins), rules.origin_redirects
        sites = sorted(settings.site_readers), sorted(settings.parts.items())
        return repr((__version__, sorted(self.policy.allowed), sorted(self.policy.blocked), *origins, *sites))


_MAX_PAGES = 50  # pages per call


def check_url(field: str, url: object) -> str | Path:
    """Validate a URL or a path, or raise InvalidRequest."""
    fix = "Pass one http or https address, or a Path of a local file; open_pages() takes several."
    return url if isinstance(url, Path) else check_address(field, url, fix)


def check_address(field: str, url: object, fix: str = "Pass http or https addresses.") -> str:
    """Return an address, or raise InvalidRequest if it is no text."""
    if not isinstance(url, str):
        raise InvalidRequest(field, f"must be text, not {type(url).__name__}", fix)
    return url


def check_urls(urls: object) -> tuple[str | Path, ...]:
    """Validate 1 to 50 URLs, or raise InvalidRequest."""
    if isinstance(urls, str) or not isinstance(urls, Iterable):
        raise InvalidRequest("urls", f"must be a list, not {type(urls).__name__}", "Pass a list of addresses.")
    checked = tuple(check_url("urls", url) for url in urls)
    if not 1 <= len(checked) <= _MAX_PAGES:
        raise InvalidRequest("urls", f"has {len(checked):,} addresses", f"Pass 1 to {_MAX_PAGES}.")
    return checked


@dataclass(slots=True)
class _PageLoad:
    """The state of one of several pages."""

    call: PageCall
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
        url = self.call.address[:2_048].encode("utf-8", "replace").decode()
        return Page(url=url, status="error", error=str(self.error))


def _share(room: TextBudget, parts: int) -> TextBudget:
    """Return an even share of the rest; the shortest page comes first, and leaves its surplus to the others."""
    tokens = None if room.tokens is None else room.tokens // parts
    return room.limited(room.characters // parts, tokens)


def _remaining_room(room: TextBudget, content: str, times: int) -> TextBudget:
    tokens = None if room.tokens is None else room.tokens - times * room.tokens_of(content)
    return room.limited(room.characters - times * len(content), tokens)
