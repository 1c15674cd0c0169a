"""Groundwire in LlamaIndex.

    from llama_index.core.agent.workflow import FunctionAgent
    from groundwire.integrations.llamaindex import web_tools

    agent = FunctionAgent(tools=web_tools(), llm=llm)

A failure is a tool output with `is_error`; the structured result is its raw output.
"""

from __future__ import annotations

import json
from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, failed, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools import ToolResult
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_tools"]

_types = need("llamaindex", "llama_index.core.tools.types")
_BaseMetadata: Any = _types.ToolMetadata
_BaseTool: Any = _types.AsyncBaseTool


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_LlamaIndexTool(runner) for runner in runners(web, permission)]


class _Metadata(_BaseMetadata):
    """The tool's definition, with the schema unchanged; the framework would otherwise require a pydantic class."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(name=runner.name, description=runner.description, fn_schema=None)
        self._runner = runner

    def get_parameters_dict(self) -> dict[str, Any]:
        """Return the arguments as a JSON schema."""
        return self._runner.schema

    @property
    def fn_schema_str(self) -> str:
        """The same as text."""
        return json.dumps(self._runner.schema)


class _LlamaIndexTool(_BaseTool):
    """One tool."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._metadata = _Metadata(runner)

    @property
    def metadata(self) -> Any:
        """The tool's definition for a model."""
        return self._metadata

    def call(self, **arguments: Any) -> Any:
        """Call it without `async`."""
        return self._output(arguments, self._runner.call(arguments))

    async def acall(self, **arguments: Any) -> Any:
        """Call it."""
        return self._output(arguments, await self._runner.acall(arguments))

    def _output(self, arguments: dict[str, Any], result: ToolResult) -> Any:
        return _types.ToolOutput(
            tool_name=self._runner.name,
            content=text_of(result),
            raw_input=arguments,
            raw_output=result,
            is_error=failed(result),
        )
