"""Servers: one HTTP server, and MCP over standard input and output."""
