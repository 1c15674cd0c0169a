"""Making the providers of a `Web`, by name or as they were given."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from groundwire.errors import ConfigurationError, MissingKey, NotConfigured
from groundwire.providers import ReadProvider, SearchProvider
from groundwire.providers.base import as_provider
from groundwire.providers.registry import create
from groundwire.reading.workers.pool import Workers
from groundwire.routing.politeness import Politeness
from groundwire.safety.secret_scanner import SecretScanner
from groundwire.settings import KEY_VARIABLES, Settings
from groundwire.storage.archive.store import Archive
from groundwire.storage.base import Store
from groundwire.transport import Transport
from groundwire.transport.clients import HttpClients

__all__ = ["ProviderSetup", "known_secrets", "make_politeness", "make_secret_scanner"]


@dataclass(slots=True)
class ProviderSetup:
    """Makes providers; one object serves both roles of a hybrid."""

    settings: Settings
    """What is in force."""
    transports: HttpClients
    """The connections that providers share."""
    archive: Archive | None
    """What was remembered; None when nothing is."""
    workers: Workers
    """Processes for heavy work, which readers share."""
    made: dict[str, SearchProvider | ReadProvider] = field(default_factory=dict)
    """The providers that were made here, by their names."""
    skipped: tuple[str, ...] = ()
    """Why providers are not used, a sentence each."""

    def make(
        self,
        role: str,
        given: Sequence[str | SearchProvider] | Sequence[str | ReadProvider] | None,
        configured: Sequence[str],
    ) -> list[SearchProvider | ReadProvider]:
        """Return the providers of one role in their order, without those that lack a key or a setting.

        Args:
            role: `search` or `read`.
            given: Names and objects, as the caller wants them; None takes `configured`.
            configured: The names in the settings.

        Raises:
            ConfigurationError: a provider is unknown or cannot do this, or none can be used.
        """
        usable: list[SearchProvider | ReadProvider] = []
        reasons: list[str] = []
        for item in configured if given is None else given:
            if not isinstance(item, str):
                usable.append(as_provider(item))
                continue
            try:
                provider = self.made.get(item) or create(
                    item, self.settings, self.transports, self.archive, workers=self.workers
                )
            except (NotConfigured, MissingKey) as error:
                reasons.append(str(error))
                continue
            self.made[item] = provider
            if not getattr(provider.capabilities, role):
                what = "search" if role == "search" else "read pages"
                raise ConfigurationError(f"{item} cannot {what}; take it out of {role}.providers.")
            usable.append(provider)
        self.skipped += tuple(reasons)
        if not usable:
            why = " ".join(reasons) or f"{role}.providers is empty."
            raise ConfigurationError(f"There is no provider to {role} with. {why}")
        return usable


_logger = logging.getLogger(__name__)


def known_secrets(settings: Settings) -> Iterator[str]:
    """Yield every key that a service may be given, so that a cassette can leave them out."""
    for variable in (*KEY_VARIABLES, settings.search.local.brave_api_key_env):
        if (key := settings.secret(variable)) is not None:
            yield from (part for word in key.get_secret_value().split(",") if (part := word.strip()))


def _secrets(settings: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield what must go out in no address and no query: keys, passwords, and what the operator has named."""
    yield from known_secrets(settings)
    yield from (key.get_secret_value() for key in settings.keys.values())
    for address in (settings.network.proxy, settings.storage.url):
        with suppress(ValueError):
            yield unquote(urlsplit(address).password or "")
    for number, name in enumerate(settings.policy.secret_env_vars, start=1):
        given = settings.secret(name)
        value = given.get_secret_value() if given is not None else environment.get(name, "")
        if not value.strip():
            _logger.warning("policy.secret_env_vars: number %s names a variable that is not set", number)
        yield value.strip()


def make_secret_scanner(settings: Settings, environment: Mapping[str, str]) -> SecretScanner:
    """Return what knows the secrets that must not leave."""
    return SecretScanner(_secrets(settings, environment))


def make_politeness(settings: Settings, pages: Transport, store: Store) -> Politeness:
    """Return the crawl rules for page requests from the settings."""
    read = settings.read
    return Politeness(
        pages,
        store,
        robots=read.robots,
        exceptions=read.robots_exceptions,
        delay=read.crawl_delay,
        at_once=read.max_per_host,
        user_agent=settings.network.user_agent,
    )
