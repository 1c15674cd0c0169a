"""Connections through a SOCKS5 proxy (RFC 1928, RFC 1929), opened by the package python-socks."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from typing import Final
from urllib.parse import unquote, urlsplit

from groundwire._version import install_extra
from groundwire.errors import BlockedAddress, ConfigurationError, InvalidRequest
from groundwire.safety.guard import Guard
from groundwire.safety.urls import parse_url
from groundwire.transport.errors import SocksFailed

_PORT: Final = 1080  # RFC 1928, section 3
_LONGEST: Final = 255  # bytes of a user name or password (RFC 1929, section 2)
_DESTINATION: Final = frozenset({3, 4, 5, 6})  # replies about the destination, not the proxy (RFC 1928, section 6)


class SocksProxy:
    """A SOCKS5 proxy.

    Args:
        url: `socks5://` or `socks5h://` with a host, and a port unless it is 1080; a user name and password if it
            requires them.

    Raises:
        ConfigurationError: the URL is invalid, or the extra `socks` is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or _PORT
            place = parse_url(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
            login = [unquote(text or "").encode("ascii").decode() for text in (parts.username, parts.password)]
        except (ValueError, InvalidRequest, BlockedAddress) as error:
            raise ConfigurationError(
                "network.proxy: this is not the URL of a SOCKS5 proxy. Write it as socks5h://proxy.example:1080, with "
                "socks5h if the proxy resolves names, with socks5 if they are resolved here. A user name and password "
                "are ASCII."
            ) from error
        self._user, self._password = login
        if max(map(len, login)) > _LONGEST or bool(self._user) != bool(self._password):
            raise ConfigurationError(
                f"network.proxy: SOCKS5 takes a user name and a password of at most {_LONGEST} characters, or neither."
            )
        if find_spec("python_socks") is None:
            raise ConfigurationError(f"network.proxy: a SOCKS proxy needs python-socks: {install_extra('socks')}.")
        self.resolves_names: bool = parts.scheme == "socks5h"
        """Whether the proxy resolves names, as HTTP proxies do; otherwise it is sent addresses."""
        self._host, self._port = place.host, place.port
        self._guard = Guard(allowed_origins=(place.origin,))

    async def connect(self, host: str, port: int) -> socket.socket:
        """Return a socket that is connected to a destination through the proxy.

        Args:
            host: An IP address, or a name if the proxy resolves names.
            port: The port.

        Raises:
            SocksFailed: the proxy does not respond or refuses, or the destination cannot be reached from it.
        """
        from python_socks import ProxyError, ProxyType
        from python_socks.async_.asyncio import Proxy

        failure: Exception | None = None
        try:
            for address in await self._guard.resolve(self._host, self._port):
                try:
                    proxy = Proxy(ProxyType.SOCKS5, address, self._port, self._user, self._password)
                    return await proxy.connect(host, port)
                except OSError as error:  # of the address; a SOCKS reply is none
                    failure = error
        except ProxyError as error:
            if error.error_code in _DESTINATION:
                raise SocksFailed("network", f"could not be reached through the proxy ({error})") from error
            raise SocksFailed("proxy", f"could not be reached: the proxy refused ({error})") from error
        except (OSError, ValueError) as error:
            failure = error
        raise SocksFailed("proxy", "could not be reached: the proxy does not respond") from failure


def socks_proxy(url: str) -> SocksProxy | None:
    """Return the SOCKS proxy of a proxy's URL, or None for another kind of proxy or none.

    Raises:
        ConfigurationError: see `SocksProxy`.
    """
    return SocksProxy(url) if url.lower().startswith(("socks5://", "socks5h://")) else None
