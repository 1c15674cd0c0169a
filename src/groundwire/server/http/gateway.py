"""The gateway as one ASGI application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Self

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Lifespan, Message, Receive, Scope, Send

from groundwire.server.http.failures import failed, internal
from groundwire.server.http.house import Caller, House
from groundwire.server.http.openapi import openapi
from groundwire.server.http.operations import JSON, operations
from groundwire.server.http.traffic import Traffic
from groundwire.settings import Settings
from groundwire.web import Web

__all__ = ["Gateway", "build_gateway"]

_LARGEST = 2_000_000  # bytes of a request
_AT_ONCE = 256  # calls


class Gateway:
    """The gateway: an ASGI application, to be served or called in this process.

    Use it as `async with build_gateway(settings) as gateway:`, or serve it with its lifespan on.
    """

    def __init__(self, house: House, *, owned: bool) -> None:
        self._house = house
        self._owned = owned
        self.app = _application(house, self._lifespan)

    @property
    def web(self) -> Web:
        """What searches and reads."""
        return self._house.web

    @property
    def running(self) -> int:
        """How many calls run."""
        return self._house.traffic.running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""
        await self.app(scope, receive, _parting(send) if self._house.traffic.leaving else send)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Be ready for requests."""
        self._house.traffic.started = True

    def leave(self) -> None:
        """Say at `/readyz`, and with the end of every connection, that others should be asked; take calls all the same.

        A load balancer goes on sending calls until it has noticed.
        """
        self._house.traffic.leave()

    def drain(self) -> None:
        """Take no new calls; those that run go on. `/readyz` says so from now on."""
        self._house.traffic.drain()

    async def idle(self) -> None:
        """Return when no call runs."""
        await self._house.traffic.idle()

    async def aclose(self) -> None:
        """Take no more calls, and close the `Web` if it is the gateway's own."""
        self.drain()
        if self._owned:
            await self._house.web.aclose()

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        async with self:
            yield


def build_gateway(source: Settings | Web | None = None, *, at_once: int = _AT_ONCE) -> Gateway:
    """Return a gateway.

    Args:
        source: The settings in force, from which the gateway makes a `Web` of its own and closes it; or a `Web`, which
            stays the caller's to close. By default the settings are read from the environment and files.
        at_once: The most calls that run at the same time; further ones are told to try again in a moment.

    Raises:
        ConfigurationError: the settings are wrong.
    """
    web = source if isinstance(source, Web) else Web(source)
    everybody = Caller(web)
    house = House(
        web=web,
        caller=lambda _scope: everybody,
        traffic=Traffic(at_once),
        largest_body=_LARGEST,
        body_timeout=30.0,
        longest=600.0,
        keep_alive=10.0,
    )
    return Gateway(house, owned=not isinstance(source, Web))


def _application(house: House, lifespan: Lifespan[Starlette]) -> Starlette:
    described = operations(house)
    document = json.dumps(openapi(described)).encode()

    async def describe(_request: Request) -> Response:
        return Response(document, media_type=JSON)

    by_path: dict[str, dict[str, ASGIApp]] = {}
    for operation in described:
        by_path.setdefault(operation.path, {})[operation.method] = operation.app
    routes = [Route(path, _ByMethod(apps), methods=list(apps)) for path, apps in by_path.items()]
    routes.append(Route("/openapi.json", describe, methods=["GET"]))
    app = Starlette(
        routes=routes, exception_handlers={HTTPException: _http_failed, Exception: _failed}, lifespan=lifespan
    )
    app.router.redirect_slashes = False
    return app


class _ByMethod:
    """The endpoint of a path that does something else for each method."""

    def __init__(self, apps: Mapping[str, ASGIApp]) -> None:
        self._apps = apps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the one that is asked; HEAD is a GET of which the server leaves out the body."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._apps[method](scope, receive, send)


def _parting(send: Send) -> Send:
    """Return a `send` that ends the connection with the response, so that a client's next request goes elsewhere."""

    async def parting(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
        await send(message)

    return parting


async def _http_failed(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    code = {404: "no_such_path", 405: "wrong_method"}.get(error.status_code, "refused")
    text = {
        404: "There is nothing at this path; /openapi.json lists what there is.",
        405: "This path does not take that method; the header Allow says which it takes.",
    }.get(error.status_code, error.detail)
    return failed(error.status_code, code, text, headers=error.headers).response()


async def _failed(_request: Request, _error: Exception) -> Response:
    return internal().response()
