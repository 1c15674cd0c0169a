"""The rows of the archive: what a page or a search leaves, and what a row is when it is read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple
from urllib.parse import quote

from pydantic import ValidationError

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.models import MAX_TITLE, SearchResponse, SearchResult
from groundwire.safety.tenancy import Owner, page_visibility
from groundwire.safety.url_redaction import has_secret
from groundwire.safety.urls import WebUrl, parse_url, url_or_none
from groundwire.storage.archive.fts import joined, readable, split, storable

if TYPE_CHECKING:
    from groundwire.models import Page

ARCHIVE: Final = "archive"
"""The archive's name as the source of a row; its own results are not archived again."""

Kind = Literal["page", "result"]
"""A page that was read, or a row of a search."""

_LONGEST_TEXT = 2_000_000  # characters of a page
_LONGEST_ASKED = 1_000  # characters of the queries that led to a result
_EXCERPT = 300  # characters
_OVERHEAD = 600  # bytes of a row beside its text: columns, indexes, FTS5's own tables
_DAY = 86_400_000  # milliseconds
_INDEXED = 1.75  # bytes in the file for a byte of text; right within a fifth for texts of 300 to 60,000 characters


class ArchiveHit(NamedTuple):
    """A match in the archive, or an entry in a list."""

    url: str
    title: str
    snippet: str
    """The passage with the words, as plain text."""
    published: str | None
    """When it was published, ISO 8601; None means unknown."""
    seen: datetime
    """When it was read or found, in UTC."""
    kind: Kind
    """Whether the whole page is archived."""
    rank: float
    """Its relevance; higher is better, comparable only within one response. 0 in a list."""


class Item(NamedTuple):
    """A row of the archive."""

    key: str
    """The owner, unless it is the local user, and a blank, and what `key_of` returns for the URL."""
    alias: str
    """What `key_of` returns for the requested URL, which may have redirected."""
    kind: Kind
    host: str
    """Its host, canonical."""
    url: str
    title: str
    """Its title, for the index."""
    text: str
    """The page's Markdown or the result's snippet, for the index."""
    asked: str
    """The queries that led to it, newest first, one per line, for the index."""
    published: str
    """When it was published, ISO 8601; empty means unknown."""
    seen: int
    """When it was seen, in milliseconds since the epoch."""
    data: str
    """The page or the result as JSON, without its text, and for a result without its title and URL."""
    tenant: str
    """Whose it is: `Owner.tenant`."""
    session: str
    """Whose it is: `Owner.session`."""
    public: int
    """Whether other sessions without a tenant may see it, 0 or 1."""
    day: str
    """The day by which it is filtered: published, else seen."""
    size: int
    """About how many bytes it takes in the file, its share of the index included."""

    @property
    def place(self) -> str:
        """What `key_of` returns for the URL, or the URL of a file."""
        return self.key.rpartition(" ")[2]

    def page(self) -> Page | None:
        """Return the page, marked as stale; None when it is none, or was written in a form that is not known here."""
        if self.kind != "page":
            return None
        from groundwire.models import Page

        fields = {name: value for name, value in json.loads(self.data).items() if name in Page.model_fields}
        try:
            page = Page.model_validate({**fields, "content": joined(self.text)})
        except ValidationError:
            return None
        age = f"from the archive, read on {_seen_at(self.seen).date()}"
        return page.model_copy(update={"stale": True, "cached": True, "warnings": (*page.warnings, age)})

    def hit(self, snippet: str = "", rank: float = 0.0) -> ArchiveHit:
        """Return it as an answer.

        Args:
            snippet: A passage as the index gives it; by default the beginning.
            rank: How well it answers.
        """
        passage = readable(snippet) if snippet else readable(self.text[: 2 * _EXCERPT])[:_EXCERPT]
        moment = _seen_at(self.seen)
        return ArchiveHit(self.url, joined(self.title), passage, self.published or None, moment, self.kind, rank)

    def merge(self, older: Item) -> Item:
        """Return this item with what an older one of the same page knows better: all of it if this one was cut.

        It is that one if that was seen later, by less than a day: else the clock was set back since.
        """
        if 0 < older.seen - self.seen < _DAY:
            return older
        queries = dict.fromkeys([*self.asked.split("\n"), *older.asked.split("\n")])
        lines = "\n".join(filter(None, queries))[:_LONGEST_ASKED]
        is_piece = self.text[:_EXCERPT] == older.text[:_EXCERPT] and len(self.text) < len(older.text)
        whole = older if is_piece and self.kind == "page" and json.loads(self.data).get("truncated") else self
        title, text, data = whole.title, whole.text, whole.data
        published = self.published or older.published
        day, size = _day_and_size(title, text, lines, published, self.seen, data)
        return self._replace(title=title, text=text, asked=lines, published=published, data=data, day=day, size=size)


