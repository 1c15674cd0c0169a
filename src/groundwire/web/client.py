"""The one object everybody holds: searching the web and opening its pages."""

from __future__ import annotations

import asyncio
import copy
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast, get_args
from uuid import uuid4

from groundwire.cassette import Cassette, choose_cassette
from groundwire.clients import Clients
from groundwire.deadline import Deadline
from groundwire.errors import (
    Closed,
    ConfigurationError,
    InvalidRequest,
    PermissionDenied,
)
from groundwire.models import MAX_URL, Budget, Observer, Page, Query, SafeSearch, SearchResponse, TimeRange
from groundwire.models.checks import check_choice, check_date, check_domains, check_int
from groundwire.observing.calllog import CallLog
from groundwire.observing.card import ScoreHistory, score_history
from groundwire.observing.listening import telling
from groundwire.observing.records import Watcher, Watchers
from groundwire.observing.scores import Scores
from groundwire.providers import ReadProvider, SearchProvider
from groundwire.providers.archive import ArchiveProvider
from groundwire.reading.handle.counting import CountTokens
from groundwire.reading.handle.view import Around, check_ask
from groundwire.reading.readers import Readers
from groundwire.routing import Router
from groundwire.routing.budget import Limits, Reservation, SessionBudget
from groundwire.routing.cache import Cache
from groundwire.routing.cost_ledger import BackgroundTasks
from groundwire.routing.daily_quota import DailyLimits, DailyQuota
from groundwire.routing.health import ProviderHealth
from groundwire.routing.hedging_policy import HedgePolicy, Strategy
from groundwire.safety.addresses_in_text import addresses_in
from groundwire.safety.domains import DomainPolicy
from groundwire.safety.guard import Resolver
from groundwire.settings import SessionSettings, Settings, load
from groundwire.settings.contradictions import contradictions, lonely
from groundwire.storage import Store, open_store
from groundwire.storage.archive import Archive, open_archive
from groundwire.storage.memory import MemoryStore
from groundwire.web.call_records import search_done
from groundwire.web.known_urls import KnownUrls
from groundwire.web.open_page import OpenPageFlow, OpenPages, check_url, check_urls
from groundwire.web.search import SearchFlow
from groundwire.web.session_sources import CitedPages, SessionSources
from groundwire.web.setup import ProviderSetup, known_secrets, make_politeness, make_secret_scanner

if TYPE_CHECKING:
    from groundwire.citations.verify import CitedPage, Entailment, Report
    from groundwire.native.answers.model import HostedAnswer

__all__ = ["Web"]

_LONGEST_TIMEOUT = 600  # seconds


