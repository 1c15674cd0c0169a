"""Gemini Interactions: the hosted tool `google_search` (recorded with gemini-3-flash-preview)."""

from __future__ import annotations

from groundwire.native.requests.mistral import to_native

__all__ = ["to_native"]
