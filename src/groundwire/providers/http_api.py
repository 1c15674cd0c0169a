"""Base classes of providers behind an HTTP API: URL, keys, request, prices, rate limits.

A service's module has its facts, two mappings and an error table; `search` and `read_url` are implemented here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field

from groundwire.deadline import Deadline
from groundwire.errors import (
    ConfigurationError,
    GroundwireError,
    NotConfigured,
    ProviderError,
    ProviderTimeout,
    UnexpectedResponse,
)
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import Options, Prices, ProviderContext
from groundwire.providers.http_parsing import (
    ErrorRule,
    json_answer,
    json_or_empty,
    listed_warnings,
    number_or_none,
    objects,
    results,
    value_at,
)
from groundwire.providers.key_rotation import Keys, digest, rate_windows
from groundwire.providers.query_mapping import Mapped, base_of
from groundwire.transport import Response, Transport

if TYPE_CHECKING:
    from groundwire.models import ReadResult

__all__ = ["ApiOptions", "ApiProvider", "Mapped", "ReadApiProvider", "SearchApiProvider"]

_T = TypeVar("_T")
_Method = Literal["GET", "POST"]

_PAGE_TOKENS = 20_000  # for a long page, if a service bills by token
_RATES = tuple(f"{prefix}RateLimit-{kind}" for prefix in ("X-", "") for kind in ("Limit", "Remaining"))
_TIMEOUT = 10.0  # seconds of a request that was given no deadline


class ApiOptions(Options):
    """`[providers.NAME]` of a service behind an HTTP API."""

    base_url: str = ""
    """Another base URL, such as your own gateway; it may be private."""
    daily_searches: int = Field(default=0, ge=0)
    """Maximum searches a day, counted by all processes that share the store, until midnight UTC; 0 means no limit."""


class ApiProvider:
    """A service behind an HTTP API; subclass `SearchApiProvider`, `ReadApiProvider` or both.

    Args:
        transport: The HTTP client.
        keys: The keys, in order of use.
        base_url: The service's URL; by default its public one.
        prices: The prices of its calls.
        name: Its name.
        options: Its settings; by default the defaults.
    """

    service: ClassVar[str] = ""
    """The public URL of the service; empty for a self-hosted one, which needs a `base_url`."""
    key_variables: ClassVar[tuple[str, ...]] = ()
    """The environment variables that a key may be stored under, the usual one first."""
    key_page: ClassVar[str] = ""
    """The page of the service where keys are created."""
    mode_option: ClassVar[str] = ""
    """The option whose values may have prices of their own; a search in a mode without one costs a `request`."""
    search_credits: ClassVar[int] = 1
    """The credits that one search usually costs, for a service that bills in credits."""
    key_header: ClassVar[str] = "Authorization"
    """The header for the key: the plain key, except that Authorization is prefixed with Bearer."""
    key_needed: ClassVar[bool] = True
    """Whether it requires a key, if there are variables for one."""
    keyless: ClassVar[bool] = False
    """Whether it is a public service that may be asked without a key; `search.keyless` turns that off."""
    terms: ClassVar[str] = ""
    """The terms of use of a keyless service."""
    tells_rates: ClassVar[bool] = False
    """Whether every response states the rate limits, so that concurrent calls wait for the first response."""
    errors: ClassVar[tuple[ErrorRule, ...]] = ()
    """The service's own errors; the others follow from the HTTP status."""
    Options: ClassVar[type[ApiOptions]] = ApiOptions
    """The model of its settings; a subclass with another one also declares `_options`."""
    _options: ApiOptions

    def __init__(
        self,
        transport: Transport,
        *,
        keys: Keys | None = None,
        base_url: str = "",
        prices: Prices | None = None,
        name: str,
        options: ApiOptions | None = None,
    ) -> None:
        self.name = name
        self._transport = transport
        self._keys = keys or None
        self._base = base_of(base_url or self.service, getattr(self, "search_path", ""))
        self._prices = prices or Prices()
        self._options = options or self.Options()
        self.daily_searches: int = self._options.daily_searches
        """Maximum searches a day; 0 means no limit."""
        self._price_noted = False  # the age of the price list is said once
        self.today: date | None = None
        """The day on which time ranges end; None for the current one, in UTC."""

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Create the provider from its options and keys.

        Raises:
            MissingKey: There is no key and one is required. NotConfigured: The service has no URL, or is turned off.
            ConfigurationError: An option is invalid.
        """
        options = context.options(cls.Options)
        keys = context.keys(*cls.key_variables, needed=cls.key_needed and bool(cls.key_variables))
        if cls.keyless and not keys and not context.settings.search.keyless:
            raise NotConfigured(context.name, "search.keyless is false, so it is not used")
        transport = context.transports.service(cls.service)
        where = f"providers.{context.name}.base_url"
        if options.base_url:
            try:
                base_of(options.base_url, "")
                transport = context.transports.operator(options.base_url)
            except GroundwireError as error:
                raise ConfigurationError(f"{where} = {options.base_url!r}: {error}") from error
        elif not cls.service:
            raise NotConfigured(context.name, f"set {where} to the address of the service")
        return cls(
            transport,
            keys=Keys(context.name, keys),
            base_url=options.base_url,
            prices=context.prices(),
            name=context.name,
            options=options,
        )

    @property
    def has_key(self) -> bool:
        """Whether it has a key."""
        return self._keys is not None

    @property
    def delay(self) -> float:
        """Seconds between two requests to the service."""
        return self._options.delay

    @cached_property
    def account(self) -> str:
        """A digest of URL and keys: rate limits and quotas apply to everyone who shares both."""
        return digest(self._base) if self._keys is None else self._keys.digest(self._base)

    @cached_property
    def price_usd(self) -> float:
        """The usual price of one search, in US dollars; zero for a service used without a key."""
        cost, mode = self._prices.cost, str(getattr(self._options, self.mode_option, "request"))
        return 0.0 if self._free else cost(mode) or cost() or cost("credit", self.search_credits)

    @property
    def page_price_usd(self) -> float:
        """The usual maximum price of reading one page, in US dollars; see `price_usd`."""
        cost = self._prices.cost
        return 0.0 if self._free else cost("page") or cost("credit") or cost("token", _PAGE_TOKENS)

    @property
    def _free(self) -> bool:
        return self._keys is None and not (self.key_needed and self.key_variables)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request: the key in the service's format, and whatever else it requires."""
        headers = {"Accept": "application/json"}
        if key and self.key_variables:
            headers[self.key_header] = f"Bearer {key}" if self.key_header == "Authorization" else key
        return headers

    async def ask(
        self,
        mapped: Mapped,
        parse: Callable[[Response], _T],
        *,
        deadline: Deadline | None,
        method: _Method = "GET",
        path: str = "",
        timeout: float | None = None,
    ) -> _T:
        """Make a request, with the next key if one is exhausted or rejected, and parse the response.

        Args:
            mapped: The request.
            parse: Parses the response, or raises the error that it represents.
            deadline: The deadline of the response.
            method: GET or POST, unless the request has its own.
            path: The path relative to the service's URL, unless the request has its own.
            timeout: The most seconds for the request, whatever is left until the deadline.

        Raises:
            ProviderError: one of its classes.
        """
        limited = deadline or Deadline.after(timeout or _TIMEOUT)
        if timeout is not None:
            limited = limited.capped(timeout)
        method, base = mapped.method or method, self._base
        for variable, value in mapped.address.items():
            base = base.replace(f"{{{variable}}}", value)

        send = partial(
            self._transport.call,
            self.name,
            method,
            base + (path if mapped.path is None else mapped.path),
            deadline=limited,
            params=mapped.values if method == "GET" else None,
            json_body=mapped.values if method == "POST" else None,
        )

        async def once(key: str | None) -> _T:
            reply = await send(headers={**self.headers(key), **mapped.headers})
            windows = rate_windows(reply.headers) if any(map(reply.headers.__contains__, _RATES)) else ()
            try:
                answer = parse(reply)
            except ProviderError as error:
                error.windows = error.windows or windows
                raise
            if windows and isinstance(answer, Results) and not answer.windows:
                return replace(answer, windows=windows)
            return answer

        try:
            return await (once(None) if self._keys is None else self._keys.use(once))
        except ProviderTimeout as error:
            if error.status is not None or timeout is None or deadline is None or deadline.passed:
                raise
            raise ProviderTimeout(self.name, f"no answer in {timeout:g} s, its limit") from error

    def answer(self, reply: Response) -> dict[str, Any]:
        """Return the JSON object of a successful response.

        Raises:
            ProviderError: the response is a failure, see `errors`, or not JSON.
        """
        return json_answer(reply, self.name, self.errors, self.key_variables)

    def rows(
        self, reply: Response, items: object, row: Callable[[dict[str, Any], str], SearchResult | None], *notes: str
    ) -> Results:
        """Return the rows of a successful response; see `http_parsing.results`.

        Args:
            reply: The response.
            items: The value where the list of rows belongs.
            row: Reads one object, given the provider's name; None if it has no URL.
            notes: The names of lists in the response whose messages are warnings.
        """
        parsed = results(reply, self.name, items, [row(item, self.name) for item in objects(items)])
        return replace(parsed, warnings=listed_warnings(reply, self.name, notes)) if notes else parsed

    def finish(self, results: Results, mapped: Mapped, cost_usd: float | None = None) -> Results:
        """Add what is known about the request to its results: filters, warnings, cost (by default one `request`)."""
        cost = results.cost_usd or (self._prices.cost() if cost_usd is None else cost_usd)
        old = self._prices.age_note(self.today or datetime.now(UTC).date()) if cost and not self._price_noted else ""
        self._price_noted = self._price_noted or bool(old)
        return Results(
            results.items,
            results.partial,
            (*mapped.warnings, *results.warnings, *((f"{self.name}: {old}",) if old else ())),
            results.status,
            cost,
            {**results.applied, **mapped.applied},
            results.windows,
        )

    def charge(self, reply: Response, path: str, unit: str, default_units: float = 1) -> float:
        """Return the cost of a response, in US dollars; zero for a service used without a key.

        Args:
            reply: The response.
            path: The path of the number of units in it, such as `usage.credits`; see `value_at`.
            unit: The unit in the price list; `usd` if it is stated in dollars.
            default_units: The units if it is not stated, or negative.
        """
        if self._free:
            return 0.0
        stated = number_or_none(value_at(json_or_empty(reply), path))
        count = default_units if stated is None or stated < 0 else stated
        return count if unit == "usd" else self._prices.cost(unit, count)


