"""A drop-in for haytham's search chain: DuckDuckGo, then Brave, then Tavily, with a limit per session.

    from groundwire.integrations.hosts.fallback_chain import reset_session_counter, web_search

    reset_session_counter("workflow-1")
    print(web_search("AI product validation", max_results=5))

The functions of this module share one chain; create a `SearchChain` for a separate one. The limit is
WEB_SEARCH_SESSION_LIMIT (20), and the warning threshold WEB_SEARCH_WARNING_THRESHOLD (15); both are read on each
search.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final
from uuid import uuid4

from groundwire.errors import AllProvidersFailed, BudgetExceeded
from groundwire.integrations.hosts import load_with, whole_number
from groundwire.models import Attempt, SearchResponse
from groundwire.routing.budget import Limits, SessionBudget
from groundwire.settings import Settings
from groundwire.sync import SyncWeb
from groundwire.telemetry.call_events import CallLog, SearchDone
from groundwire.tools.calls import known_error
from groundwire.tools.conversions import for_model, harmless, nothing_found, warnings_for_model
from groundwire.web import Web

__all__ = [
    "SearchChain",
    "brave_search",
    "duckduckgo_search",
    "get_session_stats",
    "reset_session_counter",
    "shared_chain",
    "tavily_search",
    "web_search",
]

_logger = logging.getLogger(__name__)

_LIMIT, _THRESHOLD = ("WEB_SEARCH_SESSION_LIMIT", 20), ("WEB_SEARCH_WARNING_THRESHOLD", 15)
_MOST = 10  # results
_TITLES: Final[Mapping[str, str]] = {
    "duckduckgo": "DuckDuckGo",
    "duckduckgo_lite": "DuckDuckGo",
    "brave": "Brave",
    "tavily": "Tavily",
}


class SearchChain:
    """A chain with its own counter. It is thread-safe and connects on the first search.

    Args:
        settings: The settings; by default those of the environment and the files, with haytham's order of providers.
        session: The session's name; processes that share it and the storage share a counter.
    """

    def __init__(self, settings: Settings | None = None, session: str | None = None) -> None:
        self._settings = settings
        self._session = session
        self._key = session or uuid4().hex
        self._lock = threading.Lock()
        self._web: SyncWeb | None = None
        self._views: dict[tuple[str, str], Web] = {}

    def search(
        self,
        query: str,
        max_results: int = 5,
        include_domains: Sequence[str] | None = None,
        search_depth: str = "basic",
        provider: str = "",
    ) -> str:
        """Search and return text in haytham's format; never raises.

        Args:
            query: The query.
            max_results: Maximum results, clamped to 1 to 10.
            include_domains: Only these domains and their subdomains.
            search_depth: `basic` or `advanced`; affects only Tavily.
            provider: The only provider to call, such as `brave`; empty uses the whole chain.
        """
        words: object = query
        if not isinstance(words, str) or not words.strip():
            return "Error: Search query cannot be empty"
        try:
            allowed, message = self.check_limit()
            if not allowed:
                _logger.warning("Web search refused: the session's limit is reached", extra=self._facts())
                return message
            text = self._search(query, max_results, include_domains, search_depth, provider)
        except Exception as error:  # noqa: BLE001  # known or in the log; the agent must never see a traceback
            return f"Web search unavailable. Errors: {known_error('web_search', error)}"
        return f"{text}\n\n{message}" if message else text

    def check_limit(self) -> tuple[bool, str]:
        """Count one search if the session allows it.

        Returns:
            Whether it does, and the message for the agent: the limit, a warning, or nothing.
        """
        if (limit := session_limit()) <= 0:  # no search at all, whereas 0 means no limit in Groundwire's settings
            count = self.statistics()["count"]
            resets = "Limit resets with new session."
            over = BudgetExceeded(f"Search limit reached ({count}/{limit}).", limit=0, spent=count, resets=resets)
            return False, for_model(over)
        try:
            warning = self._run(self._take)
        except BudgetExceeded as error:
            return False, for_model(error)
        return True, "".join(f" {text}" for text in warnings_for_model([warning] if warning else []))

    def reset(self, session: str | None = None) -> None:
        """Start a new session: reset the counter to 0.

        Args:
            session: Its name, for the log and for other processes; None makes it private to this chain.
        """
        with self._lock:
            self._session = session
            self._key = session or uuid4().hex
        self._run(lambda web: self._budget(web).reset())
        _logger.info("Web search session began", extra=self._facts())

    def statistics(self) -> dict[str, Any]:
        """Return `count`, `limit`, `remaining` and `session_id` of the session."""
        limit = session_limit()
        used = self._run(lambda web: self._budget(web).usage())
        count = round(used["searches"])
        return {"count": count, "limit": limit, "remaining": max(0, limit - count), "session_id": self._session}

    def close(self) -> None:
        """Close all connections. The next search opens new ones."""
        with self._lock:
            web, self._web, self._views = self._web, None, {}
        if web is not None:
            web.close()

    def _search(self, query: str, max_results: int, domains: Sequence[str] | None, depth: str, provider: str) -> str:
        limit = min(max(1, whole_number(max_results, 5)), _MOST)
        names = [domains] if isinstance(domains, str) else list(domains or ())

        async def ask(web: Web) -> SearchResponse:
            chosen = self._view(web, provider, depth) if provider or depth == "advanced" else web
            return await chosen.search(query, limit=limit, allowed_domains=names)

        try:
            response = self._run(ask)
        except AllProvidersFailed as error:
            self._log(query, "", error.attempts)
            return f"Web search unavailable. Errors: {'; '.join(map(_cause, error.attempts))}"
        self._log(query, response.provider, response.attempts)
        if not response.results:
            causes = "; ".join(_cause(attempt) for attempt in response.attempts if attempt.outcome != "ok")
            _, *why = nothing_found(response)  # the rest is in the causes
            text = "\n".join((f"Web search unavailable. Errors: {causes}", *why))
            return text.replace("allowed_domains", "include_domains")  # as the model knows it
        return _text(response)

    def _view(self, web: Web, provider: str, depth: str) -> Web:
        """Return a view that calls one provider, or one with Tavily's advanced search."""
        settings = deeper = web.settings
        skipped = [name for name in settings.search.providers if any(name in why for why in web.skipped)]
        names = [provider] if provider else [name for name in settings.search.providers if name not in skipped]
        if depth == "advanced" and "tavily" in names:
            tavily = {**settings.providers.get("tavily", {}), "search_depth": "advanced"}
            deeper = settings.model_copy(update={"providers": {**settings.providers, "tavily": tavily}})
        elif not provider:
            return web
        if (provider, depth) not in self._views:
            self._views[provider, depth] = web.with_providers(*names, settings=deeper)
        return self._views[provider, depth]

    def _budget(self, web: Web) -> SessionBudget:
        limits = Limits(searches=max(0, session_limit()), warning_threshold=warning_threshold())
        return SessionBudget(web.store, self._key, limits)

    async def _take(self, web: Web) -> str | None:
        """Take one search, and return a warning if few are left."""
        budget = self._budget(web)
        return budget.warning(await budget.take())

    def _run(self, start: Callable[[Web], Any]) -> Any:
        with self._lock:
            if self._web is None:
                settings = self._settings or load_with("haytham")
                uncounted = settings.session.model_copy(
                    update={"max_searches": 0}
                )  # the chain counts, including failed searches
                settings = settings.model_copy(update={"session": uncounted})
                self._web = SyncWeb(settings, call_listeners=[_Unlogged()])
                self._web.close_with_program()
            web = self._web
        return web.submit(start).result()

    def _facts(self) -> dict[str, object]:
        return {"session_id": self._session, "session_limit": session_limit()}

    def _log(self, query: str, provider: str, attempts: Sequence[Attempt]) -> None:
        facts = {
            "query_length": len(query),
            "session_count": self.statistics()["count"],
            "provider": provider,
            "attempts": [f"{attempt.provider}: {attempt.outcome}" for attempt in attempts],
        }
        _logger.info("Web search executed", extra={**facts, **self._facts()})


