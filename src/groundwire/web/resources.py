"""The resources of a `Web`: construction from the settings, and closing in the right order."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from pydantic import ValidationError

from groundwire.errors import ConfigurationError, InvalidRequest, MissingKey, NotConfigured
from groundwire.models import Observer
from groundwire.models.validators import check_choice, is_number
from groundwire.providers import ReadProvider, SearchProvider
from groundwire.providers.archive import ArchiveProvider
from groundwire.providers.registry import as_provider, create
from groundwire.reading.workers.pool import Workers
from groundwire.routing.background_tasks import BackgroundTasks
from groundwire.routing.budget import SessionBudget, session_name
from groundwire.routing.cache import Cache
from groundwire.routing.daily_quota import DailyLimits, DailyQuota, Limits, limits_of
from groundwire.routing.router import Router
from groundwire.safety.guard import Resolver
from groundwire.safety.secret_scanner import SecretScanner
from groundwire.safety.tenancy import LOCAL, Owner
from groundwire.safety.urls import DomainPolicy
from groundwire.settings import KEY_VARIABLES, Settings
from groundwire.settings.sections import SearchSettings
from groundwire.storage import open_store
from groundwire.storage.archive.store import Archive, open_archive
from groundwire.storage.base import Store
from groundwire.storage.memory import MemoryStore
from groundwire.telemetry.call_events import CallListener, CallListeners, CallLog, with_listener
from groundwire.telemetry.daily_counters import Scores
from groundwire.transport.clients import HttpClients
from groundwire.web.known_urls import KnownUrls
from groundwire.web.search import SearchFlow, StateWarnings
from groundwire.web.session_sources import SessionSources

if TYPE_CHECKING:  # needed for pages or cassettes only, and slow to load
    from groundwire.cassette import Cassette
    from groundwire.routing.politeness import Politeness
    from groundwire.web.files import FileSearch
    from groundwire.web.open_page import OpenPageFlow

_logger = logging.getLogger(__name__)


def _known_secrets(settings: Settings) -> Iterator[str]:
    """Yield every key that may be sent to a service, so that a cassette can redact them."""
    for variable in (*KEY_VARIABLES, settings.search.local.brave_api_key_env):
        if (key := settings.secret(variable)) is not None:
            yield from (part for word in key.get_secret_value().split(",") if (part := word.strip()))


def _secrets(settings: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the secrets that no URL or query may contain: keys, passwords, and those named by the operator."""
    yield from _known_secrets(settings)
    yield from (key.get_secret_value() for key in settings.keys.values())
    for address in (settings.network.proxy, settings.storage.url):
        with suppress(ValueError):
            yield unquote(urlsplit(address).password or "")
    for number, name in enumerate(settings.policy.secret_env_vars, start=1):
        secret = settings.secret(name)
        value = secret.get_secret_value() if secret is not None else environment.get(name, "")
        if not value.strip():
            _logger.warning("policy.secret_env_vars: entry %s names a variable that is not set", number)
        yield value.strip()


_MAX_WORKERS = 4  # processes for heavy work, on machines with at least as many cores


def with_overrides(settings: Settings, *, timeout: float | None, proxy: str | None) -> Settings:
    """Return settings with the values that were given instead of theirs.

    Raises:
        ConfigurationError: one of them is wrong.
    """
    overrides = (("search", "timeout", timeout), ("read", "timeout", timeout), ("network", "proxy", proxy))
    for name, key, value in overrides:
        if value is not None:
            section = getattr(settings, name)
            try:
                checked = type(section).model_validate({key: value})
            except ValidationError as error:
                raise ConfigurationError(f"{key}: {error.errors()[0]['msg']}.") from None
            changed = section.model_copy(update={key: getattr(checked, key)})
            settings = settings.model_copy(update={name: changed})
    return settings


