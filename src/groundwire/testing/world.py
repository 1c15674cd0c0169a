"""The miniature web as one object."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from types import TracebackType
from typing import Self, TypeVar

from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.http_messages import Recorded
from groundwire.testing.search_index import Library
from groundwire.testing.searxng import SearXng
from groundwire.testing.server import EmulatedServer, ServerThread
from groundwire.testing.site import Site
from groundwire.testing.sites import make_sites

__all__ = ["InjectedFault", "Recorded", "World"]

_Service = TypeVar("_Service", bound=EmulatedServer)


class World:
    """Sites and search services on 127.0.0.1, each on its own port, served by one thread.

    Use it as `with World() as world:`. Leaving the block breaks every connection.

    Args:
        named: Whether search results carry names under .test (for `resolver`) instead of addresses.
        today: The day from which pages are dated; by default the real one, in UTC.
        port: The port of the first endpoint, and the following ports for the others; by default any free ones.
        sites: Makes the sites; by default an encyclopedia, the documentation of a library, and a forum.

    Raises:
        OSError: On entering: one of the ports is in use.
    """

    def __init__(
        self,
        *,
        named: bool = False,
        today: date | None = None,
        port: int = 0,
        sites: Callable[[date], Iterable[Site]] = make_sites,
    ) -> None:
        self.today: date = today or datetime.now(UTC).date()
        """The day from which pages are dated."""
        self._sites = {site.name: site for site in sites(self.today)}
        self.library: Library = Library(tuple(self._sites.values()), self.today, named=named)
        self._services: dict[str, EmulatedServer] = {}
        self._thread = ServerThread(port)
        self._running = False
        self.searxng: SearXng = self.add_searxng("searxng")

    @property
    def sites(self) -> dict[str, Site]:
        """Every site by its name."""
        return dict(self._sites)

    @property
    def services(self) -> dict[str, EmulatedServer]:
        """Every search service, and every other endpoint that was added, by its name."""
        return dict(self._services)

    @property
    def endpoints(self) -> tuple[EmulatedServer, ...]:
        """Every site and every service."""
        return (*self._sites.values(), *self._services.values())

    @property
    def origins(self) -> tuple[str, ...]:
        """All origins, by address and by name, for the `allowed_origins` setting."""
        return tuple(origin for endpoint in self.endpoints for origin in (endpoint.url, endpoint.named_url))

    @property
    def names(self) -> dict[str, str]:
        """The address of every host name of this world."""
        return {endpoint.host: "127.0.0.1" for endpoint in self.endpoints}

    def site(self, name: str) -> Site:
        """Return one site.

        Raises:
            KeyError: There is no such site; the message lists the known ones.
        """
        if name not in self._sites:
            raise KeyError(f"No site {name!r}; there are {', '.join(self._sites)}.")
        return self._sites[name]

    def add(self, service: _Service) -> _Service:
        """Serve one more endpoint, immediately if the world is running, and return it.

        Raises:
            ValueError: The name or the host name is in use.
        """
        if service.name in self._services or service.host in self.names:
            raise ValueError(f"{service.name} ({service.host}) is here already; choose another name.")
        self._services[service.name] = service
        if self._running:
            self._thread.serve([service])
        return service

    def add_searxng(self, name: str) -> SearXng:
        """Serve one more SearXNG instance with its own faults and records, and return it.

        Raises:
            ValueError: The name is in use.
        """
        return self.add(SearXng(name, self.library))

    async def resolver(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host name of this world.

        Raises:
            socket.gaierror: The world has no such name.
        """
        address = self.names.get(host.lower().rstrip("."))
        if address is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [address]

    def start(self) -> None:
        """Start serving.

        Raises:
            RuntimeError: The world is already running.
        """
        self._thread.start()
        try:
            self._thread.serve(self.endpoints)
        except BaseException:
            self.stop()
            raise
        self._running = True

    def stop(self) -> None:
        """Close all connections and stop serving. Idempotent."""
        self._running = False
        self._thread.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
