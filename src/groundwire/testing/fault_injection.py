"""Fault injection: failures that an endpoint produces on request."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from aiohttp import web

from groundwire.testing.http_messages import EmulatedResponse, Wire

__all__ = ["InjectedFault", "Play"]

Play = Callable[[Wire, EmulatedResponse], Awaitable[web.StreamResponse]]
"""Produces a fault: receives the connection and the regular response."""

_CAPTCHA = """<!doctype html><html lang="en"><head><title>Just a moment</title></head><body>
<h1>Checking that you are a person</h1><form><p>Choose every picture with a lighthouse.</p>
<div class="captcha"></div></form></body></html>"""


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """A kind of failure. Created by the class methods; two faults are equal if their labels are.

    Args:
        label: What it is, for people.
        play: What it does with the exchange.
    """

    label: str
    play: Play = field(repr=False, compare=False)

    @classmethod
    def reply(cls, label: str, change: Callable[[EmulatedResponse], EmulatedResponse]) -> InjectedFault:
        """Return a fault that modifies the regular response with `change`."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            return await wire.send(change(reply))

        return cls(label, play)

    @classmethod
    def status(
        cls,
        code: int,
        body: bytes | str = b"",
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> InjectedFault:
        """Respond with this status and body.

        Args:
            code: The HTTP status.
            body: The body; text is encoded as UTF-8.
            content_type: The Content-Type; by default it follows from the body's first character.
            headers: Further headers, such as `{"Retry-After": "7"}`.
        """
        data = body.encode() if isinstance(body, str) else body
        answer = EmulatedResponse(
            status=code, body=data, content_type=content_type or _guess_type(data), headers=headers or {}
        )
        return cls.reply(f"status({code})", lambda _: answer)

    @classmethod
    def redirect(cls, location: str, status: int = 302) -> InjectedFault:
        """Respond with a redirect; `location` is sent verbatim."""
        return cls.reply(
            f"redirect({location!r}, {status})", lambda _: EmulatedResponse.redirect(location, status=status)
        )

    @classmethod
    def delay(cls, seconds: float) -> InjectedFault:
        """Wait, then respond normally."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            await asyncio.sleep(seconds)
            return await wire.send(reply)

        return cls(f"delay({seconds})", play)

    @classmethod
    def hang(cls) -> InjectedFault:
        """Never respond; the client or the world must close the connection."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            await wire.gone()

        return cls("hang", play)

    @classmethod
    def close(cls) -> InjectedFault:
        """Close the connection before sending anything."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            await wire.close()

        return cls("close", play)

    @classmethod
    def reset(cls, after: int | None = None) -> InjectedFault:
        """Reset the TCP connection.

        Args:
            after: How many bytes of the body go out first; None for not even the head.
        """

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            if after is not None:
                await wire.raw(reply.head(Content_Length=str(len(reply.body))) + reply.body[:after])
            await wire.reset()

        return cls(f"reset({after})", play)

    @classmethod
    def trickle(cls, seconds_per_byte: float = 0.01) -> InjectedFault:
        """Send the head immediately and the body byte by byte."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            await wire.raw(reply.head(Content_Length=str(len(reply.body)), Connection="close"))
            await _drip(wire, reply.body, seconds_per_byte)
            await wire.close()

        return cls(f"trickle({seconds_per_byte})", play)

    @classmethod
    def trickle_head(cls, seconds_per_byte: float = 0.01) -> InjectedFault:
        """Send the head byte by byte, then the body at once."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            head = reply.head(Content_Length=str(len(reply.body)), Connection="close")
            await _drip(wire, head, seconds_per_byte)
            await wire.raw(reply.body)
            await wire.close()

        return cls(f"trickle_head({seconds_per_byte})", play)

    @classmethod
    def truncated(cls, missing: int = 100) -> InjectedFault:
        """Declare `missing` bytes more than the body has, then close."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            await wire.raw(reply.head(Content_Length=str(len(reply.body) + missing)) + reply.body)
            await wire.close()

        return cls(f"truncated({missing})", play)

    @classmethod
    def wrong_length(cls) -> InjectedFault:
        """Declare half of the body's length, send all of it, then close."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            await wire.raw(reply.head(Content_Length=str(len(reply.body) // 2)) + reply.body)
            await wire.close()

        return cls("wrong_length", play)

    @classmethod
    def garbage(cls) -> InjectedFault:
        """Respond with bytes that are not HTTP."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            await wire.raw(b"\x16\x03\x01 220 no web server here\r\n\r\n")
            await wire.close()

        return cls("garbage", play)

    @classmethod
    def wrong_json(cls) -> InjectedFault:
        """Respond with status 200 and truncated JSON."""

        def cut(reply: EmulatedResponse) -> EmulatedResponse:
            body = reply.body if reply.body[:1] in (b"{", b"[") else b'{"results": [{"title": "half of a page"}]}'
            return EmulatedResponse(body=body[: len(body) // 2], content_type="application/json")

        return cls.reply("wrong_json", cut)

    @classmethod
    def html_for_json(cls) -> InjectedFault:
        """Respond with status 200 and a bot check."""
        return cls.reply("html_for_json", lambda _: EmulatedResponse.html(_CAPTCHA))

    @classmethod
    def empty_body(cls) -> InjectedFault:
        """Respond without a body."""
        return cls.reply("empty_body", lambda reply: replace(reply, body=b"", chunks=None))

    @classmethod
    def not_gzip(cls) -> InjectedFault:
        """Respond with a plain body declared as gzip."""
        return cls.reply("not_gzip", lambda reply: _encoded(reply, "gzip"))

    @classmethod
    def endless(cls, chunk: bytes = b"<p>and so on</p>\n" * 512) -> InjectedFault:
        """Respond with an endless body that repeats `chunk`."""
        return cls.reply("endless", lambda reply: replace(reply, chunks=lambda: itertools.repeat(chunk)))

    @classmethod
    def endless_headers(cls) -> InjectedFault:
        """Respond with endless header lines."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            await wire.raw(reply.head().removesuffix(b"\r\n"))
            for number in itertools.count():
                await wire.raw(f"X-Filler-{number}: {'f' * 200}\r\n".encode())
                await asyncio.sleep(0)
            await wire.close()

        return cls("endless_headers", play)


def _encoded(reply: EmulatedResponse, encoding: str) -> EmulatedResponse:
    return replace(reply, headers={**reply.headers, "Content-Encoding": encoding})


async def _drip(wire: Wire, data: bytes, seconds_per_byte: float) -> None:
    for byte in data:
        await wire.raw(bytes([byte]))
        await asyncio.sleep(seconds_per_byte)


def _guess_type(data: bytes) -> str:
    if data[:1] in (b"{", b"["):
        return "application/json"
    return "text/html; charset=utf-8" if data[:1] == b"<" else "text/plain; charset=utf-8"
