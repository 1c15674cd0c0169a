"""Bodies to Markdown without holding up the event loop: in a thread, or in a process when they are heavy."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded
from groundwire.reading.bounds import is_heavy
from groundwire.reading.convert import Converted, convert
from groundwire.reading.worker import Workers, WorkerUnavailable

__all__ = ["Conversion"]

_THREADS: Final = 1  # extraction holds the interpreter's lock most of the time: more threads only hold up the loop


class Conversion:
    """Converts what a browser brought. All its calls must run in one event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, "groundwire-rendered")
        self._workers = Workers()

    async def convert(
        self, body: bytes, content_type: str, url: str, *, headers: Mapping[str, str], deadline: Deadline
    ) -> Converted:
        """Return a body as Markdown; see `groundwire.reading.convert.convert`.

        Raises:
            DeadlineExceeded: it took too long. PageTooLarge: it took more than a page may take.
        """
        try:
            async with deadline.timeout():
                if is_heavy(body):
                    try:
                        return await self._workers.convert(body, content_type, url, headers=headers)
                    except WorkerUnavailable:
                        pass  # a thread may hold up the loop for a while, but the page is read
                here = partial(convert, body, content_type, url, headers=headers)
                return await asyncio.get_running_loop().run_in_executor(self._threads, here)
        except TimeoutError as error:
            raise DeadlineExceeded(
                "The page came, but turning it into Markdown took too long. Open another page."
            ) from error

    async def aclose(self) -> None:
        """End the processes and let the threads go; one that is busy ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await self._workers.aclose()
