"""The socket that a server of ours listens on."""

from __future__ import annotations

import socket

from groundwire.errors import ConfigurationError

__all__ = ["listen"]

_BACKLOG = 512


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: A name or address of this machine.
        port: The port; 0 is any that is free.

    Raises:
        ConfigurationError: it is taken, or may not be used.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        # With the protocol named, asyncio switches Nagle's algorithm off, which would hold each small event back 40 ms.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(_BACKLOG)
        except BaseException:
            made.close()
            raise
        return made
    except OSError as error:
        raise ConfigurationError(
            f"Nothing can listen at {host}, port {port}: {error.strerror or error}. Give another --host or --port."
        ) from error
