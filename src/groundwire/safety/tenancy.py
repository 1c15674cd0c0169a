"""Tenancy: who owns stored data, who may see it, and which URLs are public by construction.

Reading stored data requires a `Viewer` as a keyword argument, so that a call without one does not type-check.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

from groundwire.safety.url_redaction import has_secret, is_capability
from groundwire.safety.urls import WebUrl

Visibility = Literal["private", "public"]
"""`private`: for its owner. `public`: reveals nothing about its owner but that someone had it."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of stored data: a tenant, a named session of the library, or the local user."""

    tenant: str = ""
    """The tenant, with shared data of all its sessions; empty without tenants."""
    session: str = ""
    """The named session that owns it, without a tenant; empty for the local user."""

    key: str = field(init=False, repr=False, compare=False)
    """A unique key of the owner in a store, without spaces and colons."""

    def __post_init__(self) -> None:
        session = f"session:{quote(self.session, safe='')}" if self.session else "local"
        object.__setattr__(self, "key", f"tenant:{quote(self.tenant, safe='')}" if self.tenant else session)

    def of_session(self, name: str | None) -> Owner:
        """Return the owner of a session's data.

        Args:
            name: The session's name; None for one that no other caller can use.
        """
        if not name or self.tenant:
            return self
        return Owner(session=name.encode("utf-8", "backslashreplace").decode())  # stores do not accept lone surrogates


LOCAL: Final = Owner()
"""The local user: the library or the command line without tenants and named sessions."""


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator of the installation, who may see all stored data."""


OPERATOR: Final = Operator()
"""The only value of this class."""

Viewer: TypeAlias = Owner | Operator
"""The reader of stored data."""


def page_visibility(url: WebUrl) -> Visibility:
    """Return whether a page fetched without credentials may be shared.

    A query or a fragment may contain private text or a capability, and a path may be one, so such a page is private.
    """
    path, mark, _ = url.target.partition("?")
    return "private" if mark or url.fragment or has_secret(url.text) or is_capability(path) else "public"
