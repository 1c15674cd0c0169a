"""Conversion of HTTP errors: from the client library to the caller's exceptions.

A library's own words stay behind, since they may name addresses.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Final, Literal, NoReturn

from groundwire.errors import (
    BlockedAddress,
    HostNotFound,
    PageTooLarge,
    PageUnavailable,
    ProviderUnreachable,
    UnexpectedResponse,
)

# OpenSSL, x509_vfy.h: X509_V_ERR_CERT_NOT_YET_VALID and _HAS_EXPIRED; then self-signed and missing issuers.
_WRONG_TIME = frozenset({9, 10})
_UNKNOWN_AUTHORITY = frozenset({18, 19, 20, 21})


Trouble = Literal["network", "proxy", "name", "resolver", "certificate", "large", "coding", "protocol", "cassette"]
_FIXES: Final[Mapping[Trouble, str]] = {
    "proxy": "Check the setting network.proxy, or the variable HTTPS_PROXY",
    "resolver": "Check this machine's network connection and its DNS settings",
    "certificate": "Check its address. In a network that inspects TLS, set SSL_CERT_FILE to its CA bundle",
    "name": "Check its address, and that this machine is online",
    "cassette": "Record it again, with GROUNDWIRE_RECORD=FILE",
}


class ExchangeFailed(Exception):
    """A request failed; `call` and `fetch` convert it to their own exceptions."""

    def __init__(self, kind: Trouble, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


_NO_ANSWER = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL})


class Vetoed(OSError):
    """The guard rejected a socket address."""


class Overrun(OSError):
    """The socket received more than its limit."""


class SocksFailed(OSError):
    """A SOCKS proxy made no connection."""

    def __init__(self, kind: Trouble, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def translated(error: Exception, *, proxied: bool) -> Exception:
    """Convert a library's exception.

    Args:
        error: What was raised before an answer began.
        proxied: Whether a proxy was asked.
    """
    import aiohttp

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, Vetoed):
            return BlockedAddress("This address is not allowed: only public web addresses may be opened.")
        if isinstance(cause, Overrun):
            return ExchangeFailed("protocol", "sent response headers that never end")
        if isinstance(cause, SocksFailed):
            return ExchangeFailed(cause.kind, cause.detail)
        cause = getattr(cause, "os_error", None) or cause.__cause__
    match error:
        case aiohttp.ClientConnectorCertificateError():
            code = getattr(error.certificate_error, "verify_code", None)
            if code in _WRONG_TIME:
                detail = "has a TLS certificate that is not valid today, or this machine's clock is wrong"
                return ExchangeFailed("certificate", detail)
            if code in _UNKNOWN_AUTHORITY:
                return ExchangeFailed("certificate", "has a TLS certificate from an authority that is not trusted here")
            return ExchangeFailed("certificate", "has a TLS certificate that is not valid for it")
        case aiohttp.ClientSSLError():
            return ExchangeFailed("certificate", "failed to negotiate a TLS connection")
        case aiohttp.ClientHttpProxyError():
            return ExchangeFailed("proxy", f"could not be reached: the proxy refused with HTTP {error.status}")
        case aiohttp.ClientConnectorError() if proxied:  # only the proxy is resolved and connected to
            return ExchangeFailed("proxy", "could not be reached: the proxy does not respond")
        case aiohttp.ClientConnectorDNSError():
            if getattr(error.os_error, "errno", None) in _NO_ANSWER:
                return ExchangeFailed("resolver", "could not be resolved: no name server responds")
            return ExchangeFailed("name", "does not resolve")
        case aiohttp.ClientConnectorError():
            return ExchangeFailed("network", "refused the connection or could not be reached")
        case aiohttp.ClientResponseError():
            return ExchangeFailed("protocol", "sent a response that is not HTTP")
        case aiohttp.ClientConnectionError():
            return ExchangeFailed("network", "closed the connection without a response")
        case OSError():
            return ExchangeFailed("network", "could not be reached")
        case _:
            return ExchangeFailed("protocol", "could not be reached, or sent a response that is not HTTP")


def raise_provider_error(provider: str, host: str, error: ExchangeFailed) -> NoReturn:
    """Raise the exception of a failed exchange with a provider's host."""
    if error.kind in {"large", "coding", "protocol"}:
        what = host if error.kind == "protocol" else f"the answer of {host}"
        raise UnexpectedResponse(provider, f"{what} {error.detail}") from error
    fix = _FIXES.get(error.kind, "Check its address, and that it can be reached from here")
    raise ProviderUnreachable(provider, f"{host} {error.detail}", fix=fix) from error


def raise_page_error(url: str, host: str, error: ExchangeFailed) -> NoReturn:
    """Raise the exception of a failed exchange with a page's host."""
    if error.kind == "large":
        text = f"The page at {host} {error.detail}. Look for a smaller page on the same subject."
        raise PageTooLarge(url, text) from error
    if error.kind == "name":
        text = f"{nowhere(host)} Check the spelling, and that this machine is online, or search for the page."
        raise HostNotFound(url, text) from error
    if error.kind == "coding":
        raise PageUnavailable(url, f"The page at {host} {error.detail}.") from error
    raise PageUnavailable(url, f"{host} {error.detail}. {_FIXES.get(error.kind, 'Try again later')}.") from error


def nowhere(host: str) -> str:
    """Return one message for a nonexistent name and one with a private address, so that neither is revealed."""
    return f"{host} does not resolve to a public web address."
