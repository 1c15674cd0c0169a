"""Making the calls of our tools that a model's turn has.

Answers as client libraries hand them out, made into the JSON that they were.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from groundwire.agent_loop.types import CallEnded, CallStarted, LoopEvent
from groundwire.errors import InvalidRequest
from groundwire.hosted.answers import AnswerApi, HostedAnswer, HostedCall, read_answer
from groundwire.tools import Tool, ToolResult, refused

__all__ = ["answer_of", "arguments_of", "make_calls"]

_AT_ONCE = 8  # calls of one turn; a model that wants fifty pages at once gets them in turn


async def make_calls(
    calls: Sequence[HostedCall], tools: Mapping[str, Tool], tell: Callable[[LoopEvent], None]
) -> list[ToolResult]:
    """Make calls at once and return their results in order; whatever goes wrong with one is in its result.

    Args:
        calls: Calls of these tools.
        tools: The tools by their names.
        tell: Called with each call.
    """
    room = asyncio.Semaphore(_AT_ONCE)

    async def make(call: HostedCall) -> ToolResult:
        async with room:
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
    """Return the arguments that a model wrote.

    Raises:
        InvalidRequest: they are no JSON object.
    """
    given = call.arguments
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            given = None
    if given is None and call.arguments is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InvalidRequest("arguments", "are no JSON object", 'Write them as {"name": "value"}.')
    return {str(key): value for key, value in given.items()}


def answer_of(api: AnswerApi, given: Any) -> HostedAnswer:
    """Return what a caller's function returned as an answer.

    Args:
        api: Whose answer it is.
        given: JSON, as values or as bytes; an object of the openai, anthropic or google-genai SDK; or an answer that
            was read already.

    Raises:
        InvalidRequest: it is nothing, or of another type.
        UnexpectedResponse: it is no answer of a model.
    """
    if isinstance(given, HostedAnswer):
        return given
    if callable(to_dict := getattr(given, "to_dict", None)):
        given = to_dict(mode="json")  # openai and anthropic: as the API sent it, unset fields left out
    elif callable(dump := getattr(given, "model_dump", None)):
        given = dump(by_alias=True, exclude_none=True)  # google-genai: bytes stay bytes, so that it takes them back
    if not isinstance(given, (dict, list, str, bytes, bytearray)):
        raise InvalidRequest(
            "call_model",
            f"returned {type(given).__name__}",
            "Return the API's answer: its JSON, or the object of its SDK.",
        )
    return read_answer(api, given)
