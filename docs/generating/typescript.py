"""The types of the npm package, from the OpenAPI document and the tools' definitions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from generating.http import openapi_document
from groundwire import Settings
from groundwire.tools import ToolDefinition, web_tool_definitions

_HEAD = "// Written from the server's OpenAPI document by `make docs`; a test fails when it is out of date.\n"
_SPARSE = {"LocalSearchToolResult"}  # its last fields are there only after a failure; other replies have every field


def typescript_types() -> str:
    """Return the module of the types of `/v1`, and of what a model is told of the tools."""
    document = openapi_document()
    schemas: dict[str, Any] = document["components"]["schemas"]
    requests = {"PrepareQuery"}  # the parameters of an address are no object there
    replies: set[str] = set()
    for path, methods in document["paths"].items():
        if path.startswith("/v1/"):
            for operation in methods.values():
                _reach(operation.get("requestBody", {}), schemas, requests)
                _reach(operation["responses"], schemas, replies)
    declared = (
        _declared(name, schemas[name], sent=name in replies and name not in _SPARSE)
        for name in sorted(requests | replies)
    )
    return "\n".join((_HEAD, *declared, *map(_told, web_tool_definitions(Settings()))))


def _told(definition: ToolDefinition) -> str:
    told = json.dumps(definition.definition(), indent=2, ensure_ascii=False)
    return f"/** What a model is told of `{definition.name}`. */\nexport const {definition.name} = {told} as const;\n"


def _reach(node: object, schemas: Mapping[str, Any], found: set[str]) -> None:
    """Add the names of the schemas that a part of the document refers to, directly or not."""
    for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(node)):
        if name not in found:
            found.add(name)
            _reach(schemas[name], schemas, found)


def _declared(name: str, schema: Mapping[str, Any], *, sent: bool) -> str:
    about = _comment(schema.get("description", ""), "")
    if "properties" not in schema:
        return f"{about}export type {name} = {_type(schema)};\n"
    fields = "".join(_fields(schema, sent=sent))
    return f"{about}export interface {name} {{\n{fields}}}\n"


def _fields(schema: Mapping[str, Any], *, sent: bool) -> Iterator[str]:
    required = set(schema["properties"]) if sent else set(schema.get("required", ()))
    for name, field in schema["properties"].items():
        mark = "" if name in required else "?"
        yield f"{_comment(field.get('description', ''), '  ')}  {name}{mark}: {_type(field)};\n"


def _comment(text: str, indent: str) -> str:
    return f"{indent}/** {' '.join(text.split())} */\n" if text else ""


def _type(schema: Mapping[str, Any]) -> str:
    """Return a schema as a type of TypeScript."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(map(_type, schema["anyOf"])))
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")]))
    match schema.get("type"):
        case "array":
            inner = _type(schema.get("items", {}))
            return f"Array<{inner}>" if " " in inner else f"{inner}[]"
        case "object":
            values = _type(schema.get("additionalProperties") or {})
            if names := schema.get("propertyNames"):
                return f"{{ [name in {_type(names)}]?: {values} }}"
            return f"{{ [name: string]: {values} }}"
        case "integer" | "number":
            return "number"
        case "string" | "boolean" | "null" as plain:
            return str(plain)
    return "unknown"
