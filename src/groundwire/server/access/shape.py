"""The head of a request: one meaning for everybody who reads it, or none.

Two readers of one request that understand it differently (a proxy in front, the server, the application) are how
requests are smuggled past whoever judges them (RFC 9112, 11.2); so what can be read in two ways is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import unquote_to_bytes

from groundwire.server.access.refusal import Refusal
from groundwire.server.mcp.presence import Scope

__all__ = ["check_headers", "check_path", "declared_length"]

_ONCE = frozenset(
    {
        b"access-control-request-method",
        b"authorization",
        b"content-length",
        b"content-type",
        b"expect",
        b"host",
        b"origin",
        b"sec-fetch-dest",
        b"sec-fetch-mode",
        b"sec-fetch-site",
        b"transfer-encoding",
        b"x-api-key",
    }
)
"""Headers that mean nothing when they come twice."""

_MOST = 100  # headers
_LARGEST = 32_768  # bytes of all headers; a server that reads faster than it counts may let more through
_LONGEST = 8_192  # bytes of a path with its query
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_ENCODED_AGAIN = re.compile(rb"%(?:2e|2f|5c|00|25)", re.IGNORECASE)
_LENGTH = re.compile(rb"\d{1,18}")


def check_headers(given: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return the headers that decide something, by their names in lower case.

    Raises:
        Refusal: one of them comes twice, two of them contradict each other, or there are too many.
    """
    headers = list(given)
    if len(headers) > _MOST or sum(len(name) + len(value) for name, value in headers) > _LARGEST:
        raise Refusal(431, "too_many_headers", f"Send at most {_MOST} headers, {_LARGEST:,} bytes in all.")
    names = Counter(name.lower() for name, _ in headers)
    for name in _ONCE:
        if names[name] > 1:
            raise Refusal(400, "conflicting_headers", f"Send the header {name.decode()} once.")
    if names[b"content-length"] and names[b"transfer-encoding"]:
        raise Refusal(400, "conflicting_headers", "Send Content-Length or Transfer-Encoding, not both.")
    if any(_CONTROL.search(value.replace(b"\t", b" ")) for _, value in headers):
        raise Refusal(400, "bad_header", "A header has a control character.")
    return {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in headers if name.lower() in _ONCE}


def declared_length(headers: Mapping[str, str]) -> int | None:
    """Return the bytes that a body is said to have; None if nothing is said.

    Raises:
        Refusal: it is no number.
    """
    given = headers.get("content-length")
    if given is None:
        return None
    if not _LENGTH.fullmatch(given.encode("latin-1")):
        raise Refusal(400, "bad_header", "Content-Length is no number.")
    return int(given)


def check_path(scope: Scope) -> None:
    """See that a path names one place, whoever decodes it, and however often.

    Raises:
        Refusal: it is no path from the root, has empty or dotted parts, backslashes, control characters, or is encoded
            twice.
    """
    raw = bytes(scope.get("raw_path") or str(scope["path"]).encode("utf-8", "surrogatepass"))
    if len(raw) + len(scope.get("query_string", b"")) > _LONGEST:
        raise Refusal(414, "path_too_long", f"Send at most {_LONGEST:,} bytes of address.")
    path = unquote_to_bytes(raw)
    parts = path.split(b"/")
    wrong = (
        not raw.startswith(b"/")
        or b"" in parts[1:-1]
        or any(part in {b".", b".."} for part in parts)
        or b"\\" in path
        or _CONTROL.search(path)
        or _ENCODED_AGAIN.search(path)
        or path.startswith(b"//")
    )
    if not wrong:
        try:
            path.decode()
        except UnicodeDecodeError:
            wrong = True
    if wrong:
        raise Refusal(400, "bad_path", "The path is not in its plain form: no //, no dots, no double encoding.")
