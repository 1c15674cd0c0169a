"""MCP: what a client is asked that cannot put it to the user."""

from __future__ import annotations

import json
from typing import Any

import pytest

Place = Any  # see conftest.py
KEY = "test-key"


def raw_call(place: Place, able: dict[str, Any]) -> dict[str, Any]:
    """Return what a search answers to a client with these capabilities, which is asked for nothing before."""
    process = place.start()
    hello = {"protocolVersion": "2025-11-25", "capabilities": able, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "web_search", "arguments": {"query": "rank fusion"}}
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
    ]
    process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    assert [answer["id"] for answer in answers] == [0, 1]
    result: dict[str, Any] = answers[1]["result"]
    return result


@pytest.mark.parametrize("able", [{}, {"elicitation": {"url": {}}}], ids=str)
def test_a_client_that_shows_no_form_is_not_asked_for_leave(place: Place, able: dict[str, Any]) -> None:
    place.variables["GROUNDWIRE_PERMISSION_CONFIRM"] = "web_search"
    assert not raw_call(place, able)["isError"]
