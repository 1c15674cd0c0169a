"""The pair of tools `search` and `fetch`, as ChatGPT's connectors and deep research require them (setting `mcp.tools`).

Both results are one JSON text, which is also the structured content; see "Building MCP servers for ChatGPT Apps and
API integrations" (developers.openai.com/docs/mcp). The id of a result is its URL. What a model reads of a
page is fenced, as everywhere.
"""

from __future__ import annotations

import json
from typing import Any, Final

import mcp_types as types

from groundwire.tools import OpenPageToolResult, ToolResult, render_text

__all__ = ["OPENAI_TOOLS", "openai_result"]

_HINTS: Final = types.ToolAnnotations(read_only_hint=True, open_world_hint=True, destructive_hint=False)


def _object(*texts: str, **others: Any) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in texts} | others
    return {"type": "object", "properties": properties, "required": list(properties)}


OPENAI_TOOLS: Final = (
    types.Tool(
        name="search",
        title="Search the web",
        description="Search the web. Returns the id, title and URL of each page; fetch reads one by its id.",
        input_schema=_object("query"),
        output_schema=_object(results={"type": "array", "items": _object("id", "title", "url")}),
        annotations=_HINTS,
    ),
    types.Tool(
        name="fetch",
        title="Open a web page",
        description="Read a page as Markdown by the id of a result of search, or by its URL.",
        input_schema=_object("id"),
        output_schema=_object("id", "title", "text", "url", metadata={"type": "object"}),
        annotations=_HINTS,
    ),
)
"""The definitions."""


def openai_result(result: ToolResult) -> types.CallToolResult:
    """Return a result in the form of the pair; a failure is its text."""
    if result.status == "error":
        return types.CallToolResult(content=[types.TextContent(text=render_text(result))], is_error=True)
    values: dict[str, Any]
    if isinstance(result, OpenPageToolResult):
        known = {"published": result.published, "citation_id": result.citation_id, "truncated": result.truncated}
        values = {
            "id": result.url,
            "title": result.title,
            "text": render_text(result),
            "url": result.final_url or result.url,
            "metadata": {name: str(value) for name, value in known.items() if value},
        }
    else:
        values = {"results": [{"id": row.url, "title": row.title, "url": row.url} for row in result.results]}
    text = json.dumps(values, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=values)
