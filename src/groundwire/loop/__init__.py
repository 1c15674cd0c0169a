"""The loop between a model and its tools, for any client library.

run = await run_tools(body, call_model, web=web, api="openai_chat")
print(run.answer.text, run.sources)
"""

from __future__ import annotations

from groundwire.loop.model import CallEnded, CallStarted, LoopEvent, Run, Spent, Stop
from groundwire.loop.run import CallModel, run_tools
from groundwire.loop.sources import Ledger

__all__ = ["CallEnded", "CallModel", "CallStarted", "Ledger", "LoopEvent", "Run", "Spent", "Stop", "run_tools"]
