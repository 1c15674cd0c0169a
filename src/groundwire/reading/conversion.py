"""Bodies to Markdown without holding up the event loop: in a thread, or in a process when they are heavy."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded, UnsupportedContent
from groundwire.reading.bounds import is_heavy
from groundwire.reading.convert import Converted, convert
from groundwire.reading.documents.document import FILES
from groundwire.reading.media import media_type
from groundwire.reading.worker import Workers, WorkerUnavailable

__all__ = ["Conversion"]

_THREADS: Final = 1  # extraction holds the interpreter's lock most of the time: more threads only hold up the loop
_TELLING: Final = 1_000  # characters; the headers that tell something have a few
_SHARE: Final = 0.6  # of the time that is left; what was read of a long file is still to be put together


def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, "groundwire-extract")


class Conversion:
    """Converts what a reader brought. All its calls must run in one event loop."""

    def __init__(self) -> None:
        self._threads = _threads()
        self._workers = Workers()

    async def convert(
        self, body: bytes, content_type: str, url: str, *, headers: Mapping[str, str], deadline: Deadline
    ) -> Converted:
        """Return a body as Markdown; see `groundwire.reading.convert.convert`.

        Raises:
            DeadlineExceeded: it took too long. PageTooLarge: it took more than a page may take.
            UnsupportedContent: it is a document, and no process can be started to read it in.
        """
        try:
            async with deadline.timeout():
                return await self._convert(body, content_type, url, headers, deadline)
        except TimeoutError as error:
            raise DeadlineExceeded(
                "The page came, but turning it into Markdown took too long. Open another page."
            ) from error

    async def _convert(
        self, body: bytes, content_type: str, url: str, headers: Mapping[str, str], deadline: Deadline
    ) -> Converted:
        """Choose a thread, or a process for what would hold up, fill or endanger this one."""
        headers = {name: value for name, value in headers.items() if len(value) < _TELLING}
        is_file = media_type(content_type, body[:4_096], url).kind in FILES
        if is_file or is_heavy(body):
            seconds = _SHARE * deadline.remaining()
            try:
                return await self._workers.convert(body, content_type, url, headers=headers, seconds=seconds)
            except WorkerUnavailable as error:
                if is_file:  # what reads it is not written to meet strangers' files without limits around it
                    raise UnsupportedContent(
                        url,
                        "The page is a document, which is read in a process of its own, and none can be started here. "
                        "Open another page.",
                    ) from error
                # a thread may hold up the loop for a while, but the page is read
        threads = self._threads
        job = threads.submit(convert, body, content_type, url, headers=headers)
        try:
            return await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            if (
                not job.cancel() and threads is self._threads
            ):  # it is at work, and cannot be ended: the next get another
                self._threads = _threads()
                threads.shutdown(wait=False)
            raise

    async def aclose(self) -> None:
        """End the processes and let the threads go; one that is busy ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await self._workers.aclose()
