"""The one object everybody holds: searching the web and opening its pages."""

from __future__ import annotations

import asyncio
import copy
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Self, cast, get_args
from uuid import uuid4

from groundwire.cassette import Cassette, choose_cassette
from groundwire.clients import Clients
from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedDomain,
    Closed,
    ConfigurationError,
    DeadlineExceeded,
    GroundwireError,
    InvalidRequest,
    MissingKey,
    NotConfigured,
    PageUnavailable,
    ProviderError,
)
from groundwire.models import (
    Attempt,
    Budget,
    Observer,
    Page,
    Query,
    SafeSearch,
    SearchResponse,
    Source,
    TimeRange,
    check_choice,
    check_date,
    check_domains,
    check_int,
)
from groundwire.observing.calllog import CallLog
from groundwire.observing.records import PageDone, SearchDone, Watcher, Watchers
from groundwire.observing.scores import Scores
from groundwire.providers import ReadProvider, SearchProvider
from groundwire.providers.archive import ArchiveProvider
from groundwire.providers.registry import create
from groundwire.reading.readers import Readers, cut
from groundwire.routing import Chain, ChainAnswer
from groundwire.routing.bill import Bill, Later
from groundwire.routing.budget import Limits, SessionBudget
from groundwire.routing.cache import Cache, Life
from groundwire.routing.cache_keys import page_key, search_key
from groundwire.routing.cache_values import (
    life_of_page,
    life_of_search,
    pack_page,
    pack_search,
    unpack_page,
    unpack_search,
)
from groundwire.routing.policy import HedgePolicy, Strategy
from groundwire.safety.domains import DomainPolicy
from groundwire.safety.guard import Resolver
from groundwire.safety.urls import WebUrl, parse_url
from groundwire.settings import KEY_VARIABLES, SessionSettings, Settings, load
from groundwire.settings.contradictions import contradictions, lonely
from groundwire.storage import StoreError, open_store
from groundwire.storage.archive import open_archive

__all__ = ["Web"]

_LONGEST_PAGE = 10_000_000  # characters
_LONGEST_TIMEOUT = 600  # seconds
_LONGEST_STALE = 3_600.0  # seconds for which a stale answer is given at once


