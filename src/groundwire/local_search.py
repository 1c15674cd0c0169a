"""The tool `search` of document K: one search by DuckDuckGo or Brave, for models without hosted search."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from groundwire.arguments import bad_arguments, understood
from groundwire.errors import AllProvidersFailed, GroundwireError, MissingKey
from groundwire.models import MAX_LIMIT
from groundwire.native.needs import NO_NEEDS, Needs
from groundwire.tools import LocalSearchItem, LocalSearchToolResult, Tool, web_search_tool
from groundwire.web import Web

__all__ = ["local_search_tool"]

_logger = logging.getLogger(__name__)

_KEYS = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")  # under which Brave's provider looks by itself
_DDG = ("duckduckgo_lite", "duckduckgo")

Backend = Literal["ddg", "brave"]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")
    query: str
    max_results: int | None = Field(default=None, ge=1, le=MAX_LIMIT)
    backend: Backend | None = None
    allowed_domains: list[str] = Field(default_factory=list)


def local_search_tool(web: Web, needs: Needs = NO_NEEDS) -> Tool:
    """Return the tool `search` over a `Web`, which stays the caller's to close.

    It shares the budget and the cache of the web. `search.local` of the settings names the backend that is asked when a
    call names none, and the variable with the key for Brave.

    Args:
        web: What searches.
        needs: What every search must honour, such as the needs of a plan that leaves the search to us.
    """
    backends = _Backends(web)

    async def call(**arguments: Any) -> LocalSearchToolResult:
        return await _search(backends, arguments, needs)

    return Tool(
        name="search",
        description=(
            "Search the web for current information. Returns results with title, URL and snippet. "
            "Cite the URLs that you use."
        ),
        parameters=MappingProxyType(
            {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to search for"},
                    "max_results": {
                        "type": "number",
                        "minimum": 1,
                        "maximum": MAX_LIMIT,
                        "description": f"Most results to return (default {web.settings.search.limit})",
                    },
                    "backend": {
                        "type": "string",
                        "enum": ["ddg", "brave"],
                        "description": f"Who searches (default {web.settings.search.local.backend})",
                    },
                    "allowed_domains": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": 'Only these domains and their sub-domains, e.g. ["wikipedia.org"]',
                    },
                },
                "required": ["query"],
                "additionalProperties": False,
            }
        ),
        output_schema=LocalSearchToolResult.model_json_schema(),
        annotations=web_search_tool(web).annotations,
        call=call,
    )


class _Backends:
    """Views of one web, one for each backend, made when they are first asked."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self._views: dict[Backend, Web] = {}

    def view(self, backend: Backend) -> Web:
        """Return the web that asks one backend.

        Raises:
            MissingKey: it needs a key, and the variable of the settings holds none.
        """
        if backend not in self._views:
            self._views[backend] = self._brave() if backend == "brave" else self._ddg()
        return self._views[backend]

    def _ddg(self) -> Web:
        configured = [name for name in self.web.settings.search.providers if name.startswith("duckduckgo")]
        return self.web.with_providers(*(configured or _DDG))

    def _brave(self) -> Web:
        settings = self.web.settings
        variable = settings.search.local.brave_api_key_env
        if variable in _KEYS:
            if not any(settings.secret(name) for name in _KEYS):
                raise MissingKey("brave", variable)
            return self.web.with_providers("brave")
        key = settings.secret(variable)
        if key is None:
            raise MissingKey("brave", variable)
        return self.web.with_providers("brave", settings=settings.with_key(_KEYS[0], key))


async def _search(backends: _Backends, arguments: Mapping[str, Any], needs: Needs) -> LocalSearchToolResult:
    """Search with the arguments that a model wrote; every failure becomes a result that says its cause."""
    backend = backends.web.settings.search.local.backend
    plain = understood("search", arguments)
    shown = str(plain.get("query", ""))[:200].encode("utf-8", "replace").decode("utf-8")
    try:
        asked = _Arguments.model_validate(plain)
        backend = asked.backend or backend
        found = await backends.view(backend).search(
            asked.query, limit=asked.max_results, **needs.within(asked.allowed_domains)
        )
    except ValidationError as error:
        return _failed(shown, backend, bad_arguments(error, _Arguments))
    except AllProvidersFailed as error:
        return _failed(shown, backend, f"{error}. This does not mean that nothing exists.")
    except GroundwireError as error:
        return _failed(shown, backend, str(error))
    except Exception:  # an agent must never see a traceback; the operator does, in the log
        _logger.exception("search failed")
        return _failed(shown, backend, "The tool itself failed; the operator finds the reason in the log.")
    rows = tuple(
        LocalSearchItem(title=row.title, url=row.url, snippet=row.snippet, source=row.source) for row in found.results
    )
    return LocalSearchToolResult(query=found.query, backend=backend, results=rows)


def _failed(query: str, backend: str, error: str) -> LocalSearchToolResult:
    return LocalSearchToolResult(query=query, backend=backend, status="error", error=error)
