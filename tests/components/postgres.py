"""A real PostgreSQL server on loopback, with a database of its own for each test."""

from __future__ import annotations

import os
import pwd
import select
import shutil
import signal
import subprocess
from contextlib import suppress
from itertools import count
from pathlib import Path

import psycopg

from components.needs import system_program
from components.processes import Program, ReservedPort

_START_TIMEOUT = 100.0  # seconds; it takes 1
_OPTIONS = ("fsync=off", "full_page_writes=off", "unix_socket_directories=", "max_connections=50")


class Postgres:
    """A PostgreSQL server, run by an ordinary user as it refuses to be run by root.

    Args:
        folder: An empty folder that the user `postgres` can reach.
        options: More of its settings.

    Raises:
        Unavailable: It is not installed; it comes with the system.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = (*_OPTIONS, *options)
        system_program("pg_lsclusters")
        self._bin = max(Path("/usr/lib/postgresql").glob("*/bin/postgres")).parent
        self._user: tuple[str, ...] = ()
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            shutil.chown(folder, owner.pw_uid, owner.pw_gid)
            self._user = ("setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups")
        make = [*self._user, self._bin / "initdb", "-D", folder / "data", "-U", "admin", "-A", "trust", "-E", "UTF8"]
        subprocess.run([*make, "--locale=C", "--no-sync"], check=True, capture_output=True, cwd=folder)
        self._names = count()
        self.reserved = ReservedPort()
        self._program = self._start()
        self.command("create role groundwire login")

    def url(self, database: str = "postgres", user: str = "groundwire") -> str:
        """Return the address of a database."""
        return f"postgresql://{user}@127.0.0.1:{self.reserved.number}/{database}"

    def database(self) -> str:
        """Return the address of a new database that the ordinary user `groundwire` owns."""
        name = f"archive_{next(self._names)}"
        self.command(f"create database {name} owner groundwire")
        return self.url(name)

    def command(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run a statement as the superuser, and return its rows."""
        with psycopg.connect(self.url(database, "admin"), autocommit=True) as db:
            found = db.execute(sql)
            return found.fetchall() if found.description else []

    def kill(self) -> None:
        """Kill the server and its children with SIGKILL.

        Each child has a session of its own, and would answer for a moment after the server's end.
        """
        ends = list[int]()
        for child in _children(self._program.pid):
            with suppress(ProcessLookupError):
                ends.append(os.pidfd_open(child))
        self._program.kill()
        for end in ends:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(end, signal.SIGKILL)
            select.select([end], [], [], _START_TIMEOUT)
            os.close(end)

    def stop(self) -> None:
        """Stop the server; its address stays reserved for `restart`."""
        self._program.stop()

    def restart(self) -> None:
        """Start the server again, with its data."""
        self._program = self._start()

    def _start(self) -> Program:
        options = [part for option in (f"port={self.reserved.number}", *self._options) for part in ("-c", option)]
        command = [*self._user, str(self._bin / "postgres"), "-D", str(self._folder / "data"), *options]
        program = Program("postgres", command, env={"LC_ALL": "C"}, log=self._folder / "server.log")
        program.wait_until(self._answers, _START_TIMEOUT)
        return program

    def _answers(self) -> bool:
        with suppress(psycopg.OperationalError):
            psycopg.connect(self.url(user="admin"), connect_timeout=5).close()
            return True
        return False


def _children(pid: int) -> list[int]:
    """Return the processes below one, the nearest first."""
    try:
        children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:  # it has ended meanwhile
        return []
    return children + [other for child in children for other in _children(child)]
