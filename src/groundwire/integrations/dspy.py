"""Groundwire in DSPy.

    import dspy
    from groundwire.integrations.dspy import web_tools

    agent = dspy.ReAct("question -> answer", tools=web_tools())

The framework shows the model the text of an exception, so a failure is reported in the text of the result.
`DspyWebRetriever(k=5)` is a retriever for modules, and is saved and loaded with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import PrivateAttr

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, failed, runner_named, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission

__all__ = ["DspyWebRetriever", "web_tools"]

_dspy = need("dspy", "dspy")
_Base: Any = _dspy.Tool
_Retrieve: Any = _dspy.Retrieve
_F = TypeVar("_F", bound=Callable[..., Any])
_traced: Callable[[_F], _F] = need("dspy", "dspy.utils.callback").with_callbacks  # DSPy's callbacks observe the call


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_DspyTool(runner) for runner in runners(web, permission)]


class _DspyTool(_Base):
    """One tool. The tool itself validates the model's arguments, and accepts more than the schema states."""

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
        """Call it without blocking the event loop."""
        return text_of(await self._runner.acall(arguments))


class DspyWebRetriever(_Retrieve):
    """Retrieves passages from the web; `Prediction.passages` are the snippets, with their `urls` and `titles`.

    Args:
        k: The number of passages.
        web: Does the searching; by default, and after copying or loading, one with the current settings.
    """

    def __init__(self, k: int = 3, web: SyncWeb | None = None) -> None:
        super().__init__(k=k)
        self._runner = runners(web)[0] if web is not None else None

    def forward(self, query: str, k: int | None = None, **_: Any) -> Any:
        """Return the passages found.

        Raises:
            RuntimeError: the search failed.
        """
        self._runner = self._runner or runner_named("web_search")
        return _found(self._runner.call({"query": query, "limit": k or self.k}))

    async def acall(self, query: str, k: int | None = None, **_: Any) -> Any:
        """Return the passages found, without blocking the event loop."""
        self._runner = self._runner or runner_named("web_search")
        return _found(await self._runner.acall({"query": query, "limit": k or self.k}))

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Return the serialized state."""
        return {"k": self.k}

    def __reduce__(self) -> Any:
        return DspyWebRetriever, (self.k,)


def _found(result: Any) -> Any:
    if failed(result):
        raise RuntimeError(result.error)
    return _dspy.Prediction(
        passages=[row.snippet for row in result.results],
        urls=[row.url for row in result.results],
        titles=[row.title for row in result.results],
    )
