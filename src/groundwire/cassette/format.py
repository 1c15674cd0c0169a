"""The cassette file: a header line, then a line of JSON for each exchange.

Every exchange is written immediately, under a lock on the file, so that several processes can add to one cassette and a
killed process loses nothing it has written.

A body is stored as `text` if it is UTF-8 and short, else as `base64`, or as `gzip` (in base 64) if it is long. Bodies
are stored decoded, so headers that describe their encoding on the wire are dropped.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import os
import threading
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from groundwire._version import __version__
from groundwire.errors import ConfigurationError
from groundwire.json_text import json_object
from groundwire.settings.user_folders import lock, os_reason

_LONG = 100_000  # bytes; a longer line is not readable anyway
_LEVEL = 6


class RecordedFailure(NamedTuple):
    """Why there was no response, or only a part of one."""

    kind: str
    """The failure kind of the code that recorded it, such as `timeout` or `network`."""
    detail: str = ""
    """What happened, in a few words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response."""

    status: int
    """The status code."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers, with names in any case."""
    body: bytes = b""
    """The decoded body, as far as it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and its outcome. A response together with a failure is an interrupted response."""

    kind: str
    """The client that made the request: `http`, or the name of another one."""
    request: Mapping[str, Any]
    """The request, as JSON."""
    response: Mapping[str, Any] | None = None
    """The response, as JSON."""
    failure: RecordedFailure | None = None
    """The failure."""
    ms: int = 0
    """How long it took, in milliseconds."""
    day: date
    """The day of recording, in UTC."""

    @property
    def answer(self) -> Answer | None:
        """The response of an `http` exchange, decoded from JSON."""
        return None if self.response is None else unpack(self.response)


class CallFailed(Exception):
    """An outside call failed, now or when it was recorded.

    Args:
        failure: The reason.
    """

    def __init__(self, failure: RecordedFailure) -> None:
        super().__init__(f"{failure.kind}: {failure.detail}" if failure.detail else failure.kind)
        self.failure = failure


def pack(answer: Answer) -> dict[str, Any]:
    """Return an HTTP response as JSON."""
    packed: dict[str, Any] = {"status": answer.status, "headers": dict(answer.headers)}
    if not answer.body:
        return packed
    if len(answer.body) > _LONG:
        squeezed = gzip.compress(answer.body, _LEVEL, mtime=0)
        return packed | {"gzip": base64.b64encode(squeezed).decode("ascii")}
    try:
        return packed | {"text": answer.body.decode("utf-8")}
    except UnicodeDecodeError:
        return packed | {"base64": base64.b64encode(answer.body).decode("ascii")}


def unpack(packed: Mapping[str, Any]) -> Answer:
    """Return an HTTP response from its JSON.

    Raises:
        ValueError: it is invalid.
    """
    status, headers = packed.get("status"), packed.get("headers", {})
    if not isinstance(status, int) or not isinstance(headers, dict):
        raise ValueError("an answer needs a status (a number) and headers (an object)")
    if not all(isinstance(value, str) for value in headers.values()):
        raise ValueError("headers are texts")
    try:
        return Answer(status, headers, _body(packed))
    except (binascii.Error, zlib.error, OSError, EOFError, TypeError, AttributeError) as error:
        raise ValueError(f"the body cannot be unpacked ({error})") from error


def _body(packed: Mapping[str, Any]) -> bytes:
    if "text" in packed:
        return bytes(packed["text"].encode("utf-8"))
    if "base64" in packed:
        return base64.b64decode(packed["base64"], validate=True)
    if "gzip" in packed:
        return gzip.decompress(base64.b64decode(packed["gzip"], validate=True))
    return b""


def to_line(exchange: Exchange) -> dict[str, Any]:
    """Return an exchange, which has no secrets, as the JSON object of its line."""
    line: dict[str, Any] = {"kind": exchange.kind, "request": dict(exchange.request)}
    if exchange.response is not None:
        line["response"] = dict(exchange.response)
    if exchange.failure is not None:
        line["failure"] = {"kind": exchange.failure.kind, "detail": exchange.failure.detail}
    return line | {"ms": exchange.ms, "day": exchange.day.isoformat()}


