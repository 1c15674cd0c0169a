"""The HTTP clients of a `Web`, one per kind of traffic."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from groundwire.errors import BlockedAddress
from groundwire.safety.guard import Guard, Resolver
from groundwire.safety.urls import parse_url
from groundwire.settings import Settings
from groundwire.transport import Transport

if TYPE_CHECKING:
    from groundwire.cassette import Cassette


class HttpClients:
    """HTTP clients, each with its own guard and connection pool.

    With one pool a page could ride on a connection that was opened under another kind's exemption.

    Args:
        settings: The settings.
        resolver: Resolves host names, instead of the system.
        cassette: Records what comes from outside, or replays it.
        make: Makes each client, of the arguments of `Transport`.
    """

    def __init__(
        self,
        settings: Settings,
        resolver: Resolver | None,
        cassette: Cassette | None,
        make: Callable[..., Transport] = Transport,
    ) -> None:
        self._make = make
        self._settings = settings
        self._cassette = cassette
        self._resolver = cassette.resolve if cassette and cassette.replaying else resolver
        self.guard: Guard = self._guard()
        self.api: Transport = self._transport(self.guard, settings.network.proxy)
        self.pages: Transport = self._transport(self.guard, settings.network.proxy)
        self._others: dict[tuple[str, str], Transport] = {}  # by exempted origin, and proxy

    def service(self, url: str) -> Transport:
        """Return the client for a public service, through the proxy for its URL."""
        proxy = self._settings.proxy_for(url)
        return self.api if proxy == self._settings.network.proxy else self._client("", proxy)

    def operator(self, base_url: str) -> Transport:
        """Return a client that may reach the origin of `base_url` in addition to public addresses."""
        origin = parse_url(base_url).origin
        try:
            Guard().admit(origin)
            proxy = self._settings.proxy_for(base_url)
        except BlockedAddress:
            proxy = ""  # an internal service is not reached through an external proxy
        return self._client(origin, proxy)

    async def aclose(self) -> None:
        """Close them all."""
        for transport in (self.api, self.pages, *self._others.values()):
            await transport.aclose()

    def _guard(self, *origins: str) -> Guard:
        policy = self._settings.policy
        return Guard(
            allowed_origins=(*policy.allowed_origins, *origins),
            origin_redirects=policy.origin_redirects,
            resolver=self._resolver,
        )

    def _client(self, origin: str, proxy: str) -> Transport:
        if (origin, proxy) not in self._others:
            self._others[origin, proxy] = self._transport(self._guard(origin) if origin else self.guard, proxy)
        return self._others[origin, proxy]

    def _transport(self, guard: Guard, proxy: str) -> Transport:
        agent = self._settings.network.user_agent
        return self._make(guard, user_agent=agent, proxy=proxy, cassette=self._cassette)
