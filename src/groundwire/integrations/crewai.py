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

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission

__all__ = ["web_tools"]

_Base: Any = need("crewai", "crewai.tools").BaseTool
_TYPES: Final[Mapping[str, Any]] = {"string": str, "integer": int, "array": list[str]}


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_CrewAITool(runner) for runner in runners(web, permission)]


class _CrewAITool(_Base):
    """One tool.

    Args:
        runner: The tool that it calls.
        options: Passed to CrewAI's `BaseTool`, such as `max_usage_count`.
    """

    _runner: Runner = PrivateAttr()

    def __init__(self, runner: Runner, **options: Any) -> None:
        schema = _arguments(runner)
        super().__init__(name=runner.name, description=runner.description, args_schema=schema, **options)
        self._runner = runner

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(self._runner, **self.model_dump(include={"max_usage_count", "result_as_answer"}))

    def _run(self, **arguments: Any) -> str:
        return text_of(self._runner.call(arguments))

    async def _arun(self, **arguments: Any) -> str:
        return text_of(await self._runner.acall(arguments))


def _arguments(runner: Runner) -> type[BaseModel]:
    """Return the schema as a pydantic class, as the framework requires; the tool itself validates the values."""
    schema = runner.schema
    fields: dict[str, Any] = {}
    for name, about in schema["properties"].items():
        kind = Literal[tuple(about["enum"])] if "enum" in about else _TYPES[about["type"]]
        if name in schema["required"]:
            fields[name] = (kind, Field(description=about["description"]))
        else:
            fields[name] = (kind | None, Field(default=None, description=about["description"]))
    model: type[BaseModel] = create_model(runner.name, **fields)
    return model
