"""The base of the service emulators: routes, keys, parameters and error formats as data, and page lookup."""

from __future__ import annotations

import re
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from multidict import CIMultiDict, CIMultiDictProxy

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import EmulatedServer
from groundwire.testing.site import Site, midnight

Parameter = Callable[[Any], str]
"""Validates the value of a parameter, None if missing; returns the problem, or an empty string."""


@dataclass(frozen=True, slots=True)
class Visited:
    """A visited page."""

    status: int
    """The HTTP status of its site."""
    title: str
    """Its title."""
    markdown: str
    """Its readable content as Markdown; empty if there is none."""
    published: date | None
    """When it was published."""
    content_type: str
    """The Content-Type that its site sends."""


def site_at(library: Library, origin: str) -> Site | None:
    """Return the site of an origin such as `http://docs.test:41233`, by address or by name, or None."""
    return next((site for site in library.sites if origin in (site.url, site.named_url)), None)


def visit(library: Library, url: str) -> Visited | None:
    """Return the document at a URL, or None if no site of the world has that host and port.

    Args:
        library: Whose sites are visited; the world has to run.
        url: The address, by number or by name.
    """
    parts = urlsplit(url)
    site = site_at(library, f"{parts.scheme}://{parts.netloc}")
    if site is None:
        return None
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = CIMultiDictProxy(CIMultiDict({"Host": parts.netloc, "User-Agent": "a reader"}))
    request = Recorded(
        method="GET",
        path=parts.path or "/",
        target=target,
        query={},
        headers=headers,
        body=b"",
        at=time.monotonic(),
    )
    reply = site.handle(request)
    page = next((page for page in site.contents if page.path == target), None)
    text = page.text if page and reply.status == 200 else ""
    return Visited(
        status=reply.status,
        title=page.title if page else "",
        markdown=f"# {page.title}\n\n{text}" if page and text else "",
        published=site.published(page) if page else None,
        content_type=reply.content_type or "",
    )


_SITE = re.compile(r"(-?)site:([^\s()]+)", re.IGNORECASE)


