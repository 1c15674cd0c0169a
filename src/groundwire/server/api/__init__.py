"""The one HTTP server: one application with the REST API, the web page, MCP and the OpenAI-compatible endpoint."""

from groundwire.server.api.app import Gateway
from groundwire.server.api.presets import build_gateway, build_mcp, build_proxy

__all__ = ["Gateway", "build_gateway", "build_mcp", "build_proxy"]