class Resources:
    """Clients, store, cache, providers and listeners of a `Web` and of all its views.

    Args:
        settings: The settings.
        search_providers: See `Web`.
        read_providers: See `Web`.
        attempt_listener: See `Web`.
        call_listeners: See `Web`.
        cassette: Records what comes from outside, or replays it.
        resolver: Resolves host names, instead of the system.

    Raises:
        ConfigurationError: a setting is invalid, a provider is unknown, or none can be used.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        search_providers: Sequence[str | SearchProvider] | None,
        read_providers: Sequence[str | ReadProvider] | None,
        attempt_listener: Observer | None,
        call_listeners: Sequence[CallListener],
        cassette: Cassette | None,
        resolver: Resolver | None,
    ) -> None:
        self.settings = settings
        self.closed: bool = False
        self._closing = asyncio.Lock()
        self._all_closed = False
        if cassette is not None:
            cassette.hide(*_known_secrets(settings))
        self.clients: HttpClients = HttpClients(settings, resolver, cassette)
        self.archive: Archive | None = open_archive(settings) if cassette is None else None
        cores = (os.cpu_count() or 2) // settings.server.workers
        self.workers: Workers = Workers(min(_MAX_WORKERS, max(2, cores)))
        self.verification_workers: Workers = Workers(min(_MAX_WORKERS, max(2, cores // 2)))
        self.owned: list[object] = []
        self._made: dict[str, SearchProvider | ReadProvider] = {}
        made, self.skipped = self._make(
            "search", settings.search.providers if search_providers is None else search_providers
        )
        searchers = cast("list[SearchProvider]", made)
        self.policy: DomainPolicy = DomainPolicy(settings.policy.allowed_domains, settings.policy.blocked_domains)
        self.store: Store = open_store(
            settings.storage.url if cassette is None else "memory://", timeout=settings.storage.timeout
        )
        self.known_urls: KnownUrls | None = KnownUrls(self.store) if settings.policy.open_only == "known" else None
        self.sources: SessionSources = SessionSources(self.store, self.archive)
        self.tasks: BackgroundTasks = BackgroundTasks()
        self.state: StateWarnings = StateWarnings(self.store, self.archive)
        self.scores: Scores = Scores(self.store)
        self._attempt_listener = with_listener(attempt_listener)
        shared = not isinstance(self.store, MemoryStore)
        self._cache = Cache(self.store, shared=shared) if settings.cache.enabled else None
        default_listeners = () if any(isinstance(listener, CallLog) for listener in call_listeners) else (CallLog(),)
        self._listeners = CallListeners((*default_listeners, self.scores, *call_listeners))
        self._secrets = SecretScanner(_secrets(settings, os.environ))
        self.search_flow: SearchFlow = SearchFlow(
            settings=settings,
            router=self._router(searchers, ArchiveProvider(self.archive) if self.archive else None),
            cache=self._cache,
            secrets=self._secrets,
            known_urls=self.known_urls,
            sources=self.sources,
            call_listeners=self._listeners,
            state=self.state,
        )
        self._read_providers = read_providers
        if read_providers is not None or settings.read.providers != ("local",) or settings.providers.get("local"):
            _ = self.pages  # what is wrong with readers is said at once, and the usual one is never wrong

    @cached_property
    def politeness(self) -> Politeness:
        """The crawl rules of sites; they are loaded when they are first used."""
        from groundwire.routing.politeness import Politeness

        options = self.settings.read
        politeness = Politeness(
            self.clients.pages,
            self.store,
            robots=options.robots,
            exceptions=options.robots_exceptions,
            delay=options.crawl_delay,
            at_once=options.max_per_host,
            user_agent=self.settings.network.user_agent,
        )
        self.owned.append(politeness)
        return politeness

    @cached_property
    def pages(self) -> OpenPageFlow:
        """The flow of opening a page; it is made when it is first used."""
        from groundwire.reading.readers import Readers
        from groundwire.reading.sites.reader import SiteReaders
        from groundwire.web.open_page import OpenPageFlow

        settings, options, sites = self.settings, self.settings.read, None
        if options.site_readers:
            isolated, names = options.isolation == "process", options.site_readers
            sites = SiteReaders(self.clients.pages, self.store, self.workers, names=names, isolated=isolated)
        readers, skipped = self._make(
            "read", settings.read.providers if self._read_providers is None else self._read_providers
        )
        self.skipped += skipped
        self.clients.pages.gate = self.politeness
        return OpenPageFlow(
            settings=settings,
            guard=self.clients.guard,
            readers=Readers(
                cast("list[ReadProvider]", readers),
                guard=self.clients.guard,
                policy=self.policy,
                attempt_listener=self._attempt_listener,
                gate=self.politeness,
                rendered=settings.read.render_domains,
                skipped=self.skipped,
                archive=self.archive,
                sites=sites,
            ),
            policy=self.policy,
            cache=self._cache,
            secrets=self._secrets,
            known_urls=self.known_urls,
            sources=self.sources,
            workers=self.workers,
            call_listeners=self._listeners,
            state=self.state,
            files=self.files.reader,
        )

    @cached_property
    def papers(self) -> SearchFlow:
        """The flow of searching for papers; it is made when it is first used.

        Raises:
            InvalidRequest: the settings turn it off, or none of its providers can be used.
        """
        names = self.settings.search.paper_providers
        if not names:
            raise InvalidRequest("sources", "has papers, which the settings turn off", "Search the web for them.")
        try:
            router = self.other_router(names, self.search_flow.router.providers, None)
        except ConfigurationError as error:
            raise InvalidRequest("sources", "has papers, which cannot be searched here", str(error)) from error
        return replace(self.search_flow, router=router)

    @cached_property
    def files(self) -> FileSearch:
        """What reads and searches local files; it is made when it is first used."""
        from groundwire.reading.local_files import FileReader
        from groundwire.storage.archive.store import open_file_index
        from groundwire.web.files import FileSearch

        files = FileSearch(
            settings=self.settings,
            reader=FileReader(self.settings.read, self.workers),
            index=open_file_index(self.settings) if self.archive is not None else None,
            workers=self.workers,
        )
        self.owned.append(files)
        return files

    def session_budget(self, parent: SessionBudget, name: str | None, limits: Mapping[str, float]) -> SessionBudget:
        """Return the budget of another session with the same owner.

        Args:
            parent: A budget of the owner.
            name: The session's name; None for one that no other process can use.
            limits: The limits that differ from those of the settings.

        Raises:
            InvalidRequest: there is no such limit, or its value is not a number of 0 or more.
        """
        defaults = limits_of(self.settings.session)
        for limit, value in limits.items():
            check_choice("session", limit, defaults._fields)
            if not is_number(value) or not 0 <= value < float("inf"):
                raise InvalidRequest(limit, f"is {value!r}", "Pass a number of 0 or more.")
        name = session_name(parent.owner, name) if name else None
        # A session without a name cannot be resumed, so its counts and sources need not outlive it.
        own = Limits(**{**defaults._asdict(), **limits})
        return self.budget(name, own, parent.quota, parent.owner.of_session(name))

    def budget(
        self, name: str | None, limits: Limits, quota: DailyQuota | None = None, owner: Owner = LOCAL
    ) -> SessionBudget:
        """Return the budget of a session; without a name, which no other process can use, it is in this process."""
        store, named = self.store if name else MemoryStore(), bool(name)
        return SessionBudget(store, name or uuid4().hex, limits, self.tasks, named=named, quota=quota, owner=owner)

    def restricted_budget(self, budget: SessionBudget, daily: DailyLimits | None, owner: Owner) -> SessionBudget:
        """Return a session's budget for an owner; daily limits replace previous ones."""
        return budget.within(budget.quota if daily is None else DailyQuota(self.store, daily), owner)

    def other_router(
        self,
        providers: Sequence[str | SearchProvider],
        current: Sequence[SearchProvider],
        settings: Settings | None,
    ) -> Router:
        """Return a router with other providers, which is closed with the rest.

        Args:
            providers: In order of use, by name or as objects.
            current: Those that are there already, and stand for their names unless there are other settings.
            settings: Where options and keys of new providers are; by default the current settings.
        """
        by_name = {provider.name: provider for provider in current} if settings is None else {}
        choices = [by_name.get(item, item) if isinstance(item, str) else item for item in providers]
        searchers, _ = self._make("search", choices, settings)
        router = self._router(cast("list[SearchProvider]", searchers))
        self.owned.append(router)
        return router

    def _make(
        self, role: str, choices: Sequence[str | SearchProvider | ReadProvider], settings: Settings | None = None
    ) -> tuple[list[SearchProvider | ReadProvider], tuple[str, ...]]:
        """Return the providers of one role in order, and why others lack a key or a setting, a sentence each.

        Args:
            role: `search` or `read`.
            choices: Names and objects in order of preference.
            settings: Where the options and keys of names are; by default the current settings, of which one object
                serves both roles of a hybrid.

        Raises:
            ConfigurationError: a provider is unknown or cannot do this, or none can be used.
        """
        made = self._made if settings is None else {}
        usable: list[SearchProvider | ReadProvider] = []
        reasons: list[NotConfigured | MissingKey] = []
        for item in choices:
            if not isinstance(item, str):
                usable.append(as_provider(item))
                continue
            try:
                if item not in made:
                    made[item] = create(
                        item, settings or self.settings, self.clients, self.archive, workers=self.workers
                    )
                    self.owned.append(made[item])
            except (NotConfigured, MissingKey) as error:
                reasons.append(error)
                continue
            if not getattr(made[item].capabilities, role):
                what = "search" if role == "search" else "read pages"
                raise ConfigurationError(f"{item} cannot {what}; remove it from {role}.providers.")
            usable.append(made[item])
        keys = [reason for reason in reasons if isinstance(reason, MissingKey)]
        if not usable:
            cause = " ".join(map(str, reasons)) or f"{role}.providers is empty."
            raise ConfigurationError(f"There is no provider to {role} with. {cause}") from (keys[0] if keys else None)
        return usable, tuple(map(str, reasons))

    async def aclose(self) -> None:
        """Close everything, once: what a second call did would find the store closed."""
        self.closed = True
        async with self._closing:
            if not self._all_closed:
                await self._close()
                self._all_closed = True

    async def _close(self) -> None:
        if self._cache is not None:
            await self._cache.aclose()
        await self.search_flow.router.aclose()
        await self.tasks.aclose()
        for owned in self.owned:
            close = getattr(owned, "aclose", None)
            if close is not None:
                await close()
        await self.workers.aclose()
        await self.verification_workers.aclose()
        await self.clients.aclose()
        if self.archive is not None:
            await self.archive.aclose()
        await self.scores.aclose()
        await self.store.aclose()

    def _router(self, searchers: Sequence[SearchProvider], last: SearchProvider | None = None) -> Router:
        search = self.settings.search
        # The default of an attempt belongs to that of a search: raising one limit raises both.
        own = "attempt_timeout" in search.model_fields_set
        return Router(
            searchers,
            attempt_timeout=search.attempt_timeout,
            timeout=search.timeout if own else SearchSettings.model_construct().timeout,
            attempt_listener=self._attempt_listener,
            store=self.store,
            last=last,
            archive=self.archive,
        )
