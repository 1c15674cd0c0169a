"""Settings from arguments, the environment, `.env` and `groundwire.toml`, each value with its origin.

In order of precedence: arguments, environment variables, the `.env` file of the working directory, the project's
`groundwire.toml` (the nearest one upward from the working directory, or the one named by GROUNDWIRE_CONFIG), the user's
`groundwire.toml` in the user's configuration folder, the defaults. Only keys may also be in `keys.env` beside the
user's file, where `groundwire setup` stores them on a machine without a keyring; `.env` and the environment take
precedence over it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from groundwire.errors import ConfigurationError
from groundwire.models.validators import did_you_mean, faults
from groundwire.settings.provider_options import option_model, provider_entry, provider_names
from groundwire.settings.schema import (
    KEY_VARIABLES,
    Settings,
    is_section,
    known_keys,
    parse_store_url,
    sections,
)
from groundwire.settings.sections import validated
from groundwire.settings.sources import (
    FILE_NAME,
    FILE_VARIABLE,
    PREFIX,
    Flat,
    from_other_variables,
    from_variables,
    is_left_by_demo,
    is_open_to_others,
    keys_file,
    near_option,
    places,
    read_dotenv,
    read_toml,
    user_file,
    variable,
    working_folder,
)
from groundwire.settings.user_folders import no_home

__all__ = ["FILE_NAME", "PREFIX", "as_settings", "by_key", "load", "variable"]

_logger = logging.getLogger(__name__)

_KEYS = "keys."


def as_settings(settings: Settings | Mapping[str, Any] | None) -> Settings:
    """Return the settings of a client.

    Args:
        settings: The settings, or values by dotted key or by section; by default the current settings.

    Raises:
        ConfigurationError: a value is invalid. TypeError: they are neither settings nor values.
    """
    if isinstance(settings, Settings):
        return settings
    if not isinstance(settings, (Mapping, type(None))):
        raise TypeError(
            f"Web() takes Settings or a mapping such as {{'search.limit': 3}}, not {type(settings).__name__}"
        )
    loaded = load(dict(by_key(settings or {})) or None)
    for text in loaded.warnings:
        _logger.warning("%s", text)
    return loaded


def by_key(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield values by dotted key; those of a section may be together in a mapping."""
    for name, value in values.items():
        if name == "providers":
            yield from ((f"providers.{kind}.{key}", own) for kind, its in value.items() for key, own in its.items())
        elif isinstance(value, Mapping) and name in sections():
            yield from _flatten(name, value)
        else:
            yield name, value


def load(
    arguments: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    user_folder: Path | None = None,
) -> Settings:
    """Return the current settings.

    Args:
        arguments: Values by dotted key, such as `{"search.limit": 3}` or `{"keys.BRAVE_API_KEY": key}`; they take
            precedence over everything else.
        environment: The environment variables; by default those of the process. An empty one counts as not set.
        folder: The working folder, where the project's file and `.env` are looked for; by default the current one.
        user_folder: The folder with the user's own `groundwire.toml`; by default the platform's.

    Raises:
        ConfigurationError: a key or value is invalid; the message lists every problem on its own line, with the
            nearest valid key.
    """
    environment = os.environ if environment is None else environment
    folder = working_folder() if folder is None else folder
    problems: list[str] = []
    warnings = [home_warning] if user_folder is None and (home_warning := no_home()) else []
    dotenv = _dotenv(folder / ".env", problems, warnings)
    keys_path = keys_file(user_folder)
    stored_keys = _stored_keys(keys_path, problems, warnings)
    named = environment.get(FILE_VARIABLE) or dotenv.get(FILE_VARIABLE)
    files = []
    for path in places(named, folder, user_folder, problems):
        if is_left_by_demo(path):
            warnings.append(f"{path} was left behind by a demo that was killed; it is ignored. Delete it.")
        else:
            files.append(layer := _from_file(path, problems))
            if path != user_file(user_folder) and not environment.get(FILE_VARIABLE):
                _confine(layer, path.parent, problems)
    own_values: Flat = {
        key: (value, "argument") for key, value in (arguments or {}).items() if not key.startswith(_KEYS)
    }
    of_dotenv, of_environment = (
        from_variables(dotenv, ".env", warnings),
        from_variables(environment, "environment", warnings),
    )
    _confine(of_dotenv, folder, problems)
    others = (from_other_variables(dotenv, ".env"), from_other_variables(environment, "environment"))
    merged: Flat = {}
    for layer in (*others, *files, of_dotenv, of_environment, own_values):
        merged |= layer
    _refuse_unknown(merged, problems)
    keys = {
        name: (source[name], f"{origin} {name}")
        for source, origin in ((stored_keys, str(keys_path)), (dotenv, ".env"), (environment, "environment"))
        for name in KEY_VARIABLES
        if source.get(name, "").strip()
    }
    keys |= {
        key.removeprefix(_KEYS): (value.get_secret_value() if isinstance(value, SecretStr) else str(value), "argument")
        for key, value in (arguments or {}).items()
        if key.startswith(_KEYS)
    }
    settings = _build(merged, keys, problems)
    own = settings.search.local.brave_api_key_env
    ambient = {
        name: value.strip()
        for source in (stored_keys, dotenv, environment)
        for name, value in source.items()
        if value.strip() and (name == own or name.endswith(("_KEY", "_TOKEN")))  # of another package's provider
    }
    secrets = {name: SecretStr(value) for name, value in ambient.items()}
    object.__setattr__(settings, "_ambient", secrets)
    object.__setattr__(settings, "_proxies", _proxies(environment, warnings))
    object.__setattr__(settings, "_warnings", tuple(warnings))
    return settings


