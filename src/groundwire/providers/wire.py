"""Small things that several wire formats share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["retry_after", "text_or_empty"]

_LONGEST = 366 * 86_400.0  # seconds


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return a Retry-After header in seconds, whether it was sent as seconds or as a date (RFC 9110, 10.2.3).

    Args:
        headers: The headers of the answer.
        now: The present moment, by default that of the system's clock.

    Returns:
        Seconds from 0 to a year, or None when there is no header or it makes no sense.
    """
    text = headers.get("Retry-After", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return min(max(0.0, seconds), _LONGEST) if seconds == seconds else None


def text_or_empty(value: object) -> str:
    """Return `value` if it is text, else an empty text."""
    return value if isinstance(value, str) else ""
