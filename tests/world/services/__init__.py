"""The search and read services of the miniature web; a `World` starts each on first use."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, cast

from groundwire.testing.search_index import Library
from groundwire.testing.server import EmulatedServer

__all__ = ["SERVICES", "make_service"]

SERVICES: Final[Mapping[str, str]] = {
    "arxiv": "papers:Arxiv",
    "brave": "brave:Brave",
    "brave_context": "brave:BraveContext",
    "duckduckgo_lite": "duckduckgo_lite:DuckDuckGoLite",
    "exa": "exa:Exa",
    "exa_free": "keyless:ExaFree",
    "firecrawl": "firecrawl:Firecrawl",
    "firecrawl_free": "keyless:FirecrawlFree",
    "jina": "jina:Jina",
    "kagi": "kagi:Kagi",
    "linkup": "json_search_apis:Linkup",
    "openalex": "papers:OpenAlex",
    "parallel": "json_search_apis:Parallel",
    "parallel_free": "keyless:ParallelFree",
    "perplexity": "json_search_apis:Perplexity",
    "serper": "json_search_apis:Serper",
    "tavily": "tavily:Tavily",
    "tavily_free": "keyless:TavilyFree",
    "wayback": "wayback:Wayback",
    "wikipedia": "wikipedia:Wikipedia",
    "you": "you:You",
    "you_free": "keyless:YouFree",
}
"""The module and the class of each service."""


def make_service(name: str, library: Library) -> EmulatedServer:
    """Create a service over the pages of a world.

    Raises:
        KeyError: There is no such service; the message lists the known ones.
    """
    if name not in SERVICES:
        raise KeyError(f"No service {name!r}; there are {', '.join(SERVICES)}.")
    module, _, kind = SERVICES[name].partition(":")
    return cast("EmulatedServer", getattr(import_module(f"world.services.{module}"), kind)(library))
