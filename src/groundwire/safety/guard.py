"""The guard: nothing is fetched that it has not allowed, before the look-up, after it, and when connecting."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Literal

from groundwire.errors import BlockedAddress, ConfigurationError, InvalidRequest
from groundwire.safety.blocklists import BAD_PORTS, is_special_name
from groundwire.safety.hostnames import NOT_ALLOWED, canonical_host
from groundwire.safety.ip_ranges import Address, is_metadata, is_public, parse_address, unmapped
from groundwire.safety.urls import WebUrl, parse_url

__all__ = ["Guard", "Resolver"]

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Looks up a host for a port and returns its IP addresses as text; raises OSError when the name does not resolve."""


class Guard:
    """Judges where requests may go: only to the public web, and to the origins that the operator has named.

    Args:
        allowed_origins: Exact origins such as `http://127.0.0.1:8080` that may be opened although their name,
            address or port is not public. Metadata services stay closed even so.
        origin_redirects: Where an allowed origin may lead: within itself, or also to the other allowed origins.
        resolver: Looks names up; the system's resolver when None.
        allow_nat64: Judge addresses of `64:ff9b::/96` by the IPv4 address inside, for hosts that have IPv6 only.

    Raises:
        ConfigurationError: One of `allowed_origins` is not an origin; all that are not are named.
    """

    def __init__(
        self,
        *,
        allowed_origins: Iterable[str] = (),
        origin_redirects: Literal["same", "allowed"] = "same",
        resolver: Resolver | None = None,
        allow_nat64: bool = False,
    ) -> None:
        allowed = _origins(allowed_origins)
        self._origins = frozenset(url.origin for url in allowed)
        self._sockets = frozenset((url.host, url.port) for url in allowed)
        self._linked = origin_redirects == "allowed"
        self._resolver = resolver or _look_up
        self._allow_nat64 = allow_nat64
        # What the names of allowed origins led to. It only grows: a connection may still be on its way to an
        # address that a later look-up no longer gives.
        self._granted = {(unmapped(address), url.port) for url in allowed if (address := url.address) is not None}

    def admit(self, url: str | WebUrl) -> WebUrl:
        """Return a URL that may be looked up: its form, name, port and literal address are allowed.

        Raises:
            InvalidRequest: It is not an http or https address.
            BlockedAddress: It is one that may not be opened.
        """
        parsed = url if isinstance(url, WebUrl) else parse_url(url)
        exempt = (parsed.host, parsed.port) in self._sockets
        if exempt and parsed.origin not in self._origins:
            raise BlockedAddress(NOT_ALLOWED)
        self._judge(parsed.host, parsed.port, exempt=exempt)
        return parsed

    def follow(self, source: WebUrl, url: WebUrl) -> WebUrl:
        """Return where a page leads, if that may be looked up; nothing leads to an allowed origin but that origin.

        The operator has named it for those who ask for it, not for whatever another page, allowed or not, sends there,
        unless `origin_redirects` links those that are allowed.

        Args:
            source: The page that leads there.
            url: Where it leads.

        Raises:
            BlockedAddress: it may not be opened, or not from there.
        """
        target = self.admit(url)
        linked = self._linked and self.is_exempt(source.host, source.port)
        if self.is_exempt(target.host, target.port) and target.origin != source.origin and not linked:
            raise BlockedAddress(NOT_ALLOWED)
        return target

    def is_exempt(self, host: str, port: int) -> bool:
        """Tell whether a host and port are those of an allowed origin."""
        try:
            return (canonical_host(host), port) in self._sockets
        except (InvalidRequest, BlockedAddress):
            return False

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """Look a host up once and return its addresses, all of them judged; connect to these and to no others.

        Args:
            host: A name or an address, IPv6 without brackets.
            port: The port it will be asked on.

        Raises:
            BlockedAddress: The host is not allowed, has no address, or one of its addresses is not public.
            OSError: The name does not resolve.
        """
        try:
            name = canonical_host(host)
        except InvalidRequest as exc:
            raise BlockedAddress(NOT_ALLOWED) from exc
        exempt = (name, port) in self._sockets
        self._judge(name, port, exempt=exempt)
        if parse_address(name) is not None:
            return (name,)
        answers = tuple(dict.fromkeys(await self._resolver(name, port)))
        parsed = [address for answer in answers if (address := parse_address(answer)) is not None]
        if not parsed or len(parsed) < len(answers):
            raise BlockedAddress(NOT_ALLOWED)
        for address in parsed:
            self._judge_address(address, exempt=exempt)
        if exempt:
            self._granted.update((unmapped(address), port) for address in parsed)
        return answers

    async def check(self, url: str | WebUrl) -> WebUrl:
        """Return a URL that may be given to a remote reader: it is admitted and leads to public addresses only.

        Raises:
            InvalidRequest: It is not an http or https address.
            BlockedAddress: It may not be opened, or its name does not resolve.
        """
        parsed = self.admit(url)
        try:
            await self.resolve(parsed.host, parsed.port)
        except OSError as exc:
            raise BlockedAddress(NOT_ALLOWED) from exc
        return parsed

    def permits(self, address: str, port: int) -> bool:
        """Tell whether a socket may connect to an address: the last gate, when the address is final.

        Args:
            address: The IP address of the socket.
            port: Its port.

        Returns:
            True for a public address, and for one that an allowed origin's host led to on this port.
        """
        parsed = parse_address(address)
        if parsed is None or is_metadata(parsed):
            return False
        return is_public(parsed, allow_nat64=self._allow_nat64) or (unmapped(parsed), port) in self._granted

    def _judge(self, host: str, port: int, *, exempt: bool) -> None:
        """Raise BlockedAddress unless a canonical host may be asked on a port, as far as is known without DNS."""
        address = parse_address(host)
        if address is not None:
            self._judge_address(address, exempt=exempt)
        if exempt:
            return
        if address is None and is_special_name(host):
            raise BlockedAddress(
                "This name is not allowed: it is for local networks. Only public web addresses may be opened."
            )
        if port in BAD_PORTS:
            raise BlockedAddress(f"Port {port} is not allowed: it belongs to another service than the web.")

    def _judge_address(self, address: Address, *, exempt: bool) -> None:
        if is_metadata(address) or not (exempt or is_public(address, allow_nat64=self._allow_nat64)):
            raise BlockedAddress(NOT_ALLOWED)


def _origins(texts: Iterable[str]) -> frozenset[WebUrl]:
    """Return the origins as URLs, or raise ConfigurationError with a line for each that is none."""
    origins, faults = set(), []
    for text in texts:
        try:
            url = parse_url(text)
        except (InvalidRequest, BlockedAddress) as exc:
            faults.append(f"allowed_origins: {text!r} is not an origin such as http://127.0.0.1:8080 ({exc})")
            continue
        if url.target != "/" or "?" in text or "#" in text:
            faults.append(f"allowed_origins: {text!r} has more than scheme, host and port; write {url.origin!r}")
        origins.add(url)
    if faults:
        raise ConfigurationError("\n".join(faults))
    return frozenset(origins)


async def _look_up(host: str, port: int) -> Sequence[str]:
    """Ask the system's resolver."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as exc:  # the codec that the standard library encodes names with is stricter than the DNS
        raise socket.gaierror(socket.EAI_NONAME, "not a name that can be looked up") from exc
    return [str(sockaddr[0]) for *_, sockaddr in found]
