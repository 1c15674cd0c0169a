"""The server's entry in the configuration files of MCP clients: locations, and installation."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from groundwire.mcp_server.config_text import (
    NAME,
    has_comments,
    json_servers,
    json_text,
    read_json,
    without_comments,
)
from groundwire.setup.apply import with_values

__all__ = ["CLIENTS", "NAME", "Client", "has_comments", "install", "without_comments"]

Format = Literal["json", "jsonc", "toml"]


@dataclass(frozen=True, slots=True)
class Client:
    """An MCP client."""

    name: str
    """The name for `--client`."""
    title: str
    """Its display name."""
    path: str = ""
    """The path of its configuration, below a folder of the machine such as `{home}`."""
    windows: str = ""
    """The same on Windows, if it is another."""
    keys: Sequence[str] = ("mcpServers",)
    """The path of keys to its servers."""
    format: Format = "json"
    """The file format; `jsonc` is JSON with comments."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Additional fields of an entry."""
    together: bool = False
    """Whether program and arguments are one list."""
    base: Mapping[str, Any] = field(default_factory=dict)
    """Fields that a configuration requires beside the servers."""

    def file(self, platform: str, home: Path, variables: Mapping[str, str]) -> Path:
        """Return the path of its configuration on a machine.

        Args:
            platform: As in `sys.platform`: linux, darwin, win32.
            home: The home folder.
            variables: The environment.
        """
        named = variables.get("XDG_CONFIG_HOME", "")
        config = Path(named) if named.startswith("/") else home / ".config"  # of Unix programs
        data = {  # of desktop programs
            "darwin": home / "Library" / "Application Support",
            "win32": Path(variables.get("APPDATA") or home / "AppData" / "Roaming"),
        }.get(platform, config)
        path = self.windows if self.windows and platform == "win32" else self.path
        return Path(path.format(home=home, folder=Path.cwd(), data=data, config=config))

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        """Return the server's entry.

        Args:
            command: The command that starts the server.
        """
        if self.together:
            return {**self.extra, "command": list(command)}
        return {**self.extra, "command": command[0], "args": list(command[1:])}


def _clients() -> Mapping[str, Client]:
    table = tomllib.loads(files("groundwire.mcp_server").joinpath("clients.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: Client(name=name, **row) for name, row in table.items()})


CLIENTS: Mapping[str, Client] = _clients()
"""The clients by name."""


def install(client: Client, text: str, command: Sequence[str]) -> str:
    """Return a configuration with the server's entry; an existing one is updated.

    User additions to the entry, such as `env`, are kept; comments are kept in TOML only.

    Args:
        client: Whose configuration it is.
        text: The configuration; empty for none.
        command: The command that starts the server.

    Raises:
        ConfigurationError: the configuration cannot be parsed.
    """
    entry = client.entry(command)
    if client.format == "toml":
        place = ".".join((*client.keys, NAME))
        return with_values(text, {f"{place}.{key}": value for key, value in entry.items()})
    configuration = {**client.base, **read_json(client, text)}
    servers = json_servers(client, configuration)
    old = servers.get(NAME)
    new = {**(old if isinstance(old, dict) else {}), **entry}
    if old == new:
        return text
    servers[NAME] = new
    return json_text(configuration, text)
