"""The keys of a store, which no caller lists: for tests that see what was stored."""

from __future__ import annotations

from groundwire.storage import MemoryStore, ResilientStore, Store
from groundwire.storage.rules import decode_key
from groundwire.storage.sqlite import SqliteStore


async def stored_keys(store: Store, prefix: str = "") -> list[str]:
    """Return the keys of the values and registers of a store in memory or in a file."""
    inner = store._store if isinstance(store, ResilientStore) else store
    if isinstance(inner, SqliteStore):
        rows = await inner._run_read(
            lambda db: db.execute("select key from entries union select key from registers").fetchall()
        )
        keys = [decode_key(key) for (key,) in rows]
    else:
        assert isinstance(inner, MemoryStore)
        keys = [*inner._entries, *inner._registers._values]
    return [key for key in keys if key.startswith(prefix)]
