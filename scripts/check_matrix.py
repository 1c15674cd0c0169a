"""Compare the matrix of hosted search with the SDKs that are installed, and print what is due for another look.

Run by `make matrix` and by the tests, without a network: names of tools, their fields and the places of users are from
the types of the SDKs. What is wrong is an error; a row that has expired is printed, and fails with `--strict` alone.
A model that the project names must be in `models.toml`, and is an error from 30 days before its end.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import anthropic.types as anthropic_types
from google.genai import types as google_types
from openai.types.chat import completion_create_params
from openai.types.responses import WebSearchToolParam

from groundwire.hosted import load_matrix
from groundwire.hosted.api_capabilities import Api
from groundwire.hosted.model_lifecycles import ModelLifecycle, load_lifecycles

ROOT = Path(__file__).resolve().parents[1]
NOTICE = timedelta(days=30)
"""How long before its end a model that is still named is an error."""

_PLACES = ("README.md", "benchmarks", "deploy", "docs", "examples", "packages", "scripts", "src", "tests")
_LIVES = "src/groundwire/hosted/data/models.toml"
_MATRIX = "src/groundwire/hosted/data/matrix.toml"
_ENDED = (_LIVES, _MATRIX, "tests/hosted/test_model_lifecycles.py", "tests/recordings/")
"""Where names of models that have ended belong: what is recorded of them, and what is said of their end."""
_TEXT = frozenset({".c", ".html", ".js", ".json", ".md", ".mjs", ".py", ".sh", ".toml", ".ts", ".yaml", ".yml"})
_BUILT = frozenset({"node_modules", "dist", "__pycache__"})
_FAMILIES = (
    r"gpt-\d[\w.-]*",
    r"gpt-oss-\w+",
    r"(?<=[\"'/:`])o[134](?:-(?:mini|pro|preview|deep)[\w-]*)?(?=[\"'`])",
    r"claude-(?:opus|sonnet|haiku|fable|mythos|instant|\d)[\w.-]*",
    r"gemini-\d[\w.]*-[\w.-]*",
    r"grok-\d[\w.-]*",
    r"(?:mistral|magistral|ministral)-(?:small|medium|large|\d)[\w.-]*",
    r"(?:perplexity/)?sonar-(?:pro|reasoning|deep)[\w-]*|perplexity/sonar",
    r"deepseek-(?:chat|reasoner|flash|v\d)[\w.-]*",
    r"kimi-(?:k\d|latest)[\w.-]*",
    r"qwen[\d.]*-(?:max|plus|flash|turbo)[\w.-]*",
    r"(?<![\w-])glm-\d[\w.-]*",
    r"nova-(?:\d|premier|pro|lite|micro)[\w-]*",
)
_MODEL = re.compile(rf"(?<![\w.])(?:{'|'.join(_FAMILIES)})|(?<=amazon\.)nova-[\w-]+")
_INVENTED = re.compile(r"\w+-9\b|deepseek-v9|claude-fable-1$")  # families that nobody knows, for tests
_NAMES = {
    "blocked_domains": "exclude",
    "allowed_domains": "include",
    "max_uses": "max_uses",
    "user_location": "location",
}


def main(arguments: list[str] | None = None, *, today: date | None = None) -> int:
    """Print problems, the ends of models and due rows; return the exit code.

    Args:
        arguments: Those of the command line.
        today: Another day, for tests.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strict", action="store_true", help="rows that have expired are errors, too")
    strict = parser.parse_args(arguments).strict
    apis = load_matrix().apis
    today, named = today or datetime.now(UTC).date(), named_models()
    wrong = [*_anthropic(apis["anthropic"]), *_openai(apis), *_gemini(apis), *_dates(apis.values())]
    wrong += [*unknown(named), *ending(named, today + NOTICE)]
    due = list(aged(today))
    for name, life in load_lifecycles().models.items():
        if life.ends and life.ends > today:
            print(f"ends: {name} on {life.ends}{_then(life)}")
    for line in wrong:
        print(f"wrong: {line}")
    for line in due:
        print(f"due: {line}")
    print(f"{len(apis)} rows, {len(load_lifecycles().models)} models, {len(wrong)} wrong, {len(due)} due")
    return 1 if wrong or (strict and due) else 0


def aged(today: date) -> Iterator[str]:
    """Yield the rows due on a day: their names, when they were checked, and their source."""
    for name, api in load_matrix().apis.items():
        if api.expires <= today:
            yield f"{name}: last compared on {api.checked} with {api.source}"


def _dates(apis: Iterable[Api]) -> Iterator[str]:
    for api in apis:
        if not api.checked < api.expires:
            yield f"{api.name}: expires on {api.expires}, before it was checked"


