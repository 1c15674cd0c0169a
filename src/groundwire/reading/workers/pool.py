"""A pool of warm worker processes with resource limits, for work that would block or endanger the caller's process.

Bodies are converted and views of pages are made off the event loop: in a thread, or in a process if heavy.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import TypeAdapter

from groundwire.deadline import Deadline
from groundwire.errors import Closed, DeadlineExceeded, PageTooLarge, UnsupportedContent
from groundwire.fair_queue import FairQueue
from groundwire.reading.workers import (
    MAX_FRAME,
    NO_WINDOW,
    WorkerUnavailable,
    WorkTooHeavy,
    kill_group,
    pack,
    unpack,
)

if TYPE_CHECKING:  # what handles pages takes long to load, and a search has none
    from groundwire.models import Page
    from groundwire.reading.convert import Converted
    from groundwire.reading.passages.view import Ask
    from groundwire.settings import ReadSettings

__all__ = ["MEMORY", "Conversion", "WorkTooHeavy", "WorkerUnavailable", "Workers", "view_off_loop"]

MEMORY: Final = 1_000_000_000
"""Bytes of address space of a worker; the most that a page within the limits took was a quarter of it."""
SECONDS: Final = 20
"""Seconds of CPU time per page; the slowest page within the limits took a tenth of it."""
_FILE_SECONDS: Final = 12.0  # for the pages of a file; less than its total limit
_CONVERT_MODULE: Final = "groundwire.reading.convert"
"""The module whose import compiles hundreds of expressions, which would hold up everything else in the event loop."""
_CONVERT: Final = f"{_CONVERT_MODULE}:convert_in_worker"
_PAGES: Final = 200  # pages after which a worker is replaced, to release whatever libraries hold
_MAX_MEMORY: Final = 400_000_000  # bytes; a worker that holds more after a page is replaced
_PIECE: Final = 65_536  # bytes written at a time; more would be buffered in this process
_LOOP_ERRORS: Final = (OSError, ValueError, EOFError, asyncio.IncompleteReadError)


class _Worker:
    """One process, from start to end."""

    def __init__(self, process: Process, most_memory: float) -> None:
        self._process = process
        self._most_memory = most_memory
        self._pages = 0

    @property
    def worn(self) -> bool:
        """Whether it should not get another job."""
        is_alive = self._process.returncode is None and self._pages < _PAGES
        return not is_alive or _memory(self._process.pid) > self._most_memory

    async def run(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Return the result of one job.

        Raises:
            OSError, ValueError, EOFError: the process died, or sent an invalid frame.
        """
        self._pages += 1
        into, out = self._process.stdin, self._process.stdout
        if into is None or out is None:
            raise EOFError
        for part in pack(header, body):
            for start in range(0, len(part), _PIECE):
                into.write(part[start : start + _PIECE])
                await into.drain()
        fields, size = unpack(await out.readline())
        payload = await out.readexactly(size)
        return fields, payload

    async def kill(self) -> None:
        """Kill the process and wait until it has ended."""
        if self._process.returncode is None:
            kill_group(self._process.pid)  # Popen.kill may reap the process before asyncio's watcher
        await self._process.wait()
        into, out = self._process.stdin, self._process.stdout
        if into is not None:
            into.close()
            with contextlib.suppress(OSError):  # retrieved, or the loop logs an unretrieved exception
                await into.wait_closed()
        if out is not None and out.exception() is None:
            with contextlib.suppress(OSError):
                await out.read()  # the transport closes at the end of its pipes
        await asyncio.sleep(0)


