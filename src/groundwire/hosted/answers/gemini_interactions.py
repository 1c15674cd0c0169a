"""Answers of Gemini's Interactions API (https://ai.google.dev/api/interactions)."""

from __future__ import annotations

from typing import Any

from groundwire.hosted.answers.answer_builder import ByteSpans, Gather
from groundwire.hosted.answers.source_audit import site_of
from groundwire.hosted.answers.types import HostedError, count, items, object_of, parsed, text_of, texts
from groundwire.hosted.answers.upstream_errors import error_of

__all__ = ["InteractionsReader"]

_GOING = frozenset({"in_progress", "queued"})


class InteractionsReader:
    """Parses steps: searches, fetches, thoughts, and model output."""

    def __init__(self, gather: Gather) -> None:
        self.complete: bool = False
        self._gather = gather
        self._steps: dict[int, dict[str, Any]] = {}
        self._open: set[int] = set()
        self._arguments: dict[int, list[str]] = {}

    def whole(self, body: dict[str, Any]) -> None:
        """Parse an interaction."""
        steps = body.get("steps") if isinstance(body.get("steps"), list) else body.get("outputs")
        for index, step in enumerate(items(steps)):
            self._steps[index] = step
            self._step(step)
        self._about(body)
        self.finish()

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event, from `interaction.created` to `interaction.completed`."""
        kind = text_of(data.get("event_type")) or name
        index = count(data.get("index"))
        # Before there were steps, the same events were called `content.start` and so on.
        if kind in {"step.start", "content.start"}:
            self._close(index)
            step = self._steps[index] = dict(object_of(data.get("step")) or object_of(data.get("content")))
            self._open.add(index)
            for content in [step, *items(step.get("content"))]:
                self._gather.delta(content.get("text"))
        elif kind in {"step.delta", "content.delta"}:
            self._delta(index, object_of(data.get("delta")))
        elif kind in {"step.stop", "content.stop"}:
            self._close(index)
        elif kind in {"interaction.created", "interaction.completed"}:
            self._about(object_of(data.get("interaction")))
        elif kind == "interaction.status_update":
            self._about(data)

    def finish(self) -> None:
        """Parse the steps that were not closed, and build the turn."""
        for index in sorted(self._open):
            self._close(index)
        self._gather.turn = [self._steps[index] for index in sorted(self._steps)]

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        step = self._steps.setdefault(index, {"type": "model_output"})
        self._open.add(index)
        kind = text_of(delta.get("type"))
        if kind == "text" and step.get("type") == "text":
            self._gather.delta(delta.get("text"))
            step["text"] = text_of(step.get("text")) + text_of(delta.get("text"))
            step["annotations"] = [*items(step.get("annotations")), *items(delta.get("annotations"))]
        elif kind == "text":
            self._gather.delta(delta.get("text"))
            content = list(items(step.get("content")))
            if content and content[-1].get("type") == "text":
                last = content[-1]
                content[-1] = {**last, "text": text_of(last.get("text")) + text_of(delta.get("text"))}
            else:
                content.append(delta)
            step["content"] = content
        elif kind == "text_annotation_delta":
            content = list(items(step.get("content"))) or [{"type": "text", "text": ""}]
            last = content[-1]
            content[-1] = {**last, "annotations": [*items(last.get("annotations")), *items(delta.get("annotations"))]}
            step["content"] = content
        elif kind == "thought_signature":
            step["signature"] = delta.get("signature")
        elif kind == "thought_summary":
            step["summary"] = [*items(step.get("summary")), object_of(delta.get("content"))]
        elif kind == "arguments_delta":
            self._arguments.setdefault(index, []).append(text_of(delta.get("arguments")))
        else:
            step |= {name: value for name, value in delta.items() if name != "type"}

    def _close(self, index: int) -> None:
        if index not in self._open:
            return
        self._open.discard(index)
        step = self._steps[index]
        written = "".join(self._arguments.pop(index, []))
        if written:
            step["arguments"] = parsed(written) or written
        self._step(step)

    def _step(self, step: dict[str, Any]) -> None:
        kind = text_of(step.get("type"))
        given = object_of(step.get("arguments"))
        match kind:
            case "google_search_call":
                for query in texts(given.get("queries")):
                    self._gather.query(query)
                self._gather.searched()
            case "google_search_result":
                self._result("web_search", step)
            case "url_context_result":
                self._result("url_context", step)
            case "function_call":
                self._gather.call(step.get("id"), step.get("name"), step.get("arguments"))
            case "model_output":
                for content in items(step.get("content")):
                    self._text(content)
                if step.get("error"):
                    self._failed({"error": step["error"]})
            case "text":
                self._text(step)

    def _result(self, tool: str, step: dict[str, Any]) -> None:
        if step.get("is_error") is True:
            self._gather.tool_failed(tool, "is_error")
        for result in items(step.get("result")):
            status = text_of(result.get("status")).lower()
            if tool == "web_search":
                self._gather.source(result.get("url"), result.get("title"))
            elif status in {"", "success"}:
                self._gather.fetched()
                self._gather.source(result.get("url"))
                self._gather.opened(result.get("url"))
            else:
                self._gather.fetched()
                self._gather.tool_failed(tool, status, result.get("url"))

    def _text(self, content: dict[str, Any]) -> None:
        if text_of(content.get("type")) not in {"", "text"}:
            return
        text = text_of(content.get("text"))
        begins, _ = self._gather.say(text)
        spans = ByteSpans(text, begins)
        for note in items(content.get("annotations")):
            if text_of(note.get("type")) in {"", "url_citation"}:
                url, title = text_of(note.get("url")), text_of(note.get("title"))
                span = spans.span(note.get("start_index"), note.get("end_index"), "")
                self._gather.cite(url, title, span=span, covers="claim", site=site_of(url, title))

    def _about(self, body: dict[str, Any]) -> None:
        if model := text_of(body.get("model")):
            self._gather.model = model
        usage = object_of(body.get("usage"))
        made = items(usage.get("grounding_tool_count"))
        self._gather.spent(
            {
                "input_tokens": count(usage.get("total_input_tokens")) + count(usage.get("total_tool_use_tokens")),
                "output_tokens": count(usage.get("total_output_tokens")) + count(usage.get("total_thought_tokens")),
                "searches": sum(count(one.get("count")) for one in made if one.get("type") == "google_search"),
            }
        )
        status = text_of(body.get("status"))
        if not status:
            return
        self._gather.stop_reason = status
        self.complete = status not in _GOING
        if body.get("error"):
            self._failed(body)
        elif status in {"failed", "cancelled"}:
            self._gather.fail(HostedError(code=status, outcome="unavailable"))

    def _failed(self, body: dict[str, Any]) -> None:
        if (failure := error_of(body)) is not None:
            self._gather.fail(failure)
