"""The port on which `groundwire serve` listens."""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import socket
from contextlib import closing

from groundwire.onboarding.checks.examination import Examination, Seen
from groundwire.onboarding.checks.faults import Fault
from groundwire.onboarding.checks.report import Finding

__all__ = ["check_port"]

_PATIENCE = 1.0  # seconds for whoever listens there to answer


async def check_port(examination: Examination) -> Seen:
    """See whether the gateway could listen, or listens already."""
    host, port = examination.listens
    if not port:
        return "any that is free", ()
    taken = await asyncio.to_thread(_taken, host, port)
    if not taken:
        return f"{host}:{port} is free", ()
    if await asyncio.to_thread(_is_gateway, host, port):
        return f"a gateway answers at {host}:{port}", ()
    return "", [
        Finding(
            fault=Fault.PORT_TAKEN,
            severity="problem",
            subject=f"{host}:{port}",
            what=f"groundwire serve cannot listen at {host}:{port}: {taken}.",
            why="Another program listens there.",
            fix=f"Find it (ss -ltnp 'sport = :{port}') and end it, or use another port: groundwire serve --port "
            f"{port + 1 if port < 65_535 else port - 1}",
        )
    ]


def _taken(host: str, port: int) -> str:
    """Return why nobody could listen there, or nothing."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with closing(socket.socket(family, socket.SOCK_STREAM)) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1)
    except OSError as error:
        return "the port is taken" if error.errno == errno.EADDRINUSE else (error.strerror or str(error))
    return ""


def _is_gateway(host: str, port: int) -> bool:
    """Tell whether it is a gateway of ours that listens there: both of its health pages say a status and no more."""
    return all(_says_status(host, port, path) for path in ("/healthz", "/readyz"))


def _says_status(host: str, port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
    try:
        connection.request("GET", path)
        said = json.loads(connection.getresponse().read(1_000))
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return isinstance(said, dict) and said.keys() == {"status"}
