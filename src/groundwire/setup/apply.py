"""The catalog of installed providers, and setting one up: the keys are stored, then the settings file is written.

Putting settings into the text of a `groundwire.toml`; comments, order and everything else in it stay.
"""

from __future__ import annotations

import inspect
import os
import re
import tempfile
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import tomlkit
from pydantic import SecretStr
from tomlkit.exceptions import TOMLKitError

from groundwire.errors import ConfigurationError
from groundwire.providers.base import Capabilities, Prices, ProviderClass, load_prices
from groundwire.providers.registry import provider_classes
from groundwire.settings import Settings, load
from groundwire.settings.sources import FILE_NAME, FILE_VARIABLE, user_file
from groundwire.settings.user_folders import replace
from groundwire.setup.key_storage import Keeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A provider in the catalog."""

    name: str
    """Its name."""
    provider: ProviderClass = field(repr=False, compare=False)
    """Its class."""
    summary: str
    """Its description, as a sentence."""
    capabilities: Capabilities
    """Its features."""
    variables: tuple[str, ...] = ()
    """The environment variables of its key, the usual one first."""
    key_needed: bool = False
    """Whether it requires a key."""
    key_page: str = ""
    """The page where keys are created."""
    open_host: str = ""
    """The host that sees queries without a key; empty for a provider with a key, or of one's own."""
    terms: str = ""
    """The terms of use of such a service."""
    address_needed: bool = False
    """Whether its option `base_url` is required."""
    search_credits: int = 1
    """The credits of a typical search."""
    prices: Prices = field(default_factory=Prices)
    """Its price list."""

    @property
    def is_service(self) -> bool:
        """Whether it is an outside service, so that one call shows whether it works."""
        return (self.capabilities.search and self.name != "archive") or bool(self.variables)

    @property
    def call_usd(self) -> float:
        """The price of a call with a key, in US dollars; 0 if calls are not billed."""
        return self.prices.cost("request") or self.prices.cost("credit", self.search_credits)

    @property
    def price(self) -> str:
        """The price of 1,000 calls, as text for a table."""
        if self.call_usd:
            return f"${1_000 * self.call_usd:.2f}"
        if token := self.prices.cost("token"):
            return f"${1_000_000 * token:.2f}/Mtok"
        return "free"


def load_offers() -> Mapping[str, Offer]:
    """Return the catalog of all installed providers by name, without those that fail to import."""
    prices = load_prices()
    offers = {}
    for name, cls in provider_classes().items():
        options = getattr(cls, "Options", None)
        fields = options.model_fields if options is not None else {}
        variables = tuple(getattr(cls, "key_variables", ()))
        offers[name] = Offer(
            name=name,
            provider=cls,
            summary=(inspect.getdoc(cls) or "").partition("\n")[0].rstrip("."),
            capabilities=cls.capabilities,
            variables=variables,
            key_needed=bool(variables) and getattr(cls, "key_needed", True),
            key_page=getattr(cls, "key_page", ""),
            open_host=(urlsplit(getattr(cls, "service", "")).hostname or "") if getattr(cls, "keyless", False) else "",
            terms=getattr(cls, "terms", ""),
            address_needed="base_url" in fields and not getattr(cls, "service", ""),
            search_credits=getattr(cls, "search_credits", 1),
            prices=prices.get(name, Prices()),
        )
    return offers


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupField:
    """A value to enter."""

    name: str
    """Its name: that of the variable, in lower case."""
    variable: str
    """The environment variable for it."""
    provider: str
    """Its provider."""
    description: str
    """Its description, for people."""
    required: bool
    """Whether its provider was chosen and requires it."""
    secret: bool = True
    """Whether it is a secret."""


