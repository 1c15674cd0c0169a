"""Fault injection: failures that an endpoint produces on request."""

from __future__ import annotations

import asyncio
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
                # A response that is complete lets the client use the connection again before the reset arrives.
                length = max(len(reply.body), after + 1)
                await wire.raw(reply.head(Content_Length=str(length)) + reply.body[:after])
            await wire.reset()

        return cls(f"reset({after})", play)

    @classmethod
    def truncated(cls, missing: int = 100) -> InjectedFault:
        """Declare `missing` bytes more than the body has, then close."""

        async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
            await wire.raw(reply.head(Content_Length=str(len(reply.body) + missing)) + reply.body)
            await wire.close()

        return cls(f"truncated({missing})", play)

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


def _guess_type(data: bytes) -> str:
    if data[:1] in (b"{", b"["):
        return "application/json"
    return "text/html; charset=utf-8" if data[:1] == b"<" else "text/plain; charset=utf-8"
