"""Requests as each API takes them: `prepare` puts the search that a plan chose into a body."""

from __future__ import annotations

from groundwire.hosted.requests.prepare import plan_for, prepare, with_search, without_search

__all__ = ["plan_for", "prepare", "with_search", "without_search"]
