"""Sites that test limits: redirects of every kind, and pages that are slow, endless or huge."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Final

from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.site import Site, SitePage
from world import wire_faults

_Answer = Callable[[Recorded], EmulatedResponse]

_END = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The way out</title></head>
<body><article><h1>The way out</h1><p>You have reached the end of the maze. If a redirect led you here, you have
followed it to its last page, and may now read this short text in peace.</p></article></body></html>
"""

_FIXED: Final[Mapping[str, tuple[str, str]]] = {
    "loop": ("/loop", "/loop/back"),
    "loop-back": ("/loop/back", "/loop"),
    "self": ("/self", "/self"),
    "relative": ("/relative/start", "../end"),
    "path": ("/path", "/end"),
    "query": ("/query", "?step=2"),
    "private-metadata": ("/private/metadata", "http://169.254.169.254/"),
    "private-port": ("/private/port", "http://127.0.0.1:1/"),
    "private-ipv6": ("/private/ipv6", "http://[::1]/"),
    "private-decimal": ("/private/decimal", "http://2130706433/"),
    "private-mapped": ("/private/mapped", "http://[::ffff:169.254.169.254]/"),
    "file": ("/file", "file:///etc/passwd"),
    "script": ("/script", "javascript:alert(1)"),
    "data": ("/data", "data:text/html,hello"),
    "ftp": ("/ftp", "ftp://outside.invalid/file"),
    "credentials": ("/credentials", "http://user:secret@outside.invalid/"),
    "unknown-name": ("/unknown-name", "http://outside.invalid/"),
    "broken": ("/broken", "http://[not-an-address/"),
    "blank": ("/blank", ""),
}


_REFRESHES: Final[Mapping[str, str]] = {
    "refresh": '<meta http-equiv="refresh" content="0; url=/end">Redirecting...',
    "refresh-relative": "<meta content=\"1;URL='./end'\" http-equiv=Refresh>You go on to <a href=end>the end</a>.",
    "refresh-based": '<base href="/relative/"><meta http-equiv="refresh" content="0;url=../two words">Moved.',
    "refresh-chain": '<meta http-equiv="refresh" content="0,/hops/3">',
    "refresh-later": '<meta http-equiv="refresh" content="30; url=/end"><p>This page has moved; please wait.</p>',
    "refresh-itself": '<meta http-equiv="refresh" content="5; url=/refresh-itself#again"><p>The tide is high now.</p>',
    "refresh-again": '<meta http-equiv="refresh" content="0"><p>The tide is high now.</p>',
    "refresh-loop": '<meta http-equiv="refresh" content="0;url=/refresh-loop-back">',
    "refresh-loop-back": '<meta http-equiv="refresh" content="0;url=/refresh-loop">',
    "refresh-private": '<meta http-equiv="refresh" content="0; url=http://169.254.169.254/">',
    "refresh-port": '<meta http-equiv="refresh" content="0; url=http://127.0.0.1:1/">',
    "refresh-script": '<meta http-equiv="refresh" content="0; url=javascript:alert(1)"><p>The tide is high now.</p>',
    "refresh-brackets": '<meta http-equiv="refresh" content="0; url=http://[end/"><p>The tide is high now.</p>',
    "refresh-without-scripts": '<noscript><meta http-equiv="refresh" content="0; url=/"></noscript>The tide is high.',
    "refresh-forbidden": '<meta http-equiv="refresh" content="0; url=/forbidden">',
    "refresh-with-text": '<meta http-equiv="refresh" content="0; url=/end"><p>'
    + "The caravan went on over the sand. " * 10,
}
"""Pages that lead on by themselves."""


class Maze(Site):
    """The maze. `/hops/N` needs N redirects to the end; `?status=` chooses their status.

    `/cookie` redirects to itself until a cookie comes back, `/cookie/WHERE` sets one and redirects elsewhere.

    Args:
        today: The day from which its pages are dated.
        elsewhere: The site to which `/cross-site` leads.
    """

    def __init__(self, today: date, elsewhere: Site) -> None:
        self._other = elsewhere
        pages = [_redirect(name, path, location) for name, (path, location) in _FIXED.items()]
        pages += [
            _step("end", "/end", lambda _: EmulatedResponse.html(_END)),
            _step("query-end", "/query?step=2", lambda _: EmulatedResponse.html(_END)),
            _step("hops-1", "/hops/1", lambda _: EmulatedResponse.redirect("/hops/0")),
            _step("hops-3", "/hops/3", lambda _: EmulatedResponse.redirect("/hops/2")),
            _step("hops-30", "/hops/30", lambda _: EmulatedResponse.redirect("/hops/29")),
            _step("absolute", "/absolute", lambda request: EmulatedResponse.redirect(f"{request.base_url}/end")),
            _step(
                "protocol-relative",
                "/protocol-relative",
                lambda request: EmulatedResponse.redirect(f"{request.base_url.removeprefix('http:')}/end"),
            ),
            _step("cross-site", "/cross-site", self._across),
            _step("refresh-across", "/refresh-across", self._refresh_across),
            _step("cookie", "/cookie", _with_cookie),
            _step("cookie-refresh", "/cookie-refresh", _with_cookie),
            _step("cookie-elsewhere", "/cookie-elsewhere", self._across_with_cookie),
            _step("refresh-header", "/refresh-header", lambda _: _refresh("", "0; url=/end")),
            _step(
                "refresh-header-later",
                "/refresh-header-later",
                lambda _: _refresh("<p>The tide is high.", "9;url=/end"),
            ),
            _step("two words", "/two%20words", lambda _: EmulatedResponse.html(_END)),
            _step("space", "/space", lambda _: EmulatedResponse.redirect(" /two words ")),
            *(_step(name, f"/{name}", partial(_leading_on, markup)) for name, markup in _REFRESHES.items()),
            _step("no-location", "/no-location", lambda _: EmulatedResponse(status=302, content_type=None)),
        ]
        super().__init__("maze", "maze.test", pages, today)

    def elsewhere(self, request: Recorded) -> EmulatedResponse:
        """Return one step of a chain, or the end of it."""
        if hops := re.fullmatch(r"/hops/(\d{1,4})", request.path):
            left = int(hops[1])
            if left == 0:
                return EmulatedResponse.html(_END)
            given = request.query.get("status", "302")
            status = int(given) if given in ("301", "302", "303", "307", "308") else 302
            onwards = f"?status={status}" if "status" in request.query else ""
            return EmulatedResponse.redirect(f"/hops/{left - 1}{onwards}", status=status)
        return super().elsewhere(request)

    def _across_with_cookie(self, request: Recorded) -> EmulatedResponse:
        response = self._across(request)
        return replace(response, headers={**response.headers, "Set-Cookie": "way=secret; Path=/"})

    def _refresh_across(self, request: Recorded) -> EmulatedResponse:
        return _refresh("", f"0; url={self._across(request).headers['Location']}")

    def _across(self, request: Recorded) -> EmulatedResponse:
        """Redirect to the other site, with the same kind of host name as the request."""
        named = request.headers.get("Host", "").startswith(self.host)
        return EmulatedResponse.redirect(self._other.page(next(iter(self._other.pages)), named=named))