def setup_schema(offers: Iterable[Offer], chosen: Container[str] = ()) -> tuple[SetupField, ...]:
    """Return a field for every key; one that several providers take is named after the first of them.

    Args:
        offers: The providers.
        chosen: The names of those that are to be used.
    """
    takers: dict[str, list[Offer]] = {}
    for offer in offers:
        for variable in offer.variables[:1]:
            takers.setdefault(variable, []).append(offer)
    return tuple(
        SetupField(
            name=variable.lower(),
            variable=variable,
            provider=first.name,
            description=f"{first.name.capitalize()} API key" + (f", from {first.key_page}" if first.key_page else ""),
            required=any(offer.name in chosen and offer.key_needed for offer in (first, *others)),
        )
        for variable, (first, *others) in takers.items()
    )


@dataclass(frozen=True, slots=True)
class SetupPlan:
    """The changes to write."""

    path: Path
    """The settings file."""
    before: str
    """Its current text, empty if it does not exist."""
    after: str
    """Its new text."""
    keys: Mapping[str, SecretStr] = field(default_factory=lambda: MappingProxyType({}))
    """Keys by the names of their variables."""
    keeper: Keeper | None = None
    """The key storage; None if there are no keys to store."""

    @property
    def is_empty(self) -> bool:
        """Whether there are no changes."""
        return self.before == self.after and not (self.keys and self.keeper)


def commit(plan: SetupPlan, now: datetime) -> Path | None:
    """Store the keys, then replace the settings file; return the backup of the old file, if any.

    The settings file stays as it is if a key cannot be stored.

    Args:
        plan: What is to be written.
        now: The moment, for the copy's name.

    Raises:
        ConfigurationError: something cannot be written.
    """
    if plan.keeper is not None:
        for variable, key in plan.keys.items():
            plan.keeper.keep(variable, key.get_secret_value())
    return replace(plan.path, plan.after, now) if plan.before != plan.after else None


def would_load(plan: SetupPlan) -> Settings:
    """Return the settings that would be in effect after a plan.

    Raises:
        ConfigurationError: they would be invalid; the message names the real file, not a copy.
    """
    with tempfile.TemporaryDirectory(prefix="groundwire-setup-") as name:
        copy = Path(name) / FILE_NAME
        copy.write_text(plan.after, "utf-8")
        try:
            if plan.path.resolve() == user_file().resolve():
                return load(user_folder=copy.parent)
            return load(environment={**os.environ, FILE_VARIABLE: str(copy)})
        except ConfigurationError as error:
            raise ConfigurationError(str(error).replace(str(copy), str(plan.path))) from None


def with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return a settings file with some settings changed; values that are already set stay untouched.

    Args:
        text: The file; empty for none.
        values: Values by dotted key, such as `search.providers` or `providers.searxng:backup.base_url`; lists as tuples
            or lists. None removes a setting.

    Raises:
        ConfigurationError: the text is not TOML, or a key that should be a section has another type.
    """
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigurationError(
            f"The settings file is not TOML: {error}. Fix it first; nothing was changed."
        ) from None
    changed = False
    for dotted, value in values.items():
        section, _, option = dotted.rpartition(".")
        new = list(value) if isinstance(value, (tuple, list)) else value
        table = _table(document, section)
        if table.get(option) == new:
            continue
        if new is None:
            del table[option]
        else:
            table[option] = new
        changed = True
    if not changed:
        return text
    written = tomlkit.dumps(document)
    return re.sub("\r?\n", "\r\n", written) if "\r\n" in text else written


def _table(document: Any, section: str) -> Any:
    """Return a table, created if missing; `providers.NAME` needs quotes if the name contains dots."""
    table = document
    *above, last = section.split(".", 1) if section.startswith("providers.") else section.split(".")
    for name in (*above, last):
        if name not in table:
            if table is document and document.as_string().strip() and not document.as_string().endswith("\n\n"):
                document.add(tomlkit.nl())
            table[name] = tomlkit.table(is_super_table=name in above or None)
        table = table[name]
        if not isinstance(table, Mapping):
            raise ConfigurationError(
                f"In the settings file, {name} is not a section. Fix it first; nothing was changed."
            )
    return table
