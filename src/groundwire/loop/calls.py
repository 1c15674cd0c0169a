"""Making the calls of our tools that a model's turn has."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.loop.model import CallEnded, CallStarted, LoopEvent
from groundwire.native.answers import HostedCall
from groundwire.tools import Tool, ToolResult, refused

__all__ = ["arguments_of", "make_calls"]

_AT_ONCE = 8  # calls of one turn; a model that wants fifty pages at once gets them in turn


async def make_calls(
    calls: Sequence[HostedCall], tools: Mapping[str, Tool], tell: Callable[[LoopEvent], None]
) -> list[ToolResult]:
    """Make calls at once and return their results in order; whatever goes wrong with one is in its result.

    Args:
        calls: Calls of these tools.
        tools: The tools by their names.
        tell: Is told of each.
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
