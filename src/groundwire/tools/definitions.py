"""What a model and its host are told of the two tools."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from groundwire.settings import Settings
from groundwire.tools.results import OpenPageToolResult, WebSearchToolResult

__all__ = ["ToolDefinition", "open_page_definition", "web_search_definition", "web_tool_definitions"]

_READ_ONLY = MappingProxyType({"readOnlyHint": True, "openWorldHint": True, "destructiveHint": False})


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a model and its host are told of a tool."""

    name: str
    """The name that the model calls."""
    description: str
    """When and how to use it."""
    parameters: Mapping[str, Any]
    """The arguments as a JSON schema (an object)."""
    output_schema: Mapping[str, Any]
    """The result as a JSON schema."""
    annotations: Mapping[str, bool]
    """Hints in the words of the Model Context Protocol: it only reads, and it reaches the open world."""

    def definition(self) -> dict[str, Any]:
        """Return name, description and parameters, as most model APIs take them."""
        return {"name": self.name, "description": self.description, "parameters": _plain(self.parameters)}


def web_tool_definitions(settings: Settings) -> tuple[ToolDefinition, ToolDefinition]:
    """Return what a model is told of `web_search` and `open_page`, without anything that searches or reads.

    Args:
        settings: Whose limits the definitions name.
    """
    return web_search_definition(settings), open_page_definition(settings)


def web_search_definition(settings: Settings) -> ToolDefinition:
    """Return what a model is told of `web_search`."""
    return ToolDefinition(
        name="web_search",
        description=(
            "Search the web for current information. Returns ranked results with title, URL and snippet; "
            "cite a result as [citation_id]. Use open_page to read a result in full."
        ),
        parameters=MappingProxyType(
            {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to search for"},
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 50,
                        "default": settings.search.limit,
                        "description": "Most results to return",
                    },
                    "allowed_domains": {
                        "type": "array",
                        "items": {"type": "string"},
                        "default": [],
                        "description": 'Only these domains and their sub-domains, e.g. ["wikipedia.org"]',
                    },
                    "time_range": {
                        "type": "string",
                        "enum": ["d", "w", "m", "y", "all"],
                        "default": "all",
                        "description": "Published within a day, week, month or year",
                    },
                },
                "required": ["query"],
                "additionalProperties": False,
            }
        ),
        output_schema=_schema(WebSearchToolResult),
        annotations=_READ_ONLY,
    )


def open_page_definition(settings: Settings) -> ToolDefinition:
    """Return what a model is told of `open_page`."""
    return ToolDefinition(
        name="open_page",
        description=(
            "Read one web page as Markdown, when the snippets of web_search are not enough. A long page comes in "
            "pieces: `truncated` and `next_cursor` say so. Give at most one of query, cursor, find."
        ),
        parameters=MappingProxyType(
            {
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "An http or https address"},
                    "query": {"type": "string", "description": "Return only the passages that answer this"},
                    "cursor": {
                        "type": "string",
                        "description": "Read on: a next_cursor, #3 for section 3, or @5120 for a position",
                    },
                    "find": {"type": "string", "description": "Return the places where these exact words stand"},
                    "max_length": {
                        "type": "integer",
                        "minimum": 1,
                        "description": f"Most characters to return (default {settings.read.max_length})",
                    },
                    "max_tokens": {"type": "integer", "minimum": 1, "description": "Most tokens to return"},
                },
                "required": ["url"],
                "additionalProperties": False,
            }
        ),
        output_schema=_schema(OpenPageToolResult),
        annotations=_READ_ONLY,
    )


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a result, a copy of its own: a server makes these tools for every conversation."""
    return copy.deepcopy(_made_schema(model))


@cache
def _made_schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(mode="serialization")


def _plain(value: Any) -> Any:
    """Return a schema as plain dictionaries, a copy that a framework may change."""
    return json.loads(json.dumps(value, default=dict))
