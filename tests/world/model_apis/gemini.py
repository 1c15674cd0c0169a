"""The wire of Gemini's generateContent (google-genai SDK 3.4.0 types)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.testing.model_apis.scripted_turns import ScriptedCall
from world.model_apis.turns import Say, ScriptedRequest, model_api


def _refusal(body: Mapping[str, Any]) -> str:
    """Return why the service rejects a request, or an empty string."""
    if not body.get("contents"):
        return "* GenerateContentRequest.contents: contents is not specified"
    declared, hosted = _tools(body)
    flag = (body.get("toolConfig") or {}).get("includeServerSideToolInvocations")
    if declared and hosted and not (flag and body["model"].startswith("gemini-3")):
        return "Built-in tools ({google_search}) and Function Calling cannot be combined in the same request."
    for search in hosted:
        span = search.get("timeRangeFilter")
        if extra := set(search) - {"timeRangeFilter", "searchTypes"}:
            return f'Invalid JSON payload received. Unknown name "{min(extra)}" at tools[0].google_search'
        if span is not None and {key.replace("_t", "T") for key in span} != {"startTime", "endTime"}:
            return "Both start_time and end_time must be set."
    calling = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
    if unknown := set(calling.get("allowedFunctionNames") or ()) - {one["name"] for one in declared}:
        return f"allowed_function_names contains {min(unknown)}, which is not declared"
    return ""


def _parse(body: Mapping[str, Any]) -> ScriptedRequest:
    """Parse a request."""
    declared, hosted = _tools(body)
    parts = [part for content in body["contents"] for part in content.get("parts") or ()]
    results = [part["functionResponse"].get("response") for part in parts if "functionResponse" in part]
    return ScriptedRequest(
        wire="gemini",
        model=body["model"],
        functions=tuple(one["name"] for one in declared),
        hosted=("googleSearch",) * len(hosted),
        results=tuple(_flat(one) for one in results),
        body=body,
    )


def _response(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> dict[str, Any]:
    """Return a whole response."""
    if isinstance(turn, Say):
        parts: list[dict[str, Any]] = [{"text": turn.text}]
    else:
        parts = [{"functionCall": {"name": call.name, "args": dict(call.arguments)}} for call in turn]
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}
    if isinstance(turn, Say) and request.hosted:
        segment = {"startIndex": 0, "endIndex": len(turn.text.encode()), "text": turn.text}
        candidate["groundingMetadata"] = {
            "webSearchQueries": [turn.query],
            "groundingChunks": [{"web": {"uri": one.url, "title": one.title}} for one in turn.cites],
            "groundingSupports": [
                {"segment": segment, "groundingChunkIndices": [number]} for number in range(len(turn.cites))
            ],
        }
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": request.model}


def _events(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> list[tuple[str, Any]]:
    """Return a response as unnamed stream events, each a partial response."""
    whole = _response(request, turn)
    if not isinstance(turn, Say):
        return [("", whole)]
    half = len(turn.text) // 2
    first = {"content": {"parts": [{"text": turn.text[:half]}], "role": "model"}, "index": 0}
    last = {**whole["candidates"][0], "content": {"parts": [{"text": turn.text[half:]}], "role": "model"}}
    return [("", {**whole, "candidates": [first]}), ("", {**whole, "candidates": [last]})]


def _tools(body: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the declared functions and searches."""
    tools = body.get("tools") or ()
    declared = [one for tool in tools for one in tool.get("functionDeclarations") or ()]
    return declared, [tool["googleSearch"] for tool in tools if "googleSearch" in tool]


def _flat(result: object) -> str:
    if isinstance(result, dict) and set(result) <= {"result", "output"}:
        return "".join(map(str, result.values()))
    return json.dumps(result)


GENERATE_CONTENT = model_api(_refusal, _parse, _response, _events)
"""Gemini's generateContent."""
