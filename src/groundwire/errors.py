"""All exceptions, as one tree with one root.

A class exists where a caller would act differently. Messages say what to do next; none carries a secret.

    GroundwireError
    ├── InvalidRequest                one argument of one call is wrong; names the field, the problem, the fix
    ├── ConfigurationError            wrong or missing settings; raised when a `Web` is made
    │   ├── UnknownProvider           lists the known names
    │   ├── MissingKey                names the variable to set
    │   ├── NotConfigured             a provider that cannot be used yet, and what it needs
    │   └── NativeUnsupported         hosted search is required of a model API that does not support it
    ├── BlockedByPolicy               never retried; says only that it is not allowed
    │   ├── BlockedAddress            the guard refused the URL or where it leads
    │   ├── BlockedByRobots           the site's robots.txt disallows the page
    │   ├── BlockedDomain             the allow and block lists of the settings
    │   ├── BlockedSecret             a secret of this installation would have been sent
    │   ├── BlockedUnknown            only URLs known to the session may be opened
    │   └── PermissionDenied          a model's tool call that a rule or a person rejected
    ├── BudgetExceeded                the session's or the tenant's daily budget is used up
    ├── ProviderError                 provider, outcome, status, retry_after
    │   ├── RateLimited
    │   ├── QuotaExceeded
    │   ├── AuthenticationFailed
    │   ├── RequestRefused            the service rejects the request as invalid
    │   ├── ProviderBlocked           a bot check or an access rule rejects the client
    │   ├── ProviderTimeout
    │   ├── ProviderUnreachable       refused, reset, TLS, DNS
    │   ├── ProviderUnsupported       the service is not configured for the request
    │   ├── ProviderUnavailable       5xx, or a service whose own sources all failed
    │   ├── UnprovenEmpty             no results, and no sign that searching worked
    │   └── UnexpectedResponse        a response in an undocumented format
    ├── PageError                     the page cannot be read
    │   ├── PageNotFound              404, 410
    │   ├── PageRefused               401, 402, 403, 407, 429, 451, 999
    │   │   └── PageBlocked           a bot check, a login, a paywall, a script ... is in front of it
    │   │       └── PageNeedsScripts  there is no content until its scripts have run
    │   ├── PageUnavailable           5xx, refused, reset, TLS
    │   │   ├── HostNotFound          a name that does not resolve
    │   │   └── PagePaced             the site's crawl delay is not over yet
    │   ├── PageTooLarge
    │   ├── PageEmpty                 no body, or nothing readable in it
    │   ├── UnsupportedContent        a type that this reader does not support
    │   └── TooManyRedirects
    ├── DeadlineExceeded              the call's deadline has passed
    ├── AllProvidersFailed            every provider failed; carries the attempts
    └── Closed                        the `Web` was closed before the call
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from groundwire.hints import error_hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from groundwire.models import Attempt, Outcome, RateWindow
else:  # to a type checker a wrong name stays wrong

    def __getattr__(name: str) -> object:
        error = "" if name.startswith("_") else error_hint(name, __all__)
        hint = f"; did you mean {error!r}?" if error else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


__all__ = [
    "AllProvidersFailed", "AuthenticationFailed", "BlockedAddress", "BlockedByPolicy", "BlockedByRobots",
    "BlockedDomain", "BlockedSecret", "BlockedUnknown", "BudgetExceeded", "Closed", "ConfigurationError",
    "DeadlineExceeded", "GroundwireError", "HostNotFound", "InvalidRequest", "MissingKey", "NativeUnsupported",
    "NotConfigured", "PageBlocked", "PageEmpty", "PageError", "PageNeedsScripts", "PageNotFound",
    "PagePaced", "PageRefused", "PageTooLarge", "PageUnavailable", "PermissionDenied", "ProviderBlocked",
    "ProviderError", "ProviderTimeout", "ProviderUnavailable", "ProviderUnreachable", "ProviderUnsupported",
    "QuotaExceeded", "RateLimited", "RequestRefused", "TooManyRedirects", "UnexpectedResponse", "UnknownProvider",
    "UnprovenEmpty", "UnsupportedContent",
]  # fmt: skip


class GroundwireError(Exception):
    """The root of all exceptions of this package."""

    @property
    def summary(self) -> str:
        """What happened and what to do, for people; usually the message."""
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # A pool of processes waits forever for an error that it cannot make again, such as one with several arguments.
        return type(self).__new__, (type(self),), vars(self) | {"args": self.args}


_VERBS = ("is ", "are ", "has ", "have ", "does ", "must ", "names ", "needs ", "cannot ", "belongs ", "asks ")
"""What the problem of an argument begins with where it makes a sentence with the argument's name."""
_NOUNS: Final[Mapping[str, str]] = {
    "url": "The URL",
    **{
        name: f"The {name}"
        for name in ("query", "limit", "language", "region", "timeout", "session", "sources", "key", "name")
    },
}


