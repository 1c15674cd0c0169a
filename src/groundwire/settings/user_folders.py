"""The user's folders, also for a user without a home folder, as in a container with an arbitrary user ID."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Literal

from groundwire.errors import ConfigurationError

__all__ = ["expand_user", "no_home", "user_folder"]

_NO_HOME = (
    "there is no home folder: HOME is not set, and the user id is not in the password database. "
    "Set HOME to a folder that this user can write to."
)


def user_folder(kind: Literal["config", "cache"]) -> Path:
    """Return the user's folder for settings or for the cache, following the platform's conventions.

    A container may run under a user id that has no home folder; then it is a folder of that user below the temporary
    one, and `no_home` says so.

    Raises:
        ConfigurationError: there is no home folder, and the temporary one belongs to another user.
    """
    import platformdirs

    try:
        return (
            platformdirs.user_config_path("groundwire")
            if kind == "config"
            else platformdirs.user_cache_path("groundwire")
        )
    except RuntimeError:
        folder = _without_home()
        if folder.exists() and (folder.is_symlink() or folder.stat().st_uid != os.getuid()):
            raise ConfigurationError(f"{folder} belongs to another user, and {_NO_HOME}") from None
        return folder / kind


def no_home() -> str:
    """Return a message for a user whose folders are temporary; empty for others."""
    import platformdirs

    try:
        platformdirs.user_config_path("groundwire"), platformdirs.user_cache_path("groundwire")
    except RuntimeError:
        return f"Settings and cache are in {_without_home()}, because {_NO_HOME}"
    return ""


def _without_home() -> Path:
    try:
        return Path(tempfile.gettempdir()) / f"groundwire-{os.getuid()}"
    except OSError:
        raise ConfigurationError(f"There is no temporary folder that can be written, and {_NO_HOME}") from None


def expand_user(path: str | Path) -> Path:
    """Return a path with `~` replaced by the home folder.

    Raises:
        ConfigurationError: there is no home folder. RuntimeError: it is that of a user who does not exist.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        if not str(path).startswith(("~/", "~\\")):
            raise
        raise ConfigurationError(f"{str(path)!r} cannot be expanded: {_NO_HOME}") from None
