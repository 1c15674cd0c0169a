"""Reads pages of sites over their APIs: sends a site's requests at its rate limit, and renders the responses.

What cannot be read so raises a `ProviderError`, and the readers go on with the next reader: a site that refuses,
fails, or has changed its format costs a page nothing but the time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, urlencode

from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedByPolicy,
    DeadlineExceeded,
    InvalidRequest,
    PageError,
    PageUnavailable,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnsupported,
    RateLimited,
    UnexpectedResponse,
)
from groundwire.models import ReadResult
from groundwire.providers import ReadProvider
from groundwire.providers.base import Capabilities
from groundwire.providers.http_parsing import error_text, json_or_empty, number_or_none, retry_after
from groundwire.providers.key_rotation import rate_windows
from groundwire.reading.encoding.decode import decode
from groundwire.reading.sites.parts import RenderedParts, pack, render
from groundwire.reading.sites.site import (
    FormatChanged,
    NotAvailable,
    SiteContent,
    SiteRequest,
    SiteSpec,
    Visit,
    text,
)
from groundwire.reading.text.sanitize import clean, strip_invisible
from groundwire.reading.workers.pool import Workers, WorkerUnavailable, WorkTooHeavy
from groundwire.safety.urls import DomainPolicy, WebUrl, parse_url, url_or_none
from groundwire.storage.base import Store
from groundwire.transport import Response, Transport

_TIMEOUT: Final = 20.0  # seconds, without a deadline
_TIME_SHARE: Final = 0.6  # of the time that is left; the rest is for the page itself, if the API fails
_MAX_WAIT: Final = 3.5  # seconds for a slot of the API
_MAX_ANSWER_BYTES: Final = 10_000_000  # bytes of one answer; long issues have less than one million
_MAX_REFUSAL: Final = 20_000  # bytes of an answer in which a refusal's words are looked for
_MAX_THREAD_CHARACTERS: Final = 100_000  # characters that are rendered without a process
_DEFAULT_COOLDOWN: Final = 60.0  # seconds for an API that refuses without saying for how long
_FAILURE_COOLDOWN: Final = 30.0  # seconds after one that failed or could not be reached
_MAX_COOLDOWN: Final = 900.0  # seconds; one answer is believed for no longer
_WRONG_SHAPES: Final = (AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""Raised when mapping a response whose values have unexpected types."""
_REFUSAL_STATUSES: Final = frozenset({401, 403, 451})
_BUSY_CODES: Final = frozenset({"maxlag", "ratelimited", "readonly", "throttle_violation"})
_RATE_WORDS: Final = ("rate limit", "too many", "abuse")
_MISSING_STATUSES: Final = frozenset({404, 410})
_RENDER: Final = "groundwire.reading.sites.parts:render_in_worker"


class SiteReaders:
    """Finds the reader for a page of a site whose API is known.

    Args:
        transport: Gets answers and pages; its guard judges every address.
        store: Keeps paces and rests, for all processes that share it.
        workers: Render long pages.
        names: The sites that are read so; see `groundwire.reading.sites`.
        isolated: Whether nothing is rendered in this process.
    """

    def __init__(
        self,
        transport: Transport,
        store: Store,
        workers: Workers,
        *,
        names: Sequence[str],
        isolated: bool = False,
    ) -> None:
        self.transport = transport
        self.store = store
        self.workers = workers
        self.isolated = isolated
        self._names = tuple(names)

    def site_of(self, url: WebUrl) -> SiteSpec | None:
        """Return the site of an address; None when it is of none."""
        labels = url.host.split(".")
        parents = (f"*.{'.'.join(labels[start:])}" for start in range(1, len(labels)))
        keys = (url.host, *parents)
        return next((self._by_host[key] for key in keys if key in self._by_host), None)

    def reader(self, url: WebUrl, local: ReadProvider, policy: DomainPolicy) -> SiteReader | None:
        """Return the reader for a page; None when it is of no kind that is known.

        Args:
            url: The page's address, admitted by the guard.
            local: Reads files as such.
            policy: The current domain lists, which also apply to the APIs.
        """
        site = self.site_of(url)
        visit = site.visit(url) if site is not None else None
        return None if site is None or visit is None else SiteReader(self, site, url, visit, local, policy)

    @cached_property
    def _by_host(self) -> dict[str, SiteSpec]:
        from groundwire.reading.sites import SITES

        return {host: site for site in SITES if site.name in self._names for host in site.hosts}


