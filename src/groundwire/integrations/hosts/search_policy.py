"""Search for codelia: hosted by the model's API where possible, else the tool `search`, but never both in a run.

policy = SearchPolicy({"version": 1, "search": {"mode": "auto"}}, ask=ask_the_user)
path = policy.resolve("openai", "gpt-6.1-sol")
request = policy.prepare(body, "openai")           # with hosted search, or with the function tool `search`
found = await policy.search(query="rank fusion")   # what the function tool runs, with permission
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.errors import ConfigurationError, InvalidRequest
from groundwire.hosted import Plan, plan, prepare
from groundwire.hosted.api_capabilities import load_matrix
from groundwire.hosted.requirements import Location, Needs
from groundwire.integrations.hosts import load_with
from groundwire.integrations.hosts.codelia_search import local_search_tool
from groundwire.settings import Settings
from groundwire.settings.load import by_key
from groundwire.sync import SyncWeb
from groundwire.tools import Tool
from groundwire.tools.permissions import Ask, Permission, guarded

__all__ = ["SearchPolicy", "search_settings"]

_SIZES = ("low", "medium", "high")


class SearchPolicy:
    """The policy of one host. It may be used from any event loop; its connections close with it.

    Args:
        config: The host's configuration with `search`. `native.allowed_domains`, `native.user_location` and
            `native.search_context_size` apply only to hosted search, and `xai` is ignored. None means the defaults.
        ask: Called to approve a call that no rule covers. Without it, such a call is rejected.
        arguments: Further Groundwire settings by dotted key, such as `{"permission.allow": "search"}`.

    Raises:
        ConfigurationError: the configuration is invalid; the message names the key.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        *,
        ask: Ask | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.settings: Settings = search_settings(config, arguments)
        self._needs, self._context_size = _hosted_options(config or {})
        self._web = SyncWeb(self.settings)
        self._web.close_with_program()
        self.tool: Tool = guarded(local_search_tool(self._web.inner), Permission(self.settings.permission, ask=ask))
        """The tool `search`: its name, description and arguments. Call it with `search`."""

    def resolve(self, provider: str, model: str) -> Plan:
        """Return the search plan of a model.

        Raises:
            NativeUnsupported: the mode is native, and the provider has no hosted search, it is not enabled, or the
                provider is unknown.
            InvalidRequest: an argument is invalid.
        """
        return plan(load_matrix().api_or_local(provider), model, needs=self._needs, settings=self.settings)

    def prepare(self, body: Mapping[str, Any], provider: str, **options: Any) -> dict[str, Any]:
        """Return a request with one search: the API's hosted tool, or the function tool `search`.

        Args:
            body: The request, with or without a search; the rest is unchanged.
            provider: The provider of the model.
            options: See `groundwire.hosted.prepare`.

        Raises:
            NativeUnsupported, InvalidRequest: see `resolve`.
        """
        api = load_matrix().api_or_local(provider, body)
        options = {"needs": self._needs, **options}
        request = dict(prepare(body, api, settings=self.settings, tools=(self.tool,), add=True, **options))
        if self._context_size and api.provider == "openai":
            size = {"search_context_size": self._context_size}
            if "web_search_options" in request:
                request["web_search_options"] = {**request["web_search_options"], **size}
            request["tools"] = [
                {**size, **tool} if tool.get("type") == "web_search" else tool for tool in request.get("tools", ())
            ]
            if not request["tools"]:
                del request["tools"]
        return request

    async def search(
        self,
        query: str,
        max_results: int | None = None,
        backend: str | None = None,
        allowed_domains: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Return the result of the tool `search`: `query`, `backend` and `results`; after a failure `error` too.

        Args:
            query: The query.
            max_results: Maximum results.
            backend: `ddg` or `brave`; by default that of the configuration.
            allowed_domains: Only these domains and their subdomains.
        """
        given = {
            "query": query,
            "max_results": max_results,
            "backend": backend,
            "allowed_domains": None if allowed_domains is None else list(allowed_domains),
        }
        arguments = {key: value for key, value in given.items() if value is not None}
        result = dict(await asyncio.wrap_future(self._web.submit(lambda _: _called(self.tool, arguments))))
        return {**result, "backend": result["backend"] or self.settings.search.local.backend}  # a rejected call: none


async def _called(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return (await tool.call(**arguments)).model_dump(mode="json")


_HOSTED_ONLY = ("search_context_size", "allowed_domains", "user_location")  # of `native`; none is a setting here
_NO_SETTINGS = frozenset(("search.xai", *(f"search.native.{option}" for option in _HOSTED_ONLY)))


def _hosted_options(config: Mapping[str, Any]) -> tuple[Needs, str]:
    """Return the host's options for hosted search: its requirements, and the size of its context.

    Raises:
        ConfigurationError: a value is invalid.
    """
    native = config.get("search", {}).get("native", {})
    size, domains, place = (native.get(key) for key in _HOSTED_ONLY)
    if size is not None and size not in _SIZES:
        raise ConfigurationError(f"search.native.search_context_size: is {size!r}; write one of {', '.join(_SIZES)}.")
    if not isinstance(domains or (), (list, tuple)):
        raise ConfigurationError(
            f"search.native.allowed_domains: is {type(domains).__name__}; write a list of domains."
        )
    if not isinstance(place or {}, Mapping) or set(place or {}) - set(Location.__dataclass_fields__):
        parts = ", ".join(Location.__dataclass_fields__)
        raise ConfigurationError(f"search.native.user_location: is {place!r}; write an object with some of {parts}.")
    try:
        location = Location(**place) if place else None
        return Needs(allowed_domains=tuple(domains or ()), location=location), size or ""
    except InvalidRequest as error:
        raise ConfigurationError(f"search.native: {error}") from error


def search_settings(config: Mapping[str, Any] | None, arguments: Mapping[str, Any] | None = None) -> Settings:
    """Convert a configuration of codelia to settings.

    Args:
        config: The configuration with `search`; missing keys have codelia's defaults.
        arguments: Further settings by dotted key.

    Raises:
        ConfigurationError: a key is unknown, or a value is invalid.
    """
    config = config or {}
    if config.get("version", 1) != 1:
        raise ConfigurationError(f"version: is {config['version']!r}; this reads version 1 of the configuration.")
    search = config.get("search", {})
    if not isinstance(search, Mapping):
        raise ConfigurationError(f"search: is {type(search).__name__}; write an object with mode, native and local.")
    values = {key: value for key, value in by_key({"search": dict(search)}) if key not in _NO_SETTINGS}
    return load_with("codelia", {**values, **(arguments or {})})
