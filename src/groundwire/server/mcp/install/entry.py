"""Writing the server's entry into the text of a configuration, and taking it out; nothing else of it is changed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundwire.errors import ConfigurationError
from groundwire.server.mcp.install.clients import Client
from groundwire.server.mcp.install.jsonc import has_comments, without_comments

__all__ = ["NAME", "Change", "install", "uninstall"]

NAME = "groundwire"
"""The server's name in configurations."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Change:
    """What a configuration was and would be."""

    before: str
    """The text, empty for a file that is not there."""
    after: str
    """The text with the change."""
    loses_comments: bool = False
    """Whether comments are lost."""


def install(client: Client, text: str, command: Sequence[str]) -> Change:
    """Return a configuration with the server's entry; one that is there already is brought up to date.

    What a user added to the entry, such as `env`, stays.

    Args:
        client: Whose configuration it is.
        text: The configuration; empty for none.
        command: What starts the server.

    Raises:
        ConfigurationError: the configuration cannot be understood.
    """
    entry = client.entry(command)
    if client.format == "toml":
        return Change(text, _toml_with(client, text, entry))
    whole = _read(client, text)
    servers = _servers(client, whole, make=True)
    old = servers.get(NAME)
    new = {**(old if isinstance(old, dict) else {}), **entry}
    if old == new:
        return Change(text, text)
    servers[NAME] = new
    return Change(text, _written(whole, text), loses_comments=has_comments(text))


def uninstall(client: Client, text: str) -> Change:
    """Return a configuration without the server's entry.

    Args:
        client: Whose configuration it is.
        text: The configuration; empty for none.

    Raises:
        ConfigurationError: the configuration cannot be understood.
    """
    if client.format == "toml":
        return Change(text, _toml_without(client, text))
    whole = _read(client, text)
    servers = _servers(client, whole, make=False)
    if NAME not in servers:
        return Change(text, text)
    del servers[NAME]
    return Change(text, _written(whole, text), loses_comments=has_comments(text))


def _read(client: Client, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        whole = json.loads(without_comments(text) if client.format == "jsonc" or has_comments(text) else text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"The configuration of {client.title} is not JSON ({error}). Mend it first; nothing was changed."
        ) from error
    if not isinstance(whole, dict):
        raise ConfigurationError(f"The configuration of {client.title} is no JSON object. Nothing was changed.")
    return whole


def _servers(client: Client, whole: dict[str, Any], *, make: bool) -> dict[str, Any]:
    found: Any = whole
    for key in client.keys:
        if key not in found or found[key] is None:
            if not make:
                return {}
            found[key] = {}
        found = found[key]
        if not isinstance(found, dict):
            raise ConfigurationError(
                f"In the configuration of {client.title}, {key} is no object. Mend it first; nothing was changed."
            )
    servers: dict[str, Any] = found
    return servers


def _written(whole: Mapping[str, Any], text: str) -> str:
    """Return JSON indented as the text was, with its line ends."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    indent = found[1] if found else "  "
    written = json.dumps(whole, indent=indent, ensure_ascii=False) + "\n"
    return written.replace("\n", "\r\n") if "\r\n" in text else written


def _toml_with(client: Client, text: str, entry: Mapping[str, Any]) -> str:
    servers = _toml_servers(client, text)
    old = servers.get(NAME)
    if isinstance(old, dict) and {key: old.get(key) for key in entry} == dict(entry):
        return text
    kept = {key: value for key, value in old.items() if key not in entry} if isinstance(old, dict) else {}
    nested = [key for key, value in kept.items() if isinstance(value, dict)]
    rest = _toml_cut(client, text, keep=nested)
    lines = [f"[{'.'.join((*client.keys, NAME))}]"]
    lines += [f"{_toml_key(key)} = {_toml(value)}" for key, value in {**entry, **kept}.items() if key not in nested]
    before = rest.rstrip()
    return (before + "\n\n" if before else "") + "\n".join(lines) + "\n"


def _toml_without(client: Client, text: str) -> str:
    if NAME not in _toml_servers(client, text):
        return text
    return _toml_cut(client, text, keep=())


def _toml_servers(client: Client, text: str) -> Mapping[str, Any]:
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"The configuration of {client.title} is not TOML ({error}). Mend it first; nothing was changed."
        ) from error
    for key in client.keys:
        found = found.get(key, {})
        if not isinstance(found, dict):
            raise ConfigurationError(f"In the configuration of {client.title}, {key} is no table. Nothing was changed.")
    servers: Mapping[str, Any] = found
    return servers


def _toml_cut(client: Client, text: str, *, keep: Sequence[str]) -> str:
    """Return TOML without the server's table; tables below it go, too, but for those that are to be kept.

    Raises:
        ConfigurationError: the entry is not written as a table of its own.
    """
    path = (*client.keys, NAME)
    kept: list[str] = []
    cutting = False
    for line in text.splitlines(keepends=True):
        header = re.match(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?", line)
        if header:
            parts = tuple(part.strip().strip("\"'") for part in header[1].split("."))
            cutting = parts[: len(path)] == path and not (len(parts) > len(path) and parts[len(path)] in keep)
        if not cutting:
            kept.append(line)
    rest = "".join(kept)
    try:
        left = _toml_servers(client, rest).get(NAME, {})
    except ConfigurationError:
        left = {"": None}
    if set(left) - set(keep):
        raise ConfigurationError(
            f"The entry in the configuration of {client.title} is not written as [{'.'.join(path)}]. "
            "Change it by hand; nothing was changed."
        )
    return rest


def _toml(value: object) -> str:
    """Return a value as TOML; strings of JSON are strings of TOML but for the sign DEL."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, (str, bool, int, float)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)  # a date or a time


def _toml_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)
