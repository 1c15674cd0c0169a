"""The page of the gateway's HTTP API, from its OpenAPI document."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generating.api import entries, fields_of, module_entries
from generating.tools import RESULTS
from groundwire import Settings, Web
from groundwire_server.api.context import AppContext, Traffic
from groundwire_server.api.openapi import openapi
from groundwire_server.api.routes import operations

_ENDS = "#/components/schemas/"
_RESULTS = frozenset(model.__name__ for model in RESULTS)  # which the page of the tools has

_OTHERS = ("Perplexity", "Searxng")  # requests and replies in the form of another API


def http_page() -> str:
    """Return the page."""
    document = openapi_document()
    schemas = document["components"]["schemas"]
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    parts = [
        "# HTTP API",
        "The endpoints of `groundwire serve` (package `groundwire-server`). "
        "`GET /openapi.json` returns this description for programs, with the statuses of each endpoint. "
        + " ".join(document["info"]["description"].split()),
        "Send an API key as `Authorization: Bearer KEY` or `X-API-Key: KEY`; see [keys](../guides/keys.md).",
        "The body of an error is a [Failure](#failure); [the gateway](../guides/gateway.md#errors) has the statuses.",
    ]
    bodies, replies = _reachable(operations, schemas)
    places: dict[str, list[str]] = {}
    for path, method, operation in operations:
        if said := _said(operation):
            places.setdefault(said, []).append(f"`{method.upper()} {path}`")
    parts += [f"{', '.join(names)}: {said}" for said, names in places.items()]
    for path, method, operation in operations:
        parts += _operation(path, method, operation, {name: schemas[name] for name in bodies})
    parts.append("## Schemas")
    for name in sorted(bodies | replies):
        schema = schemas[name]
        if page := _page_of(name, schema):
            parts += [f"### `{name}`", f"The fields of [`{name}`]({page}#{name.lower()})."]
        elif name.startswith(_OTHERS):
            parts += [f"### `{name}`", f"{_said(schema)} `GET /openapi.json` lists its fields."]
        elif name not in _RESULTS:
            fields = _fields(schema, required=name in bodies) if schema.get("properties") else ""
            parts += [f"### `{name}`", _said(schema), fields]
    return "\n\n".join(part for part in parts if part)


def _page_of(name: str, schema: Mapping[str, Any]) -> str:
    """Return the page that describes the fields of a schema, if it is the JSON form of a class that has an entry."""
    fields = set(schema.get("properties", ()))
    for page, classes in (("python.md", entries()), ("modules.md", module_entries())):
        if name in classes and fields <= set(fields_of(classes[name])):
            return page
    return ""


def _reachable(
    operations: Sequence[tuple[str, str, Mapping[str, Any]]], schemas: Mapping[str, Any]
) -> tuple[set[str], set[str]]:
    """Return the names of the schemas of requests and of those of responses."""
    bodies = _names([operation.get("requestBody", {}) for _, _, operation in operations], schemas)
    return bodies, _names([operation["responses"] for _, _, operation in operations], schemas)


def _names(value: object, schemas: Mapping[str, Any]) -> set[str]:
    """Return the names of the schemas that a part of the document refers to, directly or through others."""
    found: set[str] = set()
    waiting: list[object] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            reference = one.get("$ref")
            if isinstance(reference, str) and (name := reference.removeprefix(_ENDS)) not in found:
                found.add(name)
                waiting.append(schemas[name])
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return found


def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document of the server as it is by default."""
    return asyncio.run(_document())


async def _document() -> dict[str, Any]:
    settings = Settings.model_validate({"storage": {"url": "memory://"}, "archive": {"enabled": False}})
    async with Web(settings) as web:
        return openapi(operations(AppContext(web=web, traffic=Traffic())))


def _operation(path: str, method: str, operation: Mapping[str, Any], bodies: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{method.upper()} {path}`"
    yield operation.get("summary", "")
    parameters = {one["name"]: one for one in operation.get("parameters", ())}
    same = [
        name for name, schema in bodies.items() if parameters and set(schema.get("properties", ())) == set(parameters)
    ]
    if same:
        yield f"Parameters: the fields of [{same[0]}](#{same[0].lower()})."
    else:
        yield "\n".join(f"- `{name}` ({one['in']}): {_said(one)}" for name, one in parameters.items())
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body: `{media}`, {_named(body['schema'])}."
    kinds: dict[str, None] = {}
    for status, reply in operation["responses"].items():
        if int(status) < 400:
            content = reply.get("content", {}).items()
            kinds |= {f"`{media}`, {_named(body['schema'])}": None for media, body in content if "schema" in body}
    yield f"Response: {'; '.join(kinds)}."


def _said(value: Mapping[str, Any]) -> str:
    return " ".join(value.get("description", "").split())


def _fields(schema: Mapping[str, Any], *, required: bool) -> str:
    """Return the fields of a schema; those of a response are always there, so none is marked."""
    needed = set(schema.get("required", ())) if required else set()
    return "\n".join(
        f"- `{name}` ({_named(field)}{', required' if name in needed else ''}): {_said(field)}".rstrip(": ")
        for name, field in schema["properties"].items()
    )


def _named(schema: Mapping[str, Any]) -> str:
    """Return what a schema says in a few words; a schema with a name is linked."""
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix(_ENDS)
        return f"[{name}]({'tools.md' if name in _RESULTS else ''}#{name.lower()})"
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(_named(one) for one in schema[word]))
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_named(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))
