"""Errors of requests, and their JSON: what would keep the event loop busy for long is refused before it is validated.

Validation notes everything that is wrong, each of a million values if need be, while no other request is served.
Parsing alone takes some hundredths of a second for the largest body.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from pydantic_core import from_json, to_json
from starlette.responses import Response

from groundwire.errors import InvalidRequest

JSON_HEADERS: Final[Mapping[str, str]] = {"Content-Type": "application/json"}
"""The headers of a response in JSON."""


@dataclass(eq=False)
class UpstreamRejected(Exception):
    """The model server failed, and the client gets its error unchanged; or one in the format of its API."""

    status: int
    """The HTTP status."""
    body: bytes
    """The body."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers for the client."""

    def message(self) -> str:
        """Return the message, for an error event or a log."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return self.body[:300].decode("utf-8", "replace")
        error = value.get("error", value) if isinstance(value, dict) else value
        return str(error.get("message", error) if isinstance(error, dict) else error)[:300]

    def response(self) -> Response:
        """Return the client's response."""
        return Response(self.body, self.status, dict(self.headers))


MAX_VALUES: Final = 20_000
"""Values in the JSON of a request; a list of a thousand sources has some 5,000."""
_MODEL_VALUES: Final = 200_000  # values of a request to a model, with its history and its tools
_ITEMS: Final = 10_000  # messages, items or tools
_DEPTH: Final = 100
_SMALL: Final = 10_000  # bytes of a body that is validated at once
_SIGNS: Final = ((b",", 1_500_000), (b":", 1_000_000), (b"{", 300_000), (b"[", 300_000))
"""What a body may have of the signs that make values; texts in it have some, too."""


def check_json(body: bytes) -> None:
    """Check that a body has no more values than can be validated quickly; others reject one that is not JSON.

    Raises:
        InvalidRequest: it has too many, or they are nested too deeply.
    """
    if len(body) > _SMALL:
        try:
            value = from_json(body)
        except ValueError:
            return
        _check(value, MAX_VALUES)


def parse_model_request(body: bytes) -> dict[str, Any]:
    """Return a request to a model.

    Raises:
        InvalidRequest: it is not a JSON object, or it has too many values.
    """
    for sign, most in _SIGNS:
        if body.count(sign) > most:
            raise _too_many(_MODEL_VALUES)
    try:
        value = from_json(body)
    except ValueError:
        try:
            value = json.loads(body)  # which also takes half of a surrogate pair
        except (ValueError, RecursionError):
            raise InvalidRequest("body", "is not JSON", "Send the request as a JSON object.") from None
    if not isinstance(value, dict):
        raise InvalidRequest("body", "is not an object", "Send the request as a JSON object.")
    for name in ("messages", "input", "tools", "functions"):
        if isinstance(part := value.get(name), list) and len(part) > _ITEMS:
            raise InvalidRequest(name, f"has {len(part):,} items", f"Send at most {_ITEMS:,}.")
    _check(value, _MODEL_VALUES)
    return value


def write_json(value: object) -> bytes:
    """Return a request to a model as JSON, in a third of the time that the standard library takes."""
    try:
        return to_json(value)
    except ValueError:  # half of a surrogate pair, which has no UTF-8 form
        return json.dumps(value).encode()


def _check(value: object, most: int) -> None:
    """See that there are at most so many values in a value.

    Raises:
        InvalidRequest: there are more, or they are nested too deeply.
    """
    level: list[Any] = [value]
    remaining = most
    for _ in range(_DEPTH):
        level = [item for item in level if isinstance(item, (dict, list))]
        remaining -= sum(map(len, level))
        if remaining < 0:
            raise _too_many(most)
        if not level:
            return
        level = list(chain.from_iterable(item.values() if isinstance(item, dict) else item for item in level))
    raise InvalidRequest("body", "is nested too deeply", f"Nest at most {_DEPTH} levels.")


def _too_many(most: int) -> InvalidRequest:
    return InvalidRequest("body", "has too many values", f"Send at most {most:,}, in several requests if need be.")
