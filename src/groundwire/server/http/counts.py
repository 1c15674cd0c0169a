"""What the gateway itself counts, beside the metrics of its calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire.observing import CONTENT_TYPE, Metrics
from groundwire.server.http.traffic import Traffic

__all__ = ["Requests", "Scrape"]

_OTHER = "other"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Requests:
    """Counts requests by path and status; the number of series is bounded.

    Args:
        paths: The first parts of the paths that are counted apart.
    """

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = frozenset(paths)
        self._counts: Counter[tuple[str, str, int]] = Counter()

    async def through(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to an application, and count how it ends."""
        status = 499  # the client went before there was an answer, as nginx calls it

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await app(scope, receive, sending)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else _OTHER
            self._counts[self._path(scope["path"]), method, status] += 1

    def lines(self) -> Iterator[str]:
        """Yield the counts in the text format that Prometheus reads."""
        yield "# HELP groundwire_http_requests_total Requests to the gateway; 499 is a client that went away."
        yield "# TYPE groundwire_http_requests_total counter"
        for (path, method, status), number in sorted(self._counts.items()):
            yield f'groundwire_http_requests_total{{path="{path}",method="{method}",status="{status}"}} {number}'

    def _path(self, path: str) -> str:
        while path not in self._paths and path != "/":
            path = path.rpartition("/")[0] or "/"
        return path if path in self._paths else _OTHER


class Scrape:
    """Shows everything that is counted to Prometheus.

    Args:
        metrics: What the calls were like; None where the `Web` is another's, who counts them.
        requests: The requests.
        traffic: What runs.
    """

    def __init__(self, metrics: Metrics | None, requests: Requests, traffic: Traffic) -> None:
        self._metrics = metrics
        self._requests = requests
        self._traffic = traffic

    async def show(self, _request: Request) -> Response:
        """Answer a request."""
        own = [
            *self._requests.lines(),
            "# HELP groundwire_http_running Calls that run in this process.",
            "# TYPE groundwire_http_running gauge",
            f"groundwire_http_running {self._traffic.running}",
        ]
        text = (self._metrics.render() if self._metrics else "") + "\n".join(own) + "\n"
        return Response(text, headers={"Content-Type": CONTENT_TYPE})
