"""The parts of a site reader: routes, requests, and the resulting page. Nothing here connects.

A site's file has its facts as data and one function for each kind of page. Such a function is a generator: it yields
the requests that it needs, is sent their answers, and returns the page. So it can be tested without a network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import parse_qsl, quote, unquote

from groundwire.providers.http_parsing import objects, value_at
from groundwire.reading.sites.parts import SitePart
from groundwire.safety.urls import WebUrl

JSON: Final = "application/json"


class FormatChanged(Exception):
    """A response is not in the expected format; the message says what is missing."""


class NotAvailable(Exception):
    """The API has no such page, or refuses it; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRequest:
    """One request, always without credentials."""

    url: str
    """The URL, built from the site's URL and quoted parts of the page's URL."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Query parameters."""
    accept: str = JSON
    """The requested media type."""
    kind: Literal["json", "text"] = "json"
    """What the answer is sent back as: the parsed JSON, or decoded text."""
    optional: str = ""
    """What the page lacks without the answer, such as `comments`: then None is sent back when there is none, and it is
    said. Empty when the page cannot do without."""
    api: bool = True
    """Whether it is a documented API. What is not is fetched as any page is, by the rules of its robots.txt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteContent:
    """A page, before it is Markdown."""

    title: str
    """Its title, as plain text."""
    parts: Sequence[SitePart] = ()
    """Its content, in order."""
    file: str = ""
    """The URL of a file to read instead of parts, by its type."""
    url: str = ""
    """Its canonical URL; empty means the requested one."""
    published: str = ""
    """When it was published, in any usual form."""
    modified: str = ""
    """When it was last changed, in any usual form."""
    language: str = ""
    """Its language, when that is known."""
    missing: Sequence[str] = ()
    """What was omitted, one phrase each."""
    warnings: Sequence[str] = ()
    """Other notes for the reader."""


Steps: TypeAlias = Generator[tuple[SiteRequest, ...], tuple[Any, ...], SiteContent | None]
"""Yields requests that can be sent at the same time, is sent their answers in the same order, and returns the page.

Returns None without a request for an address that is not of its kind after all.
"""


@dataclass(frozen=True, slots=True)
class PageAddress:
    """The address of a page of a site, taken apart."""

    url: WebUrl
    """The whole address."""
    pieces: Mapping[str, str]
    """The named pieces of the path, percent-encoded as they came."""

    def __getitem__(self, name: str) -> str:
        """Return a piece, decoded; empty when the path has none of that name."""
        return unquote(self.pieces.get(name) or "")

    def quoted(self, name: str) -> str:
        """Return a piece so that it is one segment of a path, or one value."""
        return quote(self[name], safe="")

    @property
    def path(self) -> str:
        """The path, percent-encoded."""
        return self.url.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the query, decoded; the first of each name."""
        return dict(reversed(parse_qsl(self.url.target.partition("?")[2])))


Visit: TypeAlias = tuple[Steps, tuple[SiteRequest, ...]]
"""The steps of one page, and the first requests."""
Handler: TypeAlias = Callable[[PageAddress], Steps]
"""Makes the steps for an address."""


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of page."""

    pattern: re.Pattern[str]
    """Matches its paths as a whole."""
    handler: Handler
    """Reads it."""
    host: str = ""
    """The host that it is for, without `www.`; empty for every host that no route of the site names."""


_NAMES: Final = re.compile(r"\{(\w+)\}")


def route(template: str, handler: Handler, **patterns: str) -> Route:
    """Return a route.

    Args:
        template: The path with names in braces, each of which is one segment: `/{owner}/{repo}`. It may begin with
            the only host that it is for: `youtu.be/{id}`.
        handler: Reads the page.
        patterns: Regular expressions for names that are not just one segment.
    """
    host, slash, path = template.partition("/")
    parts = _NAMES.split(slash + path)
    regex = "".join(
        f"(?P<{part}>{patterns.get(part, '[^/]{1,200}')})" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )
    return Route(re.compile(f"{regex}/?"), handler, host)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSpec:
    """A site, or many that run the same software."""

    name: str
    """Its name in settings, pages and attempts."""
    hosts: tuple[str, ...]
    """Its hosts; `*.` before one means its subdomains."""
    requests: int
    """So many requests may be made to its API at once without a key, and no more in the interval."""
    seconds: float
    """The interval, in seconds."""
    routes: tuple[Route, ...]
    """Its kinds of pages; the first that matches counts."""
    params: tuple[str, ...] = ()
    """The parameters of a query that say which page it is. All others only change how the web page shows it."""
    view: str = ""
    """A regular expression for the end of a path that only says how the web page shows what is before it."""

    def visit(self, url: WebUrl) -> Visit | None:
        """Return how a page is read; None when it is of no kind that is known here."""
        path, host = url.target.partition("?")[0], url.host.removeprefix("www.")
        of_host = [route for route in self.routes if route.host == host]
        for route in of_host or [route for route in self.routes if not route.host]:
            if match := route.pattern.fullmatch(path):
                if any(unquote(piece or "") in {".", ".."} for piece in match.groupdict().values()):
                    return None
                steps = route.handler(PageAddress(url, match.groupdict()))
                first = next(steps, None)
                return None if first is None else (steps, first)
        return None

    def canonical(self, url: WebUrl) -> WebUrl:
        """Return the address without views, which are nothing to the API; robots.txt is asked about this one."""
        path, _, query = url.target.partition("?")
        path = re.sub(f"{self.view}$", "", path) if self.view else path
        pairs = [pair for pair in query.split("&") if pair.partition("=")[0] in self.params]
        return url._replace(target=f"{path}?{'&'.join(pairs)}" if pairs else path, fragment="")


_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


def need(data: object, path: str = "", *, kind: type | tuple[type, ...] = str) -> Any:
    """Return a value that an answer must have.

    Args:
        data: The answer.
        path: The path to the value, see `value_at`; empty for the answer itself.
        kind: What it must be.

    Raises:
        FormatChanged: it is not there, or something else.
    """
    value = _at(data, path)
    if value is None:
        raise FormatChanged(f"{path} is missing")
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise FormatChanged(f"{path or 'the answer'} is a {type(value).__name__}")
    return value


def _at(data: object, path: str) -> object:
    return value_at(data, path) if path else data


def text(data: object, path: str = "") -> str:
    """Return a text or a number that an answer may have, as one line; empty when it does not."""
    value = _at(data, path)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return " ".join(str(value)[:10_000].split())


def day(value: object) -> str:
    """Return the day of a moment, in ISO 8601 or in seconds since the epoch, as ISO 8601; empty when it is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e11:
        return datetime.fromtimestamp(value, UTC).date().isoformat()
    return value[:10] if isinstance(value, str) and _DAY.match(value) else ""


def rows(data: object, path: str = "") -> list[dict[str, Any]]:
    """Return the objects of a list that an answer must have.

    Raises:
        FormatChanged: there is no such list.
    """
    return list(objects(need(data, path, kind=list)))


def rows_or_none(data: object, path: str) -> list[dict[str, Any]]:
    """Return the objects of a list that an answer may have; none when it has no such list."""
    return list(objects(value_at(data, path)))
