"""The structured form of a result over MCP: what clients use, once. Its schema is that of the tool's definition.

Hosts keep the list of tools in the model's context and some pass on both forms of a result. A result's text says
everything; beside it this has the fields that programs read, without empty ones. The resource `groundwire://session`
has the attempts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groundwire.tools import ToolResult

_EVEN_EMPTY: Final = frozenset(
    {"query", "results", "status", "truncated", "match_count"}
)  # even if they are empty or 0


def structured_content(result: ToolResult, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what clients use of a result; `status` is always there.

    Args:
        result: The result.
        schema: The schema of its tool, which has the fields.
    """
    values: dict[str, Any] = result.model_dump(mode="json")
    content = {
        name: values[name]
        for name in schema["properties"]
        if values[name] or (name in _EVEN_EMPTY and values[name] is not None)
    }
    if content.get("final_url") == content.get("url"):
        content.pop("final_url", None)
    if result.status == "error":
        content.pop("truncated", None)
    for row in content.get("results", ()):
        row.pop("source")
        if row["published"] is None:
            del row["published"]
    return content
