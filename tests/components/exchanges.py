"""Built and recorded responses of services, and helpers for comparing them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multidict import CIMultiDict

from groundwire.models import SearchResult
from groundwire.routing.result_merging import plain
from groundwire.transport import Response

_WHOLE = 10**6  # characters, for texts that are compared whole


def answer(
    body: object,
    status: int = 200,
    content_type: str = "application/json",
    *,
    url: str = "https://service.example/x",
    **headers: str,
) -> Response:
    """Return a response as the transport returns it.

    Args:
        body: The body: bytes as they are, anything else as JSON.
        status: The HTTP status.
        content_type: The Content-Type header.
        url: The address that answered.
        headers: Further headers.
    """
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(url, status, CIMultiDict({"Content-Type": content_type, **headers}), data[:64], data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One recorded exchange."""

    name: str
    """The name of its file."""
    kind: str
    """The request, as described by the recorder; may be empty."""
    url: str
    """The address that was asked."""
    body: Any
    """The body of the answer: a JSON value, or text."""
    reply: Response
    """The answer."""
    want: Mapping[str, Any] | None
    """The expected result; None if there is none."""


def recorded(recordings: Path, service: str, pattern: str = "*.json") -> list[Recording]:
    """Return the recorded exchanges of a service in the order of their names, at least one.

    Args:
        recordings: The folder of recordings.
        service: The folder in it.
        pattern: Which files.
    """
    expected = expectations(recordings)
    found = []
    for path in sorted((recordings / service).glob(pattern)):
        exchange = json.loads(path.read_text(encoding="utf-8"))
        response = exchange["response"]
        is_json = "body" in response
        body = response["body"] if is_json else response.get("text", "")
        headers = CIMultiDict({"Content-Type": "application/json" if is_json else "text/html"})
        headers.update(response.get("headers", {}))
        raw = (json.dumps(body) if is_json else body).encode()
        found.append(
            Recording(
                name=path.name,
                kind=exchange.get("kind", ""),
                url=exchange.get("request", {}).get("url", ""),
                body=body,
                reply=Response("https://service.example/x", response["status"], headers, raw[:64], raw),
                want=expected.get(f"{service}/{path.name}"),
            )
        )
    assert found, f"there is no {service}/{pattern}"
    return found


def expectations(recordings: Path) -> dict[str, dict[str, Any]]:
    """Return the expected result of each recording in a folder, by name (`brave/web_search__01.json`).

    It stands in the recordings themselves, or in one file `expected.json` for all of them.
    """
    whole = recordings / "expected.json"
    if whole.is_file():
        found: dict[str, dict[str, Any]] = json.loads(whole.read_text(encoding="utf-8"))
        return found
    return {
        path.relative_to(recordings).as_posix(): json.loads(path.read_text(encoding="utf-8"))["expected"]
        for path in sorted(recordings.glob("*/*.json"))
    }


def texts(rows: Iterable[SearchResult | Mapping[str, Any]], *, snippet: int | None = None) -> list[tuple[str, ...]]:
    """Return address, title and snippet of rows as a reader sees them.

    Args:
        rows: Results, or what they should be.
        snippet: How many characters of a snippet count; None for all.
    """
    parts = [(row.url, row.title, row.snippet) if isinstance(row, SearchResult) else _said(row) for row in rows]
    return [(url, plain(title, _WHOLE), plain(said[:snippet], _WHOLE)) for url, title, said in parts]


def _said(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["url"], row["title"], row["snippet"]


def missing(known: list[Any], ours: Any, where: str = "") -> list[str]:
    """List the known values that are missing from ours or have another JSON type.

    Args:
        known: JSON values of one kind; what some of them lack, or have as null, ours may lack, or have as null.
        ours: The value to judge.
        where: Where it stands in the whole.
    """
    real = [value for value in known if value is not None]
    if not real or (ours is None and len(real) < len(known)):
        return []
    if _kind(ours) not in set(map(_kind, real)):
        return [f"{where} is {_kind(ours)}"]
    if isinstance(ours, dict):
        alike = [value for value in real if isinstance(value, dict)]
        keys = sorted(set.intersection(*map(set, alike)))
        lacking = [f"{where}.{key} is missing" for key in keys if key not in ours]
        deeper = (missing([value[key] for value in alike], ours[key], f"{where}.{key}") for key in keys if key in ours)
        return [*lacking, *(text for found in deeper for text in found)]
    if isinstance(ours, list):
        items = [item for value in real if isinstance(value, list) for item in value]
        return [text for item in ours for text in missing(items, item, f"{where}[]")]
    return []


def _kind(value: object) -> str:
    """Return the JSON type of a value; there is one type of numbers."""
    return "number" if type(value) in {int, float} else type(value).__name__


def shape(value: object) -> object:
    """Return the keys and the types of a JSON value; a list is as its first item."""
    if isinstance(value, dict):
        return {key: shape(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return type(value).__name__