class SiteReader:
    """Reads one page of a site. It is a `ReadProvider` for this page only.

    Args:
        readers: What all of them share.
        site: The site.
        url: The page's address.
        visit: How it is read.
        local: Reads files as such.
        policy: The current domain lists.
    """

    capabilities: Capabilities = Capabilities(read=True, guarded=True)

    def __init__(
        self, readers: SiteReaders, site: SiteSpec, url: WebUrl, visit: Visit, local: ReadProvider, policy: DomainPolicy
    ) -> None:
        self.name: str = site.name
        self._shared = readers
        self._site = site
        self._url = url
        self._steps, self._requests = visit
        self._local = local
        self._policy = policy
        self._missing: list[str] = []
        transport = readers.transport
        self._replaying = transport.cassette is not None and transport.cassette.replaying

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read the page; see `ReadProvider.read_url`.

        Raises:
            BlockedByPolicy: the page's robots.txt disallows it. ProviderError: the API cannot be used for it now.
        """
        deadline = deadline or Deadline.after(_TIMEOUT)
        gate = self._shared.transport.gate
        if gate is not None:
            await gate.check(self._site.canonical(self._url), deadline, remote=True)
        own_deadline = deadline.capped(_TIME_SHARE * deadline.remaining())
        try:
            with own_deadline.timeout():
                page = await self._page(own_deadline)
                if page.file:
                    return await self._file(page, url, own_deadline)
                rendered = await self._rendered(page, url)
        except NotAvailable as error:
            raise ProviderUnavailable(self.name, _short(error)) from error
        except FormatChanged as error:
            raise UnexpectedResponse(self.name, f"the format of its API has changed ({error})") from error
        except (DeadlineExceeded, TimeoutError) as error:
            if deadline.passed:
                raise
            raise ProviderTimeout(self.name, "its API did not respond in time") from error
        if not rendered.content:
            raise UnexpectedResponse(self.name, "its API returned no text")
        return self._result(page, rendered, url)

    def _result(self, page: SiteContent, rendered: RenderedParts, url: str) -> ReadResult:
        from groundwire.reading.metadata.dates import iso_date, later_day

        cut = bool(page.missing) or rendered.cut
        return ReadResult(
            url=url,
            title=_line(page.title),
            content=rendered.content,
            content_length=len(rendered.content),
            original_length=None if cut else len(rendered.content),
            truncated=cut,
            success=True,
            final_url=self._canonical(page),
            published=iso_date(page.published) if page.published else None,
            modified=later_day(iso_date(page.modified), iso_date(page.published)),
            language=page.language or None,
            warnings=(*page.missing, *page.warnings, *rendered.warnings),
        )

    def _canonical(self, page: SiteContent) -> str:
        """Return the page's URL according to the API, if it is on the same site."""
        if page.url:
            url = url_or_none(page.url)
            if url and self._shared.site_of(url) is self._site:
                return page.url
        return self._url.text

    async def _file(self, page: SiteContent, url: str, deadline: Deadline) -> ReadResult:
        """Read a file that is the page."""
        try:
            result = await self._local.read_url(page.file, deadline=deadline)
        except DeadlineExceeded:
            raise
        except (PageError, BlockedByPolicy, InvalidRequest) as error:
            raise ProviderUnavailable(self.name, f"its file could not be read: {_short(error)}") from error
        return result.model_copy(
            update={
                "url": url,
                "final_url": self._canonical(page),
                "title": result.title or _line(page.title),
                "warnings": (*page.missing, *page.warnings, *result.warnings),
                "freshness": None,
            }
        )

    async def _page(self, deadline: Deadline) -> SiteContent:
        """Send the requests until the page is there."""
        requests = self._requests
        while True:
            answers = await self._answers(requests, deadline)
            try:
                requests = self._steps.send(answers)
            except StopIteration as end:
                page: SiteContent = end.value
                return replace(page, missing=(*self._missing, *page.missing))
            except _WRONG_SHAPES as error:
                raise FormatChanged(f"it has a value of an unexpected type: {type(error).__name__}") from error

    async def _answers(self, requests: Sequence[SiteRequest], deadline: Deadline) -> tuple[Any, ...]:
        """Send requests at the same time; the first that fails ends the others."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._answer(get, deadline)) for get in requests]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return tuple(task.result() for task in tasks)

    async def _answer(self, get: SiteRequest, deadline: Deadline) -> Any:
        try:
            return await self._data(get, deadline)
        except (ProviderError, FormatChanged) as error:
            if not get.optional:
                raise
            reason = error.reason if isinstance(error, ProviderError) else error
            self._missing.append(f"{get.optional} left out: {reason}")
            return None

    async def _data(self, get: SiteRequest, deadline: Deadline) -> Any:
        try:
            target = parse_url(get.url + (f"?{urlencode(get.params, quote_via=quote)}" if get.params else ""))
        except (InvalidRequest, BlockedByPolicy) as error:
            raise FormatChanged("its target is not a valid URL") from error
        if not self._policy.permits(target.text):
            raise ProviderUnsupported(self.name, f"the domain lists do not allow {target.host}")
        if get.api and not self._replaying:
            await self._slot(target, deadline)
        try:
            reply = await self._shared.transport.fetch(
                target.text, deadline=deadline, headers={"Accept": get.accept}, cap=_MAX_ANSWER_BYTES, gated=not get.api
            )
        except DeadlineExceeded as error:
            await self._rest(target, _FAILURE_COOLDOWN if get.api else 0.0)
            raise ProviderTimeout(self.name, f"{target.host} did not respond in time") from error
        except (PageError, BlockedByPolicy) as error:
            if get.api and isinstance(error, PageUnavailable) and error.status is None:
                await self._rest(target, _FAILURE_COOLDOWN)
            raise ProviderUnavailable(self.name, _short(error)) from error
        await self._check(reply, target, api=get.api)
        if get.kind == "text":
            return decode(reply.body, reply.content_type).text
        try:
            data = await asyncio.to_thread(reply.json)
        except ValueError as error:
            raise FormatChanged("the answer is not JSON") from error
        await self._rest(target, _pause(data))
        return data

    async def _check(self, reply: Response, target: WebUrl, *, api: bool) -> None:
        """Raise the error of a response's status, and put an API that refuses everything in cooldown."""
        status, words, host = reply.status, _words(reply), target.host
        summary = f"{words} (HTTP {status})" if words else f"HTTP {status}"
        busy = _busy(reply)
        if busy or status == 429 or (api and status == 403 and _is_limit(reply, words)):
            seconds = _cooldown_of(reply.headers)
            await self._rest(target, seconds)
            raise RateLimited(self.name, f"{host} refuses: {busy or summary}", status=status, retry_after=seconds)
        if status >= 500:
            await self._rest(target, _FAILURE_COOLDOWN)
            raise ProviderUnavailable(self.name, f"{host} failed (HTTP {status})", status=status)
        if status in _MISSING_STATUSES:
            raise ProviderUnavailable(self.name, f"{host} has no such page (HTTP {status})", status=status)
        if status in _REFUSAL_STATUSES:
            raise ProviderUnavailable(self.name, f"{host} refuses this page: {summary}", status=status)
        if status != 200:
            raise UnexpectedResponse(self.name, f"{host} answered {summary}", status=status)
        if not self._policy.permits(reply.url):
            raise ProviderUnsupported(self.name, f"{target.host} redirects to a domain that the settings do not allow")

    async def _slot(self, target: WebUrl, deadline: Deadline) -> None:
        """Wait for a slot of the API.

        Raises:
            RateLimited: it rests, or the slot comes too late.
        """
        store, site = self._shared.store, self._site
        entry = await store.get(f"rest:api:{target.origin}")
        remaining_seconds = entry.fresh_until - time.time() if entry is not None else 0.0
        if remaining_seconds > 0:
            wait = round(remaining_seconds, 3)
            raise RateLimited(self.name, f"{target.host} refused or failed recently", retry_after=wait)
        slot = await store.pace(
            f"api:{target.origin}",
            interval=site.seconds / site.requests,
            burst=site.requests,
            max_wait=min(_MAX_WAIT, deadline.remaining()),
        )
        if not slot.granted:
            allowed = f"{target.host} allows {site.requests:,} in {site.seconds:,.0f} seconds without a key"
            raise RateLimited(self.name, allowed, retry_after=round(slot.wait, 3))
        if slot.wait > 0:
            await asyncio.sleep(slot.wait)

    async def _rest(self, target: WebUrl, seconds: float) -> None:
        if not self._replaying and seconds > 0:
            await self._shared.store.set(f"rest:api:{target.origin}", b"", fresh=min(seconds, _MAX_COOLDOWN))

    async def _rendered(self, page: SiteContent, url: str) -> RenderedParts:
        shared, size = self._shared, sum(len(part.text) for part in page.parts)
        base = page.url or self._url.text
        isolated = shared.isolated or any(part.kind == "restructured" for part in page.parts)
        if isolated or size > _MAX_THREAD_CHARACTERS:
            try:
                packed = await asyncio.to_thread(pack, page.parts)
                fields, content = await shared.workers.run(_RENDER, {"url": base}, packed)
                return RenderedParts(content.decode(), tuple(fields["warnings"]), bool(fields["cut"]))
            except WorkTooHeavy as error:
                raise UnexpectedResponse(self.name, "its answer is too complex to be rendered") from error
            except WorkerUnavailable as error:
                if isolated:
                    raise ProviderUnsupported(self.name, "no process can be started to render it") from error
        return await asyncio.to_thread(render, page.parts, base)


