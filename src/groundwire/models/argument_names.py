"""Other libraries' names of arguments.

Models call the tools, and clients of other services call the gateway's drop-ins, with the names that they know: those
calls are understood. In Python, on the command line and at our own HTTP endpoints such a name is an error that names
the right word.

The names are those of tavily-python, exa-py, ddgs, firecrawl-py, the APIs of Brave, Perplexity, Linkup, Valyu, Serper
and SerpApi, the web tools of OpenAI and Anthropic, LangChain's tools, httpx, requests, curl, gh, ddgr and lynx.

Where a call is understood, an argument that Groundwire has under another name is renamed. One that asks for something
in addition to the right results, or for another way of getting them, has no effect, and a warning in the response says
so. One that asks for different results is refused: ignoring it would return something that was not asked for.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypedDict

from groundwire.errors import InvalidRequest
from groundwire.hints import METHODS
from groundwire.models.validators import nearest, time_range_of


class NoArguments(TypedDict):
    """No further arguments: a type checker refuses each of them, and a call names the right word."""


def unknown_argument(method: Callable[..., Any], unknown: Iterable[str], names: Mapping[str, str]) -> TypeError:
    """Return the error for a call with arguments that do not exist.

    Args:
        method: The function or the bound method, whose last argument takes the unknown ones.
        unknown: These arguments; the first is named.
        names: Other libraries' names of the arguments that exist.
    """
    name, valid = next(iter(unknown)), [*inspect.signature(method).parameters][:-1]
    hint = argument_hint(name, valid, names)
    return TypeError(f"{method.__name__}() has no argument {name!r}{hint} (arguments: {', '.join(valid)})")


def _camel(name: str) -> str:
    first, *words = name.split("_")
    return first + "".join(map(str.title, words))


def _names(rows: Mapping[str, str]) -> Mapping[str, str]:
    """Return what each word stands for, in snake case and in camel case."""
    table = _words(rows)
    return MappingProxyType({**{_camel(word): meant for word, meant in table.items()}, **table})


def _words(rows: Mapping[str, str]) -> Mapping[str, str]:
    """Return what each word stands for."""
    return MappingProxyType({word: meant for meant, words in rows.items() for word in words.split()})


_TABLES: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("argument_names.json").read_bytes())

SEARCH: Mapping[str, str] = _names(_TABLES["search"])
"""Other names of the arguments of a search."""

OPEN_PAGE: Mapping[str, str] = _names(_TABLES["open_page"])
"""Other names of the arguments of reading a page."""

ASK: Mapping[str, str] = _names(_TABLES["ask"])
"""Other names of the arguments of asking a question."""

_TOPICS = frozenset(_TABLES["topics"].split())
"""Arguments whose value `news` means recent pages, and `research` papers."""
_PAPERS = frozenset(_TABLES["papers"])

_VENDORS = frozenset(_TABLES["vendors"].split())
"""Words in the names of other libraries' tools, such as `tavily_search` and `web_search_exa`."""

_NO_EFFECT: Mapping[str, str] = _names(_TABLES["no_effect"])
"""Arguments without effect, with what to use instead: the results are right without them."""

_REFUSED: Mapping[str, str] = _names(_TABLES["refused"])

_FOREIGN: Mapping[str, str] = MappingProxyType({**_REFUSED, **_NO_EFFECT})
"""Other libraries' arguments that are not supported, with what to use instead."""

_IMPLIED: Mapping[str, frozenset[object]] = MappingProxyType(
    {name: frozenset(row["values"]) for row in _TABLES["implied"] for name in row["names"].split()}
)
"""What other libraries' arguments may ask for that is so here anyway."""

_NO_EFFECT_TYPES = frozenset(_TABLES["no_effect_types"].split())
"""Values of `type` without effect; its other values are refused."""

_HARMLESS_HEADERS = frozenset(_TABLES["headers"].split())
"""Headers that do not choose another page; a request with only these is served."""

