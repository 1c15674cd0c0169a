"""Servers through which programs that are not in this process use the web: MCP, and a proxy for models."""
