"""Settings from arguments, the environment, `.env` and `groundwire.toml`, each value with its origin.

The order, strongest first: arguments, environment variables, the `.env` file of the working folder, the
project's `groundwire.toml` (the nearest one upwards from the working folder), the user's `groundwire.toml` in the
user's configuration folder, the defaults.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from groundwire.errors import ConfigurationError
from groundwire.settings.schema import KEY_VARIABLES, Settings
from groundwire.settings.suggest import did_you_mean, faults

__all__ = ["FILE_NAME", "PREFIX", "load", "variable"]

FILE_NAME = "groundwire.toml"
PREFIX = "GROUNDWIRE_"

_FILE_VARIABLE = "GROUNDWIRE_CONFIG"
_DOCUMENT_VARIABLES = MappingProxyType(
    {
        "WEB_SEARCH_SESSION_LIMIT": "session.limit",
        "WEB_SEARCH_WARNING_THRESHOLD": "session.warning_threshold",
    }
)

_Flat = dict[str, tuple[Any, str]]  # dotted key -> value and origin


def load(
    arguments: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    user_folder: Path | None = None,
) -> Settings:
    """Return the settings in force.

    Args:
        arguments: Values by dotted key, such as `{"search.limit": 3}`; they win over everything else.
        environment: The environment variables; by default those of the process.
        folder: The working folder, where the project's file and `.env` are looked for; by default the current one.
        user_folder: The folder with the user's own `groundwire.toml`; by default the platform's.

    Raises:
        ConfigurationError: a key or value is wrong; all faults are named together, a line each, with the nearest
            right key.
    """
    environment = os.environ if environment is None else environment
    folder = Path.cwd() if folder is None else folder
    dotenv = _dotenv(folder / ".env")
    merged: _Flat = {}
    problems: list[str] = []
    warnings: list[str] = []
    for path in _files(environment, folder, user_folder):
        _merge(merged, _from_file(path, problems))
    _merge(merged, _from_variables(dotenv, ".env", problems, warnings))
    _merge(merged, _from_variables(environment, "environment", problems, warnings))
    _merge(merged, {key: (value, "argument") for key, value in (arguments or {}).items()})
    keys = {
        name: (source[name], f"{origin} {name}")
        for source, origin in ((dotenv, ".env"), (environment, "environment"))
        for name in KEY_VARIABLES
        if source.get(name, "").strip()
    }
    _refuse_unknown(merged, problems)
    settings = _build(merged, keys, problems)
    object.__setattr__(settings, "_warnings", tuple(warnings))
    return settings


def variable(key: str) -> str:
    """Return the environment variable of a dotted key: `search.limit` is GROUNDWIRE_SEARCH_LIMIT."""
    return PREFIX + key.replace(".", "_").replace(":", "_").upper()


def _merge(into: _Flat, layer: _Flat) -> None:
    into.update(layer)


def _files(environment: Mapping[str, str], folder: Path, user_folder: Path | None) -> Iterator[Path]:
    """Yield the files that exist, weakest first."""
    if user_folder is None:
        import platformdirs

        user_folder = platformdirs.user_config_path("groundwire")
    if (user_file := user_folder / FILE_NAME).is_file():
        yield user_file
    if named := environment.get(_FILE_VARIABLE):
        path = Path(named)
        if not path.is_file():
            raise ConfigurationError(f"{_FILE_VARIABLE} names {named}, which is not a file.")
        yield path
        return
    for parent in (folder, *folder.resolve().parents):
        if (path := parent / FILE_NAME).is_file():
            yield path
            return


def _dotenv(path: Path) -> Mapping[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        return {name: value for name, value in dotenv_values(path).items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}.") from error


def _from_file(path: Path, problems: list[str]) -> _Flat:
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(f"{path}: cannot be read: {error}")
        return {}
    flat: _Flat = {}
    for section, values in data.items():
        if section == "keys":
            problems.append(f"{path}: keys do not belong into a file; put them into the environment or .env")
        elif section == "providers" and isinstance(values, dict):
            for name, options in values.items():
                _flatten(f"providers.{name}", options, str(path), flat, problems)
        else:
            _flatten(section, values, str(path), flat, problems)
    return flat


def _flatten(prefix: str, values: object, origin: str, flat: _Flat, problems: list[str]) -> None:
    if not isinstance(values, dict):
        problems.append(
            f"{origin}: {prefix!r} must be a section [{prefix}]{did_you_mean(prefix, _sections())}"
            if prefix not in _sections()
            else f"{origin}: {prefix!r} must be a section, written as [{prefix}] on a line of its own"
        )
        return
    flat.update({f"{prefix}.{key}": (value, origin) for key, value in values.items()})


def _from_variables(source: Mapping[str, str], origin: str, problems: list[str], warnings: list[str]) -> _Flat:
    known = {variable(key): key for key in _known_keys()}
    flat: _Flat = {}
    for name, value in sorted(source.items()):
        if name in _DOCUMENT_VARIABLES:
            if value.strip().isascii() and value.strip().isdigit():
                flat.setdefault(_DOCUMENT_VARIABLES[name], (int(value), f"{origin} {name}"))
            else:
                warnings.append(f"{name} must be a whole number of 0 or more; it is ignored.")
        elif name.startswith(PREFIX) and name != _FILE_VARIABLE:
            key = known.get(name) or _provider_key(name)
            if key:
                flat[key] = (value, f"{origin} {name}")
            else:
                problems.append(f"{origin}: {name} is not a setting{did_you_mean(name, known)}")
    return flat


def _provider_key(name: str) -> str | None:
    """Return `providers.NAME.OPTION` for GROUNDWIRE_PROVIDERS_NAME_OPTION of a provider that is installed."""
    rest = name.removeprefix(PREFIX + "PROVIDERS_")
    if rest == name:
        return None
    names = sorted((entry.name for entry in entry_points(group="groundwire.providers")), key=len, reverse=True)
    for provider in names:
        if rest.startswith(provider.upper() + "_"):
            return f"providers.{provider}.{rest[len(provider) + 1 :].lower()}"
    return None


def _sections() -> list[str]:
    return [name for name in Settings.model_fields if name != "keys"]


def _known_keys() -> Iterator[str]:
    for section, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{section}.{key}" for key in field.annotation.model_fields)


def _refuse_unknown(merged: _Flat, problems: list[str]) -> None:
    known = list(_known_keys())
    for key in [key for key in merged if not key.startswith("providers.") and key not in known]:
        origin = merged.pop(key)[1]
        problems.append(f"{origin}: {key!r} is not a setting{did_you_mean(key, known)}")


def _build(merged: _Flat, keys: Mapping[str, tuple[str, str]], problems: list[str]) -> Settings:
    nested: dict[str, dict[str, Any]] = {"providers": {}}
    for key, (value, _) in merged.items():
        section, _, rest = key.partition(".")
        if section == "providers":
            provider, _, option = rest.rpartition(".")
            nested["providers"].setdefault(provider, {})[option] = value
        else:
            nested.setdefault(section, {})[rest] = value
    secrets = {name: SecretStr(value.strip()) for name, (value, _) in keys.items()}
    try:
        settings = Settings.model_validate({**nested, "keys": secrets})
    except ValidationError as error:
        for key, text in faults(error):
            problems.append(f"{_origin(merged, key)}: {key}: {text}")
    _raise(problems)
    origins = {key: origin for key, (_, origin) in merged.items()}
    origins |= {f"keys.{name}": origin for name, (_, origin) in keys.items()}
    object.__setattr__(settings, "_origins", MappingProxyType(origins))
    return settings


def _origin(merged: _Flat, key: str) -> str:
    return next((origin for known, (_, origin) in merged.items() if key.startswith(known)), "settings")


def _raise(problems: Iterable[str]) -> None:
    lines = list(problems)
    if len(lines) == 1:
        raise ConfigurationError(lines[0])
    if lines:
        raise ConfigurationError("The settings are wrong:\n" + "\n".join(f"  {line}" for line in lines))
