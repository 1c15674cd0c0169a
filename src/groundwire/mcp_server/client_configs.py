"""The server's entry in the configuration files of MCP clients: locations, installation, removal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from groundwire.mcp_server.config_text import (
    NAME,
    has_comments,
    json_servers,
    json_text,
    read_json,
    toml_with,
    toml_without,
    without_comments,
    yaml_with,
)

__all__ = ["CLIENTS", "NAME", "Change", "Client", "Host", "has_comments", "install", "uninstall", "without_comments"]

Format = Literal["json", "jsonc", "toml", "yaml"]


@dataclass(frozen=True, slots=True)
class Host:
    """The parts of a machine that determine where configurations are."""

    platform: str
    """The platform, as in `sys.platform`: linux, darwin, win32."""
    home: Path
    """The home folder."""
    folder: Path
    """The project's folder."""
    variables: Mapping[str, str]
    """The environment."""

    @classmethod
    def here(cls) -> Host:
        """Return the host of this machine."""
        return cls(sys.platform, Path.home(), Path.cwd(), MappingProxyType(dict(os.environ)))

    def application_data(self) -> Path:
        """Return the folder of desktop programs' data."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.variables.get("APPDATA") or self.home / "AppData" / "Roaming")
        return self.configuration()

    def configuration(self) -> Path:
        """Return the configuration folder of Unix programs."""
        given = self.variables.get("XDG_CONFIG_HOME", "")
        return Path(given) if given.startswith("/") else self.home / ".config"


@dataclass(frozen=True, slots=True)
class Client:
    """An MCP client."""

    name: str
    """The name for `--client`."""
    title: str
    """Its display name."""
    file: Callable[[Host], Path]
    """Returns the path of its configuration."""
    keys: tuple[str, ...] = ("mcpServers",)
    """The path of keys to its servers."""
    format: Format = "json"
    """The file format; `jsonc` is JSON with comments."""
    extra: tuple[tuple[str, Any], ...] = ()
    """Additional fields of an entry."""
    program: str = "command"
    """The key of the program in an entry."""
    together: bool = False
    """Whether program and arguments are one list."""
    base: tuple[tuple[str, Any], ...] = ()
    """Fields that a configuration requires beside the servers."""

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        """Return the server's entry.

        Args:
            command: The command that starts the server.
        """
        if self.together:
            return {**dict(self.extra), self.program: list(command)}
        return {**dict(self.extra), self.program: command[0], "args": list(command[1:])}


def _zed(host: Host) -> Path:
    base = host.application_data() if host.platform == "win32" else host.configuration()
    return base / ("Zed" if host.platform == "win32" else "zed") / "settings.json"


def _vscode(host: Host, *inner: str) -> Path:
    return host.application_data().joinpath("Code", "User", *inner)


def _goose(host: Host) -> Path:
    if host.platform == "win32":
        return host.application_data() / "Block" / "goose" / "config" / "config.yaml"
    return host.configuration() / "goose" / "config.yaml"


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
                "Claude Code, for this project",
                lambda host: host.folder / ".mcp.json",
                extra=_STDIO,
            ),
            Client(
                "cline",
                "Cline",
                lambda host: _vscode(
                    host, "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"
                ),
            ),
            Client(
                "cline-cli",
                "Cline CLI",
                lambda host: host.home / ".cline" / "data" / "settings" / "cline_mcp_settings.json",
            ),
            Client(
                "codelia",
                "codelia",
                lambda host: host.home / ".codelia" / "config.json",
                ("mcp", "servers"),
                extra=(("transport", "stdio"),),
                base=(("version", 1),),
            ),
            Client(
                "codex", "Codex CLI", lambda host: host.home / ".codex" / "config.toml", ("mcp_servers",), format="toml"
            ),
            Client("continue", "Continue", lambda host: host.home / ".continue" / "mcpServers" / "groundwire.json"),
            Client(
                "copilot-cli",
                "GitHub Copilot CLI",
                lambda host: host.home / ".copilot" / "mcp-config.json",
                extra=(("type", "local"), ("tools", ["*"])),
            ),
            Client("cursor", "Cursor", lambda host: host.home / ".cursor" / "mcp.json"),
            Client("gemini", "Gemini CLI", lambda host: host.home / ".gemini" / "settings.json"),
            Client(
                "goose",
                "goose",
                _goose,
                ("extensions",),
                format="yaml",
                extra=(("name", "groundwire"), ("type", "stdio"), ("enabled", True), ("timeout", 300)),
                program="cmd",
            ),
            Client("junie", "Junie", lambda host: host.home / ".junie" / "mcp" / "mcp.json"),
            Client("kiro", "Kiro", lambda host: host.home / ".kiro" / "settings" / "mcp.json"),
            Client("lm-studio", "LM Studio", lambda host: host.home / ".lmstudio" / "mcp.json"),
            Client(
                "opencode",
                "opencode",
                lambda host: host.configuration() / "opencode" / "opencode.json",
                ("mcp",),
                format="jsonc",
                extra=(("type", "local"), ("enabled", True)),
                together=True,
            ),
            Client(
                "roo",
                "Roo Code",
                lambda host: _vscode(
                    host, "globalStorage", "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"
                ),
            ),
            Client(
                "squidbot",
                "squidbot",
                lambda host: host.home / ".squidbot" / "config.json",
                ("tools", "mcp_servers"),
            ),
            Client(
                "vscode",
                "Visual Studio Code",
                lambda host: _vscode(host, "mcp.json"),
                ("servers",),
                format="jsonc",
                extra=_STDIO,
            ),
            Client(
                "vscode-project",
                "Visual Studio Code, for this project",
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


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a configuration."""

    before: str
    """The current text, empty for a missing file."""
    after: str
    """The new text."""
    loses_comments: bool = False
    """Whether comments are lost."""


def install(client: Client, text: str, command: Sequence[str]) -> Change:
    """Return a configuration with the server's entry; an existing one is updated.

    User additions to the entry, such as `env`, are kept.

    Args:
        client: Whose configuration it is.
        text: The configuration; empty for none.
        command: The command that starts the server.

    Raises:
        ConfigurationError: the configuration cannot be parsed.
    """
    entry = client.entry(command)
    if client.format == "toml":
        return Change(text, toml_with(client, text, entry))
    if client.format == "yaml":
        return Change(text, yaml_with(client, text, entry))
    whole = {**dict(client.base), **read_json(client, text)}
    servers = json_servers(client, whole, make=True)
    old = servers.get(NAME)
    new = {**(old if isinstance(old, dict) else {}), **entry}
    if old == new:
        return Change(text, text)
    servers[NAME] = new
    return Change(text, json_text(whole, text), loses_comments=has_comments(text))


def uninstall(client: Client, text: str) -> Change:
    """Return a configuration without the server's entry.

    Args:
        client: Whose configuration it is.
        text: The configuration; empty for none.

    Raises:
        ConfigurationError: the configuration cannot be parsed.
    """
    if client.format == "toml":
        return Change(text, toml_without(client, text))
    if client.format == "yaml":
        return Change(text, yaml_with(client, text, None))
    whole = read_json(client, text)
    servers = json_servers(client, whole, make=False)
    if NAME not in servers:
        return Change(text, text)
    del servers[NAME]
    return Change(text, json_text(whole, text), loses_comments=has_comments(text))
