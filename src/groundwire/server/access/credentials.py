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


def without_key(given: Headers) -> Headers:
    """Return a request's headers without what is a key of ours: the application needs none.

    What `X-API-Key` and `Authorization` say to others is left, such as to the model server behind the proxy.
    """
    return [(name, value) for name, value in given if not _holds_key(name.lower(), value.decode("latin-1"))]


def _holds_key(name: bytes, value: str) -> bool:
    if name == b"x-api-key":
        return value.strip().startswith(_PREFIX)
    return name == b"authorization" and _bearer(value).startswith(_PREFIX)


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
