"""The page of the gateway's HTTP API, from its OpenAPI document."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from generating.docstrings import row
from groundwire import Settings, Web
from groundwire.server.api.context import AppContext, Traffic
from groundwire.server.api.openapi import openapi
from groundwire.server.api.routes import operations

__all__ = ["http_page", "openapi_document"]

_ENDS = "#/components/schemas/"


def http_page() -> str:
    """Return the page."""
    document = openapi_document()
    schemas = document["components"]["schemas"]
    parts = [
        "# HTTP API",
        "The endpoints of `groundwire serve` (extra `server`). "
        "`GET /openapi.json` returns this description for programs. "
        + " ".join(document["info"]["description"].split()),
        "Send an API key as `Authorization: Bearer KEY` or `X-API-Key: KEY`; see [keys](../guides/keys.md).",
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts += _operation(path, method, operation, schemas)
    parts.append("## Schemas")
    for name, schema in sorted(schemas.items()):
        table = _table(schema) if schema.get("properties") else ""
        parts += [f"### `{name}`", " ".join(schema.get("description", "").split()), table]
    return "\n\n".join(part for part in parts if part)


def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document of the server as it is by default."""
    return asyncio.run(_document())


async def _document() -> dict[str, Any]:
    settings = Settings.model_validate({"storage": {"url": "memory://"}, "archive": {"enabled": False}})
    async with Web(settings) as web:
        return openapi(operations(AppContext(web=web, traffic=Traffic())))


def _operation(path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{method.upper()} {path}`"
    yield operation.get("summary", "")
    if told := " ".join(operation.get("description", "").split()):
        yield told
    if parameters := operation.get("parameters"):
        rows = ["| parameter | in | description |", "| --- | --- | --- |"]
        rows += [row(f"`{one['name']}`", one["in"], one.get("description", "")) for one in parameters]
        yield "\n".join(rows)
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body: `{media}`, {_named(body['schema'])}."
    by_kinds: dict[str, list[str]] = {}
    for status, reply in operation["responses"].items():
        content = reply.get("content", {}).items()
        kinds = [f"`{media}`, {_named(body['schema'])}" for media, body in content if "schema" in body]
        by_kinds.setdefault("; ".join(kinds), []).append(str(status))
    replies = ["| status | response |", "| --- | --- |"]
    replies += [row(", ".join(statuses), kinds) for kinds, statuses in by_kinds.items()]
    yield "\n".join(replies)


def _table(schema: Mapping[str, Any]) -> str:
    rows = ["| field | type | description |", "| --- | --- | --- |"]
    needed = set(schema.get("required", ()))
    for name, field in schema["properties"].items():
        kind = _named(field) + (", required" if name in needed else "")
        rows.append(row(f"`{name}`", kind, field.get("description", "")))
    return "\n".join(rows)


def _named(schema: Mapping[str, Any]) -> str:
    """Return what a schema says in a few words; a schema with a name is linked."""
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix(_ENDS)
        return f"[{name}](#{name.lower()})"
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
