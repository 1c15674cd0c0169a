"""When models end, loaded from `data/models.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from types import MappingProxyType

_VERSION = re.compile(r"-20\d\d-?\d\d-?\d\d$|-latest$|-v\d+(?::\d+)?$")  # a snapshot or version of a model


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLifecycle:
    """The life of one model at its maker's own API."""

    name: str
    """Its name, without a date."""
    provider: str
    """Its provider, as in the matrix."""
    source: str
    """The source and its date."""
    ends: date | None = None
    """The announced day of its shutdown; None if none is announced."""
    not_before: date | None = None
    """The earliest day of an end that is not announced, if the maker names one."""
    successor: str = ""
    """The model that the maker names instead, if any."""

    def has_ended(self, day: date) -> bool:
        """Return whether the model is past its end on a day."""
        return self.ends is not None and self.ends <= day

    def ending(self) -> str:
        """Return when the model ended and what its maker names instead, as a clause; for models with an end."""
        instead = f", and names {self.successor} instead" if self.successor else ""
        return f"the maker of {self.name} ended it on {self.ends}{instead}"


@dataclass(frozen=True, slots=True)
class ModelLifecycles:
    """The lives of the models that are known."""

    checked: date
    """The day of the last comparison with the sources."""
    models: Mapping[str, ModelLifecycle]
    """By name."""

    def find(self, model: str, provider: str = "") -> ModelLifecycle | None:
        """Return the life of a model, or None if it is not known.

        Args:
            model: Its name, that of a snapshot, or as another service has it (`openai/gpt-6-luna`).
            provider: The provider whose API is called, which must be the model's own: others serve a model longer, or
                another one under its name. By default any, as for a server that may be anybody's.
        """
        full_name = model.lower()
        base_name = _VERSION.sub("", full_name.rpartition("/")[2])
        for name in (full_name, base_name, base_name.replace(".", "-"), base_name.rpartition(".")[2]):
            row = self.models.get(name)
            if row is not None and provider in ("", row.provider):
                return row
        return None


@cache
def load_lifecycles() -> ModelLifecycles:
    """Load the shipped file."""
    data = tomllib.loads(files("groundwire.hosted").joinpath("data", "models.toml").read_text(encoding="utf-8"))
    checked = data.pop("checked")
    rows = [
        ModelLifecycle(**{"source": table["source"], **row, "provider": provider})
        for provider, table in data.items()
        for row in table["models"]
    ]
    return ModelLifecycles(checked, MappingProxyType({row.name: row for row in rows}))
