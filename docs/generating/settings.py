"""The page of settings, from their schema."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from generating.docstrings import attribute_docs
from groundwire.settings import KEY_VARIABLES, Settings, variable


def settings() -> str:
    """Return the page."""
    return "\n\n".join(
        [
            "# Settings",
            "Set them in `groundwire.toml`, in their section, or by environment variable: the name is "
            f"`GROUNDWIRE_`, the section and the setting in capitals, such as `{variable('search.limit')}` for "
            f"`limit` in `[search]` and `{variable('providers.exa.base_url')}` for `base_url` in `[providers.exa]`. "
            "Arguments take precedence over environment variables, then `.env`, the project's `groundwire.toml`, "
            "and the user's `groundwire.toml` (`groundwire config path`). "
            "`groundwire config show --all` prints the effective values and where each one comes from. "
            "Defaults are in brackets.",
            *_sections(),
            "## Keys",
            "API keys are read from the caller, the system keyring, the environment, `.env`, or `keys.env` "
            "beside your user settings, never from `groundwire.toml`. "
            "A variable can hold several keys, separated by commas: "
            + ", ".join(f"`{name}`" for name in KEY_VARIABLES)
            + ".",
        ]
    )


def listing(model: type[BaseModel]) -> str:
    """Return the list of a section's settings, with their defaults."""
    lines = []
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
        lines.append(f"- `{key}`{f' (`{shown}`)' if shown else ''}: {' '.join(said.get(key, '').split())}")
    return "\n".join(lines)


def _sections() -> Iterator[str]:
    for section, field in Settings.model_fields.items():
        if (model := _section(field)) is not None:
            yield from _section_text(section, model)


def _section_text(path: str, model: type[BaseModel]) -> Iterator[str]:
    yield f"## `[{path}]`"
    yield (inspect.getdoc(model) or "").split("\n")[0]
    yield listing(model)
    for key, field in model.model_fields.items():
        if (inner := _section(field)) is not None:
            yield from _section_text(f"{path}.{key}", inner)


def _section(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a section of its own."""
    model = field.annotation
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None
