"""The tool of squidbot: one provider behind the host's port, which it matches structurally.

tool = WebSearchTool(config)          # config.provider, config.url, config.api_key
result = await tool.execute(query="reciprocal rank fusion", max_results=3)
print(result.content, result.is_error)
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from pydantic import SecretStr

from groundwire.errors import AllProvidersFailed, ConfigurationError, UnknownProvider
from groundwire.integrations.hosts import load_with, tool_of, whole_number
from groundwire.models import Attempt, SearchResult
from groundwire.settings import Settings
from groundwire.sync import SyncWeb
from groundwire.tools.calls import known_error
from groundwire.tools.conversions import harmless

__all__ = ["ToolDefinition", "ToolResult", "WebSearchTool"]

_TOOL = MappingProxyType(tool_of("squidbot"))
_PROVIDERS = MappingProxyType({"searxng": "searxng", "duckduckgo": "duckduckgo_lite", "brave": "brave"})
_MOST = 50  # results, the maximum of a query


@dataclass
class ToolResult:
    """The outcome of a call, with the fields of the host's own class."""

    tool_call_id: str
    """The ID of the call; the host fills it in."""
    content: str
    """The text for the model."""
    is_error: bool = False
    """Whether the call failed."""


@dataclass
class ToolDefinition:
    """The tool's definition for a model, with the fields of the host's own class."""

    name: str
    """The tool's name."""
    description: str
    """What it does."""
    parameters: dict[str, Any]
    """Its arguments as a JSON schema."""

    def to_openai_dict(self) -> dict[str, Any]:
        """Return it in the form of OpenAI's APIs."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


class WebSearchTool:
    """Searches with the one provider of the configuration.

    It may be used from any event loop. Its connections close with it, or with `aclose`.

    Args:
        config: The `web_search` section of the host's configuration, or a mapping: `provider` (`searxng`, `duckduckgo`
            or `brave`), `url` (the base URL of SearXNG), and `api_key` (required for Brave, sent as a bearer token to
            SearXNG, ignored for DuckDuckGo).

    Raises:
        ValueError: the provider is unknown, Brave has no key, or the URL of SearXNG is invalid.
    """

    name: str = _TOOL["name"]
    description: str = _TOOL["description"]

    def __init__(self, config: object) -> None:
        self.parameters: dict[str, Any] = tool_of("squidbot")["parameters"]  # the host may change its own
        self._web = SyncWeb(_settings(config))
        self._web.close_with_program()
        self._result, self._definition = _host_classes()

    def to_definition(self) -> ToolDefinition:
        """Return the tool's definition for a model."""
        return self._definition(self.name, self.description, self.parameters)

    async def execute(self, query: str = "", max_results: int = 5, **_: object) -> ToolResult:
        """Search. Failures are error results; never raises. In the host, the result has the host's own class.

        Args:
            query: The query.
            max_results: Maximum results.
        """
        limit = min(max(1, whole_number(max_results, 5)), _MOST)
        try:
            response = await asyncio.wrap_future(self._web.submit(lambda web: web.search(query, limit=limit)))
        except AllProvidersFailed as error:
            return self._result("", f"Search failed: {'; '.join(map(_cause, error.attempts))}", is_error=True)
        except Exception as error:  # noqa: BLE001  # known or in the log; the agent must never see a traceback
            return self._result("", f"Search failed: {known_error('web_search', error)}", is_error=True)
        if not response.results:
            return self._result("", f"No results found for: {query}")
        return self._result("", "\n\n".join(_row(number, row) for number, row in enumerate(response.results, start=1)))

    async def aclose(self) -> None:
        """Close all connections."""
        await asyncio.to_thread(self._web.close)


def _host_classes() -> tuple[type[ToolResult], type[ToolDefinition]]:
    """Return the host's own classes when running in it, so that its `isinstance` checks pass; else Groundwire's."""
    try:
        models: Any = import_module("squidbot.core.models")
        return models.ToolResult, models.ToolDefinition
    except (ImportError, AttributeError):
        return ToolResult, ToolDefinition


def _settings(config: object) -> Settings:
    """Convert a configuration to settings.

    Raises:
        ConfigurationError: it is invalid; this is a ValueError, as the host expects.
    """
    provider, url, key = (
        config.get(name) if isinstance(config, Mapping) else getattr(config, name, None)
        for name in ("provider", "url", "api_key")
    )
    if not isinstance(provider, str) or provider not in _PROVIDERS:
        raise UnknownProvider(str(provider), _PROVIDERS)
    arguments: dict[str, Any] = {"search.providers": (_PROVIDERS[provider],), "search.strategy": "fallback"}
    if isinstance(key, SecretStr):
        key = key.get_secret_value()
    if provider == "brave":
        if not (key and key.strip()):
            raise ConfigurationError("Brave Search needs a key: set api_key in the web_search configuration.")
        arguments["keys.BRAVE_API_KEY"] = key
    if provider == "searxng":
        if not url:
            raise ConfigurationError("SearXNG needs an address: set url in the web_search configuration.")
        arguments["providers.searxng.base_url"] = url
        if key and key.strip():
            arguments["keys.SEARXNG_API_KEY"] = key
    return load_with("squidbot", arguments)


def _row(number: int, row: SearchResult) -> str:
    snippet = f"\n   {' '.join(row.snippet.split())}" if row.snippet.strip() else ""
    return f"{number}. {' '.join(row.title.split())} — {row.url}{snippet}"


def _cause(attempt: Attempt) -> str:
    status = f"HTTP {attempt.status}" if attempt.status else ""
    return ": ".join(filter(None, (status, harmless(attempt.reason)))) or attempt.outcome
