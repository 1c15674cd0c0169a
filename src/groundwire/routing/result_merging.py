"""Processing of a provider's rows: verified filters with receipts, normalization, deduplication, fusion of lists.

Rows are plain text of bounded length, with http URLs only. Every filter is checked on every row, and a receipt states
what applied it.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from groundwire.models import MAX_SNIPPET, MAX_TITLE, MAX_URL, Applied, FilterReceipt, Query, Results, SearchResult
from groundwire.providers import Capabilities, SearchProvider
from groundwire.providers.query_mapping import time_range_start
from groundwire.routing.calls import SearchCall
from groundwire.safety.secret_scanner import break_marks
from groundwire.safety.urls import DomainPolicy, WebUrl, parse_url, plain_url, url_or_none

_ZONES = timedelta(days=1)  # a day begins up to half a day earlier or later elsewhere


class DatedRows(NamedTuple):
    """Rows that satisfy the dates that were asked for."""

    rows: tuple[SearchResult, ...]
    """The rows that do, or that have no date."""
    dropped: int
    """How many are older or newer."""
    undated: int
    """How many of the kept ones have no date."""


class FinishedRows(NamedTuple):
    """What is left of a provider's rows, and what happened to the others."""

    rows: tuple[SearchResult, ...]
    """Clean rows that satisfy all filters, up to the limit."""
    filters: tuple[FilterReceipt, ...]
    """How each requested filter was applied."""
    warnings: tuple[str, ...]
    """What the reader should know, a sentence each."""
    valid: bool
    """Whether any of the provider's rows had a URL."""


def finish(results: Results, provider: SearchProvider, call: SearchCall) -> FinishedRows:
    """Clean and filter the rows of a provider, and note how each filter was applied.

    Args:
        results: What the provider returned.
        provider: The provider.
        call: The call, whose filters every row must satisfy, whatever the provider supports.
    """
    query, name = call.provider_query, provider.name
    own = DomainPolicy(call.query.allowed_domains, call.query.blocked_domains)
    dated = filter_by_date(normalize(results, (call.policy, own), name), query)
    rows = dated.rows[: query.limit]
    filters = _receipts(query, results, provider.capabilities, dated, rows)
    valid = bool(rows) or bool(normalize(results, (), name))
    return FinishedRows(rows, filters, (*results.warnings, *_notes(filters, name)), valid)


def filter_by_date(rows: Iterable[SearchResult], query: Query, today: date | None = None) -> DatedRows:
    """Return the rows that lie within the time range and the days of a query; rows without a date are kept.

    Args:
        rows: Cleaned rows; `published` is ISO 8601 or None.
        query: What was asked.
        today: The present day, by default in UTC.
    """
    if query.time_range == "all" and not query.published_after and not query.published_before:
        rows = tuple(rows)
        return DatedRows(rows, 0, [row.published for row in rows].count(None))
    now = today or datetime.now(UTC).date()
    starts = [day for day in (time_range_start(query.time_range, now), query.published_after) if day]
    first = max(starts, default=None)
    last = query.published_before
    matches, dropped, undated = [], 0, 0
    for row in rows:
        day = _day(row.published)
        if day is None:
            undated += 1
        elif (first and day < first - _ZONES) or (last and day > last + _ZONES):
            dropped += 1
            continue
        matches.append(row)
    return DatedRows(tuple(matches), dropped, undated)


def _receipts(
    query: Query, results: Results, capabilities: Capabilities, dated: DatedRows, rows: Sequence[SearchResult]
) -> tuple[FilterReceipt, ...]:
    """Return a receipt for each filter that was asked for.

    Args:
        query: What was asked.
        results: The provider's answer; what it says about filters takes precedence over its capabilities.
        capabilities: What the provider can do.
        dated: The counts of the filter by date.
        rows: The rows that are returned.
    """
    receipts = []
    for name, promise in _requested_filters(query, capabilities):
        undated = sum(1 for row in rows if row.published is None)
        note = ""
        if name in _DATES and undated:
            note = f"{undated} of {len(rows)} results have no date and were kept"
        elif name in _DATES and dated.dropped:
            note = f"{dated.dropped} results outside the range were removed"
        applied = results.applied.get(name, promise)
        if name in _DATES and applied == "native" and not capabilities.undated:
            note = "; ".join(filter(None, (note, "pages without a date were left out by the service")))
        receipts.append(FilterReceipt(filter=name, applied=applied, note=note))
    return tuple(receipts)


