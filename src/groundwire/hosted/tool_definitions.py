"""Function tools in the format of each API, and Groundwire's hosted definition, a placeholder for "search the web"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from groundwire.hosted.api_capabilities import Wire

DECLARATIONS = ("functionDeclarations", "function_declarations")
"""The keys of the functions in a tool of Gemini, in its API and in its SDK."""
_SCHEMAS = ("parametersJsonSchema", "parameters_json_schema", "parameters", "input_schema", "inputSchema")
HOSTED_TYPE = "groundwire:web_search"
"""The type of Groundwire's hosted definition; no API accepts it, so a request with it must go through `prepare`."""


class FunctionTool(Protocol):
    """The definition of a tool for a model; `groundwire.tools.Tool` is one."""

    @property
    def name(self) -> str:
        """The name that the model calls."""

    @property
    def description(self) -> str:
        """When and how to use the tool."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The arguments as a JSON schema."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function tool, independent of any API's format."""

    name: str
    """The name that the model calls."""
    description: str = ""
    """When and how to use the tool."""
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """The arguments as a JSON schema."""


WEB_SEARCH = Definition(
    "web_search",
    "Search the web for current information. Returns ranked results with title, URL and snippet.",
    MappingProxyType(
        {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What to search for"}},
            "required": ["query"],
        }
    ),
)
"""The function tool for a hosted definition that is executed locally, when no tools are given."""


def hosted_definition() -> dict[str, Any]:
    """Return a tool definition that means "search the web" in any request, hosted or local."""
    return {"type": HOSTED_TYPE, "name": "web_search"}


def read(tool: object, wire: Wire | None = None) -> Definition | None:
    """Parse a tool of a request in any API's format as a function tool; None for anything else.

    Args:
        tool: One entry of a request's tools.
        wire: Accept only this API's format.
    """
    if not isinstance(tool, Mapping):
        return None
    forms = {
        "chat": tool.get("function") if tool.get("type") == "function" else None,
        "responses": tool if tool.get("type") == "function" and "function" not in tool else None,
        "anthropic": tool if tool.get("type", "custom") == "custom" and "input_schema" in tool else None,
        "neutral": tool if "type" not in tool and "parameters" in tool else None,
        "bedrock": tool.get("toolSpec"),
    }
    form = "chat" if wire == "mistral" else "responses" if wire == "interactions" else wire
    for name, inner in forms.items():
        if form in (None, name) and isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            schema: Any = next((inner[key] for key in _SCHEMAS if key in inner), {})
            if name == "bedrock" and isinstance(schema, Mapping):
                schema = schema.get("json", {})
            return Definition(
                inner["name"], str(inner.get("description") or ""), schema if isinstance(schema, Mapping) else {}
            )
    return None


def declared(tool: Mapping[str, Any]) -> Sequence[Any]:
    """Return the declarations in a tool of Gemini, which may be of several functions."""
    return next((tool[key] for key in DECLARATIONS if isinstance(tool.get(key), (list, tuple))), ())


def functions_of(tool: object) -> Iterator[Definition]:
    """Yield the functions of a request's tool: itself, or those that a tool of Gemini declares."""
    functions = [tool]
    if isinstance(tool, Mapping) and read(tool) is None:
        functions = [{"type": "function", "function": declaration} for declaration in declared(tool)]
    yield from filter(None, map(read, functions))


def write(tool: FunctionTool, wire: Wire) -> dict[str, Any]:
    """Return a function tool in the format of an API; for Gemini, that is one function declaration."""
    name, description, schema = tool.name, tool.description, plain(tool.parameters)
    if wire in ("chat", "mistral"):
        return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
    if wire in ("responses", "interactions"):
        return {"type": "function", "name": name, "description": description, "parameters": schema}
    if wire == "anthropic":
        return {"name": name, "description": description, "input_schema": schema}
    if wire == "bedrock":
        return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}
    return {"name": name, "description": description, "parametersJsonSchema": schema}


def plain(value: Any) -> Any:
    """Return a copy of a schema as plain dictionaries and lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value
