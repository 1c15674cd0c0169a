"""Settings files: their locations and their content.

Environment variables: which setting each one names.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from groundwire.errors import ConfigurationError
from groundwire.models.validators import did_you_mean
from groundwire.settings.provider_options import option_names, own_provider_names, provider_names
from groundwire.settings.schema import KEY_VARIABLES, known_keys, sections
from groundwire.settings.user_folders import expand_user, user_folder

FILE_NAME = "groundwire.toml"
KEYS_FILE_NAME = "keys.env"
FILE_VARIABLE = "GROUNDWIRE_CONFIG"
DEMO_LINE = "# Written by `groundwire demo --serve`, and removed when it ends; its process is "
"""The start of the first line of the settings written by the demo; the process ID follows."""


def working_folder() -> Path:
    """Return the working directory.

    Raises:
        ConfigurationError: it was removed.
    """
    try:
        return Path.cwd()
    except OSError as error:
        raise ConfigurationError("The working folder no longer exists; change to another one.") from error


def places(
    named: str | None, folder: Path, user_folder: Path | None = None, problems: list[str] | None = None
) -> list[Path]:
    """Return the existing settings files in increasing precedence: the user's, then the named one or the project's.

    Args:
        named: A file that is used instead of the project's, as GROUNDWIRE_CONFIG names it.
        folder: Where the project's file is looked for, and in every folder above.
        user_folder: The folder with the user's own file; by default the platform's.
        problems: Gets a line when the named file does not exist.
    """
    files = [own] if _exists(own := user_file(user_folder)) else []
    if named:
        try:
            path = folder / expand_user(named)
        except RuntimeError:  # the home of a user there is not
            path = folder / named
        if _exists(path):
            files.append(path)
        elif problems is not None:
            problems.append(f"{FILE_VARIABLE} names {named[:300]!r}, which is not a file that can be read.")
        return files
    above = next((path for parent in (folder, *folder.parents) if _exists(path := parent / FILE_NAME)), None)
    return [*files, above] if above else files


def is_left_by_demo(path: Path) -> bool:
    """Return whether a settings file was left by a `groundwire demo --serve` that was killed."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            line = file.readline(200)
        if not line.startswith(DEMO_LINE) or os.name != "posix":  # elsewhere signal 0 would end the process
            return False
        os.kill(int(line.removeprefix(DEMO_LINE)), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return True
    except OSError:
        return False
    return False


def user_file(folder: Path | None = None) -> Path:
    """Return the path of the user's settings file.

    Args:
        folder: The folder with the user's settings; by default the platform's.
    """
    return (folder or user_folder("config")) / FILE_NAME


def keys_file(folder: Path | None = None) -> Path:
    """Return the path of the user's keys file, for machines without a keyring: NAME=value lines, as in `.env`.

    Args:
        folder: The folder with the user's settings; by default the platform's.
    """
    return user_file(folder).with_name(KEYS_FILE_NAME)


def is_open_to_others(path: Path) -> bool:
    """Return whether others than the owner may read or write a file; False without POSIX permissions."""
    try:
        return os.name == "posix" and bool(path.stat().st_mode & 0o077)
    except OSError:
        return False


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: is not UTF-8 (byte {error.start}); save it as UTF-8") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a TOML file. A byte order mark, as some editors write it, is accepted.

    Raises:
        ConfigurationError: it cannot be read, or is not TOML.
    """
    import tomllib  # settings without a file do not wait for it

    text = _text(path)
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{path}: is not TOML: {error}") from None
    except RecursionError as error:
        raise ConfigurationError(f"{path}: is nested too deeply") from error


def read_dotenv(path: Path, warnings: list[str]) -> Mapping[str, str]:
    """Parse a `.env` file; values are literal, so that a key may contain any character.

    Args:
        path: The file; it need not exist.
        warnings: Gets a line for each statement that cannot be understood.

    Raises:
        ConfigurationError: it cannot be read.
    """
    if not _exists(path):
        return {}
    from dotenv.parser import parse_stream

    values = {}
    for binding in parse_stream(io.StringIO(_text(path))):
        if binding.error:
            warnings.append(f"{path}, line {binding.original.line}: is not NAME=value; it is ignored.")
        elif binding.key and binding.value is not None:
            values[binding.key] = binding.value
    return values


def _exists(path: Path) -> bool:
    """Whether a file exists; a folder without access counts as empty."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


PREFIX = "GROUNDWIRE_"

Flat = dict[str, tuple[Any, str]]
"""Values by dotted key, each with its origin."""

_NOT_SETTINGS = frozenset(  # those of a run, of a server, or of a server's clients
    {
        FILE_VARIABLE,
        "GROUNDWIRE_LOG",
        "GROUNDWIRE_RECORD",
        "GROUNDWIRE_REPLAY",
        "GROUNDWIRE_URL",
        "GROUNDWIRE_KEY",
    }
)
_PROVIDERS = PREFIX + "PROVIDERS_"
_MOST_DIGITS = 9
_DOCUMENT_VARIABLES = MappingProxyType(
    {
        "WEB_SEARCH_SESSION_LIMIT": "session.max_searches",
        "WEB_SEARCH_WARNING_THRESHOLD": "session.warning_threshold",
    }
)


def variable(key: str) -> str:
    """Return the environment variable of a dotted key: `search.limit` becomes GROUNDWIRE_SEARCH_LIMIT."""
    return PREFIX + re.sub(r"[^A-Za-z0-9]", "_", key).upper()


@cache
def _variables() -> Mapping[str, str]:
    """Return the dotted keys of all settings but those of the providers, by their variables."""
    return MappingProxyType({variable(key): key for key in known_keys()})


_OTHER_VARIABLES = MappingProxyType({"SEARXNG_API_BASE": "providers.searxng.base_url"})
"""Variables of other programs (LiteLLM) that name a server of the user."""


def from_other_variables(source: Mapping[str, str], origin: str) -> Flat:
    """Return the settings in variables of other programs; every other source of a setting takes precedence."""
    stripped = {name: source.get(name, "").strip() for name in _OTHER_VARIABLES}
    return {_OTHER_VARIABLES[name]: (value, f"{origin} {name}") for name, value in stripped.items() if value}


def from_variables(source: Mapping[str, str], origin: str, warnings: list[str]) -> Flat:
    """Return the settings in variables. An empty one counts as unset.

    An unknown one is not an error: an environment is shared with other programs and other versions, and Kubernetes
    puts `GROUNDWIRE_PORT` into every container beside a service of that name.

    Args:
        source: The variables.
        origin: Where they are from, such as `environment`.
        warnings: Gets a line for each unknown variable, and for each of the documents' variables that is wrong.
    """
    keys = _variables()
    flat: Flat = {}
    for name, value in sorted(source.items()):
        if not value.strip() or name in _NOT_SETTINGS or name.startswith(_PROVIDERS):
            continue
        if name in _DOCUMENT_VARIABLES:
            number = value.strip()
            if number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS:
                flat.setdefault(_DOCUMENT_VARIABLES[name], (int(number), f"{origin} {name}"))
            else:
                key = _DOCUMENT_VARIABLES[name]
                warnings.append(f"{origin} {name} must be a whole number of 0 or more; it is ignored ({key} stays).")
        elif name in keys:
            flat[keys[name]] = (value, f"{origin} {name}")
        elif name.startswith(PREFIX):
            warnings.append(f"{origin}: {name} is not a setting and is ignored{_near(name, keys)}")
    return flat | _from_provider_variables(source, origin, warnings)


def _from_provider_variables(source: Mapping[str, str], origin: str, warnings: list[str]) -> Flat:
    """Return the settings in GROUNDWIRE_PROVIDERS_NAME_OPTION; those of a second instance are in a file."""
    flat: Flat = {}
    for name, value in sorted(source.items()):
        if not name.startswith(_PROVIDERS) or not value.strip():
            continue
        provider, option = _provider_option(name)
        accepted = option_names(provider) if provider else ()
        if not provider:
            options = [f"{provider}.{option}" for provider in provider_names() for option in option_names(provider)]
            near = did_you_mean(name, [variable(f"providers.{option}") for option in options])
            warnings.append(f"{origin}: {name} is not an option of an installed provider and is ignored{near}")
        elif accepted and option not in accepted:  # a provider without a model of its options checks them itself
            near = near_option(option, accepted)
            warnings.append(f"{origin}: {name} is not an option of {provider} and is ignored{near}")
        else:
            flat[f"providers.{provider}.{option}"] = (value, f"{origin} {name}")
    return flat


def _provider_option(name: str) -> tuple[str, str]:
    """Return the provider and the option that a variable names; those of other packages are looked for last."""
    for names in (own_provider_names, provider_names):
        starts = {f"{variable(f'providers.{provider}')}_": provider for provider in names()}
        if start := max((start for start in starts if name.startswith(start)), key=len, default=""):
            return starts[start], name.removeprefix(start).lower()
    return "", ""


def near_option(key: str, options: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown option of a provider: what may be meant."""
    if key.endswith("key"):
        return "; API keys do not belong in settings: run groundwire setup, or set an environment variable"
    return did_you_mean(key, options)


def _near(name: str, variables: Iterable[str]) -> str:
    """Return the most similar valid variable, or those of the same section."""
    for section in sections():
        start = f"{PREFIX}{section.upper()}_"
        if name.startswith(start):
            return did_you_mean(name, [other for other in variables if other.startswith(start)], prefix=start)
    word = name.removeprefix(PREFIX)
    if word in KEY_VARIABLES:
        return f"; did you mean {word!r}?"
    if word.startswith(("LOG", "DEBUG", "VERBOSE")):
        return "; did you mean 'GROUNDWIRE_LOG'?"
    for other in variables:  # in the order of the settings: those of a search come first
        if other.endswith((f"_{word}", f"_{word}S")):
            return f"; did you mean {other!r}?"
    return did_you_mean(name, [*variables, *KEY_VARIABLES, *sorted(_NOT_SETTINGS)], prefix=PREFIX)
