"""Calls readers in order, and builds the page for callers."""

from __future__ import annotations

import asyncio
import copy
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, cast

from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedByPolicy,
    BlockedDomain,
    DeadlineExceeded,
    GroundwireError,
    HostNotFound,
    InvalidRequest,
    PageBlocked,
    PageNeedsScripts,
    PageNotFound,
    PagePaced,
    PageRefused,
    PageUnavailable,
    ProviderError,
    ProviderUnavailable,
    TooManyRedirects,
    UnexpectedResponse,
)
from groundwire.models import Attempt, AttemptFinished, AttemptStarted, Freshness, Observer, Outcome, Page, ReadResult
from groundwire.providers import ReadProvider
from groundwire.reading.extracted import cleaned_result
from groundwire.reading.sites.reader import SiteReader, SiteReaders
from groundwire.safety.guard import Guard
from groundwire.safety.tenancy import Owner
from groundwire.safety.url_redaction import for_third_parties
from groundwire.safety.urls import DomainPolicy, WebUrl, url_or_none
from groundwire.storage import StoreError
from groundwire.storage.archive.store import Archive
from groundwire.transport import FetchPolicy

_logger = logging.getLogger(__name__)

_BROWSER_SHARE = 0.8  # of the time that is left, to complete a page that is there in part
_MAX_INLINE_CHARACTERS = 50_000  # characters that are cleaned without a thread, in about 2 ms

_NO_BROWSER = (
    'No configured reader runs scripts. The operator can add one to the setting read.providers: "browser", '
    '"crawl4ai" (`groundwire doctor` says how to install them), or a service such as "jina".'
)
_FINAL_ERRORS = (BlockedByPolicy, InvalidRequest, PageNotFound, TooManyRedirects, DeadlineExceeded)
"""After these, no other reader helps."""


class PageLedger(Protocol):
    """Collects the costs of a call."""

    def add(self, cost_usd: float) -> None:
        """Add the cost of a request, in US dollars."""


class ReaderCall(Protocol):
    """The call as readers see it."""

    @property
    def url(self) -> WebUrl:
        """The URL, allowed by the guard."""

    @property
    def owner(self) -> Owner:
        """The owner of everything stored for the call."""

    @property
    def cache_mode(self) -> Literal["use", "refresh", "bypass"]:
        """Whether anything may be stored: not with `bypass`."""

    @property
    def deadline(self) -> Deadline:
        """The deadline of the page."""

    @property
    def attempts(self) -> list[Attempt]:
        """Collects one entry per reader that was called."""

    @property
    def ledger(self) -> PageLedger:
        """Collects their costs."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The state of reading one page."""

    call: ReaderCall
    known: Page | None = None
    until: Deadline | None = None
    """When it must end, if that is before the deadline of the call."""
    notes: list[str] = field(default_factory=list)
    """Warnings in addition to those of the reader."""

    def freshness(self, reader: ReadProvider) -> Freshness | None:
        """Return the validators of the known page, if this reader read it and can revalidate it."""
        if self.known is None or self.known.reader != reader.name or self.known.freshness is None:
            return None
        return self.known.freshness if self.known.freshness.conditions else None


