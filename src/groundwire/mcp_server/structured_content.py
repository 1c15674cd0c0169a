"""The structured form of a result over MCP, and its schema: what clients use, once.

Hosts keep the list of tools in the model's context and some pass on both forms of a result. A result's text says
everything; beside it this has the fields that programs read, without empty ones. The resource `groundwire://session`
has the attempts and the filters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groundwire.tools import LocalSearchToolResult, OpenPageToolResult, ToolDefinition, ToolResult

__all__ = ["output_schema", "structured_content"]

_SEARCH: Final = ("query", "results", "notice", "message", "provider", "status", "error", "attempts")
_PAGE: Final = (
    *("citation_id", "url", "final_url", "title", "content", "truncated", "next_cursor"),
    *("published", "modified", "match_count", "warnings", "status", "error"),
)
_KEPT: Final = frozenset({"query", "results", "status", "truncated", "match_count"})  # even if they are empty or 0
_UNLISTED: Final = frozenset({"attempts"})  # only of a search that failed
_WORDS: Final = frozenset({"title", "description", "default", "additionalProperties"})  # of a schema, not of its fields


def structured_content(result: ToolResult) -> dict[str, Any]:
    """Return what clients use of a result; `status` is always there."""
    values: dict[str, Any] = result.model_dump(mode="json")
    if isinstance(result, LocalSearchToolResult):  # its three fields are stable
        return values
    fields = _PAGE if isinstance(result, OpenPageToolResult) else _SEARCH
    kept = {name: values[name] for name in fields if values[name] or (name in _KEPT and values[name] is not None)}
    if kept.get("final_url") == kept.get("url"):
        kept.pop("final_url", None)
    if result.status == "success":
        kept.pop("attempts", None)
    for row in kept.get("results", ()):
        row.pop("source")
        if row["published"] is None:
            del row["published"]
    return kept


def output_schema(definition: ToolDefinition) -> dict[str, Any]:
    """Return the types of these fields, without descriptions."""
    schema = definition.output_schema
    known: Mapping[str, Any] = schema["properties"]
    fields = _PAGE if "content" in known else _SEARCH if "status" in known and "backend" not in known else tuple(known)
    properties = {name: _bare(known[name], schema.get("$defs", {})) for name in fields if name not in _UNLISTED}
    required = ["status"] if "backend" not in known else list(schema["required"])
    return {"type": "object", "properties": properties, "required": required}


def _bare(schema: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with types alone; of an object, its required fields are enough."""
    if "$ref" in schema:
        schema = named[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:  # a field that is null is left out
        return _bare(schema["anyOf"][0], named)
    kept = {name: value for name, value in schema.items() if name not in _WORDS}
    if "items" in kept:
        kept["items"] = _bare(kept["items"], named)
    if "properties" in kept:
        kept["properties"] = {name: _bare(kept["properties"][name], named) for name in kept["required"]}
    return kept
