"""The protocols that a provider implements, and the context it is created from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from groundwire.deadline import Deadline
from groundwire.errors import ConfigurationError, MissingKey
from groundwire.models import Filters, SearchResult, TimeRange
from groundwire.models.validators import did_you_mean, faults
from groundwire.settings import Settings
from groundwire.settings.sections import validated
from groundwire.transport.clients import HttpClients

if TYPE_CHECKING:
    from groundwire.models import ReadResult
    from groundwire.reading.workers.pool import Workers
    from groundwire.storage.archive.store import Archive

__all__ = [
    "ANY_RANGE",
    "Capabilities",
    "Options",
    "Prices",
    "ProviderClass",
    "ProviderContext",
    "ReadProvider",
    "SearchProvider",
    "is_owned",
    "load_prices",
    "price_of",
    "scope",
]


_PRICE_LIFE = timedelta(days=365)


class Prices(NamedTuple):
    """The price list of one service, in US dollars by unit."""

    units: Mapping[str, float] = MappingProxyType({})
    """Prices by unit: `request`, `credit`, `page`, `result`, `token`, or a mode with a price of its own."""
    as_of: str = ""
    """The day on which the list was read, ISO 8601."""
    source: str = ""
    """Where the list was published."""
    free: str = ""
    """What is free, in words."""

    def cost(self, unit: str = "request", count: float = 1) -> float:
        """Return what `count` units cost, in US dollars; 0 for a unit that is not listed."""
        return self.units.get(unit, 0.0) * count

    def age_note(self, today: date) -> str:
        """Return that the list is older than a year, as a clause; nothing for a newer or an empty one."""
        if not self.units or today - date.fromisoformat(self.as_of) <= _PRICE_LIFE:
            return ""
        return f"prices of {self.as_of}, over a year old: the service may charge more by now"


@cache
def load_prices() -> Mapping[str, Prices]:
    """Return what the services charge, in US dollars, by provider; what is not listed costs nothing.

    The file has snapshots of public price lists: data, never code paths. A provider names the unit, or the mode of its
    searches where that has a price of its own. `as_of` is when the list was read, `source` whose list it was, `free`
    what it gives for nothing.
    """
    lists = json.loads(Path(__file__).with_name("prices.json").read_bytes())
    return MappingProxyType({name: _prices(entry) for name, entry in lists.items()})


def _prices(entry: dict[str, Any]) -> Prices:
    units = {unit: float(price) for unit, price in entry.items() if isinstance(price, (int, float))}
    as_of, source, free = (str(entry.get(name, "")) for name in ("as_of", "source", "free"))
    return Prices(MappingProxyType(units), as_of, source, free)


ANY_RANGE: frozenset[TimeRange] = frozenset({"d", "w", "m", "y"})
"""A day, a week, a month, and a year: the time ranges of most services."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The features of a provider; missing ones are emulated or reported."""

    search: bool = False
    """Whether it searches."""
    read: bool = False
    """Whether it reads pages."""
    max_results: int = 20
    """Maximum results of one request."""
    time_ranges: frozenset[TimeRange] = frozenset()
    """The time ranges it supports."""
    dates: bool = False
    """Whether it can filter by a first and a last publication date."""
    domains: Literal["native", "operator", "none"] = "none"
    """How it filters by domain: by a parameter, by `site:` in the query, or not at all."""
    pages: bool = False
    """Whether it supports further pages of results."""
    language: bool = False
    """Whether it can prefer a language."""
    region: bool = False
    """Whether it can prefer a country."""
    safesearch: bool = False
    """Whether it supports SafeSearch."""
    undated: bool = True
    """Whether its filters by date keep pages that have no date."""
    guarded: bool = False
    """Whether it connects through the guarded transport, which checks every hop when connecting."""
    renders: bool = False
    """Whether it renders a page as a browser does, including scripts."""
    copies: bool = False
    """Whether it has copies of pages, and is asked only for a page that is gone."""
    revalidates: bool = False
    """Whether `read_url` takes `known`, a `Freshness`, and may report that the page is unchanged."""


