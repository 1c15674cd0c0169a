"""The synchronous interface: for scripts, notebooks, and code that already runs in an event loop.

The work is done by an event loop in a thread of its own, so a loop that is running in the caller's thread is not
touched. The methods take their parameters from those of `Web`.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar

from groundwire.errors import Closed
from groundwire.hints import method_hint
from groundwire.web import Web

if TYPE_CHECKING:
    from groundwire.models import Budget, Page

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _opened_by(opener: object, result: _T) -> _T:
    """Return a result; if it is a search response, `open()` of its rows is synchronous."""
    from groundwire.models import SearchResponse

    return result.opened_by(opener) if isinstance(result, SearchResponse) else result


def _blocking(
    method: Callable[Concatenate[Web, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[SyncWeb, _P], _T]:
    """Return a blocking method of `SyncWeb` that is one of `Web`."""

    @functools.wraps(method, assigned=("__name__", "__doc__"))
    def wait(web: SyncWeb, /, *args: _P.args, **options: _P.kwargs) -> _T:
        return _opened_by(web, web.run(lambda inner: method(inner, *args, **options)))

    wait.__qualname__ = f"SyncWeb.{wait.__name__}"
    return wait


_R = TypeVar("_R", covariant=True)


class _Rows(Protocol[_R]):
    """What is iterated with `async for`."""

    async def __anext__(self) -> _R: ...

    async def aclose(self) -> None: ...


class _SyncRows(Generic[_R]):
    """The rows of an async iterator, to be iterated with `for`; `inner` is that iterator, with its counts."""

    def __init__(self, web: SyncWeb, inner: _Rows[_R]) -> None:
        self.inner = inner
        self._web = web

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> _R:
        try:
            return self._web.run(lambda _: self.inner.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None

    def __aiter__(self) -> _Rows[_R]:  # by `read_many`, in the thread of the web, which must not wait for itself
        return self.inner

    def __getattr__(self, name: str) -> Any:  # the counts and the warnings
        return getattr(self.inner, name)

    def close(self) -> None:
        """Stop early."""
        self._web.run(lambda _: self.inner.aclose())


def _iterating(method: Callable[Concatenate[Web, _P], _Rows[_T]]) -> Callable[Concatenate[SyncWeb, _P], _SyncRows[_T]]:
    """Return a method of `SyncWeb` that is one of `Web` that returns an async iterator."""

    @functools.wraps(method, assigned=("__name__", "__doc__"))
    def start(web: SyncWeb, /, *args: _P.args, **options: _P.kwargs) -> _SyncRows[_T]:
        return _SyncRows(web, method(web.inner, *args, **options))

    start.__qualname__ = f"SyncWeb.{start.__name__}"
    return start


def _like(
    _web: Callable[_P, Web],
) -> Callable[[Callable[..., None]], Callable[Concatenate[SyncWeb, _P], None]]:
    """Return a decorator that gives `__init__` the parameters of that of `Web`, for editors and type checkers."""
    return lambda method: functools.update_wrapper(method, Web.__init__, assigned=())


class _NewWeb:
    """Opens the results of a search whose web is closed."""

    def open_page(self, url: str, **options: Any) -> Page:
        """Read a page with a web of its own; see `Web.open_page`."""
        return open_page(url, **options)


def _once(method: Callable[Concatenate[SyncWeb, _P], _T]) -> Callable[_P, _T]:
    """Return a function from a method of `SyncWeb`; each call uses a new `SyncWeb`."""

    @functools.wraps(method, assigned=("__name__",))
    def call(*args: _P.args, **options: _P.kwargs) -> _T:
        with SyncWeb() as web:
            return _opened_by(_NewWeb(), method(web, *args, **options))

    call.__qualname__ = call.__name__
    call.__doc__ = f"One call; see `Web.{call.__name__}`. For several calls keep a `SyncWeb`: it keeps its connections."
    signature = inspect.signature(method)
    vars(call)["__signature__"] = signature.replace(parameters=[*signature.parameters.values()][1:])
    return call


_CLOSING = 10.0  # seconds, so that a server that does not let go cannot keep a program from ending
_ENDING = 1.0  # seconds for tasks that are still running then to be canceled


class _LoopThread(threading.Thread):
    """The thread of the event loop of one web."""


def _closed_error() -> Closed:
    return Closed("This SyncWeb is closed; create a new one.")


async def _cancel_tasks() -> None:
    """Cancel all other tasks and wait for them, as `asyncio.run` does."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _end(web: Web, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Close a web and end its thread."""
    # The garbage collector may run in such a thread, which must not wait for itself, nor for one that waits for it.
    if isinstance(threading.current_thread(), _LoopThread):
        threading.Thread(target=_end, args=(web, loop, thread), name="groundwire-close").start()
        return
    if not thread.is_alive():  # a process that was forked has no copy of it
        return
    ends = not threading.main_thread().is_alive()  # and with the program the threads that write files
    with suppress(TimeoutError):
        asyncio.run_coroutine_threadsafe(web.clients.aclose() if ends else web.aclose(), loop).result(_CLOSING)
    with suppress(TimeoutError):
        asyncio.run_coroutine_threadsafe(_cancel_tasks(), loop).result(_ENDING)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


