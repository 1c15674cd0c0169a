"""Providers over the services of the miniature web."""

from __future__ import annotations

from datetime import date
from typing import Any, TypeVar, cast

from pydantic import SecretStr

from groundwire.models import Filters, ReadResult, Results
from groundwire.providers.base import load_prices
from groundwire.providers.http_api import ApiOptions, ApiProvider
from groundwire.providers.key_rotation import Keys
from groundwire.providers.query_mapping import Mapped
from groundwire.providers.registry import provider_class, provider_names
from groundwire.safety.guard import Guard
from groundwire.testing.server import EmulatedServer
from groundwire.transport import Response, Transport
from world import World

_P = TypeVar("_P", bound=ApiProvider)


def api_class(name: str) -> Any:
    """Return the class of a provider behind an HTTP API, by its name; `Any`, for what they can do differs."""
    return provider_class(name)


APIS = tuple(name for name in provider_names() if issubclass(api_class(name), ApiProvider) and api_class(name).service)
"""The providers behind the HTTP API of a public service."""
SEARCH = tuple(name for name in APIS if api_class(name).capabilities.search)
"""Those of them that search."""
READ = tuple(name for name in APIS if api_class(name).capabilities.read)
"""Those of them that read."""
KEYED = tuple(name for name in APIS if api_class(name).key_variables)
"""Those of them that take a key."""


class Makes:
    """Creates providers that call a world's services.

    Args:
        world: The world.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._transports: list[Transport] = []

    def __call__(self, cls: type[_P], *keys: str, **options: Any) -> _P:
        """Make a provider.

        Args:
            cls: Its class.
            keys: Its keys, by default the one that the services know; an empty one stands for none.
            options: Its own settings.
        """
        name = cls.__module__.rpartition(".")[2]
        base_url = self._world.service(name).url
        return cls(
            self.transport(),
            keys=Keys(name, [SecretStr(key) for key in keys or ("test-key",) if key and cls.key_variables]),
            base_url=base_url,
            prices=load_prices().get(name),
            name=name,
            options=cls.Options(**options),
        )

    def transport(self, user_agent: str | None = None) -> Transport:
        """Return an HTTP client that may reach everything the world serves so far.

        Args:
            user_agent: What it calls itself, if not as usual.
        """
        guard = Guard(allowed_origins=self._world.origins)
        made = Transport(guard) if user_agent is None else Transport(guard, user_agent=user_agent)
        self._transports.append(made)
        return made

    async def aclose(self) -> None:
        """Close the clients."""
        for transport in self._transports:
            await transport.aclose()


def offline(name: str, options: ApiOptions | None = None, *, today: date | None = None, **more: Any) -> Any:
    """Make a provider that only maps: it has no HTTP client.

    Args:
        name: Its name.
        options: Its own settings.
        today: The day on which time ranges end.
        more: Its own settings by name, in the place of `options`.
    """
    cls = api_class(name)
    made = cls(cast("Transport", None), name=name, options=options or cls.Options(**more))
    made.today = today
    return made


def request_of(
    name: str,
    query: str,
    limit: int,
    filters: Filters,
    options: ApiOptions | None = None,
    *,
    today: date | None = None,
    **more: Any,
) -> Mapped:
    """Return a query as a request to a service; the options are those of `offline`."""
    made: Mapped = offline(name, options, today=today, **more).to_request(query, limit, filters)
    return made


def results_of(name: str, reply: Response, **options: Any) -> Results:
    """Return what a response to a search says; the options are the provider's own settings."""
    found: Results = offline(name, **options).to_results(reply, Mapped({}))
    return found


def page_of(name: str, reply: Response, url: str) -> ReadResult:
    """Return what a response to a request for a page says."""
    page: ReadResult = offline(name).to_page(reply, url)
    return page


def sent(service: EmulatedServer) -> dict[str, Any]:
    """Return the JSON object that a service last received."""
    body = service.requests[-1].json()
    assert isinstance(body, dict)
    return body


async def posted(provider: ApiProvider, path: str, body: dict[str, Any]) -> Any:
    """Return the JSON value with which a provider's service answers a body, as it came."""
    return await provider.ask(Mapped(body), Response.json, method="POST", path=path, deadline=None)
