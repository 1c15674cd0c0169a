"""The agent loop between a model and its tools, for any client library.

run = await run_tools(body, call_model, web=web, api="openai_chat")
print(run.answer.text, run.sources)
"""

from __future__ import annotations

from groundwire.agent_loop.ask import (
    AnswerCompleted,
    AskEvent,
    CitedAnswer,
    TextCompleted,
    TextDelta,
    TextReset,
    ask,
    ask_stream,
)
from groundwire.agent_loop.chat_model import ChatModel
from groundwire.agent_loop.citation_ledger import CitationLedger
from groundwire.agent_loop.entailment import verify
from groundwire.agent_loop.run import CallModel, run_tools
from groundwire.agent_loop.types import CallEnded, CallStarted, LoopEvent, Run, Spent, Stop

__all__ = [
    "AnswerCompleted",
    "AskEvent",
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
    "TextCompleted",
    "TextDelta",
    "TextReset",
    "ask",
    "ask_stream",
    "run_tools",
    "verify",
]
