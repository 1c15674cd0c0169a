"""The definitions of the two tools, for a model and its host, and the guidance for agents.

Every adapter takes these texts from here, with the current limits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from types import MappingProxyType
from typing import Any, Final, Literal

from groundwire.settings import Settings
from groundwire.tools.conversions import GUIDANCE

__all__ = [
    "CITATIONS",
    "CITING",
    "UNTRUSTED",
    "ToolDefinition",
    "guidance",
    "instructions",
    "local_search_definition",
    "open_page_definition",
    "opening_pages",
    "search_limits",
    "web_search_definition",
    "web_tool_definitions",
]

_DEFINITIONS: Final[Mapping[str, Any]] = json.loads(
    package_files(__package__).joinpath("definitions.json").read_bytes()
)
_READ_ONLY = MappingProxyType({"readOnlyHint": True, "openWorldHint": True, "destructiveHint": False})


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """The definition of a tool, for a model and its host."""

    name: str
    """The name under which the model calls it."""
    description: str
    """When and how to use it."""
    parameters: Mapping[str, Any]
    """The arguments as a JSON schema (an object)."""
    output_schema: Mapping[str, Any]
    """What programs use of a result over MCP, as a JSON schema; see `groundwire.mcp_server.structured_content`."""
    annotations: Mapping[str, bool]
    """Annotations of the Model Context Protocol: read-only, open world."""

    def definition(self) -> dict[str, Any]:
        """Return name, description and parameters, the format of most model APIs."""
        return {"name": self.name, "description": self.description, "parameters": _plain(self.parameters)}

    def to_openai(self, *, api: Literal["chat", "responses"] = "chat") -> dict[str, Any]:
        """Return the tool in the format of OpenAI's Chat Completions API, or of the Responses API.

        Args:
            api: Which of the two; APIs that are compatible with OpenAI's take `chat`.
        """
        if api == "responses":
            return {"type": "function", **self.definition(), "strict": False}
        return {"type": "function", "function": self.definition()}

    def to_anthropic(self) -> dict[str, Any]:
        """Return the tool in the format of Anthropic's Messages API."""
        return {"name": self.name, "description": self.description, "input_schema": _plain(self.parameters)}

    def to_gemini(self) -> dict[str, Any]:
        """Return the tool as an element of `functionDeclarations` of Gemini's API."""
        return {"name": self.name, "description": self.description, "parametersJsonSchema": _plain(self.parameters)}


def web_tool_definitions(settings: Settings, *, files: bool = False) -> tuple[ToolDefinition, ToolDefinition]:
    """Return the definitions of `web_search` and `open_page`, without an implementation.

    Args:
        settings: Whose limits the definitions name.
        files: Whether there are folders of local files to search.
    """
    return web_search_definition(settings, files=files), open_page_definition(settings)


def web_search_definition(settings: Settings, *, files: bool = False) -> ToolDefinition:
    """Return the definition of `web_search`; see `web_tool_definitions`."""
    definition = _definition("web_search")
    definition.parameters["properties"]["limit"]["default"] = settings.search.limit
    definition.parameters["properties"].update(_sources(settings, files=files))
    return definition


def _sources(settings: Settings, *, files: bool) -> dict[str, Any]:
    """Return the parameter for what is searched, if there is more than the web."""
    names = ["web", *(["papers"] if settings.search.paper_providers else []), *(["files"] if files else [])]
    if names == ["web"]:
        return {}
    what = " or ".join(
        ["The web (default)", *({"papers": "papers", "files": "the user's files"}[name] for name in names[1:])]
    )
    return {"sources": {"type": "array", "items": {"type": "string", "enum": names}, "description": what}}


def open_page_definition(settings: Settings) -> ToolDefinition:
    """Return the definition of `open_page`."""
    return _definition("open_page", max_length=settings.read.max_length)


def local_search_definition(settings: Settings) -> ToolDefinition:
    """Return the definition of `search`, codelia's tool: one search by DuckDuckGo or Brave."""
    defaults = {"max_results": settings.search.limit, "backend": settings.search.local.backend}
    return _definition("search", **defaults)


def _definition(name: str, **defaults: object) -> ToolDefinition:
    """Return a tool of `definitions.json`, with the default of each argument that is named in its description."""
    fields = _plain(_DEFINITIONS[name])
    for argument, value in defaults.items():
        about = fields["parameters"]["properties"][argument]
        about["description"] = about["description"].format(value)
    return ToolDefinition(name=name, **fields, annotations=_READ_ONLY)


def _plain(value: Any) -> Any:
    """Return a copy of a schema as plain dictionaries, which a framework may modify."""
    return json.loads(json.dumps(value, default=dict))


CITATIONS: Final = GUIDANCE["citations"]
"""The citation instructions of yodoca."""

CITING: Final = GUIDANCE["citing"]
"""A longer version, for answers whose sources are listed by `groundwire.citations`."""

UNTRUSTED: Final = GUIDANCE["untrusted"]
"""The instruction that web content is data."""

_TOPICS = ("market size", "competitors", "recent trends")


def search_limits(limit: int = 20, *, topics: Sequence[str] = _TOPICS) -> str:
    """Return haytham's instructions on limited searches ("Agent Guidance").

    Args:
        limit: The searches of a session; 0 means that they have no limit.
        topics: What searches should be kept for. With none that line is left out.

    Returns:
        Markdown with a heading; nothing where searches have no limit.
    """
    if limit <= 0:
        return ""
    limits = GUIDANCE["limits"].format(limit=limit).strip()
    return f"{limits}\n- Prioritize searches for: {', '.join(topics)}" if topics else limits


def opening_pages(settings: Settings) -> str:
    """Return the instructions on opening pages, and on getting the relevant part of a long one.

    Args:
        settings: Whose limits are named.
    """
    return GUIDANCE["opening"].format(max_length=settings.read.max_length)


def guidance(settings: Settings) -> str:
    """Return all instructions as Markdown for a system prompt.

    Args:
        settings: Whose limits are named.
    """
    limits = search_limits(settings.session.max_searches, topics=())
    cautions = f"## Citing\n\n{CITATIONS}", f"## Text from the web\n\n{UNTRUSTED}"
    return "\n\n".join(part for part in (limits, opening_pages(settings), *cautions) if part)


def instructions(settings: Settings) -> str:
    """Return short instructions, sent by a server to hosts that connect.

    Args:
        settings: Whose limits are named.
    """
    limit = settings.session.max_searches
    few = f" {GUIDANCE['few'].format(limit=limit)}" if limit else ""
    return f"{GUIDANCE['tools']} {CITATIONS}{few} {UNTRUSTED}"
