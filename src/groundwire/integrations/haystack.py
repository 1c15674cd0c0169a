"""Groundwire in Haystack.

    from haystack.components.agents import Agent
    from groundwire.integrations.haystack import web_tools

    agent = Agent(chat_generator=generator, tools=web_tools())

A failure is reported in the text of the result. `WebSearch` is a component for a pipeline without a model. Saved
tools and components use the current settings where they are loaded; allow that there with
`allow_deserialization_module("groundwire.*")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, failed, runner_named, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools import ToolResult, WebSearchToolResult
from groundwire.tools.permissions import Permission

__all__ = ["HaystackWebTool", "WebSearch", "web_tools"]

_tools = need("haystack", "haystack.tools")
_haystack = need("haystack", "haystack")
_component: Any = _haystack.component
_Document: Any = _haystack.Document
_Base: Any = _tools.Tool
_Method = TypeVar("_Method", bound=Callable[..., object])
_returns_links: Callable[[_Method], _Method] = _component.output_types(documents=list[_Document], links=list[str])


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`."""
    return [HaystackWebTool(runner) for runner in runners(web, permission)]


class HaystackWebTool(_Base):
    """One tool. Its serialized form is its name; once loaded, it uses the current settings.

    Args:
        runner: The tool that it calls.
    """

    def __init__(self, runner: Runner) -> None:
        def call(**arguments: Any) -> str:
            return text_of(runner.call(arguments))

        async def acall(**arguments: Any) -> str:
            return text_of(await runner.acall(arguments))

        super().__init__(
            name=runner.name,
            description=runner.description,
            parameters=runner.schema,
            function=call,
            async_function=acall,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the serialized form."""
        return {"type": f"{__name__}.HaystackWebTool", "data": {"name": self.name}}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        """Load a serialized tool."""
        return cls(runner_named(data["data"]["name"]))


@_component
class WebSearch:
    """A component that takes a query and returns documents and their links.

    Args:
        top_k: Maximum documents; by default the setting `search.limit`.
        allowed_domains: Only these domains and their subdomains; none means every domain.
        web: Does the searching; by default a `SyncWeb` with the current settings. It is not serialized.
    """

    def __init__(
        self,
        top_k: int | None = None,
        allowed_domains: list[str] | None = None,
        web: SyncWeb | None = None,
    ) -> None:
        self.top_k = top_k
        self.allowed_domains = allowed_domains
        self._runner, _ = runners(web)

    def to_dict(self) -> dict[str, Any]:
        """Return the serialized form."""
        saved: dict[str, Any] = _haystack.default_to_dict(self, top_k=self.top_k, allowed_domains=self.allowed_domains)
        return saved

    @_returns_links
    def run(self, query: str) -> dict[str, Any]:
        """Search.

        Args:
            query: The query.

        Raises:
            RuntimeError: the search failed.
        """
        return _found(self._runner.call(self._arguments(query)))

    @_returns_links
    async def run_async(self, query: str) -> dict[str, Any]:
        """Search; see `run`."""
        return _found(await self._runner.acall(self._arguments(query)))

    def _arguments(self, query: str) -> dict[str, Any]:
        return {"query": query, "limit": self.top_k, "allowed_domains": self.allowed_domains}


def _found(result: ToolResult) -> dict[str, Any]:
    if failed(result) or not isinstance(result, WebSearchToolResult):
        raise RuntimeError(text_of(result))
    documents = [
        _Document(
            content=row.snippet,
            meta={"title": row.title, "link": row.url, "published": row.published, "citation_id": row.citation_id},
        )
        for row in result.results
    ]
    return {"documents": documents, "links": [row.url for row in result.results]}
