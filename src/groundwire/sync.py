"""The synchronous interface: for scripts, notebooks, and code that already runs in an event loop.

The work is done by an event loop in a thread of its own, so a loop that is running in the caller's thread is not
touched. The methods take their parameters from those of `Web`.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, Self, TypeVar

from groundwire.errors import Closed
from groundwire.web import Web

if TYPE_CHECKING:
    from groundwire.models import Budget

__all__ = ["SyncWeb", "ask", "open_page", "search"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _opened_by(opener: object, result: _T) -> _T:
    """Return a result whose rows, if any, are opened synchronously, too."""
    from groundwire.models import SearchResponse

    return result.opened_by(opener) if isinstance(result, SearchResponse) else result


def _blocking(
    method: Callable[Concatenate[Web, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[SyncWeb, _P], _T]:
    """Convert a method of `Web` to a blocking method of `SyncWeb`."""

    @functools.wraps(method, assigned=("__name__", "__doc__"))
    def wait(web: SyncWeb, /, *args: _P.args, **options: _P.kwargs) -> _T:
        return _opened_by(web, web._run(lambda: method(web.inner, *args, **options)))

    wait.__qualname__ = f"SyncWeb.{wait.__name__}"
    return wait


def _once(method: Callable[Concatenate[SyncWeb, _P], _T]) -> Callable[_P, _T]:
    """Convert a method of `SyncWeb` to a function that creates and closes a `SyncWeb`."""

    @functools.wraps(method, assigned=("__name__",))
    def call(*args: _P.args, **options: _P.kwargs) -> _T:
        with SyncWeb() as web:
            return _opened_by(sys.modules[__name__], method(web, *args, **options))

    call.__qualname__ = call.__name__
    signature = inspect.signature(method)
    vars(call)["__signature__"] = signature.replace(parameters=[*signature.parameters.values()][1:])
    return call


class SyncWeb:
    """A synchronous `Web`. Use it as `with SyncWeb() as web:`.

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

    if not TYPE_CHECKING:  # for a type checker, an unknown name stays an error

        def __getattr__(self, name: str) -> NoReturn:
            from groundwire.models.aliases import other_method

            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}{other_method(name)}")

    search = _blocking(Web.search)
    open_page = _blocking(Web.open_page)
    open_pages = _blocking(Web.open_pages)
    ask = _blocking(Web.ask)
    allow_urls_in = _blocking(Web.allow_urls_in)
    sources = _blocking(Web.sources)
    verify = _blocking(Web.verify)
    usage = _blocking(Web.usage)
    reset_session = _blocking(Web.reset_session)

    @property
    def budget(self) -> Budget | None:
        """The usage and limit of this session, or None if it has no limit."""
        return self._web.budget

    @property
    def inner(self) -> Web:
        """The underlying `Web`. It belongs to a separate thread: use `submit` to await anything on it."""
        return self._web

    def submit(self, start: Callable[[Web], Coroutine[Any, Any, _T]]) -> Future[_T]:
        """Start a coroutine in the thread of this web, and return immediately.

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

    def close(self) -> None:
        """Close all connections and end the thread. Idempotent."""
        if (
            threading.current_thread() is self._thread
        ):  # the garbage collector may run here, and a thread cannot wait for itself
            threading.Thread(target=self.close, name="groundwire-close").start()
            return
        if self._closed:
            return
        self._closed = True
        self._submit(self._web.aclose).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    aclose = close

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


search = _once(SyncWeb.search)
search.__doc__ = "Search the web once; see `Web.search`. For several calls keep a `SyncWeb`: it keeps its connections."

open_page = _once(SyncWeb.open_page)
open_page.__doc__ = (
    "Read one page once; see `Web.open_page`. For several calls keep a `SyncWeb`: it keeps its connections."
)

ask = _once(SyncWeb.ask)
ask.__doc__ = "Answer one question, with citations that are checked; see `Web.ask`."
