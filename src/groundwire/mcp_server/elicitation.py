"""Asking the user through the client for permission (elicitation)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

_ALLOW: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow", "default": True}},
}


async def ask_permission(
    ctx: Any, params: types.CallToolRequestParams, name: str, question: str, max_wait: float
) -> bool | types.InputRequiredResult | None:
    """Return what the user says, None where the client cannot ask; the newest protocol gets the question first.

    Args:
        ctx: The request.
        params: Its parameters, with the answers of the user so far.
        name: The name of the question among them.
        question: The question.
        max_wait: Seconds to wait for an answer, which is no after them.
    """
    able = ctx.session.client_capabilities
    asks = able.elicitation if able is not None else None
    if asks is None or (asks.form is None and asks.url is not None):  # neither named means forms
        return None
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answer: Any = (params.input_responses or {}).get(name)
        if not isinstance(answer, types.ElicitResult):
            form = types.ElicitRequestFormParams(message=question, requested_schema=dict(_ALLOW))
            return types.InputRequiredResult(input_requests={name: types.ElicitRequest(params=form)})
    else:
        try:
            async with asyncio.timeout(max_wait):
                answer = await ctx.session.elicit_form(question, dict(_ALLOW), ctx.request_id)
        except MCPError:
            return None
        except TimeoutError:
            return False
    return answer.action == "accept" and (answer.content or {}).get("allow") is not False
