"""The server's entry in the configurations of MCP clients."""

from __future__ import annotations

from groundwire.server.mcp.install.clients import CLIENTS, Client, Host
from groundwire.server.mcp.install.entry import Change, install, uninstall
from groundwire.settings.replacing import read, replace

__all__ = ["CLIENTS", "Change", "Client", "Host", "install", "read", "replace", "uninstall"]
