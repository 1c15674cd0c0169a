"""Archive entries, which are pages and search results, and their form as a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.models import MAX_TITLE, Page, SearchResponse, SearchResult
from groundwire.safety.tenancy import LOCAL, Owner, page_visibility
from groundwire.safety.url_redaction import has_secret, is_harmless
from groundwire.safety.urls import WebUrl, parse_url
from groundwire.storage.archive.fts import joined, readable, split, storable

__all__ = ["ARCHIVE", "ArchiveHit", "Item", "Kind", "Totals", "items_of", "key_of", "own_key", "read_line", "seen_at"]

ARCHIVE = "archive"
"""The archive's name as the source of a row; its own results are not archived again."""

Kind = Literal["page", "result"]
"""A page that was read, or a row of a search."""

_LONGEST_TEXT = 2_000_000  # characters of a page
_LONGEST_ASKED = 1_000  # characters of the queries that led to a result
_EXCERPT = 300  # characters
_OVERHEAD = 600  # bytes of a row beside its text: columns, indexes, FTS5's own tables
_DAY = 86_400_000  # milliseconds
_JSON = json.JSONEncoder(ensure_ascii=False)
_INDEXED = 1.75  # bytes in the file for a byte of text; right within a fifth for texts of 300 to 60,000 characters


class ArchiveHit(NamedTuple):
    """A match in the archive, or an entry in a list."""

    url: str
    """Its URL."""
    title: str
    """Its title; empty when it has none."""
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
    """The owner, unless it is the local user, and the canonical URL; see `own_key`."""
    alias: str
    """The key of the requested URL, which may have redirected."""
    kind: Kind
    """Its kind."""
    host: str
    """Its host, canonical."""
    url: str
    """Its URL."""
    title: str
    """Its title, for the index."""
    text: str
    """The page's Markdown or the result's snippet, for the index."""
    asked: str
    """The queries that led to it, newest first, one per line, for the index."""
    published: str | None
    """When it was published, ISO 8601."""
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

    @property
    def day(self) -> str:
        """The day by which it is filtered: published, else seen."""
        if self.published:
            try:
                return datetime.fromisoformat(self.published).date().isoformat()
            except ValueError:
                pass
        return _day_of(self.seen // _DAY)

    @property
    def size(self) -> int:
        """About how many bytes it takes in the file, its share of the index included."""
        _, _, _, _, _, title, text, asked, _, _, data, _, _, _ = self
        words = f"{title}{text}{asked}"
        length = len(words) if words.isascii() else len(words.encode())
        return int(length * _INDEXED) + len(data) + _OVERHEAD

    def page(self) -> Page | None:
        """Return the page, marked as stale; None when it is none, or was written in a form that is not known here."""
        if self.kind != "page":
            return None
        known = {name: value for name, value in json.loads(self.data).items() if name in Page.model_fields}
        try:
            page = Page.model_validate({**known, "content": joined(self.text)})
        except ValidationError:
            return None
        said = f"from the archive, read on {seen_at(self.seen).date()}"
        return page.model_copy(update={"stale": True, "cached": True, "warnings": (*page.warnings, said)})

    def found(self, snippet: str | None = None, rank: float = 0.0) -> ArchiveHit:
        """Return it as an answer.

        Args:
            snippet: A passage as the index gives it; by default the beginning.
            rank: How well it answers.
        """
        return ArchiveHit(
            url=self.url,
            title=joined(self.title),
            snippet=readable(self.text[: 2 * _EXCERPT])[:_EXCERPT] if snippet is None else readable(snippet),
            published=self.published,
            seen=seen_at(self.seen),
            kind=self.kind,
            rank=rank,
        )

    def line(self) -> str:
        """Return it as a line of JSON that `read_line` reads."""
        known = {} if self.kind == "page" else {"title": joined(self.title), "url": self.url}
        data = known | json.loads(self.data) | {"content" if self.kind == "page" else "snippet": joined(self.text)}
        seen = seen_at(self.seen).isoformat()
        owner = {"tenant": self.tenant, "session": self.session, "public": bool(self.public)}
        told = {name: value for name, value in owner.items() if value}
        return json.dumps({"kind": self.kind, "seen": seen, "asked": joined(self.asked), **told, self.kind: data})

    def merged(self, older: Item) -> Item:
        """Return this item with what an older one of the same page knows better."""
        queries = dict.fromkeys([*self.asked.split("\n"), *older.asked.split("\n")])
        asked = "\n".join(filter(None, queries))[:_LONGEST_ASKED]
        kept = older if self.kind == "page" and self._is_a_piece_of(older) else self
        published = self.published or older.published
        return self._replace(title=kept.title, text=kept.text, asked=asked, published=published, data=kept.data)

    def _is_a_piece_of(self, older: Item) -> bool:
        """Whether it is the same page, cut shorter."""
        cut = bool(json.loads(self.data).get("truncated"))
        same = self.text[:_EXCERPT] == older.text[:_EXCERPT]
        return cut and same and len(self.text) < len(older.text)


class Totals(NamedTuple):
    """How much the archive holds."""

    pages: int
    """Pages that were read."""
    results: int
    """Results that were seen."""
    size: int
    """About how many bytes they take, the index included."""
    oldest: int | None
    """When the oldest was seen, in milliseconds since the epoch; None when there is none."""
    newest: int | None
    """The same for the newest."""


@lru_cache(maxsize=8)
def _day_of(days: int) -> str:
    """Return a day in UTC by its number since the epoch; a batch has one or two."""
    return seen_at(days * _DAY).date().isoformat()


def seen_at(milliseconds: int) -> datetime:
    """Return a moment in UTC."""
    return datetime.fromtimestamp(milliseconds / 1_000, UTC)


def key_of(url: WebUrl) -> str:
    """Return what the addresses of one page have in common: neither the scheme nor a slash at the end counts."""
    scheme, host, port, target, _ = url
    plain = port == (443 if scheme == "https" else 80) and ":" not in host
    return f"{host if plain else url.authority}{target}".rstrip("/")


def own_key(owner: Owner, key: str) -> str:
    """Return the key of a page in the archive of one owner; neither the owner's nor the page's has a blank."""
    return key if owner is LOCAL or owner == LOCAL else f"{owner.key} {key}"


def items_of(source: Page | SearchResponse, now: float, *, owner: Owner) -> Iterator[Item]:
    """Yield what is worth keeping of a page or an answer.

    Failures, answers that came from a cache or from the archive itself, and addresses with secrets are not.

    What a provider found is public by construction; so is a page by what its addresses are.

    Args:
        source: What was read or found.
        now: The current time, in seconds since the epoch.
        owner: Whose it is.
    """
    if source.cached or source.stale:
        return
    seen = round(now * 1_000)
    if isinstance(source, Page):
        if source.reader != ARCHIVE and (item := _from_page(source, seen, owner=owner)) is not None:
            yield item
        return
    asked, rows = _asked(source.query), [row for row in source.results if row.source != ARCHIVE]
    harmless = is_harmless(" ".join([row.url for row in rows]))  # nearly always, and told at once
    for row in rows:
        if (item := _from_result(row, asked, seen, owner=owner, harmless=harmless)) is not None:
            yield item


def _from_page(page: Page, seen: int, asked: str = "", *, owner: Owner, public: bool | None = None) -> Item | None:
    final = page.final_url or page.url
    target, alias = _address(final), _address(page.url)
    if target is None or alias is None or page.status != "success" or not page.content.strip():
        return None
    if len(page.content) > _LONGEST_TEXT:
        page = page.model_copy(update={"content": page.content[:_LONGEST_TEXT], "truncated": True})
    if public is None:
        public = page_visibility(target) == page_visibility(alias) == "public"
    return Item(
        key=own_key(owner, key_of(target)),
        alias=key_of(alias),
        kind="page",
        host=target.host,
        url=storable(final),
        title=_title(page.title),
        text=split(storable(page.content)),
        asked=_asked(asked),
        published=_date(page.published),
        seen=seen,
        data=_json(page.model_dump(exclude={"content", "cached", "stale"})),
        tenant=owner.tenant,
        session=owner.session,
        public=int(public),
    )


def _from_result(
    row: SearchResult, asked: str, seen: int, *, owner: Owner, public: bool = True, harmless: bool = False
) -> Item | None:
    carried = row._address  # of one that a search has just found, and cleaned
    address, title, snippet, published = row.url, row.title, row.snippet, row.published
    if carried is not None:
        target = carried[0] if harmless or not has_secret(address) else None
    else:
        target, address, title = _address(address), storable(address), " ".join(storable(title).split())[:MAX_TITLE]
        snippet = storable(snippet[:_LONGEST_TEXT])
    if target is None or not (title or snippet.strip()):
        return None
    alias = key_of(target)
    return Item(
        own_key(owner, alias),
        alias,
        "result",
        target.host,
        address,
        title if title.isascii() else split(title),
        snippet if snippet.isascii() else split(snippet),
        asked,
        published and _date(published),
        seen,
        _row_json(row.source, published, row.published_origin),
        owner.tenant,
        owner.session,
        int(public),
    )


def _address(text: str) -> WebUrl | None:
    """Return an address that may be kept."""
    try:
        url = parse_url(text)
    except (InvalidRequest, BlockedByPolicy):
        return None
    return None if has_secret(text) else url


def _asked(queries: str) -> str:
    lines = [" ".join(line.split()) for line in storable(queries).split("\n")]
    return "\n".join([split(line) for line in lines if line and not has_secret(line)])[:_LONGEST_ASKED]


def _title(text: str) -> str:
    return split(" ".join(storable(text).split())[:MAX_TITLE])


def _date(published: str | None) -> str | None:
    if not published:
        return None
    try:
        date.fromisoformat(published[:10])
    except ValueError:
        return None
    return published


@lru_cache(maxsize=64)
def _row_json(source: str, published: str | None, origin: str) -> str:
    """Return a result's other values as JSON, without empty dates; most results of a provider have the same."""
    told = {"source": source, "published": published, "published_origin": origin}
    return _json({name: value for name, value in told.items() if value or name == "source"})


def _json(data: dict[str, object]) -> str:
    return storable(_JSON.encode(data))


class _Line(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    seen: AwareDatetime
    asked: str = ""
    tenant: str = ""
    session: str = ""
    public: bool = False


class _PageLine(_Line):
    kind: Literal["page"]
    page: Page


class _ResultLine(_Line):
    kind: Literal["result"]
    result: SearchResult


@cache
def _line() -> TypeAdapter[_PageLine | _ResultLine]:
    """Return what validates a line; it takes long to build, and only an import needs it."""
    return TypeAdapter(Annotated[_PageLine | _ResultLine, Field(discriminator="kind")])


def read_line(line: bytes, now: float) -> Item | None:
    """Return the item of a line, or None for one that is not kept, such as an address with a secret.

    Args:
        line: A line of JSON as `Item.line` writes it.
        now: The current time, in seconds since the epoch; nothing was seen later.

    Raises:
        ValueError: it is not a valid line; the message states the reason.
    """
    try:
        read = _line().validate_json(line)
        seen = round(min(read.seen.timestamp(), now) * 1_000)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from error
    except (OverflowError, OSError) as error:
        raise ValueError("seen: is out of range") from error
    owner = Owner(read.tenant, read.session)
    if isinstance(read, _ResultLine):
        _check_address(read.result.url)
        return _from_result(read.result, _asked(read.asked), seen, owner=owner, public=read.public)
    if read.page.status != "success":
        raise ValueError("page.status: a page that could not be read is not archived")
    for url in filter(None, (read.page.url, read.page.final_url)):
        _check_address(url)
    return _from_page(read.page, seen, read.asked, owner=owner, public=read.public)


def _check_address(url: str) -> None:
    try:
        parse_url(url)
    except (InvalidRequest, BlockedByPolicy) as error:
        raise ValueError(f"url: {error}") from error
