"""The public cassette object, and how a `Web` selects one: the one it is given, or the one named in the environment."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self

from groundwire.cassette.format import Answer, CallFailed, CassetteFile, Exchange, RecordedFailure, load, pack
from groundwire.cassette.redaction import Masks
from groundwire.errors import ConfigurationError

_DATE = re.compile(r"(?<!\d)(?:(\d{4})-(\d{2})-(\d{2})|(\d{1,2})/(\d{1,2})/(\d{4}))(?!\d)")  # ISO 8601, and Google's
_WAITS = frozenset({"timeout", "timeout_ms", "timeoutMs"})


class Index:
    """Recorded exchanges by request. Equal requests are answered in recorded order, and the last response repeats.

    | match | compared | why |
    | --- | --- | --- |
    | first | everything | |
    | then | everything, dates counted from the day of recording and of replay | "the last week" is sent as two dates |

    Headers are never compared, nor is a body field that carries a timeout.

    Args:
        exchanges: In recorded order.
    """

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._exact: dict[str, list[Exchange]] = {}
        self._shifted: dict[str, list[Exchange]] = {}
        self._used: dict[int, int] = {}
        for exchange in exchanges:
            key = _key(exchange.kind, exchange.request)
            self._exact.setdefault(key, []).append(exchange)
            self._shifted.setdefault(_relative(key, exchange.day), []).append(exchange)

    def take(self, kind: str, request: Mapping[str, Any], today: date) -> Exchange | None:
        """Return the exchange that answers a request, or None.

        Args:
            kind: The client that makes the request.
            request: The request, without secrets.
            today: The day, in UTC, that dates are relative to.
        """
        key = _key(kind, request)
        exchanges = self._exact.get(key) or self._shifted.get(_relative(key, today))
        if not exchanges:
            return None
        number = self._used.get(id(exchanges), 0)
        self._used[id(exchanges)] = number + 1
        return exchanges[min(number, len(exchanges) - 1)]


def _key(kind: str, request: Mapping[str, Any]) -> str:
    """Return the comparison key of a request."""
    counted = {name: _without_waits(value) for name, value in request.items() if name != "headers"}
    return json.dumps([kind, counted], sort_keys=True)


def _without_waits(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {name: item for name, item in value.items() if not (name in _WAITS and isinstance(item, (int, float)))}


def _relative(key: str, day: date) -> str:
    """Return a key with its dates as offsets in days from `day`."""
    return _DATE.sub(_from(day), key)


def _from(day: date) -> Callable[[re.Match[str]], str]:
    def days(match: re.Match[str]) -> str:
        year, month, number, us_month, us_number, us_year = match.groups()
        try:
            other = date(int(year or us_year), int(month or us_month), int(number or us_number))
        except ValueError:
            return match[0]
        return f"<{(other - day).days} days>"

    return days


_logger = logging.getLogger(__name__)

_LONGEST = 300  # characters of a URL in a message
_SOMEWHERE = "1.1.1.1"  # a public address that the guard accepts; replay never connects


def _today() -> date:
    return datetime.now(UTC).date()


class Cassette:
    """Responses of the outside world, recorded to a file or replayed from one.

    Create one with `record` or `replay` and pass it to a `Web`. It holds no connection, needs no closing and is
    thread-safe. Secrets are removed before anything is written.
    """

    def __init__(self, path: Path, *, file: CassetteFile | None, index: Index | None) -> None:
        self.path = path
        """The file."""
        self._file = file
        self._index = index
        self._masks = Masks()
        self._lock = threading.Lock()
        self._missing: list[str] = []

    @classmethod
    def record(cls, path: str | Path, *, append: bool = False) -> Self:
        """Return a cassette that records.

        Args:
            path: The file; an existing one is replaced and its folder is created.
            append: Whether to keep the exchanges already in the file.

        Raises:
            ConfigurationError: the file cannot be written, or is not a cassette.
        """
        return cls(Path(path), file=CassetteFile(Path(path), append=append), index=None)

    @classmethod
    def replay(cls, path: str | Path) -> Self:
        """Return a cassette that answers from its file. Anything else fails and never reaches the network.

        Args:
            path: The file.

        Raises:
            ConfigurationError: the file does not exist, or is not a cassette that this version can read.
        """
        return cls(Path(path), file=None, index=Index(load(Path(path))))

    def __repr__(self) -> str:
        return f"<Cassette {'replays' if self.replaying else 'records'} {self.path}>"

    @property
    def replaying(self) -> bool:
        """Whether requests are answered from the file."""
        return self._index is not None

    @property
    def missing(self) -> tuple[str, ...]:
        """The requests made in replay that are not in the file."""
        return tuple(self._missing)

    def hide(self, *secrets: str) -> None:
        """Redact these texts wherever they appear; texts of fewer than six characters are ignored."""
        with self._lock:
            for secret in secrets:
                self._masks.learn(secret)

    def find(self, kind: str, request: Mapping[str, Any]) -> Exchange:
        """Return the exchange that answers a request.

        Args:
            kind: The client that makes the request.
            request: The request, as JSON.

        Raises:
            CallFailed: the request is not in the file; the kind of failure is `cassette`.
            RuntimeError: the cassette records.
        """
        if self._index is None:
            raise RuntimeError("This cassette is recording; only a replaying one can answer.")
        with self._lock:
            masked = self._without_secrets(request)
            exchange = self._index.take(kind, masked, _today())
            if exchange is not None:
                return exchange
            label = _label(kind, masked)
            self._missing.append(label)
        raise CallFailed(RecordedFailure("cassette", f"is not in the cassette {self.path} with this request ({label})"))

    def add(
        self,
        kind: str,
        request: Mapping[str, Any],
        *,
        response: Mapping[str, Any] | Answer | None = None,
        failure: RecordedFailure | None = None,
        ms: int = 0,
    ) -> None:
        """Write one exchange. A write error is logged and does not interrupt the call.

        Args:
            kind: The client that made the request.
            request: The request, as JSON.
            response: The response, as JSON or as an HTTP response.
            failure: The failure; together with a response, why it was interrupted.
            ms: How long it took, in milliseconds.

        Raises:
            RuntimeError: the cassette replays.
        """
        if self._file is None:
            raise RuntimeError("This cassette replays; nothing can be added to it.")
        with self._lock:
            masked = self._without_secrets(request)  # first: it shows what to remove from the response
            answered = self._answer_without_secrets(response)
        masked_failure = None if failure is None else RecordedFailure(failure.kind, self._masks.text(failure.detail))
        exchange = Exchange(kind=kind, request=masked, response=answered, failure=masked_failure, ms=ms, day=_today())
        try:
            self._file.add(exchange)
        except OSError as error:
            _logger.error("The cassette %s lacks an exchange: %s", self.path, error.strerror or error)

    def call(self, kind: str, request: Mapping[str, Any], do: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Make a call of another client, or answer it from the file. Blocks as long as `do` does.

        Args:
            kind: A name for the client, such as `ddgs`.
            request: The request, as JSON; calls with equal requests are considered equal.
            do: Makes the call and returns its response as JSON. It raises CallFailed for failures to be replayed; other
                exceptions are not recorded.

        Raises:
            CallFailed: `do` raised it, now or when recording, or the call is not in the file (kind `cassette`).
        """
        if self.replaying:
            exchange = self.find(kind, request)
            if exchange.failure is not None:
                raise CallFailed(exchange.failure)
            return exchange.response or {}
        started = time.perf_counter()
        try:
            answer = do()
        except CallFailed as error:
            self.add(kind, request, failure=error.failure, ms=_since(started))
            raise
        self.add(kind, request, response=answer, ms=_since(started))
        return answer

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return a public address for every name without a lookup: the resolver of a guard in replay.

        Raises:
            RuntimeError: the cassette records.
        """
        if not self.replaying:
            raise RuntimeError(f"This cassette records; {host}:{port} must be looked up.")
        return (_SOMEWHERE,)

    def _without_secrets(self, request: Mapping[str, Any]) -> dict[str, Any]:
        masked = {name: self._masks.value(value, name) for name, value in request.items() if name != "headers"}
        if isinstance(headers := request.get("headers"), Mapping):
            masked_headers = self._masks.request_headers(headers)
            # Again: a header may have shown what to remove from the URL and the body.
            masked = {name: self._masks.value(value, name) for name, value in masked.items()}
            return masked | ({"headers": masked_headers} if masked_headers else {})
        return masked

    def _answer_without_secrets(self, response: Mapping[str, Any] | Answer | None) -> dict[str, Any] | None:
        if response is None:
            return None
        if isinstance(response, Answer):
            headers = self._masks.response_headers(response.headers)
            return pack(Answer(response.status, headers, self._masks.body(response.body)))
        masked: dict[str, Any] = self._masks.value(dict(response))
        return masked


def _label(kind: str, request: Mapping[str, Any]) -> str:
    if "url" not in request:
        return f"{kind} {dict(request)}"[:_LONGEST]
    body = request.get("json", request.get("form"))
    return f"{request.get('method', kind)} {request['url']}"[:_LONGEST] + (f" {body}"[:_LONGEST] if body else "")


def _since(started: float) -> int:
    return round((time.perf_counter() - started) * 1_000)


RECORD_VARIABLE = "GROUNDWIRE_RECORD"
"""Names the file that exchanges are added to."""
REPLAY_VARIABLE = "GROUNDWIRE_REPLAY"
"""Names the file that requests are answered from; nothing reaches the network."""


def choose_cassette(
    cassette: Cassette | None, record: str | Path | None, replay: str | Path | None, environment: Mapping[str, str]
) -> Cassette | None:
    """Return the cassette given, or else the one named in the environment, or None. An empty variable counts as unset.

    By a variable, recording appends, because a program may have several processes or create several `Web` objects.

    Args:
        cassette: A cassette.
        record: A file to record into; an existing one is replaced.
        replay: A file to replay.
        environment: The variables, usually `os.environ`.

    Raises:
        ConfigurationError: more than one is given, or the file cannot be used.
    """
    if sum(choice is not None for choice in (cassette, record, replay)) > 1:
        raise ConfigurationError("Give one of cassette, record and replay.")
    if record is not None:
        return Cassette.record(record)
    if cassette is not None or replay is not None:
        return cassette or Cassette.replay(str(replay))
    record, replay = (environment.get(name, "").strip() for name in (RECORD_VARIABLE, REPLAY_VARIABLE))
    if record and replay:
        raise ConfigurationError(f"{RECORD_VARIABLE} and {REPLAY_VARIABLE} are both set; keep one of them.")
    if record:
        return Cassette.record(record, append=True)
    return Cassette.replay(replay) if replay else None
