"""Groundwire: the web for AI agents.

    from groundwire import Web

    async with Web() as web:
        found = await web.search("reciprocal rank fusion", limit=5)
        page = await web.open_page(found.results[0].url, max_length=4000)

`groundwire.search(...)`, `groundwire.open_page(...)` and `groundwire.ask(...)` are the same without `async`. Importing
this package is cheap: its parts are loaded when they are first used.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Final

from groundwire._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groundwire.agent_loop.blocking import ask
    from groundwire.errors import (
        AllProvidersFailed,
        BlockedByPolicy,
        BudgetExceeded,
        ConfigurationError,
        DeadlineExceeded,
        GroundwireError,
        InvalidRequest,
        PageError,
        ProviderError,
    )
    from groundwire.models import (
        Attempt,
        Budget,
        Filters,
        Page,
        Query,
        ReadResult,
        Results,
        SearchResponse,
        SearchResult,
        Source,
    )
    from groundwire.providers import Capabilities, ReadProvider, SearchProvider
    from groundwire.settings import Settings
    from groundwire.sync import SyncWeb, open_page, open_pages, search
    from groundwire.tools import web_tools
    from groundwire.web import Web

__all__ = [
    "AllProvidersFailed",
    "Attempt",
    "BlockedByPolicy",
    "Budget",
    "BudgetExceeded",
    "Capabilities",
    "ConfigurationError",
    "DeadlineExceeded",
    "Filters",
    "GroundwireError",
    "InvalidRequest",
    "Page",
    "PageError",
    "ProviderError",
    "Query",
    "ReadProvider",
    "ReadResult",
    "Results",
    "SearchProvider",
    "SearchResponse",
    "SearchResult",
    "Settings",
    "Source",
    "SyncWeb",
    "Web",
    "__version__",
    "ask",
    "open_page",
    "open_pages",
    "search",
    "web_tools",
]

logging.getLogger("groundwire").addHandler(logging.NullHandler())  # nothing on standard error unless logging is set up

_HOMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("Attempt", "Budget", "Filters", "Page", "Query"), "models"),
    **dict.fromkeys(("ReadResult", "Results", "SearchResponse", "SearchResult", "Source"), "models"),
    **dict.fromkeys(("Capabilities", "ReadProvider", "SearchProvider"), "providers"),
    **dict.fromkeys(("SyncWeb", "open_page", "open_pages", "search"), "sync"),
    "Settings": "settings",
    "Web": "web",
    "ask": "agent_loop.blocking",
    "web_tools": "tools",
}
"""Where a public name is if it is no error; nothing else is loaded to find it."""


def __getattr__(name: str) -> object:
    """Load a public name on its first use (PEP 562)."""
    if name in __all__:
        home = import_module(f"groundwire.{_HOMES.get(name, 'errors')}")
        value = globals()[name] = getattr(home, name)
        return value
    from groundwire.errors import __all__ as errors
    from groundwire.hints import public_hint

    hint = "" if name.startswith("_") else public_hint(name, errors)
    raise AttributeError(f"module 'groundwire' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
