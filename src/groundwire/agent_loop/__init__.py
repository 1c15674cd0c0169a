"""The agent loop between a model and its tools, for any client library.

run = await run_tools(body, call_model, web=web, api="openai_chat")
print(run.answer.text, run.sources)
"""

from __future__ import annotations

from groundwire.agent_loop.ask import ChatModel, CitedAnswer, ask
from groundwire.agent_loop.citation_ledger import CitationLedger
from groundwire.agent_loop.run import CallModel, run_tools
from groundwire.agent_loop.types import CallEnded, CallStarted, LoopEvent, Run, Spent, Stop

__all__ = [
    "CallEnded",
    "CallModel",
    "CallStarted",
    "ChatModel",
    "CitationLedger",
    "CitedAnswer",
    "LoopEvent",
    "Run",
    "Spent",
    "Stop",
    "ask",
    "run_tools",
]
