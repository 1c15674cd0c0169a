"""Faults that a server's own bytes have, and that only our tests need."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from groundwire.testing.fault_injection import InjectedFault

if TYPE_CHECKING:
    from aiohttp import web

    from groundwire.testing.http_messages import EmulatedResponse, Wire


def trickle(seconds_per_byte: float = 0.01) -> InjectedFault:
    """Send the head immediately and the body byte by byte."""

    async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
        await wire.raw(reply.head(Content_Length=str(len(reply.body)), Connection="close"))
        await _drip(wire, reply.body, seconds_per_byte)
        await wire.close()

    return InjectedFault(f"trickle({seconds_per_byte})", play)


def trickle_head(seconds_per_byte: float = 0.01) -> InjectedFault:
    """Send the head byte by byte, then the body at once."""

    async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
        head = reply.head(Content_Length=str(len(reply.body)), Connection="close")
        await _drip(wire, head, seconds_per_byte)
        await wire.raw(reply.body)
        await wire.close()

    return InjectedFault(f"trickle_head({seconds_per_byte})", play)


def wrong_length() -> InjectedFault:
    """Declare half of the body's length, send all of it, then close."""

    async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
        await wire.raw(reply.head(Content_Length=str(len(reply.body) // 2)) + reply.body)
        await wire.close()

    return InjectedFault("wrong_length", play)


def garbage() -> InjectedFault:
    """Respond with bytes that are not HTTP."""

    async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
        await wire.raw(b"\x16\x03\x01 220 no web server here\r\n\r\n")
        await wire.close()

    return InjectedFault("garbage", play)


def not_gzip() -> InjectedFault:
    """Respond with a plain body declared as gzip."""
    return InjectedFault.reply(
        "not_gzip", lambda reply: replace(reply, headers={**reply.headers, "Content-Encoding": "gzip"})
    )


def endless(chunk: bytes = b"<p>and so on</p>\n" * 512) -> InjectedFault:
    """Respond with an endless body that repeats `chunk`."""
    return InjectedFault.reply("endless", lambda reply: replace(reply, chunks=lambda: itertools.repeat(chunk)))


def endless_headers() -> InjectedFault:
    """Respond with endless header lines."""

    async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
        await wire.raw(reply.head().removesuffix(b"\r\n"))
        for number in itertools.count():
            await wire.raw(f"X-Filler-{number}: {'f' * 200}\r\n".encode())
            await asyncio.sleep(0)
        await wire.close()

    return InjectedFault("endless_headers", play)


async def _drip(wire: Wire, data: bytes, seconds_per_byte: float) -> None:
    for byte in data:
        await wire.raw(bytes([byte]))
        await asyncio.sleep(seconds_per_byte)