class _Unlogged(CallLog):
    """Suppresses the record of a search, because the chain writes it with its counter."""

    def search_done(self, done: SearchDone) -> None:
        """Write nothing."""


def session_limit() -> int:
    """Return the maximum number of searches per session, from WEB_SEARCH_SESSION_LIMIT."""
    return _number(*_LIMIT)


def warning_threshold() -> int:
    """Return the number of searches from which there is a warning, from WEB_SEARCH_WARNING_THRESHOLD."""
    return _number(*_THRESHOLD)


@cache
def shared_chain() -> SearchChain:
    """Return the chain shared by the functions of this module: there is one counter per process."""
    return SearchChain()


def web_search(
    query: str,
    max_results: int = 5,
    include_domains: list[str] | None = None,
    search_depth: str = "basic",
) -> str:
    """Search the web by the best provider that answers: DuckDuckGo, then Brave, then Tavily.

    The searches of a session are limited; the answer says when few are left.

    Args:
        query: The words to search for.
        max_results: Maximum results, 1 to 10.
        include_domains: Only these domains, such as ["g2.com"]; none means every domain.
        search_depth: "basic" or "advanced"; "advanced" is more thorough where a provider can.

    Returns:
        The results with titles, URLs and snippets, or a sentence about why there are none.
    """
    return shared_chain().search(query, max_results, include_domains, search_depth)


