"""Tenancy: who owns stored data, who may see it, and which URLs are public by construction.

A read of anything that is kept takes a `Viewer` by keyword, so that one without does not type-check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NewType, Protocol, Self, TypeAlias, TypeVar, runtime_checkable
from urllib.parse import quote

from groundwire.safety.url_redaction import has_secret
from groundwire.safety.urls import WebUrl

__all__ = [
    "LOCAL",
    "OPERATOR",
    "Operator",
    "OwnedProvider",
    "Owner",
    "Partition",
    "Sharing",
    "Viewer",
    "Visibility",
    "owned_by",
    "page_visibility",
    "partition_of",
]

_P = TypeVar("_P")

Visibility = Literal["private", "public"]
"""`private`: for its owner. `public`: it says nothing about its owner but that somebody had it."""

Sharing = Literal["none", "public", "all"]
"""What owners share: nothing, what is public by construction, or everything."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose something is that is kept: a tenant's, a named session's of a library, or the local user's."""

    tenant: str = ""
    """The tenant, whose sessions all see the same; empty without tenants."""
    session: str = ""
    """The named session that owns it, without a tenant; empty for the local user."""

    @property
    def key(self) -> str:
        """What tells owners apart in the keys of a store; it has neither blanks nor colons of a name."""
        if self.tenant:
            return f"tenant:{quote(self.tenant, safe='')}"
        return f"session:{quote(self.session, safe='')}" if self.session else "local"

    def of_session(self, name: str | None) -> Owner:
        """Return who owns what a session keeps.

        Args:
            name: The session's name; None for one that no other caller can use.
        """
        if not name or self.tenant:
            return self
        return Owner(session=name.encode("utf-8", "backslashreplace").decode())  # stores take no lone surrogates


LOCAL: Final = Owner()
"""The local user: the library or the command line without tenants and named sessions."""


@dataclass(frozen=True, slots=True)
class Operator:
    """Who runs the installation, and may see everything that is kept."""


OPERATOR: Final = Operator()
"""The one value of its class."""

Viewer: TypeAlias = Owner | Operator
"""Who reads stored data."""


@runtime_checkable
class OwnedProvider(Protocol):
    """A provider whose answers depend on whose call it is, as those of an archive do."""

    def owned_by(self, owner: Owner) -> Self:
        """Return the same provider for the calls of an owner."""
        ...


def owned_by(provider: _P, owner: Owner) -> _P:
    """Return a provider for the calls of an owner; most are the same for all."""
    return provider.owned_by(owner) if isinstance(provider, OwnedProvider) else provider


Partition = NewType("Partition", str)
"""The part of a store in which something is kept; made by `partition_of`."""


def partition_of(owner: Owner, visibility: Visibility, sharing: Sharing) -> Partition:
    """Return the part of a store in which something is kept, and in which alone it is looked for.

    Args:
        owner: Whose it is.
        visibility: Whether it is public by construction.
        sharing: What the operator lets owners share.
    """
    shared = sharing == "all" or (sharing == "public" and visibility == "public")
    return Partition("shared" if shared else owner.key)


def page_visibility(url: WebUrl) -> Visibility:
    """Return whether a page that was fetched without a credential may be known to others.

    A query or a fragment may be a person's words or a capability, so such a page stays its owner's.
    """
    return "private" if "?" in url.target or url.fragment or has_secret(url.text) else "public"
