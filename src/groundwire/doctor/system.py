"""Check of the free disk space.

Also of the port that `groundwire serve` listens on.
"""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import socket
from contextlib import closing
from pathlib import Path

from groundwire.doctor.context import Examination, Seen
from groundwire.doctor.report import DoctorFinding, Fault
from groundwire.settings import Settings
from groundwire.settings.store_url import parse_store_url
from groundwire.settings.user_folders import expand_user, user_folder
from groundwire.storage.archive.store import default_path

__all__ = ["archive_path", "check_disk", "check_port", "existing"]

_FULL, _LOW = 20_000_000, 500_000_000  # bytes; the cache may take 256 MB and the archive 500


async def check_disk(examination: Examination) -> Seen:
    """Check that there is room for the cache and the archive."""
    folders = {existing(user_folder("cache"))}
    settings = examination.settings
    if settings is not None:
        address = parse_store_url(settings.storage.url)
        if address.kind == "sqlite" and address.target:
            folders.add(existing(Path(address.target).parent))
        if settings.archive.enabled:
            folders.add(existing(archive_path(settings).parent))
    findings, seen = [], []
    for folder in sorted(folders):
        free = examination.machine.free_bytes(folder)
        seen.append(f"{free / 1e9:.1f} GB free in {folder}")
        if free < _LOW:
            findings.append(
                DoctorFinding(
                    fault=Fault.DISK_FULL if free < _FULL else Fault.DISK_LOW,
                    severity="problem" if free < _FULL else "note",
                    subject=str(folder),
                    what=f"{folder} has {free / 1e6:.0f} MB left.",
                    why="The cache and the archive are kept there; what does not fit is fetched and paid for again.",
                    fix='Make room, or move them: storage.url = "sqlite:////PATH", and archive.path.',
                )
            )
    return "; ".join(seen), findings


def archive_path(settings: Settings) -> Path:
    """Return the path of the archive."""
    return expand_user(settings.archive.path) if settings.archive.path else default_path()


def existing(folder: Path) -> Path:
    """Return a folder, or its nearest existing parent."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


_ANSWER_WAIT = 1.0  # seconds for a server there to respond


async def check_port(examination: Examination) -> Seen:
    """Check whether the gateway could listen on its port, or already does."""
    host, port = examination.listens
    if not port:
        return "any that is free", ()
    taken = await asyncio.to_thread(_taken, host, port)
    if not taken:
        return f"{host}:{port} is free", ()
    if await asyncio.to_thread(_is_gateway, host, port):
        return f"a gateway answers at {host}:{port}", ()
    return "", [
        DoctorFinding(
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
    """Return why a server could not listen there, or an empty string."""
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
    """Return whether a Groundwire gateway listens there: its two health endpoints return only a status."""
    return all(_says_status(host, port, path) for path in ("/healthz", "/readyz"))


def _says_status(host: str, port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=_ANSWER_WAIT)
    try:
        connection.request("GET", path)
        said = json.loads(connection.getresponse().read(1_000))
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return isinstance(said, dict) and said.keys() == {"status"}
