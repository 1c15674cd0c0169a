"""Groundwire in smolagents.

    from smolagents import ToolCallingAgent
    from groundwire.integrations.smolagents import web_tools

    agent = ToolCallingAgent(tools=web_tools(), model=model)

The framework is synchronous and ends a step with an exception's text, so a failure is reported in the result's text.
`SmolagentsWebSearch` and `SmolagentsOpenPage`, with the current settings, can be saved and pushed.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission

__all__ = ["SmolagentsOpenPage", "SmolagentsWebSearch", "web_tools"]

_Base: Any = need("smolagents", "smolagents").Tool


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_SmolagentsTool(runner) for runner in runners(web, permission)]


class _SmolagentsTool(_Base):
    """One tool."""

    skip_forward_signature_validation = True  # the arguments are those of the schema, and validated by the tool itself

    def __init__(self, runner: Runner) -> None:
        schema = runner.schema
        self.name = runner.name
        self.description = runner.description
        self.inputs = {
            key: {**value, "nullable": key not in schema["required"]} for key, value in schema["properties"].items()
        }
        self.output_type = "string"
        self._runner = runner
        super().__init__()

    def forward(self, **arguments: Any) -> str:
        """Call it."""
        return text_of(self._runner.call(arguments))


class SmolagentsWebSearch(_Base):
    """`web_search` in a form whose source can be saved: it has only plain values."""

    name = "web_search"
    description = "Search the web for current information. Returns ranked results with title, URL and snippet."
    inputs: dict[str, Any] = {
        "query": {"type": "string", "description": "What to search for"},
        "limit": {"type": "integer", "description": "Most results to return", "nullable": True},
        "allowed_domains": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Only these domains and their subdomains",
            "nullable": True,
        },
        "time_range": {
            "type": "string",
            "description": "Published within a day, week, month or year: d, w, m, y; or all",
            "nullable": True,
        },
        "sources": {
            "type": "array",
            "items": {"type": "string", "enum": ["web", "papers"]},
            "description": "Web pages, or papers",
            "nullable": True,
        },
    }
    output_type = "string"

    def forward(
        self,
        query: str,
        limit: int | None = None,
        allowed_domains: list[str] | None = None,
        time_range: str | None = None,
        sources: list[str] | None = None,
    ) -> str:
        """Search."""
        from groundwire.integrations.tool_runner import runner_named, text_of

        if not hasattr(self, "runner"):
            self.runner: Runner = runner_named("web_search")
        options = {"query": query, "limit": limit, "allowed_domains": allowed_domains, "time_range": time_range}
        return text_of(self.runner.call({**options, "sources": sources}))


class SmolagentsOpenPage(_Base):
    """`open_page` in a form whose source can be saved: it has only plain values."""

    name = "open_page"
    description = "Read one web page as Markdown. A long page comes in pieces: a next_cursor says so."
    inputs: dict[str, Any] = {
        "url": {"type": "string", "description": "An http or https address"},
        "query": {"type": "string", "description": "Return only the passages that answer this", "nullable": True},
        "cursor": {"type": "string", "description": "Read on from here: a next_cursor", "nullable": True},
        "max_length": {"type": "integer", "description": "Most characters to return", "nullable": True},
    }
    output_type = "string"

    def forward(
        self, url: str, query: str | None = None, cursor: str | None = None, max_length: int | None = None
    ) -> str:
        """Read a page."""
        from groundwire.integrations.tool_runner import runner_named, text_of

        if not hasattr(self, "runner"):
            self.runner: Runner = runner_named("open_page")
        return text_of(self.runner.call({"url": url, "query": query, "cursor": cursor, "max_length": max_length}))
