"""The base of every provider behind an HTTP API: address, keys, request, prices, rate limits."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeVar

from groundwire.deadline import Deadline
from groundwire.errors import ConfigurationError, GroundwireError, ProviderError
from groundwire.models import Applied, RateWindow, Results
from groundwire.providers.base import Options, ProviderContext
from groundwire.providers.key_rotation import Keys
from groundwire.providers.prices import Prices
from groundwire.transport import Reply, Transport

__all__ = ["ApiOptions", "ApiProvider", "Mapped", "rate_windows"]

_T = TypeVar("_T")

_PAGE_TOKENS = 20_000  # of a long page, where a service counts them
_TIMEOUT = 10.0  # seconds, when nobody gives a deadline


class ApiOptions(Options):
    """`[providers.NAME]` of a service behind an HTTP API."""

    base_url: str = ""
    """Another address of the service, such as a gateway of your own; it may be private."""


@dataclass(slots=True)
class Mapped:
    """A query in a service's own terms."""

    values: dict[str, Any]
    """The parameters or the body."""
    applied: dict[str, Applied] = field(default_factory=dict)
    """What was done about filters, by their names, where it differs from the provider's capabilities."""
    warnings: list[str] = field(default_factory=list)
    """What the reader should know: words cut, domains left out."""


class ApiProvider:
    """A service behind an HTTP API. A subclass says where it is, how the key goes, and maps queries and answers.

    Args:
        transport: The HTTP client.
        keys: The keys in the order in which they are used.
        base_url: The service's address; by default its public one.
        prices: What its calls cost.
        name: The name it goes by.
    """

    service: ClassVar[str]
    """The public address of the service."""
    key_variables: ClassVar[tuple[str, ...]] = ()
    """The environment variables under which a key may be kept, the usual one first."""
    key_page: ClassVar[str] = ""
    """The page of the service where a key is had."""
    search_credits: ClassVar[int] = 1
    """The credits that one search usually costs, at a service whose prices are those of credits."""
    key_header: ClassVar[str] = "Authorization"
    """The header in which a key goes: alone, except that Authorization has the word Bearer before it."""
    key_needed: ClassVar[bool] = True
    """Whether it does nothing without a key."""
    tells_rates: ClassVar[bool] = False
    """Whether every answer says how fast it may be asked, so that many calls at once wait for the first answer."""
    Options: ClassVar[type[ApiOptions]] = ApiOptions
    """The model of its own settings."""

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
        self._keys = keys or Keys(name)
        self._base = (base_url or self.service).rstrip("/")
        self._prices = prices or Prices()
        self._options = options or self.Options()

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Make the provider from its options and keys.

        Raises:
            MissingKey: there is no key and it needs one. ConfigurationError: an option is wrong.
        """
        options = context.options(cls.Options)
        keys = context.keys(*cls.key_variables, needed=cls.key_needed)
        transport = context.transports.api
        if options.base_url:
            try:
                transport = context.transports.operator(options.base_url)
            except GroundwireError as error:
                where = f"providers.{context.name}.base_url"
                raise ConfigurationError(f"{where} = {options.base_url!r}: {error}") from error
        return cls(
            transport,
            keys=Keys(context.name, keys),
            base_url=options.base_url,
            prices=context.prices(),
            name=context.name,
            options=options,
        )

    @property
    def delay(self) -> float:
        """Seconds between two requests to the service."""
        return self._options.delay

    @property
    def account(self) -> str:
        """What tells this address and these keys from others: what the service says is said to whoever uses them."""
        return self._keys.digest(self._base)

    @property
    def price_usd(self) -> float:
        """What one search usually costs, in US dollars; nothing for a service that is used without a key."""
        free = not len(self._keys) and not self.key_needed
        return 0.0 if free else self._prices.cost("request") or self._prices.cost("credit", self.search_credits)

    @property
    def page_price_usd(self) -> float:
        """What reading one page costs at most, as a rule, in US dollars; see `price_usd`."""
        if not len(self._keys) and not self.key_needed:
            return 0.0
        prices = self._prices
        return prices.cost("page") or prices.cost("credit") or prices.cost("token", _PAGE_TOKENS)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request: how the service wants its key, and what else it wants."""
        scheme = "Bearer " if self.key_header == "Authorization" else ""
        return {"Accept": "application/json"} | ({self.key_header: f"{scheme}{key}"} if key else {})

    async def ask(
        self,
        method: Literal["GET", "POST"],
        path: str,
        read: Callable[[Reply], _T],
        *,
        deadline: Deadline | None,
        params: Mapping[str, str] | None = None,
        json_body: object = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = _TIMEOUT,
    ) -> _T:
        """Make a request, with the next key if one gives out, and read the answer.

        Args:
            method: GET or POST.
            path: What comes behind the service's address.
            read: Reads the answer, or raises the error that it stands for.
            deadline: When the answer must be here.
            params: Query parameters.
            json_body: A value to send as JSON.
            form: Fields to send as a form.
            headers: More headers.
            timeout: Seconds for the request at most.

        Raises:
            ProviderError: one of its classes.
        """
        limited = (deadline or Deadline.after(timeout)).capped(timeout)

        async def once(key: str | None) -> _T:
            reply = await self._transport.call(
                self.name,
                method,
                self._base + path,
                deadline=limited,
                params=params,
                headers={**self.headers(key), **(headers or {})},
                json_body=json_body,
                form=form,
            )
            windows = rate_windows(reply.headers)
            try:
                answer = read(reply)
            except ProviderError as error:
                error.windows = error.windows or windows
                raise
            if windows and isinstance(answer, Results) and not answer.windows:
                return replace(answer, windows=windows)
            return answer

        return await self._keys.use(once)

    def finished(self, found: Results, mapped: Mapped, cost_usd: float | None = None) -> Results:
        """Return results with what is known about the request: filters, warnings, cost (by default one `request`)."""
        return replace(
            found,
            applied={**found.applied, **mapped.applied},
            warnings=(*mapped.warnings, *found.warnings),
            cost_usd=found.cost_usd or (self._prices.cost() if cost_usd is None else cost_usd),
        )


