"""The base class of all public models, and the validation of arguments with a clear error for each kind of mistake."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from groundwire.errors import InvalidRequest, excerpt
from groundwire.models.base import Hinting

MAX_QUERY = 2_000  # characters; the providers' own limits (Brave 400, Tavily 400) are handled in their modules

_LONGEST_TIMEOUT = 600  # seconds
_MOST_NAMED = 16  # names; a longer list would not be read
_DOMAIN = re.compile(r"""(?!-)[^\s/:@?#*\\%\[\](),;|"']{1,253}""")


def check_text(text: object) -> str:
    """Return the trimmed text of a query, or raise InvalidRequest."""
    if not isinstance(text, str):
        raise InvalidRequest("query", f"must be text, not {type(text).__name__}", "Pass the words to look for.")
    clean = " ".join(text.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ").split())
    if not clean:
        raise InvalidRequest("query", "is empty", "Pass the words to look for.")
    if len(clean) > MAX_QUERY:
        raise InvalidRequest(
            "query", f"has {len(clean):,} characters", f"Shorten it to at most {MAX_QUERY:,} characters."
        )
    return clean


def check_int(field: str, value: object, low: int, high: int) -> int:
    """Return `value` if it is an integer from `low` to `high`, or raise InvalidRequest."""
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    fix = f"Pass a whole number from {low:,} to {high:,}."
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidRequest(field, f"must be a whole number, not {type(value).__name__}", fix)
    raise InvalidRequest(field, f"is {_excerpt(value)}", fix)


def is_number(value: object) -> bool:
    """Return whether a value is a number; a boolean is not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_timeout(value: object) -> float:
    """Return `value` if it is a possible timeout, or raise InvalidRequest."""
    if isinstance(value, (int, float)) and is_number(value) and 0 < value <= _LONGEST_TIMEOUT:
        return value
    raise InvalidRequest("timeout", f"is {value!r}", f"Pass seconds, more than 0 and at most {_LONGEST_TIMEOUT}.")


def check_choice(field: str, value: object, choices: Sequence[str]) -> None:
    """Raise InvalidRequest unless `value` is one of `choices`."""
    if value not in choices:
        raise InvalidRequest(field, f"cannot be {_excerpt(value)}", f"Pass one of: {', '.join(choices)}.")


def check_sources(value: object, sources: Sequence[str]) -> str:
    """Return the one source that a search names, `sources[0]` if it names none, or raise InvalidRequest."""
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else None
    if names is None:
        raise InvalidRequest("sources", f"must be a list, not {type(value).__name__}", f'Pass ["{sources[-1]}"].')
    for name in names:
        check_choice("sources", name, sources)
    if len(set(names)) > 1:
        raise InvalidRequest("sources", "has more than one", "Search each of them on its own.")
    return names[0] if names else sources[0]


MAX_DOMAINS: Final = 1_000
"""Domains in a list."""


def check_domains(field: str, value: object, most: int = MAX_DOMAINS) -> tuple[str, ...]:
    """Return a tuple of at most `most` bare domain names in lower case, or raise InvalidRequest."""
    if isinstance(value, str):
        value = value.replace(",", " ").split()
    if not isinstance(value, Iterable):
        raise InvalidRequest(field, f"must be a list, not {type(value).__name__}", 'Pass e.g. ["wikipedia.org"].')
    domains = []
    for count, item in enumerate(value):
        if count >= most:
            raise InvalidRequest(field, f"has more than {most:,} domains", "Pass fewer, such as the parents.")
        name = item.strip().strip(".").lower() if isinstance(item, str) else ""
        name = name.removeprefix("*.")
        if not _DOMAIN.fullmatch(name):
            raise InvalidRequest(
                field, f"has {_excerpt(item)}, which is not a domain name", "Pass bare names such as wikipedia.org."
            )
        domains.append(name)
    return tuple(dict.fromkeys(domains))


def check_folders(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return folders by their whole paths, with `~` replaced by the user's own folder.

    Raises:
        ValueError: one is relative: what it means would depend on where a program was started.
    """
    folders = []
    for path in paths:
        folder = Path(path)
        with suppress(RuntimeError):  # there is no such user, or no home
            folder = folder.expanduser()
        if not folder.is_absolute() or "\0" in path:
            raise ValueError(f"{path[:80]!r} is not a whole path; write one like /home/me/papers or ~/papers")
        folders.append(os.path.normpath(folder))
    return tuple(dict.fromkeys(folders))


SITE_READERS = (
    *("arxiv", "crates", "docs_rs", "github", "hackernews", "mediawiki", "npm", "pypi", "reddit", "stackexchange"),
    "youtube",
)
"""The sites that have a reader of their own; see `groundwire.reading.sites`."""


def check_names(known: Sequence[str], problem: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names that are known, or raise ValueError with the problem of another one."""
    if unknown := next((name for name in names if name not in known), ""):
        raise ValueError(f"{unknown!r} {problem}{did_you_mean(unknown, known)}")
    return names


PAGE_PARTS = (
    *("bylines", "captions", "comments", "controls", "copies", "dates", "dialogs", "filters", "headline", "navigation"),
    *("notices", "profiles", "promotions", "related", "reviews", "subtitles"),
)
"""The parts of a page that settings keep or leave out, whatever the choice of its main content says."""


def check_date(field: str, value: object) -> date | None:
    """Return a day, given as a date or as ISO 8601 text, or raise InvalidRequest."""
    if value is None:
        return None
    if isinstance(value, date):
        return value.date() if isinstance(value, datetime) else value
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise InvalidRequest(field, f"has {_excerpt(value)}", "Pass a day such as 2026-01-31.") from None


def check_pattern(field: str, value: object, pattern: str, examples: str) -> None:
    """Raise InvalidRequest unless `value` is None or matches `pattern` as a whole."""
    if value is not None and not (isinstance(value, str) and re.fullmatch(pattern, value)):
        raise InvalidRequest(field, f"cannot be {_excerpt(value)}", f"Pass a code such as {examples}.")


_AGE = re.compile(
    r"(?:qdr:|past|last|this|within|p)?[ _-]?(?:the[ _-])?(?P<count>[0-9]{0,3})[ _-]?"
    r"(?P<unit>h|d|w|mo|m|y|hour|day|week|month|year)s?"
)
_DAYS: Mapping[str, float] = MappingProxyType({"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365})
_AGES: Mapping[Literal["d", "w", "m", "y"], int] = MappingProxyType({"d": 1, "w": 7, "m": 31, "y": 366})


def time_range_of(name: str) -> Literal["d", "w", "m", "y", "all"]:
    """Return a time range, given by its letter or any alias, or raise InvalidRequest."""
    word = str(name).strip().lower()
    letter = TIME_RANGES.get(word)
    if letter is None and (match := _AGE.fullmatch(word)):  # past_week, last 7 days, 30d, pastMonth, qdr:w
        days = int(match["count"] or 1) * _DAYS[match["unit"][0] if match["unit"] != "mo" else "m"]
        letter = next((letter for letter, most in _AGES.items() if days <= most), None)
    if letter is None:
        raise InvalidRequest("time_range", f"cannot be {name!r:.60}", "Pass one of: day, week, month, year, all.")
    return letter


def nearest(word: str, words: Iterable[str], *, prefix: str = "") -> str | None:
    """Return the known word most similar to a given one, or None if none is similar.

    Args:
        word: The given word.
        words: The valid words.
        prefix: A prefix of all valid words, which does not count as similarity.
    """
    choices = {choice.removeprefix(prefix).lower(): choice for choice in sorted(words)}
    from difflib import get_close_matches  # only a wrong name waits for it

    near = get_close_matches(word.removeprefix(prefix).lower(), choices, n=1, cutoff=0.6)
    return choices[near[0]] if near else None


def did_you_mean(word: str, words: Iterable[str], *, prefix: str = "") -> str:
    """Return "; did you mean X?" for the nearest of the known words, else the list of them if it is short.

    The arguments are those of `nearest`.
    """
    words = sorted(words)
    if near := nearest(word, words, prefix=prefix):
        return f"; did you mean {near!r}?"
    return f"; known here: {', '.join(words)}." if 0 < len(words) <= _MOST_NAMED else "."


_PLAIN_FAULTS: Final = MappingProxyType({"extra_forbidden": "is unknown", "missing": "is required"})
"""Pydantic's messages in plain words, by type."""

MAX_FAULTS: Final = 500
"""Errors that are listed one by one."""


def faults(error: ValidationError) -> list[tuple[str, str]]:
    """Return pydantic's errors as (dotted key, problem), without the values, which may be secret."""
    if error.error_count() > MAX_FAULTS:  # listing all of them would take longer than finding them
        return [("", f"{error.error_count():,} values are wrong")]
    rows = []
    for item in error.errors(include_url=False, include_input=False):
        key = ".".join(str(part) for part in item["loc"])
        fault = item.get("ctx", {}).get("error")
        own = f"{fault.problem}. {fault.fix}" if isinstance(fault, InvalidRequest) else ""  # the key stands before it
        text = own or _PLAIN_FAULTS.get(item["type"]) or item["msg"].removeprefix("Value error, ")
        rows.append((key, text[:1].lower() + text[1:]))
    return rows


def _excerpt(value: object) -> str:
    return excerpt(repr(value) if not isinstance(value, int) or abs(value) < 10**18 else "a huge number")


TimeRangeName = Literal["day", "week", "month", "year"]
"""The names of `d`, `w`, `m` and `y`."""

TIME_RANGES: Mapping[str, Literal["d", "w", "m", "y", "all"]] = MappingProxyType(
    {
        **dict.fromkeys(("d", "day", "pd", "today", "daily"), "d"),
        **dict.fromkeys(("w", "week", "pw", "weekly"), "w"),
        **dict.fromkeys(("m", "month", "pm", "monthly"), "m"),
        **dict.fromkeys(("y", "year", "py", "yearly", "12m"), "y"),
        **dict.fromkeys(("all", "any", "any time", "any_time", "anytime", "none", "all time", "all_time"), "all"),
    }
)
"""The aliases of time ranges."""


class FrozenModel(Hinting, BaseModel):
    """A frozen model with a JSON form."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="null", defer_build=True
    )


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_variables(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of environment variables.

    Raises:
        ValueError: one is none.
    """
    if not all(_VARIABLE.fullmatch(word) for word in words):  # without naming it: it may be the secret itself
        raise ValueError("holds something that is not the name of an environment variable; write names, not values")
    return words