def split_sites(query: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the text of a query, the hosts of its `site:` operators, and those of its `-site:` operators."""
    sites = [(sign, host.lower()) for sign, host in _SITE.findall(query)]
    words = re.sub(r"\b(?:OR|AND|NOT)\b|[()]", " ", _SITE.sub(" ", query))
    return (
        " ".join(words.split()),
        tuple(host for sign, host in sites if not sign),
        tuple(host for sign, host in sites if sign),
    )


def words(most: int = 100_000) -> Parameter:
    """A required text of limited length."""
    problem = f"is wrong. Words are needed, 1 to {most} characters"
    return lambda value: "" if isinstance(value, str) and value.strip() and len(value) <= most else problem


def number(low: int, high: int = 10**9) -> Parameter:
    """An integer within bounds, in JSON or as text."""

    def check(value: Any) -> str:
        whole = int(value) if isinstance(value, (int, str)) and str(value).isdecimal() else None
        return "" if value is None or (whole is not None and low <= whole <= high) else f"must be {low} to {high}"

    return check


def choice(*values: object) -> Parameter:
    """One of several values."""
    return lambda value: "" if value is None or value in values else f"must be one of {', '.join(map(str, values))}"


def boolean(value: Any) -> str:
    """True or false."""
    return "" if value is None or isinstance(value, bool) else "must be true or false"


def pattern(regex: str) -> Parameter:
    """Text that fully matches a regular expression."""
    return lambda value: (
        "" if value is None or (isinstance(value, str) and re.fullmatch(regex, value)) else f"must match {regex}"
    )


def domains(most: int) -> Parameter:
    """A list of domains of limited length."""
    return lambda value: (
        "" if value is None or (isinstance(value, list) and len(value) <= most) else f"must be at most {most} domains"
    )


def addresses(most: int) -> Parameter:
    """A URL, or a list of limited length."""

    def check(value: Any) -> str:
        urls = [value] if isinstance(value, str) else value
        good = isinstance(urls, list) and all(isinstance(url, str) and "://" in url for url in urls)
        return "" if good and 1 <= len(urls) <= most else f"must be 1 to {most} addresses"

    return check


def nothing(value: Any) -> str:
    """A parameter that a route does not have."""
    return "" if value is None else "is not known here"


def iso_day(value: Any) -> str:
    """A date or a time in ISO 8601."""
    try:
        day(value or "2000-01-01")
    except (TypeError, ValueError):
        return "must be a day of ISO 8601"
    return ""


def day(value: str) -> date:
    """Return the day of a text in ISO 8601."""
    return date.fromisoformat(value[:10])


def moment(hit: IndexHit) -> str:
    """Return when a page was published in ISO 8601, without a time zone."""
    return midnight(hit.published).replace(tzinfo=None).isoformat()


_GOOGLE_DAYS: Final[Mapping[str, int]] = {"qdr:h": 1, "qdr:d": 1, "qdr:w": 7, "qdr:m": 31, "qdr:y": 365}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFields:
    """A service's names of the search parameters; dots lead into objects."""

    query: str = "query"
    limit: str = "max_results"
    usual_limit: int = 10
    allowed: str = ""
    blocked: str = ""
    operators: bool = False
    """Whether `site:` works within the query."""
    within: str = ""
    """A time range that ends today."""
    days: Mapping[str, int] = field(default_factory=dict)
    """The values of `within` in days."""
    first: str = ""
    last: str = ""
    read_day: Callable[[str], date | None] = day
    """Reads the values of `first` and `last`."""
    tbs: str = ""
    """Google's parameter for time: `qdr:w`, or `cdr:1` with days."""


@dataclass(frozen=True, slots=True)
class EmulatedRefusal:
    """A kind of error response of a service."""

    status: int
    code: str | int = ""
    message: str = ""
    """Its message; empty if that depends on the request."""
    wait: str = ""
    """The value of Retry-After, empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSpec:
    """The specification of a service."""

    name: str
    """Its name in the world."""
    routes: Mapping[str, str]
    """The method that answers, by HTTP method and path: `{"POST /search": "search"}`."""
    parameters: Mapping[str, Mapping[str, Parameter]]
    """What a route takes, by the name of its method: parameters, with dots into objects, and what they may be."""
    refusals: Mapping[str, EmulatedRefusal]
    """How it refuses, where that is not as usual: an unknown `route`, an unknown `key`, `fast` requests, an account
    without `credit`, a `body` that is not a JSON object, an `invalid` parameter, and what only this service refuses."""
    fields: SearchFields = SearchFields()
    """What it calls the parameters of a search."""
    key_header: str = "Authorization"
    """Where a key goes: alone, except that Authorization has the word Bearer before it."""


_USUAL: Final[Mapping[str, EmulatedRefusal]] = {
    "route": EmulatedRefusal(404, message="There is no such address."),
    "key": EmulatedRefusal(401, message="This key is not known."),
    "credit": EmulatedRefusal(402, message="This account has no credit left."),
    "fast": EmulatedRefusal(429, message="Too many requests."),
    "body": EmulatedRefusal(400, message="The body is not a JSON object."),
    "invalid": EmulatedRefusal(400),
}


class ApiEmulator(EmulatedServer):
    """An emulator of a real API; set its attributes to make it reject requests.

    A subclass says its routes, parameters and refusals, the shape of an error, and maps pages that were found to rows.

    Args:
        library: What it searches, and whose pages it reads.

    Attributes:
        keys: The keys it accepts.
        credits_left: How many more calls a key can pay for; a key that is not here has no bound.
        used_up: Keys that can pay for nothing.
        rate_limited: Whether there were too many requests.
        retry_after: While it is set, there were too many requests; the value of Retry-After, empty for none.
        request: The request that is being answered.
    """

    spec: ClassVar[ApiSpec]
    """The facts of the service."""

    def __init__(self, library: Library) -> None:
        super().__init__(self.spec.name)
        self.library = library
        self.keys: set[str] = {"test-key"}
        self.credits_left: dict[str, int] = {}
        self.used_up: set[str] = set()
        self.rate_limited = False
        self.retry_after: str | None = None
        self.request: Recorded

    @abstractmethod
    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's format.

        Args:
            refusal: Which one.
            message: What it says.
            parameter: The parameter that is wrong, if one is.
        """

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the emulated response."""
        self.request = request  # one at a time, as this runs in the server's thread
        route = self.route(request)
        if route is None:
            return self.refuse("route")
        key = self.key(request)
        if not self.accepts(request, key):
            return self.refuse("key")
        if (refused := self.refuses(request, key)) is not None:
            return refused
        if self.rate_limited or self.retry_after is not None:
            refused = self.refuse("fast")
            return replace(refused, headers={"Retry-After": self.retry_after}) if self.retry_after else refused
        if key in self.used_up or self.credits_left.get(key, 1) <= 0:
            return self.refuse("credit")
        body = self.body(request)
        if body is None:
            return self.refuse("body")
        for parameter, check in self.spec.parameters[route].items():
            if problem := check(at(body, parameter)):
                return self.refuse("invalid", f"{parameter} {problem}.", parameter)
        if problem := self.contradiction(body):
            return self.refuse("contradiction" if "contradiction" in self.spec.refusals else "invalid", problem)
        response: EmulatedResponse = getattr(self, route)(body)
        if key in self.credits_left:
            self.credits_left[key] -= self.price(response)
        return response

    def refuse(self, reason: str, message: str = "", parameter: str = "") -> EmulatedResponse:
        """Return an error response; its own message takes precedence over the given one."""
        refusal = self.spec.refusals.get(reason) or _USUAL[reason]
        response = self.error(refusal, refusal.message or message, parameter)
        return replace(response, headers={"Retry-After": refusal.wait}) if refusal.wait else response

    def route(self, request: Recorded) -> str | None:
        """Return the name of the method for a request, None for an unknown path."""
        return self.spec.routes.get(f"{request.method} {request.path}")

    def key(self, request: Recorded) -> str:
        """Return the key of a request."""
        return request.headers.get(self.spec.key_header, "").removeprefix("Bearer ")

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether a key is known."""
        return key in self.keys

    def refuses(self, request: Recorded, key: str) -> EmulatedResponse | None:
        """Return a service-specific error response, or None."""
        return None

    def body(self, request: Recorded) -> dict[str, Any] | None:
        """Return the parameters of a GET or the JSON object of a POST, None when it is not one."""
        if request.method == "GET":
            return dict(request.params)
        try:
            body = request.json()
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    def contradiction(self, body: dict[str, Any]) -> str:
        """Return the problem of individually valid parameters, or an empty string."""
        return ""

    def price(self, response: EmulatedResponse) -> int:
        """Return the credits of a call."""
        return int(response.status == 200)

    def found(self, body: dict[str, Any]) -> list[IndexHit]:
        """Return all pages that match a search, best first."""
        names = self.spec.fields
        text, hosts, not_hosts = str(at(body, names.query)), at(body, names.allowed), at(body, names.blocked)
        wanted, unwanted = tuple(hosts or ()), tuple(not_hosts or ())
        if names.operators:
            text, only, never = split_sites(text)
            wanted, unwanted = wanted or only, unwanted or never
        tbs = str(at(body, names.tbs) or "")
        days = _GOOGLE_DAYS.get(tbs) if names.tbs else names.days.get(str(at(body, names.within)))
        hits = self.library.search(text, within_days=days, hosts=wanted, not_hosts=unwanted)
        edges = [names.read_day(value) if (value := at(body, name)) else None for name in (names.first, names.last)]
        first, last = (_google_day(tbs, name) for name in ("cd_min", "cd_max")) if names.tbs else edges
        return [hit for hit in hits if (first or date.min) <= hit.published <= (last or date.max)]

    def limit(self, body: dict[str, Any]) -> int:
        """Return the number of requested results."""
        value = at(body, self.spec.fields.limit)
        return self.spec.fields.usual_limit if value is None else int(value)

    def age(self, hit: IndexHit) -> int:
        """Return how old a page is, in days."""
        return (self.library.today - hit.published).days


def american_day(text: str) -> date | None:
    """Parse a date such as `1/31/2026`, or return None."""
    match = re.fullmatch(r"(\d{1,2})/(\d{1,2})/(\d{4})", text)
    return date(int(match[3]), int(match[1]), int(match[2])) if match else None


def _google_day(tbs: str, name: str) -> date | None:
    """Return a date in Google's parameter `tbs`: `cd_min` or `cd_max`."""
    match = re.search(rf"{name}:([\d/]+)", tbs)
    return american_day(match[1]) if match else None


def at(body: Any, path: str) -> Any:
    """Return what a body has at a path with dots, or None."""
    for name in path.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body
