"""Compare the matrix of hosted search with the SDKs that are installed, and print what is due for another look.

Run by `make matrix` and by the tests, without a network: names of tools, their fields and the places of users are from
the types of the SDKs. What is wrong is an error; a row that has expired is printed, and fails with `--strict` alone.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime

import anthropic.types as anthropic_types
from google.genai import types as google_types
from openai.types.chat import completion_create_params
from openai.types.responses import WebSearchToolParam

from groundwire.hosted import load_matrix
from groundwire.hosted.api_capabilities import Api

RETIRED = (  # API and model, shut down by their makers
    ("openai_chat", "gpt-4o-search-preview"),
    ("openai_chat", "gpt-4o-mini-search-preview"),
    ("perplexity", "sonar-pro"),
    ("deepseek", "deepseek-chat"),
    ("kimi", "kimi-k2-turbo-preview"),
    ("bedrock", "us.amazon.nova-premier-v1:0"),
)
_NAMES = {
    "blocked_domains": "exclude",
    "allowed_domains": "include",
    "max_uses": "max_uses",
    "user_location": "location",
}


def main(arguments: list[str] | None = None) -> int:
    """Print problems and due rows; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strict", action="store_true", help="rows that have expired are errors, too")
    strict = parser.parse_args(arguments).strict
    apis = load_matrix().apis
    wrong = [*_anthropic(apis["anthropic"]), *_openai(apis), *_gemini(apis), *_dates(apis.values()), *_retired(apis)]
    due = list(aged(datetime.now(UTC).date()))
    for line in wrong:
        print(f"wrong: {line}")
    for line in due:
        print(f"due: {line}")
    print(f"{len(apis)} rows, {len(wrong)} wrong, {len(due)} due")
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


def _retired(apis: Mapping[str, Api]) -> Iterator[str]:
    for name, model in RETIRED:
        if apis[name].look_up(model, "api")[0] is not None:
            yield f"{name}: {model} was shut down"
    ended = {model for _, model in RETIRED}
    for name, api in apis.items():
        if api.hosted and api.hosted.switch_to in ended:
            yield f"{name}: {api.hosted.switch_to} was shut down"


def _anthropic(api: Api) -> Iterator[str]:
    known = str(anthropic_types.ToolUnionParam)
    theirs = {f"web_search_{day}" for day in re.findall(r"WebSearchTool(\d{8})Param", known)}
    ours = {version.tool for version in api.versions} | ({api.hosted.tool} if api.hosted else set())
    if theirs != ours:
        yield f"anthropic: the SDK has {sorted(theirs)}, the matrix {sorted(ours)}"
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
