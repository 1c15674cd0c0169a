"""The local reader: guarded fetch, decoding and extraction on this machine.

A page's caching headers (RFC 9111) are honored; invalid values are ignored. Groundwire is a shared cache, so `s-maxage`
takes precedence over `max-age`. Pages are requested without credentials, and with no cookies but those that their own
redirects set, so `private` and `Vary` have no effect: the next request would be the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from groundwire.deadline import Deadline
from groundwire.errors import (
    PageBlocked,
    PageEmpty,
    PageError,
    PageNeedsScripts,
    PageNotFound,
    PageRefused,
    PageTooLarge,
    PageUnavailable,
    UnsupportedContent,
    counted,
)
from groundwire.models import Freshness, ReadResult
from groundwire.providers.base import Capabilities, Options, ProviderContext
from groundwire.reading.documents.document import FILES
from groundwire.reading.encoding.content_type import media_type
from groundwire.reading.extracted import Unreadable, Why, read_result
from groundwire.reading.refresh import read_refresh, refresh_target
from groundwire.reading.workers.pool import Conversion
from groundwire.safety.urls import parse_url
from groundwire.transport import Head, Response, Transport
from groundwire.transport.http_date import http_date

if TYPE_CHECKING:  # the parsers take long to load, and a search does not need them
    from groundwire.reading.block_pages.classify import SoftBlock
    from groundwire.reading.convert import Converted

_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"')
_DIRECTIVE = re.compile(r'([!#$%&\'*+.^_`|~0-9A-Za-z-]+)(?:=("(?:[^"\\]|\\.)*"|[^\s,;]*))?')
_MAX_VALIDATOR = 512  # characters of a validator; real ones have fewer than a hundred
_YEAR_SECONDS = 31_536_000.0


def freshness(url: str, headers: Mapping[str, str]) -> Freshness:
    """Parse the caching headers of a response.

    Args:
        url: The URL of the response.
        headers: Its headers, with names in any case.
    """
    etag = headers.get("ETag", "").strip()
    modified = headers.get("Last-Modified", "").strip()
    control = _DIRECTIVE.findall(headers.get("Cache-Control", ""))
    directives = {name.lower(): value.strip('"') for name, value in control}
    seconds = _seconds(directives, headers)
    return Freshness(
        url=parse_url(url).request_text,
        etag=etag if len(etag) <= _MAX_VALIDATOR and etag.isascii() and _ETAG.fullmatch(etag) else "",
        last_modified=modified if len(modified) <= _MAX_VALIDATOR and http_date(modified) is not None else "",
        seconds=seconds,
        no_store="no-store" in directives,
    )


def _seconds(directives: Mapping[str, str], headers: Mapping[str, str]) -> float | None:
    if "no-cache" in directives:
        return 0.0
    for name in ("s-maxage", "max-age"):
        if name in directives:
            age = headers.get("Age", "").strip()
            lifetime = _number(directives[name])
            return 0.0 if lifetime is None else max(0.0, lifetime - (_number(age) or 0.0))
    if "Expires" not in headers:
        return None
    ends = http_date(headers["Expires"].strip())
    now = http_date(headers.get("Date", "").strip()) or datetime.now(UTC)
    return 0.0 if ends is None else min(max(0.0, (ends - now).total_seconds()), _YEAR_SECONDS)


def _number(text: str) -> float | None:
    return min(float(text), _YEAR_SECONDS) if re.fullmatch(r"[0-9]{1,12}", text) else None


_TIMEOUT = 20.0  # seconds, without a deadline
_MAX_TITLE = 200  # characters of a title in a message
_NOT_MODIFIED = 304
_WALL_STATUSES = frozenset({202, 401, 402, 403, 405, 407, 429, 503})  # the statuses of bot checks
_ACCEPT = (
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, "
    "application/pdf;q=0.7, application/atom+xml;q=0.7, application/rss+xml;q=0.7, text/csv;q=0.7, */*;q=0.1"
)
_REFUSALS: Final[Mapping[int, str]] = {
    401: "requires a login (HTTP 401).",
    402: "requires payment for the page (HTTP 402).",
    403: "refuses access to the page (HTTP 403).",
    407: "refuses access to the page (HTTP 407).",
    429: "received too many requests (HTTP 429). Try again in a few minutes.",
    451: "does not show the page here, for legal reasons (HTTP 451).",
    999: "refuses access by programs (HTTP 999).",
}
"""Reasons for the statuses of a rejected request; 999 is unregistered but used for that."""
_UNREADABLE: Final[Mapping[Why, type[PageError]]] = {
    "protected": PageRefused,
    "scanned": PageEmpty,
    "empty": PageEmpty,
    "large": PageTooLarge,
    "broken": UnsupportedContent,
    "missing": UnsupportedContent,
}


class LocalReadProvider:
    """Reads pages, text formats, PDF, Office documents and EPUB without any outside service.

    Args:
        transport: Fetches the pages.
        max_bytes: Maximum bytes of a body, on the wire and decoded.
        max_document_bytes: The same for PDF, Office documents and EPUB.
        name: Its name.
        conversion: Converts to Markdown; by default a new one.
    """

    capabilities: Capabilities = Capabilities(read=True, guarded=True, revalidates=True)
    Options = Options
    """It has no settings of its own; those of the section `read` apply."""

    def __init__(
        self,
        transport: Transport,
        *,
        max_bytes: int = 10_000_000,
        max_document_bytes: int = 50_000_000,
        name: str = "local",
        conversion: Conversion | None = None,
    ) -> None:
        self.name = name
        self._transport = transport
        self._max_bytes = max_bytes
        self._max_document_bytes = max_document_bytes
        self._conversion = conversion or Conversion()

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Create the reader.

        Raises:
            ConfigurationError: an option is given, but it has none.
        """
        context.options(cls.Options)
        settings = context.settings.read
        return cls(
            context.transports.pages,
            max_bytes=settings.max_bytes,
            max_document_bytes=settings.max_document_bytes,
            name=context.name,
            conversion=Conversion.of(settings, context.workers),
        )

    async def read_url(
        self, url: str, *, deadline: Deadline | None = None, known: Freshness | None = None
    ) -> ReadResult:
        """Read a page, or find that it is unchanged; see `ReadProvider.read_url` and `Capabilities.revalidates`."""
        deadline = deadline or Deadline.after(_TIMEOUT)
        conditions = {known.url: known.conditions} if known is not None and known.conditions else {}
        reply = await self._transport.fetch(
            url,
            deadline=deadline,
            headers={"Accept": _ACCEPT},
            conditions=conditions,
            cap=self._max_bytes,
            inspect=partial(self._inspect, is_conditional=bool(conditions)),
            leads_to=refresh_target,
        )
        validators = freshness(reply.url, reply.headers)
        if reply.status == _NOT_MODIFIED:
            if known is None or known.url != validators.url:  # not a conditional request
                raise PageUnavailable(url, "The site answered HTTP 304.", status=reply.status)
            fields = {name: getattr(validators, name) or getattr(known, name) for name in ("etag", "last_modified")}
            return ReadResult(url=url, success=True, unchanged=True, freshness=validators.model_copy(update=fields))
        converted = await self._conversion.convert(
            reply.body, reply.content_type, reply.url, headers=reply.headers, deadline=deadline
        )
        result = checked_result(url, converted, reply)
        if (onwards := read_refresh(reply)) is not None:
            moves = f"the page leads on to {onwards.url} after {onwards.seconds:g} seconds"
            result = result.model_copy(update={"warnings": (*result.warnings, moves)})
        return result.model_copy(update={"freshness": validators})

    def _inspect(self, head: Head, *, is_conditional: bool) -> int | None:
        """Reject unreadable content before its body arrives, and return the size limit of a document."""
        refuse_unreadable(head, is_conditional=is_conditional)
        is_file = media_type(head.content_type, head.start, head.url).kind in FILES
        return self._max_document_bytes if is_file else None

    async def aclose(self) -> None:
        """End the processes and release the threads; a busy one ends by itself."""
        await self._conversion.aclose()


