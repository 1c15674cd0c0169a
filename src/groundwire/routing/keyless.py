"""What precedes the first call of a service without a key: it is said who sees queries."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from urllib.parse import urlsplit

from groundwire.providers.base import SearchProvider
from groundwire.storage.base import Store

__all__ = ["KeylessNotice"]

_logger = logging.getLogger(__name__)
_LIFE = 365 * 86_400.0  # seconds until it is said again


class KeylessNotice:
    """Logs a warning before the first query goes to a service without a key; once for all processes of a store.

    Args:
        store: Where it is noted that it was said.
        providers: The search providers.
    """

    def __init__(self, store: Store, providers: Sequence[SearchProvider]) -> None:
        self._store = store
        self._services = {
            provider.name: urlsplit(str(getattr(provider, "service", ""))).hostname or provider.name
            for provider in providers
            if getattr(provider, "keyless", False) and not getattr(provider, "has_key", False)
        }

    async def before(self, provider: SearchProvider) -> None:
        """Say which services see queries, unless it was said or this provider has a key."""
        if provider.name not in self._services:
            return
        services, self._services = self._services, {}
        notices = await self._store.count(f"keyless:{' '.join(sorted(services))}", 1, ttl=_LIFE)
        if notices.total == 1:
            names = ", ".join(f"{name} ({host})" for name, host in services.items())
            _logger.warning(
                "Queries are sent without a key to these services, until one of them answers: %s. "
                "`groundwire providers` has their limits and terms; search.keyless = false turns them off.",
                names,
            )