class SearchApiProvider(ApiProvider):
    """A search service behind an HTTP API: a `SearchProvider` except for two mappings."""

    search_method: ClassVar[_Method] = "POST"
    """GET, with the query as parameters, or POST, with the query as JSON."""
    search_path: ClassVar[str] = "/search"
    """The path of searches, relative to the service's URL."""
    search_timeout: ClassVar[float | None] = None
    """The most seconds for a search; by default it gets all that is left until its deadline."""

    @abstractmethod
    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""

    @abstractmethod
    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in the response to a request.

        Raises:
            ProviderError: one of its classes, for every failure.
        """

    def search_cost(self, reply: Response, results: Results) -> float:
        """Return the cost of a search, in US dollars; by default `price_usd`."""
        return self.price_usd

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        mapped = self.to_request(query, limit, filters)

        def parse(reply: Response) -> Results:
            parsed = self.to_results(reply, mapped)
            return self.finish(parsed, mapped, self.search_cost(reply, parsed))

        method, path, timeout = self.search_method, self.search_path, self.search_timeout
        try:
            return await self.ask(mapped, parse, method=method, path=path, deadline=deadline, timeout=timeout)
        except ProviderError as error:
            cause = await self.cause(error, deadline)
            if cause is error:
                raise
            raise cause from error

    async def cause(self, error: ProviderError, deadline: Deadline | None) -> ProviderError:
        """Return the error of a failed search; a service may be asked for what its response does not say."""
        return error


class ReadApiProvider(ApiProvider):
    """A reader service behind an HTTP API: a `ReadProvider` except for two mappings."""

    read_path: ClassVar[str] = ""
    """The path of requests for pages, relative to the service's URL."""
    read_timeout: ClassVar[float] = 30.0
    """The timeout of a page in seconds."""

    @abstractmethod
    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request; the deadline is at most `read_timeout` from now."""

    @abstractmethod
    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse the page in a response.

        Raises:
            PageError: the page cannot be read. ProviderError: the service failed.
        """

    def lists(self, reply: Response, *names: str) -> list[list[dict[str, Any]]]:
        """Return the objects in the lists of a successful response; one that is missing is empty.

        Raises:
            ProviderError: the response is a failure, or has none of the lists.
        """
        data = self.answer(reply)
        if not any(isinstance(data.get(name), list) for name in names):
            raise UnexpectedResponse(self.name, "answered with JSON that has no list of results", status=reply.status)
        return [list(objects(data.get(name))) for name in names]

    def page_cost(self, reply: Response) -> float:
        """Return the cost of a page, in US dollars; by default one `page` of the price list."""
        return self._prices.cost("page")

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`."""
        limited = (deadline or Deadline.after(self.read_timeout)).capped(self.read_timeout)

        def parse(reply: Response) -> ReadResult:
            page = self.to_page(reply, url)
            return page.model_copy(update={"cost_usd": self.page_cost(reply)})

        mapped, path, timeout = self.to_page_request(url, limited), self.read_path, self.read_timeout
        return await self.ask(mapped, parse, method="POST", path=path, deadline=limited, timeout=timeout)
