"""What a service says about its limits in the headers of every answer.

`X-RateLimit-Limit`, `-Remaining`, `-Reset` and `-Policy` are in no standard. Their usual forms, with or without `X-`,
are one number each, or one for each window, separated by commas; a policy such as `1;w=1, 2000;w=2592000` says how many
seconds each window has (draft-ietf-httpapi-ratelimit-headers-07, and the documentation of the Brave Search API).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping

from groundwire.models import RateWindow

__all__ = ["rate_windows"]

_LONGEST = 366 * 86_400.0  # seconds
_EPOCH = 1e9  # a reset as large as that is a moment since 1970; larger than _MILLISECONDS, one in milliseconds
_MILLISECONDS = 1e11
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")
_MOST = 8  # windows


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
    for number in range(min(_MOST, max(len(limits), len(left)))):
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
    return None if value is None else min(value, _LONGEST)
