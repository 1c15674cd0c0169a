"""What tests of MCP over standard input and output are given."""

from __future__ import annotations

from components.mcp_processes import place as place
