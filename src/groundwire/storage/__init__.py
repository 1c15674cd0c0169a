"""Where state lives: one URL chooses process memory, a SQLite file, or a Valkey or Redis server."""

from __future__ import annotations

from groundwire.storage.base import Count, Entry, Pace, Store, StoreError
from groundwire.storage.memory import MemoryStore
from groundwire.storage.open import open_store
from groundwire.storage.resilient import ResilientStore

__all__ = ["Count", "Entry", "MemoryStore", "Pace", "ResilientStore", "Store", "StoreError", "open_store"]
