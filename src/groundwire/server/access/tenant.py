"""Whose request it is, and what that allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from groundwire.errors import InvalidRequest
from groundwire.routing.daily_quota import DailyLimits
from groundwire.server.access.keys import KeyLimits, KeyRecord

if TYPE_CHECKING:
    from groundwire.web import Web

__all__ = ["TENANT", "Tenant", "tenant_of"]

TENANT = "groundwire.tenant"
"""Where a request's scope has its tenant."""

_LONGEST = 100  # characters of a session's name


@dataclass(frozen=True, slots=True)
class Tenant:
    """The holder of the key that a request came with. It holds no part of the key, and may be logged."""

    id: str
    """Whose sessions it can reach."""
    key_id: str
    """What names the key."""
    name: str
    """What the key's owner calls it."""
    operator: bool
    """Whether it may see what concerns everybody."""
    limits: KeyLimits
    """What it may use."""

    @classmethod
    def of(cls, record: KeyRecord) -> Tenant:
        """Return the holder of a key."""
        return cls(record.tenant, record.id, record.name, record.operator, record.limits)

    @property
    def daily(self) -> DailyLimits:
        """What the key may use in a day."""
        limits = self.limits
        return DailyLimits(name=f"key:{self.key_id}", calls=limits.calls_per_day, cost_usd=limits.usd_per_day)

    @property
    def prefix(self) -> str:
        """With which the names of the tenant's sessions begin in the store."""
        return f"tenant:{self.id}:"

    def session(self, name: str) -> str:
        """Return the name in the store of what the tenant calls a session; no other tenant's has the same.

        Args:
            name: 1 to 100 printable characters.

        Raises:
            InvalidRequest: it is none such.
        """
        if not 0 < len(name) <= _LONGEST or not name.isprintable():
            raise InvalidRequest("session", "is no name of a session", f"Pass 1 to {_LONGEST} printable characters.")
        return f"{self.prefix}{name}"

    def narrow(self, web: Web) -> Web:
        """Return a view of a `Web` that may do what the key may: its providers, its domains, its day's budget.

        Make sessions of that view, `tenant.narrow(web).session(tenant.session(name))`, so that they pay into the
        day's budget as well as into their own.
        """
        limits = self.limits
        return web.restricted(
            providers=limits.providers,
            allowed_domains=limits.allowed_domains,
            blocked_domains=limits.blocked_domains,
            daily=self.daily,
        )


def tenant_of(scope: Mapping[str, Any]) -> Tenant | None:
    """Return whose request it is; None where no keys are asked for, which is on loopback only."""
    found = scope.get(TENANT)
    return found if isinstance(found, Tenant) else None
