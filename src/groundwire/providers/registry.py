"""The installed providers: every entry point of the group `groundwire.providers`, ours or of another package."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from groundwire.errors import ConfigurationError, UnknownProvider
from groundwire.providers.base import ProviderClass, ProviderContext, ReadProvider, SearchProvider, Transports
from groundwire.settings import Settings
from groundwire.settings.provider_options import provider_entries, provider_entry, provider_names
from groundwire.storage.archive.store import Archive

if TYPE_CHECKING:
    from groundwire.reading.workers.pool import Workers

__all__ = ["create", "provider_class", "provider_classes", "provider_names"]


def provider_class(name: str) -> ProviderClass:
    """Return the class of a provider; the label of `NAME:LABEL` is ignored.

    Raises:
        UnknownProvider: no such provider is installed. ConfigurationError: it cannot be imported.
    """
    entry = provider_entry(name)
    if entry is None:
        raise UnknownProvider(name, provider_entries())
    try:
        return cast("ProviderClass", entry.load())
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"The provider {name!r} ({entry.value}) cannot be imported: {error}.") from error


def provider_classes() -> dict[str, ProviderClass]:
    """Return the classes of all installed providers by name, sorted; those that cannot be imported are left out."""
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
    """Make a provider.

    Args:
        name: An entry point's name, or `NAME:LABEL` for one of several of a kind, each with its own options.
        settings: Where its options and keys are.
        transports: Where it gets HTTP clients.
        archive: The offline archive, unless it is switched off.
        cls: Its class, when it is known already.
        workers: Processes for heavy work that it may share with others.

    Raises:
        UnknownProvider: no such provider is installed.
        NotConfigured, MissingKey: it cannot be used yet.
        ConfigurationError: an option is wrong.
    """
    context = ProviderContext(name, settings, transports, settings.providers.get(name, {}), archive, workers)
    return cast("SearchProvider | ReadProvider", (cls or provider_class(name)).create(context))
