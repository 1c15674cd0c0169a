"""The contracts that a provider implements, and the context from which it is made."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeVar, cast, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from groundwire.deadline import Deadline
from groundwire.errors import ConfigurationError, MissingKey, UnexpectedResponse
from groundwire.models import NO_FILTERS, Filters, Freshness, ReadResult, SearchResult, TimeRange
from groundwire.models.validators import did_you_mean, faults
from groundwire.providers.prices import Prices, load_prices
from groundwire.settings import Settings
from groundwire.transport import Transport

if TYPE_CHECKING:
    from groundwire.reading.workers.pool import Workers
    from groundwire.safety.tenancy import Owner
    from groundwire.storage.archive.store import Archive

__all__ = [
    "Capabilities",
    "Options",
    "OwnedProvider",
    "ProviderClass",
    "ProviderContext",
    "ReadProvider",
    "RevalidatingReader",
    "SearchProvider",
    "Transports",
    "as_provider",
    "is_owned",
    "owned_by",
]


_P = TypeVar("_P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a provider can do by itself; the rest is done for it, or reported as missing."""

    search: bool = False
    """Whether it searches."""
    read: bool = False
    """Whether it reads pages."""
    max_results: int = 20
    """The most results that one request can give."""
    time_ranges: frozenset[TimeRange] = frozenset()
    """The time ranges it supports."""
    dates: bool = False
    """Whether it can filter by a first and a last day."""
    domains: Literal["native", "operator", "none"] = "none"
    """How it filters by domain: by a parameter, by `site:` in the query, or not at all."""
    pages: bool = False
    """Whether it has further pages of results."""
    language: bool = False
    """Whether it can prefer a language."""
    region: bool = False
    """Whether it can prefer a country."""
    safesearch: bool = False
    """Whether it supports SafeSearch."""
    guarded: bool = False
    """Whether it connects through the guarded transport, which judges every hop at the moment of connecting."""
    renders: bool = False
    """Whether it renders a page as a browser does, scripts included."""
    revalidates: bool = False
    """Whether `read_url` takes `known`, a `Freshness`, and may report that the page has not changed since."""


@runtime_checkable
class SearchProvider(Protocol):
    """Takes a query, returns ranked results. It does not retry, cache, filter again or fall back: the router does."""

    name: str
    """Its name in settings, attempts and results."""
    capabilities: Capabilities
    """What it can do by itself."""

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = ..., deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        """Search.

        Args:
            query: The text of the query.
            limit: The most results wanted; more may be returned and are cut.
            filters: What the results should satisfy, as far as the service can; it is checked again afterwards.
            deadline: When the response must be here.

        Returns:
            The results, best first; a `Results` when there is more to say about them. An empty one means that the
            service searched and found nothing.

        Raises:
            ProviderError: one of its classes, for every failure.
        """
        ...


@runtime_checkable
class ReadProvider(Protocol):
    """Takes a URL, returns the page as Markdown."""

    name: str
    """Its name in settings and pages."""
    capabilities: Capabilities
    """What it can do by itself."""

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page.

        Args:
            url: An address that the guard has allowed.
            deadline: When the page must be here.

        Returns:
            The page, or a result with `success` false and the reason.

        Raises:
            PageError: the page cannot be read. ProviderError: the service failed. DeadlineExceeded.
        """
        ...


@runtime_checkable
class OwnedProvider(Protocol):
    """A provider whose answers depend on whose call it is, as those of an archive do."""

    def owned_by(self, owner: Owner) -> Self:
        """Return the same provider for the calls of an owner."""
        ...


def is_owned(provider: object) -> bool:
    """Tell whether a provider is an `OwnedProvider`; `isinstance` takes ten times as long, at every search."""
    return hasattr(provider, "owned_by")


def owned_by(provider: _P, owner: Owner) -> _P:
    """Return a provider for the calls of an owner; most are the same for all."""
    return cast("_P", cast("OwnedProvider", provider).owned_by(owner)) if is_owned(provider) else provider


class RevalidatingReader(Protocol):
    """A `ReadProvider` that can ask whether a page has changed; its capabilities say `revalidates`."""

    async def read_url(
        self, url: str, *, deadline: Deadline | None = None, known: Freshness | None = None
    ) -> ReadResult:
        """Read a page, or find that it has not changed; see `ReadProvider.read_url`.

        Args:
            url: An address that the guard has allowed.
            deadline: When the page must be here.
            known: What the server said when this reader read the page before.

        Returns:
            The page, or a result that says `unchanged` with what the server says about it now.
        """
        ...


class Options(BaseModel):
    """A provider's own settings, `[providers.NAME]` in a file. Subclass it in the provider's file."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    delay: float = Field(default=0.0, ge=0, le=3_600)
    """Seconds between two requests to the service, kept across all tasks and processes that share the store."""


_O = TypeVar("_O", bound=Options)


