"""Error responses: a status, and a body with the problem and the fix. Never an empty result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.responses import JSONResponse, Response

from groundwire.errors import (
    AllProvidersFailed,
    BlockedByPolicy,
    BudgetExceeded,
    Closed,
    ConfigurationError,
    DeadlineExceeded,
    GroundwireError,
    InvalidRequest,
    NativeUnsupported,
    PageError,
    PageNotFound,
    PagePaced,
    PageUnavailable,
    ProviderError,
)
from groundwire.models import Attempt, Outcome
from groundwire.models.argument_names import argument_hint
from groundwire.models.validators import MAX_FAULTS, faults
from groundwire.routing.provider_call import NONE_LEFT
from groundwire.storage import StoreError

_MOST = 10  # problems reported at once
_NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})
_BUSY: frozenset[Outcome] = frozenset({"rate_limited", "quota"})


class ApiModel(BaseModel):
    """An object of the API, which has no other fields."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Problem(ApiModel):
    """The error of a request."""

    code: str
    """The kind of failure, for programs, such as `invalid_request` or `deadline_exceeded`."""
    message: str
    """What happened and what to do, for people."""
    field: str | None = None
    """The invalid argument, if any."""
    retry_after: float | None = None
    """Seconds after which a retry may succeed, if known."""
    attempts: tuple[Attempt, ...] = ()
    """Every attempt, in order."""


class Failure(ApiModel):
    """The body of every error response."""

    error: Problem
    """What went wrong."""
    detail: dict[str, str] | None = None
    """The message again, as `error`, for clients of other APIs and at their paths only."""


@dataclass(eq=False)
class Failed(Exception):
    """A request that failed, or was refused before it was read."""

    status: int
    """The HTTP status."""
    problem: Problem
    """What went wrong."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers of the response."""
    drop_in: bool = False
    """Whether the client is that of another API, and may look for the message in `detail.error`."""
    is_text: bool = False
    """Whether the client, such as one of Exa or Firecrawl, takes `error` for the message."""

    def __str__(self) -> str:
        return self.problem.message

    def response(self) -> Response:
        """Return it as a response."""
        headers = dict(self.headers)
        if self.problem.retry_after is not None:
            headers["Retry-After"] = str(max(1, math.ceil(self.problem.retry_after)))
        problem = self.problem.model_dump(mode="json")
        body: dict[str, object] = {"error": problem}
        if self.is_text:
            body = {"success": False, "error": problem.pop("message"), **problem}
        if self.drop_in or self.is_text:
            body["detail"] = {"error": self.problem.message}
        return JSONResponse(body, self.status, headers)


def failed(
    status: int, code: str, message: str, *, retry_after: float | None = None, headers: Mapping[str, str] | None = None
) -> Failed:
    """Return a failure for which there is no exception. The message never repeats what the client sent."""
    return Failed(status, Problem(code=code, message=message, retry_after=retry_after), headers or {})


def internal() -> Failed:
    """Return the failure for an internal error; its details are logged and never part of the response."""
    return failed(500, "internal", "The gateway failed; the reason is in its log.")


def failure_of(error: GroundwireError | Failed) -> Failed:
    """Return an error as a failure."""
    if isinstance(error, Failed):
        return error
    attempts: Sequence[Attempt] = getattr(error, "attempts", ())
    problem = Problem(
        code=_code(error),
        message=error.summary,
        field=error.field if isinstance(error, InvalidRequest) else None,
        retry_after=_retry_after(error),
        attempts=tuple(attempts),
    )
    return Failed(_status(error), problem)


def invalid(
    error: ValidationError,
    arguments: Iterable[str] = (),
    names: Mapping[str, str] = _NO_NAMES,
    sent: Mapping[str, str] = _NO_NAMES,
) -> Failed:
    """Return a failure for invalid arguments.

    Args:
        error: What is wrong with them.
        arguments: The arguments that an unknown one may be a misspelling of.
        names: Other APIs' names of the arguments.
        sent: The names under which the client has sent them, where these are not ours.
    """
    if error.error_count() > MAX_FAULTS:
        text = f"{error.error_count():,} values are wrong. /openapi.json lists what a request may have."
        return failed(400, "invalid_request", text)
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    if problems[0]["type"] == "json_invalid":
        return failed(400, "invalid_json", f"The body is not JSON. {problems[0]['msg']}.")
    sentences = dict.fromkeys(
        _sentence(f"{_named(item['loc'], sent)}: {text}{_hint(item['type'], item['loc'], arguments, names)}")
        for item, (_, text) in zip(problems, faults(error), strict=True)
    )
    text = " ".join(line.removeprefix(": ") for line in list(sentences)[:_MOST])
    return Failed(400, Problem(code="invalid_request", message=text, field=_named(problems[0]["loc"], sent) or None))


def _sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def _hint(kind: str, location: Sequence[int | str], arguments: Iterable[str], names: Mapping[str, str]) -> str:
    """Return what to use instead of another API's argument or a misspelled one."""
    return argument_hint(str(location[-1]), arguments, names) if kind == "extra_forbidden" and location else ""


def _named(location: Sequence[int | str], sent: Mapping[str, str]) -> str:
    """Return an argument's name as its sender knows it, without the alternatives of its type."""
    parts = [str(part) for part in location if str(part).isidentifier() or isinstance(part, int)]
    return ".".join([sent.get(parts[0], parts[0]), *parts[1:]] if parts else ())


def _status(error: GroundwireError) -> int:
    """Return the status: 4xx if the caller can fix it, 502 to 504 for an outside service or a timeout."""
    if isinstance(error, AllProvidersFailed):
        outcomes = {attempt.outcome for attempt in error.attempts}
        if outcomes and outcomes <= _BUSY:
            return 503
        if error.attempts and all(NONE_LEFT in attempt.reason for attempt in error.attempts):
            return 422  # the search worked, but the filters exclude everything
        if outcomes == {"bad_request"}:  # a query that every provider rejects is the caller's to change
            return 400
        return 504 if outcomes == {"timeout"} else 502
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return status
    if isinstance(error, ProviderError):
        return 503 if error.outcome in _BUSY else 504 if error.outcome == "timeout" else 502
    return 500


_STATUSES: tuple[tuple[type[GroundwireError], int], ...] = (
    (InvalidRequest, 400),
    (BudgetExceeded, 402),
    (BlockedByPolicy, 403),
    (PageNotFound, 404),
    (PagePaced, 503),
    (PageUnavailable, 502),
    (PageError, 422),
    (NativeUnsupported, 422),
    (DeadlineExceeded, 504),
    (ConfigurationError, 503),
    (Closed, 503),
    (StoreError, 503),
)


def _code(error: GroundwireError) -> str:
    """Return the name of an exception class in snake case: `BudgetExceeded` becomes `budget_exceeded`."""
    name = type(error).__name__
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name).lstrip("_")


def _retry_after(error: GroundwireError) -> float | None:
    if isinstance(error, AllProvidersFailed):
        waits = [attempt.retry_after for attempt in error.attempts]
        seconds = [wait for wait in waits if wait is not None]
        return min(seconds) if seconds and len(seconds) == len(waits) else None
    wait = getattr(error, "retry_after", None)
    return wait if isinstance(wait, (int, float)) else None
