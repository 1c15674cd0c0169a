"""The search and read services of the miniature web, one file each; a `World` starts one when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from groundwire.testing.search_index import Library
from groundwire.testing.server import Endpoint

__all__ = ["SERVICES", "make_service"]

SERVICES = {
    "brave": "Brave",
    "duckduckgo_lite": "DuckDuckGoLite",
    "exa": "Exa",
    "firecrawl": "Firecrawl",
    "jina": "Jina",
    "kagi": "Kagi",
    "linkup": "Linkup",
    "parallel": "Parallel",
    "perplexity": "Perplexity",
    "serper": "Serper",
    "tavily": "Tavily",
    "wikipedia": "Wikipedia",
    "you": "You",
}
"""The services by the name of their file, and the class in it."""


def make_service(name: str, library: Library) -> Endpoint:
    """Make a service over the pages of a world.

    Raises:
        KeyError: There is no such service; the message lists the known ones.
    """
    if name not in SERVICES:
        raise KeyError(f"No service {name!r}; there are {', '.join(SERVICES)}.")
    module = import_module(f"groundwire.testing.services.{name}")
    return cast("Endpoint", getattr(module, SERVICES[name])(library))
