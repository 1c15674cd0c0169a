"""The server's entry in the configuration files of MCP clients: where they are, adding it, removing it."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from groundwire.errors import ConfigurationError

__all__ = ["CLIENTS", "NAME", "Change", "Client", "Host", "has_comments", "install", "uninstall", "without_comments"]

Format = Literal["json", "jsonc", "toml"]


@dataclass(frozen=True, slots=True)
class Host:
    """What a machine has to say about where configurations are."""

    platform: str
    """As `sys.platform` has it: linux, darwin, win32."""
    home: Path
    """The user's folder."""
    folder: Path
    """The folder of the project at hand."""
    variables: Mapping[str, str]
    """The environment."""

    @classmethod
    def here(cls) -> Host:
        """Return this machine's."""
        return cls(sys.platform, Path.home(), Path.cwd(), MappingProxyType(dict(os.environ)))

    def application_data(self) -> Path:
        """Return the folder in which desktop programs keep their data."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.variables.get("APPDATA") or self.home / "AppData" / "Roaming")
        return self.configuration()

    def configuration(self) -> Path:
        """Return the folder in which programs of Unix keep their configuration, which is one for all of them."""
        given = self.variables.get("XDG_CONFIG_HOME", "")
        return Path(given) if given.startswith("/") else self.home / ".config"


@dataclass(frozen=True, slots=True)
class Client:
    """One client."""

    name: str
    """The name for `--client`."""
    title: str
    """Its own name."""
    file: Callable[[Host], Path]
    """Returns where its configuration is."""
    keys: tuple[str, ...] = ("mcpServers",)
    """Under which keys its servers are."""
    format: Format = "json"
    """How the file is written; `jsonc` is JSON with comments."""
    extra: tuple[tuple[str, str], ...] = ()
    """What it wants in an entry beside command and arguments."""

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        """Return the server's entry.

        Args:
            command: What starts the server.
        """
        return {**dict(self.extra), "command": command[0], "args": list(command[1:])}


def _zed(host: Host) -> Path:
    base = host.application_data() if host.platform == "win32" else host.configuration()
    return base / ("Zed" if host.platform == "win32" else "zed") / "settings.json"


_EXTENSION = Path("globalStorage") / "saoudrizwan.claude-dev" / "settings" / "cline_mcp_settings.json"
_STDIO = (("type", "stdio"),)

CLIENTS: Mapping[str, Client] = MappingProxyType(
    {
        client.name: client
        for client in (
            Client(
                "claude-desktop",
                "Claude Desktop",
                lambda host: host.application_data() / "Claude" / "claude_desktop_config.json",
            ),
            Client("claude-code", "Claude Code", lambda host: host.home / ".claude.json", extra=_STDIO),
            Client(
                "claude-code-project",
                "Claude Code, for the project at hand",
                lambda host: host.folder / ".mcp.json",
                extra=_STDIO,
            ),
            Client("cline", "Cline", lambda host: host.application_data() / "Code" / "User" / _EXTENSION),
            Client(
                "codex", "Codex CLI", lambda host: host.home / ".codex" / "config.toml", ("mcp_servers",), format="toml"
            ),
            Client("cursor", "Cursor", lambda host: host.home / ".cursor" / "mcp.json"),
            Client("gemini", "Gemini CLI", lambda host: host.home / ".gemini" / "settings.json"),
            Client("lm-studio", "LM Studio", lambda host: host.home / ".lmstudio" / "mcp.json"),
            Client(
                "vscode",
                "Visual Studio Code",
                lambda host: host.application_data() / "Code" / "User" / "mcp.json",
                ("servers",),
                format="jsonc",
                extra=_STDIO,
            ),
            Client(
                "vscode-project",
                "Visual Studio Code, for the project at hand",
                lambda host: host.folder / ".vscode" / "mcp.json",
                ("servers",),
                format="jsonc",
                extra=_STDIO,
            ),
            Client("windsurf", "Windsurf", lambda host: host.home / ".codeium" / "windsurf" / "mcp_config.json"),
            Client(
                "zed",
                "Zed",
                _zed,
                ("context_servers",),
                format="jsonc",
                extra=(("source", "custom"),),
            ),
        )
    }
)
"""The clients by name."""


_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[\]}])', re.DOTALL)


def has_comments(text: str) -> bool:
    """Whether there is a comment outside of strings."""
    return any(not found[0].startswith('"') for found in _TOKEN.finditer(text))


def without_comments(text: str) -> str:
    """Return the text as plain JSON: without comments and trailing commas."""
    bare = _TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else " ", text.removeprefix("\ufeff"))
    return _COMMA.sub(lambda found: found[0] if found[0].startswith('"') else "", bare)


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
