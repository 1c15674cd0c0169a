"""Where state lives: one URL chooses process memory, a SQLite file, or a Valkey or Redis server."""

from __future__ import annotations

from groundwire.storage.base import Count, Entry, Pace, Store, StoreError
from groundwire.storage.factory import open_store
from groundwire.storage.fallback_store import ResilientStore
from groundwire.storage.memory import MemoryStore

__all__ = ["Count", "Entry", "MemoryStore", "Pace", "ResilientStore", "Store", "StoreError", "open_store"]
