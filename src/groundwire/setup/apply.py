"""Applies a setup plan: writes the keys and the settings file together, or neither.

Putting settings into the text of a `groundwire.toml`; comments, order and everything else in it stay.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tomlkit
from pydantic import SecretStr
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable

from groundwire.errors import ConfigurationError, GroundwireError
from groundwire.settings import Settings, load
from groundwire.settings.atomic_write import replace
from groundwire.settings.sources import FILE_NAME, FILE_VARIABLE, user_file
from groundwire.setup.key_storage import Keeper

__all__ = ["SetupPlan", "commit", "with_values", "would_load"]


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

    When anything fails or the user breaks it off, the keys are as they were before.

    Args:
        plan: What is to be written.
        now: The moment, for the copy's name.

    Raises:
        ConfigurationError: something cannot be written.
    """
    keeper = plan.keeper
    done: list[tuple[str, str | None]] = []
    try:
        if keeper is not None:
            for variable, key in plan.keys.items():
                done.append((variable, keeper.get(variable)))
                keeper.keep(variable, key.get_secret_value())
        return replace(plan.path, plan.after, now) if plan.before != plan.after else None
    except BaseException:
        for variable, old in reversed(done):
            with suppress(GroundwireError):
                _put_back(keeper, variable, old)
        raise


def would_load(
    plan: SetupPlan,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    user_folder: Path | None = None,
) -> Settings:
    """Return the settings that would be in effect after a plan.

    Args:
        plan: What is to be written.
        environment: The environment variables; by default those of the process.
        folder: The working folder; by default the current one.
        user_folder: The folder with the user's own settings; by default the platform's.

    Raises:
        ConfigurationError: they would be invalid or contradictory; the message names the real file, not a copy.
    """
    environment = os.environ if environment is None else environment
    with tempfile.TemporaryDirectory(prefix="groundwire-setup-") as name:
        copy = Path(name) / FILE_NAME
        copy.write_text(plan.after, "utf-8")
        try:
            if plan.path.resolve() == user_file(user_folder).resolve():
                return load(environment=environment, folder=folder, user_folder=copy.parent)
            variables = {**environment, FILE_VARIABLE: str(copy)}
            return load(environment=variables, folder=folder, user_folder=user_folder)
        except ConfigurationError as error:
            raise ConfigurationError(str(error).replace(str(copy), str(plan.path))) from None


def _put_back(keeper: Keeper | None, variable: str, old: str | None) -> None:
    if keeper is not None and old is None:
        keeper.forget(variable)
    elif keeper is not None and old is not None:
        keeper.keep(variable, old)


def with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return a settings file with some settings changed; values that are already set stay untouched.

    Args:
        text: The file; empty for none.
        values: Values by dotted key, such as `search.providers` or `providers.searxng:backup.base_url`; lists as tuples
            or lists.

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
        wanted = list(value) if isinstance(value, (tuple, list)) else value
        table = _table(document, section)
        if option in table and table[option] == wanted:
            continue
        table[option] = wanted
        changed = True
    if not changed:
        return text
    written = tomlkit.dumps(document)
    return re.sub("\r?\n", "\r\n", written) if "\r\n" in text else written


def _table(document: Any, section: str) -> Any:
    """Return a table, created if missing; `providers.NAME` needs quotes if the name contains dots."""
    table = document
    for name in section.split(".", 1) if section.startswith("providers.") else section.split("."):
        if name not in table:
            if table is document and document.as_string().strip() and not document.as_string().endswith("\n\n"):
                document.add(tomlkit.nl())
            table[name] = tomlkit.table(is_super_table=True) if name == "providers" else tomlkit.table()
        table = table[name]
        if not isinstance(table, AbstractTable) and not hasattr(table, "unwrap_items") and not _is_table(table):
            raise ConfigurationError(
                f"In the settings file, {name} is not a section. Fix it first; nothing was changed."
            )
    return table


def _is_table(value: Any) -> bool:
    """Return whether a value can be used as a table; one split across the file is a proxy."""
    return isinstance(value, Mapping)
