"""What the proxy adds to a request, and how it merges the responses of several rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, Literal

from groundwire.agent_loop.citation_ledger import marks_in
from groundwire.agent_loop.tool_calls import arguments_of
from groundwire.errors import InvalidRequest
from groundwire.hosted import Location
from groundwire.hosted.answers import HostedCall
from groundwire.tools import Tool
from groundwire_server.openai.conversations import Utterance, text_of

_ROLES: Final[Mapping[str, Literal["user", "assistant"]]] = MappingProxyType(
    {"user": "user", "assistant": "assistant", "model": "assistant"}
)


def with_date(tool: Tool) -> Tool:
    """Return a tool whose description has today's date: models take the end of their training for today."""
    if tool.name != "web_search":
        return tool
    return replace(tool, description=f"{tool.description} Today is {datetime.now(UTC):%Y-%m-%d}.")


def location_of(place: object) -> Location | None:
    """Return the user's location that a search option gives; OpenAI's is in `approximate`."""
    about = place.get("approximate", place) if isinstance(place, Mapping) else None
    names = ("city", "region", "country", "timezone")
    parts = {name: about[name] for name in names if about.get(name)} if isinstance(about, Mapping) else {}
    return Location(**parts) if parts else None


def arguments_in(call: HostedCall) -> dict[str, Any]:
    """Return the arguments of a call; none if they are not in the form of any."""
    try:
        return arguments_of(call)
    except InvalidRequest:
        return {}


def sum_usage(first: object, second: object) -> Any:
    """Add up two usages, recursively."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return {key: sum_usage(first.get(key), second.get(key)) for key in {**first, **second}}
    if isinstance(first, (int, float)) and isinstance(second, (int, float)) and not isinstance(first, bool):
        return first + second
    return second if second is not None else first


def merge_values(values: Sequence[Any]) -> Any:
    """Merge a field of several rounds: texts are joined by an empty line, lists are concatenated."""
    present = [value for value in values if value]
    if len(present) < 2:
        return present[0] if present else None
    if all(isinstance(value, str) for value in present):
        return "\n\n".join(present)
    if all(isinstance(value, list) for value in present):
        return [item for value in present for item in value]
    if all(isinstance(value, dict) for value in present):
        keys = dict.fromkeys(key for value in present for key in value)
        return {key: merge_values([value.get(key) for value in present]) for key in keys}
    return present[-1]


def messages_of(value: object) -> Sequence[Any]:
    """Return the messages of a request; a bare text is a message of the user.

    Raises:
        InvalidRequest: it is not a list.
    """
    if isinstance(value, str):
        return [{"role": "user", "content": value}] if value else []
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidRequest("messages", f"must be a list, not {type(value).__name__}", "Pass a list of messages.")
    return value


def utterances_in(messages: Sequence[Any]) -> tuple[Utterance, ...]:
    """Return the texts of a conversation in any API's format."""
    return tuple(
        Utterance(text, _ROLES.get(str(message.get("role")), ""), dict(_cited(message)))
        for message in messages
        if isinstance(message, Mapping) and (text := text_of(message))
    )


def _cited(message: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the numbers and URLs of annotations: of a message, or of its parts."""
    content = message.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else [message]
    for part in parts:
        text = part.get("text", part.get("content"))
        notes = part.get("annotations")
        for note in notes if isinstance(notes, list) and isinstance(text, str) else ():
            about = note.get("url_citation", note) if isinstance(note, Mapping) else None
            if not isinstance(about, Mapping):
                continue
            start, end, url = about.get("start_index"), about.get("end_index"), about.get("url")
            if isinstance(start, int) and isinstance(end, int) and isinstance(url, str):
                numbers = [mark[2] for mark in marks_in(text[start:end])]
                if len(numbers) == 1 and len(numbers[0]) == 1:
                    yield numbers[0][0], url
