"""Tenancy: who owns stored data, who may see it, and which URLs are public by construction.

Reading stored data requires a `Viewer` as a keyword argument, so that a call without one does not type-check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NewType, Protocol, Self, TypeAlias, TypeVar, cast, runtime_checkable
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
    "is_owned",
    "owned_by",
    "page_visibility",
    "partition_of",
]

_P = TypeVar("_P")

Visibility = Literal["private", "public"]
"""`private`: for its owner. `public`: reveals nothing about its owner but that someone had it."""

Sharing = Literal["none", "public", "all"]
"""What owners share: nothing, public data, or everything."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of stored data: a tenant, a named session of the library, or the local user."""

    tenant: str = ""
    """The tenant, with shared data of all its sessions; empty without tenants."""
    session: str = ""
    """The named session that owns it, without a tenant; empty for the local user."""

    @property
    def key(self) -> str:
        """A unique key of the owner in a store, without spaces and colons."""
        if self.tenant:
            return f"tenant:{quote(self.tenant, safe='')}"
        return f"session:{quote(self.session, safe='')}" if self.session else "local"

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


@runtime_checkable
class OwnedProvider(Protocol):
    """A provider whose answers depend on whose call it is, as those of an archive do."""

    def owned_by(self, owner: Owner) -> Self:
        """Return the same provider for the calls of an owner."""
        ...


def is_owned(provider: object) -> bool:
    """Whether a provider is an `OwnedProvider`; faster than `isinstance`, which inspects the protocol."""
    return hasattr(provider, "owned_by")


def owned_by(provider: _P, owner: Owner) -> _P:
    """Return a provider for the calls of an owner; most are the same for all."""
    return cast("_P", cast("OwnedProvider", provider).owned_by(owner)) if is_owned(provider) else provider


Partition = NewType("Partition", str)
"""A partition of a store; created by `partition_of`."""


def partition_of(owner: Owner, visibility: Visibility, sharing: Sharing) -> Partition:
    """Return the partition in which data is stored and looked up.

    Args:
        owner: The owner.
        visibility: Whether it is public by construction.
        sharing: What the operator lets owners share.
    """
    shared = sharing == "all" or (sharing == "public" and visibility == "public")
    return Partition("shared" if shared else owner.key)


def page_visibility(url: WebUrl) -> Visibility:
    """Return whether a page fetched without credentials may be shared.

    A query or a fragment may contain private text or a capability, so such a page is private.
    """
    return "private" if "?" in url.target or url.fragment or has_secret(url.text) else "public"
