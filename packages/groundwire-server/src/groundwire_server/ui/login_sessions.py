"""Login with an API key: the browser gets a random ID, never the key."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from starlette.requests import Request

from groundwire.storage import Store
from groundwire.web import Web

__all__ = ["KeyVerifier", "SignIns", "Visitor", "local_path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A visitor of the web page, with their permissions."""

    id: str = ""
    """The ID of a visitor who has signed in; never the key."""
    name: str = ""
    """The visitor's display name; empty without logins."""
    web: Web
    """The web for the visitor, with the visitor's restrictions."""
    prefix: str = ""
    """The prefix of the visitor's session names in the store; other sessions are not shown."""
    sees_all: bool = True
    """Whether the visitor may access the data of all tenants: the archive, and the figures of all providers."""


class KeyVerifier(Protocol):
    """Verifies visitors. With it, the page shows nothing to unknown visitors."""

    def known(self, scope: Mapping[str, Any]) -> Visitor | None:
        """Return the visitor of a request authenticated by outer middleware."""
        ...

    async def admit(self, key: str) -> Visitor | None:
        """Return the visitor for an API key; None for an unknown, revoked or expired key."""
        ...

    async def recall(self, visitor: str) -> Visitor | None:
        """Return the visitor with an ID; None if the key was revoked, which ends the login."""
        ...

    def address(self, scope: Mapping[str, Any]) -> str:
        """Return the client's address or network, for counting failed attempts."""
        ...


_COOKIE = "groundwire_sign_in"
_LIFE = 12 * 3_600  # seconds
_ID = re.compile(r"[A-Za-z0-9_-]{43}")
_BURST, _INTERVAL = 10, 6.0  # wrong keys of one address at once, and seconds for each after those


class SignIns:
    """Login sessions, kept in the store, so that every gateway of a fleet knows them.

    The store holds the SHA-256 of a random id with the visitor's id: neither a reader of the store nor a reader of the
    cookie learns a key from it. Whose key is revoked is out with the next request.

    Args:
        verifier: Says whose a key is.
        store: Where they are kept.
        make_id: Makes an id that cannot be guessed.
    """

    def __init__(
        self, verifier: KeyVerifier, store: Store, *, make_id: Callable[[], str] = lambda: secrets.token_urlsafe(32)
    ) -> None:
        self.verifier = verifier
        """Verifies keys."""
        self._store = store
        self._make_id = make_id

    async def count_wrong_key(self, request: Request) -> float:
        """Count a wrong key; return 0, or the seconds until there may be another where there were too many.

        A right key is never counted, and never has to wait for the wrong ones of others at its address.
        """
        host = self.verifier.address(request.scope)
        pace = await self._store.pace(f"sign-in:{host}", interval=_INTERVAL, burst=_BURST, max_wait=0)
        return 0.0 if pace.granted else max(1.0, pace.wait)

    async def sign_in(self, key: str, *, secure: bool) -> str | None:
        """Return the cookie of a visitor who signed in; None for an unknown key.

        Args:
            key: The API key.
            secure: Whether the browser came over TLS, so that it need never send the cookie without.
        """
        visitor = await self.verifier.admit(key) if key else None
        if visitor is None:
            return None
        id_ = self._make_id()
        await self._store.set(_name(id_), visitor.id.encode(), fresh=_LIFE)
        return _cookie(id_, _LIFE, secure=secure)

    async def visitor(self, request: Request) -> Visitor | None:
        """Return the visitor of a request; None if not signed in, or no longer allowed."""
        authenticated = self.verifier.known(request.scope)
        if authenticated is not None:
            return authenticated
        id_ = request.cookies.get(_COOKIE, "")
        entry = await self._store.get(_name(id_)) if _ID.fullmatch(id_) else None
        return None if entry is None else await self.verifier.recall(entry.value.decode())

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
