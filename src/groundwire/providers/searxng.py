"""SearXNG, the self-hosted metasearch engine (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Final, Literal

from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    ProviderBlocked,
    ProviderError,
    ProviderUnavailable,
    ProviderUnsupported,
    UnexpectedResponse,
)
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ApiOptions, SearchApiProvider
from groundwire.providers.http_parsing import ErrorRule, json_answer, objects, result, results, text_or_empty
from groundwire.providers.query_mapping import RANGE_NAMES, Mapped
from groundwire.settings.sections import Words
from groundwire.transport import Response

_SAFESEARCH: Final[Mapping[str, str]] = {"off": "0", "moderate": "1", "strict": "2"}
# Prefixes that SearXNG parses as a bang, a language or a time limit, and its "go to the first result".
_COMMAND = re.compile(r"(?<!\S)(?:!!+(?!\S)|[!?:<]+(?=[^\s!?:<]))")
_NEUTRALIZED = "searxng: characters that it treats as operators (! ? : <) were removed from the query"
_FORBIDDEN = "Add json to search.formats in its settings.yml, or let this machine pass its limiter or proxy"
_UNKNOWN = frozenset(range(201, 500)) - frozenset(range(300, 401)) - {429}


class SearXngOptions(ApiOptions):
    """`[providers.searxng]`."""

    base_url: str = ""
    """The URL of the instance, such as `http://127.0.0.1:8888`, or of its search page; it may be private."""
    engines: Words = ()
    """The engines to use; empty means those of the categories."""
    categories: Words = ("general",)
    """The categories to search if no engines are named."""


class SearXngSearchProvider(SearchApiProvider):
    """Web search with a SearXNG instance. Its `search.formats` setting must contain `json`."""

    key_variables: ClassVar[tuple[str, ...]] = ("SEARXNG_API_KEY",)
    key_needed = False
    search_method: ClassVar[Literal["GET", "POST"]] = "GET"
    errors: ClassVar[tuple[ErrorRule, ...]] = (
        ErrorRule(AuthenticationFailed, "the key is not accepted", "Set SEARXNG_API_KEY", status=(401, 407)),
        ErrorRule(ProviderBlocked, "access denied", _FORBIDDEN, status=(403,)),
        ErrorRule(ProviderUnavailable, "failed", status=range(500, 1_000)),
        ErrorRule(UnexpectedResponse, "answered with an unknown status", "Check base_url", status=_UNKNOWN),
    )
    Options: ClassVar[type[SearXngOptions]] = SearXngOptions
    _options: SearXngOptions
    capabilities: Capabilities = Capabilities(
        search=True, pages=True, time_ranges=ANY_RANGE, domains="operator", language=True, region=True, safesearch=True
    )

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request; the limiter takes a client without text/html for a bot."""
        accept = {"Accept": "application/json, text/html;q=0.5"}
        return accept | {"Authorization": f"Bearer {key}"} if key else accept

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request. The service has no limit parameter: all its rows are returned."""
        options, words = self._options, neutralize(query)
        params = {"q": words, "format": "json", "pageno": str(filters.page)}
        mapped = Mapped(params, warnings=[_NEUTRALIZED] if words != query else [])
        mapped.add_sites(filters, self.name)
        params["safesearch"] = _SAFESEARCH[filters.safesearch]
        if options.engines:  # with categories as well, it would also use their engines
            params["engines"] = ",".join(options.engines)
        else:
            params["categories"] = ",".join(options.categories)
        if filters.time_range != "all":
            params["time_range"] = RANGE_NAMES[filters.time_range]
        if filters.language or filters.region:
            params["language"] = _language(filters)
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse a response; it is a failure if every engine behind the instance failed."""
        data = json_answer(reply, self.name, self.errors, self.key_variables)
        failed = _failed_engines(data.get("unresponsive_engines"))
        rows = [row for item in objects(data.get("results")) if (row := _row(item, self.name)) is not None]
        reasons = ", ".join(failed)
        if failed and not rows:
            raise ProviderUnavailable(self.name, f"all its engines failed: {reasons}", status=reply.status)
        parsed = results(reply, self.name, data.get("results"), rows)
        warning = f"{self.name}: some engines failed: {reasons}"
        return replace(parsed, partial=True, warnings=(warning,)) if failed else parsed

    async def cause(self, error: ProviderError, deadline: Deadline | None) -> ProviderError:
        """Distinguish an instance without JSON from one that blocks the client: `/config` ignores the formats."""
        if error.status == 403:
            with suppress(ProviderError):
                reply = await self.ask(Mapped({}), lambda reply: reply, method="GET", path="/config", deadline=deadline)
                if reply.status == 200 and reply.media_type == "application/json":
                    fix = "Add json to search.formats in its settings.yml"
                    return ProviderUnsupported(self.name, "the instance does not answer in JSON", status=403, fix=fix)
        return error


def _language(filters: Filters) -> str:
    """Return a language and a country in SearXNG's format: `de`, `zh-CN`, `all-US`; no script."""
    language, *more = (filters.language or "all").split("-")
    region = next((part for part in more if len(part) == 2), filters.region)
    return language.lower() + (f"-{region.upper()}" if region else "")


def neutralize(query: str) -> str:
    """Return the query without the prefixes that SearXNG parses as commands.

    `!!w x` would redirect to another host; `!general`, `:fr` and `<3` would change what is searched and how.
    """
    return " ".join(_COMMAND.sub("", query).split()) or f'"{"".join(query.split())}"'


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    """Convert one row; None for rows without a URL, as maps and packages have."""
    found_by = item["engines"] if isinstance(item.get("engines"), list) else [item.get("engine")]
    names = ", ".join(engine for engine in found_by if isinstance(engine, str))
    return result(
        f"{name} ({names})" if names else name,
        url=item.get("url"),
        title=item.get("title"),
        snippet=item.get("content"),
        date=text_or_empty(item.get("publishedDate")) or item.get("pubdate"),
        score=item.get("score"),
    )


def _failed_engines(value: object) -> list[str]:
    """Return "engine (reason)" for each entry of `unresponsive_engines`."""
    entries = [entry if isinstance(entry, list) else [entry] for entry in value] if isinstance(value, list) else []
    named = [(*map(text_or_empty, entry), "", "")[:2] for entry in entries]
    return [f"{engine} ({reason})" if reason else engine for engine, reason in named if engine]
