"""What every endpoint of a gateway shares."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Scope

from groundwire.server.access import Tenant, tenant_of
from groundwire.server.http.traffic import Traffic
from groundwire.web import Web

__all__ = ["Caller", "House"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever makes a request, and the web as it is for them."""

    web: Web
    """What they may use of the gateway's `Web`."""
    tenant: Tenant | None = None
    """Who they are; None where no key is asked for."""

    @property
    def name(self) -> str:
        """What tells them from others; empty where no key is asked for."""
        return self.tenant.id if self.tenant else ""

    def session(self, name: str | None) -> Web:
        """Return a session of theirs, a new one without a name. Nobody else's session has this name."""
        if name is None or self.tenant is None:
            return self.web.session(name)
        return self.web.session(self.tenant.session(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """One gateway's parts."""

    web: Web
    """What searches and reads."""
    traffic: Traffic
    """What runs."""
    longest: float = 600.0
    """The most seconds of a call."""
    keep_alive: float = 10.0
    """Seconds of silence after which a stream of events gets a comment."""

    def caller(self, scope: Scope) -> Caller:
        """Return who makes a request, as the gate has found out."""
        tenant = tenant_of(scope)
        return Caller(self.web) if tenant is None else Caller(tenant.narrow(self.web), tenant)

    def whose(self, scope: Scope) -> tuple[str, Web]:
        """Return the name of who makes a request, and the web as it is for them."""
        caller = self.caller(scope)
        return caller.name, caller.web
