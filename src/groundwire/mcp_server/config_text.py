"""Editing of the server's entry in the text of a configuration: JSON with comments, TOML, YAML."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from groundwire.errors import ConfigurationError

if TYPE_CHECKING:
    from groundwire.mcp_server.client_configs import Client

__all__ = [
    "NAME",
    "has_comments",
    "json_servers",
    "json_text",
    "read_json",
    "toml_with",
    "toml_without",
    "without_comments",
    "yaml_with",
]

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*+(?:"|\Z)|//[^\r\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(r'"(?:\\.|[^"\\])*+(?:"|\Z)|,(?=\s*[\]}])', re.DOTALL)


def has_comments(text: str) -> bool:
    """Whether there is a comment outside of strings."""
    return any(_is_comment(match[0]) for match in _TOKEN.finditer(text))


def _is_comment(token: str) -> bool:
    """Whether a token is a comment; an unterminated one is not JSON, whatever precedes it."""
    return token.startswith("//") or (token.startswith("/*") and token.endswith("*/") and len(token) > 3)


def without_comments(text: str) -> str:
    """Return the text as plain JSON: without comments and trailing commas."""
    bare = _TOKEN.sub(lambda match: " " if _is_comment(match[0]) else match[0], text.removeprefix("\ufeff"))
    return _COMMA.sub(lambda match: match[0] if match[0].startswith('"') else "", bare)


NAME = "groundwire"
"""The server's name in configurations."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_json(client: Client, text: str) -> dict[str, Any]:
    """Parse a configuration in JSON; empty for no text.

    Raises:
        ConfigurationError: it is not a JSON object.
    """
    if not text.strip():
        return {}
    try:
        configuration = json.loads(without_comments(text) if client.format == "jsonc" or has_comments(text) else text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"The configuration of {client.title} is not JSON ({error}). Fix it first; nothing was changed."
        ) from error
    if not isinstance(configuration, dict):
        raise ConfigurationError(f"The configuration of {client.title} is not a JSON object. Nothing was changed.")
    return configuration


def json_servers(client: Client, configuration: dict[str, Any], *, make: bool) -> dict[str, Any]:
    """Return the mutable servers of a configuration.

    Args:
        client: Whose configuration it is.
        configuration: The configuration.
        make: Whether to add missing parents.

    Raises:
        ConfigurationError: a parent is not an object.
    """
    parent: Any = configuration
    for key in client.keys:
        if key not in parent or parent[key] is None:
            if not make:
                return {}
            parent[key] = {}
        parent = parent[key]
        if not isinstance(parent, dict):
            raise ConfigurationError(
                f"In the configuration of {client.title}, {key} is not an object. Fix it first; nothing was changed."
            )
    servers: dict[str, Any] = parent
    return servers


def json_text(configuration: Mapping[str, Any], text: str) -> str:
    """Serialize JSON with the original indentation and line endings."""
    match = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    indent = match[1] if match else "  "
    written = json.dumps(configuration, indent=indent, ensure_ascii=False) + "\n"
    return written.replace("\n", "\r\n") if "\r\n" in text else written


def toml_with(client: Client, text: str, entry: Mapping[str, Any]) -> str:
    """Return TOML with the server's entry, keeping user additions to it.

    Raises:
        ConfigurationError: it is not TOML, or the entry is not a separate table.
    """
    servers = _toml_servers(client, text)
    old = servers.get(NAME)
    if isinstance(old, dict) and {key: old.get(key) for key in entry} == dict(entry):
        return text
    additions = {key: value for key, value in old.items() if key not in entry} if isinstance(old, dict) else {}
    nested = [key for key, value in additions.items() if isinstance(value, dict)]
    others = _toml_cut(client, text, keep=nested)
    lines = [f"[{'.'.join((*client.keys, NAME))}]"]
    lines += [
        f"{_toml_key(key)} = {_toml(value)}" for key, value in {**entry, **additions}.items() if key not in nested
    ]
    before = others.rstrip()
    return (before + "\n\n" if before else "") + "\n".join(lines) + "\n"


def toml_without(client: Client, text: str) -> str:
    """Return TOML without the server's entry.

    Raises:
        ConfigurationError: see `toml_with`.
    """
    if NAME not in _toml_servers(client, text):
        return text
    return _toml_cut(client, text, keep=())


