"""slow.test: pages that take long, never end, or are too much of something."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.faults import Fault
from groundwire.testing.pages import Calendar, Page, Site

__all__ = ["Slow"]

_SHORT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The patient page</title></head>
<body><article><h1>The patient page</h1><p>This page arrives when it is ready, which is seldom when it is wanted. It has
nothing else to say, and says it in two sentences.</p></article></body></html>
"""
_HEAD = b'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Too much</title></head>\n<body>\n'
_TAIL = b"</body></html>\n"
_HUGE = 20_000_000  # bytes, about
_DEPTH = 100_000  # elements inside one another
_WORD = 5_000_000  # letters
_ROWS = 20_000  # of the large table


class Slow(Site):
    """The slow site. `/delay/SECONDS` and `/trickle/SECONDS_PER_BYTE` take any number, at most 3600.

    Args:
        calendar: The world's today.
    """

    def __init__(self, calendar: Calendar) -> None:
        short = _SHORT.encode()
        pages = [
            _page("delay", "/delay/0.3", Reply(body=short, fault=Fault.delay(0.3))),
            _page("trickle", "/trickle", Reply(body=short, fault=Fault.trickle(0.05))),
            _page("trickle-head", "/trickle-head", Reply(body=short, fault=Fault.trickle_head(0.05))),
            _page("hang", "/hang", Reply(fault=Fault.hang())),
            _page("endless", "/endless", Reply(fault=Fault.endless())),
            _page("endless-headers", "/endless-headers", Reply(fault=Fault.endless_headers())),
            _page("huge", "/huge", _streamed(_paragraphs)),
            _page("deep", "/deep", _streamed(_nested)),
            _page("word", "/word", _streamed(_one_word)),
            _page("table", "/table", _streamed(_table)),
        ]
        super().__init__("slow", "slow.test", pages, calendar)

    def elsewhere(self, request: Recorded) -> Reply:
        """Return the short page after, or at, the pace that the path names."""
        if wanted := re.fullmatch(r"/(delay|trickle)/(\d{1,4}(?:\.\d{1,6})?)", request.path):
            seconds = min(3600.0, float(wanted[2]))
            fault = Fault.delay(seconds) if wanted[1] == "delay" else Fault.trickle(seconds)
            return Reply(body=_SHORT.encode(), fault=fault)
        return super().elsewhere(request)


def _page(name: str, path: str, reply: Reply) -> Page:
    def render(request: Recorded, published: date) -> Reply:
        return reply

    return Page(name=name, path=path, render=render, title=name)


def _streamed(body: Callable[[], Iterator[bytes]]) -> Reply:
    def chunks() -> Iterable[bytes]:
        return itertools.chain([_HEAD], body(), [_TAIL])

    return Reply(chunks=chunks)


def _paragraphs() -> Iterator[bytes]:
    sentence = "The caravan went on, and the desert kept its own count of the days. "
    sent = number = 0
    while sent < _HUGE:
        part = "".join(f"<p>Paragraph {number + step}. {sentence * 8}</p>\n" for step in range(100)).encode()
        number += 100
        sent += len(part)
        yield part


def _nested() -> Iterator[bytes]:
    yield from itertools.repeat(b"<div>" * 1_000, _DEPTH // 1_000)
    yield b"<p>At the bottom of the well there is a single sentence.</p>\n"
    yield from itertools.repeat(b"</div>" * 1_000, _DEPTH // 1_000)


def _one_word() -> Iterator[bytes]:
    yield b"<p>"
    yield from itertools.repeat(b"a" * 100_000, _WORD // 100_000)
    yield b"</p>\n"


def _table() -> Iterator[bytes]:
    yield b"<table><thead><tr><th>number</th><th>square</th><th>cube</th></tr></thead><tbody>\n"
    for start in range(0, _ROWS, 500):
        yield "".join(
            f"<tr><td>{n}</td><td>{n**2}</td><td>{n**3}</td></tr>\n" for n in range(start, start + 500)
        ).encode()
    yield b"</tbody></table>\n"
