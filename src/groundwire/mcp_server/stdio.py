"""Serving one client over standard input and output."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, BinaryIO, cast

from groundwire._version import install_extra
from groundwire.errors import ConfigurationError

if TYPE_CHECKING:
    import anyio

    from groundwire.settings import Settings


@contextmanager
def claimed_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Reserve standard input and output for the protocol, and restore them afterwards.

    Any other writer to standard output, including C libraries and child processes, is redirected to standard error; any
    other reader finds the end of the input.
    """
    sys.stdout.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        # Never closed by their objects: a thread may still be reading when the server ends.
        yield os.fdopen(incoming, "rb", closefd=False), os.fdopen(outgoing, "wb", closefd=False)
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)


def serve_stdio(
    settings: Settings,
    incoming: BinaryIO,
    outgoing: BinaryIO,
    *,
    complain: Callable[[str], None],
) -> None:
    """Serve one client until it closes its end, or until this process is asked to end.

    Args:
        settings: The settings.
        incoming: The client's messages, one per line.
        outgoing: The stream for responses.
        complain: Called with each problem of the settings.

    Raises:
        KeyboardInterrupt: Control-C ended it.
    """
    with suppress(BrokenPipeError, asyncio.CancelledError):
        asyncio.run(_serve(settings, incoming, outgoing, complain))


async def _serve(settings: Settings, incoming: BinaryIO, outgoing: BinaryIO, complain: Callable[[str], None]) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    from groundwire.mcp_server.handlers import make_server
    from groundwire.mcp_server.sessions import Sessions

    sessions = Sessions(settings, alone=True, complain=complain)
    server = make_server(sessions)
    lines = cast("anyio.AsyncFile[str]", _Lines(incoming))  # the SDK only iterates it
    answers = anyio.wrap_file(io.TextIOWrapper(outgoing, encoding="utf-8", newline="\n"))
    task = asyncio.current_task()
    canceled = False
    loop = asyncio.get_running_loop()
    if task is not None:
        with suppress(NotImplementedError, RuntimeError):  # Windows, or not the main thread
            loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        async with stdio_server(lines, answers) as (requests, responses):
            await server.run(requests, responses, server.create_initialization_options())
    except* (BrokenPipeError, ValueError):  # the client is gone; the latter is a write to the closed stream
        pass
    except* asyncio.CancelledError:
        canceled = True
    finally:
        with suppress(NotImplementedError, RuntimeError):
            loop.remove_signal_handler(signal.SIGTERM)
        await sessions.aclose()
    if canceled:
        raise asyncio.CancelledError  # which asyncio turns into KeyboardInterrupt after Control-C


class _Lines:
    """The lines of a stream, read in a daemon thread, because such a read cannot be canceled."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        lines: asyncio.Queue[bytes] = asyncio.Queue()

        def read() -> None:
            with suppress(RuntimeError):  # the loop was closed meanwhile
                try:
                    for line in self._stream:
                        loop.call_soon_threadsafe(lines.put_nowait, line)
                except (OSError, ValueError):
                    pass  # treated as its end
                loop.call_soon_threadsafe(lines.put_nowait, b"")

        threading.Thread(target=read, name="groundwire-mcp-stdin", daemon=True).start()
        while line := await lines.get():
            yield line.decode("utf-8", "replace")


def check_sdk() -> None:
    """Check that the MCP SDK is installed, without loading it; releases before 2.0 lack one of its packages.

    Raises:
        ConfigurationError: it is not, or is too old.
    """
    if any(find_spec(name) is None for name in ("mcp", "mcp_types")):
        raise ConfigurationError(f"The MCP SDK is not installed, or too old. To install it: {install_extra('mcp')}")
