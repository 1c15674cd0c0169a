"""Writes `docs/reference.md` from the code: commands, settings, provider options, errors, outcomes.

`python docs/generate.py` writes it; `python docs/generate.py --check` says whether it is up to date.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from groundwire import errors, tools
from groundwire.cli import group
from groundwire.providers.registry import provider_class, provider_names
from groundwire.settings import KEY_VARIABLES, Settings, variable

TARGET = Path(__file__).parent / "reference.md"


def reference() -> str:
    """Return the whole page."""
    parts = [
        "# Reference",
        "Written from the code by `make docs`; a test fails when it is out of date.",
        "## Commands",
        *_commands(group, "groundwire"),
        "## Settings",
        "Each can stand in `groundwire.toml` under its section, or in the variable beside it.",
        *_settings(),
        "## Providers",
        *_providers(),
        "## Keys",
        "Read from the keyring, the environment, `.env`, or `keys.env` beside your own settings, never from "
        "`groundwire.toml`; one variable may hold several keys, "
        "separated by commas: " + ", ".join(f"`{name}`" for name in KEY_VARIABLES) + ".",
        "## Tool results",
        *_models(tools.WebSearchToolResult, tools.SearchResultItem, tools.OpenPageToolResult),
        "## Errors",
        f"```text\n{_tree()}\n```",
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _tree() -> str:
    """Return the tree of errors as `errors.py` draws it."""
    drawn = (inspect.getdoc(errors) or "").partition("    GroundwireError")
    return textwrap.dedent(drawn[1] + drawn[2]).rstrip()


def _commands(command: click.Command, path: str) -> Iterator[str]:
    context = click.Context(command, info_name=path, terminal_width=100, max_content_width=100)
    yield f"### `{path}`"
    yield f"```text\n{command.get_help(context).rstrip()}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (child := command.get_command(context, name)) is not None:
                yield from _commands(child, f"{path} {name}")


def _settings() -> Iterator[str]:
    for section, field in Settings.model_fields.items():
        if (model := _section(field)) is not None:
            yield from _section_text(section, model)


def _section_text(path: str, model: type[BaseModel]) -> Iterator[str]:
    yield f"### `[{path}]`"
    yield (inspect.getdoc(model) or "").split("\n")[0]
    yield _table(model, path)
    for key, field in model.model_fields.items():
        if (inner := _section(field)) is not None:
            yield from _section_text(f"{path}.{key}", inner)


def _section(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a section of its own."""
    model = field.annotation
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None


def _providers() -> Iterator[str]:
    rows = ["| name | searches | reads | key | what it is |", "| --- | --- | --- | --- | --- |"]
    details = []
    for name in provider_names():
        cls = provider_class(name)
        able = cls.capabilities
        variables = getattr(cls, "key_variables", ())
        needed = getattr(cls, "key_needed", False)
        key = f"`{variables[0]}`" + ("" if needed else " (optional)") if variables else "none"
        what = (inspect.getdoc(cls) or "").split("\n")[0]
        rows.append(f"| `{name}` | {'yes' if able.search else ''} | {'yes' if able.read else ''} | {key} | {what} |")
        options = getattr(cls, "Options", None)
        if options is not None and options.model_fields:
            details += [f"### `[providers.{name}]`", _table(options, f"providers.{name}")]
    yield "\n".join(rows)
    yield from details


def _table(model: type[BaseModel], section: str) -> str:
    rows = ["| setting | default | variable | what it does |", "| --- | --- | --- | --- |"]
    for key, field in model.model_fields.items():
        if _section(field) is not None:
            continue
        default = field.get_default(call_default_factory=True)
        shown = ", ".join(map(str, default)) if isinstance(default, tuple) else "" if default is None else str(default)
        what = " ".join((field.description or "").split())
        rows.append(f"| `{key}` | {f'`{shown}`' if shown else ''} | `{variable(f'{section}.{key}')}` | {what} |")
    return "\n".join(rows)


def _models(*models: type[BaseModel]) -> Iterator[str]:
    for model in models:
        yield f"### `{model.__name__}`"
        rows = ["| field | what it is |", "| --- | --- |"]
        rows += [
            f"| `{key}` | {' '.join((field.description or '').split())} |" for key, field in model.model_fields.items()
        ]
        yield "\n".join(rows)


def main() -> None:
    """Write the page, or check it."""
    text = reference()
    if "--check" in sys.argv[1:]:
        if not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != text:
            sys.exit("docs/reference.md is out of date: run `make docs`.")
        return
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
