"""The two tools, for any framework: their definitions, their calls, their results, and the results as text."""

from groundwire.tools.definitions import ToolDefinition, web_tool_definitions
from groundwire.tools.rendering import length_note, render_json, render_text
from groundwire.tools.results import (
    ExcerptItem,
    LocalSearchItem,
    LocalSearchToolResult,
    OpenPageToolResult,
    SearchResultItem,
    ToolResult,
    WebSearchToolResult,
    open_failed,
    opened,
    refused,
    search_failed,
    searched,
)
from groundwire.tools.tools import (
    Tool,
    local_search_lacks,
    local_search_tool,
    open_page_result,
    open_page_tool,
    web_search_result,
    web_search_tool,
    web_tools,
)

__all__ = [
    "ExcerptItem",
    "LocalSearchItem",
    "LocalSearchToolResult",
    "OpenPageToolResult",
    "SearchResultItem",
    "Tool",
    "ToolDefinition",
    "ToolResult",
    "WebSearchToolResult",
    "length_note",
    "local_search_lacks",
    "local_search_tool",
    "open_failed",
    "open_page_result",
    "open_page_tool",
    "opened",
    "refused",
    "render_json",
    "render_text",
    "search_failed",
    "searched",
    "web_search_result",
    "web_search_tool",
    "web_tool_definitions",
    "web_tools",
]
