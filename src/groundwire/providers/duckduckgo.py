"""DuckDuckGo through the `ddgs` library (https://github.com/deedy5/ddgs; the extra `ddgs`), without a key.

ddgs scrapes result pages with a client that resembles a browser. Its engine for DuckDuckGo is used directly, which
makes the request and parses the page, and not its `DDGS.text`: that function reports "No results found." for HTTP 202,
403, 429, 500, a captcha and an empty page alike, and reads a proxy from the environment.
Known limitation: the engine blocks a thread and cannot be canceled, and its timeout applies to each request, not to the
call.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from groundwire._version import install_extra
from groundwire.cassette import CallFailed, Cassette, RecordedFailure
from groundwire.deadline import Deadline
from groundwire.errors import (
    ConfigurationError,
    NotConfigured,
    ProviderBlocked,
    ProviderTimeout,
    ProviderUnreachable,
    RateLimited,
    UnexpectedResponse,
    UnprovenEmpty,
)
from groundwire.models import NO_FILTERS, Filters, Results
from groundwire.providers.base import ANY_RANGE, Capabilities, Options, ProviderContext
from groundwire.providers.http_parsing import objects, raise_for_status, result, retry_after, text_or_empty
from groundwire.providers.query_mapping import with_site_operators
from groundwire.transport import Response

_logger = logging.getLogger(__name__)

_TIMEOUT = 10.0  # seconds
_THREADS = 16  # concurrent calls; further ones wait within their deadline
_SHORTEST = 0.1  # seconds; with 0 the underlying client fails immediately
_SAFESEARCH: Final[Mapping[str, str]] = {"off": "off", "moderate": "moderate", "strict": "on"}
_NO_REGION = "wt-wt"  # DuckDuckGo's code for "all regions"
_ENGINE = "duckduckgo"  # ddgs' name


class DuckDuckGoOptions(Options):
    """`[providers.duckduckgo]`."""

    ca_file: Path | None = None
    """A file with the certificate authorities to trust, for networks with TLS inspection."""


class DuckDuckGoSearchProvider:
    """Web search with DuckDuckGo, scraped by `ddgs`; needs the extra `ddgs`."""

    Options: ClassVar[type[DuckDuckGoOptions]] = DuckDuckGoOptions
    capabilities: Capabilities = Capabilities(
        search=True, time_ranges=ANY_RANGE, domains="operator", region=True, safesearch=True
    )

    def __init__(
        self,
        options: DuckDuckGoOptions,
        *,
        name: str = "duckduckgo",
        proxy: str = "",
        cassette: Cassette | None = None,
    ) -> None:
        self.name = name
        self._cassette = cassette
        self._options = options
        self._proxy = proxy
        self.delay: float = options.delay
        self._threads = ThreadPoolExecutor(_THREADS, "groundwire-ddgs")

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Create the provider.

        Raises:
            NotConfigured: ddgs is missing.
            ConfigurationError: the certificate file does not exist.
        """
        options = context.options(DuckDuckGoOptions)
        cassette = context.transports.api.cassette
        if find_spec("ddgs") is None and not (cassette is not None and cassette.replaying):
            fix = f"{install_extra('ddgs')}, or use duckduckgo_lite, which needs nothing"
            raise NotConfigured(context.name, f"install ddgs: {fix}")
        if options.ca_file is not None and not options.ca_file.is_file():
            where = f"providers.{context.name}.ca_file"
            raise ConfigurationError(f"{where}: {str(options.ca_file)!r} is not a file.")
        return cls(options, name=context.name, proxy=context.settings.network.proxy, cassette=cassette)

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`.

        The call returns at its deadline although the thread cannot be stopped; the thread ends soon after, because each
        of its requests has the same timeout.
        """
        del limit
        deadline = (deadline or Deadline.after(_TIMEOUT)).capped(_TIMEOUT)
        text, warning = with_site_operators(query, filters)
        loop = asyncio.get_running_loop()
        try:
            with deadline.timeout():
                rows = await loop.run_in_executor(self._threads, self._search, text, filters, deadline)
        except TimeoutError as error:
            raise ProviderTimeout(self.name, "no answer in time") from error
        parsed = (
            result(self.name, url=row.get("href"), title=row.get("title"), snippet=row.get("body")) for row in rows
        )
        warnings = (f"{self.name}: {warning}",) if warning else ()
        return Results(tuple(row for row in parsed if row is not None), warnings=warnings, status=200)

    async def aclose(self) -> None:
        """Release the threads; busy ones end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _search(self, text: str, filters: Filters, deadline: Deadline) -> Sequence[Mapping[str, Any]]:
        """Return the rows of the engine; runs in a thread."""
        if deadline.passed:  # the caller left while it was waiting for a thread
            raise ProviderTimeout(self.name, "no thread was free in time")
        request = {
            "backend": _ENGINE,
            "text": text,
            "region": _region(filters),
            "safesearch": _SAFESEARCH[filters.safesearch],
            "timelimit": None if filters.time_range == "all" else filters.time_range,
        }
        try:
            if self._cassette is None:
                answer = self._call_engine(request, deadline)
            else:
                answer = self._cassette.call("ddgs", request, lambda: self._call_engine(request, deadline))
        except CallFailed as error:
            if error.failure.kind == "timeout":
                raise ProviderTimeout(self.name, "no answer in time") from error
            raise ProviderUnreachable(self.name, error.failure.detail or "the connection failed") from error
        rows, status = answer["rows"], answer["status"]
        if not rows:
            _raise_for_status(status, answer["headers"], self.name)
        if rows is None:
            raise UnexpectedResponse(self.name, "an answer that ddgs could not read", status=status)
        if not rows:
            raise UnprovenEmpty(
                self.name, "no results, which may also mean that it requires a CAPTCHA (unproven)", status=status
            )
        return list(objects(rows))

    def _call_engine(self, request: Mapping[str, Any], deadline: Deadline) -> Mapping[str, Any]:
        """Call the engine and return its response as JSON; `rows` is None if ddgs could not parse it.

        Raises:
            CallFailed: there was no response.
        """
        from ddgs.exceptions import DDGSException, TimeoutException

        client, rows = _RecordingClient(None), None
        options = {name: value for name, value in request.items() if name not in {"backend", "text"}}
        try:
            engine = self._engine(deadline)
            engine.http_client.client = client = _RecordingClient(engine.http_client.client)
            rows = engine.search(request["text"], **options)
        except TimeoutException as error:
            raise CallFailed(RecordedFailure("timeout")) from error
        except DDGSException as error:  # raised only by its HTTP client
            raise CallFailed(RecordedFailure("network", "the connection failed")) from error
        except Exception:
            _logger.exception("ddgs could not read an answer")
        else:
            rows = [
                {name: text_or_empty(getattr(row, name, "")) for name in ("title", "href", "body")}
                for row in rows or ()
            ]
        finally:
            client.close()
        headers = {name: value for name, value in client.headers.items() if name == "Retry-After"}
        return {"rows": rows, "status": client.status, "headers": headers}

    def _engine(self, deadline: Deadline) -> Any:
        """Create an engine for one search; a reused one would keep cookies and so link the searches."""
        from ddgs.engines import ENGINES  # takes a tenth of a second

        ca_file = self._options.ca_file
        make: Any = ENGINES["text"][_ENGINE]
        engine = make(
            proxy=self._proxy or None,
            timeout=max(_SHORTEST, deadline.remaining()),
            verify=True if ca_file is None else str(ca_file),
        )
        if not self._proxy:
            client = engine.http_client.client
            client.proxy = None  # otherwise the client reads a proxy from the environment
            getattr(client, "_mounts", {}).clear()  # ... as does the one of httpx, which ddgs 9.10 uses for DuckDuckGo
        return engine


class _RecordingClient:
    """Wraps the HTTP client of an engine's client and records its last response, which ddgs reports without headers."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}

    def request(self, *args: Any, **options: Any) -> Any:
        response = self._client.request(*args, **options)
        self.status = response.status_code
        self.headers = {name.title(): value for name, value in dict(response.headers).items()}
        return response

    def close(self) -> None:
        """Close the connections, where the client keeps them open."""
        close = getattr(self._client, "close", None)
        if close is not None:
            close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)  # engines set cookies and headers


def _raise_for_status(status: int | None, headers: Mapping[str, str], name: str) -> None:
    """Raise the error for an HTTP status; 200 and unknown statuses pass.

    Raises:
        ProviderError: one of its classes.
    """
    wait = retry_after(headers)
    if status == 202:  # DuckDuckGo throttles with it
        raise RateLimited(name, "too many requests", status=status, retry_after=wait)
    if status == 403:
        raise ProviderBlocked(name, "it classifies this machine as a bot", status=status, retry_after=wait)
    raise_for_status(Response("", status or 200, headers), name)


def _region(filters: Filters) -> str:
    """Return ddgs' `country-language`."""
    if filters.region is None:
        return _NO_REGION
    language = (filters.language or "en").split("-", 1)[0]
    return f"{filters.region.lower()}-{language.lower()}"