def _day_and_size(title: str, text: str, asked: str, published: str, seen: int, data: str) -> tuple[str, int]:
    """Return the last two fields of an `Item`, which follow from others."""
    day = date.fromisoformat(published[:10]).isoformat() if published else _day_of(seen // _DAY)
    words = f"{title}{text}{asked}"
    indexed = int((len(words) if words.isascii() else len(words.encode())) * _INDEXED)
    return day, indexed + len(data) + _OVERHEAD


def _seen_at(milliseconds: int) -> datetime:
    """Return a moment in UTC."""
    return datetime.fromtimestamp(milliseconds / 1_000, UTC)


def key_of(url: WebUrl) -> str:
    """Return what the addresses of one page have in common: neither the scheme nor a slash at the end counts."""
    scheme, host, port, target, _ = url
    plain = port == (443 if scheme == "https" else 80) and ":" not in host
    return f"{host if plain else url.authority}{target}".rstrip("/")


def _own_key(owner: Owner, key: str) -> str:
    """Return the key of an owner's item; neither the owner's nor the page's has a blank."""
    return f"{owner.key} {key}" if owner.tenant or owner.session else key


def items_of(source: Page | SearchResponse, now: float, *, owner: Owner) -> list[Item]:
    """Return what is worth keeping of a page or an answer.

    Failures, answers that came from a cache or from the archive itself, and addresses with secrets are not.

    Args:
        source: What was read or found.
        now: The current time, in seconds since the epoch.
        owner: Whose it is.
    """
    if source.cached or source.stale:
        return []
    now_ms = round(now * 1_000)
    if not isinstance(source, SearchResponse):
        items = [] if source.reader == ARCHIVE else [page_item(source, now_ms, owner)]
    else:
        queries = storable_queries(source.query)
        rows = [row for row in source.results if row.source != ARCHIVE]
        items = [result_item(row, queries, now_ms, owner) for row in rows if not has_secret(row.url)]
    return [item for item in items if item is not None]


def page_item(page: Page, seen_ms: int, owner: Owner) -> Item | None:
    """Return the item of a page; None if it failed, is empty, or has a URL that must not be stored."""
    final = page.final_url or page.url
    target, alias = _address(final), _address(page.url)
    if target is None or alias is None or page.status != "success" or not page.content.strip():
        return None
    if len(page.content) > _LONGEST_TEXT:
        page = page.model_copy(update={"content": page.content[:_LONGEST_TEXT], "truncated": True})
    public = page_visibility(target) == page_visibility(alias) == "public"
    title, text, published = split(" ".join(page.title.split())[:MAX_TITLE]), split(page.content), _date(page.published)
    data = _json(page.model_dump(exclude={"content", "cached", "stale"}))
    key, place = _own_key(owner, key_of(target)), storable(final)
    own = (owner.tenant, owner.session, int(public), *_day_and_size(title, text, "", published, seen_ms, data))
    return Item(key, key_of(alias), "page", target.host, place, title, text, "", published, seen_ms, data, *own)


def file_item(url: str, stamp: str, owner: Owner, *, names: str, seen_ms: int, page: Page | None) -> Item:
    """Return the item of a local file, in a database of its own: one without text is kept, too, so as to be known.

    Args:
        url: Its `file:` URL.
        stamp: What changes with it.
        owner: The tenant, and the folder in place of a session.
        names: Its path from the folder on, for the index.
        seen_ms: In milliseconds since the epoch.
        page: What was read; None if it has no readable text.
    """
    title, text = ("", "") if page is None else (split(" ".join(page.title.split())[:MAX_TITLE]), split(page.content))
    index_names = "" if page is None else split(" ".join(storable(names).split())[:_LONGEST_ASKED])
    published = "" if page is None else _date(page.published or page.modified)
    data = _json({"url": url, "title": "" if page is None else page.title, "stamp": stamp})
    key = f"{owner.key}:{quote(owner.session, safe='')} {url}"
    own = (owner.tenant, owner.session, 0, *_day_and_size(title, text, index_names, published, seen_ms, data))
    return Item(key, url, "page", "", url, title, text, index_names, published, seen_ms, data, *own)


def result_item(row: SearchResult, queries: str, seen_ms: int, owner: Owner) -> Item | None:
    """Return the item of a result whose URL has no secret, or None if it has no words or is not on the web."""
    target = url_or_none(row.url) if row._address is None else row._address[0]
    title, snippet = split(row.title[:MAX_TITLE]), split(row.snippet[:_LONGEST_TEXT])
    if target is None or not (title or snippet.strip()):
        return None
    alias, published = key_of(target), _date(row.published)
    key, url = _own_key(owner, alias), storable(row.url)
    own = (owner.tenant, owner.session, 1, *_day_and_size(title, snippet, queries, published, seen_ms, ""))
    return Item(key, alias, "result", target.host, url, title, snippet, queries, published, seen_ms, "", *own)


def storable_queries(queries: str) -> str:
    """Return queries for the index, one per line, without those that have a secret."""
    lines = [" ".join(line.split()) for line in storable(queries).split("\n")]
    return "\n".join([split(line) for line in lines if line and not has_secret(line)])[:_LONGEST_ASKED]


def _address(text: str) -> WebUrl | None:
    """Return an address that may be kept."""
    try:
        return None if has_secret(text) else parse_url(text)
    except (InvalidRequest, BlockedByPolicy):
        return None


def _date(published: str | None) -> str:
    if not published:
        return ""
    try:
        date.fromisoformat(published[:10])
    except ValueError:
        return ""
    return published


@lru_cache(maxsize=8)
def _day_of(days: int) -> str:
    """Return a day in UTC by its number since the epoch; a batch has one or two."""
    return _seen_at(days * _DAY).date().isoformat()


def _json(data: Mapping[str, object]) -> str:
    return storable(json.dumps(data, ensure_ascii=False))
