"""The same face without `async`: for scripts, notebooks, and code that already runs in an event loop.

The work is done by an event loop in a thread of its own, so a loop that is running in the caller's thread is not
touched.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from datetime import date
from typing import TYPE_CHECKING, Any, Self, TypeVar

from groundwire.errors import Closed
from groundwire.models import Budget, Page, SafeSearch, SearchResponse, TimeRange
from groundwire.reading.handle.view import Around
from groundwire.routing.hedging_policy import Strategy
from groundwire.web import Web

if TYPE_CHECKING:
    from groundwire.citations.verify import CitedPage, Entailment, Report

__all__ = ["SyncWeb", "open_page", "search"]

_T = TypeVar("_T")


class SyncWeb:
    """A `Web` for callers without `async`. Use it as `with SyncWeb() as web:`.

    It may be used from several threads at once. The arguments are those of `Web`.

    Raises:
        ConfigurationError: see `Web`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self._web = Web(*args, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="groundwire-sync", daemon=True)
        self._thread.start()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        allowed_domains: Sequence[str] = (),
        blocked_domains: Sequence[str] = (),
        time_range: TimeRange = "all",
        published_after: date | str | None = None,
        published_before: date | str | None = None,
        language: str | None = None,
        region: str | None = None,
        safesearch: SafeSearch | None = None,
        page: int = 1,
        strategy: Strategy | None = None,
        refresh: bool = False,
        timeout: float | None = None,
    ) -> SearchResponse:
        """Search the web; see `Web.search` for the arguments, the result and the errors."""
        return self._run(
            lambda: self._web.search(
                query,
                limit=limit,
                allowed_domains=allowed_domains,
                blocked_domains=blocked_domains,
                time_range=time_range,
                published_after=published_after,
                published_before=published_before,
                language=language,
                region=region,
                safesearch=safesearch,
                page=page,
                strategy=strategy,
                refresh=refresh,
                timeout=timeout,
            )
        )

    def open_page(
        self,
        url: str,
        *,
        query: str | None = None,
        cursor: str | None = None,
        find: str | None = None,
        max_length: int | None = None,
        max_tokens: int | None = None,
        refresh: bool = False,
        timeout: float | None = None,
        context: Around | None = None,
    ) -> Page:
        """Read one page as Markdown; see `Web.open_page` for the arguments, the result and the errors."""
        return self._run(
            lambda: self._web.open_page(
                url,
                query=query,
                cursor=cursor,
                find=find,
                max_length=max_length,
                max_tokens=max_tokens,
                refresh=refresh,
                timeout=timeout,
                context=context,
            )
        )

    def open_pages(
        self,
        urls: Sequence[str],
        *,
        query: str | None = None,
        find: str | None = None,
        max_length: int | None = None,
        max_tokens: int | None = None,
        at_once: int = 4,
        refresh: bool = False,
        timeout: float | None = None,
    ) -> tuple[Page, ...]:
        """Read several pages side by side; see `Web.open_pages` for the arguments, the result and the errors."""
        return self._run(
            lambda: self._web.open_pages(
                urls,
                query=query,
                find=find,
                max_length=max_length,
                max_tokens=max_tokens,
                at_once=at_once,
                refresh=refresh,
                timeout=timeout,
            )
        )

    def allow_urls_in(self, *texts: str) -> tuple[str, ...]:
        """Let this session open addresses that its user gave; see `Web.allow`."""
        return self._run(lambda: self._web.allow_urls_in(*texts))

    def sources(self) -> tuple[CitedPage, ...]:
        """Return the pages that this session was shown; see `Web.sources`."""
        return self._run(self._web.sources)

    def verify(self, answer: str, *, entailment: Entailment | None = None) -> Report:
        """Say of each sentence of an answer whether the pages that it cites say so; see `Web.verify`."""
        return self._run(lambda: self._web.verify(answer, entailment=entailment))

    def usage(self) -> dict[str, float]:
        """Return what this session has used: `searches`, `cost_usd`, `tokens`."""
        return self._run(self._web.usage)

    @property
    def budget(self) -> Budget | None:
        """What this session has used and may still use, or None when it has no limit."""
        return self._web.budget

    @property
    def inner(self) -> Web:
        """The `Web` that does the work. It belongs to a thread of its own: what waits on it goes through `submit`."""
        return self._web

    def submit(self, start: Callable[[Web], Coroutine[Any, Any, _T]]) -> Future[_T]:
        """Begin something asynchronous in the thread of this web, and return at once.

        Args:
            start: Takes the `Web` and returns what is to be awaited there.

        Returns:
            A future of that thread; `asyncio.wrap_future` makes one that an event loop can await and cancel.

        Raises:
            Closed: this web was closed.
        """
        if self._closed:
            raise Closed("This SyncWeb was closed; make a new one.")
        return self._submit(lambda: start(self._web))

    def reset_session(self) -> None:
        """Begin a new session: the budget is whole again."""
        self._run(self._web.reset_session)

    def close(self) -> None:
        """Close all connections and end the thread. Closing twice is fine."""
        if (
            threading.current_thread() is self._thread
        ):  # the garbage collector may run here, and nobody waits for oneself
            threading.Thread(target=self.close, name="groundwire-close").start()
            return
        if self._closed:
            return
        self._closed = True
        self._submit(self._web.aclose).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, start: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        if self._closed:
            start().close()
            raise Closed("This SyncWeb was closed; make a new one.")
        future = self._submit(start)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _submit(self, start: Callable[[], Coroutine[Any, Any, _T]]) -> Future[_T]:
        return asyncio.run_coroutine_threadsafe(start(), self._loop)


def search(
    query: str,
    *,
    limit: int | None = None,
    allowed_domains: Sequence[str] = (),
    blocked_domains: Sequence[str] = (),
    time_range: TimeRange = "all",
    published_after: date | str | None = None,
    published_before: date | str | None = None,
    language: str | None = None,
    region: str | None = None,
    safesearch: SafeSearch | None = None,
    page: int = 1,
    strategy: Strategy | None = None,
    refresh: bool = False,
    timeout: float | None = None,
) -> SearchResponse:
    """Search the web once; see `Web.search`. For several calls keep a `SyncWeb`: it keeps its connections."""
    with SyncWeb() as web:
        return web.search(
            query,
            limit=limit,
            allowed_domains=allowed_domains,
            blocked_domains=blocked_domains,
            time_range=time_range,
            published_after=published_after,
            published_before=published_before,
            language=language,
            region=region,
            safesearch=safesearch,
            page=page,
            strategy=strategy,
            refresh=refresh,
            timeout=timeout,
        )


def open_page(
    url: str,
    *,
    query: str | None = None,
    cursor: str | None = None,
    find: str | None = None,
    max_length: int | None = None,
    max_tokens: int | None = None,
    refresh: bool = False,
    timeout: float | None = None,
    context: Around | None = None,
) -> Page:
    """Read one page once; see `Web.open_page`. For several calls keep a `SyncWeb`: it keeps its connections."""
    with SyncWeb() as web:
        return web.open_page(
            url,
            query=query,
            cursor=cursor,
            find=find,
            max_length=max_length,
            max_tokens=max_tokens,
            refresh=refresh,
            timeout=timeout,
            context=context,
        )
