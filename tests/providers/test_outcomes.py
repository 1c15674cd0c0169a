"""The outcome contract: a table of raw exchanges, each with the class that it must end in.

`outcomes/NAME.jsonl` holds the exchanges of the provider NAME, one JSON object a line: `case`, `status`, `headers`,
`body` (JSON) or `text`, and `expect` (an outcome; `empty` for a clean answer without rows), optionally `retry_after` in
seconds.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from multidict import CIMultiDict

from components.services import offline
from groundwire.errors import GroundwireError, PageError, ProviderError
from groundwire.providers.query_mapping import Mapped
from groundwire.transport import Response

FOLDER = Path(__file__).parent / "outcomes"
CASES = [
    (path.stem, json.loads(line))
    for path in sorted(FOLDER.glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
    if line.strip()
]


def reply(exchange: dict[str, Any]) -> Response:
    text = exchange.get("text")
    body = json.dumps(exchange["body"]).encode() if text is None else text.encode()
    kind = "application/json" if text is None else "text/html; charset=utf-8"
    headers = CIMultiDict({"Content-Type": kind} | exchange.get("headers", {}))
    return Response("https://service.example/x", exchange["status"], headers, body[:64], body)


def outcome(provider: str, exchange: dict[str, Any]) -> tuple[str, float | None]:
    reader = offline(provider)
    try:
        if exchange.get("reads"):
            page = reader.to_page(reply(exchange), "https://a.example/x")
            return ("ok" if page.success and page.content else "empty"), None
        found = reader.to_results(reply(exchange), Mapped({}))
    except ProviderError as error:
        return error.outcome, error.retry_after
    except PageError as error:
        return type(error).__name__, None
    return "partial" if found.partial else "ok" if found else "empty", None


@pytest.mark.req("B1")
@pytest.mark.parametrize("provider", sorted({name for name, _ in CASES}))
def test_each_exchange_ends_in_its_class(provider: str) -> None:
    cases = [case for name, case in CASES if name == provider]
    found = [(case["case"], *outcome(provider, case)) for case in cases]
    assert [(case, got) for case, got, _ in found] == [(case["case"], case["expect"]) for case in cases]
    for case, (_, _, again) in zip(cases, found, strict=True):
        if "retry_after" in case:
            assert again == pytest.approx(case["retry_after"], abs=2), case["case"]


@pytest.mark.req("B1")
def test_the_table_is_large_and_knows_every_class() -> None:
    seen = Counter(case["expect"] for _, case in CASES)
    assert sum(seen.values()) >= 120
    assert {"ok", "empty", "rate_limited", "quota", "auth", "bad_request", "unavailable", "invalid_response"} <= set(
        seen
    )
    assert issubclass(PageError, GroundwireError)
