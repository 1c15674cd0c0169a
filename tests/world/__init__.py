"""The miniature web of our tests: the one that ships, with more sites, every service, and the sites that have APIs.

with World() as world:
    brave = world.service("brave")
    ...
"""

from __future__ import annotations

import socket
import time
from datetime import date

from groundwire.testing.server import EmulatedServer
from groundwire.testing.world import World as ShippedWorld
from world.services import make_service
from world.services.searxng import SearXng
from world.site_apis import SiteApi, make_site_api
from world.sites import make_sites

__all__ = ["World", "wait_until_idle"]


class World(ShippedWorld):
    """The miniature web with everything that our tests need.

    Args:
        named: Whether search results carry names under .test (for `resolver`) instead of addresses.
        today: The day from which pages are dated; by default the real one, in UTC.
        port: The port of the first endpoint, and the following ports for the others; by default any free ones.
    """

    def __init__(self, *, named: bool = False, today: date | None = None, port: int = 0) -> None:
        self.searxng: SearXng
        self._nobody: socket.socket | None = None
        super().__init__(named=named, today=today, port=port, sites=make_sites)

    @property
    def closed_url(self) -> str:
        """A base URL whose port is reserved but has no listener: connections are refused."""
        if self._nobody is None:
            raise RuntimeError("Start the world first, as in `with World()`.")
        return f"http://127.0.0.1:{self._nobody.getsockname()[1]}"

    def start(self) -> None:
        """Start serving."""
        super().start()
        self._nobody = socket.socket()
        self._nobody.bind(("127.0.0.1", 0))

    def stop(self) -> None:
        """Close all connections and stop serving. Idempotent."""
        super().stop()
        if self._nobody is not None:
            self._nobody.close()
            self._nobody = None

    def add_searxng(self, name: str) -> SearXng:
        """Serve one more SearXNG instance with its own faults and records, and return it."""
        return self.add(SearXng(name, self.library))

    def service(self, name: str) -> EmulatedServer:
        """Return a search or read service such as `brave`, started on first use.

        Raises:
            KeyError: There is no such service; the message lists the known ones.
        """
        return self.services.get(name) or self.add(make_service(name, self.library))

    def site_api(self, name: str) -> SiteApi:
        """Return a site that is read over its API, such as `github`, started when it is first asked for.

        Raises:
            KeyError: There is no such site; the message lists the known ones.
        """
        here = self.services.get(name)
        return here if isinstance(here, SiteApi) else self.add(make_site_api(name))


def wait_until_idle(server: EmulatedServer, timeout: float = 60.0) -> None:
    """Block until a server has no open connection.

    Args:
        server: The server.
        timeout: The longest wait, in seconds.

    Raises:
        TimeoutError: Connections were still open then.
    """
    end = time.monotonic() + timeout
    while server.connections:
        if time.monotonic() > end:
            raise TimeoutError(f"{server.name} still has {server.connections} connections after {timeout} s.")
        time.sleep(0.005)
