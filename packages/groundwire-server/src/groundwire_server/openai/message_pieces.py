"""APIs that stream one message in pieces, the last of which says why it ends: Chat Completions, Ollama, and Gemini."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from groundwire.agent_loop import Run
from groundwire.hosted.answers import HostedAnswer, read_answer
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire_server.openai.handler import CompletionHandler
from groundwire_server.openai.prompts import sum_usage
from groundwire_server.openai.upstream import UpstreamAnswer
from groundwire_server.request_json import UpstreamRejected

__all__ = ["PiecesHandler"]


class PiecesHandler(CompletionHandler):
    """A request for one message; see `CompletionHandler`."""

    usage_key: ClassVar[str] = "usage"
    """The member of a piece with the usage of its round."""

    def __init__(self, *args: Any) -> None:
        self.tail: list[tuple[dict[str, Any], bytes]] = []
        """The end of this round, in case it is the last: values for the client, and the bytes of those unchanged."""
        self.contents: list[Any] = []
        """The content at the end of each round, as the client gets it."""
        super().__init__(*args)

    @abstractmethod
    def _content(self, value: dict[str, Any]) -> Any:
        """Return the content of a piece."""

    @abstractmethod
    def _with_content(self, value: dict[str, Any], content: Any) -> dict[str, Any]:
        """Return a piece with another content."""

    @abstractmethod
    def _client_content(self, content: Any, *, ends: bool) -> Any:
        """Return a content for the client: without local calls, and apart from the text of an earlier round."""

    @abstractmethod
    def _ends(self, value: dict[str, Any]) -> bool:
        """Whether a piece belongs to the end of its round."""

    @abstractmethod
    def _says(self, value: dict[str, Any]) -> bool:
        """Whether a piece has any content."""

    @abstractmethod
    def _without_end(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return the last piece of a round that another one follows."""

    @abstractmethod
    def _last_piece(self, value: dict[str, Any], run: Run) -> dict[str, Any]:
        """Return the last piece of a run, with its citations and why it ends."""

    @abstractmethod
    def _line(self, value: dict[str, Any]) -> bytes:
        """Return a piece as it is sent."""

    async def _begin_round(self) -> None:
        """Start another round; the end of the previous one goes without its reason, if it says anything."""
        for value, _ in self.tail:
            if self._says(value):
                await self.put(self._line(self._without_end(value)))
        self.tail = []
        await super()._begin_round()

    async def _take_whole(self, answer: UpstreamAnswer) -> HostedAnswer:
        """Take a whole message, which is a piece."""
        await self._forward(answer.value, answer.data, ends=True)
        return read_answer(self.api, answer.value)

    async def _take(self, event: ServerSentEvent, value: dict[str, Any]) -> None:
        """Take a piece."""
        self.stream_reader.event(value)
        await self._forward(value, event.raw, ends=self._ends(value))

    async def _forward(self, value: dict[str, Any], raw: bytes, *, ends: bool) -> None:
        """Forward a piece, unchanged if possible; the end waits."""
        content = self._content(value)
        new = self._client_content(content, ends=ends)
        line = dict(value) if new == content else self._with_content(value, new)
        if value.get(self.usage_key):
            self.round_usage = value[self.usage_key]
            line[self.usage_key] = sum_usage(self.usage, self.round_usage)
        raw = raw if line == value else b""
        if ends:
            self.contents.append(new)
            self.tail.append((line, raw))
        elif new == content or self._says(line):
            await self.put(raw or self._line(line))

    def _error_event(self, error: UpstreamRejected) -> bytes:
        """Return a failure as the last piece."""
        return self._line(self._error_value(error))

    def _response(self, run: Run) -> dict[str, Any]:
        """Return one message."""
        return self._last_piece(self.tail[-1][0], run)

    async def _last_events(self, run: Run) -> None:
        """Send the end."""
        value, raw = self.tail[-1] if self.tail else ({}, b"")
        line = self._last_piece(value, run)
        await self.put(raw if line == value and raw else self._line(line))