class Transports(Protocol):
    """Where a provider gets its HTTP clients; it does not close them."""

    @property
    def api(self) -> Transport:
        """The client for public services."""
        ...

    @property
    def pages(self) -> Transport:
        """The client for pages."""
        ...

    def service(self, url: str) -> Transport:
        """Return the client for a public service, which goes through the proxy that its address wants."""
        ...

    def operator(self, base_url: str) -> Transport:
        """Return a client that may reach the one origin of a URL that the operator configured, private or not."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderContext:
    """What a provider is made from."""

    name: str
    """Its name: that of its entry point, or `NAME:LABEL` where there are several of one kind."""
    settings: Settings
    """All settings."""
    transports: Transports
    """HTTP clients."""
    raw_options: Mapping[str, Any] = field(default_factory=dict)
    """The provider's own options, not validated yet."""
    archive: Archive | None = None
    """The offline archive, unless it is disabled."""
    workers: Workers | None = None
    """Processes for heavy work, where there are some that several readers share."""

    def options(self, model: type[_O]) -> _O:
        """Return the provider's own settings, validated.

        Raises:
            ConfigurationError: an option is unknown or has a wrong value.
        """
        try:
            return model.model_validate(dict(self.raw_options))
        except ValidationError as error:
            lines = []
            for key, text in faults(error):
                if key in self.raw_options and key not in model.model_fields:
                    text = f"is not an option of {self.name}{did_you_mean(key, model.model_fields)}"
                origin = self.settings.origin(f"providers.{self.name}.{key}")
                lines.append(f"providers.{self.name}.{key} ({origin}): {text}")
            raise ConfigurationError("\n".join(lines)) from error

    def keys(self, *variables: str, needed: bool = True) -> tuple[SecretStr, ...]:
        """Return all keys kept under the variables' names; one variable may hold several, separated by commas.

        Args:
            variables: The names under which a key may be kept, the usual one first.
            needed: Whether there must be one.

        Raises:
            MissingKey: there is none, and one is needed.
        """
        found: dict[str, SecretStr] = {}
        for variable in variables:
            value = self.settings.secret(variable)
            for part in value.get_secret_value().split(",") if value else ():
                if key := part.strip():
                    found.setdefault(key, SecretStr(key))
        if needed and not found:
            raise MissingKey(self.name, variables[0] if variables else "a key")
        return tuple(found.values())

    def prices(self) -> Prices:
        """Return what the service's calls cost; nothing for one that is not listed."""
        return load_prices().get(self.name.partition(":")[0], Prices())

    def key(self, variable: str) -> SecretStr | None:
        """Return the key kept under an environment variable's name, or None."""
        return self.settings.secret(variable)


class ProviderClass(Protocol):
    """What an entry point of the group `groundwire.providers` names."""

    capabilities: ClassVar[Capabilities]
    """What it can do by itself."""

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Make the provider.

        Raises:
            NotConfigured, MissingKey: it cannot be used yet. ConfigurationError: an option is wrong.
        """
        ...


_ModelT = TypeVar("_ModelT", bound=BaseModel)
_SUFFIX = re.compile(r"(?:Search|Read)*Provider$")


def as_provider(given: object) -> SearchProvider | ReadProvider:
    """Return a provider as our contracts want it: itself, or wrapped if it has but the methods of a host's Protocols.

    Args:
        given: An object with `search(query, *, limit)`, `read_url(url)` or both. Without a `name` it is called
            after its class: `MySearchProvider` is `my`. What it returns has the fields of `SearchResult` and
            `ReadResult`, as attributes or keys.

    Raises:
        ConfigurationError: it has neither method.
    """
    searches, reads = callable(getattr(given, "search", None)), callable(getattr(given, "read_url", None))
    if not (searches or reads):
        raise ConfigurationError(
            f"{type(given).__name__} is no provider: it needs an async method search(query, *, limit) or read_url(url)."
        )
    full = hasattr(given, "name") and hasattr(given, "capabilities")
    if (
        full
        and not (searches and _takes_less(given, "search", "filters", "deadline"))
        and not (reads and _takes_less(given, "read_url", "deadline"))
    ):
        return cast("SearchProvider | ReadProvider", given)
    return _PlainProvider(given, searches=searches, reads=reads)


class _PlainProvider:
    """A provider over an object that knows neither filters nor deadlines; the router filters and ends its calls."""

    def __init__(self, inner: Any, *, searches: bool, reads: bool) -> None:
        kind = type(inner).__name__
        self.name: str = getattr(inner, "name", None) or (_SUFFIX.sub("", kind) or kind).lower()
        self.capabilities: Capabilities = getattr(inner, "capabilities", None) or Capabilities(
            search=searches, read=reads
        )
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
        del deadline
        return self._model(ReadResult, await self._inner.read_url(url))

    def _model(self, model: type[_ModelT], value: object) -> _ModelT:
        """Return a result as our model; unknown fields are dropped."""
        if isinstance(value, model):
            return value
        names = model.model_fields
        fields = (
            value
            if isinstance(value, Mapping)
            else {name: getattr(value, name) for name in names if hasattr(value, name)}
        )
        try:
            return model(**{name: fields[name] for name in names if name in fields})
        except ValidationError as error:
            wrong = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
            raise UnexpectedResponse(self.name, f"returned a {type(value).__name__} whose {wrong} is wrong") from error


def _takes_less(given: object, method: str, *names: str) -> bool:
    """Whether a method lacks one of the named parameters."""
    try:
        parameters = inspect.signature(getattr(given, method)).parameters
    except (TypeError, ValueError):
        return False
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return False
    return not set(names) <= set(parameters)