class Web:
    """Searches the web and opens pages, through whichever providers are set up.

    Use it as `async with Web() as web:`, or call `aclose` when done. One `Web` is one session: it has one budget,
    one pool of connections per kind of traffic, and belongs to one event loop.

    Args:
        settings: What is in force; by default read from arguments, environment and files (`groundwire.settings.load`).
        search_providers: Search providers in the order in which they are asked, by name or as objects; by default
            those of the settings.
        read_providers: The same for reading pages.
        observer: Is told when a provider is asked and how it ended.
        watchers: Are told of every call when it has ended, such as `groundwire.observing.Metrics`.
        cassette: Records what comes from outside, or replays it; by default as GROUNDWIRE_RECORD or GROUNDWIRE_REPLAY
            say. With one nothing is kept from one `Web` to the next.
        record: A file to record into, begun anew: short for `cassette=Cassette.record(FILE)`.
        replay: A recorded file to answer from, without a network: short for `cassette=Cassette.replay(FILE)`.
        resolver: Resolves host names, instead of the system.

    Raises:
        ConfigurationError: a setting is wrong, a provider is unknown, or none can be used.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        search_providers: Sequence[str | SearchProvider] | None = None,
        read_providers: Sequence[str | ReadProvider] | None = None,
        observer: Observer | None = None,
        watchers: Sequence[Watcher] = (),
        cassette: Cassette | None = None,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        resolver: Resolver | None = None,
    ) -> None:
        self.settings = settings = load() if settings is None else settings
        self._closed = False
        cassette = choose_cassette(cassette, record, replay, os.environ)
        if cassette is not None:
            cassette.hide(*_all_keys(settings))
        self._transports = Clients(settings, resolver, cassette)
        self._archive = open_archive(settings) if cassette is None else None
        made: dict[str, SearchProvider | ReadProvider] = {}
        self.skipped: tuple[str, ...] = ()
        """Why providers of the settings are not used, a sentence each."""
        policy = DomainPolicy(settings.policy.allowed_domains, settings.policy.blocked_domains)
        _refuse([] if settings.loaded else [f"{key}: {text}" for key, text in contradictions(settings)])
        searchers = self._make("search", search_providers, settings.search.providers, made)
        if search_providers is None and len(searchers) == 1 < len(settings.search.providers):
            why = " ".join(self.skipped)
            _refuse([f"{key}: {text}. {why}" for key, text in lonely(settings, searchers[0].name)])
        readers = self._make("read", read_providers, settings.read.providers, made)
        self._made = tuple(made.values())
        self._policy = policy
        self._store = open_store(settings.storage.url if cassette is None else "memory://")
        self._chain = Chain(
            cast("list[SearchProvider]", searchers),
            attempt_timeout=settings.search.attempt_timeout,
            policy=policy,
            observer=observer,
            strategy=settings.search.strategy,
            hedging=HedgePolicy.of(settings.search.latency, settings.search.cost),
            store=self._store,
            last=ArchiveProvider(self._archive) if self._archive else None,
        )
        self._readers = Readers(
            cast("list[ReadProvider]", readers),
            guard=self._transports.guard,
            policy=policy,
            observer=observer,
            rendered=settings.read.render,
            skipped=self.skipped,
        )
        self._cache = Cache(self._store) if settings.cache.enabled else None
        self._later = Later()
        self._budget = SessionBudget(
            self._store, settings.session.id or uuid4().hex, _limits(settings.session), self._later
        )
        self._scores = Scores(self._store)
        self._watchers = Watchers((CallLog(), self._scores, *watchers))
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
        fresh: bool = False,
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
            fresh: Whether to pass by what is kept.
            timeout: Seconds for the whole search; by default the setting `search.timeout`.

        Returns:
            The results, numbered from 1, with everything that was tried. No results means that searching worked and
            nothing was found. `cached` and `stale` say whether the answer was kept, and for too long.

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
        started = time.perf_counter()
        try:
            response = await self._counted_search(asked, deadline, strategy, fresh)
        except BaseException as error:
            self._tell_search(asked, strategy, started, error)
            raise
        self._tell_search(asked, strategy, started, response)
        return response

    async def open_page(
        self, url: str, *, max_length: int | None = None, fresh: bool = False, timeout: float | None = None
    ) -> Page:
        """Read one page as Markdown.

        Args:
            url: An http or https address. It is judged by the guard before any reader sees it.
            max_length: The most characters of Markdown to return; a longer page is cut at a block and says so. By
                default the setting `read.max_length`.
            fresh: Whether to pass by what is kept.
            timeout: Seconds for the whole call; by default the setting `read.timeout`.

        Returns:
            The page. `truncated` and `warnings` say what is missing and why.

        Raises:
            InvalidRequest: an argument is wrong. BlockedByPolicy: the address or domain is not allowed.
            PageError: the page cannot be had. ProviderError: the reader failed. DeadlineExceeded, Closed.
        """
        longest = check_int(
            "max_length", self.settings.read.max_length if max_length is None else max_length, 1, _LONGEST_PAGE
        )
        if not isinstance(url, str):
            raise InvalidRequest("url", f"must be text, not {type(url).__name__}", "Pass an http or https address.")
        deadline = self._begin(timeout, self.settings.read.timeout)
        started = time.perf_counter()
        attempts: list[Attempt] = []
        try:
            page = await self._counted_page(url, longest, deadline, fresh, attempts)
        except BaseException as error:
            self._tell_page(url, attempts, started, error)
            raise
        self._tell_page(url, attempts, started, page)
        return page

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
        view._budget = SessionBudget(self._store, name or uuid4().hex, named, self._later)
        view._is_view = True
        return view

    @property
    def budget(self) -> Budget | None:
        """What this session has used and may still use, as of its last search; None when searches have no limit."""
        return self._budget.state()

    async def statistics(self) -> dict[str, float]:
        """Return what this session has used: `searches`, `cost_usd`, `tokens`."""
        return await self._budget.statistics()

    async def reset_session(self) -> None:
        """Begin the session anew: the budget is whole again."""
        await self._budget.reset()

    async def aclose(self, *, patience: float = 0.0) -> None:
        """Close all connections; calls after it raise Closed. Closing twice is fine. A session closes nothing.

        Args:
            patience: Seconds to wait first for stale answers that are being fetched anew.
        """
        if self._is_view:
            return
        self._closed = True
        if self._cache is not None:
            await self._cache.aclose(patience=patience)
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

    async def _counted_search(
        self, asked: Query, deadline: Deadline, strategy: Strategy | None, fresh: bool
    ) -> SearchResponse:
        """Search within the session's budget; a search that could not be made is given back."""
        reservation = await self._budget.take(self._chain.price_usd)
        bill = self._budget.bill(reservation)
        try:
            response = await self._kept_search(asked, deadline, strategy, fresh, bill)
        except BaseException:
            await asyncio.shield(self._budget.give_back(reservation, bill.close()))
            raise
        await self._budget.settle(reservation, bill.close())
        warning = self._budget.warning(reservation)
        update = {"budget": self._budget.state(), "warnings": (*response.warnings, *((warning,) if warning else ()))}
        return response.model_copy(update=update)

    async def _counted_page(
        self, url: str, longest: int, deadline: Deadline, fresh: bool, attempts: list[Attempt]
    ) -> Page:
        """Read a page that the guard and the domain lists allow, within the session's budget."""
        target = self._transports.guard.admit(url)
        if not self._policy.permits(target.text):
            raise BlockedDomain(f"The settings do not allow opening pages of {target.host}.")
        await self._budget.check_tokens()
        await self._budget.check_money()
        try:
            page = cut(await self._kept_page(target, deadline, fresh, attempts), longest)
        finally:
            await asyncio.shield(self._budget.charge(_cost(attempts)))
        await self._budget.read(page.content_length)
        return page

    def _tell_search(
        self, asked: Query, strategy: Strategy | None, started: float, end: SearchResponse | BaseException
    ) -> None:
        """Tell the watchers how a search ended."""
        answer = end if isinstance(end, SearchResponse) else None
        attempts = () if answer and answer.cached else getattr(end, "attempts", ())
        known = self._budget.state()
        self._watchers.search_done(
            SearchDone(
                session=self._budget.session,
                query_length=len(asked.text),
                provider=answer.provider if answer else None,
                attempts=attempts,
                results=len(answer.results) if answer else 0,
                seconds=time.perf_counter() - started,
                cached=bool(answer and answer.cached),
                stale=bool(answer and answer.stale),
                error=None if answer else type(end).__name__,
                cost_usd=_cost(attempts),
                session_count=known.spent if known else None,
                session_limit=known.limit if known else None,
                strategy=strategy or self.settings.search.strategy,
            )
        )

    def _tell_page(self, url: str, attempts: Sequence[Attempt], started: float, end: Page | BaseException) -> None:
        """Tell the watchers how opening a page ended."""
        page = end if isinstance(end, Page) else None
        try:
            host = parse_url(url).host
        except GroundwireError:
            host = ""
        self._watchers.page_done(
            PageDone(
                session=self._budget.session,
                host=host,
                reader=page.reader if page else None,
                attempts=tuple(attempts),
                characters=page.content_length if page else 0,
                seconds=time.perf_counter() - started,
                cached=bool(page and page.cached),
                stale=bool(page and page.stale),
                error=None if page else type(end).__name__,
                cost_usd=_cost(attempts),
            )
        )

    async def _kept_search(
        self, asked: Query, deadline: Deadline, strategy: Strategy | None, fresh: bool, bill: Bill
    ) -> SearchResponse:
        """Return an answer from the cache, or from the chain."""

        async def load() -> SearchResponse:
            response = _response(asked, await self._chain.search(asked, deadline, strategy, bill))
            if self._archive is not None:
                self._archive.remember(response)
            return response

        if self._cache is None:
            return await load()
        settings = self.settings.cache
        chosen = strategy or self.settings.search.strategy
        names = [self._identity(provider) for provider in self._chain.providers]
        whole = _life(settings.search_ttl, settings.stale)
        kept = await self._cache.through(
            search_key(asked, names, self._policy, chosen),
            load,
            pack=pack_search,
            unpack=unpack_search,
            life=lambda answer: Life() if answer.stale else life_of_search(answer, whole),
            deadline=deadline,
            bypass=fresh,
        )
        return kept.value.model_copy(update=_age(kept.value.warnings, kept.cached, kept.stale, kept.age))

    async def _kept_page(self, target: WebUrl, deadline: Deadline, fresh: bool, attempts: list[Attempt]) -> Page:
        """Return a whole page from the cache, or from the readers."""

        async def load() -> Page:
            try:
                page = await self._readers.read(target, deadline, attempts)
            except (PageUnavailable, ProviderError, DeadlineExceeded) as error:
                old = await self._archived(target)
                if old is None:
                    raise
                return old.model_copy(update={"warnings": (*old.warnings, f"it cannot be read now: {error}")})
            if self._archive is not None:
                self._archive.remember(page)
            return page

        if self._cache is None:
            return await load()
        whole = _life(self.settings.cache.page_ttl, self.settings.cache.stale)
        kept = await self._cache.through(
            page_key(target, [self._identity(reader) for reader in self._readers.readers], self._what_is_allowed()),
            load,
            pack=pack_page,
            unpack=unpack_page,
            life=lambda page: Life() if page.stale else life_of_page(page, whole),
            deadline=deadline,
            bypass=fresh,
        )
        return kept.value.model_copy(update=_age(kept.value.warnings, kept.cached, kept.stale, kept.age))

    async def _archived(self, target: WebUrl) -> Page | None:
        """Return a page as it was when it was last read, if the archive has it."""
        if self._archive is None:
            return None
        try:
            old = await self._archive.get_page(target.text)
        except StoreError:
            return None
        if old is None or not self._policy.permits(old.final_url or old.url):
            return None
        return old

    def _what_is_allowed(self) -> str:
        """Return what decides which pages may be shown: a page kept under other rules is another page."""
        policy = self.settings.policy
        return repr((sorted(policy.allowed_domains), sorted(policy.blocked_domains), sorted(policy.allow_origins)))

    def _identity(self, provider: SearchProvider | ReadProvider) -> str:
        """Return what tells a provider from another of its name: its kind, and the options it was given."""
        options = sorted((key, str(value)) for key, value in self.settings.providers.get(provider.name, {}).items())
        return f"{provider.name} {type(provider).__module__}.{type(provider).__qualname__} {options}"

    def _begin(self, timeout: float | None, default: float) -> Deadline:
        if self._closed:
            raise Closed("This Web was closed; make a new one.")
        seconds = default if timeout is None else timeout
        if not _is_number(seconds) or not 0 < seconds <= _LONGEST_TIMEOUT:
            raise InvalidRequest(
                "timeout", f"is {seconds!r}", f"Pass seconds, more than 0 and at most {_LONGEST_TIMEOUT}."
            )
        return Deadline.after(seconds)

    def _make(
        self,
        role: str,
        given: Sequence[str | SearchProvider] | Sequence[str | ReadProvider] | None,
        configured: Sequence[str],
        made: dict[str, SearchProvider | ReadProvider],
    ) -> list[SearchProvider | ReadProvider]:
        """Return the providers of one role; one object serves both roles of a hybrid."""
        usable: list[SearchProvider | ReadProvider] = []
        reasons: list[str] = []
        for item in configured if given is None else given:
            if not isinstance(item, str):
                usable.append(item)
                continue
            try:
                provider = made.get(item) or create(item, self.settings, self._transports, self._archive)
            except (NotConfigured, MissingKey) as error:
                reasons.append(str(error))
                continue
            made[item] = provider
            if not getattr(provider.capabilities, role):
                what = "search" if role == "search" else "read pages"
                raise ConfigurationError(f"{item} cannot {what}; take it out of {role}.providers.")
            usable.append(provider)
        self.skipped += tuple(reasons)
        if not usable:
            why = " ".join(reasons) or f"{role}.providers is empty."
            raise ConfigurationError(f"There is no provider to {role} with. {why}")
        return usable


