"""Wikipedia's own search (https://www.mediawiki.org/wiki/API:Search). It needs no key, only a user agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal
from urllib.parse import quote, urlsplit

from groundwire.errors import ProviderBlocked, ProviderUnavailable, ProviderUnsupported, RateLimited, RequestRefused
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import Mapped, SearchApiProvider
from groundwire.providers.http_parsing import (
    ANY_STATUS,
    ErrorRule,
    clipped,
    json_answer,
    json_or_empty,
    text_or_empty,
    value_at,
)
from groundwire.providers.result_rows import results
from groundwire.transport import Response

__all__ = ["WikipediaSearchProvider", "address", "edition", "parse", "to_params"]

_CODE = "error.code errors.code"
_ERRORS = (  # MediaWiki reports errors with a status of 200, too
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
        when=lambda reply: "error" in json_or_empty(reply),
    ),
    ErrorRule(
        ProviderBlocked, "access denied", "Set network.user_agent to one that says who you are", status=(401, 403)
    ),
)
_MAX_RESULTS = 50  # the service takes up to 500
_MAX_QUERY = 300  # of a query (CirrusSearch)
_PLAIN = "/:,()!*'@;~$-_."  # what MediaWiki leaves as it is in an address
# The editions of 10,000 articles and more whose codes are codes of languages, too.
_EDITIONS = frozenset(
    re.findall(
        "[a-z]+",
        "af am an ar arz as ast av az azb ba be bg bn bpy br bs ca ce ceb ckb co cs cv cy da de diq el en eo es "
        "et eu fa fi fo fr fy ga gd gl gu ha hak he hi hr hsb ht hu hy ia id ig ilo io is it ja jv ka kk km kn "
        "ko ku ky la lb li lld lmo lt lv mai mg mhr mi min mk ml mn mr ms my mzn nap nds ne new nl nn no nv oc "
        "or os pa pl pms pnb ps pt qu ro ru rw sa sah sc scn sco sd sh shn si sk sl sn so sq sr su sv sw szl ta "
        "te tg th tl tr tt ug uk ur uz vec vi vo wa war wuu xmf yi yo za zh zu",
    )
)
_OTHER_EDITIONS: Final[Mapping[str, str]] = {"fil": "tl", "iw": "he", "nb": "no", "cmn": "zh"}


class WikipediaSearchProvider(SearchApiProvider):
    """Search in Wikipedia, in the edition of the language that is asked for, else in English."""

    service = "https://{language}.wikipedia.org"
    key_needed = False
    search_method: ClassVar[Literal["GET", "POST"]] = "GET"
    search_path = "/w/api.php"
    capabilities: Capabilities = Capabilities(search=True, max_results=_MAX_RESULTS, pages=True, language=True)

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Return a query as a request.

        Raises:
            ProviderUnsupported: the domains that are allowed or blocked leave no page of Wikipedia.
        """
        if not _may_answer(f"{edition(filters)}.wikipedia.org", filters):
            raise ProviderUnsupported(self.name, "it has pages of wikipedia.org only, which the domains leave out")
        return to_params(query, limit, filters, name=self.name)

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Return the results in a response."""
        return parse(reply, self.name, mapped.address["language"])


def edition(filters: Filters) -> str:
    """Return the edition to ask: that of the language, else that of an allowed domain such as de.wikipedia.org."""
    if code := _edition_of(filters.language or ""):
        return code
    for domain in filters.allowed_domains:
        code, _, rest = domain.removeprefix("www.").partition(".")
        if rest == "wikipedia.org" and code in _EDITIONS:
            return code
    return "en"


def _edition_of(tag: str) -> str:
    code = tag.lower().partition("-")[0]
    code = _OTHER_EDITIONS.get(code, code)
    return code if code in _EDITIONS else ""


def _may_answer(host: str, filters: Filters) -> bool:
    def under(domains: tuple[str, ...]) -> bool:
        return any(host == domain or host.endswith(f".{domain}") for domain in domains)

    return (not filters.allowed_domains or under(filters.allowed_domains)) and not under(filters.blocked_domains)


def to_params(query: str, limit: int, filters: Filters, *, name: str = "wikipedia") -> Mapped:
    """Return a query as the parameters of a request; the language goes into the address, see `edition`."""
    words, warnings = clipped(name, query, characters=_MAX_QUERY)
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
    if filters.language and not _edition_of(filters.language):
        mapped.applied["language"] = "not_possible"
        warnings.append(f"{name}: it has no edition in {filters.language}; {edition(filters)} was searched")
    return mapped


def address(title: str, language: str) -> str:
    """Return the address of an article."""
    return f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe=_PLAIN, errors='replace')}"


def parse(reply: Response, name: str = "wikipedia", language: str = "") -> Results:
    """Read a response. Its dates are those of the last edit, not of publication, and are passed on as such.

    Args:
        reply: The response.
        name: The provider's name.
        language: The edition; by default that of the address that answered, else English.

    Raises:
        ProviderError: the response is a failure, which may come with a status of 200.
    """
    rows = value_at(json_answer(reply, name, _ERRORS), "query.search")
    code, _, rest = (urlsplit(reply.url).hostname or "").partition(".")
    language = language or (code if rest == "wikipedia.org" else "en")
    return results(reply, name, rows, lambda item, source: _row(item, source, language))


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
