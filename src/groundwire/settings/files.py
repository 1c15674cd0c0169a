"""The files that hold settings: where they are looked for, and what is in them."""

from __future__ import annotations

import io
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundwire.errors import ConfigurationError

__all__ = [
    "FILE_NAME",
    "FILE_VARIABLE",
    "KEYS_FILE_NAME",
    "is_open_to_others",
    "keys_file",
    "places",
    "read_dotenv",
    "read_toml",
    "user_file",
    "working_folder",
]

FILE_NAME = "groundwire.toml"
KEYS_FILE_NAME = "keys.env"
FILE_VARIABLE = "GROUNDWIRE_CONFIG"


def working_folder() -> Path:
    """Return the folder in which the process works.

    Raises:
        ConfigurationError: it was removed meanwhile.
    """
    try:
        return Path.cwd()
    except OSError as error:
        raise ConfigurationError("The working folder does not exist any more; change to another one.") from error


def places(
    named: str | None, folder: Path, user_folder: Path | None = None, problems: list[str] | None = None
) -> list[Path]:
    """Return the settings files that exist, weakest first: the user's, then the named one or the project's.

    Args:
        named: A file that is used instead of the project's, as GROUNDWIRE_CONFIG names it.
        folder: Where the project's file is looked for, and in every folder above.
        user_folder: The folder with the user's own file; by default the platform's.
        problems: Gets a line when the named file does not exist.
    """
    found = [own] if _exists(own := user_file(user_folder)) else []
    if named:
        path = _expanded(folder, named)
        if _exists(path):
            found.append(path)
        elif problems is not None:
            problems.append(f"{FILE_VARIABLE} names {named[:300]!r}, which is not a file that can be read.")
        return found
    above = next((path for parent in _upwards(folder) if _exists(path := parent / FILE_NAME)), None)
    return [*found, above] if above else found


def user_file(folder: Path | None = None) -> Path:
    """Return where the user's own settings are, or would be.

    Args:
        folder: The folder with the user's settings; by default the platform's.
    """
    if folder is None:
        import platformdirs

        folder = platformdirs.user_config_path("groundwire")
    return folder / FILE_NAME


def keys_file(folder: Path | None = None) -> Path:
    """Return where the user's keys are, or would be, on a machine without a keyring: NAME=value lines, as in `.env`.

    Args:
        folder: The folder with the user's settings; by default the platform's.
    """
    return user_file(folder).with_name(KEYS_FILE_NAME)


def is_open_to_others(path: Path) -> bool:
    """Tell whether others than the owner may read or write a file; False where there are no such rights."""
    try:
        return os.name == "posix" and bool(path.stat().st_mode & 0o077)
    except OSError:
        return False


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds. A byte order mark, as some editors write it, is no fault.

    Raises:
        ConfigurationError: it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except ValueError as error:
        raise ConfigurationError(f"{path}: is not TOML: {error}") from None
    except RecursionError as error:
        raise ConfigurationError(f"{path}: is nested too deeply") from error


def read_dotenv(path: Path, warnings: list[str]) -> Mapping[str, str]:
    """Return the variables of a `.env` file; values are taken literally, so that a key may hold any sign.

    Args:
        path: The file; it need not exist.
        warnings: Gets a line for each statement that cannot be understood.

    Raises:
        ConfigurationError: it cannot be read.
    """
    if not _exists(path):
        return {}
    from dotenv.parser import parse_stream

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    values = {}
    for binding in parse_stream(io.StringIO(text)):
        if binding.error:
            warnings.append(f"{path}, line {binding.original.line}: is not NAME=value; it is ignored.")
        elif binding.key and binding.value is not None:
            values[binding.key] = binding.value
    return values


def _expanded(folder: Path, named: str) -> Path:
    try:
        return folder / Path(named).expanduser()
    except RuntimeError:  # there is no home folder
        return folder / named


def _upwards(folder: Path) -> tuple[Path, ...]:
    try:
        whole = folder.resolve()
    except (OSError, RuntimeError):
        return (folder,)
    return (whole, *whole.parents)


def _exists(path: Path) -> bool:
    """Whether there is a file; a folder that may not be looked into holds none for us."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