def _all_keys(settings: Settings) -> Iterator[str]:
    """Yield every key that a service may be given, so that a cassette can leave them out."""
    for variable in KEY_VARIABLES:
        if (key := settings.secret(variable)) is not None:
            yield from (part for word in key.get_secret_value().split(",") if (part := word.strip()))


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise ConfigurationError("The settings contradict each other:\n" + "\n".join(f"  {line}" for line in problems))


def _life(fresh: float, stale: float) -> Life:
    """Return how long an answer is kept: fresh, then stale for an hour at most, then only to stand in for a failure."""
    return Life(fresh, min(stale, _LONGEST_STALE), max(0.0, stale - _LONGEST_STALE))


def _cost(attempts: Sequence[Attempt]) -> float:
    return sum(attempt.cost_usd for attempt in attempts)


def _response(asked: Query, answer: ChainAnswer) -> SearchResponse:
    """Return what a chain answered, its results numbered from 1."""
    results = tuple(
        row if row.citation_id == number else row.model_copy(update={"citation_id": number})
        for number, row in enumerate(answer.results, start=1)
    )
    return SearchResponse(
        query=asked.text,
        results=results,
        sources=tuple(Source(citation_id=row.citation_id, title=row.title, url=row.url) for row in results),
        provider=answer.provider,
        attempts=answer.attempts,
        filters=answer.filters,
        warnings=answer.warnings,
        stale=answer.stale,
    )


def _age(warnings: tuple[str, ...], cached: bool, stale: bool, age: float) -> dict[str, object]:
    """Return what a caller should know of a value's age."""
    if not stale:
        return {"cached": cached}
    said = f"this answer is {age / 60:,.0f} minutes old; it could not be fetched anew yet"
    return {"cached": cached, "stale": True, "warnings": (*warnings, said)}


def _limits(session: SessionSettings) -> Limits:
    return Limits(
        searches=session.limit,
        warning_threshold=session.warning_threshold,
        cost_usd=session.cost_usd,
        tokens=session.tokens,
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
