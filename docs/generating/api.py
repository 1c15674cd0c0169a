"""The pages of the Python API, from signatures and docstrings."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from types import ModuleType, UnionType
from typing import Literal, get_args, get_origin

from pydantic import BaseModel

import groundwire
from generating.docstrings import attribute_docs, first_sentence, markdown, row

__all__ = ["module_pages", "python_page"]

_MODULES = (
    "groundwire.tools",
    "groundwire.tools.definitions",
    "groundwire.tools.permissions",
    "groundwire.models",
    "groundwire.settings",
    "groundwire.citations",
    "groundwire.citations.verify",
    "groundwire.agent_loop",
    "groundwire.hosted",
    "groundwire.hosted.answers",
    "groundwire.integrations.tool_runner",
    "groundwire.integrations.hosts.extension",
    "groundwire.integrations.hosts.fallback_chain",
    "groundwire.integrations.hosts.search_policy",
    "groundwire.integrations.hosts.three_tiers",
    "groundwire.integrations.hosts.tool_port",
    "groundwire.server.api",
    "groundwire.server.openai.app",
    "groundwire.server.ui",
    "groundwire.server.uvicorn_runner",
    "groundwire.setup",
    "groundwire.telemetry",
    "groundwire.cassette",
    "groundwire.storage",
    "groundwire.providers.base",
    "groundwire.deadline",
    "groundwire.safety.guard",
    "groundwire.transport",
    "groundwire.testing",
    "groundwire.testing.model_apis",
)
"""The public modules beside the package itself."""

_MOST = 110  # characters of a signature on one line


def python_page() -> str:
    """Return the page of the package `groundwire`."""
    parts = [
        "# Package `groundwire`",
        "The names that you import from `groundwire`. Other public modules are listed in [modules](modules.md), "
        "and exceptions in [errors](errors.md).",
    ]
    for name in groundwire.__all__:
        thing = getattr(groundwire, name)
        if not (isinstance(thing, type) and issubclass(thing, BaseException)):
            parts += _entry(groundwire, name)
    return "\n\n".join(filter(None, parts))


def module_pages() -> Iterator[tuple[str, str]]:
    """Return the overview of the other public modules, and a page for each, as paths below `reference/` and texts."""
    rows = ["| module | content | names |", "| --- | --- | --- |"]
    for name in _MODULES:
        module = import_module(name)
        names = ", ".join(f"`{one}`" for one in module.__all__)
        rows.append(row(f"[`{name}`](api/{name}.md)", first_sentence(module), names))
        parts = [f"# `{name}`", markdown(inspect.getdoc(module) or "")]
        for one in module.__all__:
            parts += _entry(module, one)
        yield f"api/{name}.md", "\n\n".join(filter(None, parts))
    intro = "The public modules beside [the package itself](python.md). Each page has signatures and docstrings."
    yield "modules.md", "\n\n".join(["# Modules", intro, "\n".join(rows)])


def _entry(module: ModuleType, name: str) -> Iterator[str]:
    """Return what the reference says of one name; what `groundwire` itself offers is there."""
    thing = getattr(module, name)
    if module is not groundwire and getattr(groundwire, name, None) is thing and not inspect.ismodule(thing):
        page = "errors" if isinstance(thing, type) and issubclass(thing, BaseException) else "python"
        yield f"## `{name}`"
        yield f"See [`groundwire.{name}`](../{page}.md#{name.lower()})."
    elif isinstance(thing, type):
        yield from _class(name, thing)
    elif inspect.isroutine(thing):
        yield f"## `{name}`"
        yield _signature(name, thing)
        yield markdown(inspect.getdoc(thing) or "")
    else:
        yield f"## `{name}`"
        yield _value(module, name)
        yield attribute_docs(_origin(module, name)).get(name, "")


def _value(module: ModuleType, name: str) -> str:
    """Return a sentence about a constant, or what a type alias stands for."""
    thing = getattr(module, name)
    if get_origin(thing) is Literal:
        return f"One of {', '.join(f'`{json.dumps(one)}`' for one in get_args(thing))}."
    if get_origin(thing) is not None or isinstance(thing, UnionType):
        for node in ast.parse(inspect.getsource(_origin(module, name))).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and target.id == name and (value := getattr(node, "value", None)):
                return f"Type: `{ast.unparse(value)}`."
    shown = json.dumps(thing) if isinstance(thing, str) else repr(thing)
    short = isinstance(thing, str | int | tuple) and len(shown) <= _MOST and "`" not in shown
    return f"Value: `{shown}`." if short else f"Type: `{type(thing).__name__}`."


def _origin(module: ModuleType, name: str) -> ModuleType:
    """Return the module in which a name is assigned, through its imports."""
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom) and node.module and name in {one.name for one in node.names}:
            return _origin(import_module(node.module), name)
    return module


def _class(name: str, cls: type) -> Iterator[str]:
    yield f"## `{name}`"
    without = issubclass(cls, BaseException) or _is_record(cls) or getattr(cls, "_is_protocol", False)
    if not without:
        yield _signature(name, cls)
    yield markdown(inspect.getdoc(cls) or "")
    if docs := _fields(cls):
        yield "\n".join(["| field | description |", "| --- | --- |", *(row(f"`{key}`", said) for key, said in docs)])
    bases = [base for base in cls.__mro__[1:] if base.__module__.startswith("groundwire")]
    inherited = {key: member for base in bases for key, member in vars(base).items() if key not in vars(cls)}
    members = {**vars(cls), **inherited}
    for key, member in members.items():
        if key.startswith(("_", "model_")):
            continue
        if isinstance(member, property):
            yield f"### `{name}.{key}`"
            yield markdown(inspect.getdoc(member) or "")
        elif inspect.isfunction(member) or isinstance(member, (classmethod, staticmethod)):
            bound = getattr(cls, key)
            yield f"### `{name}.{key}()`"
            yield _signature(key, bound)
            yield markdown(inspect.getdoc(bound) or "")


def _is_record(cls: type) -> bool:
    """Return whether a class is a model, a dataclass or a named tuple."""
    return issubclass(cls, BaseModel) or is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def _fields(cls: type) -> list[tuple[str, str]]:
    """Return the fields of a record, those of its bases first."""
    if not _is_record(cls):
        return []
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("groundwire"):
            docs |= attribute_docs(base)
    return [(key, said) for key, said in docs.items() if not key.startswith("_")]


def _default(value: object) -> str:
    """Return a default as code: classes and functions by name, other objects by their class."""
    if isinstance(value, type) or inspect.isroutine(value):
        return value.__name__
    if _is_record(type(value)) or (isinstance(value, frozenset) and len(value) > 1):
        return f"{type(value).__name__}(...)"  # the order of a set changes from one process to the next
    return json.dumps(value) if isinstance(value, str) else repr(value).replace("'", '"')


def _annotation(value: object) -> str:
    return (value if isinstance(value, str) else inspect.formatannotation(value)).replace("'", '"')


def _parameter(one: inspect.Parameter) -> str:
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
    text = f"{stars.get(one.kind.name, '')}{one.name}"
    if one.annotation is not one.empty:
        text += f": {_annotation(one.annotation)}"
    if one.default is not one.empty:
        text += f" = {_default(one.default)}" if one.annotation is not one.empty else f"={_default(one.default)}"
    return text


def _signature(name: str, thing: object) -> str:
    """Return a signature as code, one parameter a line when it is long."""
    assert callable(thing)
    signature = inspect.signature(thing)
    parameters = [one for one in signature.parameters.values() if one.name not in {"self", "cls"}]
    kept, kinds = [_parameter(one) for one in parameters], [one.kind for one in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        kept.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    returned = signature.return_annotation
    returned = "None" if returned is signature.empty else _annotation(returned)
    start = "async def" if inspect.iscoroutinefunction(thing) else "def"
    if isinstance(thing, type):
        name, kept, returned = "__init__", ["self", *kept], "None"
    text = f"{start} {name}({', '.join(kept)}) -> {returned}: ..."
    if len(text) > _MOST:
        text = "\n".join([f"{start} {name}(", *(f"    {one}," for one in kept), f") -> {returned}: ..."])
    if isinstance(thing, type):
        text = f"class {thing.__name__}:\n" + textwrap.indent(text, "    ")
    return f"```python\n{text}\n```"
