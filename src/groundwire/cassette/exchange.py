"""One exchange as a value and as a line of JSON.

A body stands in its line as `text` when it is UTF-8 and short, else as `base64`, or as `gzip` (in base 64) when it is
long. Bodies are kept decoded, so headers that tell of their coding on the wire are not kept.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

__all__ = ["Answer", "CallFailed", "Exchange", "Failure", "from_line", "pack", "to_line", "unpack"]

_LONG = 100_000  # bytes; a longer line is nothing that a person reads
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there was no answer, or no whole one."""

    kind: str
    """A word that whoever recorded it understands, such as `timeout` or `network`."""
    detail: str = ""
    """What happened, in a few words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer."""

    status: int
    """The status."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers; names in any case."""
    body: bytes = b""
    """The body without any coding, as far as it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What was asked and what became of it. An answer and a failure together are an answer that broke off."""

    kind: str
    """The way on which it was asked: `http`, or the name of another client."""
    request: Mapping[str, Any]
    """What was asked, as JSON."""
    response: Mapping[str, Any] | None = None
    """What was answered, as JSON."""
    failure: Failure | None = None
    """What went wrong."""
    ms: int = 0
    """How long it took, in milliseconds."""
    day: date
    """The day on which it was recorded, in UTC."""

    @property
    def answer(self) -> Answer | None:
        """The answer of an `http` exchange, unpacked."""
        return None if self.response is None else unpack(self.response)


class CallFailed(Exception):
    """A call outside failed, now or when it was recorded.

    Args:
        failure: Why.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.kind}: {failure.detail}" if failure.detail else failure.kind)
        self.failure = failure


def pack(answer: Answer) -> dict[str, Any]:
    """Return an HTTP answer as JSON."""
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
    """Return an HTTP answer from its JSON.

    Raises:
        ValueError: it is none.
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


def to_line(exchange: Exchange, number: int) -> dict[str, Any]:
    """Return an exchange as the object that stands in its line.

    Args:
        exchange: The exchange, without secrets.
        number: Its place in the file, from 1.
    """
    line: dict[str, Any] = {"seq": number, "kind": exchange.kind, "request": dict(exchange.request)}
    if exchange.response is not None:
        line["response"] = dict(exchange.response)
    if exchange.failure is not None:
        line["failure"] = {"kind": exchange.failure.kind, "detail": exchange.failure.detail}
    return line | {"ms": exchange.ms, "day": exchange.day.isoformat()}


def from_line(line: object) -> Exchange:
    """Return the exchange that stands in a line.

    Raises:
        ValueError: none does.
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
    said = line.get("ms", 0)
    return Exchange(
        kind=kind,
        request=request,
        response=response,
        failure=None if failure is None else Failure(failure["kind"], str(failure.get("detail", ""))),
        ms=said if isinstance(said, int) else 0,
        day=date.fromisoformat(str(line.get("day", ""))),
    )
