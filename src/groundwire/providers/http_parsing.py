"""Parsing of HTTP API responses: JSON, dates, statuses, errors, and rows of results."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from groundwire.errors import (
    AuthenticationFailed,
    ProviderBlocked,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.models import Results, SearchResult
from groundwire.transport import Response
from groundwire.transport.http_date import http_date

_MAX_SECONDS = 366 * 86_400.0  # seconds
_AMERICAN_DATE = re.compile(r"([A-Za-z]{3})[a-z]*\.? (\d{1,2}), (\d{4})")
_BRITISH_DATE = re.compile(r"(\d{1,2}) ([A-Za-z]{3})[a-z]*\.? (\d{4})")
_SECRET = re.compile(
    r"(?i)\b(bearer\s+|(?:api[_-]?key|key|token|authorization)[\"']?\s*[:=]\s*[\"']?(?:bearer\s+)?)[^\s\"'&,;]{6,}"
)
_ABOUT_KEY = re.compile(
    r"(?i)\b(?:\w*key|token|credential)s?\b|\bunauth|\bauthentication\b|\bupgrade\b|\bplan has no\b"
)
_ABOUT_PLAN = re.compile(
    r"(?i)\b(?:your|the|this) (?:\w+ )?(?:plan|subscription|account)\b.{0,60}"
    r"\b(?:not|expired|suspended|inactive|disabled|ended|cancel\w*|exceeded|reached|exhausted|limit)\b"
    r"|\b(?:quota|credits?|balance|allowances?|payment|billing)\b|\bsubscription (?:is )?(?:required|expired|cancel)"
)


def raise_for_status(reply: Response, name: str, variables: Sequence[str] = ()) -> None:
    """Raise the usual error for an HTTP status; a status of 200 to 299 passes.

    A provider first checks for its service's own conventions (Brave's 422, Tavily's 432), then calls this.

    Args:
        reply: The response.
        name: The provider's name.
        variables: The environment variables that its key may be in.

    Raises:
        ProviderError: one of its classes, with the service's message and its Retry-After.
    """
    status = reply.status
    if 200 <= status < 300:
        return
    words, again = error_text(reply), retry_after(reply.headers)
    if status == 429:
        raise RateLimited(name, f"too many requests{words}", status=status, retry_after=again)
    if status == 402:
        raise QuotaExceeded(name, f"the account's quota is used up{words}", status=status, retry_after=again)
    if status == 403 and reply.media_type == "text/html":
        raise ProviderBlocked(name, "a firewall in front of it blocks this machine", status=status, retry_after=again)
    if status == 401 or (status == 403 and _ABOUT_KEY.search(words)):
        reason = f"the key is not accepted{words}"
        raise AuthenticationFailed(name, reason, status=status, fix=_key_fix(variables))
    if status == 403 and _ABOUT_PLAN.search(words):
        raise QuotaExceeded(name, f"the account is not allowed to search{words}", status=status, retry_after=again)
    if status == 403:  # a firewall, or a query that the plan does not include
        raise ProviderBlocked(name, f"it refuses this request{words}", status=status, retry_after=again)
    if status in {408, 504}:
        raise ProviderTimeout(name, f"it timed out{words}", status=status, retry_after=again)
    if status >= 500:
        raise ProviderUnavailable(name, f"failed{words}", status=status, retry_after=again)
    if 300 <= status < 400:
        raise UnexpectedResponse(name, "redirects elsewhere", status=status, fix="Check base_url")
    if status in {400, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422}:
        raise RequestRefused(name, f"the request was refused{words}", status=status)
    raise UnexpectedResponse(name, f"answered with an unknown status{words}", status=status)


def _key_fix(variables: Sequence[str]) -> str:
    named = f" in {' or '.join(variables)}" if variables else ""
    return f"Check the key{named}, or replace it with groundwire setup"


def json_object(reply: Response, name: str) -> dict[str, Any]:
    """Return the body as a JSON object.

    Raises:
        UnexpectedResponse: it is HTML, broken, or another kind of JSON.
    """
    try:
        data = reply.json()
    except ValueError as error:
        what = "a web page" if reply.body.lstrip()[:1] == b"<" else "something that is not JSON"
        raise UnexpectedResponse(name, f"answered with {what}", status=reply.status, fix="Check base_url") from error
    if not isinstance(data, dict):
        raise UnexpectedResponse(name, "answered with JSON of an unexpected form", status=reply.status)
    return data


def json_or_empty(reply: Response) -> dict[str, Any]:
    """Return the body as a JSON object, or an empty one if it is anything else."""
    try:
        data = reply.json()
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def objects(value: object) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a list, skipping everything else."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def value_at(data: object, path: str) -> object:
    """Return the value at a path in JSON, or None.

    Args:
        data: The JSON value.
        path: Keys separated by dots, such as `error.code`; for a list along the way, its first object is used.
    """
    for key in path.split("."):
        data = next(objects(data), None) if isinstance(data, list) else data
        data = data.get(key) if isinstance(data, dict) else None
    return data


_FAILURES = range(300, 1_000)
ANY_STATUS = range(1_000)
"""For services that also report errors with status 200."""


@dataclass(slots=True, eq=False, repr=False)
class ErrorRule:
    """A row of a service's error table: a response of the service, and the error it means."""

    error: type[ProviderError]
    """The class of the error."""
    reason: str
    """The reason in a few words; the service's message follows."""
    fix: str = ""
    """What the operator can do about it."""
    _: KW_ONLY
    status: Container[int] = _FAILURES
    """The statuses it is sent with."""
    at: str = "error.code"
    """Paths, separated by spaces, to the code or the message; see `value_at`."""
    pattern: str = ""
    """A regular expression to search there; empty for none."""
    when: Callable[[Response], bool] | None = None
    """An additional condition on the response."""
    wait: str = ""
    """The path to the seconds to wait, or to the moment until which, if there is no Retry-After header."""
    retry_after: Callable[[Response], float | None] | None = None
    """Returns the seconds to wait, if they are stated elsewhere."""

    def matches(self, reply: Response) -> bool:
        """Whether a response matches the rule."""
        if reply.status not in self.status or (self.when and not self.when(reply)):
            return False
        body = json_or_empty(reply) if self.pattern else {}
        values = (value_at(body, path) for path in self.at.split())
        return not self.pattern or any(
            isinstance(value, (str, int)) and re.search(self.pattern, str(value)) for value in values
        )


