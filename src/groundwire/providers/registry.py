"""The installed providers: every entry point of the group `groundwire.providers`, of any package."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from groundwire.errors import ConfigurationError, UnknownProvider
from groundwire.providers.base import ProviderClass, ProviderContext, ReadProvider, SearchProvider, Transports
from groundwire.settings import Settings
from groundwire.settings.provider_options import provider_entries, provider_names
from groundwire.storage.archive.store import Archive

if TYPE_CHECKING:
    from groundwire.reading.workers.pool import Workers

__all__ = ["create", "provider_class", "provider_classes", "provider_names"]


def provider_class(name: str) -> ProviderClass:
    """Return the class of a provider; the label of `NAME:LABEL` is ignored.

    Raises:
        UnknownProvider: no such provider is installed. ConfigurationError: it cannot be imported.
    """
    entries = provider_entries()
    entry = entries.get(name.partition(":")[0])
    if entry is None:
        raise UnknownProvider(name, entries)
    try:
        return cast("ProviderClass", entry.load())
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"The provider {name!r} ({entry.value}) cannot be imported: {error}.") from error


def provider_classes() -> dict[str, ProviderClass]:
    """Return the classes of all installed providers by name, sorted, without those that fail to import."""
    classes = {}
    for name, entry in sorted(provider_entries().items()):
        try:
            classes[name] = cast("ProviderClass", entry.load())
        except (ImportError, AttributeError):
            continue
    return classes


def create(
    name: str,
    settings: Settings,
    transports: Transports,
    archive: Archive | None = None,
    cls: ProviderClass | None = None,
    workers: Workers | None = None,
) -> SearchProvider | ReadProvider:
    """Create a provider.

    Args:
        name: An entry point's name, or `NAME:LABEL` for one of several of a kind, each with its own options.
        settings: The settings with its options and keys.
        transports: The HTTP clients.
        archive: The offline archive, unless it is disabled.
        cls: Its class, if already known.
        workers: Shared worker processes for heavy work.

    Raises:
        UnknownProvider: no such provider is installed.
        NotConfigured, MissingKey: it is not configured yet.
        ConfigurationError: an option is invalid.
    """
    context = ProviderContext(name, settings, transports, settings.providers.get(name, {}), archive, workers)
    return cast("SearchProvider | ReadProvider", (cls or provider_class(name)).create(context))
