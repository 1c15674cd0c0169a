"""Chat completions with hosted search: what the services refuse, and citations (openai SDK 3.57.0 types)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundwire.testing.model_apis.chat_completions import CHAT_COMPLETIONS as SHIPPED
from world.model_apis.turns import Parts, Say, ScriptedRequest, model_api

_REFUSED_FIELDS = (
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "n",
    "logit_bias",
    "parallel_tool_calls",
)
_SEARCH_TOOLS = ("openrouter:web_search", "browser_search")


def _refusal(body: Mapping[str, Any]) -> str:
    """Return why the service rejects a request, or an empty string."""
    if not body.get("messages"):
        return "Missing required parameter: 'messages'."
    if body.get("tools") == []:
        return "Invalid 'tools': empty array. Expected an array with minimum length 1."
    if "tool_choice" in body and not body.get("tools"):
        return "'tool_choice' is only allowed when 'tools' are specified."
    for tool in body.get("tools") or ():
        if tool.get("type") not in ("function", *_SEARCH_TOOLS):
            return f"Invalid value: '{tool.get('type')}'. Supported values are: 'function' and 'custom'."
        if tool["type"] == "function" and not isinstance(tool.get("function"), dict):
            return "Missing required parameter: 'tools[0].function'."
    searches = "-search-" in body["model"]
    if "web_search_options" in body and not searches and not body["model"].startswith("sonar"):
        return f"Web search options not supported with this model: {body['model']}"
    if searches and (refused := [name for name in _REFUSED_FIELDS if body.get(name) is not None]):
        return f"Model incompatible request arguments supplied: {', '.join(refused)}"
    return ""


def _request(body: Mapping[str, Any]) -> ScriptedRequest:
    """Parse a request."""
    request = SHIPPED.parse(body)
    hosted = [tool["type"] for tool in body.get("tools") or () if tool["type"] != "function"]
    if "web_search_options" in body or body["model"].startswith(("sonar", "groq/compound")):
        hosted.append("model")
    return ScriptedRequest(
        wire=request.wire,
        model=request.model,
        functions=request.functions,
        hosted=tuple(hosted),
        results=request.results,
        body=body,
    )


def _response(request: ScriptedRequest, turn: Parts) -> dict[str, Any]:
    """Return a whole response."""
    response = SHIPPED.response(request, turn)
    if isinstance(turn, Say) and request.hosted:
        response["choices"][0]["message"]["annotations"] = _annotations(turn)
    return response


def _events(request: ScriptedRequest, turn: Parts) -> list[tuple[str, Any]]:
    """Return a response as unnamed stream events; the citations follow the text."""
    events = SHIPPED.events(request, turn)
    if isinstance(turn, Say) and request.hosted:
        delta = {"index": 0, "delta": {"annotations": _annotations(turn)}, "finish_reason": None}
        events.insert(3, ("", {**events[0][1], "choices": [delta]}))
    return events


def _annotations(turn: Say) -> list[dict[str, Any]]:
    return [
        {
            "type": "url_citation",
            "url_citation": {"url": cite.url, "title": cite.title, "start_index": 0, "end_index": len(turn.text)},
        }
        for cite in turn.cites
    ]


CHAT_COMPLETIONS = model_api(_refusal, _request, _response, _events)
"""Chat completions."""
