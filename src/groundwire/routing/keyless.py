"""What precedes a call of a service without a key: it is said who sees queries, and the day's searches are counted."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from urllib.parse import urlsplit

from groundwire.errors import BudgetExceeded
from groundwire.providers.base import SearchProvider, scope
from groundwire.routing.daily_quota import DailyLimits, DailyQuota
from groundwire.storage.base import Store

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


async def take_of_day(store: Store, provider: SearchProvider) -> str:
    """Count a search of a provider with a limit by day (`daily_searches`); return why it may not be made, or nothing.

    Args:
        store: The store of the counts.
        provider: The provider.
    """
    most = int(getattr(provider, "daily_searches", 0))
    if not most:
        return ""
    quota = DailyQuota(store, DailyLimits(f"provider:{scope(provider)}", calls=most))
    try:
        await quota.take(quota.today())
    except BudgetExceeded:
        return f"not called: its {most:,} searches per day are used up (daily_searches)"
    return ""