def named_models(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the names of models in the project's text, each with the files that name it."""
    named: dict[str, set[str]] = {}
    for place in (root / name for name in _PLACES):
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.suffix not in _TEXT or _BUILT & set(path.parts) or not path.is_file():
                continue
            for name in _MODEL.findall(path.read_text("utf-8", "replace")):
                if not _INVENTED.search(name):
                    named.setdefault(name.rstrip(".-"), set()).add(path.relative_to(root).as_posix())
    return named


def unknown(named: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the names that `models.toml` does not have; the matrix has patterns, too."""
    lives = load_lifecycles()
    for name, paths in named.items():
        if lives.find(name) is None and (where := paths - {_MATRIX}):
            yield f"{name} is not in models.toml ({min(where)})"


def ending(named: Mapping[str, set[str]], day: date) -> Iterator[str]:
    """Yield the models that end until a day and are named where only living models belong."""
    lives = load_lifecycles()
    for name, paths in named.items():
        life = lives.find(name)
        where = sorted(path for path in paths if not path.startswith(_ENDED))
        if life and life.has_ended(day) and where:
            yield f"{name} ends on {life.ends}{_then(life)}, and is named in {', '.join(where)}"
    for api in load_matrix().apis.values():
        life = lives.find(api.hosted.switch_to, api.provider) if api.hosted and api.hosted.switch_to else None
        if life and life.has_ended(day):
            yield f"{api.name}: switches to {life.name}, which ends on {life.ends}"


def _then(life: ModelLifecycle) -> str:
    return f", then {life.successor}" if life.successor else ""


def _anthropic(api: Api) -> Iterator[str]:
    known = str(anthropic_types.ToolUnionParam)
    theirs = {f"web_search_{day}" for day in re.findall(r"WebSearchTool(\d{8})Param", known)}
    ours = {version.tool for version in api.versions} | ({api.hosted.tool} if api.hosted else set())
    if theirs != ours:
        yield f"anthropic: the SDK has {sorted(theirs)}, the matrix {sorted(ours)}"
    readers = {f"web_fetch_{day}" for day in re.findall(r"WebFetchTool(\d{8})Param", known)}
    named = {one.page_tool for one in (*api.versions, *([api.hosted] if api.hosted else ()))}
    if not named <= readers:
        yield f"anthropic: the SDK has {sorted(readers)}, the matrix {sorted(named)}"
    fields = anthropic_types.WebSearchTool20250305Param.__annotations__
    for field, ability in _NAMES.items():
        if bool(getattr(api.hosted, ability, None) not in (0, "no", ())) != (field in fields):
            yield f"anthropic: {field} is {'' if field in fields else 'not '}in the SDK"
    place = set(anthropic_types.UserLocationParam.__annotations__) - {"type"}
    if api.hosted and place != set(api.hosted.location):
        yield f"anthropic: a place has {sorted(place)} in the SDK"


def _openai(apis: Mapping[str, Api]) -> Iterator[str]:
    api, chat = apis["openai_responses"], apis["openai_chat"]
    if api.hosted is None or chat.hosted is None:
        yield "openai: has no hosted search"
        return
    theirs = set(re.findall(r"'(web_search\w*)'", str(WebSearchToolParam.__annotations__["type"])))
    ours = {version.tool for version in api.versions} | {api.hosted.tool}
    if theirs != ours:
        yield f"openai_responses: the SDK has {sorted(theirs)}, the matrix {sorted(ours)}"
    if chat.hosted.tool not in completion_create_params.CompletionCreateParamsBase.__annotations__:
        yield f"openai_chat: the SDK has no {chat.hosted.tool}"
    place = completion_create_params.WebSearchOptionsUserLocationApproximate.__annotations__
    if set(place) != set(chat.hosted.location):
        yield f"openai_chat: a place has {sorted(place)} in the SDK"


def _gemini(apis: Mapping[str, Api]) -> Iterator[str]:
    api = apis["gemini"]
    if api.hosted is None:
        yield "gemini: has no hosted search"
        return
    tool = google_types.Tool.model_fields
    if not any(field.alias == api.hosted.tool for field in tool.values()):
        yield f"gemini: the SDK has no tool {api.hosted.tool}"
    fields = google_types.GoogleSearch.model_fields
    if api.hosted.recency != ("time_range_filter" in fields):
        yield "gemini: time_range_filter"
    if any("include" in name for name in fields) != bool(api.hosted.include):
        yield "gemini: domains to include"


if __name__ == "__main__":
    sys.exit(main())
