"""How each API continues a conversation: the model's turn, tool results, tool choice, paused turns, total usage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from groundwire.errors import InvalidRequest
from groundwire.hosted.answers import HostedAnswer, HostedCall, HostedCitation, HostedUsage, read_answer
from groundwire.hosted.api_capabilities import Api, Wire
from groundwire.hosted.requests.prepare import tools_of
from groundwire.hosted.requests.request_body import kind_of

__all__ = [
    "Result",
    "check_wire",
    "conversation",
    "declared_functions",
    "free_choice",
    "joined",
    "last_turn",
    "no_choice",
    "total",
    "users_texts",
    "with_results",
]

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
            f"{api.title} speaks a form that run_tools does not",
            "Use one that speaks Anthropic Messages, chat completions, Responses or Gemini.",
        )


def conversation(body: Mapping[str, Any], api: Api) -> list[Any]:
    """Return the messages of a request as a new list; a bare string is a user message."""
    given = body.get(api.body)
    if given is None:
        return []
    if isinstance(given, str):
        part = {"parts": [{"text": given}]} if api.wire == "gemini" else {"content": given}
        return [{"role": "user", **part}]
    return list(given) if isinstance(given, (list, tuple)) else [given]


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
        if kind_of(tool, ("web_search",))[0]:
            names.add("web_search")
            continue
        declared = tool.get("functionDeclarations", tool.get("function_declarations")) if _is_object(tool) else None
        for one in declared if isinstance(declared, list) else [tool]:
            inner = one.get("function", one) if _is_object(one) else None
            name = inner.get("name") if _is_object(inner) else None
            if not isinstance(name, str) or (_is_object(one) and "tools" in one):  # a namespace of others, of Responses
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
            *({"role": "tool", "tool_call_id": one.call.id, "content": one.text} for one in results),
        )
    if wire == "responses":
        return (
            *messages,
            *({"type": "function_call_output", "call_id": one.call.id, "output": one.text} for one in results),
        )
    if wire == "anthropic":
        return _joined(messages, "content", [_tool_result(one) for one in results], "tool_result")
    return _joined(messages, "parts", [_response(one) for one in results], "functionResponse")


def free_choice(body: Mapping[str, Any], wire: Wire) -> dict[str, Any]:
    """Return a request that no longer forces a tool call, because one was made."""
    changed = dict(body)
    choice = body.get("tool_choice")
    if wire == "gemini":
        return _gemini_mode(changed, "AUTO", only=("ANY",))
    if wire == "anthropic":
        if isinstance(choice, Mapping) and choice.get("type") in ("any", "tool"):
            kept = {key: value for key, value in choice.items() if key not in ("type", "name")}
            changed["tool_choice"] = {**kept, "type": "auto"}
    elif isinstance(choice, Mapping) or choice == "required":
        changed["tool_choice"] = "auto"
    return changed


def no_choice(body: Mapping[str, Any], wire: Wire) -> dict[str, Any]:
    """Return a request in which tools are disabled and the model must answer."""
    changed = dict(body)
    if wire == "gemini":
        return _gemini_mode(changed, "NONE")
    if changed.get("tools"):
        changed["tool_choice"] = {"type": "none"} if wire == "anthropic" else "none"
        changed.pop("parallel_tool_calls", None)
    return changed


def _joined(messages: Sequence[Any], key: str, parts: list[dict[str, Any]], kind: str) -> tuple[Any, ...]:
    last = messages[-1] if messages else None
    if isinstance(last, Mapping) and last.get("role") == "user":
        there = last.get(key)
        end = there[-1] if isinstance(there, list) and there else None
        if isinstance(there, list) and isinstance(end, Mapping) and (end.get("type") == kind or kind in end):
            return (*messages[:-1], {**last, key: [*there, *parts]})
    return (*messages, {"role": "user", key: parts})


def _tool_result(one: Result) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "tool_result", "tool_use_id": one.call.id, "content": one.text}
    return {**made, "is_error": True} if one.failed else made


def _response(one: Result) -> dict[str, Any]:
    named = {"id": one.call.id} if one.call.id else {}
    key = "error" if one.failed else "output"
    return {"functionResponse": {**named, "name": one.call.name, "response": {key: one.text}}}


def _gemini_mode(body: dict[str, Any], mode: str, only: tuple[str, ...] = ()) -> dict[str, Any]:
    """Set the function calling mode where this request has it, replacing `only` if it names any."""
    inner = body.get("config")
    holder: dict[str, Any] = dict(inner) if isinstance(inner, Mapping) else body
    keys = ("tool_config", "function_calling_config") if holder is not body else ("toolConfig", "functionCallingConfig")
    config = holder.get(keys[0])
    config = dict(config) if isinstance(config, Mapping) else {}
    calling = config.get(keys[1])
    calling = dict(calling) if isinstance(calling, Mapping) else {}
    if (only and str(calling.get("mode", "")).upper() not in only) or not holder.get("tools"):
        return body
    holder[keys[0]] = {**config, keys[1]: {"mode": mode}}
    if holder is not body:
        body["config"] = holder
    return body


def joined(answers: Sequence[HostedAnswer]) -> HostedAnswer:
    """Join the parts of one turn into one answer: concatenate texts and shift citations accordingly.

    Args:
        answers: The pieces in order, at least one.
    """
    if len(answers) > 1 and all(one.api == "anthropic" for one in answers):
        return _read_as_one(answers)
    text = ""
    citations: list[HostedCitation] = []
    for one in answers:
        citations += [_moved(citation, len(text)) for citation in one.citations]
        text += one.text
    return replace(
        answers[-1],
        text=text,
        citations=tuple(citations),
        queries=tuple(dict.fromkeys(query for one in answers for query in one.queries)),
        sources=tuple({source.url: source for one in reversed(answers) for source in one.sources}.values()),
        opened=tuple(dict.fromkeys(url for one in answers for url in one.opened)),
        errors=tuple(dict.fromkeys(error for one in answers for error in one.errors)),
        error=next((one.error for one in answers if one.error is not None), None),
        usage=total(answers),
        turn=tuple(part for one in answers for part in one.turn),
        sources_from=next((one.sources_from for one in answers if one.sources), "none"),
    )


def _read_as_one(answers: Sequence[HostedAnswer]) -> HostedAnswer:
    """Join the parts of a turn into one message: a page may be fetched in one part and cited in another."""
    turn = tuple(part for one in answers for part in one.turn)
    content = [block for message in turn for block in message.get("content") or ()]
    whole = read_answer("anthropic", {"type": "message", "content": content, "stop_reason": answers[-1].stop_reason})
    errors = tuple(dict.fromkeys(error for one in answers for error in one.errors))
    error = next((one.error for one in answers if one.error is not None), None)
    return replace(whole, model=answers[-1].model, usage=total(answers), turn=turn, errors=errors, error=error)


def last_turn(answers: Sequence[HostedAnswer]) -> Sequence[HostedAnswer]:
    """Return the parts of the last turn, including the paused ones before it."""
    first = len(answers) - 1
    while first > 0 and answers[first - 1].finish == "pause":
        first -= 1
    return answers[first:]


def total(answers: Sequence[HostedAnswer]) -> HostedUsage:
    """Return the total usage of several answers."""
    return HostedUsage(
        searches=sum(one.usage.searches for one in answers),
        fetches=sum(one.usage.fetches for one in answers),
        input_tokens=sum(one.usage.input_tokens for one in answers),
        output_tokens=sum(one.usage.output_tokens for one in answers),
    )


def _moved(citation: HostedCitation, by: int) -> HostedCitation:
    def plus(place: int | None) -> int | None:
        return None if place is None else place + by

    return replace(citation, start=plus(citation.start), end=plus(citation.end), position=plus(citation.position))
