"""Answers of Gemini's Interactions API (https://ai.google.dev/api/interactions)."""

from __future__ import annotations

from typing import Any

from groundwire.hosted.answers.answer_builder import AnswerBuilder, ByteSpans, StreamedParts, WireReader, joined
from groundwire.hosted.answers.source_audit import site_of
from groundwire.hosted.answers.types import HostedError, count, items, object_of, parsed, text_of, texts
from groundwire.hosted.answers.upstream_errors import error_of

_RUNNING = frozenset({"in_progress", "queued"})


class InteractionsReader(WireReader):
    """Parses steps: searches, fetches, thoughts, and model output."""

    def __init__(self, answer: AnswerBuilder) -> None:
        super().__init__(answer)
        self._steps: dict[int, dict[str, Any]] = {}
        self._open = StreamedParts()

    def whole(self, body: dict[str, Any]) -> None:
        """Parse an interaction."""
        for index, step in enumerate(items(body.get("steps"))):
            self._steps[index] = step
            self._step(step)
        self._about(body)
        self.finish()

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event, from `interaction.created` to `interaction.completed`."""
        kind = text_of(data.get("event_type")) or name
        index = count(data.get("index"))
        if kind == "step.start":
            self._close(index)
            step = self._steps[index] = self._open.begin(index, dict(object_of(data.get("step"))))
            for content in items(step.get("content")):
                self.answer.stream_text(content.get("text"))
        elif kind == "step.delta":
            self._delta(index, object_of(data.get("delta")))
        elif kind == "step.stop":
            self._close(index)
        elif kind in {"interaction.created", "interaction.completed"}:
            self._about(object_of(data.get("interaction")))
        elif kind == "interaction.status_update":
            self._about(data)

    def finish(self) -> None:
        """Parse the steps that were not closed, and build the turn."""
        for index in self._open.indexes:
            self._close(index)
        self.answer.turn = [self._steps[index] for index in sorted(self._steps)]

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        step = self._open.begin(index, self._steps.setdefault(index, {"type": "model_output"}))
        kind = text_of(delta.get("type"))
        if kind == "text":
            self.answer.stream_text(delta.get("text"))
        if kind in {"text", "text_annotation_delta"}:
            self._open.add(index, "content", {**delta, "type": "text"})
        elif kind == "thought_summary":
            self._open.add(index, "summary", delta.get("content"))
        elif kind == "arguments_delta":
            self._open.add(index, "arguments", delta.get("arguments"))
        else:  # such as the signature of a thought
            step |= {name: value for name, value in delta.items() if name != "type"}

    def _close(self, index: int) -> None:
        step = self._open.end(index)
        if step is None:
            return
        if isinstance(arguments := step.get("arguments"), str):
            step["arguments"] = parsed(arguments) or arguments
        if "content" in step:
            step["content"] = joined(items(step["content"]))
        self._step(step)

    def _step(self, step: dict[str, Any]) -> None:
        match step.get("type"):
            case "google_search_call":
                for query in texts(object_of(step.get("arguments")).get("queries")):
                    self.answer.add_query(query)
                self.answer.count_searches()
            case "google_search_result":
                self._result("web_search", step)
            case "url_context_result":
                self._result("url_context", step)
            case "function_call":
                self.answer.add_call(step.get("id"), step.get("name"), step.get("arguments"))
            case "model_output":
                for content in items(step.get("content")):
                    self._text(content)
                if step.get("error"):
                    self._failed({"error": step["error"]})

    def _result(self, tool: str, step: dict[str, Any]) -> None:
        if step.get("is_error") is True:
            self.answer.add_tool_error(tool, "is_error")
        for result in items(step.get("result")):
            status = text_of(result.get("status")).lower()
            if tool == "web_search":
                self.answer.add_source(result.get("url"), result.get("title"))
                continue
            self.answer.count_fetch()
            if status in {"", "success"}:
                self.answer.add_source(result.get("url"))
                self.answer.add_opened_page(result.get("url"))
            else:
                self.answer.add_tool_error(tool, status, result.get("url"))

    def _text(self, content: dict[str, Any]) -> None:
        if text_of(content.get("type")) not in {"", "text"}:
            return
        text = text_of(content.get("text"))
        begins, _ = self.answer.add_text(text)
        spans = ByteSpans(text, begins)
        for note in items(content.get("annotations")):
            if text_of(note.get("type")) in {"", "url_citation"}:
                url, title = text_of(note.get("url")), text_of(note.get("title"))
                span = spans.span(note.get("start_index"), note.get("end_index"), "")
                self.answer.add_citation(url, title, span=span, covers="claim", site=site_of(url, title))

    def _about(self, body: dict[str, Any]) -> None:
        self.answer.set_model(body.get("model"))
        usage = object_of(body.get("usage"))
        tools = items(usage.get("grounding_tool_count"))
        searches = sum(count(tool.get("count")) for tool in tools if tool.get("type") == "google_search")
        self.answer.set_usage("interactions", usage, searches)
        status = self.stop(body.get("status"))
        if not status:
            return
        self.complete: bool = status not in _RUNNING
        if body.get("error"):
            self._failed(body)
        elif status in {"failed", "cancelled"}:
            self.answer.add_error(HostedError(code=status, outcome="unavailable"))

    def _failed(self, body: dict[str, Any]) -> None:
        if (failure := error_of(body)) is not None:
            self.answer.add_error(failure)