def checked_result(url: str, converted: Converted, reply: Response) -> ReadResult:
    """Return a page that was converted.

    Args:
        url: The address that was asked for.
        converted: What was made of the response.
        reply: The response.

    Raises:
        PageError: It is no page that can be read, or has no text.
    """
    if converted.block is not None:
        kind = PageNeedsScripts if converted.block.kind == "script shell" else PageBlocked
        raise kind(url, str(converted.block), status=reply.status)
    if converted.unreadable is not None:
        raise unreadable_error(url, converted.unreadable, reply.status)
    if not converted.extracted.content:
        raise _empty(url, converted, reply)
    return read_result(url, converted, final_url=reply.url, content_type=reply.media_type)


def refuse_unreadable(head: Head, *, is_conditional: bool = False) -> None:
    """Reject unreadable content before its body arrives.

    Args:
        head: The response head.
        is_conditional: Whether the request was conditional.

    Raises:
        PageNotFound, PageRefused, PageBlocked, PageUnavailable, PageEmpty, UnsupportedContent.
    """
    status, url = head.status, head.url
    if is_conditional and status == _NOT_MODIFIED:
        return
    if status in _WALL_STATUSES and (wall := _wall(head)) is not None:
        raise PageBlocked(url, f"{wall}", status=status)
    if status in {404, 410}:
        raise PageNotFound(url, f"There is no such page (HTTP {status}). Check the URL.", status=status)
    if status in _REFUSALS:
        raise PageRefused(url, f"The site {_REFUSALS[status]}", status=status)
    if status >= 500:
        raise PageUnavailable(url, f"The site failed (HTTP {status}). Try again later.", status=status)
    if status == 204:
        raise PageEmpty(url, "The page has no content (HTTP 204).", status=status)
    if not 200 <= status < 300:
        raise PageUnavailable(url, f"The site answered HTTP {status}.", status=status)
    if not head.start and not head.headers.get("Refresh"):
        raise PageEmpty(url, f"The page is empty (HTTP {status}, no body).", status=status)
    kind = media_type(head.content_type, head.start, head.url)
    if kind.kind == "binary":
        raise UnsupportedContent(
            url,
            f"The URL is {kind.description}, which cannot be read as text.",
            status=status,
        )


def _wall(head: Head) -> SoftBlock | None:
    from groundwire.reading.block_pages.classify import known_wall

    return known_wall(head.headers, head.start.decode("utf-8", "replace"))


def _empty(url: str, converted: Converted, reply: Response) -> PageEmpty:
    """Return the error for a page without readable content, with its type."""
    size = counted(len(reply.body), "byte")
    kind = media_type(reply.content_type, reply.body[:4_096], reply.url)
    sentences = [f"The page has no readable text (HTTP {reply.status}, {size}, {reply.media_type or 'unknown type'})."]
    if converted.extracted.title:
        sentences.append(f'It has a title: "{converted.extracted.title[:_MAX_TITLE]}".')
    if converted.extracted.cut:
        sentences.append("It is very large, and only its beginning was read.")
    if kind.kind == "html":
        sentences.append("It may need a reader with a browser.")
    return PageEmpty(url, " ".join(sentences), status=reply.status)


def unreadable_error(url: str, reason: Unreadable, status: int | None = None) -> PageError:
    """Return the error for a document without readable text."""
    return _UNREADABLE[reason.why](url, reason.message, status=status)
