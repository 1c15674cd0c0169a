"""What every endpoint of a gateway shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Scope

from groundwire.server.http.traffic import Traffic
from groundwire.web import Web

__all__ = ["Caller", "House"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever makes a request, and the web as it is for them."""

    web: Web
    """Their view of the gateway's `Web`."""
    tenant: str = ""
    """The tenant's name; empty where there are none."""

    def session(self, name: str | None) -> Web:
        """Return a session of theirs, a new one without a name. Nobody else's session has this name."""
        return self.web.session(self.session_name(name) if name else None)

    def session_name(self, name: str) -> str:
        """Return the name under which a session of theirs is kept."""
        return f"gateway/{self.tenant}/{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """One gateway's parts."""

    web: Web
    """What searches and reads."""
    caller: Callable[[Scope], Caller]
    """Says who makes a request."""
    traffic: Traffic
    """What runs."""
    largest_body: int
    """The most bytes of a request."""
    body_timeout: float
    """Seconds that a client has for the body of a request."""
    longest: float
    """The most seconds of a call."""
    keep_alive: float
    """Seconds of silence after which a stream of events gets a comment."""