class InvalidRequest(GroundwireError, ValueError):
    """An argument of a call is invalid.

    Args:
        field: The argument's name, as the caller wrote it.
        problem: What is wrong with the value.
        fix: What to pass instead.
    """

    def __init__(self, field: str, problem: str, fix: str) -> None:
        super().__init__(f"{field}: {problem}. {fix}")
        self.field: str = field
        self.problem: str = problem
        self.fix: str = fix

    @property
    def summary(self) -> str:
        """The same as sentences for a terminal: "The query is empty", not "query: is empty"."""
        if self.problem.startswith("'"):  # with the value, it is a sentence
            return f"{self.problem}. {self.fix}"
        if not self.problem.startswith(_VERBS):
            return str(self)
        name = _NOUNS.get(self.field, self.field)
        return f"{name} {self.problem}. {self.fix}"


class ConfigurationError(GroundwireError, ValueError):
    """The settings are invalid; nothing was sent. Several problems are reported together, one per line.

    Args:
        message: What is wrong and what to set.
        provider: The provider that the settings belong to; empty if there is none.
    """

    def __init__(self, message: str, provider: str = "") -> None:
        super().__init__(message)
        self.provider = provider


class UnknownProvider(ConfigurationError):
    """No installed provider has this name.

    Args:
        name: The requested name.
        known: The installed names, for the message.
    """

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known: tuple[str, ...] = tuple(sorted(known))
        from difflib import get_close_matches  # only a wrong name waits for it

        near = get_close_matches(name.partition(":")[0], self.known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"Unknown provider {name!r}.{hint} Known providers: {', '.join(self.known) or 'none'}.")


class MissingKey(ConfigurationError):
    """A provider needs a key and has none.

    Args:
        provider: The provider's name.
        variable: The environment variable that would hold the key.
    """

    def __init__(self, provider: str, variable: str) -> None:
        self.variable = variable
        set_it = f"set {variable} in the environment or in a .env file, or run groundwire setup"
        super().__init__(f"{provider} needs a key: {set_it}.", provider)


class NotConfigured(ConfigurationError):
    """A provider is not configured yet.

    Args:
        provider: The provider's name.
        needs: What to set, as a sentence's end ("set providers.searxng.base_url ...").
    """

    def __init__(self, provider: str, needs: str) -> None:
        self.needs = needs
        super().__init__(f"{provider} is not configured: {needs}.", provider)


class NativeUnsupported(ConfigurationError):
    """Hosted search is required, and this model API cannot provide it or not with these requirements.

    Args:
        provider: The provider of the model.
        reason: Why not, as a sentence's end.
        fix: What to do instead, as a sentence.
    """

    def __init__(self, provider: str, reason: str, fix: str) -> None:
        super().__init__(f"The search mode is native, but {provider} cannot be used for it: {reason}. {fix}", provider)
        self.reason: str = reason
        self.fix: str = fix


class BlockedByPolicy(GroundwireError):
    """Something is not allowed for any caller. Do not retry."""


class BlockedAddress(BlockedByPolicy):
    """The guard rejected a URL for its form, host name, port or addresses; the message does not reveal addresses."""


class BlockedByRobots(BlockedByPolicy):
    """The site's robots.txt disallows this page (RFC 9309)."""


class BlockedDomain(BlockedByPolicy):
    """The domain lists of the settings forbid this host."""


class BlockedSecret(BlockedByPolicy):
    """A URL or a query contains a secret of this installation, plain or encoded. The message never says which."""


class BlockedUnknown(BlockedByPolicy):
    """Only URLs known to the session may be opened: from the user, from results, from opened pages."""


class PermissionDenied(BlockedByPolicy):
    """A tool call was not allowed: a rule or a person rejected it, or there was no one to ask."""