def _notes(receipts: Iterable[FilterReceipt], provider: str) -> tuple[str, ...]:
    """Return what the reader should know about the filters, a sentence each; nothing where all went well."""
    notes = []
    for receipt in receipts:
        if receipt.applied == "not_possible":
            notes.append(f"{provider} cannot filter by {receipt.filter}; the results are not filtered by it")
        elif receipt.note:
            notes.append(f"{receipt.filter}: {receipt.note}")
    return tuple(notes)


_DATES = frozenset({"time_range", "published_after", "published_before"})


def _requested_filters(query: Query, capabilities: Capabilities) -> Iterator[tuple[str, Applied]]:
    """Yield each filter that is not at its default, and what the provider's capabilities promise for it."""
    by_domain: Applied = "post_filter" if capabilities.domains == "none" else capabilities.domains
    if query.allowed_domains:
        yield "allowed_domains", by_domain
    if query.blocked_domains:
        yield "blocked_domains", by_domain
    if query.time_range != "all":
        yield "time_range", "native" if query.time_range in capabilities.time_ranges else "post_filter"
    for name in ("published_after", "published_before"):
        if getattr(query, name):
            yield name, "native" if capabilities.dates else "post_filter"
    if query.language:
        yield "language", _native_if(capabilities.language)
    if query.region:
        yield "region", _native_if(capabilities.region)
    if query.safesearch != "moderate":
        yield "safesearch", _native_if(capabilities.safesearch)
    if query.page > 1:
        yield "page", _native_if(capabilities.pages)


def _native_if(able: bool) -> Applied:
    return "native" if able else "not_possible"


def _day(published: str | None) -> date | None:
    if published is None:
        return None
    try:
        return datetime.fromisoformat(published).date()
    except ValueError:
        return None


_TAG = re.compile(
    r"</?(?:a|abbr|article|aside|b|big|blockquote|body|br|button|cite|code|dd|del|details|div|dl|dt|em|figcaption"
    r"|figure|font|footer|form|h[1-6r]|head|header|highlight|hit|hl|html|i|iframe|img|input|ins|kbd|label|li|link|main"
    r"|mark|meta|nav|ol|p|picture|pre|q|s|samp|script|section|small|source|span|strike|strong|style|sub|summary|sup|svg"
    r"|table|tbody|td|th|thead|time|title|tr|tt|u|ul|var|video|wbr|[a-z0-9]{1,9}:[a-z-]{1,30}|math"
    r"|m(?:[ino]|row|sub|sup|subsup|text|frac|sqrt|over|under|style|space)|inline-formula|tex-math|italic|bold|scp?)"
    r"(?:\s[^<>=]{0,200}=[^<>]{0,2000})?\s{0,9}/?>"
    r"|<!--.{0,2000}?-->",
    re.IGNORECASE | re.DOTALL,
)
"""HTML and publishers' tags; all else in angle brackets is what the page says, such as `Vec<String>` or `<stdio.h>`."""
_BREAK = re.compile(r"</?(?:jats:)?(?:br|p|div|li|h[1-6]|title|d[dt]|t[dhr])\b", re.IGNORECASE)
"""Tags that part words, as they begin a line or a cell."""
_UNSAFE = str.maketrans({char: f"%{ord(char):02X}" for char in " \"'<>`"})
"""Characters that would end a URL, or an attribute, a link or an element around it (WHATWG URL, 1.3)."""
_SAFE_BYTES = bytes(code not in _UNSAFE for code in range(256))  # by ASCII character, as below
_CUT = "…"
_PLAIN_BYTES = bytes(32 <= code < 127 and chr(code) not in "&<[" for code in range(256))  # by ASCII character
_LONGEST_DATE = 100  # characters
_PLAIN_QUERY = re.compile(r"[\w.~-]+=[\w.~-]*(?:&[\w.~-]+=[\w.~-]*)*", re.ASCII)  # that quoting would not change
_TRACKING = re.compile(r"utm_\w+|gclid|fbclid|msclkid|dclid|yclid|mc_[ce]id|igshid|ref_src", re.IGNORECASE)


