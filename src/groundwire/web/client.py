"""`Web`: searching the web and opening its pages."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast, get_args

import groundwire.models  # frameworks read the types of the methods, and those of pages are loaded when named
from groundwire.deadline import Deadline
from groundwire.errors import Closed, InvalidRequest, PermissionDenied
from groundwire.hints import method_hint
from groundwire.models import Query, SafeSearch, SearchResponse, SearchSource, Strategy, TimeRange
from groundwire.models.argument_names import OPEN_PAGE, SAFE_SEARCHES, SEARCH, NoArguments, unknown_argument
from groundwire.models.validators import (
    TimeRangeName,
    check_choice,
    check_date,
    check_domains,
    check_folders,
    check_int,
    check_sources,
    check_timeout,
    is_number,
    time_range_of,
)

if TYPE_CHECKING:  # what a web works with is loaded when one is made
    from groundwire.cassette import Cassette
    from groundwire.citations.verify import CitedPage, Entailment, Report
    from groundwire.models import Budget, Observer, SiteUrl
    from groundwire.providers import ReadProvider, SearchProvider
    from groundwire.reading.passages.reranking import EmbeddingRanker
    from groundwire.reading.passages.view import Ask
    from groundwire.reading.workers.pool import Workers
    from groundwire.routing.budget import Reservation, SessionBudget
    from groundwire.routing.calls import CacheMode, PageCall
    from groundwire.routing.daily_quota import DailyLimits
    from groundwire.routing.health import ProviderHealth
    from groundwire.safety.guard import Resolver
    from groundwire.safety.tenancy import Owner
    from groundwire.safety.urls import DomainPolicy
    from groundwire.settings import Settings
    from groundwire.settings.schema import ProviderKeys
    from groundwire.storage import Store
    from groundwire.storage.archive.store import Archive
    from groundwire.telemetry.call_events import CallListener
    from groundwire.telemetry.scorecard import ScoreCard
    from groundwire.transport.clients import HttpClients
    from groundwire.web.files import Indexed, Progress
    from groundwire.web.open_page import OpenPageFlow
    from groundwire.web.page_batch import PageBatch
    from groundwire.web.search import SearchFlow
    from groundwire.web.site_map import SiteMap

_COUNTRY_LANGUAGE = re.compile("([a-z]{2})-([a-z]{2})")
_ARGUMENTS = (
    *("settings", "search_providers", "read_providers", "attempt_listener", "call_listeners", "cassette", "record"),
    *("replay", "resolver", "timeout", "proxy"),
)


class Web:
    """Searches the web and opens pages, through whichever providers are set up.

    Use it as `async with Web() as web:`, or call `aclose` when done. One `Web` is one session: it has one budget,
    one pool of connections per kind of traffic, and belongs to one event loop.

    Args:
        settings: The configuration, or settings that take precedence over those of the environment and files, such as
            `{"search.limit": 3}`; by default read from environment and files (`groundwire.settings.load`).
        search_providers: The search providers in order, by name or as objects; by default
            those of the settings. Objects of one class with the same `name`, and without one with the same texts and
            numbers as attributes, share cached results.
        read_providers: The same for reading pages.
        attempt_listener: Called when an attempt starts and ends.
        call_listeners: Called at the end of every call, such as `groundwire.telemetry.Metrics`; a
            `groundwire.telemetry.CallLog` among them replaces the default one.
        cassette: Records or replays outside responses; by default as GROUNDWIRE_RECORD or GROUNDWIRE_REPLAY
            state. With one, nothing is stored from one `Web` to the next.
        record: A file to record into; an existing one is replaced. Short for `cassette=Cassette.record(FILE)`.
        replay: A recorded file to answer from, without a network: short for `cassette=Cassette.replay(FILE)`.
        resolver: Resolves host names instead of the system resolver.
        timeout: Seconds for a search and for reading a page, instead of `search.timeout` and `read.timeout`.
        proxy: A forward proxy, instead of the setting `network.proxy`.
        keys: Keys by provider, such as `tavily_api_key`. Without `search_providers`, their providers are called first.

    Raises:
        ConfigurationError: a setting is invalid, a provider is unknown, or none can be used. TypeError: an argument
            does not exist.
    """

    def __init__(
        self,
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        search_providers: Sequence[str | SearchProvider] | None = None,
        read_providers: Sequence[str | ReadProvider] | None = None,
        attempt_listener: Observer | None = None,
        call_listeners: Sequence[CallListener] = (),
        cassette: Cassette | None = None,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        resolver: Resolver | None = None,
        timeout: float | None = None,
        proxy: str | None = None,
        **keys: Unpack[ProviderKeys],
    ) -> None:
        from groundwire.routing.daily_quota import limits_of
        from groundwire.settings.load import as_settings
        from groundwire.settings.provider_options import as_list, check_keys, with_keys
        from groundwire.web.resources import Resources, with_overrides

        check_keys(keys, _ARGUMENTS)
        settings = with_overrides(as_settings(settings), timeout=timeout, proxy=proxy)
        read_providers = None if read_providers is None else as_list(read_providers)
        search_providers = None if search_providers is None else as_list(search_providers)
        settings, search_providers = with_keys(settings, search_providers, keys)
        self.settings: Settings = settings
        tapes = os.environ.get("GROUNDWIRE_RECORD"), os.environ.get("GROUNDWIRE_REPLAY")
        if any(source is not None for source in (cassette, record, replay, *tapes)):
            from groundwire.cassette import choose_cassette  # only what is recorded or replayed waits for it

            cassette = choose_cassette(cassette, record, replay, os.environ)
        self._resources = Resources(
            self.settings,
            search_providers=search_providers,
            read_providers=read_providers,
            attempt_listener=attempt_listener,
            call_listeners=call_listeners,
            cassette=cassette,
            resolver=resolver,
        )
        self.store: Store = self._resources.store
        """The store of budgets, counters and cached values; it belongs to this `Web`."""
        self.archive: Archive | None = self._resources.archive
        """The archive; None if the settings disable it. It belongs to this `Web`."""
        self.clients: HttpClients = self._resources.clients
        """The HTTP clients; they belong to this `Web`."""
        self.workers: Workers = self._resources.workers
        """The worker processes, without keys, files or network; they belong to this `Web`."""
        self.verification_workers: Workers = self._resources.verification_workers
        """Worker processes that only verify answers, so that pages never wait for them; they belong to this `Web`."""
        self.skipped: tuple[str, ...] = self._resources.skipped
        """Why configured providers are not used, a sentence each."""
        self.search_flow: SearchFlow = self._resources.search_flow
        """What searches for this view."""
        self._restricted_pages: OpenPageFlow | None = None
        self._policy: DomainPolicy = self._resources.policy
        self._provider_names: tuple[str, ...] | None = None
        self._ranker: EmbeddingRanker | None = None
        if self.settings.read.ranker == "embeddings":
            from groundwire.reading.passages.reranking import EmbeddingRanker

            self._ranker = EmbeddingRanker()
        self.folders: tuple[str, ...] = settings.policy.files
        """The folders below which `file:` URLs are opened and files are searched."""
        self.keeps: bool = True
        """Whether anything may be stored for its calls."""
        self._is_view = False
        self._budget: SessionBudget = self._resources.budget(settings.session.id, limits_of(settings.session))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    if not TYPE_CHECKING:  # for a type checker, an unknown name stays an error

        def __enter__(self) -> Self:
            raise TypeError("Use `async with Web() as web:`, or `with SyncWeb() as web:` in synchronous code.")

        def __exit__(self, *exc_info: object) -> None: ...

        def __getattr__(self, name: str) -> Any:
            hint = "" if name.startswith("_") else method_hint(name)
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}{hint}")

    async def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        allowed_domains: Sequence[str] = (),
        blocked_domains: Sequence[str] = (),
        time_range: TimeRange | TimeRangeName = "all",
        published_after: date | str | None = None,
        published_before: date | str | None = None,
        language: str | None = None,
        region: str | None = None,
        safesearch: SafeSearch | None = None,
        page: int = 1,
        sources: Sequence[SearchSource] = ("web",),
        strategy: Strategy | None = None,
        refresh: bool = False,
        keep: bool = True,
        timeout: float | None = None,
        **unknown: Unpack[NoArguments],
    ) -> SearchResponse:
        """Search the web, or the files of the user's folders.

        Args:
            query: The query, 1 to 2,000 characters.
            limit: Maximum results, 1 to 50; by default the setting `search.limit`.
            allowed_domains: Only these domains and their subdomains; empty means every domain.
            blocked_domains: Exclude these domains and their subdomains.
            time_range: The maximum age: `day`, `week`, `month`, `year` (or `d`, `w`, `m`, `y`) or `all`.
            published_after: The first publication date allowed, a date or `2026-01-31`.
            published_before: The last publication date allowed.
            language: A language tag such as `en`.
            region: A country code such as `us`.
            safesearch: `off`, `moderate` or `strict`; by default the setting `search.safesearch`.
            page: The page of results, 1 to 10.
            sources: `["web"]`; `["papers"]` for papers, from the setting `search.paper_providers`; or `["files"]` for
                the files below the folders of the setting `policy.files`, which are indexed first; that goes on in
                the background when the time is over.
            strategy: `fallback` (one provider after the other), `hedge` (the next when one is late) or `fuse` (several
                at once, merged); by default the setting `search.strategy`.
            refresh: Whether to skip the cache; the new result is stored.
            keep: Whether anything of it may be stored: in the cache, in the archive, among the session's sources.
            timeout: Seconds for the whole search; by default the setting `search.timeout`.
            unknown: None: another name is a TypeError that says which one is meant, such as `limit` for `max_results`.

        Returns:
            The results, numbered to be cited by, with every attempt. A page keeps its number as long as the session
            lasts. No results means that the search worked and found nothing. `cached` and `stale` say where they came
            from; `await results[0].open()` reads a page.

        Raises:
            InvalidRequest: an argument is invalid. BudgetExceeded: the session's searches are used up.
            AllProvidersFailed: no provider could search; it carries the attempts. Closed.
        """
        if unknown:
            raise unknown_argument(self.search, unknown, SEARCH)
        from groundwire.routing.calls import SearchCall

        flow, settings = self._search_flow(sources), self.settings.search
        if isinstance(region, str) and (pair := _COUNTRY_LANGUAGE.fullmatch(region)):  # as ddgs writes it
            region = None if region == "wt-wt" else pair[1]
            language = language or (None if pair[2] == "wt" else pair[2])
        safesearch = settings.safesearch if safesearch is None else safesearch
        strategy = settings.strategy if strategy is None else strategy
        check_choice("strategy", strategy, get_args(Strategy))
        call = SearchCall(
            query=Query(
                text=query,
                limit=settings.limit if limit is None else limit,
                allowed_domains=check_domains("allowed_domains", allowed_domains),
                blocked_domains=check_domains("blocked_domains", blocked_domains),
                time_range=time_range_of(time_range),
                published_after=check_date("published_after", published_after),
                published_before=check_date("published_before", published_before),
                language=language,
                region=region,
                safesearch=cast("SafeSearch", SAFE_SEARCHES.get(str(safesearch).lower(), safesearch)),
                page=page,
            ),
            strategy=strategy,
            deadline=self._begin(timeout, settings.timeout),
            cache_mode=self._cache_mode(refresh, keep),
            budget=self._budget,
            policy=self._policy,
            opener=self,
        )
        if sources != ("web",) and "files" in sources:
            if call.cache_mode == "bypass":
                raise InvalidRequest("keep", "is false, but files are found by an index that is kept", "Open a file.")
            find = partial(self._resources.files.search, call.query, call.owner, self.folders, call.deadline)
            return await flow.search(call, find)
        return await flow.search(call)

    async def index_files(self, progress: Progress | None = None) -> Indexed:
        """Bring the index of the files below the allowed folders up to date, however long it takes.

        Args:
            progress: Called with the number of files that were read, and of those to be read.

        Returns:
            The numbers of files, of those read now, of those without readable text, and of those that are left.

        Raises:
            InvalidRequest: a folder cannot be read, or has too many files. PermissionDenied: no folder is allowed, or
            the archive is switched off. Closed.
        """
        self._check_open()
        from groundwire.web.files import Indexed

        return await self._resources.files.refresh(self.owner, self.folders, progress=progress) or Indexed()

    async def open_page(
        self,
        url: str | Path,
        *,
        query: str | None = None,
        cursor: str | None = None,
        find: str | None = None,
        max_length: int | None = None,
        max_tokens: int | None = None,
        refresh: bool = False,
        keep: bool = True,
        timeout: float | None = None,
        context: Callable[[groundwire.models.Page], str] | None = None,
        **unknown: Unpack[NoArguments],
    ) -> groundwire.models.Page:
        """Read one page as Markdown: its beginning, or the part that `query`, `cursor` or `find` selects.

        Args:
            url: An http or https URL, which the guard checks before any reader gets it; or a `pathlib.Path` of any
                local file. The text of a `file:` URL, which may be a model's, is opened only below `policy.files`.
            query: Return the passages relevant to this query.
            cursor: Return the piece that begins here: a `next_cursor`, or `#2` for the second of `sections`, or
                `@5120` for a position in characters.
            find: Return the literal matches of this text; case, whitespace and kinds of quotes do not matter.
            max_length: Maximum characters of Markdown to return; a longer page is cut at a block and says so. By
                default the setting `read.max_length`, or 4,000 for `query` and `find` when that is more.
            max_tokens: Maximum tokens of Markdown to return, as the usual vocabularies count; with it `max_length`
                has no default.
            refresh: Whether to skip the cache; the new result is stored.
            keep: Whether anything of it may be stored: in the cache, in the archive, among the session's sources.
            timeout: Seconds for the whole call; by default the setting `read.timeout`.
            context: Returns the text around the content in the output; `max_tokens` counts it too.
            unknown: None: another name is a TypeError that says which one is meant.

        Returns:
            The page, or a part of it: `start`, `end` and `version` identify it, `next_cursor` continues it, and
            `truncated` and `warnings` say what is missing and why. `excerpts` and `matches` are the selected passages,
            `sections` the sections of the whole page.

        Raises:
            InvalidRequest: an argument is invalid, or the cursor is invalid. BlockedByPolicy: the address or domain
            is not allowed. PageError: the page cannot be read. ProviderError: the reader failed. DeadlineExceeded,
            Closed.
        """
        if unknown:
            raise unknown_argument(self.open_page, unknown, OPEN_PAGE)
        await _load_open_page()
        selection = self._selection(
            query=query, find=find, cursor=cursor, max_length=max_length, max_tokens=max_tokens, around=context
        )
        (call,) = self._page_calls((url,), selection, timeout, self._cache_mode(refresh, keep))
        return await self.pages.open(call)

    async def open_pages(
        self,
        urls: Sequence[str | Path],
        *,
        query: str | None = None,
        find: str | None = None,
        max_length: int | None = None,
        max_tokens: int | None = None,
        at_once: int = 4,
        refresh: bool = False,
        keep: bool = True,
        timeout: float | None = None,
        **unknown: Unpack[NoArguments],
    ) -> tuple[groundwire.models.Page, ...]:
        """Read several pages in parallel; the space that short ones leave goes to the long ones.

        Args:
            urls: 1 to 50 addresses, or paths of local files, as for `open_page`. One that is given twice is read once
                and returned twice.
            query: See `open_page`; the same for every page.
            find: See `open_page`; the same for every page.
            max_length: Maximum characters of all pages together. By default each may be as long as `open_page` lets
                one be.
            max_tokens: Maximum tokens of all pages together.
            at_once: Maximum pages read concurrently, 1 to 16.
            refresh: Whether to skip the cache; the new result is stored.
            keep: Whether anything of it may be stored: in the cache, in the archive, among the session's sources.
            timeout: Seconds for the whole call; by default the setting `read.timeout`.
            unknown: None: another name is a TypeError that says which one is meant.

        Returns:
            A page for each URL, in order. One that could not be read has `status` error and a reason.

        Raises:
            InvalidRequest: an argument is invalid. Closed.
        """
        if unknown:
            raise unknown_argument(self.open_pages, unknown, OPEN_PAGE)
        await _load_open_page()
        from groundwire.web.open_page import check_urls

        selection = self._selection(query=query, find=find, max_length=max_length, max_tokens=max_tokens)
        checked, limit = check_urls(urls), asyncio.Semaphore(check_int("at_once", at_once, 1, 16))
        calls = self._page_calls(checked, selection, timeout, self._cache_mode(refresh, keep))
        shared = max_length is not None or max_tokens is not None
        return await self.pages.open_all(calls, shared=shared, limit=limit)

    def map(self, url: str, *, limit: int = 1_000, depth: int | None = None, timeout: float | None = None) -> SiteMap:
        """List the pages of a site below an address: `async for row in web.map("https://docs.example.org/"):`.

        Sitemaps come first, then the feeds of the first page, then links, breadth first, without what robots.txt
        forbids.

        Args:
            url: The first page. The map stays on its host, and in its folder.
            limit: Maximum addresses, 1 to 100,000.
            depth: Maximum links from the first page to an address, 1 to 100; by default 1 if sitemaps list pages, else
                3.
            timeout: Seconds for each request; by default the setting `read.timeout`.

        Returns:
            An async iterator of `groundwire.models.SiteUrl`, whose `warnings` say what is missing and why. If the first
            page cannot be read, it raises BlockedByPolicy or PageError.

        Raises:
            InvalidRequest: an argument is invalid.
        """
        from groundwire.safety.urls import parse_url
        from groundwire.web.open_page import check_address
        from groundwire.web.site_map import LinkReader, SiteMap

        check_int("limit", limit, 1, 100_000)
        if depth is not None:
            check_int("depth", depth, 1, 100)
        reader = LinkReader(
            flow=self.pages,
            transport=self.clients.pages,
            politeness=self._resources.politeness,
            new_call=self._new_calls(timeout, "bypass"),
        )
        return SiteMap(reader, parse_url(check_address("url", url)).text, limit=limit, depth=depth)

    def read_many(
        self,
        urls: Iterable[str | SiteUrl] | AsyncIterable[str | SiteUrl],
        *,
        output: str | Path | None = None,
        at_once: int = 8,
        per_host: int = 2,
        delay: float = 0.5,
        refresh: bool = False,
        keep: bool = True,
        timeout: float | None = None,
    ) -> PageBatch:
        """Read any number of pages as a whole: `async for page in web.read_many(urls, output="pages"):`.

        With an `output`, the same call resumes a run that was interrupted.

        Args:
            urls: The addresses, or an async iterator of them such as `map` returns.
            output: A folder for a Markdown file per page, or a `.jsonl` file for a line per page.
            at_once: Maximum pages read at the same time, 1 to 64.
            per_host: The same for one host, 1 to 16.
            delay: Seconds between the beginnings of two pages of one host, 0 to 60.
            refresh: Whether to skip the cache.
            keep: Whether anything may be stored in the cache and the archive.
            timeout: Seconds for each page; by default the setting `read.timeout`.

        Returns:
            An async iterator of pages as they are read, with the counts `read`, `failed`, and `skipped`. A page that
            could not be read has `status` error and a reason. It raises BudgetExceeded, Closed, and OSError.

        Raises:
            InvalidRequest: an argument is invalid.
        """
        from groundwire.web.page_batch import PageBatch

        if isinstance(urls, (str, bytes)):
            raise InvalidRequest("urls", "is one text", "Pass a list of addresses, or open one with open_page().")
        if not is_number(delay) or not 0 <= delay <= 60:
            raise InvalidRequest("delay", f"is {delay!r}", "Pass seconds from 0 to 60.")
        return PageBatch(
            urls,
            flow=self.pages,
            new_call=self._new_calls(timeout, self._cache_mode(refresh, keep)),
            output=None if output is None else Path(output),
            at_once=check_int("at_once", at_once, 1, 64),
            per_host=check_int("per_host", per_host, 1, 16),
            delay=delay,
            archive=self.archive if keep and self.keeps else None,
        )

    def _new_calls(self, timeout: float | None, cache_mode: CacheMode) -> Callable[[str], PageCall]:
        """Return what makes a call for a whole page, with a deadline from then on."""
        selection = self._selection(max_length=None, max_tokens=None, query=None, find=None)
        return lambda url: self._page_calls((url,), selection, timeout, cache_mode)[0]

    @property
    def pages(self) -> OpenPageFlow:
        """What opens pages for this view; it is loaded when it is first used."""
        return self._restricted_pages or self._resources.pages

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
        view = self._view()
        view._budget = self._resources.session_budget(self._budget, name, limits)
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
            blocked_domains: Exclude these domains and their subdomains.
            daily: The daily limits, shared by all views with the same name; replaces previous ones.
            tenant: The owner of everything stored for its calls, invisible to other tenants. It reads local
                files only through `with_files`. Empty changes nothing.
            keep: Whether anything of its calls may be kept; see `Web.search`.

        Raises:
            InvalidRequest: a domain is invalid.
        """
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
        searchers = [provider for provider in self.search_providers if _is_named(provider.name, view._provider_names)]
        readers = [provider for provider in self.read_providers if _is_named(provider.name, view._provider_names)]
        view.search_flow = self.search_flow.restricted(searchers)
        view._restricted_pages = self.pages.restricted(readers, policy)
        view._budget = self._resources.restricted_budget(self._budget, daily, Owner(tenant) if tenant else self.owner)
        view.keeps = self.keeps and keep
        view.folders = () if tenant else self.folders
        return view

    def with_files(self, *folders: str | Path) -> Self:
        """Return a view of this `Web` that opens `file:` URLs and searches files only below other folders.

        Args:
            folders: The folders instead of those of `policy.files`, by their whole paths; none means no file at all.

        Raises:
            InvalidRequest: a path is not a whole one.
        """
        view = self._view()
        try:
            view.folders = check_folders(tuple(map(str, folders)))
        except ValueError as error:
            raise InvalidRequest("folders", str(error), "Pass whole paths.") from None
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
        view.search_flow = replace(
            self.search_flow, router=self._resources.other_router(search_providers, self.search_providers, settings)
        )
        return view

    @property
    def owner(self) -> Owner:
        """The owner of everything stored for calls of this view."""
        return self._budget.owner

    @property
    def search_providers(self) -> tuple[SearchProvider, ...]:
        """The search providers, in order."""
        return self.search_flow.router.providers

    @property
    def read_providers(self) -> tuple[ReadProvider, ...]:
        """The read providers, in order."""
        return self.pages.readers.readers

    def provider_health(self) -> tuple[ProviderHealth, ...]:
        """Return the health of each search provider as known to this process; call it in the event loop."""
        return self.search_flow.router.provider_health()

    async def score_card(self, days: int = 7) -> ScoreCard:
        """Return the results of calls and providers of recent days, up to now.

        Args:
            days: How many, today in UTC included: 1 to 35.

        Raises:
            ValueError: the number of days is out of range. StoreError: the store cannot be read.
        """
        from groundwire.telemetry.scorecard import score_card

        await self._resources.scores.flush()
        return await score_card(self.store, days)

    @property
    def budget(self) -> Budget | None:
        """The usage and limit of this session as of its last search; None if searches are not limited."""
        return self._budget.state()

    async def usage(self) -> dict[str, float]:
        """Return the usage of this session: `searches`, `cost_usd`, `tokens`."""
        self._check_open()
        return await self._budget.usage()

    async def reserve_searches(self, max_searches: int, *, price_usd: float = 0.0) -> Reservation:
        """Reserve searches for a model's API before it is called, up to the number left.

        Args:
            max_searches: How many are requested.
            price_usd: The maximum price of each, in US dollars.

        Returns:
            How many may be made; pass it to `settle_searches` afterwards.
        """
        return await self._budget.reserve_many(check_int("max_searches", max_searches, 1, 1_000), price_usd)

    async def settle_searches(self, reservation: Reservation, used: int) -> None:
        """Replace reserved searches by those that a model's API has made."""
        await self._budget.settle(reservation, searches=used)

    async def count_model_call(self, characters: int) -> None:
        """Count a call of a model that is given text of pages: one call of the owner's day, and the session's tokens.

        Args:
            characters: How much text it is given.

        Raises:
            BudgetExceeded: the calls of the day, the session's tokens, or its money are used up.
        """
        await self._budget.check_money()
        await self._budget.check_tokens()
        await self._budget.take_page()
        await self._budget.count_page_text(characters)

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
        self._check_open()
        urls = tuple(dict.fromkeys(url for text in texts for url in addresses_in(text)))
        if self._resources.known_urls is not None:
            await self._resources.known_urls.note(self._budget, "user", urls)
        return tuple(url.text for url in urls)

    async def sources(self, *, content: bool = True) -> tuple[CitedPage, ...]:
        """Return the pages shown to this session, by citation number, in the version that it saw.

        Args:
            content: Whether to include the Markdown of opened ones.

        Raises:
            Closed.
        """
        self._check_open()
        return await self._resources.sources.pages(self._budget, None if content else ())

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
            InvalidRequest: `answer` is not text or too long (more than 10,000 markers or sentences). Closed.
        """
        from groundwire.citations.verify import check_size, cited_numbers, verify_off_loop  # loaded on first use

        if not isinstance(answer, str):
            raise InvalidRequest("answer", f"must be text, not {type(answer).__name__}", "Pass the model's answer.")
        check_size(answer, ())
        if pages is None:
            numbers = await asyncio.to_thread(cited_numbers, answer)
            self._check_open()
            pages = await self._resources.sources.pages(self._budget, numbers)
        return await verify_off_loop(self.verification_workers, answer, pages, entailment=entailment)

    async def reset_session(self) -> None:
        """Reset the session: usage, known URLs, and citation numbers."""
        self._check_open()
        await self._budget.reset()
        await self._resources.sources.forget(self._budget)
        if self._resources.known_urls is not None:
            await self._resources.known_urls.forget(self._budget)

    async def aclose(self) -> None:
        """Close all connections; calls after it raise Closed. Idempotent. A session closes nothing."""
        if not self._is_view:
            await self._resources.aclose()

    close = aclose

    @property
    def is_closed(self) -> bool:
        """Whether `aclose` was called."""
        return self._resources.closed

    def _view(self) -> Self:
        """Return a `Web` that shares everything with this one."""
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, _is_view=True)
        return view

    def _check_open(self) -> None:
        if self._resources.closed:
            raise Closed("This Web is closed; create a new one.")

    def _search_flow(self, sources: Sequence[SearchSource]) -> SearchFlow:
        """Return what searches the sources of a call for this view."""
        if sources == ("web",) or check_sources(sources, get_args(SearchSource)) != "papers":
            return self.search_flow
        papers, names = self._resources.papers, self._provider_names
        if names is None:
            return papers
        return papers.restricted([provider for provider in papers.router.providers if _is_named(provider.name, names)])

    def _cache_mode(self, refresh: bool, keep: bool) -> CacheMode:
        return ("refresh" if refresh else "use") if keep and self.keeps else "bypass"

    def _selection(self, **options: Any) -> Ask:
        """Return what is wanted of a page, checked; the arguments are those of `open_page`."""
        from groundwire.reading.passages.view import check_ask

        return check_ask(
            **options,
            default_length=self.settings.read.max_length,
            ranker=self._ranker,
        )

    def _page_calls(
        self, urls: Sequence[str | Path], selection: Ask, timeout: float | None, cache_mode: CacheMode
    ) -> list[PageCall]:
        """Return a call for each page, all with one deadline."""
        from groundwire.routing.calls import PageCall
        from groundwire.safety.files import LocalFile
        from groundwire.web.open_page import check_url

        for url in urls:
            check_url("url", url)
        deadline, budget = self._begin(timeout, self.settings.read.timeout), self._budget
        return [
            PageCall(
                address=LocalFile.of(url, ()).url if isinstance(url, Path) else url,
                path=url if isinstance(url, Path) else None,
                folders=self.folders,
                selection=selection,
                deadline=deadline,
                cache_mode=cache_mode,
                budget=budget,
            )
            for url in urls
        ]

    def _begin(self, timeout: float | None, default: float) -> Deadline:
        self._check_open()
        return Deadline.after(check_timeout(default if timeout is None else timeout))


def _is_named(name: str, names: Sequence[str] | None) -> bool:
    """Whether a provider, or its kind if there are several of one kind, is named; None names all."""
    return names is None or name in names or name.partition(":")[0] in names


async def _load_open_page() -> None:
    """Import what opens pages in a thread: it compiles some 330 regular expressions, in 80 ms of CPU time.

    In the event loop, the first page of a process would hold up all other calls for so long.
    """
    if "groundwire.web.open_page" not in sys.modules:  # the last one that is loaded
        await asyncio.to_thread(_load)


def _load() -> None:
    import groundwire.reading.convert
    import groundwire.routing.politeness
    import groundwire.web.open_page  # noqa: F401