def _confine(layer: Flat, folder: Path, problems: list[str]) -> None:
    """Let what comes with a project, such as one that was only cloned, open no files but its own to models."""
    value, origin = layer.get("policy.files", ((), ""))
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else ()
    own = os.path.realpath(folder)
    for word in words:
        with suppress(RuntimeError, ValueError):  # refused later
            if not Path(os.path.realpath(Path(str(word).strip()).expanduser())).is_relative_to(own):
                fix = "allow others in your own file (groundwire config path) or in the environment"
                problems.append(f"{origin}: policy.files: a project may name only folders below its own; {fix}")


def _proxies(environment: Mapping[str, str], warnings: list[str]) -> Mapping[str, str]:
    """Return the environment's proxies by scheme, and the excluded hosts under `no`; lower case takes precedence."""
    proxies: dict[str, str] = {}
    for name in sorted(environment):  # upper case sorts first
        scheme, _, suffix = name.lower().partition("_")
        value = environment[name].strip()
        if suffix != "proxy" or scheme not in {"https", "http", "all", "no"}:
            continue
        if (
            name == "HTTP_PROXY" and "REQUEST_METHOD" in environment
        ):  # a CGI script: a client's header (CVE-2016-1000110)
            continue
        if scheme != "no" and value and "://" not in value:
            value = f"http://{value}"
        if scheme != "no" and value and not value.startswith(("http://", "https://", "socks5://", "socks5h://")):
            warnings.append(f"{name} is ignored: only HTTP and SOCKS5 proxies are used, such as socks5h://HOST:1080.")
            continue
        proxies[scheme] = value
    return {scheme: value for scheme, value in proxies.items() if value}


def _dotenv(path: Path, problems: list[str], warnings: list[str]) -> Mapping[str, str]:
    try:
        return read_dotenv(path, warnings)
    except ConfigurationError as error:
        problems.append(str(error))
        return {}


def _stored_keys(path: Path, problems: list[str], warnings: list[str]) -> Mapping[str, str]:
    if is_open_to_others(path):
        warnings.append(f"{path}: other users of this machine can read your keys; run: chmod 600 {path}")
    return _dotenv(path, problems, warnings)


def _from_file(path: Path, problems: list[str]) -> Flat:
    try:
        data = read_toml(path)
    except ConfigurationError as error:
        problems.append(str(error))
        return {}
    flat: Flat = {}
    for section, values in data.items():
        if section == "keys":
            problems.append(f"{path}: keys do not belong in this file; set them in the environment or in .env")
        elif not isinstance(values, dict):
            problems.append(f"{path}: {_outside(section)}")
        elif section == "providers":
            for name, options in values.items():
                if isinstance(options, dict):
                    flat |= {f"providers.{name}.{key}": (value, str(path)) for key, value in options.items()}
                else:
                    problems.append(f'{path}: providers.{name}: write its options under [providers."{name}"]')
        elif section not in sections():
            near = did_you_mean(section, [*sections(), "providers"])
            problems.append(f"{path}: [{section}] is not a section{near}")
        else:
            flat |= {key: (value, str(path)) for key, value in _flatten(section, values)}
    return flat


