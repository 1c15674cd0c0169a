"""Routing: which provider is called, when and with which timeout, and merging of results."""

from __future__ import annotations

from groundwire.routing.calls import PageCall, SearchCall
from groundwire.routing.router import Router

__all__ = ["PageCall", "Router", "SearchCall"]
