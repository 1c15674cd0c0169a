"""Errors in OpenAI's format, from a model server or the endpoint in front of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["UpstreamRejected", "broken", "error_body"]


@dataclass(eq=False)
class UpstreamRejected(Exception):
    """The model server failed or did not respond; the client gets its error unchanged."""

    status: int
    """The HTTP status."""
    body: bytes
    """The body."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers for the client."""

    def message(self) -> str:
        """Return the message, for an error event or a log."""
        try:
            said = json.loads(self.body)
        except ValueError:
            return self.body[:300].decode("utf-8", "replace")
        error = said.get("error", said) if isinstance(said, dict) else said
        return str(error.get("message", error) if isinstance(error, dict) else error)[:300]


def error_body(message: str, *, kind: str = "invalid_request_error", code: str = "", param: str | None = None) -> bytes:
    """Return an error in OpenAI's form."""
    return json.dumps({"error": {"message": message, "type": kind, "param": param, "code": code or None}}).encode()


def broken(what: str) -> UpstreamRejected:
    """Return the failure for an unusable response of a model server.

    Args:
        what: What it did, such as `sent an event that is not JSON`.
    """
    body = error_body(f"The model server {what}.", kind="upstream_error", code="upstream_broken")
    return UpstreamRejected(502, body, {"Content-Type": "application/json"})
