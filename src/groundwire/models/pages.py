"""The result of reading a page."""

from __future__ import annotations

import re
from typing import Any, Literal, Self

from pydantic import Field

from groundwire.models.validators import FrozenModel

_LINK = re.compile(
    r"\[([^\[\]\n]{0,500})\]\((https?://[^\s<>()]{1,2000}(?:\([^\s<>()]{0,200}\)[^\s<>()]{0,2000})?)[\s)]"
    r"|<(https?://[^\s<>]{1,2000})>"
)
# of `[text](address)` and `<address>`; a bracket in an address has its partner there, as the writer of Markdown made it


class Freshness(FrozenModel):
    """The caching headers of a page, and how to revalidate it (RFC 9110, 13; RFC 9111)."""

    url: str
    """The URL that sent them, after all redirects, without a fragment."""
    etag: str = ""
    """Its entity tag, weak or strong, as sent; empty if there is none."""
    last_modified: str = ""
    """When it was last modified, as sent; empty if unknown."""
    seconds: float | None = None
    """How long it is fresh, according to the server; None if unspecified."""
    no_store: bool = False
    """Whether it must not be stored (`no-store`)."""

    @property
    def conditions(self) -> dict[str, str]:
        """The headers of a conditional request; none if the page cannot be revalidated."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


class PageContent(FrozenModel):
    """The fields that the result of a reader and a page have in common."""

    url: str
    """The requested URL."""
    final_url: str = ""
    """The URL after redirects; empty if unknown."""
    title: str = ""
    """The page's title; empty if it has none."""
    content: str = ""
    """The page as Markdown."""
    content_length: int = 0
    """The length of `content`, in characters."""
    original_length: int | None = None
    """The length of the whole page's Markdown, in characters, if known."""
    truncated: bool = False
    """Whether `content` is not the whole page."""
    published: str | None = None
    """When the page was published, or last changed if it states only that, ISO 8601; None means unknown."""
    modified: str | None = None
    """When the page was last changed, ISO 8601; None means unknown, or not after its day of publication. If the page
    states only this day, `published` is the same."""
    author: str | None = None
    """The authors, separated by commas; None means unknown."""
    language: str | None = None
    """The page's language as a BCP 47 tag; None means unknown."""
    content_type: str = ""
    """The media type sent by the server, such as `text/html`."""
    warnings: tuple[str, ...] = ()
    """Warnings about the content."""
    freshness: Freshness | None = Field(default=None, exclude=True, repr=False)
    """The caching headers of the page; None if unknown. Not part of the JSON form."""


class ReadResult(PageContent):
    """The result of a read provider for one URL."""

    incomplete: bool = False
    """Whether scripts load parts of the page that are missing from `content`."""
    success: bool
    """Whether the page could be read."""
    error: str = ""
    """The reason and the next step, when `success` is false."""
    cost_usd: float = 0.0
    """The cost of reading it, in US dollars."""
    unchanged: bool = False
    """Whether the page is unchanged since it was last read (HTTP 304); `content` is then empty."""


class Section(FrozenModel):
    """A section of a page: a heading and the text below it."""

    level: int
    """The heading's level, 1 to 6."""
    title: str
    """The heading as plain text, at most 100 characters."""
    start: int
    """Its start, in code points of the page's whole Markdown."""
    length: int
    """Its length in characters, including its subsections."""


class SiteUrl(FrozenModel):
    """An address of a site."""

    url: str
    """The URL, without a fragment."""
    origin: Literal["start", "sitemap", "feed", "link"]
    """Where it was seen first."""
    depth: int
    """The number of links from the first page; 1 in a sitemap or a feed."""
    modified: str | None = None
    """When the page was last changed, ISO 8601, according to the sitemap or the feed; None means unknown."""


class Excerpt(FrozenModel):
    """A selected passage of a page."""

    start: int
    """Its start, in code points of the page's whole Markdown."""
    end: int
    """Its end."""
    heading: str = ""
    """The headings above it: `Guide > Install`."""
    score: float = 0.0
    """Its relevance to the query, comparable only within one page. 0 for a literal match."""
    text: str
    """The passage: the page's Markdown from `start` to `end`."""


class Match(FrozenModel):
    """An occurrence of a text on a page."""

    start: int
    """Its start, in code points of the page's whole Markdown."""
    end: int
    """Its end."""


class Link(str):
    """The address of a link on a page, with its text."""

    __slots__ = ("text",)

    text: str
    """The text between its brackets; empty if it has none."""

    def __new__(cls, url: str, text: str = "") -> Self:
        """Make a link of its address and its text."""
        link = super().__new__(cls, url)
        link.text = text
        return link

    @property
    def url(self) -> str:
        """The address."""
        return str(self)


class Page(PageContent):
    """A page that was read, or the reason why it was not."""

    citation_id: int = 0
    """The number to cite it by, the same as that of a search result with this URL; 0 if it has none."""
    next_cursor: str | None = None
    """The `cursor` of the next piece; None if there is none."""
    version: str = ""
    """A version of the page: the beginning of the SHA-256 of its whole Markdown."""
    start: int = 0
    """The start of the piece, in code points of the whole Markdown; for excerpts, the start of the first."""
    end: int | None = None
    """Its end; for excerpts, the end of the last. None if the page was not processed as a whole."""
    sections: tuple[Section, ...] = ()
    """The sections of the whole page, at most 100; `cursor="#2"` reads the second."""
    excerpts: tuple[Excerpt, ...] = ()
    """The passages in `content`, in page order, when `query` or `find` was given."""
    matches: tuple[Match, ...] = ()
    """The positions of `find` in `excerpts`."""
    match_count: int | None = None
    """The number of occurrences of `find` on the whole page; None if it was not given."""
    reader: str = ""
    """The provider that read it."""
    status: Literal["success", "error"] = "success"
    """Whether the page could be read."""
    error: str = ""
    """The reason and the next step, if not."""
    cached: bool = False
    """Whether it came from the cache."""
    stale: bool = False
    """Whether it is stale: older than its time to live."""

    @classmethod
    def of(cls, result: ReadResult, **others: Any) -> Self:
        """Return what a provider has read as a page, with other fields."""
        fields = {name: getattr(result, name) for name in PageContent.model_fields}
        whole = len(result.content)
        lengths = {"content_length": whole, "original_length": max(result.original_length or 0, whole)}
        return cls(**{**fields, **lengths, **others})

    @property
    def links(self) -> tuple[Link, ...]:
        """The links in `content`, each address once, in their order."""
        links: dict[str, Link] = {}
        for text, linked, bare in _LINK.findall(self.content):
            links.setdefault(linked or bare, Link(linked or bare, text))
        return tuple(links.values())

    def __str__(self) -> str:
        return self.content or self.error
