"""What the settings say about secrets and manners, as the objects that see to it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from groundwire.routing.manners import Manners
from groundwire.safety.secret_scanner import SecretScanner
from groundwire.settings import KEY_VARIABLES, Settings
from groundwire.storage.base import Store
from groundwire.transport import Transport

__all__ = ["all_keys", "make_canaries", "make_manners"]

_logger = logging.getLogger(__name__)


def all_keys(settings: Settings) -> Iterator[str]:
    """Yield every key that a service may be given, so that a cassette can leave them out."""
    for variable in (*KEY_VARIABLES, settings.search.local.brave_api_key_env):
        if (key := settings.secret(variable)) is not None:
            yield from (part for word in key.get_secret_value().split(",") if (part := word.strip()))


def _secrets(settings: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield what must go out in no address and no query: keys, passwords, and what the operator has named."""
    yield from all_keys(settings)
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


def make_canaries(settings: Settings, environment: Mapping[str, str]) -> SecretScanner:
    """Return what knows the secrets that must not leave."""
    return SecretScanner(_secrets(settings, environment))


def make_manners(settings: Settings, pages: Transport, store: Store) -> Manners:
    """Return the gate of page requests that the settings want."""
    read = settings.read
    return Manners(
        pages,
        store,
        robots=read.robots,
        exceptions=read.robots_exceptions,
        delay=read.crawl_delay,
        at_once=read.max_per_host,
        user_agent=settings.network.user_agent,
    )
