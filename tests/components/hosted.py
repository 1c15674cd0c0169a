"""Recorded answers of model APIs with hosted search, and the accuracy of parsing them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.exchanges import expectations
from components.streaming import as_sse
from groundwire.hosted.answers import AnswerStream, HostedAnswer, read_answer

APIS: Mapping[str, str] = {
    "anthropic": "anthropic",
    "bedrock_nova": "bedrock",
    "deepseek": "deepseek",
    "gemini": "gemini",
    "gemini_interactions": "gemini_interactions",
    "groq": "groq",
    "mistral": "mistral",
    "openai_chat": "openai_chat",
    "openai_responses": "openai_responses",
    "openrouter": "openrouter",
    "perplexity_agent": "perplexity",
    "perplexity_sonar": "perplexity",
    "qwen_responses": "qwen_responses",
    "venice": "venice",
    "xai": "xai",
    "zai": "zai",
}
"""The folder of each API's recordings."""

FACTS = ("queries", "sources", "citations", "opened", "errors", "stop_reason", "sources_from", "length")
"""The compared facts."""

_MARK = re.compile(r"[?&]utm_source=[\w.]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedRecording:
    """One recorded answer."""

    name: str
    """Its file, with the folder."""
    api: str
    """The API that gave it."""
    status: int
    """The HTTP status."""
    body: Any
    """The whole body, or None for a stream."""
    stream: bytes
    """The bytes of the stream, or none."""
    want: Mapping[str, Any]
    """What it should be read as."""


@dataclass(slots=True)
class Score:
    """How many facts there are, were found, and are correct."""

    wanted: int = 0
    found: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """The share of the facts there are that were found."""
        return self.right / self.wanted if self.wanted else 1.0

    @property
    def precision(self) -> float:
        """The share of the found facts that are correct."""
        return self.right / self.found if self.found else 1.0

    def add(self, name: str, want: list[object], found: list[object]) -> None:
        """Count one recording; facts in another order are wrong."""
        self.wanted += len(want)
        self.found += len(found)
        right = sum(one == other for one, other in zip(want, found, strict=False))
        if right < max(len(want), len(found)):
            # One fact missing in the middle must not make all behind it wrong, unless the order is wrong too.
            common = Counter(map(repr, want)) & Counter(map(repr, found))
            kept = [one for one in want if repr(one) in common]
            right = max(right, common.total() if kept == [one for one in found if repr(one) in common] else 0)
            self.wrong.append(name)
        self.right += right


def hosted(folder: Path) -> Iterator[HostedRecording]:
    """Yield every recorded native answer that has an expected result."""
    for name, want in expectations(folder).items():
        api = APIS.get(name.partition("/")[0])
        if want.get("family") != "native" or api is None:
            continue
        response = json.loads((folder / name).read_text(encoding="utf-8"))["response"]
        yield HostedRecording(
            name=name,
            api=api,
            status=response["status"],
            body=response.get("body", response.get("text")),
            stream=response.get("sse", "").encode() or as_sse(iter(response.get("frames", ())), named=False),
            want=want,
        )


def read(one: HostedRecording) -> HostedAnswer:
    """Parse a recording."""
    if not one.stream:
        return read_answer(one.api, one.body, status=one.status)
    stream = AnswerStream(one.api, status=one.status)
    stream.feed(one.stream)
    stream.close()
    return stream.answer


def wanted(one: HostedRecording) -> dict[str, list[object]]:
    """Return the facts of a recording in our form: addresses without an assistant's mark, spans in the whole text."""
    want = one.want
    sources: dict[str, object] = {}
    for row in want["sources"]:
        sources.setdefault(_bare(row["url"]), (_bare(row["url"]), row["title"] or ""))
    return {
        "queries": list(want["queries"]),
        "sources": list(sources.values()),
        "citations": [
            (_bare(row["url"]), row["title"] or "", row["cited_text"] or "", *_span(row)) for row in want["citations"]
        ],
        "opened": [_bare(url) for url in want["opened"]],
        "errors": [want["error"]] if want["error"] else [],
        "stop_reason": [want["stop_reason"]],
        "sources_from": [want["sources_from"]],
        "length": [want["answer_chars"]],
    }


def facts(answer: HostedAnswer) -> dict[str, list[object]]:
    """Return the facts of an answer that was read."""
    return {
        "queries": list(answer.queries),
        "sources": [(row.url, row.title) for row in answer.sources],
        "citations": [(row.url, row.title, row.cited_text, row.start, row.end) for row in answer.citations],
        "opened": list(answer.opened),
        "errors": [answer.error.code] if answer.error else [],
        "stop_reason": [answer.stop_reason],
        "sources_from": [answer.sources_from],
        "length": [len(answer.text)],
    }


def _bare(url: str) -> str:
    return _MARK.sub("", url)


def _span(row: Mapping[str, Any]) -> tuple[int | None, int | None]:
    start, end = row.get("char_start", row["start"]), row.get("char_end", row["end"])
    if start is None or end is None or start == end == 0:
        return None, None
    begins = row.get("part_offset", 0)
    return start + begins, end + begins