def _busy(reply: Response) -> str:
    """Return the code by which an API refuses for now, with whatever status: that of MediaWiki, or Stack Exchange."""
    body = json_or_empty(reply) if len(reply.body) < _MAX_REFUSAL else {}
    codes = text(body, "error.code"), text(body, "error_name")
    return next((code for code in codes if code in _BUSY_CODES), "")


def _pause(data: Any) -> float:
    """Return the seconds for which an answer asks to pause (Stack Exchange); an hour when its quota is used up."""
    if not isinstance(data, dict):
        return 0.0
    return 3_600.0 if data.get("quota_remaining") == 0 else number_or_none(data.get("backoff")) or 0.0


def _cooldown_of(headers: Mapping[str, str]) -> float:
    """Return the seconds for which a refusal asks to pause."""
    seconds = retry_after(headers)
    if seconds is not None:
        return seconds
    resets = [window.reset for window in rate_windows(headers) if window.remaining == 0 and window.reset]
    return max(resets, default=_DEFAULT_COOLDOWN)


def _words(reply: Response) -> str:
    """Return an API's own words about a failure, at most 200 characters; empty when it is not JSON or has none."""
    return "" if reply.status == 200 or len(reply.body) > _MAX_REFUSAL else error_text(reply).removeprefix(": ")


def _is_limit(reply: Response, words: str) -> bool:
    """Return whether a 403 is for all pages: without words of the API it is from what stands before it."""
    used_up = any(window.remaining == 0 for window in rate_windows(reply.headers))
    lower = words.lower()
    return not words or used_up or "Retry-After" in reply.headers or any(word in lower for word in _RATE_WORDS)


def _line(title: str) -> str:
    return " ".join(strip_invisible(clean(title))[0].split())[:500]


def _short(error: Exception) -> str:
    return str(error)[:200].rstrip(".")
