"""DuckDuckGo through the `ddgs` library (https://github.com/deedy5/ddgs), without a key.

What shapes this file, measured on ddgs 9.16: it blocks a thread and cannot be cancelled; its `timeout` holds for
each request, not for the call; an unknown backend is only logged, and `auto` runs instead; "No results found." is
its answer to HTTP 202, 403, 429, 500, a captcha and an empty page alike.
"""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from groundwire.deadline import Deadline
from groundwire.errors import (
    ConfigurationError,
    ProviderTimeout,
    ProviderUnreachable,
    UnexpectedResponse,
    UnprovenEmpty,
)
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import Capabilities, Options, ProviderContext
from groundwire.providers.operators import with_site_operators
from groundwire.providers.wire import text_or_empty
from groundwire.settings.schema import Words
from groundwire.settings.suggest import did_you_mean

if TYPE_CHECKING:
    from ddgs import DDGS

__all__ = ["DuckDuckGoOptions", "DuckDuckGoSearchProvider", "parse"]

_TIMEOUT = 10.0  # seconds, row S2
_PAGE = 10  # rows; ddgs asks more engines, or more pages of one, for more
_SAFESEARCH = {"off": "off", "moderate": "moderate", "strict": "on"}
_NO_REGION = "wt-wt"  # DuckDuckGo's own word for "all regions"


class DuckDuckGoOptions(Options):
    """`[providers.duckduckgo]`."""

    backends: Words = ("duckduckgo",)
    """The engines that ddgs asks, by its own names; never its `auto`, which asks whichever it likes."""
    proxy: str = ""
    """A proxy for ddgs alone, such as `socks5://127.0.0.1:9050`; by default the setting `network.proxy`."""
    ca_file: Path | None = None
    """A file with the certificate authorities to trust, for networks that look into TLS."""
    max_threads: int = Field(default=16, ge=1, le=128)
    """The most calls under way at once; further ones wait within their deadline."""


class DuckDuckGoSearchProvider:
    """Web search by DuckDuckGo, as `ddgs` scrapes it."""

    capabilities = Capabilities(
        search=True,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        domains="operator",
        language=True,
        region=True,
        safesearch=True,
    )

    def __init__(self, options: DuckDuckGoOptions, *, name: str = "duckduckgo") -> None:
        self.name = name
        self._options = options
        self._threads = ThreadPoolExecutor(options.max_threads, "groundwire-ddgs")

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Make the provider.

        Raises:
            ConfigurationError: a backend is not one of ddgs' own, or the file of certificates does not exist.
        """
        options = context.options(DuckDuckGoOptions)
        where = f"providers.{context.name}"
        known = _known_backends()
        for backend in options.backends or ("",):
            if backend not in known:
                raise ConfigurationError(
                    f"{where}.backends: {backend!r} is not an engine{did_you_mean(backend, known)}"
                )
        if options.ca_file is not None and not options.ca_file.is_file():
            raise ConfigurationError(f"{where}.ca_file: {str(options.ca_file)!r} is not a file.")
        if not options.proxy and context.settings.network.proxy:
            options = options.model_copy(update={"proxy": context.settings.network.proxy})
        return cls(options, name=context.name)

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`.

        The call returns at its deadline although the thread cannot be stopped; the thread ends by itself soon after,
        because each of its requests has the same time.
        """
        deadline = (deadline or Deadline.after(_TIMEOUT)).capped(_TIMEOUT)
        text, warning = with_site_operators(query, filters)
        arguments = {
            "region": _region(filters),
            "safesearch": _SAFESEARCH[filters.safesearch],
            "timelimit": None if filters.time_range == "all" else filters.time_range,
            "max_results": max(limit, _PAGE),
            "backend": ",".join(self._options.backends),
        }
        loop = asyncio.get_running_loop()
        try:
            async with deadline.timeout():
                rows = await loop.run_in_executor(self._threads, self._search, text, arguments, deadline)
        except TimeoutError as error:
            raise ProviderTimeout(self.name, "no answer in time") from error
        return parse(rows, self.name, (f"{self.name}: {warning}",) if warning else ())

    async def aclose(self) -> None:
        """Let the threads go; those that are busy end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _search(self, text: str, arguments: dict[str, Any], deadline: Deadline) -> object:
        """Ask ddgs; runs in a thread."""
        from ddgs.exceptions import DDGSException, TimeoutException

        if deadline.passed:  # it waited for a thread until nobody was listening any more
            raise ProviderTimeout(self.name, "no thread was free in time")
        try:
            return self._client(deadline).text(text, **arguments)
        except TimeoutException as error:
            raise ProviderTimeout(self.name, "no answer in time") from error
        except DDGSException as error:
            words = str(error)
            if "No results found" in words:
                raise UnprovenEmpty(
                    self.name, "no results, which it also says when it is rate limited or blocked (unproven)"
                ) from error
            if "RequestError" in words or "ConnectError" in words or "ConnectionError" in words:
                raise ProviderUnreachable(self.name, "the connection failed") from error
            raise UnexpectedResponse(self.name, "an answer that ddgs could not read") from error

    def _client(self, deadline: Deadline) -> DDGS:
        from ddgs import DDGS

        ca_file = self._options.ca_file
        return DDGS(
            proxy=self._options.proxy or None,
            timeout=max(1, math.ceil(deadline.remaining())),
            verify=True if ca_file is None else str(ca_file),
        )


def parse(rows: object, name: str = "duckduckgo", warnings: tuple[str, ...] = ()) -> Results:
    """Read what `DDGS.text` returned: a list of `{title, href, body}`.

    Raises:
        UnexpectedResponse: it is something else.
    """
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UnexpectedResponse(name, "an answer that is not a list of results")
    found = [
        SearchResult(
            title=text_or_empty(row.get("title")), url=url, snippet=text_or_empty(row.get("body")), source=name
        )
        for row in rows
        if (url := text_or_empty(row.get("href")))
    ]
    return Results(tuple(found), warnings=warnings)


def _region(filters: Filters) -> str:
    """Return ddgs' `country-language`, as far as both are known."""
    if filters.region is None:
        return _NO_REGION
    language = (filters.language or "en").split("-", 1)[0]
    return f"{filters.region.lower()}-{language.lower()}"


def _known_backends() -> frozenset[str]:
    from ddgs.engines import ENGINES

    return frozenset(ENGINES["text"])