def raise_for_error(reply: Response, name: str, rules: Iterable[ErrorRule] = (), variables: Sequence[str] = ()) -> None:
    """Raise the error of the first matching rule, else that of the status; see `raise_for_status`.

    Args:
        reply: The response.
        name: The provider's name.
        rules: The service's error table.
        variables: The environment variables that its key may be in.

    Raises:
        ProviderError: one of its classes.
    """
    for rule in rules:
        if rule.matches(reply):
            again = retry_after(reply.headers)
            if again is None and rule.retry_after:
                again = rule.retry_after(reply)
            if again is None and rule.wait:
                again = _seconds_until(value_at(json_or_empty(reply), rule.wait))
            words = f"{rule.reason}{error_text(reply)}"
            fix = rule.fix or (_key_fix(variables) if issubclass(rule.error, AuthenticationFailed) else "")
            raise rule.error(name, words, status=reply.status, retry_after=again, fix=fix)
    raise_for_status(reply, name, variables)


def json_answer(
    reply: Response, name: str, rules: Iterable[ErrorRule] = (), variables: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the JSON object of a successful response.

    Raises:
        ProviderError: the response is a failure, or not JSON; see `raise_for_error` and `json_object`.
    """
    raise_for_error(reply, name, rules, variables)
    return json_object(reply, name)


def error_text(reply: Response) -> str:
    """Return the message of an error response as ": message", shortened and without secrets; or nothing.

    Looks in the usual places: `error`, `message`, `detail`, as a string or inside an object or a list of them.
    """
    try:
        data = reply.json()
    except ValueError:
        return ""
    words = short_message(masked(" ".join(_first_words(data, 4).split())))  # without a stop: a sentence may follow
    return f": {words}" if words else ""


def masked(text: str) -> str:
    """Replace anything that looks like a key in a service's message by `***`."""
    return _SECRET.sub(r"\1***", text)


def _first_words(value: object, depth: int) -> str:
    if isinstance(value, str):
        return value
    if depth and isinstance(value, list) and value:
        return _first_words(value[0], depth - 1)
    if depth and isinstance(value, dict):
        for key in ("error", "errors", "detail", "message", "readableMessage", "msg", "code", "tag"):
            if words := _first_words(value.get(key), depth - 1):
                return words
    return ""


def day(text: str) -> str:
    """Convert a date or date-time of a service to ISO 8601, or return an empty string if it is invalid.

    Services write them in ISO 8601, as in email (RFC 5322), or as `Jan 29, 2023` or `29 Jan 2023`.
    """
    text = text.strip()
    try:
        datetime.fromisoformat(text)
    except ValueError:
        date = _BRITISH_DATE.fullmatch(_AMERICAN_DATE.sub(r"\2 \1 \3", text))
        try:
            moment = parsedate_to_datetime(date.expand(r"\1 \2 \3 00:00") if date else text)
        except (ValueError, OverflowError):
            return ""
        return moment.date().isoformat() if date else moment.isoformat()
    return text


def number_or_none(value: object) -> float | None:
    """Return `value` if it is a finite number, else None."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON's integers are unbounded
        return None
    return number if math.isfinite(number) else None


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return a Retry-After header in seconds, given as seconds or as a date (RFC 9110, 10.2.3).

    Args:
        headers: The headers of the response.
        now: The current time, by default that of the system's clock.

    Returns:
        Seconds from 0 to a year, or None if there is no header or it is invalid.
    """
    text = headers.get("Retry-After", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        if (moment := http_date(text)) is None:
            return None
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return min(max(0.0, seconds), _MAX_SECONDS) if math.isfinite(seconds) else None


def _seconds_until(value: object) -> float | None:
    """Return a number of seconds, or those until a moment in ISO 8601; None for anything else."""
    seconds = number_or_none(value)
    if seconds is None and isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        seconds = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return None if seconds is None else min(max(0.0, seconds), _MAX_SECONDS)


def text_or_empty(value: object) -> str:
    """Return `value` if it is a string, else an empty string."""
    return value if isinstance(value, str) else ""


def clean(text: object) -> str:
    """Return a string that can be encoded in UTF-8, without NUL; JSON may contain lone surrogates (RFC 8259, 8.2)."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode() if isinstance(text, str) else ""


_MAX_MESSAGE = 200  # characters of a service's message


def short_message(words: object) -> str:
    """Return a service's message in one line of at most 200 characters; empty if it is not a string."""
    text = " ".join(clean(words).split()).rstrip(".")
    return text if len(text) <= _MAX_MESSAGE else text[: _MAX_MESSAGE - 1] + "…"


def listed_warnings(reply: Response, name: str, keys: Iterable[str]) -> tuple[str, ...]:
    """Return the messages in lists of a response, such as `warnings`, as warnings of a provider."""
    data = json_or_empty(reply)
    words = (" ".join(clean(item.get("message")).split()) for key in keys for item in objects(data.get(key)))
    return tuple(f"{name}: {text[:_MAX_MESSAGE]}" for text in words if text)


def joined(value: object, separator: str = "\n") -> str:
    """Return the texts of a list, such as the passages of a page, as one; an empty text if it is not a list."""
    parts = [text_or_empty(part).strip() for part in value] if isinstance(value, list) else []
    return separator.join(part for part in parts if part)


def result(
    source: str,
    *,
    url: object,
    title: object,
    snippet: object,
    date: object = None,
    score: object = None,
) -> SearchResult | None:
    """Return one row as a result, or None if it has no URL.

    Args:
        source: The provider's name.
        url: Its address as it came; anything but text counts as none, here and below.
        title: Its title.
        snippet: A passage.
        date: When it was published, in the service's own way; what is no date is passed on as said.
        score: The service's own measure.
    """
    if not (isinstance(url, str) and url):
        return None
    stated_date = date.strip() if isinstance(date, str) else ""
    published = (stated_date and day(stated_date)) or None
    return SearchResult(
        title=title if isinstance(title, str) else "",
        url=url,
        snippet=snippet if isinstance(snippet, str) else "",
        source=source,
        published=published,
        published_origin="" if published else stated_date,
        score=score if type(score) is float and math.isfinite(score) else number_or_none(score),
    )


def results(reply: Response, name: str, items: object, rows: Iterable[SearchResult | None]) -> Results:
    """Return the rows of a successful response; what is not a row is skipped.

    Args:
        reply: The response.
        name: The provider's name.
        items: The value where the list of rows belongs.
        rows: What was read from them, see `objects`; None for a row without a URL.

    Raises:
        UnexpectedResponse: there is no list, or no row in it has a URL.
    """
    if not isinstance(items, list):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=reply.status)
    if not (parsed := tuple([row for row in rows if row is not None])) and items:
        raise UnexpectedResponse(name, "answered with results without URLs", status=reply.status)
    return Results(parsed, status=reply.status)