class Workers:
    """Worker processes for heavy work, started on first use.

    All its calls must run in one event loop.

    Args:
        count: Maximum concurrent processes; further jobs wait, those of tenants in turn.
        memory: The address space of a process in bytes, where the platform can limit it.
        seconds: The CPU time of a job in seconds, where the platform can limit it.
        command: Another program that reads jobs and writes results as a worker does; it knows no limits.
        environment: The variables of that program.
    """

    def __init__(
        self,
        count: int = 2,
        *,
        memory: int = MEMORY,
        seconds: int = SECONDS,
        command: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        # -P: import nothing from the current folder
        own = (sys.executable, "-P", "-m", "groundwire.reading.workers.worker_main", str(memory), str(seconds))
        self._command = tuple(command) or own
        self._environment = environment
        self._most_memory = float("inf") if command else _MAX_MEMORY
        self.queue: FairQueue = FairQueue(count)
        """The slots for its processes."""
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._reapers: set[asyncio.Task[None]] = set()
        self._closed = False

    async def run(self, job: str, request: Mapping[str, Any], body: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """Run a function of this package in a worker process and return its result.

        Args:
            job: The function, as `MODULE:FUNCTION`; it takes `request` and `body` and returns the same types.
            request: Its arguments, as JSON data.
            body: The text or the bytes to process.

        Raises:
            WorkTooHeavy: it exceeded the limit of memory or time.
            WorkerUnavailable: no process can be started.
            Closed: the workers were closed.
        """
        async with self.queue.slot():
            if self._closed:
                raise Closed("This Web is closed; create a new one.")
            worker = self._idle.pop() if self._idle else await self._start()
            self._busy.add(worker)
            is_complete = False
            try:
                fields, content = await worker.run({**request, "job": job}, body)
                is_complete = True
            except _LOOP_ERRORS as error:
                if self._closed:
                    raise Closed("This Web is closed; create a new one.") from error
                raise WorkTooHeavy from error
            finally:
                self._busy.discard(worker)
                if is_complete and not worker.worn and not self._closed:
                    self._idle.append(worker)
                else:
                    self._let_go(worker)
        if "failed" in fields:
            raise WorkTooHeavy
        return fields, content

    async def aclose(self) -> None:
        """End all processes; running jobs raise Closed."""
        self._closed = True
        for worker in (*self._idle, *self._busy):
            self._let_go(worker)
        self._idle.clear()
        while self._reapers:
            await asyncio.gather(*self._reapers)

    def _let_go(self, worker: _Worker) -> None:
        """End a process without waiting, so that it does not delay past a deadline."""
        task = asyncio.get_running_loop().create_task(worker.kill())
        self._reapers.add(task)
        task.add_done_callback(self._reapers.discard)

    async def _start(self) -> _Worker:
        if not self._command[0]:
            raise WorkerUnavailable("there is no interpreter to start")
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=MAX_FRAME,
                env=_environment() if self._environment is None else self._environment,
                start_new_session=True,  # a keyboard interrupt is for the caller
                creationflags=NO_WINDOW,
            )
        except (OSError, NotImplementedError) as error:
            raise WorkerUnavailable("no process can be started") from error
        return _Worker(process, self._most_memory)


def _environment() -> dict[str, str]:
    """Return the environment of a worker, without keys: it processes untrusted pages."""
    variables = {
        name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ
    }
    return variables | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONUTF8": "1"}


def _memory(number: int) -> int:
    """Return the bytes of memory that a process holds; 0 where the system has no file that says it."""
    with contextlib.suppress(OSError):
        if match := re.search(
            r"VmRSS:\s+(\d+) kB", Path(f"/proc/{number}/status").read_text(encoding="ascii", errors="replace")
        ):
            return int(match[1]) * 1_024
    return 0


def _too_heavy(url: str) -> PageTooLarge:
    return PageTooLarge(
        url,
        "The page is too complex: its conversion to Markdown exceeded the memory or CPU limit. "
        "Look for a smaller page on the same subject.",
    )


def _converted(fields: dict[str, Any], content: bytes) -> Converted:
    """Restore what `groundwire.reading.convert.convert_in_worker` returned."""
    from groundwire.reading.convert import Converted

    fields["extracted"]["content"] = content.decode()
    return TypeAdapter(Converted).validate_python(fields)


_THREADS: Final = 1  # extraction holds the GIL most of the time: more threads would only block the loop
_MAX_HEADER: Final = 1_000  # characters; the relevant headers are short
_SHARE: Final = 0.6  # of the remaining time; the parts of a long file must still be assembled


def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, "groundwire-extract")