_MAX_SECONDS = 366 * 86_400.0  # seconds
_EPOCH = 1e9  # a reset as large as that is a moment since 1970; larger than _MILLISECONDS, one in milliseconds
_MILLISECONDS = 1e11
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")
_MAX_WINDOWS = 8  # windows


def rate_windows(headers: Mapping[str, str], clock: Callable[[], float] = time.time) -> tuple[RateWindow, ...]:
    """Return the windows that the headers speak of, in their order; none when there are no such headers.

    Args:
        headers: The headers of an answer, whatever the case of their names.
        clock: The time in seconds since the epoch, for services that say when instead of how long.
    """
    limits, left, resets, lengths = (
        _members(headers, kind, pattern)
        for kind, pattern in (("Limit", ""), ("Remaining", ""), ("Reset", ""), ("Policy", r";\s*w\s*=\s*"))
    )
    windows = []
    for number in range(min(_MAX_WINDOWS, max(len(limits), len(left)))):
        limit, remaining = _at(limits, number), _at(left, number)
        windows.append(
            RateWindow(
                limit=None if limit is None else int(limit),
                seconds=_seconds(_at(lengths, number)),
                remaining=None if remaining is None else int(remaining),
                reset=_seconds(_from_now(_at(resets, number), clock)),
            )
        )
    return tuple(window for window in windows if window.limit is not None or window.remaining is not None)


def _members(headers: Mapping[str, str], kind: str, before: str) -> list[float | None]:
    text = headers.get(f"X-RateLimit-{kind}") or headers.get(f"RateLimit-{kind}") or ""
    members: list[float | None] = []
    for part in text.split(",") if text else ():
        start = re.search(before, part) if before else None
        found = None if before and not start else _NUMBER.fullmatch(part[start.end() if start else 0 :].strip())
        members.append(float(found[0]) if found else None)
    return members


def _at(members: list[float | None], number: int) -> float | None:
    return members[number] if number < len(members) else None


def _from_now(reset: float | None, clock: Callable[[], float]) -> float | None:
    if reset is None or reset < _EPOCH:
        return reset
    return max(0.0, (reset / 1_000 if reset >= _MILLISECONDS else reset) - clock())


def _seconds(value: float | None) -> float | None:
    return None if value is None else min(value, _MAX_SECONDS)
