"""Calls with other libraries' names for arguments, for Python, models, the command line and HTTP alike.

The names are in `groundwire.models.alias_table`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from groundwire.errors import InvalidRequest
from groundwire.models.alias_table import (
    ASK,
    FOREIGN,
    FRAMEWORKS,
    HARMLESS_HEADERS,
    IMPLIED,
    LIKE_METHODS,
    LIKE_MODULES,
    METHODS,
    NEWS,
    NO_EFFECT,
    NO_EFFECT_VALUES,
    OPEN_PAGE,
    PROPERTIES,
    SAFE_SEARCHES,
    SEARCH,
    TOOL_CALLS,
    TOPICS,
    VENDORS,
)
from groundwire.models.validators import nearest, time_range_of

if TYPE_CHECKING:
    from groundwire.models.pages import Page
    from groundwire.models.search import SearchResponse

__all__ = [
    "ASK",
    "FOREIGN",
    "LIKE_METHODS",
    "LIKE_MODULES",
    "METHODS",
    "NEWS",
    "OPEN_PAGE",
    "PROPERTIES",
    "SAFE_SEARCHES",
    "SEARCH",
    "TOOL_CALLS",
    "PageAliases",
    "SearchAliases",
    "canonical",
    "either",
    "foreign",
    "framework_of",
    "noted",
    "other_method",
    "recent",
    "tool_method",
    "translated",
    "without_effect",
]


_Made = TypeVar("_Made", "SearchResponse", "Page")


class SearchAliases(TypedDict, total=False):
    """Other names of the arguments of `Web.search`, with their types."""

    max_results: int | None
    num_results: int | None
    count: int | None
    top_k: int | None
    k: int | None
    n: int | None
    include_domains: Sequence[str]
    exclude_domains: Sequence[str]
    freshness: str
    timelimit: str
    start_published_date: date | str | None
    end_published_date: date | str | None
    start_date: date | str | None
    end_date: date | str | None
    lang: str | None
    country: str | None
    safe_search: Any
    days: float
    search_depth: str
    topic: str
    provider: str


class PageAliases(TypedDict, total=False):
    """Other names of the arguments of `Web.open_page`, with their types."""

    max_chars: int | None
    max_characters: int | None
    formats: Sequence[str]
    only_main_content: bool


def translated(name: str, value: Any, names: Mapping[str, str], known: Iterable[str]) -> Mapping[str, Any] | None:
    """Return the arguments that another library's argument means, by name.

    Args:
        name: Its name.
        value: Its value.
        names: The canonical name of each alias.
        known: The arguments that exist.

    Returns:
        None if it is unknown or asks for something that does not exist; empty if it asks for nothing, or has no effect.
    """
    known = frozenset(known)
    if name in known or _snake(name) in known:
        return {_snake(name): _value(_snake(name), value)}
    right = names.get(name, "")
    if value is None and right in known:
        return {}
    meant = _converted(_snake(name), right, value)
    if meant and meant.keys() <= known:
        return meant
    if right in known and not (isinstance(value, bool) and right in _TEXTS):
        return {right: _value(right, value)}
    if name in FOREIGN or _snake(name) in FOREIGN:
        return (
            {} if _is_nothing(value) or _is_implied(_snake(name), value) or _is_ignored(_snake(name), value) else None
        )
    return None


_TEXTS = frozenset({"query", "question", "find"})


def _is_nothing(value: Any) -> bool:
    return value is None or value is False or value in ("", 0, [], (), {})


def _is_implied(name: str, value: Any) -> bool:
    """Return whether all that is asked for is so anyway."""
    asked = value if isinstance(value, (list, tuple)) else [value]
    kinds = [one.get("type") if isinstance(one, Mapping) else one for one in asked]  # {"type": "web"} of firecrawl
    return all(isinstance(one, (str, bool)) and one in IMPLIED.get(name, ()) for one in kinds)


def _is_ignored(name: str, value: Any) -> bool:
    if name == "headers" and isinstance(value, Mapping):
        return all(str(header).lower() in HARMLESS_HEADERS for header in value)
    return name in NO_EFFECT or (isinstance(value, str) and value in NO_EFFECT_VALUES.get(name, ()))


def without_effect(arguments: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return a warning for each of a call's arguments that is accepted and ignored.

    Args:
        arguments: The arguments under the names they were given.
        names: The canonical name of each alias.
    """
    own = set(names.values())
    news = tuple(
        f"{name}: pages of the last month, or of the time that is given, as there is no separate index of news"
        for name, value in arguments.items()
        if names is SEARCH and _is_news(name, value)
    )
    return news + tuple(
        f"{name} has no effect: {FOREIGN[_snake(name)]}"
        for name, value in arguments.items()
        if (plain := _snake(name)) not in own
        and _is_ignored(plain, value)
        and not (_is_nothing(value) or _is_implied(plain, value) or _converted(plain, names.get(name, ""), value))
        and (name not in names or (isinstance(value, bool) and names[name] in _TEXTS))
    )


