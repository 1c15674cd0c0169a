"""The services that answer without a key: one emulator of a public MCP server for three of them, and two APIs."""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from world.services.shared import (
    ApiEmulator,
    ApiSpec,
    EmulatedRefusal,
    Parameter,
    SearchFields,
    choice,
    moment,
    number,
    words,
)
from world.services.tavily import Tavily
from world.services.you import You


def _spec(name: str, tool: str, path: str, **arguments: Parameter) -> ApiSpec:
    """Return the specification of a server with one tool."""
    parameters: dict[str, Parameter] = {
        "jsonrpc": choice("2.0"),
        "method": choice("tools/call"),
        "params.name": choice(tool),
        **{f"params.arguments.{argument}": check for argument, check in arguments.items()},
    }
    return ApiSpec(
        name=name,
        routes={f"POST {path}": "call"},
        fields=SearchFields(operators=True, tbs="tbs"),
        parameters={"call": parameters},
        refusals={"invalid": EmulatedRefusal(200, -32602), "fast": EmulatedRefusal(429, -32000, "Rate limit reached.")},
    )


class McpServer(ApiEmulator):
    """A public MCP server with one search tool; see `ApiEmulator`.

    Attributes:
        streams: Whether it answers with an event stream, a notification first.
        wall: What the tool says instead of results; empty for results.
    """

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.streams = True
        self.wall = ""

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether a request is without a key, and takes both kinds of answers."""
        accept = request.headers.get("Accept", "")
        return not key and "application/json" in accept and "text/event-stream" in accept

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error of JSON-RPC."""
        return self.message({"error": {"code": refusal.code or -32600, "message": message}}, refusal.status)

    def call(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the result of the tool."""
        if self.wall:
            return self.message({"result": {"content": [{"type": "text", "text": self.wall}], "isError": True}})
        arguments = body["params"]["arguments"]
        return self.message({"result": self.tool(self.found(arguments), arguments)})

    @abstractmethod
    def tool(self, hits: list[IndexHit], arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the result of the tool in its form."""

    def message(self, content: dict[str, Any], status: int = 200) -> EmulatedResponse:
        """Return a message of JSON-RPC, in the way that the server answers."""
        message = {"jsonrpc": "2.0", "id": 1, **content}
        if not self.streams or status != 200:
            return EmulatedResponse.json(message, status=status)
        progress = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}})
        text = f"event: message\ndata: {progress}\n\nevent: message\ndata: {json.dumps(message)}\n\n"
        return EmulatedResponse(body=text.encode(), content_type="text/event-stream")


class ExaFree(McpServer):
    """Exa: blocks of text."""

    spec: ClassVar[ApiSpec] = _spec(
        "exa_free", "web_search_exa", "/mcp", query=words(), objective=words(4_096), numResults=number(1, 100)
    )

    def tool(self, hits: list[IndexHit], arguments: dict[str, Any]) -> dict[str, Any]:
        """Return blocks of text, or words that there are none."""
        blocks = [
            f"Title: {hit.title}\nURL: {hit.url}\nPublished: {moment(hit)}Z\nAuthor: N/A\n"
            f"Highlights:\n> {hit.snippet}\n"
            for hit in hits[: arguments.get("numResults", 8)]
        ]
        text = "\n---\n\n".join(blocks) or "No search results found. Please try a different query."
        return {"content": [{"type": "text", "text": text}]}


class ParallelFree(McpServer):
    """Parallel: structured content, ten rows at most."""

    spec: ClassVar[ApiSpec] = _spec("parallel_free", "web_search", "/mcp", objective=words(5_000))

    def contradiction(self, body: dict[str, Any]) -> str:
        """Return what is wrong with the list of queries."""
        queries = body["params"]["arguments"].get("search_queries")
        good = isinstance(queries, list) and 1 <= len(queries) <= 5 and all(0 < len(query) <= 200 for query in queries)
        return "" if good else "search_queries must be 1 to 5 texts of at most 200 characters"

    def call(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the result of the tool, which is asked with several queries."""
        arguments = body["params"]["arguments"]
        arguments["query"] = arguments["search_queries"][0]
        return super().call(body)

    def tool(self, hits: list[IndexHit], arguments: dict[str, Any]) -> dict[str, Any]:
        """Return structured content, and the same as text."""
        rows = [
            {"url": hit.url, "title": hit.title, "publish_date": str(hit.published), "excerpts": [hit.snippet]}
            for hit in hits[:20]
        ]
        data = {"search_id": "search_1", "results": rows, "warnings": None}
        return {"structuredContent": data, "content": [{"type": "text", "text": json.dumps(data)}]}


class FirecrawlFree(McpServer):
    """Firecrawl: the answer of its API as text."""

    spec: ClassVar[ApiSpec] = _spec(
        "firecrawl_free", "firecrawl_search", "/v2/mcp", query=words(500), limit=number(1, 100)
    )

    def tool(self, hits: list[IndexHit], arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of the API."""
        rows = [
            {"url": hit.url, "title": hit.title, "description": hit.snippet}
            for hit in hits[: arguments.get("limit", 5)]
        ]
        return {"content": [{"type": "text", "text": json.dumps({"success": True, "data": {"web": rows}})}]}


class YouFree(You):
    """You.com without a key, which it refuses."""

    spec: ClassVar[ApiSpec] = replace(You.spec, name="you_free", routes={"GET /v1/agents/search": "search"})

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether a request is without a key."""
        return not key


class TavilyFree(Tavily):
    """Tavily in its keyless mode."""

    spec: ClassVar[ApiSpec] = replace(Tavily.spec, name="tavily_free")
