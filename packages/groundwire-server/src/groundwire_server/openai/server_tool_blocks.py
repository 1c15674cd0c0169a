"""Anthropic's blocks of server tools: as function tools for the model server, and as the API's own for the client.

Numbers and snippets of pages are inside `encrypted_content` and `encrypted_index`, so that every later request finds
them again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from groundwire.hosted.answers import HostedCall
from groundwire.hosted.answers.types import object_of
from groundwire.models import Source
from groundwire.tools import OpenPageToolResult, ToolResult, WebSearchToolResult
from groundwire_server.openai.prompts import arguments_in

__all__ = ["block_type", "call_block", "citation", "result_block", "sealed_pages", "with_function_tools"]

_SERVER_TOOLS: Final[Mapping[str, str]] = MappingProxyType({"web_search": "web_search", "open_page": "web_fetch"})
_FUNCTIONS: Final[Mapping[str, str]] = MappingProxyType({tool: function for function, tool in _SERVER_TOOLS.items()})
_RESULT_TYPES = frozenset({"web_search_tool_result", "web_fetch_tool_result"})
_ID_PREFIX = "srvtoolu_gw_"  # of the proxy's calls; those of Anthropic's own server stay as they are
_QUOTATION_CHARS = 150  # as in the API
_LIMIT_ERROR = "Search limit reached"


def block_type(block: object) -> str:
    """Return the type of a content block, empty if it has none."""
    return str(object_of(block).get("type") or "")


def call_block(call: HostedCall) -> dict[str, Any]:
    """Return the block of a local call."""
    name = _SERVER_TOOLS[call.name]
    return {"type": "server_tool_use", "id": f"{_ID_PREFIX}{call.id}", "name": name, "input": arguments_in(call)}


def result_block(call: HostedCall, result: ToolResult, number: Callable[[str], int]) -> dict[str, Any]:
    """Return the block of the result of a local call.

    Args:
        call: The call.
        result: Its result.
        number: Returns the number of a page by its URL.
    """
    kind = f"{_SERVER_TOOLS[call.name]}_tool_result"
    return {"type": kind, "tool_use_id": f"{_ID_PREFIX}{call.id}", "content": _result_content(kind, result, number)}


def _result_content(kind: str, result: ToolResult, number: Callable[[str], int]) -> Any:
    if isinstance(result, WebSearchToolResult) and result.status == "success":
        return [
            {
                "type": "web_search_result",
                "url": row.url,
                "title": row.title,
                "encrypted_content": _seal(number(row.url), row.url, row.snippet),
                "page_age": row.published,
            }
            for row in result.results
        ]
    if isinstance(result, OpenPageToolResult) and result.status == "success":
        source = {"type": "text", "media_type": "text/plain", "data": result.content}
        document = {"type": "document", "title": result.title, "citations": None, "source": source}
        page = {"type": "web_fetch_result", "url": result.final_url or result.url, "retrieved_at": None}
        return {**page, "content": document}
    code = "max_uses_exceeded" if result.error.startswith(_LIMIT_ERROR) else "unavailable"
    code = "url_not_accessible" if isinstance(result, OpenPageToolResult) else code
    return {"type": f"{kind}_error", "error_code": code}


def citation(source: Source, number: int, snippet: str) -> dict[str, Any]:
    """Return a citation of a page in a text block."""
    return {
        "type": "web_search_result_location",
        "url": source.url,
        "title": source.title,
        "encrypted_index": _seal(number, source.url),
        "cited_text": snippet[:_QUOTATION_CHARS],
    }


def with_function_tools(messages: Sequence[Any]) -> list[Any]:
    """Return a conversation in which the proxy's server tools are function tools, each with its result after it."""
    converted: list[Any] = []
    results: list[Any] = []  # of the calls at the end of `converted`, for the next message of the user
    for message in messages:
        content = object_of(message).get("content")
        if object_of(message).get("role") != "assistant" or not isinstance(content, list):
            texts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            converted.append({**message, "content": [*results, *(texts or ())]} if results else message)
            results = []
            continue
        blocks: list[Any] = []
        for block in content:
            kind = block_type(block)
            is_result = kind in _RESULT_TYPES and _has_prefix(block, "tool_use_id")
            if results and not is_result and kind != "tool_use":
                converted += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
                blocks, results = [], []
            if is_result:
                text = _result_text(block.get("content"))
                results.append({"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": text})
            elif kind == "server_tool_use" and _has_prefix(block, "id"):
                name = _FUNCTIONS.get(str(block.get("name")), "")
                blocks.append({"type": "tool_use", "id": block["id"], "name": name, "input": block.get("input")})
            else:
                blocks.append(_with_markers(block))
        if blocks:
            converted.append({**message, "content": blocks})
    return [*converted, {"role": "user", "content": results}] if results else converted


def sealed_pages(messages: object) -> Iterator[tuple[int, str]]:
    """Yield the page numbers in the blocks of a conversation, with their URLs."""
    pending = [messages]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += reversed(value)
        elif isinstance(value, Mapping):
            for key in ("encrypted_index", "encrypted_content"):
                if key in value and (page := _unseal(value[key])):
                    yield page[0], page[1]
            pending += [value[key] for key in ("citations", "content") if isinstance(value.get(key), list)]


def _has_prefix(block: Mapping[str, Any], key: str) -> bool:
    """Whether the ID in a block is that of a call of the proxy."""
    return str(block.get(key, "")).startswith(_ID_PREFIX)


def _with_markers(block: Any) -> Any:
    """Return a text with its citations written as markers."""
    if block_type(block) != "text" or not block.get("citations"):
        return block
    pages = [_unseal(note.get("encrypted_index")) for note in block["citations"] if isinstance(note, Mapping)]
    markers = "".join(f"[{page[0]}]" for page in pages if page)
    return {"type": "text", "text": f"{block.get('text', '')} {markers}" if markers else str(block.get("text", ""))}


def _result_text(content: Any) -> str:
    """Return the result of a server tool as text for a model."""
    if isinstance(content, list):
        rows = [(row, _unseal(row.get("encrypted_content"))) for row in content if isinstance(row, Mapping)]
        return "\n\n".join(
            f"{page[0]}. {row.get('title')}\n   URL: {page[1]}\n   {page[2]}" for row, page in rows if page
        )
    source = object_of(object_of(content).get("content")).get("source")
    return str(source.get("data")) if isinstance(source, Mapping) else f"It failed: {content}"


def _seal(number: int, url: str, snippet: str = "") -> str:
    """Return a page's number and a snippet, in place of the API's encrypted content."""
    return base64.b64encode(json.dumps([number, url, snippet]).encode("utf-8", "surrogatepass")).decode()


def _unseal(sealed: object) -> tuple[int, str, str] | None:
    """Decode `_seal`; None for anything else."""
    try:
        number, url, snippet = json.loads(base64.b64decode(str(sealed), validate=True))
    except (ValueError, TypeError, RecursionError):
        return None
    return (number, url, snippet) if isinstance(number, int) and isinstance(url, str) else None
