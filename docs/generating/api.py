"""The pages of the Python API, from signatures and docstrings."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from types import ModuleType
from typing import get_origin

from pydantic import BaseModel

import groundwire
from generating.docstrings import attribute_docs, first_sentence, markdown, row

__all__ = ["python_page", "rooms_page"]

_ROOMS = (
    "groundwire.tools",
    "groundwire.tools.definitions",
    "groundwire.citations",
    "groundwire.citations.verify",
    "groundwire.agent_loop",
    "groundwire.hosted",
    "groundwire.hosted.answers",
    "groundwire.tools.permissions",
    "groundwire.telemetry",
    "groundwire.cassette",
    "groundwire.testing",
    "groundwire.testing.model_apis",
)
"""The modules that a program uses beside the package itself."""

_MOST = 110  # characters of a signature on one line


def python_page() -> str:
    """Return the page of what `groundwire` itself has."""
    parts = [
        "# Python",
        "The names of the package `groundwire`. What else a program may use is in [modules](modules.md), what can be "
        "raised in [errors](errors.md).",
    ]
    for name in groundwire.__all__:
        thing = getattr(groundwire, name)
        if isinstance(thing, type) and issubclass(thing, BaseException):
            continue
        if isinstance(thing, type):
            parts += _class(name, thing)
        elif callable(thing):
            parts += [f"## `{name}`", _signature(name, thing), markdown(inspect.getdoc(thing) or "")]
    return "\n\n".join(parts)


def rooms_page() -> str:
    """Return the page of the other modules: their names, and what each is."""
    parts = ["# Modules", "The contents of the package's public modules, beside [the package itself](python.md)."]
    for room in _ROOMS:
        module = import_module(room)
        parts += [f"## `{room}`", first_sentence(module), "\n".join(_names(module))]
    return "\n\n".join(parts)


def _names(module: ModuleType) -> Iterator[str]:
    yield "| name | what it is |"
    yield "| --- | --- |"
    for name in module.__all__:
        thing = getattr(module, name)
        described = isinstance(thing, type) or inspect.isroutine(thing)
        kind = "" if described else "a type" if get_origin(thing) is not None else "a value"
        yield row(f"`{name}`", first_sentence(thing) if described else kind)


def _class(name: str, cls: type) -> Iterator[str]:
    yield f"## `{name}`"
    constructed = not (issubclass(cls, BaseModel) or is_dataclass(cls) or getattr(cls, "_is_protocol", False))
    if constructed:
        yield _signature(name, cls)
    yield markdown(inspect.getdoc(cls) or "")
    if docs := _fields(cls):
        yield "\n".join(["| field | what it is |", "| --- | --- |", *(row(f"`{key}`", said) for key, said in docs)])
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


def _fields(cls: type) -> list[tuple[str, str]]:
    """Return the fields of a model or a dataclass, those of its bases first."""
    if not (issubclass(cls, BaseModel) or is_dataclass(cls)):
        return []
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("groundwire"):
            docs |= attribute_docs(base)
    return [(key, said) for key, said in docs.items() if not key.startswith("_")]


def _signature(name: str, thing: object) -> str:
    """Return a signature as code, one parameter a line when it is long."""
    assert callable(thing)
    signature = inspect.signature(thing)
    kept = [
        str(one).replace("''", '""').replace("'", "")
        for one in signature.parameters.values()
        if one.name not in {"self", "cls"}
    ]
    kinds = [one.kind for one in signature.parameters.values() if one.name not in {"self", "cls"}]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        kept.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    returned = str(signature).rpartition(" -> ")[2].replace("'", "") if " -> " in str(signature) else "None"
    start = "async def" if inspect.iscoroutinefunction(thing) else "def"
    if isinstance(thing, type):
        name, kept, returned = "__init__", ["self", *kept], "None"
    text = f"{start} {name}({', '.join(kept)}) -> {returned}: ..."
    if len(text) > _MOST:
        text = "\n".join([f"{start} {name}(", *(f"    {one}," for one in kept), f") -> {returned}: ..."])
    if isinstance(thing, type):
        text = f"class {thing.__name__}:\n" + textwrap.indent(text, "    ")
    return f"```python\n{text}\n```"
