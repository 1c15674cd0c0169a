"""SearXNG, the self-hosted metasearch engine (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

from pydantic import SecretStr

from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    ConfigurationError,
    GroundwireError,
    NotConfigured,
    ProviderBlocked,
    ProviderError,
    ProviderUnavailable,
    ProviderUnsupported,
    UnexpectedResponse,
)
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import Capabilities, Options, ProviderContext
from groundwire.providers.http_parsing import ErrorRule, json_object, objects, raise_for_error, text_or_empty
from groundwire.providers.key_rotation import digest
from groundwire.providers.query_mapping import result, with_site_operators
from groundwire.settings.sections import Words
from groundwire.transport import Response, Transport

__all__ = ["SearXngOptions", "SearXngSearchProvider", "neutralized", "parse"]

KEY = "SEARXNG_API_KEY"
_TIMEOUT = 10.0  # seconds
_TIME_RANGES: Final[Mapping[str, str]] = {"d": "day", "w": "week", "m": "month", "y": "year"}
_SAFESEARCH: Final[Mapping[str, str]] = {"off": "0", "moderate": "1", "strict": "2"}
# Prefixes that SearXNG parses as a bang, a language or a time limit, and its "go to the first result".
_COMMAND = re.compile(r"(?<!\S)(?:!!+(?!\S)|[!?:<]+(?=[^\s!?:<]))")
# its limiter takes a client without text/html for a bot
_HEADERS: Mapping[str, str] = {"Accept": "application/json, text/html;q=0.5"}


_ERRORS = (
    ErrorRule(AuthenticationFailed, "the key is not accepted", f"Set {KEY}", status=(401, 407)),
    ErrorRule(ProviderUnavailable, "failed", status=range(500, 1_000)),
    ErrorRule(
        UnexpectedResponse,
        "answered with an unknown status",
        "Check base_url",
        status=frozenset(range(201, 500)) - frozenset(range(300, 401)) - {429},
    ),
)


class SearXngOptions(Options):
    """`[providers.searxng]`."""

    base_url: str = ""
    """The URL of the instance, such as `http://127.0.0.1:8888`; it may be private."""
    engines: Words = ()
    """The engines to use; empty means those of the categories."""
    categories: Words = ("general",)
    """The categories to search if no engines are named."""


class SearXngSearchProvider:
    """Web search with a SearXNG instance. Its `search.formats` setting must contain `json`."""

    Options: ClassVar[type[SearXngOptions]] = SearXngOptions
    key_variables: ClassVar[tuple[str, ...]] = (KEY,)
    key_needed = False
    capabilities: Capabilities = Capabilities(
        search=True,
        pages=True,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        domains="operator",
        language=True,
        region=True,
        safesearch=True,
    )

    def __init__(
        self, transport: Transport, options: SearXngOptions, *, key: SecretStr | None = None, name: str = "searxng"
    ) -> None:
        self.name = name
        self._transport = transport
        self._options = options
        self.delay: float = options.delay
        self._base = options.base_url.rstrip("/")
        self.account: str = digest(self._base, key.get_secret_value() if key else "")
        self._headers = dict(_HEADERS) | ({"Authorization": f"Bearer {key.get_secret_value()}"} if key else {})

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Create the provider from its options.

        Raises:
            NotConfigured: there is no `base_url`. ConfigurationError: it is not a web URL.
        """
        options = context.options(SearXngOptions)
        where = f"providers.{context.name}.base_url"
        if not options.base_url:
            raise NotConfigured(context.name, f"set {where} to the address of a SearXNG instance")
        try:
            transport = context.transports.operator(options.base_url)
        except GroundwireError as error:
            raise ConfigurationError(f"{where} = {options.base_url!r}: {error}") from error
        return cls(transport, options, key=context.key(KEY), name=context.name)

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`. The service has no limit parameter: all its rows are returned."""
        del limit
        deadline = (deadline or Deadline.after(_TIMEOUT)).capped(_TIMEOUT)
        params, warnings = to_params(query, filters, self._options)
        reply = await self._transport.call(
            self.name, "GET", f"{self._base}/search", params=params, headers=self._headers, deadline=deadline
        )
        if reply.status == 403:
            raise await self._why_forbidden(deadline)
        return parse(reply, self.name, warnings)

    async def _why_forbidden(self, deadline: Deadline) -> ProviderError:
        """Distinguish an instance without JSON from one that blocks the client: `/config` ignores the formats."""
        try:
            reply = await self._transport.call(
                self.name, "GET", f"{self._base}/config", headers=self._headers, deadline=deadline
            )
        except ProviderError:
            reply = None
        if reply is not None and reply.status == 200 and reply.media_type == "application/json":
            return ProviderUnsupported(
                self.name,
                "the instance does not answer in JSON",
                status=403,
                fix="Add json to search.formats in its settings.yml",
            )
        return ProviderBlocked(
            self.name,
            "access denied",
            status=403,
            fix="Add json to search.formats in its settings.yml, or let this machine pass its limiter or proxy",
        )


def to_params(query: str, filters: Filters, options: SearXngOptions) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the parameters of a search, and warnings about them."""
    words = neutralized(query)
    warnings = []
    if words != query:
        warnings.append("searxng: characters that it treats as operators (! ? : <) were removed from the query")
    text, warning = with_site_operators(words, filters)
    if warning:
        warnings.append(f"searxng: {warning}")
    params = {
        "q": text,
        "format": "json",
        "pageno": str(filters.page),
        "safesearch": _SAFESEARCH[filters.safesearch],
    }
    if options.engines:  # with categories as well, it would also use their engines
        params["engines"] = ",".join(options.engines)
    else:
        params["categories"] = ",".join(options.categories)
    if filters.time_range != "all":
        params["time_range"] = _TIME_RANGES[filters.time_range]
    if filters.language or filters.region:
        params["language"] = _language(filters)
    return params, tuple(warnings)


def _language(filters: Filters) -> str:
    """Return a language and a country in SearXNG's format: `de`, `zh-CN`, `all-US`; no script."""
    language, *more = (filters.language or "all").split("-")
    region = next((part for part in more if len(part) == 2), filters.region)
    return language.lower() + (f"-{region.upper()}" if region else "")


def neutralized(query: str) -> str:
    """Return the query without the prefixes that SearXNG parses as commands.

    `!!w x` would redirect to another host; `!general`, `:fr` and `<3` would change what is searched and how.
    """
    return " ".join(_COMMAND.sub("", query).split()) or f'"{"".join(query.split())}"'


def parse(reply: Response, name: str = "searxng", warnings: tuple[str, ...] = ()) -> Results:
    """Parse a response.

    Args:
        reply: The response, of any status but 403.
        name: The provider's name.
        warnings: Warnings about the request.

    Raises:
        ProviderError: the response is a failure, or every engine behind the instance failed.
    """
    raise_for_error(reply, name, _ERRORS)
    if reply.media_type != "application/json":
        kind = reply.media_type or "no content type"
        fix = "Check that base_url is a SearXNG instance"
        raise UnexpectedResponse(name, f"answered with {kind} instead of JSON", status=reply.status, fix=fix)
    data = json_object(reply, name)
    if not isinstance(data.get("results"), list):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=reply.status)
    rows = [row for item in objects(data["results"]) if (row := _row(item, name)) is not None]
    failed = _failed_engines(data.get("unresponsive_engines"))
    if data["results"] and not rows and not failed:
        raise UnexpectedResponse(name, "answered with results without URLs", status=reply.status)
    if failed and not rows:
        raise ProviderUnavailable(name, f"all its engines failed: {', '.join(failed)}", status=reply.status)
    if failed:
        warnings += (f"{name}: some engines failed: {', '.join(failed)}",)
    return Results(tuple(rows), partial=bool(failed), warnings=warnings, status=reply.status)


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    """Convert one row; None for rows without a URL, as maps and packages have."""
    engines = item.get("engines")
    found_by = engines if isinstance(engines, list) else [item.get("engine")]
    names = ", ".join(engine for engine in found_by if isinstance(engine, str))
    return result(
        f"{name} ({names})" if names else name,
        url=item.get("url"),
        title=item.get("title"),
        snippet=item.get("content"),
        date=text_or_empty(item.get("publishedDate")) or item.get("pubdate"),
        score=item.get("score"),
        read_date=str,
    )


def _failed_engines(value: object) -> list[str]:
    """Return "engine (reason)" for each entry of `unresponsive_engines`."""
    failed = []
    for entry in value if isinstance(value, list) else []:
        parts = [text_or_empty(part) for part in entry] if isinstance(entry, list) else [text_or_empty(entry)]
        if parts and parts[0]:
            failed.append(f"{parts[0]} ({parts[1]})" if len(parts) > 1 and parts[1] else parts[0])
    return failed