SAFE_SEARCHES: Mapping[str, str] = _words(_TABLES["safesearch"])
"""Other libraries' SafeSearch levels."""


def translated(name: str, value: Any, names: Mapping[str, str], arguments: Iterable[str]) -> Mapping[str, Any] | None:
    """Return the arguments that another library's argument means, by name.

    Args:
        name: Its name.
        value: Its value.
        names: The canonical name of each alias.
        arguments: The arguments that exist.

    Returns:
        None if it is unknown or asks for something that does not exist; empty if it asks for nothing, or has no effect.
    """
    arguments = frozenset(arguments)
    if name in arguments or _snake(name) in arguments:
        return {_snake(name): argument_value(_snake(name), value)}
    right = names.get(name, "")
    if value is None and right in arguments:
        return {}
    converted = _convert(_snake(name), right, value)
    if converted and converted.keys() <= arguments:
        return converted
    if right in arguments and not (isinstance(value, bool) and right in _TEXTS):
        return {right: argument_value(right, value)}
    if name in _FOREIGN or _snake(name) in _FOREIGN:
        return (
            {} if _is_nothing(value) or _is_implied(_snake(name), value) or _is_ignored(_snake(name), value) else None
        )
    return None


_TEXTS = frozenset({"query", "find"})


def _is_nothing(value: Any) -> bool:
    return value is None or value is False or value in ("", 0, [], (), {})


def _is_implied(name: str, value: Any) -> bool:
    """Return whether all that is asked for is so anyway."""
    return all(isinstance(kind, (str, bool)) and kind in _IMPLIED.get(name, ()) for kind in _kinds(value))


def _kinds(value: Any) -> list[Any]:
    """Return the kinds that a value names: itself, or each of a list; {"type": "web"} of firecrawl is `web`."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [item.get("type") if isinstance(item, Mapping) else item for item in items]


def _is_ignored(name: str, value: Any) -> bool:
    if name == "headers" and isinstance(value, Mapping):
        return all(str(header).lower() in _HARMLESS_HEADERS for header in value)
    return name in _NO_EFFECT or (name == "type" and isinstance(value, str) and value in _NO_EFFECT_TYPES)


def search_sources(value: Any) -> Any:
    """Return the sources of a search as Groundwire names them; what is unknown stays.

    Args:
        value: A name, an object with a name as `type`, or a list of them.
    """
    kinds = _kinds(value)
    names = [kind.lower() for kind in kinds if isinstance(kind, str)]
    if len(names) < len(kinds):
        return value
    return ["papers" if name in _PAPERS else "web" if name == "text" else name for name in names]


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
        f"{name} has no effect: {_FOREIGN[_snake(name)]}"
        for name, value in arguments.items()
        if (plain := _snake(name)) not in own
        and _is_ignored(plain, value)
        and not (_is_nothing(value) or _is_implied(plain, value) or _convert(plain, names.get(name, ""), value))
        and (name not in names or (isinstance(value, bool) and names[name] in _TEXTS))
    )


_TIMES = frozenset(("time_range", "published_after", "published_before", "days", "recency_days", "max_age_days", "tbs"))


def _is_news(name: str, value: Any) -> bool:
    return _snake(name) in _TOPICS and value in ("news", ["news"], ("news",))


def recent(arguments: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the arguments of a search; one for news is for pages of the last month, unless they give another time.

    Args:
        arguments: The arguments under any names.
        names: The canonical name of each alias.
    """
    others = {name: value for name, value in arguments.items() if not _is_news(name, value)}
    if len(others) == len(arguments):
        return arguments
    times = [value for name, value in others.items() if names.get(name, _snake(name)) in _TIMES]
    aged = any(value not in (None, "", "all") for value in times)
    return others if aged else {**others, "time_range": "m"}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def argument_value(name: str, value: Any) -> Any:
    """Return a value as Groundwire writes it; one that is not understood stays.

    Args:
        name: The argument, by its canonical name.
        value: Its value.
    """
    if name in ("allowed_domains", "blocked_domains") and isinstance(value, str) and not value.lstrip().startswith("["):
        return value.replace(",", " ").split()
    if name == "urls" and isinstance(value, str):
        return [value]
    if name == "sources" and value is not None:
        return search_sources(value)
    if isinstance(value, (list, tuple)) and len(value) == 1 and name in ("query", "url", "language", "region"):
        return argument_value(name, value[0])
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