class BudgetExceeded(GroundwireError):
    """The session's budget or the tenant's daily budget is used up.

    Args:
        used_up: What is used up, as a sentence.
        limit: The maximum number of searches, or of calls per day; 0 if something else is used up.
        spent: How many were made.
        retry_after: Seconds until it resets; None means never by itself.
        resets: How it resets, as sentences.
    """

    def __init__(self, used_up: str, *, limit: int, spent: int, retry_after: float | None = None, resets: str = ""):
        super().__init__(f"{used_up} {resets}".rstrip())
        self.used_up: str = used_up
        self.resets: str = resets
        self.limit: int = limit
        self.spent: int = spent
        self.retry_after: float | None = retry_after


class ProviderError(GroundwireError):
    """A service did not give a usable response.

    Args:
        provider: The provider's name.
        reason: What happened, in a few words, without secrets.
        status: The HTTP status, if any.
        retry_after: Seconds after which the service allows another request, as stated by it.
        fix: What the operator can do about it, if anything.
        windows: The rate limits stated by the service.
    """

    outcome: ClassVar[Outcome] = "unavailable"

    def __init__(
        self,
        provider: str,
        reason: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        fix: str = "",
        windows: Sequence[RateWindow] = (),
    ) -> None:
        super().__init__(f"{provider}: {reason}" + (f". {fix}" if fix else ""))
        self.provider = provider
        self.reason = reason
        self.status: int | None = status
        self.retry_after: float | None = retry_after
        self.fix = fix
        self.windows: tuple[RateWindow, ...] = tuple(windows)


class RateLimited(ProviderError):
    """The rate limit is exceeded for now."""

    outcome: ClassVar[Outcome] = "rate_limited"


class QuotaExceeded(ProviderError):
    """The quota of the plan or account is used up."""

    outcome: ClassVar[Outcome] = "quota"


class AuthenticationFailed(ProviderError):
    """The key is missing, invalid, or lacks the permission."""

    outcome: ClassVar[Outcome] = "auth"


class RequestRefused(ProviderError):
    """The service rejects the request as invalid."""

    outcome: ClassVar[Outcome] = "bad_request"


class ProviderBlocked(ProviderError):
    """A bot check or an access rule of the service blocks the request."""

    outcome: ClassVar[Outcome] = "blocked"


class ProviderTimeout(ProviderError):
    """No response within the time of this attempt."""

    outcome: ClassVar[Outcome] = "timeout"


class ProviderUnreachable(ProviderError):
    """No connection: refused, reset, TLS, or a name that does not resolve."""

    outcome: ClassVar[Outcome] = "network"


class ProviderUnavailable(ProviderError):
    """The service responded that it cannot answer."""


class ProviderUnsupported(ProviderError):
    """The service is not configured for the request."""

    outcome: ClassVar[Outcome] = "unsupported"


class UnprovenEmpty(ProviderError):
    """The service returned no results, which it also does when it blocks a client."""


class UnexpectedResponse(ProviderError):
    """The response does not have the documented format."""

    outcome: ClassVar[Outcome] = "invalid_response"


