"""The search engines behind a real SearXNG: a small server that responds correctly, badly, late, or not at all."""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from socketserver import BaseServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

_LATE = 4.0  # seconds; longer than SearXNG waits for an engine in our settings


class Row(NamedTuple):
    """One result of a search engine."""

    title: str
    """Its title as text."""
    url: str
    """Its address."""
    text: str = ""
    """Its snippet; the JSON engine takes HTML here."""


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """A request of SearXNG to an engine."""

    path: str
    """The path, which says the engine."""
    query: Mapping[str, str]
    """The parameters."""
    headers: Mapping[str, str] = field(repr=False)
    """The headers, their names in lower case."""


class Upstream:
    """A stand-in for search engines on loopback.

    Attributes:
        url: Its address without a path.
        log: What it was asked, in order.
        rows: What the JSON engine returns on the first page; None for ten rows made from the query.
    """

    def __init__(self) -> None:
        self.log: list[UpstreamRequest] = []
        self.rows: Sequence[Row] | None = None
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="upstream")
        self._thread.start()

    def reset(self) -> None:
        """Clear the log and the rows of the last test."""
        self.log.clear()
        self.rows = None

    def close(self) -> None:
        """Stop responding; waiting requests are released."""
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: UpstreamRequest) -> tuple[int, str, bytes]:
        """Return the status, the content type and the body for one request."""
        words = request.query.get("q", "")
        match request.path.strip("/").split("/"):
            case ["json"]:
                page = int(request.query.get("page") or 1)
                items = [row._asdict() for row in self._rows(words, page, request.query.get("hours", ""))]
                return 200, "application/json", json.dumps({"items": items}).encode()
            case ["html"]:
                return 200, "text/html", _page(words).encode()
            case ["slow"]:
                self.closing.wait(_LATE)
                return 200, "application/json", b'{"items": []}'
            case ["empty"]:
                return 200, "application/json", b'{"items": []}'
            case ["status", code]:
                return int(code), "text/plain", b"no"
            case ["recaptcha"]:
                return 503, "text/html", b'<script src="https://www.google.com/recaptcha/api.js"></script>'
            case ["firewall"]:
                return 403, "text/html", b'<span class="cf-error-code">1020</span>'
            case ["badjson"]:
                return 200, "application/json", b"<html>not JSON"
        return 404, "text/plain", b"no such engine"

    def _rows(self, words: str, page: int, hours: str) -> Sequence[Row]:
        if self.rows is not None:
            return self.rows if page == 1 else ()
        note = f" of the last {hours} hours" if hours else ""
        return [
            Row(f"{words} {n}", f"https://site{n}.example/", f"text <b>{n}</b> &amp; more, page {page}{note}")
            for n in range((page - 1) * 10, page * 10)
        ]


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, upstream: Upstream, request: socket, address: Any, server: BaseServer) -> None:
        self._upstream = upstream
        super().__init__(request, address, server)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = UpstreamRequest(parts.path, dict(parse_qsl(parts.query)), headers)
        self._upstream.log.append(request)
        status, kind, body = self._upstream.answer(request)
        self.send_response_only(status)
        for name, value in {
            "Server": "cloudflare" if parts.path == "/firewall" else "stand-in",
            "Content-Type": kind,
            "Content-Length": str(len(body)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # SearXNG did not wait so long

    def log_message(self, *args: object) -> None:
        """Print nothing; requests are logged."""


def _page(words: str) -> str:
    rows = (
        f'<div class="r"><a href="https://html{n}.example/">{html.escape(words)} html {n}</a><p>text {n}</p></div>'
        for n in range(5)
    )
    return f"<html><body>{''.join(rows)}</body></html>"
