"""What reading a page brings back."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from groundwire.models.validators import FrozenModel

__all__ = ["Excerpt", "Freshness", "Match", "Page", "ReadResult", "Section"]


class Freshness(FrozenModel):
    """What a server said about keeping a page, and how to ask whether it has changed (RFC 9110, 13; RFC 9111)."""

    url: str
    """The address that said it, after all redirects, without a fragment."""
    etag: str = ""
    """Its entity tag, weak or strong, as sent; empty when there is none."""
    last_modified: str = ""
    """When it was last modified, as sent; empty when that is not known."""
    seconds: float | None = None
    """For how long it is fresh, as the server says; None when it says nothing."""
    must_ask: bool = False
    """Whether it must not be used any longer without asking (`no-cache`, `must-revalidate`)."""
    no_store: bool = False
    """Whether it should not be kept (`no-store`)."""

    @property
    def conditions(self) -> dict[str, str]:
        """The headers that ask whether the page has changed; none when there is no way to ask."""
        asked = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in asked.items() if value}


class ReadResult(FrozenModel):
    """What a read provider returns for one URL."""

    url: str
    """The address that was asked for."""
    title: str = ""
    """The page's title."""
    content: str = ""
    """The page as Markdown."""
    content_length: int = 0
    """The length of `content`, in characters."""
    original_length: int | None = None
    """The length before anything was cut, in characters, when the provider knows it."""
    truncated: bool = False
    """Whether `content` is not the whole page."""
    success: bool
    """Whether the page could be read."""
    error: str = ""
    """Why not, and what to do, when `success` is false."""
    final_url: str = ""
    """Where the redirects led; empty when unknown."""
    published: str | None = None
    """When the page was published, ISO 8601; None means unknown."""
    language: str | None = None
    """The page's language as a BCP 47 tag; None means unknown."""
    content_type: str = ""
    """The media type the server gave, such as `text/html`."""
    warnings: tuple[str, ...] = ()
    """What the reader should know about the content."""
    cost_usd: float = 0.0
    """What reading it cost, in US dollars."""
    freshness: Freshness | None = Field(default=None, repr=False)
    """What the server said about keeping the page; None when it is not known."""
    unchanged: bool = False
    """Whether the page is as it was when it was read before (HTTP 304); then `content` is left out."""


class Section(FrozenModel):
    """A section of a page: a heading and the text under it."""

    level: int
    """The heading's level, 1 to 6."""
    title: str
    """The heading as plain text, at most 100 characters."""
    start: int
    """Where it begins, in code points of the page's whole Markdown."""
    length: int
    """Its length in characters, its sub-sections included."""


class Excerpt(FrozenModel):
    """A passage of a page that was chosen."""

    start: int
    """Where it begins, in code points of the page's whole Markdown."""
    end: int
    """Where it ends."""
    heading: str = ""
    """The headings above it: `Guide > Install`."""
    score: float = 0.0
    """How well it answers the query; comparable within one page only. 0 for what was found literally."""
    text: str
    """The passage: the page's Markdown from `start` to `end`."""


class Match(FrozenModel):
    """A place where a text was found on a page."""

    start: int
    """Where it begins, in code points of the page's whole Markdown."""
    end: int
    """Where it ends."""


class Page(FrozenModel):
    """A page that was read, or why it was not."""

    citation_id: int = 0
    """The number to cite it by, the same as that of a search result of this address; 0 when it has none."""
    url: str
    """The address that was asked for."""
    final_url: str = ""
    """Where the redirects led."""
    title: str = ""
    """The page's title; empty when it has none."""
    content: str = ""
    """The page as Markdown."""
    content_length: int = 0
    """The length of `content`, in characters."""
    original_length: int | None = None
    """The length of the whole page's Markdown, in characters."""
    truncated: bool = False
    """Whether `content` is not the whole page."""
    next_cursor: str | None = None
    """What to pass as `cursor` for what comes next; None when nothing does."""
    version: str = ""
    """What tells this state of the page from others: the beginning of the SHA-256 of its whole Markdown."""
    start: int = 0
    """Where the piece begins, in code points of the whole Markdown; of excerpts, where the first begins."""
    end: int | None = None
    """Where it ends; of excerpts, where the last ends. None when the page was not looked at as a whole."""
    sections: tuple[Section, ...] = ()
    """The sections of the whole page; `cursor="#2"` reads the second. At most 100."""
    excerpts: tuple[Excerpt, ...] = ()
    """The passages that `content` is made of, in the order of the page, when `query` or `find` was given."""
    matches: tuple[Match, ...] = ()
    """The places in `excerpts` where `find` was found."""
    match_count: int | None = None
    """How often `find` is on the whole page; None when it was not given."""
    published: str | None = None
    """When the page was published, ISO 8601; None means unknown."""
    language: str | None = None
    """The page's language as a BCP 47 tag; None means unknown."""
    content_type: str = ""
    """The media type the server gave, such as `text/html`."""
    reader: str = ""
    """The reader that read it."""
    status: Literal["success", "error"] = "success"
    """Whether the page could be read."""
    error: str = ""
    """Why not, and what to do."""
    warnings: tuple[str, ...] = ()
    """What the reader should know about the content."""
    cached: bool = False
    """Whether it came from the cache."""
    stale: bool = False
    """Whether it is older than it should be."""
    freshness: Freshness | None = Field(default=None, exclude=True, repr=False)
    """What the server said about keeping it; None when it is not known. It is no part of the page as JSON."""

    @property
    def markdown(self) -> str:
        """The page as Markdown: another name of `content`."""
        return self.content

    @property
    def text(self) -> str:
        """The page as Markdown: another name of `content`."""
        return self.content

    def __str__(self) -> str:
        return self.content or self.error