def _toml_servers(client: Client, text: str) -> Mapping[str, Any]:
    try:
        table: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"The configuration of {client.title} is not TOML ({error}). Fix it first; nothing was changed."
        ) from error
    for key in client.keys:
        table = table.get(key, {})
        if not isinstance(table, dict):
            raise ConfigurationError(
                f"In the configuration of {client.title}, {key} is not a table. Nothing was changed."
            )
    servers: Mapping[str, Any] = table
    return servers


def _toml_cut(client: Client, text: str, *, keep: Sequence[str]) -> str:
    """Remove the server's table and its subtables, except for those to keep.

    Raises:
        ConfigurationError: the entry is not a separate table.
    """
    path = (*client.keys, NAME)
    lines: list[str] = []
    cutting = False
    for line in text.splitlines(keepends=True):
        header = re.match(r"\s*\[\[?([^\[\]]+)\]\]?", line)
        if header:
            parts = tuple(part.strip().strip("\"'") for part in header[1].split("."))
            cutting = parts[: len(path)] == path and not (len(parts) > len(path) and parts[len(path)] in keep)
        if not cutting:
            lines.append(line)
    others = "".join(lines)
    try:
        entry = _toml_servers(client, others).get(NAME, {})
    except ConfigurationError:
        entry = {"": None}
    if set(entry) - set(keep):
        raise ConfigurationError(
            f"The entry in the configuration of {client.title} is not written as [{'.'.join(path)}]. "
            "Change it by hand; nothing was changed."
        )
    return others


def _toml(value: object) -> str:
    """Serialize a value as TOML; JSON strings are valid TOML except for the character DEL."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, (str, bool, int, float)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)  # a date or a time


def yaml_with(client: Client, text: str, entry: Mapping[str, Any] | None) -> str:
    """Return YAML with or without the server's entry, keeping user additions to it.

    Other lines are unchanged, and values are written as JSON, which is valid YAML (1.2, section 1.3).

    Raises:
        ConfigurationError: the key's value is not written as an indented mapping.
    """
    (key,) = client.keys
    lines = text.splitlines(keepends=True)
    at = next((number for number, line in enumerate(lines) if re.match(rf"{key}\s*:", line)), None)
    if at is None:
        block = "" if entry is None else f"{key}:\n  {NAME}:\n" + _yaml_lines(entry, "    ")
        return text + ("\n" if block and text and not text.endswith("\n") else "") + block
    if not re.fullmatch(rf"{key}\s*:\s*(\{{\}}\s*)?(#.*)?", lines[at].rstrip()):
        raise ConfigurationError(
            f"In the configuration of {client.title}, {key} is not written as an indented mapping. "
            "Change it by hand; nothing was changed."
        )
    end = next((n for n in range(at + 1, len(lines)) if re.match(r"[^\s#]", lines[n])), len(lines))
    inner = next((match[1] for line in lines[at + 1 : end] if (match := re.match(r"([ ]+)[^\s#]", line))), "  ")
    begin = next((n for n in range(at + 1, end) if re.match(rf"{inner}[\"']?{NAME}[\"']?\s*:", lines[n])), None)
    if begin is None:
        start, stop, additions = end, end, ""
        while start > at + 1 and not lines[start - 1].strip():
            start = stop = start - 1
    else:
        start = begin
        stop = next((n for n in range(begin + 1, end) if re.match(rf"{inner}[^\s#]", lines[n])), end)
        while not lines[stop - 1].strip():
            stop -= 1
        own_keys = "|".join(map(re.escape, entry or ()))
        additions = "".join(line for line in lines[begin + 1 : stop] if not re.match(rf"\s+(?:{own_keys})\s*:", line))
    deeper = inner * 2
    new = "" if entry is None else f"{inner}{NAME}:\n{_yaml_lines(entry, deeper)}{additions}"
    head = re.sub(r"\{\}\s*", "", lines[at]) if entry is not None else lines[at]
    before = "".join([*lines[:at], head if head.endswith("\n") else head + "\n", *lines[at + 1 : start]])
    return (before + new + "".join(lines[stop:])) if entry is not None or begin is not None else text


def _yaml_lines(entry: Mapping[str, Any], indent: str) -> str:
    return "".join(f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in entry.items())


def _toml_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)
