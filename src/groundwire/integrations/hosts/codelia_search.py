"""Codelia's tool `search`: one search by DuckDuckGo or Brave, with the arguments of its specification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from groundwire.errors import MissingKey
from groundwire.models import MAX_LIMIT
from groundwire.tools.argument_coercion import positional, understood
from groundwire.tools.calls import known_error
from groundwire.tools.conversions import for_model, nothing_found, shown
from groundwire.tools.definitions import local_search_definition
from groundwire.tools.results import LocalSearchItem, LocalSearchToolResult
from groundwire.tools.toolset import Tool, tool_of

if TYPE_CHECKING:
    from groundwire.web import Web

__all__ = ["local_search_tool"]

_KEYS = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")  # under which Brave's provider looks by itself
_DDG = ("duckduckgo_lite", "duckduckgo")

Backend = Literal["ddg", "brave"]


class _LocalArguments(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    query: str
    max_results: int | None = Field(default=None, ge=1, le=MAX_LIMIT)
    backend: Backend | None = None
    allowed_domains: list[str] = Field(default_factory=list)


def local_search_tool(web: Web) -> Tool:
    """Return codelia's tool `search` over a `Web`, which the caller closes.

    It shares the budget and the cache of the web. `search.local` of the settings names the backend that is asked when a
    call names none, and the variable with the key for Brave.

    Args:
        web: What searches.
    """
    views: dict[Backend, Web] = {}

    async def call(*values: object, **arguments: Any) -> LocalSearchToolResult:
        return await _local_search(web, views, positional("search", values, arguments))

    return tool_of(local_search_definition(web.settings), call, web)


async def _local_search(web: Web, views: dict[Backend, Web], arguments: Mapping[str, Any]) -> LocalSearchToolResult:
    """Search with a model's arguments; every failure becomes a result with its cause."""
    backend = web.settings.search.local.backend
    plain = understood("search", arguments)
    try:
        request = _LocalArguments.model_validate(plain)
        backend = request.backend or backend
        if backend not in views:
            views[backend] = _asking(web, backend)
        response = await views[backend].search(
            request.query, limit=request.max_results, allowed_domains=request.allowed_domains
        )
        rows = tuple(LocalSearchItem(**row.model_dump(include=LocalSearchItem.model_fields)) for row in response)
        notes = [] if rows else [*nothing_found(response), *response.warnings]
        message = "\n".join(notes) if len(notes) > 1 else ""
        return LocalSearchToolResult(query=response.query, backend=backend, results=rows, message=message)
    except Exception as error:  # noqa: BLE001  # known or in the log; the agent must never see a traceback
        text = for_model(known_error("search", error, _LocalArguments))
        return LocalSearchToolResult(query=shown(plain.get("query", "")), backend=backend, status="error", error=text)


def _asking(web: Web, backend: Backend) -> Web:
    """Return a view of a web that uses one backend.

    Raises:
        MissingKey: it needs a key, and the configured variable is empty.
    """
    settings = web.settings
    if backend == "ddg":
        configured = [name for name in settings.search.providers if name.startswith("duckduckgo")]
        return web.with_providers(*(configured or _DDG))
    variable = settings.search.local.brave_api_key_env
    if variable in _KEYS:
        if not any(settings.secret(name) for name in _KEYS):
            raise MissingKey("brave", variable)
        return web.with_providers("brave")
    key = settings.secret(variable)
    if key is None:
        raise MissingKey("brave", variable)
    return web.with_providers("brave", settings=settings.with_key(_KEYS[0], key))
