"""The installed providers: Groundwire's own, and every entry point `groundwire.providers` of another package.

A host's own objects are adapted if they lack only a name, filters or deadlines.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from groundwire.deadline import Deadline
from groundwire.errors import ConfigurationError, UnexpectedResponse, UnknownProvider
from groundwire.models import NO_FILTERS, Filters, SearchResult
from groundwire.providers.base import (
    Capabilities,
    ProviderClass,
    ProviderContext,
    ReadProvider,
    SearchProvider,
)
from groundwire.settings import Settings
from groundwire.settings.provider_options import load_entry, provider_entries, provider_entry, provider_names
from groundwire.storage.archive.store import Archive
from groundwire.transport.clients import HttpClients

if TYPE_CHECKING:
    from groundwire.models import ReadResult
    from groundwire.reading.workers.pool import Workers

__all__ = ["as_provider", "create", "provider_class", "provider_classes", "provider_names"]


def provider_class(name: str) -> ProviderClass:
    """Return the class of a provider; the label of `NAME:LABEL` is ignored.

    Raises:
        UnknownProvider: no such provider is installed. ConfigurationError: it cannot be imported.
    """
    entry = provider_entry(name)
    if entry is None:
        raise UnknownProvider(name, provider_entries())
    try:
        return cast("ProviderClass", load_entry(entry))
    except ImportError as error:
        raise ConfigurationError(f"The provider {name!r} ({entry}) cannot be imported: {error}.") from error


def provider_classes() -> dict[str, ProviderClass]:
    """Return the classes of all installed providers by name, sorted, without those that fail to import."""
    classes = {}
    for name, entry in sorted(provider_entries().items()):
        try:
            classes[name] = cast("ProviderClass", load_entry(entry))
        except ImportError:
            continue
    return classes


def create(
    name: str,
    settings: Settings,
    transports: HttpClients,
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


_ModelT = TypeVar("_ModelT", SearchResult, "ReadResult")
_SUFFIX = re.compile(r"(?:Search|Read){0,2}Provider$")


def as_provider(candidate: object) -> SearchProvider | ReadProvider:
    """Return a provider as the contracts require: itself, or wrapped if it has but the methods of a host's Protocols.

    Args:
        candidate: An object with `search(query, *, limit)`, `read_url(url)` or both. Without a `name` it is called
            after its class: `MySearchProvider` is `my`. What it returns has the fields of `SearchResult` and
            `ReadResult`, as attributes or keys.

    Raises:
        ConfigurationError: it has neither method.
    """
    searches, reads = callable(getattr(candidate, "search", None)), callable(getattr(candidate, "read_url", None))
    if not (searches or reads):
        raise ConfigurationError(
            f"{type(candidate).__name__} is not a provider: it needs an async search(query, *, limit) or read_url(url)."
        )
    full = hasattr(candidate, "name") and hasattr(candidate, "capabilities")
    if (
        full
        and not (searches and _takes_less(candidate, "search", "filters", "deadline"))
        and not (reads and _takes_less(candidate, "read_url", "deadline"))
    ):
        return cast("SearchProvider | ReadProvider", candidate)
    return PlainProvider(candidate, searches=searches, reads=reads)


_OPTION_TYPES = (str, int, float, Path)  # texts of other types may be another in every process, such as an address


class PlainProvider:
    """A provider over an object that knows neither filters nor deadlines; the router filters and ends its calls."""

    def __init__(self, inner: Any, *, searches: bool, reads: bool) -> None:
        kind = type(inner).__name__
        self.name: str = getattr(inner, "name", None) or (_SUFFIX.sub("", kind) or kind).lower()
        self.capabilities: Capabilities = getattr(inner, "capabilities", None) or Capabilities(
            search=searches, read=reads
        )
        own = sorted((k, str(v)) for k, v in getattr(inner, "__dict__", {}).items() if isinstance(v, _OPTION_TYPES))
        self.kind = f"{type(inner).__module__}.{type(inner).__qualname__} {own}"
        """Which object this is, by its class and the options it was made with; what it counts later does not matter."""
        self._inner = inner

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> list[SearchResult]:
        """Search; see `SearchProvider.search`."""
        del filters, deadline
        rows = await self._inner.search(query, limit=limit)
        return [self._model(SearchResult, row) for row in rows]

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`."""
        from groundwire.models import ReadResult

        del deadline
        return self._model(ReadResult, await self._inner.read_url(url))

    def _model(self, model: type[_ModelT], value: object) -> _ModelT:
        """Return a result as Groundwire's model; unknown fields are dropped."""
        if isinstance(value, model):
            return value
        names = tuple(getattr(model, "model_fields", None) or model.__dataclass_fields__)
        values = (
            value
            if isinstance(value, Mapping)
            else {name: getattr(value, name) for name in names if hasattr(value, name)}
        )
        try:
            return TypeAdapter(model).validate_python({name: values[name] for name in names if name in values})
        except ValidationError as error:
            wrong = ", ".join(".".join(map(str, fault["loc"])) for fault in error.errors())
            raise UnexpectedResponse(self.name, f"returned a {type(value).__name__} whose {wrong} is wrong") from error


def _takes_less(candidate: object, method: str, *names: str) -> bool:
    """Whether a method lacks one of the named parameters."""
    try:
        parameters = inspect.signature(getattr(candidate, method)).parameters
    except (TypeError, ValueError):
        return False
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return False
    return not set(names) <= set(parameters)
