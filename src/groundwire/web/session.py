"""Views of a `Web`: sessions, and restricted ones. Each has its own budget, known URLs, and citation numbers."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from groundwire.errors import Closed, InvalidRequest, PermissionDenied
from groundwire.hints import method_hint

if TYPE_CHECKING:  # as in `groundwire.web.client`
    from groundwire.citations.verify import CitedPage, Entailment, Report
    from groundwire.models import Budget
    from groundwire.providers import ReadProvider, SearchProvider
    from groundwire.reading.workers.pool import Workers
    from groundwire.routing.budget import Reservation, SessionBudget
    from groundwire.routing.daily_quota import DailyLimits, DailyQuota
    from groundwire.routing.health import ProviderHealth
    from groundwire.safety.tenancy import Owner
    from groundwire.safety.urls import DomainPolicy
    from groundwire.settings import Settings
    from groundwire.storage import Store
    from groundwire.storage.archive.store import Archive
    from groundwire.telemetry.scorecard import ScoreHistory
    from groundwire.transport.clients import HttpClients
    from groundwire.web.open_page import OpenPages
    from groundwire.web.resources import Resources
    from groundwire.web.search import SearchFlow
    from groundwire.web.session_sources import CitedPages

__all__ = ["SessionView", "closed"]

_AT_ONCE = 5_000  # characters that are looked through without a thread, in some milliseconds


class SessionView:
    """The methods of a `Web` and its views except for searching and opening pages; nothing here fetches anything."""

    settings: Settings
    """The settings in effect."""

    _resources: Resources
    _budget: SessionBudget
    _quota: DailyQuota | None
    _policy: DomainPolicy
    _provider_names: tuple[str, ...] | None
    _search_flow: SearchFlow
    _restricted_pages: OpenPages | None
    _is_view: bool
    _keep: bool

    if not TYPE_CHECKING:  # for a type checker, an unknown name stays an error

        def __enter__(self) -> Self:
            raise TypeError("Use `async with Web() as web:`, or `with SyncWeb() as web:` in synchronous code.")

        def __exit__(self, *exc_info: object) -> None: ...

        def __getattr__(self, name: str) -> Any:
            hint = "" if name.startswith("_") else method_hint(name)
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}{hint}")

    def session(self, name: str | None = None, **limits: float) -> Self:
        """Return a view of this `Web` with its own budget; everything else is shared, and closing it closes nothing.

        Use it as `async with web.session("research", searches=10) as session:` or just as an object.

        Args:
            name: The session's name; processes that share it and the store share its budget. None is a new session.
            limits: `searches`, `warning_threshold`, `cost_usd`, `tokens`, `idle_timeout` in seconds; by default as in
                the settings. 0 is none.

        Raises:
            InvalidRequest: there is no such limit, or its value is not a number of 0 or more.
        """
        from groundwire.models.validators import check_choice, is_number
        from groundwire.routing.budget import Limits, SessionBudget, session_name
        from groundwire.routing.daily_quota import limits_of
        from groundwire.storage.memory import MemoryStore

        for limit, value in limits.items():
            check_choice("session", limit, Limits._fields)
            if not is_number(value) or not 0 <= value < float("inf"):
                raise InvalidRequest(limit, f"is {value!r}", "Pass a number of 0 or more.")
        name = session_name(self.owner, name) if name else None
        view = self._view()
        # A session without a name cannot be resumed, so its counts and sources need not outlive it.
        view._budget = SessionBudget(
            self._resources.store if name else MemoryStore(),
            name or uuid4().hex,
            limits_of(self.settings.session)._replace(**limits),  # type: ignore[arg-type]  # checked above
            self._resources.tasks,
            named=bool(name),
            quota=self._quota,
            owner=self.owner.of_session(name),
        )
        return view

    def restricted(
        self,
        *,
        providers: Sequence[str] = (),
        allowed_domains: Sequence[str] = (),
        blocked_domains: Sequence[str] = (),
        daily: DailyLimits | None = None,
        tenant: str = "",
        keep: bool = True,
    ) -> Self:
        """Return a restricted view of this `Web`; everything else is shared, and closing it closes nothing.

        A view of a view may do what both may. Its sessions have the same restrictions.

        Args:
            providers: The only ones that search and read, by name, among those of this `Web`; empty means all of them.
            allowed_domains: Only these domains and their subdomains, in results and in pages; empty means every one.
            blocked_domains: Never these domains nor their subdomains.
            daily: The daily limits, shared by all views with the same name; replaces previous ones.
            tenant: The owner of everything stored for its calls, invisible to other tenants. Empty changes nothing.
            keep: Whether anything of its calls may be kept; see `Web.search`.

        Raises:
            InvalidRequest: a domain is invalid.
        """
        from groundwire.models.validators import check_domains
        from groundwire.routing.daily_quota import DailyQuota
        from groundwire.safety.tenancy import Owner
        from groundwire.safety.urls import DomainPolicy

        policy = self._policy.within(
            DomainPolicy(
                check_domains("allowed_domains", allowed_domains), check_domains("blocked_domains", blocked_domains)
            )
        )
        view = self._view()
        view._policy = policy
        if providers:
            view._provider_names = tuple(name for name in providers if _is_named(name, self._provider_names))
        searchers = [one for one in self.search_providers if _is_named(one.name, view._provider_names)]
        readers = [one for one in self.read_providers if _is_named(one.name, view._provider_names)]
        router = self._search_flow.router.restricted(searchers, policy)
        view._search_flow = replace(self._search_flow, router=router, policy=policy)
        view._restricted_pages = self._open_pages.restricted(readers, policy)
        if daily is not None:
            view._quota = DailyQuota(self._resources.store, daily)
        view._budget = self._budget.within(view._quota, Owner(tenant) if tenant else self.owner)
        view._keep = self._keep and keep
        return view

    def with_providers(self, *search_providers: str | SearchProvider, settings: Settings | None = None) -> Self:
        """Return a view of this `Web` with other providers; everything else is shared, and closing it closes nothing.

        If these providers fail there is no fallback, not even the archive.

        Args:
            search_providers: The providers in order, by name or as objects.
            settings: The options and keys of the providers given by name; by default the current settings.

        Raises:
            ConfigurationError: a provider is unknown, or none can be used. PermissionDenied: one is not allowed here.
        """
        from groundwire.providers.registry import as_provider

        for asked_for in search_providers:
            name = asked_for if isinstance(asked_for, str) else as_provider(asked_for).name
            if not _is_named(name, self._provider_names):
                raise PermissionDenied(f"{name} may not be used here; the operator can allow it.")
        view = self._view()
        usual = self._search_flow.router.providers
        router = self._resources.other_router(search_providers, usual, self._policy, settings)
        view._search_flow = replace(self._search_flow, router=router)
        return view

    @property
    def owner(self) -> Owner:
        """The owner of everything stored for calls of this view."""
        return self._budget.owner

    @property
    def keeps(self) -> bool:
        """Whether anything may be stored for its calls."""
        return self._keep

    @property
    def search_providers(self) -> tuple[SearchProvider, ...]:
        """The search providers, in order."""
        return self._search_flow.router.providers

    @property
    def read_providers(self) -> tuple[ReadProvider, ...]:
        """The read providers, in order."""
        return self._open_pages.flow.readers.readers

    def provider_health(self) -> tuple[ProviderHealth, ...]:
        """Return the health of each search provider as known to this process; call it in the event loop."""
        return self._search_flow.router.provider_health()

    @property
    def store(self) -> Store:
        """The store of budgets, counters and cached values; it belongs to this `Web`."""
        return self._resources.store

    @property
    def archive(self) -> Archive | None:
        """The archive; None if the settings disable it. It belongs to this `Web`."""
        return self._resources.archive

    @property
    def clients(self) -> HttpClients:
        """The HTTP clients; they belong to this `Web`."""
        return self._resources.clients

    @property
    def workers(self) -> Workers:
        """The worker processes, without keys, files or network; they belong to this `Web`."""
        return self._resources.workers

    @property
    def verification_workers(self) -> Workers:
        """Worker processes that only verify answers, so that pages never wait for them; they belong to this `Web`."""
        return self._resources.verification_workers

    async def score_history(self, days: int = 7) -> ScoreHistory:
        """Return the results of calls and providers, day by day, up to now.

        Args:
            days: How many, today in UTC included: 1 to 35.

        Raises:
            ValueError: the number of days is out of range. StoreError: the store cannot be read.
        """
        from groundwire.telemetry.scorecard import score_history

        await self._resources.scores.flush()
        names = (*self.settings.search.providers, *self.settings.read.providers)
        return await score_history(self._resources.store, days, names=names)

    @property
    def budget(self) -> Budget | None:
        """The usage and limit of this session as of its last search; None if searches are not limited."""
        return self._budget.state()

    async def usage(self) -> dict[str, float]:
        """Return the usage of this session: `searches`, `cost_usd`, `tokens`."""
        return await self._budget.usage()

    async def daily_usage(self) -> dict[str, float]:
        """Return the usage of the daily quota: `calls`, `cost_usd`; empty if there is none."""
        return {} if self._quota is None else await self._quota.used()

    async def reserve_searches(self, max_searches: int, *, price_usd: float = 0.0) -> Reservation:
        """Reserve searches for a model's API before it is called, up to the number left.

        Args:
            max_searches: How many are requested.
            price_usd: The maximum price of each, in US dollars.

        Returns:
            How many may be made; pass it to `settle_searches` afterwards.
        """
        from groundwire.models.validators import check_int

        return await self._budget.reserve_many(check_int("max_searches", max_searches, 1, 1_000), price_usd)

    async def settle_searches(self, reservation: Reservation, used: int) -> None:
        """Replace reserved searches by those that a model's API has made."""
        await self._budget.settle_many(reservation, used)

    async def allow_urls_in(self, *texts: str) -> tuple[str, ...]:
        """Let this session open URLs given by its user, if the setting `policy.open_only` is `known`.

        Call it with the user's messages, before an agent sees them. Without that setting, every URL may be opened
        anyway.

        Args:
            texts: URLs, or texts that contain some.

        Returns:
            The URLs that were found, in canonical form.

        Raises:
            InvalidRequest: an argument is not text. Closed.
        """
        from groundwire.web.known_urls import addresses_in

        for text in texts:
            if not isinstance(text, str):
                raise InvalidRequest("texts", f"must be texts, not {type(text).__name__}", "Pass the user's message.")
        if self._resources.closed:
            raise closed()
        found = tuple(dict.fromkeys(url for text in texts for url in addresses_in(text)))
        if self._resources.known is not None:
            await self._resources.known.note(self._budget, "user", found)
        return tuple(url.text for url in found)

    async def sources(self, *, content: bool = True) -> tuple[CitedPage, ...]:
        """Return the pages shown to this session, by citation number, in the version that it saw.

        Args:
            content: Whether to include the Markdown of opened ones.

        Raises:
            InvalidRequest: the setting `session.citations` disables storing. Closed.
        """
        return await self._cited().pages(self._budget, None if content else ())

    async def verify(
        self,
        answer: str,
        *,
        pages: Sequence[CitedPage] | None = None,
        entailment: Entailment | None = None,
    ) -> Report:
        """Verify each sentence of an answer against the pages it cites, without fetching anything.

        Words decide; `groundwire.agent_loop.verify` lets the model of the settings judge what they leave in doubt.

        Args:
            answer: The answer in Markdown, with markers such as `[1]`.
            pages: The sources by number; by default those of this session.
            entailment: A model that judges; see `groundwire.citations.verify.verify_answer`.

        Raises:
            InvalidRequest: `answer` is not text or too long (more than 10,000 markers or sentences), or the setting
                `session.citations` disables storing. Closed.
        """
        from groundwire.citations.verify import check_size, cited_numbers, verify_off_loop  # loaded on first use

        if not isinstance(answer, str):
            raise InvalidRequest("answer", f"must be text, not {type(answer).__name__}", "Pass the model's answer.")
        check_size(answer, ())
        if pages is None:
            is_short = len(answer) < _AT_ONCE
            numbers = cited_numbers(answer) if is_short else await asyncio.to_thread(cited_numbers, answer)
            pages = await self._cited().pages(self._budget, numbers)
        return await verify_off_loop(self.verification_workers, answer, pages, entailment=entailment)

    async def reset_session(self) -> None:
        """Reset the session: usage, known URLs, and citation numbers."""
        await self._budget.reset()
        if self._resources.sources is not None:
            await self._resources.sources.forget(self._budget)
        if self._resources.known is not None:
            await self._resources.known.forget(self._budget)

    def _view(self) -> Self:
        """Return a `Web` that shares everything with this one."""
        view = copy.copy(self)
        view._is_view = True
        return view

    @property
    def _open_pages(self) -> OpenPages:
        """What opens pages for this view."""
        return self._restricted_pages or self._resources.open_pages

    def _cited(self) -> CitedPages:
        from groundwire.web.session_sources import CitedPages

        if self._resources.closed:
            raise closed()
        if self._resources.sources is None:
            raise InvalidRequest(
                "session.citations", "is call, so nothing is remembered", "Set it to session to check answers."
            )
        return CitedPages(sources=self._resources.sources, archive=self._resources.archive)


def closed() -> Closed:
    """Return the error for a call to a closed `Web`."""
    return Closed("This Web is closed; create a new one.")


def _is_named(name: str, names: Sequence[str] | None) -> bool:
    """Whether a provider, or its kind if there are several of one kind, is named; None names all."""
    return names is None or name in names or name.partition(":")[0] in names
