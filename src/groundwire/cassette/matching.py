"""Which recorded exchange answers a request.

| tried | the same is | why |
| --- | --- | --- |
| first | everything | |
| then | everything, dates counted from the day of recording and of replay | "the last week" is sent as two dates |
| only when not strict | method and address without parameters | a test whose words are not the same each time |

Headers never count, and neither does a field of a body that says how long we wait.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

from groundwire.cassette.format import Exchange

__all__ = ["Index"]

_DATE = re.compile(r"(?<!\d)(?:(\d{4})-(\d{2})-(\d{2})|(\d{1,2})/(\d{1,2})/(\d{4}))(?!\d)")  # ISO 8601, and Google's
_WAITS = frozenset({"timeout", "timeout_ms", "timeoutMs"})


class Index:
    """Recorded exchanges by what was asked; equal requests are answered in their recorded order, the last repeats.

    Args:
        exchanges: In recorded order.
        strict: Whether parameters and body must be the same.
    """

    def __init__(self, exchanges: Iterable[Exchange], *, strict: bool) -> None:
        self._exact: dict[str, list[Exchange]] = {}
        self._shifted: dict[str, list[Exchange]] = {}
        self._loose: dict[str, list[Exchange]] | None = None if strict else {}
        self._used: dict[int, int] = {}
        for exchange in exchanges:
            key = _key(exchange.kind, exchange.request)
            self._exact.setdefault(key, []).append(exchange)
            self._shifted.setdefault(_relative(key, exchange.day), []).append(exchange)
            if self._loose is not None:
                self._loose.setdefault(_where(exchange.kind, exchange.request), []).append(exchange)

    def take(self, kind: str, request: Mapping[str, Any], today: date) -> Exchange | None:
        """Return the exchange that answers a request, or None.

        Args:
            kind: The way on which it is asked.
            request: What is asked, without secrets.
            today: The day, in UTC, from which dates are counted.
        """
        key = _key(kind, request)
        found = self._exact.get(key) or self._shifted.get(_relative(key, today))
        if not found and self._loose is not None:
            found = self._loose.get(_where(kind, request))
        if not found:
            return None
        number = self._used.get(id(found), 0)
        self._used[id(found)] = number + 1
        return found[min(number, len(found) - 1)]


def _key(kind: str, request: Mapping[str, Any]) -> str:
    """Return the text that two requests share exactly if they are the same."""
    counted = {name: _without_waits(value) for name, value in request.items() if name != "headers"}
    return json.dumps([kind, counted], sort_keys=True)


def _without_waits(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {name: one for name, one in value.items() if not (name in _WAITS and isinstance(one, (int, float)))}


def _where(kind: str, request: Mapping[str, Any]) -> str:
    """Return method and address without parameters; for other ways than HTTP nothing but the way."""
    return f"{kind} {request.get('method', '')} {str(request.get('url', '')).partition('?')[0]}"


def _relative(key: str, day: date) -> str:
    """Return a key with its dates as a number of days from `day`."""
    return _DATE.sub(_from(day), key)


def _from(day: date) -> Callable[[re.Match[str]], str]:
    def days(match: re.Match[str]) -> str:
        year, month, number, us_month, us_number, us_year = match.groups()
        try:
            found = date(int(year or us_year), int(month or us_month), int(number or us_number))
        except ValueError:
            return match[0]
        return f"<{(found - day).days} days>"

    return days
