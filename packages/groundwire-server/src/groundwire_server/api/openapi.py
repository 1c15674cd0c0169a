"""The OpenAPI document, generated from the models that validate requests (https://spec.openapis.org/oas/v3.1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from groundwire._version import __version__
from groundwire_server.api.routes import JSON, Operation

_EVENTS = "text/event-stream"
_EVENT: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
}
"""One server-sent event; its data is JSON."""
_EVERYWHERE = (400, 401, 403, 408, 413, 414, 421, 429, 431, 500, 503)
"""Failure statuses that do not depend on the request's content: keys, limits, malformed requests."""
_ABOUT = """Search the web and read its pages. A failure has an error status and a body with a `code` for
programs and a `message` for people; it never looks like an empty result."""
_AS_EVENTS = """With `Accept: text/event-stream` the response is a stream of server-sent events: `attempt_started` and
`attempt_finished` while providers are called, then `result` with the answer, or `error` with a failure. An answer to a
question is also streamed: `delta` has the next piece of its text, and `reset` discards what was streamed before."""

_AS_TEXT = """The response reports errors, for the model to read. With `Accept: text/plain`, it is the text for the
model, with all web content between markers."""


def openapi(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the document as plain data.

    Args:
        operations: What it describes.
    """
    described = tuple(operations)
    models = list(dict.fromkeys(_models(described)))
    refs, definitions = models_json_schema(models, ref_template="#/components/schemas/{model}")
    paths: dict[str, dict[str, Any]] = {}
    for operation in described:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Groundwire", "version": __version__, "description": _ABOUT},
        "paths": paths,
        "components": {
            "schemas": definitions["$defs"],
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "An API key of the gateway."},
                "header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key."},
            },
        },
    }


_Mode = Literal["validation", "serialization"]
_Refs = Mapping[tuple[Any, _Mode], dict[str, Any]]


def _models(operations: Iterable[Operation]) -> Iterator[tuple[type[BaseModel], _Mode]]:
    for operation in operations:
        for model in (*operation.bodies.values(), operation.query):
            if model is not None:
                yield model, "validation"
        for reply in (*operation.replies, *operation.failures):
            yield reply, "serialization"


def _operation(operation: Operation, refs: _Refs) -> dict[str, Any]:
    replies = {JSON: {"schema": _any(operation.replies, refs)}}
    if operation.events:
        replies[_EVENTS] = {"schema": dict(_EVENT)}
    if operation.text:
        replies["text/plain"] = {"schema": {"type": "string"}}
    statuses = {*operation.statuses, *(() if operation.is_open else _EVERYWHERE)}
    failure = {JSON: {"schema": _any(operation.failures, refs)}}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": {
            "200": {"description": "Success.", "content": replies},
            **{str(status): _failure(status, failure) for status in sorted(statuses)},
        },
        # No key is required on loopback until there is one.
        "security": [] if operation.is_open else [{"bearer": []}, {"header": []}, {}],
    }
    if operation.events:
        described["description"] = _AS_EVENTS
    if operation.text:
        described["description"] = _AS_TEXT
    if operation.bodies:
        content = {kind: {"schema": dict(refs[model, "validation"])} for kind, model in operation.bodies.items()}
        described["requestBody"] = {"required": True, "content": content}
    if parameters := list(_parameters(operation)):
        described["parameters"] = parameters
    return described


def _failure(status: int, content: Mapping[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {"description": HTTPStatus(status).phrase, "content": dict(content)}
    if status in (429, 503):
        schema = {"type": "integer", "minimum": 1}
        described["headers"] = {"Retry-After": {"description": "Seconds to wait before a retry.", "schema": schema}}
    return described


def _any(models: Iterable[type[BaseModel]], refs: _Refs) -> dict[str, Any]:
    schemas = [dict(refs[model, "serialization"]) for model in models]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    """Yield the parameters of an operation's query and path."""
    if operation.query is None:
        return
    model_schema = operation.query.model_json_schema()
    for name, schema in model_schema["properties"].items():
        plain = {key: value for key, value in schema.items() if key not in ("title", "description", "default")}
        yield {
            "name": name,
            "in": "path" if f"{{{name}}}" in operation.path else "query",
            "required": name in model_schema.get("required", ()),
            "description": schema.get("description", ""),
            "schema": plain,
        }
