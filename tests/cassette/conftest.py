from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import pytest

from groundwire.cassette import Cassette
from groundwire.safety.guard import Guard, Resolver
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from groundwire.transport import Transport
from world import World


class Service(EmulatedServer):
    """Answers like a provider and like a site."""

    key = "CANARY-k3y-0123456789abcdef"

    def handle(self, request: Recorded) -> EmulatedResponse:
        match request.path:
            case "/search":
                return EmulatedResponse.json({"asked": len(self.requests), "query": request.query.get("q", "")})
            case "/post":
                return EmulatedResponse.json({"got": request.body.decode()})
            case "/refusing":
                text = f'{{"error": "Invalid key {self.key}"}}'
                headers = {"Retry-After": "7", "X-RateLimit-Remaining": "0", "Set-Cookie": "session=abc123def456ghi789"}
                return EmulatedResponse(
                    status=401, body=text.encode(), content_type="application/json", headers=headers
                )
            case "/old":
                return EmulatedResponse.redirect("/older")
            case "/older":
                return EmulatedResponse.redirect(f"/page?access_token={self.key}")
            case "/page":
                return EmulatedResponse.html("<title>Page</title><p>Ä page.</p>")
            case "/latin":
                return EmulatedResponse(
                    body="Gr\xfc\xdfe".encode("latin-1"), content_type="text/plain; charset=latin-1"
                )
            case "/large":
                return EmulatedResponse.text("A line of a large page.\n" * 50_000)
        return EmulatedResponse.html("<title>404</title>", status=404)


@pytest.fixture
def service(world: World) -> Service:
    return world.add(Service("service", "service.test"))


@pytest.fixture
async def transport(world: World, service: Service) -> AsyncIterator[Callable[..., Transport]]:
    """Make transports to which the world is open; they are closed at the end."""
    made: list[Transport] = []
    closed = world.closed_url

    def make(cassette: Cassette | None, *, resolver: Resolver | None = None) -> Transport:
        origins = (*world.origins, closed)
        made.append(Transport(Guard(allowed_origins=origins, resolver=resolver or world.resolver), cassette=cassette))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


@dataclass
class Line:
    """The line to the outside, as the interpreter's own audit events tell of it (PEP 578)."""

    cut: bool = False
    tried: list[str] = field(default_factory=list)

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.cut and event in {"socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"}:
            self.tried.append(event)
            raise ConnectionError(f"the network is off: {event} {arguments[1:]}")


@pytest.fixture(scope="session")
def _line() -> Line:
    line = Line()
    sys.addaudithook(line.hook)
    return line


@pytest.fixture
def offline(_line: Line) -> Iterator[Line]:
    """Nothing can be looked up or connected to from when `cut` is set."""
    _line.tried.clear()
    yield _line
    _line.cut = False
