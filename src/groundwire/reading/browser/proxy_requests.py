"""Parser of a browser's requests to a forward proxy (RFC 9112, section 3.2; RFC 9110, section 9.3.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["BrowserRequest", "NotUnderstood", "parse_head"]

_CONNECT: Final = re.compile(r"CONNECT ([^\s/?#@]+) HTTP/1\.[01]", re.ASCII)
_ABSOLUTE: Final = re.compile(
    r"([A-Z]{3,16}) [hH][tT][tT][pP]://([^\s/?#@]+)(/[^\s#]*|\?[^\s#]*)? HTTP/1\.[01]", re.ASCII
)
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"}
)
"""Hop-by-hop headers (RFC 9110, section 7.6.1)."""


class NotUnderstood(ValueError):
    """The bytes are not a valid request to a proxy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserRequest:
    """One request to a proxy."""

    host: str
    """The requested name or address, IPv6 without brackets."""
    port: int
    """Its port."""
    tunnel: bool
    """Whether a tunnel is requested (CONNECT); its content is between the browser and the host."""
    method: str
    """The method."""
    target: str = "/"
    """Path and query; not for a tunnel."""
    headers: tuple[str, ...] = ()
    """The header lines for the host; not for a tunnel."""
    length: int = 0
    """The length of its body in bytes."""

    @property
    def authority(self) -> str:
        """Host and port as written in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def head(self, *, absolute: bool = False, more: tuple[str, ...] = ()) -> bytes:
        """Return the request head for the next server.

        Args:
            absolute: Whether that is another proxy, which expects the absolute URL.
            more: Additional header lines.
        """
        target = f"http://{self.authority}{self.target}" if absolute else self.target
        lines = (f"{self.method} {target} HTTP/1.1", *self.headers, *more, "Connection: close", "", "")
        return "\r\n".join(lines).encode("latin-1")


def parse_head(data: bytes) -> BrowserRequest:
    """Parse a request head, including the empty line at its end.

    Raises:
        NotUnderstood: it is invalid, or ambiguous between servers.
    """
    first, *lines = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    if match := _CONNECT.fullmatch(first):
        host, port = _split(match[1], None)
        return BrowserRequest(host=host, port=port, tunnel=True, method="CONNECT")
    match = _ABSOLUTE.fullmatch(first)
    if match is None:
        raise NotUnderstood("not a request to a proxy")
    host, port = _split(match[2], 80)
    kept, length = [], None
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _NAME.fullmatch(name) or "\r" in value or "\n" in value or "\0" in value:
            raise NotUnderstood("a header line is malformed")
        small = name.lower()
        if small == "transfer-encoding":
            raise NotUnderstood("a body of unknown length")
        if small == "content-length":
            said = value.strip()
            if length is not None or not said.isascii() or not said.isdecimal() or len(said) > 12:
                raise NotUnderstood("a body of unknown length")
            length = int(said)
        if small not in _HOP:
            kept.append(line)
    target = match[3] or "/"
    return BrowserRequest(
        host=host,
        port=port,
        tunnel=False,
        method=match[1],
        target=target if target.startswith("/") else f"/{target}",
        headers=tuple(kept),
        length=length or 0,
    )


def _split(authority: str, usual: int | None) -> tuple[str, int]:
    """Split an authority into host and port."""
    if authority.startswith("["):
        host, bracket, rest = authority[1:].partition("]")
        if not bracket or ":" not in host or (rest and not rest.startswith(":")):
            raise NotUnderstood("not an authority")
        said = rest[1:]
    else:
        host, _, said = authority.partition(":")
        rest = authority[len(host) :]
    if not rest and usual is not None:
        return host, usual
    if not said.isascii() or not said.isdecimal() or len(said) > 5 or not 0 < int(said) < 65_536 or not host:
        raise NotUnderstood("not an authority")
    return host, int(said)
