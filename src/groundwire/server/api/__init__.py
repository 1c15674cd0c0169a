"""The gateway: one service through which many programs search the web and open pages over HTTP."""

from groundwire.server.api.app import Gateway, build_gateway

__all__ = ["Gateway", "build_gateway"]
