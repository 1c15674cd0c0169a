"""Settings that are right one by one and cannot all be meant together."""

from __future__ import annotations

from collections.abc import Iterator

from groundwire.settings.schema import Settings

__all__ = ["conflicting_settings", "single_provider_warnings"]


def conflicting_settings(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield each contradiction as (dotted key, what is wrong); a setting at its default contradicts nothing."""
    search, session = settings.search, settings.session
    if "strategy" in search.model_fields_set and "providers" in search.model_fields_set and len(search.providers) == 1:
        yield from single_provider_warnings(settings, search.providers[0])
    explicit = "warning_threshold" in session.model_fields_set
    if explicit and 0 < session.max_searches < session.warning_threshold:
        yield (
            "session.warning_threshold",
            f"{session.warning_threshold} is more than session.max_searches = {session.max_searches}, "
            "so the warning would never be shown",
        )
    if {"timeout", "attempt_timeout"} <= search.model_fields_set and search.attempt_timeout > search.timeout:
        yield (
            "search.attempt_timeout",
            f"{search.attempt_timeout:g} is more than search.timeout = {search.timeout:g}, which ends every attempt",
        )


def single_provider_warnings(settings: Settings, provider: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong when a strategy that needs several providers was asked for, and there is one.

    Args:
        settings: What is in force.
        provider: The only provider.
    """
    strategy = settings.search.strategy
    if "strategy" in settings.search.model_fields_set and strategy != "fallback":
        yield (
            "search.strategy",
            f"{strategy!r} needs two providers at least, and {provider} is the only one; "
            "set up another one, or write 'fallback'",
        )
