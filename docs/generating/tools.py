"""The page of the two tools, from their definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import BaseModel

from groundwire import Settings, tools

RESULTS = (
    tools.WebSearchToolResult,
    tools.SearchResultItem,
    tools.OpenPageToolResult,
    tools.ExcerptItem,
    tools.LocalSearchToolResult,
    tools.LocalSearchItem,
)


def tool_page() -> str:
    """Return the page."""
    parts = [
        "# Tools",
        "The definitions of the two tools that a model receives, with default settings, and what the tools return. "
        "Every result has a JSON form with these fields; `render_text` returns the text that a model reads.",
    ]
    for definition in tools.web_tool_definitions(Settings()):
        parts += [
            f"## `{definition.name}`",
            f"```json\n{json.dumps(definition.definition(), indent=2, ensure_ascii=False)}\n```",
        ]
    return "\n\n".join([*parts, "## Results", *_models()])


def _models() -> Iterator[str]:
    for model in RESULTS:
        yield f"### `{model.__name__}`"
        yield _fields(model)


def _fields(model: type[BaseModel]) -> str:
    return "\n".join(f"- `{key}`: {field.description or ''}" for key, field in model.model_fields.items())
