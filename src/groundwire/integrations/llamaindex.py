"""Groundwire in LlamaIndex.

    from llama_index.core.agent.workflow import FunctionAgent
    from groundwire.integrations.llamaindex import web_tools

    agent = FunctionAgent(tools=web_tools(), llm=llm)

A failure is a tool output with `is_error`; the structured result is its raw output.
"""

from __future__ import annotations

import json
from typing import Any

from groundwire.integrations.framework_tools import call_blocking, tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, ToolResult, render_text
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_tools"]

_types = need("llamaindex", "llama_index.core.tools.types")
_BaseMetadata: Any = _types.ToolMetadata
_BaseTool: Any = _types.AsyncBaseTool


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `framework_tools.tools_for`."""
    return [_LlamaIndexTool(tool) for tool in tools_for(web, permission)]


class _Metadata(_BaseMetadata):
    """The tool's definition, with the schema unchanged; the framework would otherwise require a pydantic class."""

    def __init__(self, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description, fn_schema=None)
        self._tool = tool

    def get_parameters_dict(self) -> dict[str, Any]:
        """Return the arguments as a JSON schema."""
        schema: dict[str, Any] = self._tool.definition()["parameters"]
        return schema

    @property
    def fn_schema_str(self) -> str:
        """The same as text."""
        return json.dumps(self._tool.definition()["parameters"])


class _LlamaIndexTool(_BaseTool):
    """One tool."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._metadata = _Metadata(tool)

    @property
    def metadata(self) -> Any:
        """The tool's definition for a model."""
        return self._metadata

    def call(self, **arguments: Any) -> Any:
        """Call it without `async`."""
        return self._output(arguments, call_blocking(self._tool, arguments))

    async def acall(self, **arguments: Any) -> Any:
        """Call it."""
        return self._output(arguments, await self._tool.call(**arguments))

    def _output(self, arguments: dict[str, Any], result: ToolResult) -> Any:
        return _types.ToolOutput(
            tool_name=self._tool.name,
            content=render_text(result),
            raw_input=arguments,
            raw_output=result,
            is_error=result.status == "error",
        )
