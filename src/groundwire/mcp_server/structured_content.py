"""The structured form of a result over MCP, and its schema: what clients use, once.

Hosts keep the list of tools in the model's context and some pass on both forms of a result. A result's text says
everything; beside it this has the fields that programs read, without empty ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groundwire.tools import OpenPageToolResult, ToolDefinition, ToolResult

__all__ = ["output_schema", "structured_content"]

_SEARCH: Final = ("query", "results", "notice", "message", "provider", "status", "error")
_PAGE: Final = (
    *("citation_id", "url", "final_url", "title", "content", "truncated", "next_cursor"),
    *("published", "modified", "match_count", "warnings", "status", "error"),
)
_EVEN_EMPTY: Final = frozenset(
    {"query", "results", "status", "truncated", "match_count"}
)  # even if they are empty or 0
_WORDS: Final = frozenset({"title", "description", "default", "additionalProperties"})  # of a schema, not of its fields


def structured_content(result: ToolResult) -> dict[str, Any]:
    """Return what clients use of a result; `status` is always there."""
    values: dict[str, Any] = result.model_dump(mode="json")
    fields = _PAGE if isinstance(result, OpenPageToolResult) else _SEARCH
    content = {
        name: values[name] for name in fields if values[name] or (name in _EVEN_EMPTY and values[name] is not None)
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


def output_schema(definition: ToolDefinition) -> dict[str, Any]:
    """Return the types of these fields, without descriptions."""
    schema = definition.output_schema
    schemas: Mapping[str, Any] = schema["properties"]
    fields = _PAGE if "content" in schemas else _SEARCH
    properties = {name: _bare(schemas[name], schema.get("$defs", {})) for name in fields}
    return {"type": "object", "properties": properties, "required": ["status"]}


def _bare(schema: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with types alone; of an object, its required fields are enough."""
    if "$ref" in schema:
        schema = named[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:  # a field that is null is left out
        return _bare(schema["anyOf"][0], named)
    bare = {name: value for name, value in schema.items() if name not in _WORDS}
    if "items" in bare:
        bare["items"] = _bare(bare["items"], named)
    if "properties" in bare:
        bare["properties"] = {name: _bare(bare["properties"][name], named) for name in bare["required"]}
    return bare