def from_line(line: object) -> Exchange:
    """Parse the exchange on a line.

    Raises:
        ValueError: there is none.
    """
    if not isinstance(line, dict):
        raise ValueError("not an object")
    kind, request, response, failure = (line.get(name) for name in ("kind", "request", "response", "failure"))
    if not isinstance(kind, str) or not isinstance(request, dict):
        raise ValueError("an exchange needs a kind (a text) and a request (an object)")
    if response is None and failure is None:
        raise ValueError("an exchange needs a response or a failure")
    if response is not None and not isinstance(response, dict):
        raise ValueError("a response is an object")
    if failure is not None and not (isinstance(failure, dict) and isinstance(failure.get("kind"), str)):
        raise ValueError("a failure is an object with a kind (a text)")
    if kind == "http" and response is not None:
        unpack(response)
    milliseconds = line.get("ms", 0)
    return Exchange(
        kind=kind,
        request=request,
        response=response,
        failure=None if failure is None else RecordedFailure(failure["kind"], str(failure.get("detail", ""))),
        ms=milliseconds if isinstance(milliseconds, int) else 0,
        day=date.fromisoformat(str(line.get("day", ""))),
    )


_MARK = "groundwire_cassette"
_VERSION = 1


class CassetteFile:
    """A cassette that is being recorded. It may be shared by threads and processes.

    Args:
        path: The file. Its folder is created if it does not exist.
        append: Whether to add exchanges to the existing ones.

    Raises:
        ConfigurationError: the file cannot be written, or is not a cassette.
    """

    def __init__(self, path: Path, *, append: bool) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock, path.open("a+b") as file:
                lock(file)
                if file.seek(0, os.SEEK_END):
                    file.seek(0)
                    _check_mark(file.readline(), path)  # before truncating: the path may be a typo
                if not append:
                    file.truncate(0)
                _begin(file)
        except OSError as error:
            raise ConfigurationError(f"The cassette {path} cannot be written: {os_reason(error, path)}.") from error

    def add(self, exchange: Exchange) -> None:
        """Append one exchange.

        Raises:
            OSError: it cannot be written.
        """
        with self._lock, self.path.open("a+b") as file:
            lock(file)
            _mend(file)
            _begin(file)
            file.write(_encode(to_line(exchange)))


def load(path: Path) -> list[Exchange]:
    """Read all exchanges of a cassette, without a last line that is incomplete because its writer was killed.

    Raises:
        ConfigurationError: the file does not exist, is not a cassette, or has a line that cannot be parsed.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"There is no cassette {path}. Record it first: run the program with GROUNDWIRE_RECORD={path}."
        ) from error
    except OSError as error:
        raise ConfigurationError(f"The cassette {path} cannot be read: {os_reason(error, path)}.") from error
    first, *lines = data.split(b"\n")
    _check_mark(first, path)
    exchanges = []
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        try:
            exchanges.append(from_line(json.loads(line)))
        except (ValueError, RecursionError) as error:
            if number == len(lines) + 1:
                break
            raise ConfigurationError(f"The cassette {path} has an error in line {number}: {error}.") from error
    return exchanges


def _check_mark(line: bytes, path: Path) -> None:
    version = (json_object(line) or {}).get(_MARK)
    if version is None:
        raise ConfigurationError(f"{path} is not a cassette: its first line does not name {_MARK}.")
    if version != _VERSION:
        raise ConfigurationError(f"The cassette {path} is of version {version}; this Groundwire knows {_VERSION}.")


def _begin(file: BinaryIO) -> None:
    """Write the header line if it is missing."""
    if not file.seek(0, os.SEEK_END):
        file.write(_encode({_MARK: _VERSION, "recorded_with": f"groundwire {__version__}"}))
        file.flush()


def _mend(file: BinaryIO) -> None:
    """Terminate the last line, or remove it if its writer was killed in the middle of it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    if file.read(1) in {b"", b"\n"}:
        return
    file.seek(0)
    line = file.read().rpartition(b"\n")[2]
    try:
        json.loads(line)
    except ValueError:
        file.truncate(size - len(line))
    else:
        file.write(b"\n")
        file.flush()


def _encode(line: dict[str, Any]) -> bytes:
    try:
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # lone surrogates, for header bytes that are not UTF-8
        return json.dumps(line).encode() + b"\n"
