"""API keys: how they are created, what is stored, and what they permit.

A key is `gw_`, eight characters that name it, `_`, and 43 random letters and digits (256 bits). Only the SHA-256 of
the whole is stored. A slow hash, as passwords need, would gain nothing: it makes short secrets more expensive to
guess, while 256 bits cannot be guessed and every request would pay for it. The name is in the key so that one record is
looked up and one comparison made, in a time that does not depend on the secret.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from groundwire.models.validators import check_domains

__all__ = ["ID", "NAME", "KeyLimits", "KeyRecord", "digest_of", "id_of", "is_key_of", "make_key", "succeed"]

ID = r"[a-z2-7]{8}"
"""The ID of a key."""
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""A valid name of a key or tenant: without colons, which separate session names."""

_KEY = re.compile(rf"gw_({ID})_[A-Za-z0-9]{{43}}")
_NAMES = "abcdefghijklmnopqrstuvwxyz234567"
_SECRET = string.ascii_letters + string.digits
_LENGTH = 43  # of 62 signs: 256 bits
_SHOWN = 4  # characters that distinguish keys; 232 bits stay secret
_NOBODY = hashlib.sha256(secrets.token_bytes(32)).hexdigest()


def _domains(value: tuple[str, ...]) -> tuple[str, ...]:
    return check_domains("domains", value)


class _Part(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )


class KeyLimits(_Part):
    """The limits of a key; 0 and empty mean no separate limit."""

    rate: int = Field(default=0, ge=0, le=1_000_000)
    """Requests per minute, in the long run."""
    burst: int = Field(default=0, ge=0, le=1_000_000)
    """The burst after a quiet period; 0 means a sixth of the rate."""
    concurrent: int = Field(default=0, ge=0, le=1_000)
    """Maximum concurrent requests."""
    calls_per_day: int = Field(default=0, ge=0)
    """Maximum searches and pages in total per day, UTC."""
    usd_per_day: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """The most US dollars per day, UTC."""
    providers: tuple[str, ...] = ()
    """The only providers that it may use."""
    allowed_domains: Annotated[tuple[str, ...], AfterValidator(_domains)] = ()
    """Only these domains and their subdomains."""
    blocked_domains: Annotated[tuple[str, ...], AfterValidator(_domains)] = ()
    """Never these domains nor their subdomains."""
    keep: bool = True
    """Whether anything may be stored for its calls, in caches and in the archive."""


class KeyRecord(_Part):
    """The stored record of a key: everything but the key itself."""

    id: str = Field(pattern=rf"^{ID}$")
    """Its ID, the second part of the key."""
    name: str = Field(pattern=rf"^{NAME}$")
    """Its name."""
    digest: str = Field(repr=False, pattern=r"^[0-9a-f]{64}$")
    """The SHA-256 of the key."""
    last: str = Field(pattern=r"^[A-Za-z0-9]{4}$")
    """Its last characters, for recognition."""
    created: datetime
    """When it was created."""
    expires: datetime | None = None
    """When it expires; None means never."""
    revoked: datetime | None = None
    """When it was revoked; None if it was not."""
    tenant: str = Field(pattern=rf"^{NAME}$")
    """The tenant whose sessions it can access; keys of one tenant share them."""
    operator: bool = False
    """Whether it may access the data of all tenants, such as metrics."""
    limits: KeyLimits = KeyLimits()
    """Its limits."""

    def why_dead(self, now: datetime) -> str:
        """Return why it is invalid at a time: `revoked`, `expired`, or an empty string if it is valid."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else ""


def make_key(
    name: str,
    now: datetime,
    *,
    expires: datetime | None = None,
    tenant: str = "",
    operator: bool = False,
    limits: KeyLimits | None = None,
) -> tuple[str, KeyRecord]:
    """Create a key, which is not stored, and its record.

    Args:
        name: What its owner calls it.
        now: When it is made.
        expires: From when on it is not valid any more.
        tenant: Whose sessions it can reach; by default only its own.
        operator: Whether it may see the data of all tenants.
        limits: What it may use.

    Raises:
        pydantic.ValidationError: a name is invalid.
    """
    own = "".join(secrets.choice(_NAMES) for _ in range(8))
    key = f"gw_{own}_" + "".join(secrets.choice(_SECRET) for _ in range(_LENGTH))
    record = KeyRecord(
        id=own,
        name=name,
        digest=digest_of(key),
        last=key[-_SHOWN:],
        created=now,
        expires=expires,
        tenant=tenant or own,
        operator=operator,
        limits=limits or KeyLimits(),
    )
    return key, record


def succeed(record: KeyRecord, now: datetime) -> tuple[str, KeyRecord]:
    """Create a key with the permissions of another, and its record.

    It has the other's name, tenant and limits, and is valid for as long as the other was made to be.

    Args:
        record: The record of the old key.
        now: When it is made.
    """
    return make_key(
        record.name,
        now,
        expires=now + (record.expires - record.created) if record.expires else None,
        tenant=record.tenant,
        operator=record.operator,
        limits=record.limits,
    )


def id_of(key: str) -> str:
    """Return the ID in a key, or an empty string if it has another format."""
    found = _KEY.fullmatch(key)
    return found[1] if found else ""


def digest_of(key: str) -> str:
    """Return the stored digest of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def is_key_of(record: KeyRecord | None, key: str) -> bool:
    """Whether a key matches a record; takes the same time without a record."""
    kept = record.digest if record is not None else _NOBODY
    return hmac.compare_digest(digest_of(key), kept) and record is not None
