"""Groundwire in DSPy.

    import dspy
    from groundwire.integrations.dspy import web_tools

    agent = dspy.ReAct("question -> answer", tools=web_tools())

The framework shows the model the text of an exception, so a failure is reported in the text of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import PrivateAttr

from groundwire.integrations.framework_tools import call_blocking, tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, render_text
from groundwire.tools.permissions import Permission

__all__ = ["web_tools"]

_dspy = need("dspy", "dspy")
_Base: Any = _dspy.Tool
_F = TypeVar("_F", bound=Callable[..., Any])
_traced: Callable[[_F], _F] = need("dspy", "dspy.utils.callback").with_callbacks  # DSPy's callbacks observe the call


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `framework_tools.tools_for`."""
    return [_DspyTool(tool) for tool in tools_for(web, permission)]


class _DspyTool(_Base):
    """One tool. The tool itself validates the model's arguments, and accepts more than the schema states."""

    _tool: Any = PrivateAttr()

    def __init__(self, tool: Tool) -> None:
        super().__init__(
            func=lambda **arguments: render_text(call_blocking(tool, arguments)),
            name=tool.name,
            desc=tool.description,
            args=tool.definition()["parameters"]["properties"],
            arg_types={},
        )
        self._tool = tool

    @_traced
    def __call__(self, **arguments: Any) -> str:
        """Call it."""
        return render_text(call_blocking(self._tool, arguments))

    @_traced
    async def acall(self, **arguments: Any) -> str:
        """Call it without blocking the event loop."""
        return render_text(await self._tool.call(**arguments))