class Conversion:
    """Converts bodies for readers. All its calls must run in one event loop.

    Args:
        workers: Shared processes; by default it has its own.
        isolated: Whether every page is converted in a process, and none if there can be no process; otherwise only
            heavy pages and documents.
        parts: Those that are kept or left out on every kind of page; see `groundwire.reading.main_content.page_parts`.
    """

    def __init__(
        self,
        workers: Workers | None = None,
        *,
        isolated: bool = False,
        parts: Mapping[str, bool] | None = None,
    ) -> None:
        self._threads = _threads()
        self._slots = FairQueue(_THREADS)
        self._owned = Workers() if workers is None else None
        self._workers = workers or self._owned or Workers()
        self._isolated = isolated
        self._parts = parts

    @classmethod
    def of(cls, settings: ReadSettings, workers: Workers | None) -> Self:
        """Return what converts as the settings say."""
        return cls(workers, isolated=settings.isolation == "process", parts=settings.parts)

    async def convert(
        self, body: bytes, content_type: str, url: str, *, headers: Mapping[str, str], deadline: Deadline
    ) -> Converted:
        """Convert a body to Markdown; see `groundwire.reading.convert.convert`.

        Raises:
            DeadlineExceeded: it took too long. PageTooLarge: it exceeded the limits of a page.
            UnsupportedContent: it needs a process, and none can be started.
        """
        try:
            with deadline.timeout():
                return await self._convert(body, content_type, url, headers, deadline)
        except TimeoutError as error:
            raise DeadlineExceeded("The page was fetched, but its conversion to Markdown took too long.") from error

    async def _convert(
        self, body: bytes, content_type: str, url: str, headers: Mapping[str, str], deadline: Deadline
    ) -> Converted:
        """Convert in a thread, or in a process if it could block or endanger this one."""
        if _CONVERT_MODULE not in sys.modules:
            await asyncio.get_running_loop().run_in_executor(self._threads, import_module, _CONVERT_MODULE)
        from groundwire.reading.documents.document import FILES
        from groundwire.reading.encoding.content_type import media_type
        from groundwire.reading.html.limits import is_heavy

        headers = {name: value for name, value in headers.items() if len(value) < _MAX_HEADER}
        is_file = media_type(content_type, body[:4_096], url).kind in FILES
        if self._isolated or is_file or is_heavy(body):
            request = {
                "content_type": content_type,
                "url": url,
                "headers": headers,
                "seconds": min(_SHARE * deadline.remaining(), _FILE_SECONDS),
                "parts": dict(self._parts or {}),
            }
            try:
                return _converted(*await self._workers.run(_CONVERT, request, body))
            except WorkTooHeavy as error:
                raise _too_heavy(url) from error
            except WorkerUnavailable as error:
                if self._isolated or is_file:  # its library is not made for untrusted files without limits
                    raise UnsupportedContent(
                        url,
                        f"{'The page is a document, which' if is_file else 'Every page'} is read in a separate "
                        "process, and none can be started here.",
                    ) from error
                # a thread may block the loop for a while, but the page is read
        from groundwire.reading.convert import convert

        async with self._slots.slot():
            threads = self._threads
            job = threads.submit(convert, body, content_type, url, headers=headers, parts=self._parts)
            try:
                return await asyncio.wrap_future(job)
            except asyncio.CancelledError:
                if (
                    not job.cancel() and threads is self._threads
                ):  # it cannot be ended: the next job gets another thread
                    self._threads = _threads()
                    threads.shutdown(wait=False)
                raise

    async def aclose(self) -> None:
        """End its own processes and release the threads; a busy one ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._owned is not None:
            await self._owned.aclose()


_AT_ONCE: Final = 20_000  # characters that are processed without a thread, in about 10 ms
_IN_THREAD: Final = 200_000  # characters whose longest step in C holds the GIL for a few milliseconds
_VIEW: Final = "groundwire.reading.passages.view:view_in_worker"


async def view_off_loop(workers: Workers, page: Page, ask: Ask) -> Page:
    """Return the requested part of a whole page, as `view` does, without blocking the event loop.

    A canceled call leaves no process running. If the caller's function counts tokens, or passages are compared by
    meaning, a thread is used, because other processes have neither that function nor the model.

    Raises:
        InvalidRequest: the page has no such part. PageTooLarge: it exceeded the limits.
    """
    from groundwire.reading.passages.view import pack_view, unpack_view, view

    if len(page.content) < _AT_ONCE and ask.ranker is None:
        return view(page, ask)
    packed = pack_view(page, ask) if len(page.content) >= _IN_THREAD else None
    if packed is None:
        return await asyncio.get_running_loop().run_in_executor(None, view, page, ask)
    try:
        return unpack_view(*await workers.run(_VIEW, *packed))
    except WorkerUnavailable:
        return await asyncio.get_running_loop().run_in_executor(None, view, page, ask)
    except WorkTooHeavy as error:
        raise _too_heavy(page.url) from error