def duckduckgo_search(query: str, max_results: int = 5) -> str:
    """Search the web using DuckDuckGo, within the limit of the session.

    Args:
        query: The words to search for.
        max_results: Maximum results, 1 to 10.

    Returns:
        The results with titles, URLs and snippets, or a sentence about why there are none.
    """
    return shared_chain().search(query, max_results, provider="duckduckgo_lite")


def brave_search(query: str, max_results: int = 5) -> str:
    """Search the web using Brave Search, which needs BRAVE_API_KEY, within the limit of the session.

    Args:
        query: The words to search for.
        max_results: Maximum results, 1 to 10.

    Returns:
        The results with titles, URLs and snippets, or a sentence about why there are none.
    """
    return shared_chain().search(query, max_results, provider="brave")


def tavily_search(query: str, max_results: int = 5) -> str:
    """Search the web using Tavily, which needs TAVILY_API_KEY, within the limit of the session.

    Args:
        query: The words to search for.
        max_results: Maximum results, 1 to 10.

    Returns:
        The results with titles, URLs and snippets, or a sentence about why there are none.
    """
    return shared_chain().search(query, max_results, provider="tavily")


def reset_session_counter(session_id: str | None = None) -> None:
    """Start a new session of the shared chain; call it when a workflow starts.

    Args:
        session_id: The session's name.
    """
    shared_chain().reset(session_id)


def get_session_stats() -> dict[str, Any]:
    """Return `count`, `limit`, `remaining` and `session_id` of the shared chain's session."""
    return shared_chain().statistics()


def _text(response: SearchResponse) -> str:
    """Return results in haytham's format."""
    blocks = [f"Search results for: {response.query}\n(Source: {_title(response.provider)})"]
    for number, row in enumerate(response.results, start=1):
        snippet = f"\n   {' '.join(row.snippet.split())}" if row.snippet.strip() else ""
        blocks.append(f"{number}. {' '.join(row.title.split())}\n   URL: {row.url}{snippet}")
    return "\n\n".join(blocks)


def _title(provider: str) -> str:
    return " + ".join(_TITLES.get(name, name) for name in provider.split("+"))


def _cause(attempt: Attempt) -> str:
    if attempt.outcome == "empty":
        return f"{_title(attempt.provider)}: No results"
    status = f" (HTTP {attempt.status})" if attempt.status else ""
    return f"{_title(attempt.provider)}: {harmless(attempt.reason) or attempt.outcome}{status}"


def _number(variable: str, default: int) -> int:
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    if not re.fullmatch(r"\d{1,9}", text):
        _logger.warning("%s is not a whole number of 0 or more; using %d", variable, default)
        return default
    return int(text)
