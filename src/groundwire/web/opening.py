"""The flow of opening a page: guard, domain lists, budget, cache, readers, archive."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from groundwire._version import __version__
from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedDomain,
    BudgetExceeded,
    DeadlineExceeded,
    PageUnavailable,
    PermissionDenied,
    ProviderError,
)
from groundwire.models import Attempt, Page
from groundwire.reading.passages.view import Ask, view
from groundwire.reading.readers import Readers
from groundwire.routing.budget import Reservation, SessionBudget
from groundwire.routing.cache import Cache, Life
from groundwire.routing.cache_keys import page_key
from groundwire.routing.cache_values import life_of_page, pack_page, unpack_page
from groundwire.safety.domains import DomainPolicy
from groundwire.safety.guard import Guard
from groundwire.safety.secret_scanner import SecretScanner
from groundwire.safety.url_extraction import addresses_in
from groundwire.safety.urls import WebUrl
from groundwire.settings import Settings
from groundwire.storage import StoreError
from groundwire.storage.archive.store import Archive
from groundwire.web.keeping import age, identity, lifetime
from groundwire.web.known import KnownAddresses
from groundwire.web.sources import SessionSources
from groundwire.web.telling import cost_of

__all__ = ["Opening"]

_AT_ONCE = 20_000  # characters that are looked through without a thread, in about 10 ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
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
    canaries: SecretScanner
    """Know the secrets that must go out in no address."""
    known: KnownAddresses | None
    """Know which addresses a session may open; None lets it open any."""
    sources: SessionSources | None
    """Number what a session is shown; None gives pages no number."""

    async def open(
        self, url: str, ask: Ask, deadline: Deadline, fresh: bool, attempts: list[Attempt], budget: SessionBudget
    ) -> Page:
        """Read a page and return the part that is wanted; see `whole` and `shown`."""
        return await self.shown(await self.whole(url, deadline, fresh, attempts, budget), ask, deadline, budget)

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
        self, url: str, deadline: Deadline, fresh: bool, attempts: list[Attempt], budget: SessionBudget
    ) -> Page:
        """Read a page that the guard and the domain lists allow, within a session's budget.

        Args:
            url: Its address.
            deadline: When the page must be here.
            fresh: Whether to pass by what is kept.
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
            return await self._kept(target, deadline, fresh, attempts, readers)
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
        self, target: WebUrl, deadline: Deadline, fresh: bool, attempts: list[Attempt], readers: Readers
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
        whole = lifetime(self.settings.cache.page_ttl, self.settings.cache.stale_ttl)
        names = [identity(reader, self.settings) for reader in readers.readers]
        kept = await self.cache.through(
            page_key(target, names, self._what_is_allowed()),
            load,
            pack=pack_page,
            unpack=unpack_page,
            life=lambda page: Life() if page.stale else life_of_page(page, whole),
            deadline=deadline,
            bypass=fresh,
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
        origins = self.settings.policy.allowed_origins
        return repr((__version__, sorted(self.policy.allowed), sorted(self.policy.blocked), sorted(origins)))
