"""What tests of the server are given."""

from __future__ import annotations

from components.mcp_processes import place as place