class Readers:
    """Calls readers in order until one has read the page.

    Args:
        readers: The readers in order.
        guard: Checks a URL and its resolved addresses before it is passed to a reader that connects by itself.
        policy: The operator's domain lists; a redirect outside of them is rejected.
        attempt_listener: Called when an attempt starts and ends.
        gate: Decides whether a page may be read, before its URL is passed to a reader that connects by itself.
        rendered: Domains whose pages are first read with a browser.
        skipped: Why configured readers are not used, a sentence each.
        archive: Stores pages, and serves those that cannot be read now.
        sites: Read pages of well-known sites over their APIs, before the other readers, where `local` may read.
    """

    def __init__(
        self,
        readers: Sequence[ReadProvider],
        *,
        guard: Guard,
        policy: DomainPolicy,
        attempt_listener: Observer | None = None,
        gate: FetchPolicy | None = None,
        rendered: Sequence[str] = (),
        skipped: Sequence[str] = (),
        archive: Archive | None = None,
        sites: SiteReaders | None = None,
    ) -> None:
        self.readers: tuple[ReadProvider, ...] = tuple(readers)
        """The readers, in order."""
        self._rendered = DomainPolicy(tuple(rendered), ()) if rendered else None
        self._skipped = tuple(skipped)
        self._guard = guard
        self._policy = policy
        self._attempt_listener = attempt_listener
        self._gate = gate
        self._archive = archive
        self._sites = sites

    @property
    def price_usd(self) -> float:
        """The cost of one page if every reader is called, in US dollars; a reader without a price is free."""
        return sum(map(_price_of, self.readers))

    def free(self) -> Readers:
        """Return a copy with only the free readers."""
        return self.restricted([reader for reader in self.readers if not _price_of(reader)], self._policy)

    def restricted(self, readers: Sequence[ReadProvider], policy: DomainPolicy) -> Readers:
        """Return a copy with only some of the readers, and another policy.

        Args:
            readers: The readers to keep, in order.
            policy: The domain lists.
        """
        view = copy.copy(self)
        view.readers = tuple(readers)
        view._policy = policy
        return view

    async def open(self, call: ReaderCall, known: Page | None = None) -> Page:
        """Return the whole page, as read; from the archive if it cannot be read now.

        Args:
            call: The call. A page is stored in the archive, unless its server forbids it.
            known: The page as it was last read; it is returned again if it is unchanged.

        Raises:
            PageError, ProviderError, BlockedByPolicy, DeadlineExceeded: the last reader's error, or the first one that
            no other reader could avoid.
        """
        reading = _Reading(call, known)
        try:
            page = await self._read(reading)
        except PageNotFound as error:
            return await self._copy(reading, error)
        except (PageUnavailable, ProviderError, DeadlineExceeded) as error:
            old = await self._archived(call)
            if old is None:
                if isinstance(error, HostNotFound):
                    return await self._copy(reading, error)
                raise
            return old.model_copy(update={"warnings": (*old.warnings, f"it cannot be read now: {error}")})
        forbidden = call.cache_mode == "bypass" or (page.freshness is not None and page.freshness.no_store)
        if self._archive is not None and not forbidden:
            self._archive.remember(page, owner=call.owner)
        return page

    async def _read(self, reading: _Reading) -> Page:
        *others, last = self._order(reading.call.url)
        for reader in others:
            try:
                return await self._result_of(reader, reading)
            except _FINAL_ERRORS:
                raise
            except GroundwireError as error:
                if isinstance(reader, SiteReader):
                    why = error.reason if isinstance(error, ProviderError) else str(error)
                    reading.notes.append(f"read as an ordinary page; the site reader {reader.name} could not: {why}")
        try:
            return await self._result_of(last, reading)
        except PageNeedsScripts as error:
            if any(reader.capabilities.renders for reader in self.readers):
                raise
            raise PageNeedsScripts(error.url, f"{error.reason} {self._way_out()}", status=error.status) from error

    async def _result_of(self, reader: ReadProvider, reading: _Reading) -> Page:
        """Return the page from a reader, or from a browser if scripts load parts of it and a free one completes it."""
        result = await self._attempt(reader, reading)
        page = self._page(reading, result, reader)
        if result.incomplete and not reader.capabilities.renders:
            deadline = reading.call.deadline  # a part is better than nothing: the browser does not get all of the time
            shorter = replace(reading, until=deadline.capped(_BROWSER_SHARE * deadline.remaining()))
            for browser in self.readers:
                if browser.capabilities.renders and not _price_of(browser):
                    with suppress(GroundwireError):
                        return self._page(shorter, await self._attempt(browser, shorter), browser)
        return page

    async def _copy(self, reading: _Reading, error: PageNotFound | HostNotFound) -> Page:
        """Return a copy of a page that is gone.

        Raises:
            PageNotFound, HostNotFound: no reader has one; `error` itself.
        """
        why = "its host has no address" if isinstance(error, HostNotFound) else f"HTTP {error.status or 404}"
        readers = self._order(reading.call.url)
        for reader in self.readers:
            if reader.capabilities.copies and reader not in readers:
                with suppress(GroundwireError):
                    page = self._page(reading, await self._attempt(reader, reading), reader)
                    return page.model_copy(update={"warnings": (f"this page is gone ({why})", *page.warnings)})
        raise error

    async def _archived(self, call: ReaderCall) -> Page | None:
        """Return the last archived version of a page, if there is one for the call's owner."""
        if self._archive is None:
            return None
        try:
            old = await self._archive.get_page(call.url.text, viewer=call.owner)
        except StoreError:
            return None
        if old is None or not self._policy.permits(old.final_url or old.url):
            return None
        return old

    def _order(self, url: WebUrl) -> tuple[ReadProvider, ...]:
        """Return the readers in the order for a page; those of copies only if there are no others."""
        readers = tuple(reader for reader in self.readers if not reader.capabilities.copies) or self.readers
        if self._rendered is None or not self._rendered.permits(url.text):
            site = self._site_reader(url)
            return readers if site is None else (site, *readers)
        return tuple(sorted(readers, key=lambda reader: not reader.capabilities.renders))

    def _site_reader(self, url: WebUrl) -> SiteReader | None:
        """Return the reader for a page of a well-known site. It reads as `local` does, so only where that one may."""
        local = next((reader for reader in self.readers if reader.name == "local"), None)
        return None if self._sites is None or local is None else self._sites.reader(url, local, self._policy)

    def _way_out(self) -> str:
        """Return what the operator can do to have pages rendered by a browser."""
        reasons = [reason for reason in self._skipped if reason.startswith(("browser", "crawl4ai"))]
        return " ".join(reasons) or _NO_BROWSER

    async def _attempt(self, reader: ReadProvider, reading: _Reading) -> ReadResult:
        self._notify(AttemptStarted(reader.name))
        started = time.perf_counter()
        outcome: Outcome = "ok"
        reason, status, cost = "", None, 0.0
        try:
            result = await self._ask(reader, reading)
            cost = result.cost_usd
            status = 304 if result.unchanged else None
            return result
        except GroundwireError as error:
            outcome, reason, status = _outcome(error), str(error), getattr(error, "status", None)
            raise
        finally:
            latency = round((time.perf_counter() - started) * 1_000)
            attempt = Attempt(
                provider=reader.name, outcome=outcome, reason=reason, status=status, latency_ms=latency, cost_usd=cost
            )
            reading.call.attempts.append(attempt)
            if cost:
                reading.call.ledger.add(cost)
            self._notify(AttemptFinished(attempt))

    async def _ask(self, reader: ReadProvider, reading: _Reading) -> ReadResult:
        url, deadline = reading.call.url, reading.until or reading.call.deadline
        reader = reader.owned_by(reading.call.owner) if hasattr(reader, "owned_by") else reader
        try:
            with deadline.timeout():
                if not reader.capabilities.guarded:
                    result = await self._ask_another(reader, reading)
                elif reader.capabilities.revalidates and (freshness := reading.freshness(reader)) is not None:
                    asking = cast("Any", reader)  # its capabilities say so
                    result = await asking.read_url(url.text, deadline=deadline, known=freshness)
                else:
                    result = await reader.read_url(url.text, deadline=deadline)
        except TimeoutError as error:
            if isinstance(error, GroundwireError):
                raise
            raise DeadlineExceeded(f"{url.host} could not be read in time. Try again.") from error
        except GroundwireError:
            raise
        except Exception as error:  # third-party code may raise anything: an outcome, not the caller's crash
            _logger.exception("The reader %s violated its contract", reader.name)
            raise UnexpectedResponse(reader.name, f"the reader itself failed ({type(error).__name__})") from error
        if not result.success:
            raise ProviderUnavailable(reader.name, result.error or "could not read the page")
        if reader.capabilities.guarded:
            return result  # a built-in reader, which cleans its result
        if len(result.content) < _MAX_INLINE_CHARACTERS:
            return cleaned_result(result)
        return await asyncio.get_running_loop().run_in_executor(None, cleaned_result, result)

    async def _ask_another(self, reader: ReadProvider, reading: _Reading) -> ReadResult:
        """Read a page with a third-party service, disclosing no more of its URL than necessary."""
        url = reading.call.url
        if not reader.capabilities.copies:  # the page's own server is not called, and may be gone
            await self._guard.check(url.text)
        if self._gate is not None:
            await self._gate.check(url, reading.call.deadline, remote=True)
        redacted = for_third_parties(url.text)
        if redacted.secret:
            reading.notes.append(f"{reader.name} was not called: the URL seems to contain a secret")
            raise PageRefused(
                url.text,
                f"The URL seems to contain a password, key or token, and is not sent to {reader.name}. "
                "Open it without that part, or with the local reader (read.providers).",
            )
        result = await reader.read_url(redacted.url, deadline=reading.call.deadline)
        if self._gate is not None and (final := _redirect(result.final_url, redacted.url)) is not None:
            await self._gate.check(final, reading.call.deadline, remote=True)
        if redacted.left_out:
            note = f"{reader.name} was called without these parts of the URL: {', '.join(redacted.left_out)}"
            result = result.model_copy(update={"warnings": (*result.warnings, note)})
        return result

    def _page(self, reading: _Reading, result: ReadResult, reader: ReadProvider) -> Page:
        url = reading.call.url
        if result.unchanged and reading.known is not None:
            return reading.known.model_copy(update={"freshness": result.freshness})
        final = result.final_url or url.text
        if not self._policy.permits(final):
            raise BlockedDomain("The page redirects to a domain that the settings do not allow.")
        warnings = (*result.warnings, *reading.notes)
        return Page.of(result, url=url.text, final_url=final, reader=reader.name, warnings=warnings)

    def _notify(self, event: AttemptStarted | AttemptFinished) -> None:
        if self._attempt_listener is not None:
            self._attempt_listener(event)


def _redirect(final: str, request: str) -> WebUrl | None:
    """Return the redirect target reported by a third-party reader, if it differs from the request and may be read."""
    return url_or_none(final) if final not in {"", request} else None


def _price_of(reader: ReadProvider) -> float:
    return float(getattr(reader, "page_price_usd", 0.0))


def _outcome(error: GroundwireError) -> Outcome:
    match error:
        case ProviderError():
            return error.outcome
        case BlockedByPolicy() | PageBlocked():
            return "blocked"
        case DeadlineExceeded():
            return "timeout"
        case PagePaced():
            return "rate_limited"
        case InvalidRequest():
            return "bad_request"
        case _:
            return "unavailable"
