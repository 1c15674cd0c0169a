"""The machine as the checks see it, so that each can be shown another one."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from groundwire.onboarding.keyrings import KeyringState, keyring_state
from groundwire.safety.guard import Resolver
from groundwire.settings.files import working_folder

__all__ = ["Machine"]


def _has_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _free_bytes(folder: Path) -> int:
    usage = shutil.disk_usage(folder)
    return usage.free if usage.total else sys.maxsize  # no room is said of what is no disk, such as /proc


def _python() -> tuple[int, ...]:
    return tuple(sys.version_info[:3])


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the checks ask of the machine. `Machine.here()` is this one."""

    folder: Path
    """The working folder."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """The environment variables."""
    user_folder: Path | None = None
    """The folder with the user's settings; None for the platform's."""
    python: tuple[int, ...] = field(default_factory=_python)
    """The version of Python."""
    has_module: Callable[[str], bool] = _has_module
    """Tells whether a module is installed."""
    free_bytes: Callable[[Path], int] = _free_bytes
    """Returns the room that is left where a folder is."""
    keyring: Callable[[], KeyringState] = keyring_state
    """Looks whether there is a keyring; may wait for somebody who unlocks it."""
    now: Callable[[], float] = time.time
    """The time in seconds since the epoch."""
    resolver: Resolver | None = None
    """Resolves host names, instead of the system."""

    @classmethod
    def here(cls) -> Machine:
        """Return this machine.

        Raises:
            ConfigurationError: its working folder was removed.
        """
        return cls(folder=working_folder())
