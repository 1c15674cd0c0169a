"""Runs that wait for a client are found by nobody else, and not for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from groundwire import Settings, Web
from groundwire.agent_loop import CitationLedger
from groundwire.server.openai.handler import PendingRun, PendingRuns, digest

MESSAGES = [{"role": "user", "content": "What?"}]


async def test_who_finds_what(settings: Callable[..., Settings]) -> None:
    now = 0.0
    keep = PendingRuns(lambda: now)
    async with Web(settings()) as web:
        kept = PendingRun(
            begun=1, begins=digest(MESSAGES), added=("turn",), trailing=(), web=web, ledger=CitationLedger()
        )
        keep.put("me", ["call_1", "call_2"], kept)
        other = [{"role": "user", "content": "Who?"}]
        second = replace(kept, begins=digest(other))
        keep.put("me", ["call_1"], second)
        assert keep.find("me", "call_2", [*MESSAGES, "more"]) is kept
        assert keep.find("me", "call_1", MESSAGES) is kept
        assert keep.find("me", "call_1", other) is second
        assert keep.find("you", "call_1", MESSAGES) is None
        assert keep.find("me", "call_3", MESSAGES) is None
        assert keep.find("me", "call_2", other) is None
        now = 3_601.0
        assert keep.find("me", "call_1", MESSAGES) is None
        for number in range(2_500):
            keep.put("me", [f"n{number}"], kept)
        assert keep.find("me", "n0", MESSAGES) is None
        assert keep.find("me", "n2499", MESSAGES) is kept