def normalize(rows: Iterable[SearchResult], policies: Iterable[DomainPolicy], provider: str) -> list[SearchResult]:
    """Return cleaned, valid rows in their order, numbered from 1.

    Args:
        rows: The provider's rows.
        policies: Domain lists that every row must match, whatever the provider supports.
        provider: The provider's name, for rows without a source.
    """
    policies = [policy for policy in policies if policy.allowed or policy.blocked]
    by_key: dict[str, SearchResult] = {}
    for row in rows:
        address = row.url
        if len(address) > MAX_URL:
            continue
        if (url := plain_url(address)) is None or "'" in address:
            address = address.strip()
            if not address.isascii() or 0 in address.encode().translate(_SAFE_BYTES):
                address = address.translate(_UNSAFE)
            if (url := url_or_none(address)) is None:
                continue  # not a URL that anyone could open
        key = canonical(url)
        if key in by_key or (policies and not all(policy.permits(url.host) for policy in policies)):
            continue
        cleaned = _clean_row(row, len(by_key) + 1, address, url.host, provider)
        cleaned.carry(Address(url, key))
        by_key[key] = cleaned
    return [*by_key.values()]


def _clean_row(row: SearchResult, number: int, url: str, host: str, provider: str) -> SearchResult:
    """Return a row with plain texts and an ISO 8601 date; the provider may keep its own."""
    title, snippet, source = row.title, row.snippet, row.source
    both = title + snippet  # one glance tells whether there is anything to do
    long = len(title) > MAX_TITLE or len(snippet) > MAX_SNIPPET
    if long or not both.isascii() or "  " in both or 0 in both.encode().translate(_PLAIN_BYTES):
        title, snippet = _display_text(title, MAX_TITLE), _display_text(snippet, MAX_SNIPPET)
    published, origin = row.published, row.published_origin
    if published is not None or origin:
        published, origin = _iso_date(published, origin)
    return SearchResult(
        citation_id=number,
        title=title.strip() or host,
        url=url,
        snippet=snippet.strip(),
        source=source if source == provider else plain(source, MAX_TITLE) or provider,
        published=published,
        published_origin=origin,
        score=row.score,
    )


def replaced(row: SearchResult, **values: Any) -> SearchResult:
    """Return a copy of a row with other values except for its URL, which the copy carries, too."""
    copy = replace(row, **values)
    copy.carry(row._address)
    return copy


class Address(NamedTuple):
    """The parsed URL of a row."""

    url: WebUrl
    """The URL in parts."""
    canonical: str
    """The form that is equal for all URLs of a page; see `canonical`."""


def address_of(row: SearchResult) -> Address:
    """Return the URL that a normalized row carries, or parse it now.

    Raises:
        InvalidRequest, BlockedAddress: it is not a valid URL.
    """
    if row._address is not None:
        return Address(*row._address)
    url = parse_url(row.url)
    return Address(url, canonical(url))


def _iso_date(published: str | None, origin: str) -> tuple[str | None, str]:
    """Return the date that a row has in ISO 8601, and the provider's own text."""
    text, origin = plain(published or "", _LONGEST_DATE), plain(origin, _LONGEST_DATE)
    if published is None:
        return None, origin
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None, text or origin
    return text, origin


def _display_text(text: str, longest: int) -> str:
    """Return text as `plain` does, with reserved tokens broken."""
    return break_marks(plain(text, longest))[:longest]


