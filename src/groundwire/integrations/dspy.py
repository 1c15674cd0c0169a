"""Groundwire in DSPy.

    import dspy
    from groundwire.integrations.dspy import web_tools

    agent = dspy.ReAct("question -> answer", tools=web_tools())

The framework shows a model the text of an exception, so a failure is said in the text of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import PrivateAttr

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission

__all__ = ["web_tools"]

_Base: Any = need("dspy", "dspy").Tool
_F = TypeVar("_F", bound=Callable[..., Any])


def _traced(call: _F) -> _F:
    """Return a call that DSPy's own callbacks observe."""
    traced: _F = need("dspy", "dspy.utils.callback").with_callbacks(call)
    return traced


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_DspyTool(runner) for runner in runners(web, permission)]


class _DspyTool(_Base):
    """One tool. What the model wrote is checked by the tool itself, which understands more than the schema says."""

    _runner: Any = PrivateAttr()

    def __init__(self, runner: Runner) -> None:
        super().__init__(
            func=lambda **arguments: text_of(runner.call(arguments)),
            name=runner.name,
            desc=runner.description,
            args=runner.schema["properties"],
            arg_types={},
        )
        self._runner = runner

    @_traced
    def __call__(self, **arguments: Any) -> str:
        """Call it."""
        return text_of(self._runner.call(arguments))

    @_traced
    async def acall(self, **arguments: Any) -> str:
        """Call it without holding up the event loop."""
        return text_of(await self._runner.acall(arguments))
