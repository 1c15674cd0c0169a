"""Wikipedia's own search (https://www.mediawiki.org/wiki/API:Search). It needs no key, only a name to be known by."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, urlsplit

from groundwire.deadline import Deadline
from groundwire.errors import ProviderBlocked, ProviderUnavailable, ProviderUnsupported, RateLimited, RequestRefused
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiProvider, Mapped
from groundwire.providers.http_parsing import (
    clipped,
    json_object,
    json_or_empty,
    objects,
    raise_for_status,
    retry_after,
    text_or_empty,
)
from groundwire.providers.result_rows import results
from groundwire.transport import Reply

__all__ = ["WikipediaSearchProvider", "address", "edition", "parse", "to_params"]

_TIMEOUT = 10.0  # seconds
_MOST = 50  # results; the service takes up to 500
_CHARACTERS = 300  # of a query (CirrusSearch)
_PLAIN = "/:,()!*'@;~$-_."  # what MediaWiki leaves as it is in an address
_RATE = frozenset({"maxlag", "ratelimited", "cirrussearch-too-busy-error"})
_OUTAGES = ("internal_api_error", "readonly", "search-error", "cirrussearch-backend-error")
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
_OTHER_EDITIONS = {"fil": "tl", "iw": "he", "nb": "no", "cmn": "zh"}


class WikipediaSearchProvider(ApiProvider):
    """Search in Wikipedia, in the edition of the language that is asked for, else in English."""

    capabilities = Capabilities(search=True, max_results=_MOST, pages=True, language=True)
    service = "https://{language}.wikipedia.org"
    key_needed = False

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`.

        Raises:
            ProviderUnsupported: the domains that are allowed or blocked leave no page of Wikipedia.
            ProviderError: another of its classes.
        """
        language = edition(filters)
        if not _may_answer(f"{language}.wikipedia.org", filters):
            raise ProviderUnsupported(self.name, "it has pages of wikipedia.org only, which the domains leave out")
        mapped = to_params(query, limit, filters, name=self.name)
        reply = await self._transport.call(
            self.name,
            "GET",
            f"{self._base.replace('{language}', language)}/w/api.php",
            params=mapped.values,
            headers=self.headers(None),
            deadline=(deadline or Deadline.after(_TIMEOUT)).capped(_TIMEOUT),
        )
        return self.finished(parse(reply, self.name, language), mapped)


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
    """Return the parameters of a search.

    Args:
        query: The words.
        limit: The most results wanted.
        filters: What the results should satisfy; the language is a matter of the address, see `edition`.
        name: The provider's name, for the warnings.
    """
    words, warnings = clipped(name, query, characters=_CHARACTERS)
    rows = min(limit, _MOST)
    values = {
        "action": "query",
        "list": "search",
        "format": "json",
        "formatversion": "2",
        "srsearch": words,
        "srlimit": str(rows),
        "srprop": "snippet|timestamp",
    }
    mapped = Mapped(values, warnings=warnings)
    if filters.page > 1:
        values["sroffset"] = str((filters.page - 1) * rows)
    if filters.language and not _edition_of(filters.language):
        mapped.applied["language"] = "not_possible"
        warnings.append(f"{name}: it has no edition in {filters.language}; {edition(filters)} was searched")
    return mapped


def address(title: str, language: str) -> str:
    """Return the address of an article."""
    return f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe=_PLAIN, errors='replace')}"


def parse(reply: Reply, name: str = "wikipedia", language: str = "") -> Results:
    """Read an answer. Its dates are those of the last edit, not of publication, and are passed on as such.

    Args:
        reply: The answer.
        name: The provider's name.
        language: The edition; by default that of the address that answered, else English.

    Raises:
        ProviderError: the answer is a failure, which may come with a status of 200.
    """
    _raise_for_error(reply, name)
    data = json_object(reply, name)
    query = data.get("query")
    rows = query.get("search") if isinstance(query, dict) else None
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


def _raise_for_error(reply: Reply, name: str) -> None:
    """Raise what MediaWiki says in its own way: errors with a status of 200, refusals of unknown programs with 403."""
    status, again = reply.status, retry_after(reply.headers)
    code, info = _error(reply)
    said = " ".join(f"{code}: {info}".split())[:200]
    if code in _RATE:
        raise RateLimited(name, f"too many requests: {said}", status=status, retry_after=again)
    if code.startswith(_OUTAGES):
        raise ProviderUnavailable(name, f"failed: {said}", status=status, retry_after=again)
    if code and status < 500:
        raise RequestRefused(name, f"the request was refused: {said}", status=status)
    if status in {401, 403}:
        raise ProviderBlocked(
            name, "access denied", status=status, fix="Set network.user_agent to one that says who you are"
        )
    raise_for_status(reply, name)


def _error(reply: Reply) -> tuple[str, str]:
    """Return the code and the text of an error, or empty texts."""
    data = json_or_empty(reply)
    if "error" not in data:
        return "", ""
    error = data["error"] if isinstance(data["error"], dict) else next(objects(data.get("errors")), {})
    return text_or_empty(error.get("code")) or "unknown", text_or_empty(error.get("info"))
