"""How each API continues a conversation: the model's turn, tool results, tool choice, paused turns, total usage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from groundwire.errors import InvalidRequest
from groundwire.hosted.answers import HostedAnswer, HostedCall, HostedUsage, read_answer
from groundwire.hosted.api_capabilities import Api, Wire
from groundwire.hosted.requests import gemini
from groundwire.hosted.requests.prepare import tools_of
from groundwire.hosted.requests.request_body import kinds_of
from groundwire.hosted.tool_definitions import declared

_WIRES = ("anthropic", "chat", "gemini", "responses")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one call, as sent to the model."""

    call: HostedCall
    """The call."""
    text: str
    """What the model reads."""
    failed: bool = False
    """Whether the call failed."""


def check_wire(api: Api) -> None:
    """Check that conversations of this API can be continued here.

    Raises:
        InvalidRequest: they cannot.
    """
    if api.wire not in _WIRES:
        raise InvalidRequest(
            "api",
            f"{api.title} has a format that run_tools does not support",
            "Use one with the format of Anthropic Messages, chat completions, Responses or Gemini.",
        )


def conversation(body: Mapping[str, Any], api: Api) -> list[Any]:
    """Return the messages of a request as a new list; a bare string is a user message."""
    value = body.get(api.body)
    if value is None:
        return []
    if isinstance(value, str):
        part = {"parts": [{"text": value}]} if api.wire == "gemini" else {"content": value}
        return [{"role": "user", **part}]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def users_texts(messages: Sequence[Any]) -> Iterator[str]:
    """Yield what the user says in a conversation of any API; results of tools, which some put there, are left out."""
    for message in messages:
        if not _is_object(message) or message.get("role") != "user":
            continue
        parts = message.get("content", message.get("parts"))
        for part in parts if isinstance(parts, list) else [{"text": parts}]:
            if _is_object(part) and isinstance(text := part.get("text"), str):
                yield text


def declared_functions(body: Mapping[str, Any], api: Api) -> frozenset[str] | None:
    """Return the names of the functions that a request declares; None if there may be others."""
    if body.get("prompt") or body.get("previous_response_id") or body.get("functions") or body.get("conversation"):
        return None
    names: set[str] = set()
    for tool in tools_of(body, api):
        if any(kind != "declared" for kind, _ in kinds_of(tool, ("web_search",))):
            names.add("web_search")
            continue
        for entry in (declared(tool) if _is_object(tool) else ()) or [tool]:
            inner = entry.get("function", entry) if _is_object(entry) else None
            name = inner.get("name") if _is_object(inner) else None
            if not isinstance(name, str) or (_is_object(entry) and "tools" in entry):  # a namespace of Responses
                return None
            names.add(name)
    return frozenset(names)


def _is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def with_results(messages: Sequence[Any], wire: Wire, results: Sequence[Result]) -> tuple[Any, ...]:
    """Return a conversation with tool results after the turn that made the calls.

    Anthropic and Gemini require all results of a turn in one message, so later results join earlier ones.
    """
    if not results:
        return tuple(messages)
    if wire == "chat":
        return (
            *messages,
            *({"role": "tool", "tool_call_id": result.call.id, "content": result.text} for result in results),
        )
    if wire == "responses":
        return (
            *messages,
            *({"type": "function_call_output", "call_id": result.call.id, "output": result.text} for result in results),
        )
    if wire == "anthropic":
        return _with_user_parts(messages, "content", [_tool_result(result) for result in results], "tool_result")
    return _with_user_parts(messages, "parts", [_function_response(result) for result in results], "functionResponse")


def free_choice(body: Mapping[str, Any], wire: Wire) -> dict[str, Any]:
    """Return a request that no longer forces a tool call, because one was made."""
    request = dict(body)
    choice = body.get("tool_choice")
    if wire == "gemini":
        return _gemini_mode(request, "AUTO", only=("ANY",))
    if wire == "anthropic":
        if isinstance(choice, Mapping) and choice.get("type") in ("any", "tool"):
            options = {key: value for key, value in choice.items() if key not in ("type", "name")}
            request["tool_choice"] = {**options, "type": "auto"}
    elif isinstance(choice, Mapping) or choice == "required":
        request["tool_choice"] = "auto"
    return request


def no_choice(body: Mapping[str, Any], wire: Wire) -> dict[str, Any]:
    """Return a request in which tools are disabled and the model must answer."""
    request = dict(body)
    if wire == "gemini":
        return _gemini_mode(request, "NONE")
    if request.get("tools"):
        request["tool_choice"] = {"type": "none"} if wire == "anthropic" else "none"
        request.pop("parallel_tool_calls", None)
    return request


def _with_user_parts(messages: Sequence[Any], key: str, parts: list[dict[str, Any]], kind: str) -> tuple[Any, ...]:
    last = messages[-1] if messages else None
    if isinstance(last, Mapping) and last.get("role") == "user":
        earlier = last.get(key)
        end = earlier[-1] if isinstance(earlier, list) and earlier else None
        if isinstance(earlier, list) and isinstance(end, Mapping) and (end.get("type") == kind or kind in end):
            return (*messages[:-1], {**last, key: [*earlier, *parts]})
    return (*messages, {"role": "user", key: parts})


def _tool_result(result: Result) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call.id, "content": result.text}
    return {**block, "is_error": True} if result.failed else block


def _function_response(result: Result) -> dict[str, Any]:
    identity = {"id": result.call.id} if result.call.id else {}
    key = "error" if result.failed else "output"
    return {"functionResponse": {**identity, "name": result.call.name, "response": {key: result.text}}}


def _gemini_mode(body: dict[str, Any], mode: str, only: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a request with another function calling mode, if it is one of `only` so far, should that name any."""
    key = gemini.field_name(body, "functionCallingConfig")
    tools, config = gemini.tools_of(body), gemini.tool_config(body)
    config = config if isinstance(config, Mapping) else {}
    calling = config.get(key)
    before = str(calling.get("mode", "")).upper() if isinstance(calling, Mapping) else ""
    if not tools or (only and before not in only):
        return body
    return gemini.with_tools(body, tools, {**config, key: {"mode": mode}})


def joined(answers: Sequence[HostedAnswer]) -> HostedAnswer:
    """Join the parts of one turn, which only Anthropic's API pauses, into one answer.

    They are read again as one message: a page may be fetched in one part and cited in another.

    Args:
        answers: The parts in order, at least one.
    """
    last = answers[-1]
    if len(answers) == 1:
        return last
    turn = tuple(part for answer in answers for part in answer.turn)
    content = [block for part in turn for block in part.get("content") or ()]
    message = read_answer(last.api, {"type": "message", "content": content, "stop_reason": last.stop_reason})
    errors = tuple(dict.fromkeys(error for answer in answers for error in answer.errors))
    error = errors[0] if errors else None
    return replace(message, model=last.model, finish=last.finish, turn=turn, errors=errors, error=error)


def last_turn(answers: Sequence[HostedAnswer]) -> Sequence[HostedAnswer]:
    """Return the parts of the last turn, including the paused ones before it."""
    first = len(answers) - 1
    while first > 0 and answers[first - 1].finish == "pause":
        first -= 1
    return answers[first:]


def total(answers: Sequence[HostedAnswer]) -> HostedUsage:
    """Return the total usage of several answers."""
    return HostedUsage(
        searches=sum(answer.usage.searches for answer in answers),
        fetches=sum(answer.usage.fetches for answer in answers),
        input_tokens=sum(answer.usage.input_tokens for answer in answers),
        output_tokens=sum(answer.usage.output_tokens for answer in answers),
    )
