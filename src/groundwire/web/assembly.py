"""Making the providers of a `Web`, by name or as they were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from groundwire.errors import ConfigurationError, MissingKey, NotConfigured
from groundwire.providers import ReadProvider, SearchProvider
from groundwire.providers.registry import create
from groundwire.settings import Settings
from groundwire.storage.archive.store import Archive
from groundwire.transport.clients import HttpClients

__all__ = ["Assembly"]


@dataclass(slots=True)
class Assembly:
    """Makes providers; one object serves both roles of a hybrid."""

    settings: Settings
    """What is in force."""
    transports: HttpClients
    """The connections that providers share."""
    archive: Archive | None
    """What was remembered; None when nothing is."""
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
                usable.append(item)
                continue
            try:
                provider = self.made.get(item) or create(item, self.settings, self.transports, self.archive)
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
