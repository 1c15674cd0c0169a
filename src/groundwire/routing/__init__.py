"""Which provider is asked, when, and for how long; and what becomes of its rows."""

from __future__ import annotations

from groundwire.routing.calls import PageCall, SearchCall
from groundwire.routing.router import Router

__all__ = ["PageCall", "Router", "SearchCall"]
