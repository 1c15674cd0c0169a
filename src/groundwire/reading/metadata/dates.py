"""Dates as pages write them, to ISO 8601; what is not clearly a date is none."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

__all__ = ["iso_date"]

_MAX_LENGTH: Final = 64  # characters
_ISO: Final = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:[T ]+(\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d{1,9})?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?(?!\d)"
)
_MONTH_ONLY: Final = re.compile(r"(\d{4})[-/](\d{2})")
_DAY_MONTH_YEAR: Final = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")
"""With full stops the day goes first, wherever dates are written so."""
_EAST_ASIAN: Final = re.compile(r"(\d{4})\s?[年년.]\s?(\d{1,2})\s?[月월.]\s?(\d{1,2})(?:\s?[日일]|\.?(?!\d))")
_SCRIPT: Final = re.compile(r"[A-Za-z]{3} [A-Za-z]{3} \d{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC)[+-]\d{4}(?=\s|$)")
"""What JavaScript makes of a date."""
_YEAR_ONLY: Final = re.compile(r"\d{4}")
_COMPACT: Final = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T\d{4,6}Z?)?")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME: Final = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_MONTH_FIRST: Final = re.compile(
    rf"(?:[a-z]{{3,9}},?\s+)?{_NAME}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.IGNORECASE
)
_DAY_FIRST: Final = re.compile(
    rf"(?:[a-z]{{3,9}},?\s+)?(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?[\s-]+{_NAME},?[\s-]+(\d{{4}})\b", re.IGNORECASE
)
_EARLIEST: Final = 1450  # the first printed books; before that, a year is a mistake
_AHEAD: Final = timedelta(days=400)


def iso_date(value: str, *, today: date | None = None) -> str | None:
    """Return a date as ISO 8601, as exact as it was written, or None.

    Understood are ISO 8601 and its near misses, RFC 5322, days with an English name of the month, what scripts write,
    and the dates of East Asia. A date of digits alone whose order depends on the country is not understood: with
    slashes it does, with full stops the day goes first. Refused are days that do not exist, the zeros of
    clocks (1 January 1970), and days more than about a year ahead.

    Args:
        value: What the page says.
        today: The day to compare with; the current one when None.
    """
    value = value.strip().replace("\u2212", "-")
    if not 4 <= len(value) <= _MAX_LENGTH:
        return None
    try:
        return _parse(value, today or datetime.now(UTC).date())
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _parse(value: str, today: date) -> str | None:
    if match := _ISO.match(value):
        day = date(int(match[1]), int(match[2]), int(match[3]))
        if not _is_sensible(day, today):
            return None
        if not match[4] or (match[4].startswith("00:00") and not match[5]):
            return day.isoformat()
        zone = {"UTC": "Z", "GMT": "Z"}.get(match[5] or "", match[5] or "")
        moment = datetime.fromisoformat(f"{day.isoformat()}T{match[4]}{zone}")
        return moment.isoformat().replace("+00:00", "Z")
    if match := _SCRIPT.match(value):
        moment = datetime.strptime(match[0].replace("UTC", "GMT"), "%a %b %d %Y %H:%M:%S GMT%z")
        return moment.isoformat().replace("+00:00", "Z") if _is_sensible(moment.date(), today) else None
    for pattern, order in ((_EAST_ASIAN, (1, 2, 3)), (_DAY_MONTH_YEAR, (3, 2, 1))):
        if match := pattern.match(value):
            year, month, number = (int(match[index]) for index in order)
            day = date(year, month, number)
            return day.isoformat() if _is_sensible(day, today) else None
    if match := _COMPACT.fullmatch(value):
        day = date(int(match[1]), int(match[2]), int(match[3]))
        return day.isoformat() if _is_sensible(day, today) else None
    if match := _MONTH_ONLY.fullmatch(value):
        day = date(int(match[1]), int(match[2]), 2)
        return f"{match[1]}-{match[2]}" if _is_sensible(day, today) else None
    if _YEAR_ONLY.fullmatch(value):
        return value if _EARLIEST <= int(value) <= today.year + 1 else None
    for pattern, order in ((_MONTH_FIRST, (3, 1, 2)), (_DAY_FIRST, (3, 2, 1))):
        if match := pattern.match(value):
            if re.search(r"\d{2}:\d{2}:\d{2}", value):
                break
            said, name, number_said = (match[index] for index in order)
            day = date(int(said), _MONTHS.index(name[:3].lower()) + 1, int(number_said))
            return day.isoformat() if _is_sensible(day, today) else None
    moment = parsedate_to_datetime(value)
    return moment.isoformat().replace("+00:00", "Z") if _is_sensible(moment.date(), today) else None


def _is_sensible(day: date, today: date) -> bool:
    return day.year >= _EARLIEST and day <= today + _AHEAD and (day.year, day.month, day.day) != (1970, 1, 1)