def _flatten(section: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the dotted keys of a section and of its subsections."""
    for key, value in values.items():
        dotted = f"{section}.{key}"
        if isinstance(value, dict) and any(known.startswith(f"{dotted}.") for known in known_keys()):
            yield from _flatten(dotted, value)
        else:
            yield dotted, value


def _outside(key: str) -> str:
    """Return the problem of a key outside any section."""
    if key in {*sections(), "providers"}:
        return f"{key!r} must be a section, written as [{key}] on a line of its own"
    homes = [f"[{home}]" for home, _, name in (known.rpartition(".") for known in known_keys()) if name == key]
    if homes:
        return f"{key!r} is outside any section; put it under {' or '.join(homes)}"
    return f"{key!r} is outside any section{did_you_mean(key, [*sections(), 'providers'])}"


def _refuse_unknown(merged: Flat, problems: list[str]) -> None:
    keys = list(known_keys())
    for key in [key for key in merged if not key.startswith("providers.") and key not in keys]:
        origin = merged.pop(key)[1]
        section = key.partition(".")[0]
        same = [other for other in keys if other.startswith(f"{section}.")]
        problems.append(f"{origin}: {key!r} is not a setting{did_you_mean(key, same or keys, prefix=f'{section}.')}")
    for key in [key for key in merged if key.startswith("providers.")]:
        provider = key.removeprefix("providers.").rpartition(".")[0]
        if provider_entry(provider) is None:
            origin = merged.pop(key)[1]
            near = did_you_mean(provider, provider_names())
            problems.append(f"{origin}: {key}: {provider!r} is not an installed provider{near}")


def _build(merged: Flat, keys: Mapping[str, tuple[str, str]], problems: list[str]) -> Settings:
    secrets = {name: SecretStr(value.strip()) for name, (value, _) in keys.items()}
    settings, wrong = _assemble(merged, secrets)
    problems += [f"{_origin(merged, key)}: {key}: {text}" for key, text in wrong]
    for provider, options in _nest(merged)["providers"].items():
        problems += _option_faults(provider, options, merged)
    _check_addresses(settings, merged, problems)
    _raise(problems)
    origins = {key: origin for key, (_, origin) in merged.items()}
    origins |= {f"keys.{name}": origin for name, (_, origin) in keys.items()}
    object.__setattr__(settings, "_origins", origins)
    return settings


def _nest(merged: Flat) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {"providers": {}}
    for key, (value, _) in merged.items():
        section, _, path = key.partition(".")
        if section == "providers":
            provider, _, option = path.rpartition(".")
            nested["providers"].setdefault(provider, {})[option] = value
        else:
            *within, last = path.split(".")
            inner = nested.setdefault(section, {})
            for name in within:
                inner = inner.setdefault(name, {})
            inner[last] = value
    return nested


def _assemble(merged: Flat, keys: Mapping[str, SecretStr]) -> tuple[Settings, list[tuple[str, str]]]:
    """Return the settings, and what is wrong with them, in which case those that are wrong are the defaults.

    Only the sections of which something is set are validated: to build the schema of all of them takes longer than
    everything else that is done to load them.
    """
    wrong: list[tuple[str, str]] = []
    values_by_section: dict[str, Any] = {"keys": keys}
    for section, values in _nest(merged).items():
        model = Settings.model_fields[section].annotation
        if not is_section(model):
            values_by_section[section] = values
            continue
        try:
            values_by_section[section] = validated(model, values)
        except ValidationError as error:
            problems = faults(error)
            wrong += [(f"{section}.{key}" if key else section, text) for key, text in problems]
            names = {key.partition(".")[0] for key, _ in problems}
            values_by_section[section] = validated(model, {key: values[key] for key in values.keys() - names})
    return Settings.model_construct(**values_by_section), wrong


def _check_addresses(settings: Settings, merged: Flat, problems: list[str]) -> None:
    """Report an unsupported URL of the store or the archive."""
    try:
        parse_store_url(settings.storage.url)
    except ConfigurationError as error:
        problems.append(f"{_origin(merged, 'storage.url')}: storage.url: {error}")
    if settings.archive.url and not settings.archive.url.startswith(("postgresql://", "postgres://")):
        form = "postgresql://USER:PASSWORD@HOST/NAME"
        problems.append(f"{_origin(merged, 'archive.url')}: archive.url: it is no PostgreSQL address; form: {form}")


def _option_faults(provider: str, options: Mapping[str, Any], merged: Flat) -> list[str]:
    """Return the problems of a provider's options, even if it is not in use."""
    model = option_model(provider)
    if model is None:
        return []
    try:
        validated(model, options)
    except ValidationError as error:
        lines = []
        for key, text in faults(error):
            if key in options and key not in model.model_fields:
                text = f"is not an option of {provider}{near_option(key, model.model_fields)}"
            dotted = f"providers.{provider}.{key}"
            lines.append(f"{_origin(merged, dotted)}: {dotted}: {text}")
        return lines
    return []


def _origin(merged: Flat, key: str) -> str:
    """Return the origin of the setting that a key, possibly of a list item, belongs to."""
    owners = [owner for owner in merged if key == owner or key.startswith(f"{owner}.")]
    return merged[max(owners, key=len)][1] if owners else "settings"


def _raise(problems: Iterable[str]) -> None:
    lines = list(problems)
    if len(lines) == 1:
        raise ConfigurationError(lines[0])
    if lines:
        raise ConfigurationError("The settings are wrong:\n" + "\n".join(f"  {line}" for line in lines))