def _leading_on(markup: str, request: Recorded) -> EmulatedResponse:
    head = "<!doctype html><html lang=en><head><title>A sign</title>"
    return EmulatedResponse.html(f"{head}</head><body>{markup}</body></html>")


def _refresh(markup: str, value: str) -> EmulatedResponse:
    return replace(EmulatedResponse.html(markup), headers={"Refresh": value})


def _with_cookie(request: Recorded) -> EmulatedResponse:
    """Return the end when the cookie comes back, and else set it, with one that is over and one for another host."""
    if "way=found" in request.headers.get("Cookie", ""):
        return EmulatedResponse.html(_END)
    there = "/cookie" if request.path == "/cookie" else ""
    cookie = {"Set-Cookie": "way=found; Path=/; HttpOnly; SameSite=Lax"}
    if there:
        return replace(EmulatedResponse.redirect(there), headers={"Location": there, **cookie})
    onwards = _leading_on('<meta http-equiv="refresh" content="0; url=/cookie">', request)
    return replace(onwards, headers=cookie)


def _step(name: str, path: str, answer: _Answer) -> SitePage:
    def render(request: Recorded, published: date) -> EmulatedResponse:
        return answer(request)

    return SitePage(name=name, path=path, render=render, title=name)


def _redirect(name: str, path: str, location: str) -> SitePage:
    return _step(name, path, lambda _: EmulatedResponse.redirect(location))


_SHORT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The patient page</title></head>
<body><article><h1>The patient page</h1><p>This page arrives when it is ready, which is seldom when it is wanted. It has
nothing else to say, and says it in two sentences.</p></article></body></html>
"""
_HEAD = b'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Too much</title></head>\n<body>\n'
_TAIL = b"</body></html>\n"
_HUGE = 20_000_000  # approximate bytes
_DEPTH = 100_000  # nested elements
_WORD = 5_000_000  # letters
_ROWS = 20_000  # of the large table


class Slow(Site):
    """The slow site. `/delay/SECONDS` and `/trickle/SECONDS_PER_BYTE` take any number, at most 3600.

    Args:
        today: The day from which its pages are dated.
    """

    def __init__(self, today: date) -> None:
        short = _SHORT.encode()
        pages = [
            _fixed("delay", "/delay/0.3", EmulatedResponse(body=short, fault=InjectedFault.delay(0.3))),
            _fixed("trickle", "/trickle", EmulatedResponse(body=short, fault=wire_faults.trickle(0.05))),
            _fixed("trickle-head", "/trickle-head", EmulatedResponse(body=short, fault=wire_faults.trickle_head(0.05))),
            _fixed("hang", "/hang", EmulatedResponse(fault=InjectedFault.hang())),
            _fixed("endless", "/endless", EmulatedResponse(fault=wire_faults.endless())),
            _fixed("endless-headers", "/endless-headers", EmulatedResponse(fault=wire_faults.endless_headers())),
            _fixed("huge", "/huge", _streamed(_paragraphs)),
            _fixed("deep", "/deep", _streamed(_nested)),
            _fixed("word", "/word", _streamed(_one_word)),
            _fixed("table", "/table", _streamed(_table)),
        ]
        super().__init__("slow", "slow.test", pages, today)

    def elsewhere(self, request: Recorded) -> EmulatedResponse:
        """Return the short page after a delay, or at a pace, given in the path."""
        if wanted := re.fullmatch(r"/(delay|trickle)/(\d{1,4}(?:\.\d{1,6})?)", request.path):
            seconds = min(3600.0, float(wanted[2]))
            fault = InjectedFault.delay(seconds) if wanted[1] == "delay" else wire_faults.trickle(seconds)
            return EmulatedResponse(body=_SHORT.encode(), fault=fault)
        return super().elsewhere(request)


def _fixed(name: str, path: str, reply: EmulatedResponse) -> SitePage:
    def render(request: Recorded, published: date) -> EmulatedResponse:
        return reply

    return SitePage(name=name, path=path, render=render, title=name)


def _streamed(body: Callable[[], Iterator[bytes]]) -> EmulatedResponse:
    def chunks() -> Iterable[bytes]:
        return itertools.chain([_HEAD], body(), [_TAIL])

    return EmulatedResponse(chunks=chunks)


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
