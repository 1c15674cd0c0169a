"""Groundwire in CrewAI.

    from crewai import Agent
    from groundwire.integrations.crewai import web_tools

    agent = Agent(role="researcher", goal="...", backstory="...", tools=web_tools())

A failure is reported in the text of the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, Field, PrivateAttr, create_model

from groundwire.integrations.framework_tools import call_blocking, tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, render_text
from groundwire.tools.permissions import Permission

__all__ = ["web_tools"]

_Base: Any = need("crewai", "crewai.tools").BaseTool
_TYPES: Final[Mapping[str, Any]] = {"string": str, "integer": int, "array": list[str]}


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `framework_tools.tools_for`."""
    return [_CrewAITool(tool) for tool in tools_for(web, permission)]


class _CrewAITool(_Base):
    """One tool.

    Args:
        tool: The tool that it calls.
        options: Passed to CrewAI's `BaseTool`, such as `max_usage_count`.
    """

    _tool: Tool = PrivateAttr()

    def __init__(self, tool: Tool, **options: Any) -> None:
        schema = _arguments(tool)
        super().__init__(name=tool.name, description=tool.description, args_schema=schema, **options)
        self._tool = tool

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(self._tool, **self.model_dump(include={"max_usage_count", "result_as_answer"}))

    def _run(self, **arguments: Any) -> str:
        return render_text(call_blocking(self._tool, arguments))

    async def _arun(self, **arguments: Any) -> str:
        return render_text(await self._tool.call(**arguments))


def _arguments(tool: Tool) -> type[BaseModel]:
    """Return the schema as a pydantic class, as the framework requires; the tool itself validates the values."""
    schema = tool.definition()["parameters"]
    fields: dict[str, Any] = {}
    for name, about in schema["properties"].items():
        kind = Literal[tuple(about["enum"])] if "enum" in about else _TYPES[about["type"]]
        if name in schema["required"]:
            fields[name] = (kind, Field(description=about["description"]))
        else:
            fields[name] = (kind | None, Field(default=None, description=about["description"]))
    model: type[BaseModel] = create_model(tool.name, **fields)
    return model
