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
from generating.docstrings import attribute_docs, first_sentence, markdown

_MODULES: dict[str, tuple[str, ...]] = {
    "groundwire.tools": ("Tool", "ToolResult", "render_text"),
    "groundwire.tools.definitions": (),
    "groundwire.tools.permissions": ("PermissionRequest", "guarded_tools"),
    "groundwire.models": (),
    "groundwire.settings": ("load",),
    "groundwire.citations": ("render_answer",),
    "groundwire.citations.verify": ("CitedPage", "Finding", "Doubt", "Report", "verify_answer"),
    "groundwire.agent_loop": ("run_tools", "CitedAnswer", "Run"),
    "groundwire.hosted": ("Location", "Needs", "Plan", "hosted_definition", "plan", "prepare"),
    "groundwire.hosted.answers": ("HostedAnswer", "read_answer"),
    "groundwire.integrations.framework_tools": (),
    "groundwire.integrations.hosts.extension": (),
    "groundwire.integrations.hosts.fallback_chain": (),
    "groundwire.integrations.hosts.search_policy": (),
    "groundwire.integrations.hosts.three_tiers": (),
    "groundwire.integrations.hosts.tool_port": (),
    "groundwire_server.api": (),
    "groundwire.evaluation": (),
    "groundwire.telemetry": ("SearchDone", "PageDone"),
    "groundwire.providers.base": (),
    "groundwire.testing": (),
    "groundwire.testing.conformance": (),
    "groundwire.testing.model_apis": (),
}
"""The public modules beside the package itself, and the names of each that the guides use. A name that is not listed
has a line; its docstring says the rest."""

_PARTS = {
    "groundwire_server.ui": ("ui_routes",),
    "groundwire_server.uvicorn_runner": ("serving", "run"),
    "groundwire.setup": ("load_offers", "setup_schema", "verify", "provider_statuses"),
    "groundwire.cassette": ("Cassette", "RECORD_VARIABLE", "REPLAY_VARIABLE"),
    "groundwire.storage": ("open_store", "Store"),
    "groundwire.deadline": ("Deadline",),
    "groundwire.safety.guard": ("Guard", "Resolver"),
    "groundwire.transport": ("Transport", "Response", "FetchPolicy"),
}
"""Modules for our own use, and the names of each that a program with an extension of its own needs."""

_MOST = 110  # characters of a signature on one line


def entries() -> dict[str, type]:
    """Return the classes of the page of the package."""
    things = {name: getattr(groundwire, name) for name in groundwire.__all__}
    return {name: thing for name, thing in things.items() if isinstance(thing, type)}


def module_entries() -> dict[str, type]:
    """Return the classes that have an entry on the page of the modules."""
    things = {name: getattr(import_module(module), name) for module, names in _MODULES.items() for name in names}
    return {name: thing for name, thing in things.items() if isinstance(thing, type)}


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
            parts += _entry(groundwire, name, "##")
    return "\n\n".join(filter(None, parts))


def module_page() -> str:
    """Return the page of the other public modules."""
    parts = [
        "# Modules",
        "The public modules beside [the package itself](python.md). What only has its name or a line here has more in "
        "its docstring: `help(groundwire.tools.render_text)` prints it.",
    ]
    for name, principal in _MODULES.items():
        module = import_module(name)
        others = [one for one in module.__all__ if one not in principal and _line(module, one)]
        classes = [one for one in others if isinstance(getattr(module, one), type)]
        parts += [f"## `{name}`", markdown(module.__doc__ or ""), "\n".join(_line(module, one) for one in classes)]
        parts += ["Also: " + ", ".join(f"`{one}`" for one in others if one not in classes) + "."] * (others != classes)
        for one in principal:
            parts += _entry(module, one, "###")
    parts += ["## Parts for extensions", "Names of modules that are otherwise for Groundwire itself and may change."]
    parts += [", ".join(f"`{name}.{one}`" for name, names in _PARTS.items() for one in names) + "."]
    return "\n\n".join(filter(None, parts))


def _line(module: ModuleType, name: str) -> str:
    """Return a line about one name; none about what `groundwire` itself offers."""
    thing = getattr(module, name)
    if getattr(groundwire, name, None) is thing:
        return ""
    if isinstance(thing, type) or inspect.isroutine(thing):
        return f"- `{name}`: {first_sentence(thing)}"
    said = attribute_docs(_origin(module, name)).get(name, "").split("\n\n")[0]
    return f"- `{name}`: {said or _value(module, name)}"


