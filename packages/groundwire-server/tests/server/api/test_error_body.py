"""Errors as responses."""

from __future__ import annotations

from groundwire.errors import Overloaded
from groundwire_server.error_body import failure_of


def test_an_overload_is_said_with_the_time_to_try_again() -> None:
    failed = failure_of(Overloaded("too much"))
    assert (failed.status, failed.problem.code, failed.problem.retry_after) == (503, "overloaded", 1.0)
    assert failed.response().headers["Retry-After"] == "1"
