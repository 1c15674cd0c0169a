"""`Web`: searching the web and opening its pages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from groundwire.deadline import Deadline
from groundwire.errors import InvalidRequest
from groundwire.models import (  # frameworks read the types of the methods
    Page,
    SafeSearch,
    SearchResponse,
    Strategy,
    TimeRange,
)
from groundwire.models.argument_names import OPEN_PAGE, SEARCH, NoArguments, unknown_argument
from groundwire.models.validators import TimeRangeName
from groundwire.web.answer import verified_hosted
from groundwire.web.loading import load_open_page
from groundwire.web.session import SessionView, closed

if TYPE_CHECKING:  # what a web works with is loaded when one is made
    from groundwire.cassette import Cassette
    from groundwire.citations.verify import Entailment, Report
    from groundwire.errors import MissingKey
    from groundwire.hosted.answers.types import HostedAnswer
    from groundwire.models import Observer
    from groundwire.providers import ReadProvider, SearchProvider
    from groundwire.reading.passages.view import Ask, CountTokens, Ranker
    from groundwire.routing.calls import CacheMode
    from groundwire.safety.guard import Resolver
    from groundwire.settings import Settings
    from groundwire.settings.provider_options import ProviderKeys
    from groundwire.telemetry.call_events import CallListener

__all__ = ["Web"]

_LONGEST_TIMEOUT = 600  # seconds
_ARGUMENTS = (
    *("settings", "search_providers", "read_providers", "attempt_listener", "call_listeners", "cassette", "record"),
    *("replay", "resolver", "count_tokens", "ranker", "timeout", "proxy", "api_key"),
)
_SEARCH_ARGUMENTS = (
    *("query", "limit", "allowed_domains", "blocked_domains", "time_range", "published_after", "published_before"),
    *("language", "region", "safesearch", "page", "strategy", "refresh", "keep", "timeout"),
)
_PAGE_ARGUMENTS = ("query", "find", "max_length", "max_tokens", "refresh", "keep", "timeout")


class Web(SessionView):
    """Searches the web and opens pages, through whichever providers are set up.

    Use it as `async with Web() as web:`, or call `aclose` when done. One `Web` is one session: it has one budget,
    one pool of connections per kind of traffic, and belongs to one event loop.

    Args:
        settings: The configuration, or settings that take precedence over those of the environment and files, such as
            `{"search.limit": 3}`; by default read from environment and files (`groundwire.settings.load`).
        search_providers: The search providers in order, by name or as objects; by default
            those of the settings.
        read_providers: The same for reading pages.
        attempt_listener: Called when an attempt starts and ends.
        call_listeners: Called at the end of every call, such as `groundwire.telemetry.Metrics`; a
            `groundwire.telemetry.CallLog` among them replaces the default one.
        cassette: Records or replays outside responses; by default as GROUNDWIRE_RECORD or GROUNDWIRE_REPLAY
            state. With one, nothing is stored from one `Web` to the next.
        record: A file to record into; an existing one is replaced. Short for `cassette=Cassette.record(FILE)`.
        replay: A recorded file to answer from, without a network: short for `cassette=Cassette.replay(FILE)`.
        resolver: Resolves host names instead of the system resolver.
        count_tokens: Counts the tokens of a text exactly, for `max_tokens`; by default an upper bound is used.
        ranker: Takes a query and texts of a page, and returns a score for each; it runs in a thread.
        timeout: Seconds for a search and for reading a page, instead of `search.timeout` and `read.timeout`.
        proxy: A forward proxy, instead of the setting `network.proxy`.
        api_key: The key of the only one in `search_providers`, or one recognized by its beginning, such as `tvly-`.
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
        count_tokens: CountTokens | None = None,
        ranker: Ranker | None = None,
        timeout: float | None = None,
        proxy: str | None = None,
        api_key: str | None = None,
        **keys: Unpack[ProviderKeys],
    ) -> None:
        from groundwire.cassette import choose_cassette
        from groundwire.settings.load import as_settings
        from groundwire.settings.provider_options import check_keys, listed, with_keys
        from groundwire.web.resources import Resources, changed

        check_keys(keys, _ARGUMENTS)
        settings = changed(as_settings(settings), timeout=timeout, proxy=proxy)
        read_providers = None if read_providers is None else listed(read_providers)
        search_providers = None if search_providers is None else listed(search_providers)
        settings, search_providers = with_keys(settings, search_providers, api_key, keys)
        self.settings: Settings = settings
        self._resources = Resources(
            self.settings,
            search_providers=search_providers,
            read_providers=read_providers,
            attempt_listener=attempt_listener,
            call_listeners=call_listeners,
            cassette=choose_cassette(cassette, record, replay, os.environ),
            resolver=resolver,
        )
        self.skipped: tuple[str, ...] = self._resources.skipped
        """Why configured providers are not used, a sentence each."""
        self._policy = self._resources.policy
        self._search_flow = self._resources.search_flow
        self._restricted_pages = None
        self._quota = None
        self._provider_names: tuple[str, ...] | None = None
        if ranker is None and self.settings.read.ranker == "embeddings":
            from groundwire.reading.passages.reranking import EmbeddingRanker

            ranker = EmbeddingRanker()
        self._own_functions: tuple[CountTokens | None, Ranker | None] = count_tokens, ranker
        self._is_view = False
        self._keep = True
        self._budget = self._resources.budget(self.settings.session.id)

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
        time_range: TimeRange | TimeRangeName = "all",
        published_after: date | str | None = None,
        published_before: date | str | None = None,
        language: str | None = None,
        region: str | None = None,
        safesearch: SafeSearch | None = None,
        page: int = 1,
        strategy: Strategy | None = None,
        refresh: bool = False,
        keep: bool = True,
        timeout: float | None = None,
        **unknown: Unpack[NoArguments],
    ) -> SearchResponse:
        """Search the web.

        Args:
            query: The query, 1 to 2,000 characters.
            limit: Maximum results, 1 to 50; by default the setting `search.limit`.
            allowed_domains: Only these domains and their subdomains; empty means every domain.
            blocked_domains: Never these domains nor their subdomains.
            time_range: The maximum age: `day`, `week`, `month`, `year` (or `d`, `w`, `m`, `y`) or `all`.
            published_after: The first publication date allowed, a date or `2026-01-31`.
            published_before: The last publication date allowed.
            language: A language tag such as `en`.
            region: A country code such as `us`.
            safesearch: `off`, `moderate` or `strict`; by default the setting `search.safesearch`.
            page: The page of results, 1 to 10.
            strategy: `fallback` (one provider after the other), `hedge` (the next when one is late) or `fuse` (several
                at once, merged); by default the setting `search.strategy`.
            refresh: Whether to skip the cache; the new result is stored.
            keep: Whether anything of it may be stored: in the cache, in the archive, among the session's sources.
            timeout: Seconds for the whole search; by default the setting `search.timeout`.
            unknown: None: another name is a TypeError that says which one is meant, such as `limit` for `max_results`.

        Returns:
            The results, numbered to be cited by, with every attempt. A page keeps its number as long as the session
            lasts; with `session.citations = "call"` each search starts at 1. No results means that the search worked
            and found nothing. `cached` and `stale` say where they came from; `await results[0].open()` reads a page.

        Raises:
            InvalidRequest: an argument is invalid. BudgetExceeded: the session's searches are used up.
            AllProvidersFailed: no provider could search; it carries the attempts. Overloaded, Closed.
        """
        if unknown:
            raise unknown_argument("search", unknown, _SEARCH_ARGUMENTS, SEARCH)
        checked, chosen = self._search_flow.checked(
            query,
            strategy,
            limit=limit,
            allowed_domains=allowed_domains,
            blocked_domains=blocked_domains,
            time_range=time_range,
            published_after=published_after,
            published_before=published_before,
            language=language,
            region=region,
            safesearch=safesearch,
            page=page,
        )
        deadline = self._begin(timeout, self.settings.search.timeout)
        mode = self._cache_mode(refresh, keep)
        return await self._search_flow.search(checked, deadline, chosen, mode, self._budget, self)

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
        keep: bool = True,
        timeout: float | None = None,
        context: Callable[[Page], str] | None = None,
        **unknown: Unpack[NoArguments],
    ) -> Page:
        """Read one page as Markdown: its beginning, or the part that is asked for by `query`, `cursor` or `find`.

        Args:
            url: An http or https URL. The guard checks it before any reader gets it.
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
            The page, or a part of it: `start`, `end` and `version` say which, `next_cursor` how to go on, `truncated`
            and `warnings` what is missing and why. `excerpts` and `matches` are what was chosen, `sections` the
            sections of the whole page.

        Raises:
            InvalidRequest: an argument is invalid, or the cursor is invalid. BlockedByPolicy: the address or domain
            is not allowed. PageError: the page cannot be read. ProviderError: the reader failed. DeadlineExceeded,
            Closed.
        """
        if unknown:
            raise unknown_argument("open_page", unknown, _PAGE_ARGUMENTS, OPEN_PAGE)
        await load_open_page()
        from groundwire.web.open_page import PageTarget, check_url

        selection = self._asked(
            query=query, find=find, cursor=cursor, max_length=max_length, max_tokens=max_tokens, around=context
        )
        check_url("url", url)
        deadline = self._begin(timeout, self.settings.read.timeout)
        target = PageTarget(url, selection, deadline, self._cache_mode(refresh, keep))
        return await self._open_pages.one(target, self._budget)

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
        keep: bool = True,
        timeout: float | None = None,
        **unknown: Unpack[NoArguments],
    ) -> tuple[Page, ...]:
        """Read several pages in parallel; the space that short ones leave goes to the long ones.

        Args:
            urls: 1 to 50 addresses. One that is given twice is read once and returned twice.
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
            raise unknown_argument("open_pages", unknown, _PAGE_ARGUMENTS, OPEN_PAGE)
        await load_open_page()
        from groundwire.models.validators import check_int
        from groundwire.web.open_page import PageTarget, check_urls

        selection = self._asked(query=query, find=find, max_length=max_length, max_tokens=max_tokens)
        checked, limit = check_urls(urls), asyncio.Semaphore(check_int("at_once", at_once, 1, 16))
        deadline = self._begin(timeout, self.settings.read.timeout)
        targets = [PageTarget(url, selection, deadline, self._cache_mode(refresh, keep)) for url in checked]
        shared = max_length is not None or max_tokens is not None
        return await self._open_pages.all(targets, self._budget, shared=shared, limit=limit)

    async def verify_hosted(
        self, answer: HostedAnswer, *, timeout: float | None = None, entailment: Entailment | None = None
    ) -> Report:
        """Verify each sentence of a hosted answer against the pages it cites, which are opened for it.

        The text is that of `groundwire.citations.marked`. Of a page that cannot be opened, what the API showed is used.

        Args:
            answer: An answer of a model API with hosted search.
            timeout: Seconds for opening all pages; by default the setting `read.timeout`.
            entailment: An additional entailment model; see `groundwire.citations.verify.verify_answer`.

        Raises:
            InvalidRequest: the setting `session.citations` disables storing. Closed.
        """
        return await verified_hosted(self.session(), answer, timeout, entailment)

    async def aclose(self, *, grace_seconds: float = 0.0) -> None:
        """Close all connections; calls after it raise Closed. Idempotent. A session closes nothing.

        Args:
            grace_seconds: Seconds to wait first for background refreshes of stale values.
        """
        if not self._is_view:
            await self._resources.aclose(grace_seconds)

    @property
    def missing_key(self) -> MissingKey | None:
        """The key to ask the user for, of a provider that they chose."""
        return self._resources.missing_key

    close = aclose

    @property
    def is_closed(self) -> bool:
        """Whether `aclose` was called."""
        return self._resources.closed

    def _cache_mode(self, refresh: bool, keep: bool) -> CacheMode:
        return ("refresh" if refresh else "use") if keep and self._keep else "bypass"

    def _asked(self, **wanted: Any) -> Ask:
        """Return what is wanted of a page, checked; the arguments are those of `open_page`."""
        from groundwire.reading.passages.view import check_ask

        count_tokens, ranker = self._own_functions
        return check_ask(**wanted, usual=self.settings.read.max_length, count_tokens=count_tokens, ranker=ranker)

    def _begin(self, timeout: float | None, default: float) -> Deadline:
        from groundwire.models.validators import is_number

        if self._resources.closed:
            raise closed()
        seconds = default if timeout is None else timeout
        if not is_number(seconds) or not 0 < seconds <= _LONGEST_TIMEOUT:
            raise InvalidRequest(
                "timeout", f"is {seconds!r}", f"Pass seconds, more than 0 and at most {_LONGEST_TIMEOUT}."
            )
        self._resources.load.admit(seconds)
        return Deadline.after(seconds)