class SyncWeb:
    """A synchronous `Web`. Use it as `with SyncWeb() as web:`.

    It may be used from several threads at once. The arguments are those of `Web`.

    Raises:
        ConfigurationError: see `Web`.
    """

    @_like(Web)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._web = Web(*args, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = _LoopThread(target=self._loop.run_forever, name="groundwire-sync", daemon=True)
        self._thread.start()
        self._end = weakref.finalize(self, _end, self._web, self._loop, self._thread)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    if not TYPE_CHECKING:  # for a type checker, an unknown name stays an error

        def __getattr__(self, name: str) -> Any:
            hint = ""
            if not name.startswith("_"):
                hint = f"; use web.inner.{name}" if hasattr(Web, name) or name in vars(self._web) else method_hint(name)
            raise AttributeError(f"'SyncWeb' has no attribute {name!r}{hint}")

    search = _blocking(Web.search)
    open_page = _blocking(Web.open_page)
    open_pages = _blocking(Web.open_pages)
    map = _iterating(Web.map)
    read_many = _iterating(Web.read_many)
    allow_urls_in = _blocking(Web.allow_urls_in)
    index_files = _blocking(Web.index_files)
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
            start: A function that takes the `Web` and returns an awaitable.

        Returns:
            A future of that thread; `asyncio.wrap_future` makes one that an event loop can await and cancel.

        Raises:
            Closed: this web was closed.
        """
        if self.is_closed or not self._thread.is_alive():  # a process that was forked has no copy of the thread
            raise _closed_error()
        return asyncio.run_coroutine_threadsafe(start(self._web), self._loop)

    def run(self, start: Callable[[Web], Coroutine[Any, Any, _T]]) -> _T:
        """Start a coroutine in the thread of this web, and wait for its result; an interrupt cancels it.

        Args:
            start: See `submit`.

        Raises:
            Closed: this web was closed. RuntimeError: the caller is the thread of this web.
        """
        if threading.current_thread() is self._thread:  # such as in a generator that `read_many` takes addresses from
            raise RuntimeError("A SyncWeb cannot be called by what it calls itself: pass a list, or what map returned.")
        future = self.submit(start)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise
        except CancelledError:
            if self.is_closed:  # by another thread
                raise _closed_error() from None
            raise

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return not self._end.alive

    def close(self) -> None:
        """Close all connections and end the thread. Idempotent; a web that is left open is closed with the program."""
        self._end()

    def close_with_program(self) -> None:
        """Close it before the threads of the program end, if it was not closed by then: later, they store nothing."""
        register = getattr(threading, "_register_atexit", None)  # as concurrent.futures does, and called before it
        if register is not None:
            with suppress(RuntimeError):  # the program is already ending
                register(self._end)

    def aclose(self) -> None:
        """Close all connections, as `close` does."""
        self.close()


search = _once(SyncWeb.search)
open_page = _once(SyncWeb.open_page)
open_pages = _once(SyncWeb.open_pages)
