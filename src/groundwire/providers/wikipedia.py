"""Wikipedia's own search (https://www.mediawiki.org/wiki/API:Search). It needs no key, only a user agent."""

from __future__ import annotations

from typing import Any, ClassVar, Literal
from urllib.parse import quote, urlsplit

from groundwire.errors import ProviderBlocked, ProviderUnavailable, ProviderUnsupported, RateLimited, RequestRefused
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import SearchApiProvider
from groundwire.providers.http_parsing import ANY_STATUS, ErrorRule, text_or_empty, value_at
from groundwire.providers.query_mapping import Mapped, clipped, language_of
from groundwire.transport import Response

_CODE = "error.code errors.code"
_ERRORS = (  # MediaWiki also reports errors with status 200
    ErrorRule(
        RateLimited,
        "too many requests",
        status=ANY_STATUS,
        at=_CODE,
        pattern="^(maxlag|ratelimited|cirrussearch-too-busy-error)$",
    ),
    ErrorRule(
        ProviderUnavailable,
        "failed",
        status=ANY_STATUS,
        at=_CODE,
        pattern="^(internal_api_error|readonly|search-error|cirrussearch-backend-error)",
    ),
    ErrorRule(
        RequestRefused,
        "the request was refused",
        status=range(500),
        at=f"error {_CODE} error.info errors.text",
        pattern=".",
    ),
    ErrorRule(ProviderBlocked, "access denied", "Set network.user_agent to one that identifies you", status=(401, 403)),
)
_MAX_RESULTS = 50  # the service takes up to 500
_MAX_QUERY = 300  # of a query (CirrusSearch)
_PLAIN = "/:,()!*'@;~$-_."  # what MediaWiki leaves as it is in an address


class WikipediaSearchProvider(SearchApiProvider):
    """Search in Wikipedia, in the edition of the requested language, else in English."""

    service = "https://{language}.wikipedia.org"
    search_method: ClassVar[Literal["GET", "POST"]] = "GET"
    search_path = "/w/api.php"
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    capabilities: Capabilities = Capabilities(search=True, max_results=_MAX_RESULTS, pages=True, language=True)

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request.

        Raises:
            ProviderUnsupported: the allowed and blocked domains exclude all of Wikipedia.
        """
        if not _may_answer(f"{edition(filters)}.wikipedia.org", filters):
            raise ProviderUnsupported(self.name, "it has pages of wikipedia.org only, which the domain filters exclude")
        words, warnings = clipped(self.name, query, characters=_MAX_QUERY)
        rows = min(limit, _MAX_RESULTS)
        values = {
            "action": "query",
            "list": "search",
            "format": "json",
            "formatversion": "2",
            "srsearch": words,
            "srlimit": str(rows),
            "srprop": "snippet|timestamp",
        }
        mapped = Mapped(values, warnings=warnings, address={"language": edition(filters)})
        if filters.page > 1:
            values["sroffset"] = str((filters.page - 1) * rows)
        if filters.language and not mapped.known_language(filters, "wikipedia"):
            warnings.append(f"{self.name}: it has no edition in {filters.language}; {edition(filters)} was searched")
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse a response. Its dates are those of the last edit, not of publication, and are labeled so."""
        rows = value_at(self.answer(reply), "query.search")
        code, _, domain = (urlsplit(reply.url).hostname or "").partition(".")
        language = mapped.address.get("language") or (code if domain == "wikipedia.org" else "en")
        return self.rows(reply, rows, lambda item, source: _row(item, source, language))


def edition(filters: Filters) -> str:
    """Return the edition to ask: that of the language, else that of an allowed domain such as de.wikipedia.org."""
    if code := language_of(filters.language or "", "wikipedia"):
        return code
    for domain in filters.allowed_domains:
        code, _, site = domain.removeprefix("www.").partition(".")
        if site == "wikipedia.org" and language_of(code, "wikipedia") == code:
            return code
    return "en"


def _may_answer(host: str, filters: Filters) -> bool:
    def under(domains: tuple[str, ...]) -> bool:
        return any(host == domain or host.endswith(f".{domain}") for domain in domains)

    return (not filters.allowed_domains or under(filters.allowed_domains)) and not under(filters.blocked_domains)


def address(title: str, language: str) -> str:
    """Return the URL of an article."""
    return f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe=_PLAIN, errors='replace')}"


def _row(item: dict[str, Any], name: str, language: str) -> SearchResult | None:
    title, edited = text_or_empty(item.get("title")), text_or_empty(item.get("timestamp"))
    if not title:
        return None
    return SearchResult(
        title=title,
        url=address(title, language),
        snippet=text_or_empty(item.get("snippet")),
        source=name,
        published_origin=f"last edited {edited}" if edited else "",
    )