class Web:
    """Searches the web and opens pages, through whichever providers are set up.

    Use it as `async with Web() as web:`, or call `aclose` when done. One `Web` is one session: it has one budget,
    one pool of connections per kind of traffic, and belongs to one event loop.

    Args:
        settings: What is in force; by default read from arguments, environment and files (`groundwire.settings.load`).
        search_providers: Search providers in the order in which they are asked, by name or as objects; by default
            those of the settings.
        read_providers: The same for reading pages.
        attempt_listener: Is told when a provider is asked and how it ended.
        call_listeners: Are told of every call when it has ended, such as `groundwire.observing.Metrics`.
        cassette: Records what comes from outside, or replays it; by default as GROUNDWIRE_RECORD or GROUNDWIRE_REPLAY
            say. With one nothing is kept from one `Web` to the next.
        record: A file to record into, begun anew: short for `cassette=Cassette.record(FILE)`.
        replay: A recorded file to answer from, without a network: short for `cassette=Cassette.replay(FILE)`.
        resolver: Resolves host names, instead of the system.
        count_tokens: Counts the tokens of a text exactly, for `max_tokens`; by default they are bounded from above.

    Raises:
        ConfigurationError: a setting is wrong, a provider is unknown, or none can be used.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        search_providers: Sequence[str | SearchProvider] | None = None,
        read_providers: Sequence[str | ReadProvider] | None = None,
        attempt_listener: Observer | None = None,
        call_listeners: Sequence[Watcher] = (),
        cassette: Cassette | None = None,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        resolver: Resolver | None = None,
        count_tokens: CountTokens | None = None,
    ) -> None:
        self.settings = settings = load() if settings is None else settings
        self._closed = False
        cassette = choose_cassette(cassette, record, replay, os.environ)
        if cassette is not None:
            cassette.hide(*known_secrets(settings))
        self._transports = Clients(settings, resolver, cassette)
        self._archive = open_archive(settings) if cassette is None else None
        assembly = ProviderSetup(settings, self._transports, self._archive)
        policy = DomainPolicy(settings.policy.allowed_domains, settings.policy.blocked_domains)
        _refuse([] if settings.loaded else [f"{key}: {text}" for key, text in contradictions(settings)])
        searchers = assembly.make("search", search_providers, settings.search.providers)
        if search_providers is None and len(searchers) == 1 < len(settings.search.providers):
            why = " ".join(assembly.skipped)
            _refuse([f"{key}: {text}. {why}" for key, text in lonely(settings, searchers[0].name)])
        readers = assembly.make("read", read_providers, settings.read.providers)
        self.skipped: tuple[str, ...] = assembly.skipped
        """Why providers of the settings are not used, a sentence each."""
        self._made: list[object] = list(assembly.made.values())
        self._policy = policy
        self._attempt_listener = attempt_listener = telling(attempt_listener)
        self._store = open_store(settings.storage.url if cassette is None else "memory://")
        self._chain = self._chain_of(
            cast("list[SearchProvider]", searchers), last=ArchiveProvider(self._archive) if self._archive else None
        )
        self._cache = Cache(self._store) if settings.cache.enabled else None
        self._known = KnownUrls(self._store) if settings.policy.open_only == "known" else None
        self._sources = SessionSources(self._store) if settings.session.citations == "session" else None
        self._politeness = self._transports.pages.gate = make_politeness(settings, self._transports.pages, self._store)
        canaries = make_secret_scanner(settings, os.environ)
        self._searching = SearchFlow(
            settings=settings,
            chain=self._chain,
            policy=policy,
            cache=self._cache,
            archive=self._archive,
            canaries=canaries,
            known=self._known,
            sources=self._sources,
        )
        guard = self._transports.guard
        self._opening = OpenPageFlow(
            settings=settings,
            guard=guard,
            readers=Readers(
                cast("list[ReadProvider]", readers),
                guard=guard,
                policy=policy,
                attempt_listener=attempt_listener,
                gate=self._politeness,
                rendered=settings.read.render,
                skipped=self.skipped,
            ),
            policy=policy,
            cache=self._cache,
            archive=self._archive,
            canaries=canaries,
            known=self._known,
            sources=self._sources,
        )
        self._later = BackgroundTasks()
        self._budget = SessionBudget(
            self._store,
            settings.session.id or uuid4().hex,
            _limits(settings.session),
            self._later,
            named=bool(settings.session.id),
        )
        self._daily_quota: DailyQuota | None = None
        self._provider_names: tuple[str, ...] | None = None
        self._scores = Scores(self._store)
        self._call_listeners = Watchers((CallLog(), self._scores, *call_listeners))
        self._count_tokens = count_tokens
        self._batch = OpenPages(opening=self._opening, call_listeners=self._call_listeners)
        self._is_view = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        allowed_domains: Sequence[str] = (),
        blocked_domains: Sequence[str] = (),
        time_range: TimeRange = "all",
        published_after: date | str | None = None,
        published_before: date | str | None = None,
        language: str | None = None,
        region: str | None = None,
        safesearch: SafeSearch | None = None,
        page: int = 1,
        strategy: Strategy | None = None,
        refresh: bool = False,
        timeout: float | None = None,
    ) -> SearchResponse:
        """Search the web.

        Args:
            query: The words, 1 to 2,000 characters.
            limit: The most results, 1 to 50; by default the setting `search.limit`.
            allowed_domains: Only these domains and their sub-domains; empty means every domain.
            blocked_domains: Never these domains nor their sub-domains.
            time_range: How recent: `d` (day), `w`, `m`, `y` or `all`.
            published_after: The first day on which a result may have been published, a date or `2026-01-31`.
            published_before: The last such day.
            language: A language tag such as `en`.
            region: A country code such as `us`.
            safesearch: `off`, `moderate` or `strict`; by default the setting `search.safesearch`.
            page: Which page of results, 1 to 10.
            strategy: `fallback` (one provider after the other), `hedge` (the next when one is late) or `fuse` (several
                at once, merged); by default the setting `search.strategy`.
            refresh: Whether to skip the cache; the new result is stored.
            timeout: Seconds for the whole search; by default the setting `search.timeout`.

        Returns:
            The results, numbered to be cited by, with everything that was tried. A page keeps its number as long as
            the session lasts; the setting `session.citations` can have each search begin at 1. No results means that
            searching worked and nothing was found. `cached` and `stale` say whether the answer was kept, and for too
            long.

        Raises:
            InvalidRequest: an argument is wrong. BudgetExceeded: the session may not search any more.
            AllProvidersFailed: nobody could search; it carries the attempts. Closed.
        """
        asked = Query(
            text=query,
            limit=self.settings.search.limit if limit is None else limit,
            allowed_domains=check_domains("allowed_domains", allowed_domains),
            blocked_domains=check_domains("blocked_domains", blocked_domains),
            time_range=time_range,
            published_after=check_date("published_after", published_after),
            published_before=check_date("published_before", published_before),
            language=language,
            region=region,
            safesearch=self.settings.search.safesearch if safesearch is None else safesearch,
            page=page,
        )
        if strategy is not None:
            check_choice("strategy", strategy, get_args(Strategy))
        deadline = self._begin(timeout, self.settings.search.timeout)
        chosen = strategy or self.settings.search.strategy
        started = time.perf_counter()
        try:
            response = await self._searching.search(asked, deadline, chosen, refresh, self._budget)
        except BaseException as error:
            self._call_listeners.search_done(search_done(asked, chosen, started, error, self._budget))
            raise
        self._call_listeners.search_done(search_done(asked, chosen, started, response, self._budget))
        return response

    async def open_page(
        self,
        url: str,
        *,
        query: str | None = None,
        cursor: str | None = None,
        find: str | None = None,
        max_length: int | None = None,
        max_tokens: int | None = None,
        refresh: bool = False,
        timeout: float | None = None,
        context: Around | None = None,
    ) -> Page:
        """Read one page as Markdown: its beginning, or the part that is asked for by `query`, `cursor` or `find`.

        Args:
            url: An http or https address. It is judged by the guard before any reader sees it.
            query: The passages that answer this are wanted.
            cursor: The piece that begins here is wanted: a `next_cursor`, or `#2` for the second of `sections`, or
                `@5120` for a place in characters.
            find: The places where this stands literally are wanted; case, blanks and kinds of quotes do not matter.
            max_length: The most characters of Markdown to return; a longer page is cut at a block and says so. By
                default the setting `read.max_length`, or 4,000 for `query` and `find` when that is more.
            max_tokens: The most tokens of Markdown to return, as the usual vocabularies count; with it `max_length`
                has no default.
            refresh: Whether to skip the cache; the new result is stored.
            timeout: Seconds for the whole call; by default the setting `read.timeout`.
            context: Returns what will stand around the content where it is shown; `max_tokens` counts it too.

        Returns:
            The page, or a part of it: `start`, `end` and `version` say which, `next_cursor` how to go on, `truncated`
            and `warnings` what is missing and why. `excerpts` and `matches` are what was chosen, `sections` the
            sections of the whole page.

        Raises:
            InvalidRequest: an argument is wrong, or the cursor leads nowhere. BlockedByPolicy: the address or domain
            is not allowed. PageError: the page cannot be had. ProviderError: the reader failed. DeadlineExceeded,
            Closed.
        """
        ask = check_ask(
            query=query,
            cursor=cursor,
            find=find,
            max_length=max_length,
            max_tokens=max_tokens,
            usual=self.settings.read.max_length,
            count_tokens=self._count_tokens,
            around=context,
        )
        check_url("url", url)
        deadline = self._begin(timeout, self.settings.read.timeout)
        return await self._batch.one(url, ask, deadline, refresh, self._budget)

    async def open_pages(
        self,
        urls: Sequence[str],
        *,
        query: str | None = None,
        find: str | None = None,
        max_length: int | None = None,
        max_tokens: int | None = None,
        at_once: int = 4,
        refresh: bool = False,
        timeout: float | None = None,
    ) -> tuple[Page, ...]:
        """Read several pages side by side; what short ones leave of the room goes to the long ones.

        Args:
            urls: 1 to 50 addresses. One that is given twice is read once and returned twice.
            query: See `open_page`; the same for every page.
            find: See `open_page`; the same for every page.
            max_length: The most characters of all pages together. By default each may be as long as `open_page` lets
                one be.
            max_tokens: The most tokens of all pages together.
            at_once: The most pages that are read at the same time, 1 to 16.
            refresh: Whether to skip the cache; the new result is stored.
            timeout: Seconds for the whole call; by default the setting `read.timeout`.

        Returns:
            A page for each address, in their order. One that could not be read has `status` error and says why.

        Raises:
            InvalidRequest: an argument is wrong. Closed.
        """
        ask = check_ask(
            query=query,
            find=find,
            max_length=max_length,
            max_tokens=max_tokens,
            usual=self.settings.read.max_length,
            count_tokens=self._count_tokens,
        )
        shared = max_length is not None or max_tokens is not None
        asked = check_urls(urls)
        check_int("at_once", at_once, 1, 16)
        deadline = self._begin(timeout, self.settings.read.timeout)
        return await self._batch.all(
            asked, ask, deadline, refresh, self._budget, shared=shared, limit=asyncio.Semaphore(at_once)
        )

    async def allow_urls_in(self, *texts: str) -> tuple[str, ...]:
        """Let this session open addresses that its user gave, where the setting `policy.open_only` is `known`.

        Call it with what the user writes, before an agent sees it. Elsewhere every address may be opened anyway.

        Args:
            texts: Addresses, or texts that hold some.

        Returns:
            The addresses that were found, in canonical form.

        Raises:
            InvalidRequest: an argument is no text. Closed.
        """
        for text in texts:
            if not isinstance(text, str):
                raise InvalidRequest("texts", f"must be texts, not {type(text).__name__}", "Pass the user's message.")
        if self._closed:
            raise Closed("This Web was closed; make a new one.")
        found = tuple(dict.fromkeys(url for text in texts for url in addresses_in(text)))
        if self._known is not None:
            await self._known.note(self._budget.session, "user", found)
        return tuple(url.text for url in found)

    def session(self, name: str | None = None, **limits: float) -> Web:
        """Return a view of this `Web` with a budget of its own; it shares everything else and closes nothing.

        Use it as `async with web.session("research", searches=10) as session:` or just as an object.

        Args:
            name: The session's name; processes that share it and the store share its budget. None is a new session.
            limits: `searches`, `warning_threshold`, `cost_usd`, `tokens`, by default as in the settings; 0 is none.

        Raises:
            InvalidRequest: there is no such limit, or its value is not a number of 0 or more.
        """
        for limit, value in limits.items():
            check_choice("session", limit, tuple(Limits.__dataclass_fields__))
            if not _is_number(value) or not 0 <= value < float("inf"):
                raise InvalidRequest(limit, f"is {value!r}", "Pass a number of 0 or more.")
        view = copy.copy(self)
        usual = _limits(self.settings.session)
        named = replace(usual, **limits)  # type: ignore[arg-type]  # the names and values were looked at above
        # Nobody can ask for a session without a name again: what it counts need not outlive it.
        store = self._store if name else MemoryStore()
        view._budget = SessionBudget(
            store, name or uuid4().hex, named, self._later, named=bool(name), within=self._daily_quota
        )
        view._is_view = True
        return view

    def restricted(
        self,
        *,
        providers: Sequence[str] = (),
        allowed_domains: Sequence[str] = (),
        blocked_domains: Sequence[str] = (),
        daily: DailyLimits | None = None,
    ) -> Web:
        """Return a view of this `Web` that may do less; it shares everything else and closes nothing.

        A view of a view may do what both may. Sessions of a view are limited as it is.

        Args:
            providers: The only ones that search and read, by name, among those of this `Web`; empty means all of them.
            allowed_domains: Only these domains and their sub-domains, in results and in pages; empty means every one.
            blocked_domains: Never these domains nor their sub-domains.
            daily: What may be used in a day, by all who are limited under the same name; it takes the place of another.

        Raises:
            InvalidRequest: what should be a domain is none.
        """
        policy = self._policy.within(
            DomainPolicy(
                check_domains("allowed_domains", allowed_domains), check_domains("blocked_domains", blocked_domains)
            )
        )
        view = copy.copy(self)
        view._policy = policy
        if providers:
            view._provider_names = tuple(name for name in providers if _is_named(name, self._provider_names))
        searchers, readers = self._chain.providers, self._opening.readers.readers
        view._chain = self._chain.restricted(
            [one for one in searchers if _is_named(one.name, view._provider_names)], policy
        )
        view._searching = replace(self._searching, chain=view._chain, policy=policy)
        allowed = self._opening.readers.restricted(
            [one for one in readers if _is_named(one.name, view._provider_names)], policy
        )
        view._opening = replace(self._opening, readers=allowed, policy=policy)
        view._batch = replace(self._batch, opening=view._opening)
        if daily is not None:
            view._daily_quota = DailyQuota(self._store, daily)
        view._budget = self._budget.within_quota(view._daily_quota)
        view._is_view = True
        return view

    def with_providers(self, *search_providers: str | SearchProvider, settings: Settings | None = None) -> Web:
        """Return a view of this `Web` that searches with other providers; it shares everything else and closes nothing.

        When these providers fail nothing stands in for them, not even the archive.

        Args:
            search_providers: In the order in which they are asked, by name or as objects.
            settings: Where options and keys of those are that are made anew; by default the settings in force.

        Raises:
            ConfigurationError: a provider is unknown, or none can be used. PermissionDenied: one may not be used here.
        """
        for asked_for in search_providers:
            name = asked_for if isinstance(asked_for, str) else asked_for.name
            if not _is_named(name, self._provider_names):
                raise PermissionDenied(f"{name} may not be used here; the operator can allow it.")
        view = copy.copy(self)
        here = {provider.name: provider for provider in self._chain.providers} if settings is None else {}
        assembly = ProviderSetup(settings or self.settings, self._transports, self._archive)
        asked = [here.get(one, one) if isinstance(one, str) else one for one in search_providers]
        searchers = assembly.make("search", asked, ())
        view._chain = self._chain_of(cast("list[SearchProvider]", searchers))
        view._searching = replace(self._searching, chain=view._chain)
        self._made += [view._chain, *assembly.made.values()]
        view._is_view = True
        return view

    @property
    def budget(self) -> Budget | None:
        """What this session has used and may still use, as of its last search; None when searches have no limit."""
        return self._budget.state()

    @property
    def search_providers(self) -> tuple[SearchProvider, ...]:
        """Who searches, in the order in which they are asked."""
        return self._chain.providers

    @property
    def read_providers(self) -> tuple[ReadProvider, ...]:
        """Who reads, in the order in which they are asked."""
        return self._opening.readers.readers

    def provider_health(self) -> tuple[ProviderHealth, ...]:
        """Return how each search provider stands, as far as this process knows; call it in the event loop."""
        return self._chain.provider_health()

    @property
    def store(self) -> Store:
        """Where budgets, counters and what is kept are; it belongs to this `Web`."""
        return self._store

    @property
    def archive(self) -> Archive | None:
        """What was read and seen before; None when the settings switch it off. It belongs to this `Web`."""
        return self._archive

    async def score_history(self, days: int = 7) -> ScoreHistory:
        """Return how calls and providers did, day by day, up to this moment.

        Args:
            days: How many, today in UTC included: 1 to 35.

        Raises:
            ValueError: the number of days is out of bounds. StoreError: the store cannot answer.
        """
        await self._scores.flush()
        names = (*self.settings.search.providers, *self.settings.read.providers)
        return await score_history(self._store, days, names=names)

    async def reserve_searches(self, max_searches: int, *, price_usd: float = 0.0) -> Reservation:
        """Count searches that a model's API may make for this session, before it is asked: as many as are left.

        Args:
            max_searches: How many are wanted.
            price_usd: What one of them costs at most.

        Returns:
            How many may be made; give it to `settle_searches` when they are made.
        """
        return await self._budget.reserve_many(check_int("max_searches", max_searches, 1, 1_000), price_usd)

    async def settle_searches(self, reservation: Reservation, used: int) -> None:
        """Put the searches that a model's API has made in the place of those that were held."""
        await self._budget.settle_many(reservation, used)

    async def sources(self, *, content: bool = True) -> tuple[CitedPage, ...]:
        """Return the pages that this session was shown, by the numbers to cite them by, as they were when it saw them.

        Args:
            content: Whether the Markdown of those that were opened is wanted, too.

        Raises:
            InvalidRequest: the setting `session.citations` lets nothing be remembered. Closed.
        """
        return await self._citing().pages(self._budget, None if content else ())

    async def verify(self, answer: str, *, entailment: Entailment | None = None) -> Report:
        """Say of each sentence of an answer whether the pages that it cites say so; nothing is fetched for it.

        Args:
            answer: The answer in Markdown, with marks such as `[1]` for the numbers of this session.
            entailment: A model of one's own that is asked, too; see `groundwire.citations.verify.verify_answer`.

        Raises:
            InvalidRequest: `answer` is no text, or the setting `session.citations` lets nothing be remembered. Closed.
        """
        from groundwire.citations.verify import cited_numbers, verify_answer  # costs nothing until it is used

        if not isinstance(answer, str):
            raise InvalidRequest("answer", f"must be text, not {type(answer).__name__}", "Pass the model's answer.")
        pages = await self._citing().pages(self._budget, cited_numbers(answer))
        return await asyncio.to_thread(verify_answer, answer, pages, entailment=entailment)

    async def verify_hosted(
        self, answer: HostedAnswer, *, timeout: float | None = None, entailment: Entailment | None = None
    ) -> Report:
        """Say of each sentence of a hosted answer whether the pages that it cites say so; they are opened for it.

        The report speaks of the text that `groundwire.citations.marked` makes of the answer. A page that cannot be
        opened is not opened: what the API showed of it is all that is compared.

        Args:
            answer: What a model API answered that searched by itself.
            timeout: Seconds for opening all pages; by default the setting `read.timeout`.
            entailment: A model of one's own that is asked, too; see `groundwire.citations.verify.verify_answer`.

        Raises:
            InvalidRequest: the setting `session.citations` lets nothing be remembered. Closed.
        """
        from groundwire.citations.hosted import marked  # costs nothing until it is used
        from groundwire.citations.verify import cited_numbers, verify_answer

        said = marked(answer)
        used = cited_numbers(said.text)
        pages = {page.url: page for page in said.pages}
        wanted = [page.url for page in said.pages if page.number in used and 0 < len(page.url) <= MAX_URL][:50]
        view = self.session()
        citing = view._citing()
        opened = await view.open_pages(wanted, timeout=timeout) if wanted else ()
        known = {page.number: page for page in await citing.pages(view._budget)}
        for url, page in zip(wanted, opened, strict=True):
            if page.citation_id in known:
                found = known[page.citation_id]
                pages[url] = replace(pages[url], content=found.content, version=found.version)
        return await asyncio.to_thread(verify_answer, said.text, pages.values(), entailment=entailment)

    async def daily_usage(self) -> dict[str, float]:
        """Return what was used of the day's allowance: `calls`, `cost_usd`; nothing where there is none."""
        return {} if self._daily_quota is None else await self._daily_quota.used()

    async def usage(self) -> dict[str, float]:
        """Return what this session has used: `searches`, `cost_usd`, `tokens`."""
        return await self._budget.usage()

    async def reset_session(self) -> None:
        """Begin the session anew: the budget is whole again, no address is known, and numbers begin at 1."""
        await self._budget.reset()
        if self._sources is not None:
            await self._sources.forget(self._budget)
        if self._known is not None:
            await self._known.forget(self._budget.session)

    async def aclose(self, *, grace_seconds: float = 0.0) -> None:
        """Close all connections; calls after it raise Closed. Closing twice is fine. A session closes nothing.

        Args:
            grace_seconds: Seconds to wait first for stale answers that are being fetched anew.
        """
        if self._is_view:
            return
        self._closed = True
        if self._cache is not None:
            await self._cache.aclose(grace_seconds=grace_seconds)
        await self._politeness.aclose()
        await self._chain.aclose()
        await self._later.aclose()
        for provider in self._made:
            close = getattr(provider, "aclose", None)
            if close is not None:
                await close()
        await self._transports.aclose()
        if self._archive is not None:
            await self._archive.aclose()
        await self._scores.aclose()
        await self._store.aclose()

    def _citing(self) -> CitedPages:
        if self._closed:
            raise Closed("This Web was closed; make a new one.")
        if self._sources is None:
            raise InvalidRequest(
                "session.citations", "is call, so that nothing is remembered", "Set it to session to check answers."
            )
        return CitedPages(sources=self._sources, archive=self._archive)

    def _begin(self, timeout: float | None, default: float) -> Deadline:
        if self._closed:
            raise Closed("This Web was closed; make a new one.")
        seconds = default if timeout is None else timeout
        if not _is_number(seconds) or not 0 < seconds <= _LONGEST_TIMEOUT:
            raise InvalidRequest(
                "timeout", f"is {seconds!r}", f"Pass seconds, more than 0 and at most {_LONGEST_TIMEOUT}."
            )
        return Deadline.after(seconds)

    def _chain_of(self, searchers: Sequence[SearchProvider], last: SearchProvider | None = None) -> Router:
        return Router(
            searchers,
            attempt_timeout=self.settings.search.attempt_timeout,
            policy=self._policy,
            attempt_listener=self._attempt_listener,
            strategy=self.settings.search.strategy,
            hedging=HedgePolicy.of(self.settings.search.latency, self.settings.search.cost),
            store=self._store,
            last=last,
        )


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise ConfigurationError("The settings contradict each other:\n" + "\n".join(f"  {line}" for line in problems))


def _limits(session: SessionSettings) -> Limits:
    return Limits(
        searches=session.limit,
        warning_threshold=session.warning_threshold,
        cost_usd=session.cost_usd,
        tokens=session.tokens,
    )


def _is_named(name: str, names: Sequence[str] | None) -> bool:
    """Whether a provider, or the kind of which it is one of several, is named; None names everybody."""
    return names is None or name in names or name.partition(":")[0] in names


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
