"""Login with an API key: the browser gets a random ID, never the key."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import UTC, datetime
from urllib.parse import urlsplit

from starlette.requests import Request

from groundwire.storage import Store
from groundwire_server.auth import KeyFile
from groundwire_server.auth.authentication import client_address
from groundwire_server.auth.keys import id_of, is_key_of
from groundwire_server.auth.rate_limits import Failures

_COOKIE = "groundwire_sign_in"
_LIFE = 12 * 3_600  # seconds
_ID = re.compile(r"[A-Za-z0-9_-]{43}")


class SignIns:
    """Login sessions, kept in the store, so that every gateway of a fleet knows them.

    The store holds the SHA-256 of a random ID with the ID of the key: neither a reader of the store nor a reader of the
    cookie learns a key from it. `Access` looks up the key at each request: who has a revoked one is out with the next.

    Args:
        keys: The keys.
        store: Where they are kept.
    """

    def __init__(self, keys: KeyFile, store: Store) -> None:
        self._keys = keys
        self._store = store
        self._failures = Failures(store)

    async def count_wrong_key(self, request: Request) -> float:
        """Count a wrong key; return 0, or the seconds until there may be another where there were too many."""
        return await self._failures.count(client_address(request.scope))

    async def sign_in(self, key: str, *, secure: bool) -> str | None:
        """Return the cookie of a visitor who signed in; None for an unknown, revoked or expired key.

        Args:
            key: The API key.
            secure: Whether the browser came over TLS, so that it need never send the cookie without.
        """
        record = self._keys.find(id_of(key))
        if record is None or not is_key_of(record, key) or record.why_dead(datetime.now(UTC)):
            return None
        id_ = secrets.token_urlsafe(32)
        await self._store.set(_name(id_), record.id.encode(), fresh=_LIFE)
        return _cookie(id_, _LIFE, secure=secure)

    async def key_id(self, request: Request) -> str | None:
        """Return the ID of the key that the sender of a request has signed in with, or None."""
        id_ = request.cookies.get(_COOKIE, "")
        entry = await self._store.get(_name(id_)) if _ID.fullmatch(id_) else None
        return None if entry is None else entry.value.decode()

    async def sign_out(self, request: Request) -> str:
        """End the login of a request's sender, and return the cookie that deletes theirs."""
        id_ = request.cookies.get(_COOKIE, "")
        if _ID.fullmatch(id_):
            await self._store.delete(_name(id_))
        return _cookie("", 0, secure=False)


def local_path(text: str) -> str:
    """Return the redirect target after signing in: the path if it is local, else the front page."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return "/"
    plain = text.startswith("/") and text.isprintable() and text.isascii() and "\\" not in text
    is_ours = plain and not parts.scheme and not parts.netloc and not text.startswith(("//", "/sign-"))
    return text if is_ours else "/"


def _name(id_: str) -> str:
    return f"sign-in:{hashlib.sha256(id_.encode()).hexdigest()}"


def _cookie(value: str, seconds: int, *, secure: bool) -> str:
    return f"{_COOKIE}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")