class PageError(GroundwireError):
    """A page could not be read.

    Args:
        url: The requested URL.
        reason: What happened and what to do next, as sentences.
        status: The page's HTTP status, if any.
        retry_after: Seconds after which the site may be requested again, if known.
    """

    def __init__(self, url: str, reason: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.url: str = url
        self.reason: str = reason
        self.status: int | None = status
        self.retry_after: float | None = retry_after


class PageNotFound(PageError):
    """The page does not exist."""


class PageRefused(PageError):
    """The server denies access to the page."""


class PageBlocked(PageRefused):
    """A bot check, a login, a paywall or scripts block the page; another reader, such as a browser, may succeed."""


class PageNeedsScripts(PageBlocked):
    """The page has no content until its scripts have run; a reader with a browser runs them."""


class PageUnavailable(PageError):
    """The server failed or could not be reached."""


class HostNotFound(PageUnavailable):
    """The page's host has no address, or none that is public."""


class PagePaced(PageUnavailable):
    """No request was sent: the site's crawl delay or the settings require a pause of `retry_after` seconds."""

    retry_after: float


class PageTooLarge(PageError):
    """The page is larger than the limit."""


class PageEmpty(PageError):
    """There is no body, or nothing readable in it."""


class UnsupportedContent(PageError):
    """This reader does not support the content type."""


class TooManyRedirects(PageError):
    """There are too many redirects."""


class DeadlineExceeded(GroundwireError, TimeoutError):
    """The deadline of the whole call has passed; `attempts` has the attempts made until then."""

    def __init__(self, message: str, *, attempts: Sequence[Attempt] = ()) -> None:
        super().__init__(message)
        self.attempts: tuple[Attempt, ...] = tuple(attempts)


class AllProvidersFailed(GroundwireError):
    """No provider could search.

    Args:
        attempts: One entry per attempt, in order, with its outcome; `causes` has a line for each that differs, and
            `summary` is a sentence and a remedy for people.
    """

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self.attempts: tuple[Attempt, ...] = tuple(attempts)
        alike: dict[tuple[str, str, int | None, str], list[Attempt]] = {}
        for attempt in self.attempts:  # several rounds usually end alike: each provider and cause is named once
            alike.setdefault((attempt.provider, attempt.outcome, attempt.status, attempt.reason), []).append(attempt)
        times = ((same[-1].describe(), len(same)) for same in alike.values())
        self.causes: tuple[str, ...] = tuple(text + (f" ({n} times)" if n > 1 else "") for text, n in times)
        super().__init__("Web search unavailable. Errors: " + ("; ".join(self.causes) or "no provider is configured"))

    @property
    def summary(self) -> str:
        """What happened in one sentence, and a remedy; each provider and each remedy is named once."""
        return f"Web search unavailable: {self.trouble}"

    @property
    def trouble(self) -> str:
        """The same, of providers that another one may have replaced; those that only lost a race are not named."""
        last = {
            failure.provider: failure
            for failure in self.attempts
            if failure.outcome not in {"ok", "partial"} and (not failure.abandoned or len(self.attempts) == 1)
        }
        if not last:
            return "no provider can be used. Run groundwire setup." if not self.attempts else ""
        outcomes: dict[str, list[str]] = {}
        for name, failure in last.items():
            outcomes.setdefault(failure.outcome, []).append(name)
        remedy = _REMEDIES.get(next(iter(outcomes)), _DOCTOR) if len(outcomes) == 1 else _DOCTOR
        waits = [failure.retry_after for failure in last.values()]
        if (shortest := min((wait for wait in waits if wait), default=0)) and all(waits):
            remedy = f"Try again in {shortest:,.0f} s."
        if len(last) == 1 and failure.reason and failure.outcome != "empty":
            what, _, fix = failure.reason.rstrip(".").partition(". ")  # a provider's own remedy is the better one
            status = (
                f" (HTTP {failure.status})" if (failure.status or 0) >= 400 and str(failure.status) not in what else ""
            )
            return f"{failure.provider}: {what}{status}. {f'{fix}.' if fix else remedy}"
        did = (f"{_listed(names)} {_DID.get(outcome, 'failed')}" for outcome, names in outcomes.items())
        return f"{'; '.join(did)}. {remedy}"


def excerpt(text: str, length: int = 60) -> str:
    """Return text as a message quotes it: at most `length` characters."""
    return text if len(text) <= length else text[: length - 3] + "..."


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun, such as `2 results`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


_DID: Mapping[str, str] = MappingProxyType(
    {
        "empty": "found nothing, which could not be confirmed",
        "rate_limited": "allowed no more requests for now",
        "quota": "had no quota left",
        "auth": "rejected the key",
        "bad_request": "rejected the query",
        "blocked": "blocked this machine",
        "unsupported": "could not search in this way",
        "timeout": "did not answer in time",
        "network": "could not be reached",
        "invalid_response": "sent an unexpected response",
        "unavailable": "could not answer",
    }
)
"""What a provider did, by the outcome of its attempt."""
_DOCTOR = "Run groundwire doctor: it checks each provider."
_REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "empty": "Try other words; groundwire doctor checks the providers.",
        "network": "Check that this machine is online; groundwire doctor finds the cause.",
        "timeout": "Try again, or raise the setting search.timeout.",
        "rate_limited": "Try again in a minute.",
        "quota": "Add another provider with groundwire setup.",
        "bad_request": "Change the query or its filters.",
        "blocked": "Try again later, or add a provider with a key: groundwire setup.",
    }
)
"""What helps when all attempts had the same outcome; otherwise each provider is to be checked."""


class Closed(GroundwireError):
    """The `Web` was closed; create a new one."""
