"""The reader of our own: guarded fetch, decode, extract, all on this machine."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from groundwire.deadline import Deadline
from groundwire.errors import (
    DeadlineExceeded,
    PageEmpty,
    PageNotFound,
    PageRefused,
    PageUnavailable,
    UnsupportedContent,
)
from groundwire.models import ReadResult
from groundwire.providers.base import Capabilities, Options, ProviderContext
from groundwire.reading.convert import to_markdown
from groundwire.reading.decode import decode
from groundwire.reading.media import media_type
from groundwire.transport import Head, Reply, Transport

__all__ = ["LocalReadProvider"]

_TIMEOUT = 20.0  # seconds, when nobody gives a deadline
_THREADS = 4  # extraction holds the interpreter's lock most of the time; more threads only queue
_ACCEPT = (
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1"
)


class LocalReadProvider:
    """Reads HTML, Markdown, plain text and JSON without any outside service.

    Args:
        transport: Gets the pages.
        max_bytes: The most bytes of a body, on the wire and decoded.
        name: The name it goes by.
    """

    capabilities = Capabilities(read=True, guarded=True)
    Options = Options
    """It has no settings of its own; those of the section `read` hold for it."""

    def __init__(self, transport: Transport, *, max_bytes: int = 10_000_000, name: str = "local") -> None:
        self.name = name
        self._transport = transport
        self._max_bytes = max_bytes
        self._threads = ThreadPoolExecutor(_THREADS, "groundwire-extract")

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Make the reader.

        Raises:
            ConfigurationError: an option is given; it has none.
        """
        context.options(cls.Options)
        return cls(context.transports.pages, max_bytes=context.settings.read.max_bytes, name=context.name)

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`."""
        deadline = deadline or Deadline.after(_TIMEOUT)
        reply = await self._transport.fetch(
            url, deadline=deadline, headers={"Accept": _ACCEPT}, cap=self._max_bytes, inspect=_refuse_unreadable
        )
        loop = asyncio.get_running_loop()
        try:
            async with deadline.timeout():
                result = await loop.run_in_executor(self._threads, _convert, url, reply)
        except TimeoutError as error:
            raise DeadlineExceeded(
                "The page came, but turning it into Markdown took too long. Open another page."
            ) from error
        if not result.content:
            size = f"{len(reply.body):,} bytes of {reply.media_type or 'unknown type'}"
            raise PageEmpty(url, f"The page has no readable text ({size}). It may need a browser; open another page.")
        return result

    async def aclose(self) -> None:
        """Let the threads go; one that is busy ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _refuse_unreadable(head: Head) -> None:
    """Refuse what will not be read before its body comes.

    Raises:
        PageNotFound, PageRefused, PageUnavailable, PageEmpty, UnsupportedContent.
    """
    status, url = head.status, head.url
    if status in {404, 410}:
        raise PageNotFound(url, f"There is no such page (HTTP {status}). Search for it.", status=status)
    if status in {401, 402, 403, 407, 429, 451}:
        raise PageRefused(url, f"The site refuses to give the page (HTTP {status}). Open another page.", status=status)
    if status >= 500:
        raise PageUnavailable(url, f"The site failed (HTTP {status}). Try again later.", status=status)
    if status == 204:
        raise PageEmpty(url, "The page has no content (HTTP 204). Open another page.", status=status)
    if not 200 <= status < 300:
        raise PageUnavailable(url, f"The site answered HTTP {status}. Open another page.", status=status)
    if not head.start:
        raise PageEmpty(url, f"The page is empty (HTTP {status}, no body). Open another page.", status=status)
    kind = media_type(head.content_type, head.start)
    if kind.kind == "binary":
        raise UnsupportedContent(
            url,
            f"The address leads to {kind.description}, which cannot be read as text. Open another page.",
            status=status,
        )


def _convert(url: str, reply: Reply) -> ReadResult:
    """Turn a body into Markdown; runs in a thread."""
    kind = media_type(reply.content_type, reply.start)
    decoded = decode(reply.body, reply.content_type)
    extracted = to_markdown(kind.kind, decoded.text, reply.url)
    warnings = decoded.warnings
    if extracted.whole:
        warnings += ("no main content could be told apart, so this is all of the page, menus included",)
    if extracted.cut:
        warnings += ("the page is very large; only its beginning was read",)
    return ReadResult(
        url=url,
        title=extracted.title,
        content=extracted.content,
        content_length=len(extracted.content),
        original_length=None if extracted.cut else len(extracted.content),
        truncated=extracted.cut,
        success=True,
        final_url=reply.url,
        published=extracted.published,
        language=extracted.language,
        content_type=reply.media_type,
        warnings=warnings,
    )
