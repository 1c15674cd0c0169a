"""The pair of tools `search` and `fetch`, as ChatGPT's connectors and deep research require them (setting `mcp.tools`).

Both results are one JSON text, which is also the structured content; see "Building MCP servers for ChatGPT Apps and
API integrations" (developers.openai.com/docs/mcp). The id of a result is its URL. What a model reads of a
page is fenced, as everywhere.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

import mcp_types as types

from groundwire.tools import OpenPageToolResult, ToolResult, render_text

OPENAI_TOOLS: Final = tuple(
    map(types.Tool.model_validate, json.loads(files(__package__).joinpath("openai_tools.json").read_bytes()))
)
"""The definitions."""


def openai_result(result: ToolResult) -> types.CallToolResult:
    """Return a result in the form of the pair; a failure is its text."""
    if result.status == "error":
        return types.CallToolResult(content=[types.TextContent(text=render_text(result))], is_error=True)
    values: dict[str, Any]
    if isinstance(result, OpenPageToolResult):
        facts = {"published": result.published, "citation_id": result.citation_id, "truncated": result.truncated}
        values = {
            "id": result.url,
            "title": result.title,
            "text": render_text(result),
            "url": result.final_url or result.url,
            "metadata": {name: str(value) for name, value in facts.items() if value},
        }
    else:
        values = {"results": [{"id": row.url, "title": row.title, "url": row.url} for row in result.results]}
    text = json.dumps(values, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=values)
