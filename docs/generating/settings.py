"""The page of settings, from their schema."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from generating.docstrings import attribute_docs, row
from groundwire.settings import KEY_VARIABLES, Settings, variable

__all__ = ["settings", "table"]


def settings() -> str:
    """Return the page."""
    return "\n\n".join(
        [
            "# Settings",
            "Each can stand in `groundwire.toml` under its section, or in the variable beside it. Arguments win over "
            "variables, these over `.env`, over the project's `groundwire.toml`, over the user's own "
            "`groundwire.toml` (`groundwire config path`). "
            "`groundwire config show` prints what is in force and where each value came from.",
            *_sections(),
            "## Keys",
            "Read from the caller, the keyring, the environment, `.env`, or `keys.env` beside your own settings, "
            "never from `groundwire.toml`; one variable may hold several keys, separated by commas: "
            + ", ".join(f"`{name}`" for name in KEY_VARIABLES)
            + ".",
        ]
    )


def table(model: type[BaseModel], path: str) -> str:
    """Return the table of a section's settings."""
    rows = ["| setting | default | variable | what it does |", "| --- | --- | --- | --- |"]
    said = {
        key: text
        for cls in reversed(model.__mro__[: model.__mro__.index(BaseModel)])
        for key, text in attribute_docs(cls).items()
    }
    for key, field in model.model_fields.items():
        if _section(field) is not None:
            continue
        default = field.get_default(call_default_factory=True)
        shown = ", ".join(map(str, default)) if isinstance(default, tuple) else "" if default is None else str(default)
        name = f"`{variable(f'{path}.{key}')}`"
        rows.append(row(f"`{key}`", f"`{shown}`" if shown else "", name, said.get(key, "")))
    return "\n".join(rows)


def _sections() -> Iterator[str]:
    for section, field in Settings.model_fields.items():
        if (model := _section(field)) is not None:
            yield from _section_text(section, model)


def _section_text(path: str, model: type[BaseModel]) -> Iterator[str]:
    yield f"## `[{path}]`"
    yield (inspect.getdoc(model) or "").split("\n")[0]
    yield table(model, path)
    for key, field in model.model_fields.items():
        if (inner := _section(field)) is not None:
            yield from _section_text(f"{path}.{key}", inner)


def _section(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a section of its own."""
    model = field.annotation
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None