@runtime_checkable
class SearchProvider(Protocol):
    """Takes a query and returns ranked results. The router adds retries, caching, filtering and fallback."""

    name: str
    """Its name in settings, attempts and results."""
    capabilities: Capabilities
    """Its features."""

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = ..., deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        """Search.

        Args:
            query: The text of the query.
            limit: Maximum results wanted; additional ones are dropped.
            filters: The filters that the service should apply as far as it can; the results are checked again
                afterwards.
            deadline: The deadline of the response.

        Returns:
            The results, best first; a `Results` to add metadata. An empty one means that the service searched and found
            nothing.

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
    """Its features."""

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page.

        Args:
            url: A URL that the guard has allowed.
            deadline: The deadline of the page.

        Returns:
            The page, or a result with `success` false and the reason.

        Raises:
            PageError: the page cannot be read. ProviderError: the service failed. DeadlineExceeded.
        """
        ...


def is_owned(provider: object) -> bool:
    """Whether a provider's answers depend on whose call it is: `owned_by` returns it for the calls of an owner."""
    return hasattr(provider, "owned_by")


def price_of(provider: SearchProvider) -> float:
    """Return the usual price of one search, in US dollars; a provider without a price is free."""
    price = getattr(provider, "price_usd", 0.0)
    if type(price) is float:
        return price
    return float(price) if isinstance(price, (int, float)) else 0.0


def scope(provider: SearchProvider) -> str:
    """Return the account of a provider: its rate limits and quotas apply to everyone who uses it."""
    account = getattr(provider, "account", "")
    return f"{provider.name}:{account}" if account else provider.name


class Options(BaseModel):
    """A provider's own settings, `[providers.NAME]` in a file. Subclass it in the provider's module."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    delay: float = Field(default=0.0, ge=0, le=3_600)
    """Seconds between two requests to the service, across all tasks and processes that share the store."""


_O = TypeVar("_O", bound=Options)


@dataclass(frozen=True, slots=True)
class ProviderContext:
    """The context that a provider is created from."""

    name: str
    """Its name: that of its entry point, or `NAME:LABEL` if there are several of one kind."""
    settings: Settings
    """All settings."""
    transports: HttpClients
    """The HTTP clients for providers, which do not close them."""
    raw_options: Mapping[str, Any] = field(default_factory=dict)
    """The provider's own options, not yet validated."""
    archive: Archive | None = None
    """The offline archive, unless it is disabled."""
    workers: Workers | None = None
    """The shared worker processes for heavy work, if any."""

    def options(self, model: type[_O]) -> _O:
        """Return the provider's own settings, validated.

        Raises:
            ConfigurationError: an option is unknown or has an invalid value.
        """
        try:
            return validated(model, self.raw_options)
        except ValidationError as error:
            lines = []
            for key, text in faults(error):
                if key in self.raw_options and key not in model.model_fields:
                    text = f"is not an option of {self.name}{did_you_mean(key, model.model_fields)}"
                origin = self.settings.origin(f"providers.{self.name}.{key}")
                lines.append(f"providers.{self.name}.{key} ({origin}): {text}")
            raise ConfigurationError("\n".join(lines)) from error

    def keys(self, *variables: str, needed: bool = True) -> tuple[SecretStr, ...]:
        """Return all keys stored under these variable names; one variable may hold several, separated by commas.

        Args:
            variables: The names that a key may be stored under, the usual one first.
            needed: Whether a key is required.

        Raises:
            MissingKey: there is none, and one is required.
        """
        keys: dict[str, SecretStr] = {}
        for variable in variables:
            value = self.settings.secret(variable)
            for part in value.get_secret_value().split(",") if value else ():
                if key := part.strip():
                    keys.setdefault(key, SecretStr(key))
        if needed and not keys:
            raise MissingKey(self.name, variables[0] if variables else "a key")
        return tuple(keys.values())

    def prices(self) -> Prices:
        """Return the prices of the service's calls; zero if it is not listed."""
        return load_prices().get(self.name.partition(":")[0], Prices())

    def key(self, variable: str) -> SecretStr | None:
        """Return the key stored under the name of an environment variable, or None."""
        return self.settings.secret(variable)


class ProviderClass(Protocol):
    """The target of an entry point in the group `groundwire.providers`."""

    capabilities: ClassVar[Capabilities]
    """Its features."""

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Create the provider.

        Raises:
            NotConfigured, MissingKey: it is not configured yet. ConfigurationError: an option is invalid.
        """
        ...
