"""Requests in each API's format: `prepare` adds the search of a plan to a body."""

from __future__ import annotations

from groundwire.hosted.requests.prepare import plan_for, prepare, with_search, without_search

__all__ = ["plan_for", "prepare", "with_search", "without_search"]
