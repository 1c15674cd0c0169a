"""The options of installed providers, without importing them by name.

Providers belong to a higher layer and to other packages too: the file `providers.json` beside this one says where ours
are, entry points where others are. They are loaded only if a setting names them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, SecretStr

from groundwire.hints import other_names
from groundwire.models.argument_names import argument_hint
from groundwire.settings.schema import ProviderKeys, Settings, SettingValue, display_text, known_keys, sections

_GROUP = "groundwire.providers"

_KEY_NAMES: Mapping[str, str] = MappingProxyType(
    {"brave_search": "brave", "parallel_ai": "parallel", "perplexityai": "perplexity", "pplx": "perplexity"}
    | {"ydc": "you", "youcom": "you"}
)
"""The provider of a key whose variable is called otherwise."""

_OWN: Mapping[str, str] = MappingProxyType(json.loads(Path(__file__).with_name("providers.json").read_bytes()))
"""Where the class of each provider of this package is, as MODULE:CLASS."""


def provider_entries() -> Mapping[str, str]:
    """Return where the classes of all installed providers are, as MODULE:CLASS by name; ours before another package's.

    Reading the metadata of every installed package takes longer than the rest of making a `Web`, so it is repeated only
    when `sys.path` has changed, or for a name that is unknown.
    """
    return _entries(tuple(sys.path))


@lru_cache(maxsize=1)
def _entries(_folders: tuple[str, ...]) -> Mapping[str, str]:
    from importlib.metadata import entry_points  # a search that uses only our own does not wait for it

    others = {entry.name: f"{entry.module}:{entry.attr}" for entry in entry_points(group=_GROUP)}  # without extras
    return MappingProxyType(others | dict(_OWN))


def provider_entry(provider: str) -> str | None:
    """Return where the class of a provider is, ours before one of another package; None when none is installed.

    Args:
        provider: Its name; the label of `NAME:LABEL` is ignored.
    """
    name = provider.partition(":")[0]
    entry = _OWN.get(name) or provider_entries().get(name)
    if entry is None:  # it may have been installed since
        _entries.cache_clear()
        entry = provider_entries().get(name)
    return entry


def load_entry(entry: str) -> object:
    """Return a provider's class.

    Raises:
        ImportError: it is not where its entry says.
    """
    try:
        return resolve_name(entry)
    except (AttributeError, ValueError) as error:
        raise ImportError(str(error)) from error


def own_provider_names() -> tuple[str, ...]:
    """Return the names of the providers of this package, sorted."""
    return tuple(sorted(_OWN))


def provider_names() -> tuple[str, ...]:
    """Return the names of all installed providers, sorted."""
    return tuple(sorted(provider_entries()))


def option_model(provider: str) -> type[BaseModel] | None:
    """Return the model of a provider's options, its class's `Options`; None if it has none.

    Args:
        provider: Its name; the label of `NAME:LABEL` is ignored.
    """
    entry = provider_entry(provider)
    try:
        model = None if entry is None else getattr(load_entry(entry), "Options", None)
    except ImportError:  # said when the provider is made, if it is
        return None
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None


def option_names(provider: str) -> tuple[str, ...]:
    """Return the names of a provider's options."""
    model = option_model(provider)
    return tuple(model.model_fields) if model else ()


def provider_rows(settings: Settings) -> list[SettingValue]:
    """Return every option of every installed provider and instance, including defaults, with masked secrets."""
    names = {*provider_names(), *settings.providers, *settings.search.providers, *settings.read.providers}
    rows = []
    for provider in sorted(names):
        options_set = settings.providers.get(provider, {})
        model = option_model(provider)
        fields = model.model_fields.items() if model else ()
        values = {option: field.get_default(call_default_factory=True) for option, field in fields} | dict(options_set)
        for option, value in values.items():
            key = f"providers.{provider}.{option}"
            rows.append(SettingValue(key=key, value=display_text(key, value), origin=settings.origin(key)))
    return rows


def setting_key(name: str, settings_keys: Iterable[str]) -> str:
    """Return the key of a setting by another name: by its last word, if only one has it, or by that of other tools.

    Args:
        name: Such as `user_agent`, `provider` or `NETWORK__PROXY`; it is returned as it is if it names none.
        settings_keys: The keys.
    """
    keys = tuple(settings_keys)
    plain = name.lower().replace("-", "_").replace("__", ".").removeprefix("groundwire_")
    if name in keys or not plain:
        return name
    spellings = [key for key in keys if key == plain or key.replace(".", "_") == plain]
    last = [key for key in keys if key.rpartition(".")[2] == plain and not key.startswith("providers.")]
    right = other_names("settings").get(plain, "")
    return next((matches[0] for matches in (spellings, [right] if right else [], last) if len(matches) == 1), name)


def check_keys(keys: Mapping[str, object], arguments: Iterable[str]) -> None:
    """Refuse arguments of a client that are no keys.

    Args:
        keys: The arguments, such as `tavily_api_key`.
        arguments: The arguments that the client has beside keys, for the message.

    Raises:
        TypeError: one is not a key; the message names the setting or the argument that is meant.
    """
    for name in keys:
        if name in ProviderKeys.__annotations__:
            continue
        key = "storage.url" if name == "cache_dir" else setting_key(name, known_keys())
        if name in sections() and isinstance(keys[name], Mapping):
            hint = f"; use Web({{{name!r}: ...}})"
        elif key in ("search.providers", "read.providers"):
            hint = f"; use {key.replace('.', '_')}=[...]"
        elif "." in key:
            value = keys[name] if isinstance(keys[name], (bool, int, float)) else ...  # a text may be a secret
            hint = f"; use Web({{{key!r}: {'...' if value is ... else value}}})"
        else:
            hint = argument_hint(name, arguments, {})
        raise TypeError(f"Web() has no argument {name!r}{hint}")


_P = TypeVar("_P")


def as_list(providers: Any) -> Sequence[Any]:
    """Return providers as a list: of several, of one, or of names separated by commas.

    Args:
        providers: The providers.
    """
    if isinstance(providers, str):
        return [name.strip() for name in providers.split(",")]
    return providers if isinstance(providers, Sequence) else [providers]


def with_keys(
    settings: Settings,
    providers: Sequence[str | _P] | None,
    keys: Mapping[str, Any],
) -> tuple[Settings, Sequence[str | _P] | None]:
    """Return settings with keys, and the search providers; without a choice, the keys' providers come first.

    Args:
        settings: The settings.
        providers: The chosen search providers, or None.
        keys: Keys by argument, such as `tavily_api_key`; None is as if not given.

    Raises:
        TypeError: a key is no text.
    """
    key_by_name = {name.lower().removesuffix("_api_key"): key for name, key in keys.items() if key is not None}
    for name, key in key_by_name.items():
        if not (isinstance(key, str) and key.strip()):
            raise TypeError(f"Web(): '{name}_api_key' must be a key as text, and not empty")
        settings = settings.with_key(f"{name.upper()}_API_KEY", SecretStr(key))
    if key_by_name and providers is None:
        owners = dict.fromkeys(_KEY_NAMES.get(name, name) for name in key_by_name)
        return settings, (*owners, *(name for name in settings.search.providers if name not in owners))
    return settings, providers