def plain(text: str, longest: int) -> str:
    """Return text without tags, entities, control and bidirectional characters, collapsed and truncated.

    Args:
        text: A title or snippet from a provider.
        longest: Maximum characters, including the ellipsis.
    """
    text = text[: longest * 8]
    if "&" not in text and "<" not in text and "  " not in text and text.isprintable():  # white space is blanks only
        text = text.strip()
        return text if len(text) <= longest else text[: longest - 1].rstrip() + _CUT
    if "<" in text:
        text = _TAG.sub(lambda tag: " " if _BREAK.match(tag[0]) else "", text)
    if "&" in text:
        text = html.unescape(text)
    text = " ".join(text.split())
    if not text.isprintable():
        text = " ".join("".join(filter(_is_shown, text)).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + _CUT


def canonical(url: WebUrl) -> str:
    """Normalize a URL for comparison: no fragment, tracking parameters, `www.` or trailing slash."""
    _, host, port, target, _ = url
    path, query = target, ""
    if "?" in target:
        path, _, query = target.partition("?")
    if query and (not _PLAIN_QUERY.fullmatch(query) or _TRACKING.search(query)):
        pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if not _TRACKING.fullmatch(pair[0])]
        query = urlencode(pairs)
    return f"{host.removeprefix('www.')}:{'' if port in {80, 443} else port}{path.rstrip('/')}?{query}"


def _is_shown(char: str) -> bool:
    # Cc: controls, Cf: bidirectional and zero-width, Co/Cs/Cn: unassigned; joiners are part of words.
    return char in "\u200c\u200d" or unicodedata.category(char) not in {"Cc", "Cf", "Co", "Cs", "Cn"}


_RRF_K = 60  # as in the paper on reciprocal rank fusion
_SHINGLE = 3  # words
_TWIN_SHARE = 0.8  # share of common shingles from which two snippets with one title are the same page
_FEWEST_WORDS = 8  # words; a shorter snippet is not distinctive


def fuse(lists: Sequence[Sequence[SearchResult]]) -> list[SearchResult]:
    """Merge ranked lists; a page found by several providers is listed once, with all of them in `source`.

    Args:
        lists: Cleaned rows of each provider, best first.
    """
    scores: dict[str, float] = {}
    best: dict[str, SearchResult] = {}
    sources: dict[str, list[str]] = {}
    for rows in lists:
        keys: set[str] = set()
        for rank, row in enumerate(rows, start=1):
            key = _twin(row, best) or address_of(row).canonical
            if key in keys:
                continue
            keys.add(key)
            scores[key] = scores.get(key, 0.0) + 1 / (_RRF_K + rank)
            best[key] = _better(best.get(key), row)
            if row.source not in sources.setdefault(key, []):
                sources[key].append(row.source)
    order = sorted(best, key=lambda key: -scores[key])
    return [replaced(best[key], source="; ".join(sources[key]), score=round(scores[key], 6)) for key in order]


def _twin(row: SearchResult, rows: dict[str, SearchResult]) -> str | None:
    """Return the key of the same page under another URL: equal title, nearly equal snippet."""
    words = _words(row.snippet)
    if len(words) < _FEWEST_WORDS:
        return None
    mine = _shingles(words)
    for key, other in rows.items():
        if other.title.casefold() == row.title.casefold():
            theirs = _shingles(_words(other.snippet))
            if theirs and len(mine & theirs) / len(mine | theirs) >= _TWIN_SHARE:
                return key
    return None


def _better(best: SearchResult | None, other: SearchResult) -> SearchResult:
    """Return the more informative row, completed from the other."""
    if best is None:
        return other
    richer, poorer = (best, other) if len(best.snippet) >= len(other.snippet) else (other, best)
    if richer.published is None and poorer.published is not None:
        return replaced(richer, published=poorer.published, published_origin=poorer.published_origin)
    return richer


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + _SHINGLE]) for start in range(len(words) - _SHINGLE + 1)}