def _convert(name: str, right: str, value: Any) -> Mapping[str, Any] | None:
    """Return the arguments that an argument of another kind means."""
    if name in _TOPICS and search_sources(value) == ["papers"]:
        return {"sources": ["papers"]}
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
    if name == "start_index" and isinstance(value, int) and value:
        return {"cursor": f"@{value}"}
    if isinstance(value, Mapping):
        return _convert_mapping(name, value)
    if isinstance(value, (list, tuple)):
        return _convert_list(name, value)
    return _convert_text(name, right, value) if isinstance(value, str) else None


def _convert_mapping(name: str, value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if name == "filters":
        return {key: argument_value(key, item) for key, item in value.items()} or None
    if name == "user_location" and value.get("country"):
        return {"region": argument_value("region", value["country"])}
    return None


def _convert_list(name: str, value: Sequence[Any]) -> Mapping[str, Any] | None:
    if name == "search_domain_filter":  # Perplexity: -a.test excludes, and .test is a.test, too
        return {
            "allowed_domains": [str(domain).removeprefix(".") for domain in value if not str(domain).startswith("-")],
            "blocked_domains": [str(domain)[1:].removeprefix(".") for domain in value if str(domain).startswith("-")],
        }
    return {"url": value[0]} if name == "urls" and len(value) == 1 else None


def _convert_text(name: str, right: str, value: str) -> Mapping[str, Any] | None:
    if name == "tbs" and value.startswith("qdr:"):
        return {"time_range": value.removeprefix("qdr:")}
    if right == "time_range" and (span := _SPAN.fullmatch(value)):  # Brave: 2026-01-01to2026-02-01
        return {"published_after": span[1], "published_before": span[2]}
    if name.startswith("search_") and (day := _AMERICAN_DAY.fullmatch(value)):  # Perplexity: month/day/year
        return {right: f"{day[3]}-{day[1]:0>2}-{day[2]:0>2}"}
    if name == "locale":
        language, _, region = value.replace("_", "-").partition("-")
        return {"language": language} | ({"region": argument_value("region", region)} if region else {})
    return None


_OF_EVERY_CALL = frozenset({"timeout", "refresh", "keep"})


def argument_hint(name: str, arguments: Iterable[str], names: Mapping[str, str]) -> str:
    """Return a hint such as `; use ask()` for an unknown argument, else an empty string.

    Args:
        name: The argument.
        arguments: Names that it may be a misspelling of.
        names: The canonical name of each alias.
    """
    plain = _snake(name)
    if name in names or plain in names:
        return f"; did you mean {names.get(name) or names[plain]!r}?"
    if plain in _OF_EVERY_CALL:
        return "; leave it out"
    if plain in _FOREIGN:
        return f"; {_FOREIGN[plain]}"
    for method, table in (("search", SEARCH), ("open_page", OPEN_PAGE)):
        if table is not names and (plain in table or plain in table.values()):
            return f"; use {method}() with {table.get(plain, plain)}"
    near = nearest(name, arguments)
    return f"; did you mean {names.get(near, near)!r}?" if near else ""


def tool_method(name: str) -> str:
    """Return the method that a tool of another library stands for, such as `search` for `tavily-search`; else nothing.

    Args:
        name: The tool's name.
    """
    words = [word for word in name.lower().replace("-", "_").split("_") if word not in _VENDORS]
    method = METHODS.get("_".join(words), "_".join(words))
    return {"open_pages": "open_page"}.get(method, method) if method in METHODS.values() else ""