_AGED = frozenset(("time_range", "published_after", "published_before", "days", "recency_days", "max_age_days", "tbs"))


def _is_news(name: str, value: Any) -> bool:
    return _snake(name) in TOPICS and value in ("news", ["news"], ("news",))


def recent(arguments: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the arguments of a search; one for news is for pages of the last month, unless they give another time.

    Args:
        arguments: The arguments under any names.
        names: The canonical name of each alias.
    """
    rest = {name: value for name, value in arguments.items() if not _is_news(name, value)}
    if len(rest) == len(arguments):
        return arguments
    aged = any(value not in (None, "", "all") for name, value in rest.items() if names.get(name, _snake(name)) in _AGED)
    return rest if aged else {**rest, "time_range": "m"}


def noted(made: _Made, arguments: Mapping[str, Any]) -> _Made:
    """Return a response with a warning for each argument that is accepted and ignored.

    Args:
        made: The response.
        arguments: The arguments under the names they were given.
    """
    names = OPEN_PAGE if "content" in type(made).model_fields else SEARCH
    ignored: tuple[str, ...] = without_effect(arguments, names)
    return made.model_copy(update={"warnings": (*made.warnings, *ignored)}) if ignored else made


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _value(name: str, value: Any) -> Any:
    """Return a value as Groundwire writes it."""
    if name in ("allowed_domains", "blocked_domains") and isinstance(value, str) and not value.lstrip().startswith("["):
        return value.replace(",", " ").split()
    if name == "urls" and isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple)) and len(value) == 1 and name in ("query", "url", "language", "region"):
        return _value(name, value[0])
    if name == "safesearch" and value is not None:
        return SAFE_SEARCHES.get(str(value).strip().lower(), value)
    if name == "region" and isinstance(value, str) and len(value) == 2:
        return "gb" if value.lower() == "uk" else value.lower()
    if name == "time_range" and isinstance(value, str):
        with contextlib.suppress(InvalidRequest):
            return time_range_of(value)
    if name == "language" and isinstance(value, str):
        return value.removeprefix("lang_").replace("_", "-")
    if name == "timeout" and isinstance(value, (list, tuple)) and all(isinstance(part, (int, float)) for part in value):
        return float(sum(value))  # requests: to connect, and to read
    if name in ("published_after", "published_before") and isinstance(value, str):
        day = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ][0-9:.]{4,16}(?:Z|[+-][0-9:]{4,6})?", value)
        return day[1] if day else value
    return value


_SPAN = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:to|\.\.|:|,)([0-9]{4}-[0-9]{2}-[0-9]{2})")
_AMERICAN_DAY = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})")


def _converted(name: str, right: str, value: Any) -> Mapping[str, Any] | None:
    """Return the arguments that an argument of another kind means."""
    if name in ("days", "recency_days", "max_age_days") or (
        right == "time_range" and isinstance(value, (int, float)) and not isinstance(value, bool)
    ):
        try:
            return {"published_after": str((datetime.now(UTC) - timedelta(days=float(value))).date())}
        except (TypeError, ValueError, OverflowError):
            return None
    if name == "livecrawl" and value in ("always", "never"):
        return {"refresh": value == "always"}
    if name in ("max_age", "max_age_hours", "use_cache", "cache") and value in (0, False) and value is not None:
        return {"refresh": True}
    if name == "filters" and isinstance(value, Mapping):
        return {key: _value(key, given) for key, given in value.items()} or None
    if name == "user_location" and isinstance(value, Mapping) and value.get("country"):
        return {"region": _value("region", value["country"])}
    if name == "search_domain_filter" and isinstance(value, (list, tuple)):  # Perplexity: -a.test excludes
        return {
            "allowed_domains": [one for one in value if not str(one).startswith("-")],
            "blocked_domains": [str(one)[1:] for one in value if str(one).startswith("-")],
        }
    if name == "urls" and isinstance(value, (list, tuple)) and len(value) == 1:
        return {"url": value[0]}
    if name == "messages" and isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        return {"question": value[0].get("content")}
    if not isinstance(value, str):
        return {"cursor": f"@{value}"} if name == "start_index" and isinstance(value, int) and value else None
    return _converted_text(name, right, value)


def _converted_text(name: str, right: str, value: str) -> Mapping[str, Any] | None:
    if name == "tbs" and value.startswith("qdr:"):
        return {"time_range": value.removeprefix("qdr:")}
    if right == "time_range" and (span := _SPAN.fullmatch(value)):  # Brave: 2026-01-01to2026-02-01
        return {"published_after": span[1], "published_before": span[2]}
    if name.startswith("search_") and (day := _AMERICAN_DAY.fullmatch(value)):  # Perplexity: month/day/year
        return {right: f"{day[3]}-{day[1]:0>2}-{day[2]:0>2}"}
    if name == "locale":
        language, _, region = value.replace("_", "-").partition("-")
        return {"language": language} | ({"region": _value("region", region)} if region else {})
    return None


def canonical(method: Callable[..., Any], call: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of a call under their canonical names.

    Args:
        method: The name of the called method.
        call: Its `locals()` at the start; `aliases` are the arguments under other names.
        names: The canonical name of each alias.

    Raises:
        TypeError: a name is unknown, or two names mean the same argument.
    """
    parameters = inspect.signature(method).parameters
    plain = {name: call.get(name, one.default) for name, one in parameters.items() if name not in {"self", "aliases"}}
    own = {name: value for name, value in plain.items() if value is not parameters[name].default}
    given = recent({**own, **call["aliases"]}, names) if names is SEARCH else call["aliases"]
    for name, value in given.items():
        if name in own:
            continue
        meant = translated(name, value, names, plain)
        if meant is None:
            hint = foreign(name, (*plain, *names), names)
            raise TypeError(f"{method.__name__}() has no argument {name!r}{hint} (arguments: {', '.join(plain)})")
        for right, understood in meant.items():
            if plain[right] is not parameters[right].default:
                raise TypeError(f"{method.__name__}() got {right!r} twice: {name!r} is another name for it")
            plain[right] = understood
    return plain


_OF_EVERY_CALL = frozenset({"timeout", "refresh", "keep"})


def foreign(name: str, known: Iterable[str], names: Mapping[str, str]) -> str:
    """Return a hint such as `; use ask()` for an unknown argument, else an empty string.

    Args:
        name: The argument.
        known: Names that it may be a misspelling of.
        names: The canonical name of each alias.
    """
    plain = _snake(name)
    if names.get(plain, plain) in _OF_EVERY_CALL:
        return "; leave it out"
    if plain in FOREIGN:
        return f"; {FOREIGN[plain]}"
    for method, table in (("search", SEARCH), ("open_page", OPEN_PAGE)):
        if table is not names and (plain in table or plain in table.values()):
            return f"; use {method}() with {table.get(plain, plain)}"
    near = nearest(name, known)
    return f"; did you mean {names.get(near, near)!r}?" if near else ""


def either(one: Callable[..., Any], several: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that reads one page, or several where it gets a list, as in other libraries.

    Args:
        one: Reads a page.
        several: Reads several.
    """

    @functools.wraps(one)
    def call(url: Any = None, *, urls: Any = None, **options: Any) -> Any:
        asked = url if urls is None else urls
        if asked is None:
            return one(**options)
        return one(asked, **options) if isinstance(asked, str) else several(asked, **options)

    return call


def tool_method(name: str) -> str:
    """Return the method that a tool of another library stands for, such as `search` for `tavily-search`; else nothing.

    Args:
        name: The tool's name.
    """
    words = [word for word in name.lower().replace("-", "_").split("_") if word not in VENDORS]
    method = METHODS.get("_".join(words), "_".join(words))
    return {"open_pages": "open_page"}.get(method, method) if method in METHODS.values() else ""


def framework_of(name: str) -> str:
    """Return the framework whose tools a name such as `to_langchain` or `crewai_tools` asks for; else nothing.

    Args:
        name: The name of a method.
    """
    words = [word for word in name.split("_") if word not in ("to", "as", "get", "for", "tool", "tools", "web")]
    return FRAMEWORKS.get("".join(words), "") if len(words) < len(name.split("_")) else ""


def other_method(name: str) -> str:
    """Return a hint such as `; did you mean 'open_page'?` for another library's name, else an empty string."""
    near = LIKE_METHODS.get(name) or LIKE_MODULES.get(name, "").format(name) or METHODS.get(name)
    return f"; did you mean {near!r}?" if near else ""
