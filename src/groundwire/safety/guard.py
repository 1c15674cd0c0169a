"""The guard: nothing is fetched that it has not allowed, before the look-up, after it, and when connecting.

The ports that it refuses are those that browsers do not speak HTTP to: the WHATWG Fetch standard, section 2.9 "Port
blocking" (https://fetch.spec.whatwg.org/#port-blocking).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Literal

from groundwire.errors import BlockedAddress, ConfigurationError, InvalidRequest
from groundwire.safety.hostnames import NOT_ALLOWED, canonical_host
from groundwire.safety.ip_ranges import Address, address_rows, is_metadata, is_public, parse_address, unmapped
from groundwire.safety.urls import WebUrl, parse_url

BAD_PORTS = frozenset(map(int, address_rows("port")))
"""Port numbers that carry other protocols, whose servers can be made to act on an HTTP request's text."""


SPECIAL_SUFFIXES = frozenset(address_rows("suffix"))
"""Names that are meant for one network or machine, together with everything below them."""


def is_special_name(host: str) -> bool:
    """Tell whether a name can only lead inside a network.

    Names of one label are among them: a resolver completes them with the domains of its own network.

    Args:
        host: A name in lower-case ASCII without a trailing dot; not an IP address.
    """
    labels = host.split(".")
    return len(labels) == 1 or any(".".join(labels[i:]) in SPECIAL_SUFFIXES for i in range(len(labels)))


Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Resolves a host for a port to IP addresses as text; raises OSError if the name does not resolve."""


class Guard:
    """Decides where requests may go: only to the public web, and to the operator's allowed origins.

    Args:
        allowed_origins: Exact origins such as `http://127.0.0.1:8080` that are allowed although their name, address or
            port is not public. Metadata services are always blocked.
        origin_redirects: Where an allowed origin may lead: within itself, or also to the other allowed origins.
        resolver: Resolves names; the system's resolver if None.

    Raises:
        ConfigurationError: Some of `allowed_origins` are invalid; all of them are listed.
    """

    def __init__(
        self,
        *,
        allowed_origins: Iterable[str] = (),
        origin_redirects: Literal["same", "allowed"] = "same",
        resolver: Resolver | None = None,
    ) -> None:
        allowed = _origins(allowed_origins)
        self._origins = frozenset(url.origin for url in allowed)
        self._sockets = frozenset((url.host, url.port) for url in allowed)
        self._linked = origin_redirects == "allowed"
        self._resolver = resolver or _look_up
        # The resolved addresses of allowed origins. Entries are never removed: a connection may still use an address
        # that a later lookup no longer returns.
        self._granted = {(unmapped(address), url.port) for url in allowed if (address := url.address) is not None}

    def admit(self, url: str | WebUrl) -> WebUrl:
        """Return a URL that may be looked up: its form, name, port and literal address are allowed.

        Raises:
            InvalidRequest: It is not an http or https URL.
            BlockedAddress: It is not allowed.
        """
        parsed = url if isinstance(url, WebUrl) else parse_url(url)
        exempt = (parsed.host, parsed.port) in self._sockets
        if exempt and parsed.origin not in self._origins:
            raise BlockedAddress(NOT_ALLOWED)
        self._judge(parsed.host, parsed.port, exempt=exempt)
        return parsed

    def follow(self, source: WebUrl, url: WebUrl) -> WebUrl:
        """Return the target of a page's link or redirect if it is allowed.

        An allowed origin may lead to itself, or with `origin_redirects="allowed"` to another allowed one. It is allowed
        for callers that ask for it, not for redirects of other pages.

        Args:
            source: The page.
            url: The target.

        Raises:
            BlockedAddress: it is not allowed, or not from there.
        """
        target = self.admit(url)
        linked = self._linked and self.is_exempt(source.host, source.port)
        if self.is_exempt(target.host, target.port) and target.origin != source.origin and not linked:
            raise BlockedAddress(NOT_ALLOWED)
        return target

    def is_exempt(self, host: str, port: int) -> bool:
        """Return whether a host and port belong to an allowed origin."""
        try:
            return (canonical_host(host), port) in self._sockets
        except (InvalidRequest, BlockedAddress):
            return False

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """Resolve a host once and return its checked addresses; connect only to these.

        Args:
            host: A name or an address, IPv6 without brackets.
            port: The port of the connection.

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
        """Return a URL that may be passed to a remote reader: it is allowed and resolves only to public addresses.

        Raises:
            InvalidRequest: It is not an http or https URL.
            BlockedAddress: It is not allowed, or its name does not resolve.
        """
        parsed = self.admit(url)
        try:
            await self.resolve(parsed.host, parsed.port)
        except OSError as exc:
            raise BlockedAddress(NOT_ALLOWED) from exc
        return parsed

    def permits(self, address: str, port: int) -> bool:
        """Return whether a socket may connect to an address: the last check, when the address is final.

        Args:
            address: The IP address of the socket.
            port: Its port.

        Returns:
            True for a public address, and for one that an allowed origin's host resolved to on this port.
        """
        parsed = parse_address(address)
        if parsed is None or is_metadata(parsed):
            return False
        return is_public(parsed) or (unmapped(parsed), port) in self._granted

    def _judge(self, host: str, port: int, *, exempt: bool) -> None:
        """Raise BlockedAddress unless a canonical host and port are allowed, as far as known without DNS."""
        address = parse_address(host)
        if address is not None:
            self._judge_address(address, exempt=exempt)
        if exempt:
            return
        if address is None and is_special_name(host):
            raise BlockedAddress(
                "This name is not allowed: it is reserved for local networks. Only public web addresses may be opened."
            )
        if port in BAD_PORTS:
            raise BlockedAddress(f"Port {port} is not allowed: it belongs to a service other than the web.")

    def _judge_address(self, address: Address, *, exempt: bool) -> None:
        if is_metadata(address) or not (exempt or is_public(address)):
            raise BlockedAddress(NOT_ALLOWED)


def _origins(texts: Iterable[str]) -> frozenset[WebUrl]:
    """Parse the origins, or raise ConfigurationError with a line for each invalid one."""
    origins, faults = set(), []
    for text in texts:
        try:
            url = parse_url(text)
        except (InvalidRequest, BlockedAddress) as exc:
            faults.append(f"policy.allowed_origins: {text!r} is not an origin such as http://127.0.0.1:8080 ({exc})")
            continue
        if url.target != "/" or "?" in text or "#" in text:
            faults.append(f"policy.allowed_origins: {text!r} has more than scheme, host and port; write {url.origin!r}")
        origins.add(url)
    if faults:
        raise ConfigurationError("\n".join(faults))
    return frozenset(origins)


async def _look_up(host: str, port: int) -> Sequence[str]:
    """Call the system's resolver."""
    try:
        answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as exc:  # the standard library's codec for names is stricter than the DNS
        raise socket.gaierror(socket.EAI_NONAME, "not a name that can be looked up") from exc
    return [str(sockaddr[0]) for *_, sockaddr in answers]
