"""Carrying out what was chosen: the keys and the settings file together, or neither."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from pydantic import SecretStr

from groundwire.errors import ConfigurationError, GroundwireError
from groundwire.onboarding.keepers import Keeper
from groundwire.settings import Settings, load
from groundwire.settings.files import FILE_NAME, FILE_VARIABLE, user_file
from groundwire.settings.replacing import replace

__all__ = ["Plan", "commit", "would_load"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written."""

    path: Path
    """The settings file."""
    before: str
    """Its text, empty when there is none."""
    after: str
    """The text that it is to have."""
    keys: Mapping[str, SecretStr] = field(default_factory=lambda: MappingProxyType({}))
    """Keys by the names of their variables."""
    keeper: Keeper | None = None
    """Where the keys go; None when there are none to be kept."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change."""
        return self.before == self.after and not (self.keys and self.keeper)


def commit(plan: Plan, now: datetime) -> Path | None:
    """Keep the keys, then put the settings file in its place; return the copy of the old file, if there was one.

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
    plan: Plan,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    user_folder: Path | None = None,
) -> Settings:
    """Return the settings that would be in force after a plan.

    Args:
        plan: What is to be written.
        environment: The environment variables; by default those of the process.
        folder: The working folder; by default the current one.
        user_folder: The folder with the user's own settings; by default the platform's.

    Raises:
        ConfigurationError: they would be wrong, or contradict one another; the real file is named, not a copy.
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
