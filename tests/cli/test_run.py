"""Running one call of a `Web` for a command."""

from __future__ import annotations

import asyncio
import threading
import warnings
from pathlib import Path

import pytest

from groundwire.cli.call_runner import run
from groundwire.web import Web


def test_a_thread_of_the_loop_that_cannot_be_stopped_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    over = threading.Event()

    async def call(web: Web) -> str:
        try:  # as the loop resolves names: in its default executor
            await asyncio.wait_for(asyncio.to_thread(over.wait, 60), 0.05)
        except TimeoutError:
            return "in time"
        return "too late"

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert run("Waiting", {}, call) == "in time"
        assert not over.is_set()
    finally:
        over.set()
