"""What both flows need of the cache: who was asked, how long an answer is kept, and how its age is said."""

from __future__ import annotations

from groundwire.providers import ReadProvider, SearchProvider
from groundwire.routing.cache import Life
from groundwire.settings import Settings

__all__ = ["age", "identity", "lifetime"]

_LONGEST_STALE = 3_600.0  # seconds for which a stale answer is given at once


def identity(provider: SearchProvider | ReadProvider, settings: Settings) -> str:
    """Return what tells a provider from another of its name: its kind, and the options it was given."""
    options = sorted((key, str(value)) for key, value in settings.providers.get(provider.name, {}).items())
    return f"{provider.name} {type(provider).__module__}.{type(provider).__qualname__} {options}"


def lifetime(fresh: float, stale: float) -> Life:
    """Return how long an answer is kept: fresh, then stale for an hour at most, then only to stand in for a failure.

    Args:
        fresh: Seconds.
        stale: Seconds after those.
    """
    return Life(fresh, min(stale, _LONGEST_STALE), max(0.0, stale - _LONGEST_STALE))


def age(warnings: tuple[str, ...], cached: bool, stale: bool, seconds: float) -> dict[str, object]:
    """Return what a caller should know of a value's age, as fields of the value."""
    if not stale:
        return {"cached": cached}
    said = f"this answer is {seconds / 60:,.0f} minutes old; it could not be fetched anew yet"
    return {"cached": cached, "stale": True, "warnings": (*warnings, said)}
