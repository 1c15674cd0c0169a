"""The key in a request: where it stands, and that it goes no further."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from groundwire.server.access.refusal import Headers

__all__ = ["key_in", "without_key"]

_PREFIX = "gw_"


def key_in(headers: Mapping[str, str]) -> str:
    """Return the key of a request, or nothing if it has none.

    It stands in `X-API-Key`, else in `Authorization: Bearer KEY`, or as the password of `Authorization: Basic`, which
    is what browsers ask people for. It never stands in the address: addresses are logged.

    Args:
        headers: By their names in lower case.
    """
    own = headers.get("x-api-key", "").strip()
    return own or _bearer(headers.get("authorization", ""))


def without_key(given: Headers, *, asked: bool) -> Headers:
    """Return a request's headers without what is, or was taken for, a key of ours; the application needs none.

    With `X-API-Key` an `Authorization` for somebody else is left: the model server behind the proxy.

    Args:
        given: The headers.
        asked: Whether a key was asked for; elsewhere only what looks like one is taken away.
    """
    own = any(name.lower() == b"x-api-key" and value.strip() for name, value in given)
    return [
        (name, value)
        for name, value in given
        if not (
            (name.lower() == b"x-api-key" and (asked or value.strip().startswith(_PREFIX.encode())))
            or (
                name.lower() == b"authorization"
                and ((asked and not own) or _bearer(value.decode("latin-1")).startswith(_PREFIX))
            )
        )
    ]


def _bearer(authorization: str) -> str:
    scheme, _, rest = authorization.strip().partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(rest.strip(), validate=True).decode("latin-1").partition(":")[2]
        except (binascii.Error, ValueError):
            return ""
    return ""
