"""The two tools, for any framework: their definitions, their calls, their results, and the results as text."""

from groundwire.tools.calls import open_page_result, web_search_result
from groundwire.tools.conversions import open_failed, opened, refused, search_failed, searched
from groundwire.tools.definitions import ToolDefinition, web_tool_definitions
from groundwire.tools.results import (
    ExcerptItem,
    LocalSearchItem,
    LocalSearchToolResult,
    OpenPageToolResult,
    SearchResultItem,
    ToolResult,
    WebSearchToolResult,
    length_note,
    render_text,
)
from groundwire.tools.toolset import Tool, Tools, open_page_tool, web_search_tool, web_tools

__all__ = [
    "ExcerptItem",
    "LocalSearchItem",
    "LocalSearchToolResult",
    "OpenPageToolResult",
    "SearchResultItem",
    "Tool",
    "ToolDefinition",
    "ToolResult",
    "Tools",
    "WebSearchToolResult",
    "length_note",
    "open_failed",
    "open_page_result",
    "open_page_tool",
    "opened",
    "refused",
    "render_text",
    "search_failed",
    "searched",
    "web_search_result",
    "web_search_tool",
    "web_tool_definitions",
    "web_tools",
]
