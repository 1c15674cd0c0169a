"""Runs the tool calls of a model's turn, and converts client libraries' answers back to the JSON they came from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from groundwire.agent_loop.types import CallEnded, CallStarted, LoopEvent
from groundwire.errors import InvalidRequest
from groundwire.hosted.answers import HostedAnswer, HostedCall, HostedError, read_answer
from groundwire.json_text import json_or_none
from groundwire.tools import Tool, ToolResult, refused

_MAX_CONCURRENT_CALLS = 8  # of one turn; a model that asks for fifty pages at once gets them in batches


async def make_calls(
    calls: Sequence[HostedCall], tools: Mapping[str, Tool], tell: Callable[[LoopEvent], None]
) -> list[ToolResult]:
    """Run calls concurrently and return their results in order; a failure becomes the result of its call.

    Args:
        calls: Calls of these tools.
        tools: The tools by their names.
        tell: Called with each call.
    """
    slots = asyncio.Semaphore(_MAX_CONCURRENT_CALLS)

    async def make(call: HostedCall) -> ToolResult:
        async with slots:
            tell(CallStarted(call))
            try:
                arguments = arguments_of(call)
            except InvalidRequest as error:
                result = refused(call.name, {}, error)
            else:
                result = await tools[call.name].call(**arguments)
            tell(CallEnded(call, result))
            return result

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(make(call)) for call in calls]
    return [task.result() for task in tasks]


def arguments_of(call: HostedCall) -> dict[str, Any]:
    """Parse the arguments written by a model.

    Raises:
        InvalidRequest: they are not a JSON object.
    """
    arguments = {} if call.arguments is None else call.arguments
    if isinstance(arguments, str):
        arguments = json_or_none(arguments or "{}")
    if not isinstance(arguments, Mapping):
        raise InvalidRequest("arguments", "are no JSON object", 'Write them as {"name": "value"}.')
    return {str(key): value for key, value in arguments.items()}


def refusal_of(error: Exception) -> HostedError | None:
    """Return the API error that a client library raised; None for any other exception.

    Args:
        error: An exception of the openai, anthropic or google-genai SDK, of an HTTP library, or Groundwire's own.
    """
    response = getattr(error, "response", None)
    for name in ("status_code", "status", "code"):
        for holder in (error, response):
            if isinstance(status := getattr(holder, name, None), int) and 400 <= status < 500:
                code = getattr(error, "code", None)
                label = code if isinstance(code, str) else f"http_{status}"
                return HostedError(code=label, outcome="bad_request", message=str(error)[:300], status=status)
    return None


def answer_of(api: str, reply: Any) -> HostedAnswer:
    """Convert the return value of a caller's function to an answer.

    Args:
        api: The API that the answer comes from.
        reply: JSON, as values or as bytes; an object of the openai, anthropic or google-genai SDK; or an answer that is
            already parsed.

    Raises:
        InvalidRequest: it is empty or of another type.
        UnexpectedResponse: it is not a model's answer.
    """
    if isinstance(reply, HostedAnswer):
        return reply
    if callable(to_dict := getattr(reply, "to_dict", None)):
        reply = to_dict(mode="json")  # openai and anthropic: as sent by the API, without unset fields
    elif callable(dump := getattr(reply, "model_dump", None)):
        reply = dump(by_alias=True, exclude_none=True)  # google-genai: bytes stay bytes, so that the SDK accepts them
    if not isinstance(reply, (dict, list, str, bytes, bytearray)):
        raise InvalidRequest(
            "call_model",
            f"returned {type(reply).__name__}",
            "Return the API's answer: its JSON, or the object of its SDK.",
        )
    return read_answer(api, reply)