def _entry(module: ModuleType, name: str, level: str) -> Iterator[str]:
    """Return what the reference says of one name."""
    thing = getattr(module, name)
    yield f"{level} `{name}`"
    if isinstance(thing, type):
        yield from _class(name, thing, f"{level}#")
    elif inspect.isroutine(thing):
        said = inspect.getdoc(thing) or ""
        if f"see `Web.{name}`" not in said:  # which has the same signature
            yield _signature(name, thing)
        yield markdown(said)
    else:
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


def _class(name: str, cls: type, level: str) -> Iterator[str]:
    without = issubclass(cls, BaseException) or _is_record(cls) or getattr(cls, "_is_protocol", False)
    if not without and cls is not groundwire.SyncWeb:
        yield _signature(name, cls)
    yield markdown(inspect.getdoc(cls) or "")
    offered = [base for base in cls.__mro__[1:] if getattr(groundwire, base.__name__, None) is base]
    for base in offered:
        yield f"It has what [`{base.__name__}`](python.md#{base.__name__.lower()}) has, and:"
    inherited_fields = {key for base in offered for key in fields_of(base)}
    fields = {key: said for key, said in fields_of(cls).items() if key not in inherited_fields}
    yield "\n".join(f"- `{key}`: {said}" for key, said in fields.items())
    bases = [base for base in cls.__mro__[1:] if base.__module__.startswith("groundwire") and base not in offered]
    inherited = {key: member for base in bases for key, member in vars(base).items() if key not in vars(cls)}
    members = {**vars(cls), **inherited}
    known = vars(groundwire.SyncWeb) if cls is groundwire.SyncWeb else {}
    if known:
        same = [key for key in known if not key.startswith("_") and hasattr(groundwire.Web, key)]
        yield f"As in [`Web`](#web), without `await`: {', '.join(f'`{key}`' for key in same)}."
        members = {key: member for key, member in members.items() if key not in same}
    own = attribute_docs(cls) if not without and "__init__" in vars(cls) else {}
    lines = [f"- `{key}`: {said}" for key, said in own.items() if not key.startswith("_")]
    entries: list[str] = []
    for key, member in members.items():
        if key.startswith(("_", "model_")):
            continue
        called = inspect.isfunction(member) or isinstance(member, (classmethod, staticmethod))
        if not called and not isinstance(member, property):
            continue
        bound = getattr(cls, key)
        if not (called and level == "###" and "\nArgs:" in (inspect.getdoc(bound) or "")):
            lines.append(f"- `{key}{_arguments(bound) if called else ''}`: {first_sentence(member)}")
        else:
            entries += [f"{level} `{name}.{key}()`", _signature(key, bound), markdown(inspect.getdoc(bound) or "")]
    if lines:
        yield "**Methods and properties**"
        yield "\n".join(lines)
    yield from entries


def _is_record(cls: type) -> bool:
    """Return whether a class is a model, a dataclass or a named tuple."""
    return issubclass(cls, BaseModel) or is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def fields_of(cls: type) -> dict[str, str]:
    """Return the fields of a record and their docstrings, those of its bases first."""
    if not _is_record(cls):
        return {}
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("groundwire"):
            docs |= attribute_docs(base)
    return {key: said for key, said in docs.items() if not key.startswith("_")}


def _default(value: object) -> str:
    """Return a default as code: classes and functions by name, other objects by their class."""
    if isinstance(value, type) or inspect.isroutine(value):
        return value.__name__
    if _is_record(type(value)) or (isinstance(value, frozenset) and len(value) > 1):
        return f"{type(value).__name__}(...)"  # the order of a set changes from one process to the next
    shown = json.dumps(value) if isinstance(value, str) else repr(value).replace("'", '"')
    return shown if len(shown) <= _MOST else "..."


def _annotation(value: object) -> str:
    text = value if isinstance(value, str) else inspect.formatannotation(value)
    return text.replace("groundwire.models.", "").replace("'", '"')


def _parameter(one: inspect.Parameter) -> str:
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
    text = f"{stars.get(one.kind.name, '')}{one.name}"
    if one.annotation is not one.empty:
        text += f": {_annotation(one.annotation)}"
    if one.default is not one.empty:
        text += f" = {_default(one.default)}" if one.annotation is not one.empty else f"={_default(one.default)}"
    return text


def _arguments(thing: object) -> str:
    """Return the names of a method's parameters, as in a call."""
    assert callable(thing)
    names = [name for name in inspect.signature(thing).parameters if name not in {"self", "cls", "unknown"}]
    return f"({', '.join(names)})"


def _signature(name: str, thing: object) -> str:
    """Return a signature as code, one parameter a line when it is long."""
    assert callable(thing)
    signature = inspect.signature(thing)
    parameters = [one for one in signature.parameters.values() if one.name not in {"self", "cls", "unknown"}]
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
