"""Servers for other programs: one HTTP server, and MCP over standard input and output."""
