"""The three tiers of convergio: Anthropic's search, OpenAI's search, and local search for all others.

    request = prepare_request(body, "openai")      # whatever the provider, one call
    text = await tool_web_search("rank fusion")    # what the tool `web_search` runs in the third tier

Tools may be lists, or the JSON text that a host written in C passes; the result has the same type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from groundwire.errors import InvalidRequest
from groundwire.hosted import prepare
from groundwire.hosted.api_capabilities import load_matrix
from groundwire.hosted.tool_definitions import read
from groundwire.integrations.hosts import load_with, tool_of
from groundwire.json_text import json_or_none
from groundwire.providers.duckduckgo_page import parse
from groundwire.routing.result_merging import normalize
from groundwire.tools import render_text, web_search_tool
from groundwire.transport import Response
from groundwire.web import Web

__all__ = [
    "WEB_SEARCH_TOOL",
    "build_tools_json_excluding_web_search",
    "has_web_search_tool",
    "parse_duckduckgo_results",
    "prepare_request",
    "tool_web_search",
    "transform_tools_for_anthropic",
]

_NAME = "web_search"
_NATIVE = "web_search_20250305"

WEB_SEARCH_TOOL: Mapping[str, Any] = MappingProxyType(tool_of("convergio"))
"""The tool as convergio defines it."""

Tools = TypeVar("Tools", str, Sequence[Mapping[str, Any]])
"""A request's tools, as a list or as JSON text."""


def has_web_search_tool(tools: str | Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a request's tools have a function tool `web_search`, in any API's format.

    Raises:
        InvalidRequest: the tools are not a list.
    """
    return any(map(_is_search, _listed(tools)))


def transform_tools_for_anthropic(tools: Tools) -> Tools:
    """Return the tools with `web_search` replaced by Anthropic's own search; the others are unchanged.

    Raises:
        InvalidRequest: the tools are not a list.
    """
    native = {"type": _NATIVE, "name": _NAME}
    changed: Tools = _alike(tools, [native if _is_search(tool) else tool for tool in _listed(tools)])
    return changed


def build_tools_json_excluding_web_search(tools: Tools) -> Tools:
    """Return the tools without `web_search`, which OpenAI's search model does not need.

    Raises:
        InvalidRequest: the tools are not a list.
    """
    remaining: Tools = _alike(tools, [tool for tool in _listed(tools) if not _is_search(tool)])
    return remaining


def prepare_request(body: Mapping[str, Any], provider: str) -> dict[str, Any]:
    """Return the request to send: with the provider's hosted search if it fits, else with the local tool.

    OpenAI's Chat Completions change the model to the one that searches, as the host does itself. That is logged.

    Args:
        body: The request, with a function tool `web_search` if the agent may search.
        provider: The provider of the model: `anthropic`, `openai`, `gemini`, `ollama`, `mlx` and others; an unknown one
            uses the local tool.

    Raises:
        InvalidRequest: the body is not in this provider's format.
    """
    return dict(prepare(body, load_matrix().api_or_local(provider, body), mode="auto", switch_model=True))


def parse_duckduckgo_results(html: str | bytes) -> list[dict[str, str]]:
    """Return the title, URL and snippet of each result on DuckDuckGo's HTML page.

    Titles are cut at 500 characters, snippets at 1,000; results with a URL over 2,048 are skipped.

    Args:
        html: The page.

    Raises:
        ProviderError: it is a bot check, or not a page of results.
    """
    data = html.encode() if isinstance(html, str) else html
    page = Response(
        url="https://lite.duckduckgo.com/lite/", status=200, headers={"Content-Type": "text/html"}, body=data
    )
    rows = normalize(parse(page), (), "duckduckgo_lite")
    return [{"title": row.title, "url": row.url, "snippet": row.snippet} for row in rows]


async def tool_web_search(query: str) -> str:
    """Search DuckDuckGo's HTML page in 15 seconds, and return titles, URLs and snippets as text; never raises."""
    async with Web(load_with("convergio")) as web:
        return render_text(await web_search_tool(web).call(query=query))


def _is_search(tool: object) -> bool:
    function = read(tool)
    return function is not None and function.name == _NAME


def _listed(tools: object) -> list[Any]:
    read_in = json_or_none(tools) if isinstance(tools, str) else tools
    if isinstance(read_in, (str, bytes)) or not isinstance(read_in, Sequence):
        raise InvalidRequest("tools", "is not a list", "Pass a list of tools, or its JSON text.")
    return list(read_in)


def _alike(tools: object, entries: list[Any]) -> Any:
    """Return a list in the form of the input tools: as JSON text if they were."""
    return json.dumps(entries, ensure_ascii=False) if isinstance(tools, str) else entries
