"""Where each client keeps its configuration, and how it writes a server down there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

__all__ = ["CLIENTS", "Client", "Host"]

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
