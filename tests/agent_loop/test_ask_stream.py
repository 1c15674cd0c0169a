"""An answer while it is written: what may be shown of it, its verification at the end, and a reader who leaves."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from components.held import Held
from components.writer import Writer
from groundwire import Settings, Web
from groundwire.agent_loop import (
    AnswerCompleted,
    AskEvent,
    CallEnded,
    CallStarted,
    TextDelta,
    TextReset,
    ask,
    ask_stream,
)
from groundwire.citations import Mark, find_marks
from groundwire.citations.link_filter import LinkFilter
from groundwire.errors import InvalidRequest, ProviderError
from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from groundwire.testing.model_apis import quoting
from world import World
from world.model_apis import ModelServer

pytestmark = pytest.mark.req("B34")

Make = Callable[..., Any]
QUESTION = "reciprocal rank fusion"


def told(events: Sequence[AskEvent]) -> str:
    """Return the text that a reader of events has at the end."""
    text = ""
    for event in events:
        if isinstance(event, TextReset):
            text = ""
        elif isinstance(event, TextDelta):
            text += event.delta
    return text


def using(settings: Make, model: EmulatedServer) -> Settings:
    made: Settings = settings(answer={"model": "m", "base_url": f"{model.url}/v1"})
    return made


def spans(text: str) -> list[tuple[int, int]]:
    """Return where the markers of a text begin and end."""
    ends = list(itertools.accumulate(len(one.text if isinstance(one, Mark) else one) for one in find_marks(text)))
    return [
        (end - len(one.text), end) for one, end in zip(find_marks(text), ends, strict=True) if isinstance(one, Mark)
    ]


async def asked(web: Web, **options: Any) -> list[AskEvent]:
    return [event async for event in ask_stream(QUESTION, web=web, **options)]


async def test_the_model_receives_the_question_before(settings: Make, world: World) -> None:
    model = world.add(ModelServer(quoting))
    async with Web(using(settings, model)) as web:
        async for _ in ask_stream(QUESTION, web=web):
            pass
        assert b"follows another" not in model.requests[-1].body
        async for event in ask_stream("Which constant is usual?", web=web, follows=QUESTION):
            if isinstance(event, AnswerCompleted):
                assert event.answer.question == "Which constant is usual?"
    said = [one["content"] for one in json.loads(model.requests[-1].body)["messages"] if one["role"] == "user"]
    assert said == [f"Which constant is usual?\n\n(This question follows another: {QUESTION})"]


@pytest.mark.parametrize(("api", "path"), [("openai_chat", "/v1"), ("anthropic", ""), ("gemini", "")])
async def test_the_text_comes_before_the_answer(settings: Make, world: World, api: str, path: str) -> None:
    model = world.add(ModelServer(quoting))
    async with Web(settings(answer={"api": api, "model": "m", "base_url": model.url + path})) as web:
        events = await asked(web)
        whole = await ask(QUESTION, web=web.session())
    kinds = [type(event) for event in events]
    assert kinds[:4] == [CallStarted, CallEnded, CallStarted, CallEnded]
    assert set(kinds[4:-2]) == {TextDelta}
    last = events[-1]
    assert isinstance(last, AnswerCompleted)
    assert told(events) == last.answer.text == whole.text
    assert (last.answer.report.supported, last.answer.sources) == (True, whole.sources)
    assert [event.type for event in events[-2:]] == ["text_completed", "result"]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_no_marker_is_divided(settings: Make, world: World, size: int) -> None:
    text = "It merges lists [1], of which `x[1]` is one [1, 2]; ![see](https://evil.test/?q=1) and [3] 【1】."
    writer = world.add(Writer([], [text[at : at + size] for at in range(0, len(text), size)]))
    async with Web(using(settings, writer)) as web:
        events = await asked(web)
        known = [page.url for page in await web.sources()]
    last = events[-1]
    assert isinstance(last, AnswerCompleted)
    shown = told(events)
    assert shown == last.answer.text == LinkFilter(known).whole(text)
    assert "![see]" not in shown
    deltas = [event.delta for event in events if isinstance(event, TextDelta)]
    assert len(deltas) > len(text) / size / 4  # it comes while it is written, not in the end
    cuts = set(itertools.accumulate(map(len, deltas)))
    assert not [span for span in spans(shown) if cuts & set(range(span[0] + 1, span[1]))]


@pytest.mark.parametrize("size", [1, 5, 1_000])
async def test_thoughts_in_the_text_are_not_the_answer(settings: Make, world: World, size: int) -> None:
    said = "\n<think>" + "They ask [2]. " * 99 + "</think>\n\nRanks are <b>merged</b> [1]."
    writer = world.add(Writer([], [said[at : at + size] for at in range(0, len(said), size)]))
    async with Web(using(settings, writer)) as web:
        events = await asked(web)
    last = events[-1]
    assert isinstance(last, AnswerCompleted)
    assert told(events) == last.answer.text == "Ranks are <b>merged</b> [1]."
    assert [source.citation_id for source in last.answer.sources] == [1]


@pytest.mark.parametrize("said", ["<think>They ask", "<", "<thinking> is a tag."])
async def test_what_only_begins_like_thoughts(settings: Make, world: World, said: str) -> None:
    writer = world.add(Writer([], [said[:5], said[5:]]))
    async with Web(using(settings, writer)) as web:
        if "They ask" in said:
            with pytest.raises(ProviderError, match="gave no answer"):
                await asked(web)
            return
        events = await asked(web)
    assert told(events) == said


async def test_text_is_read_before_the_model_has_ended(settings: Make, world: World) -> None:
    writer = world.add(Writer([], ["Ranks ", "are merged."], pause=True))
    async with Web(using(settings, writer)) as web:
        events = ask_stream(QUESTION, web=web)
        first = [await anext(events) for _ in range(3)]
        assert first[-1] == TextDelta("Ranks ")
        writer.go_on.set()
        assert told([*first, *[event async for event in events]]) == "Ranks are merged."


async def test_what_a_model_says_before_a_tool_call_is_not_the_answer(settings: Make, world: World) -> None:
    writer = world.add(Writer(["Let me ", "search [9]."], ["Ranks are ", "merged [1]."]))
    async with Web(using(settings, writer)) as web:
        events = await asked(web)
    assert [event.type for event in events[:4]] == ["delta", "delta", "call_started", "call_ended"]
    assert [event.type for event in events].count("reset") == 1
    assert told(events) == "Ranks are merged [1]."


async def test_without_a_model_the_passages_are_the_text(settings: Make) -> None:
    async with Web(settings()) as web:
        events = await asked(web, quote=True)
    last = events[-1]
    assert isinstance(last, AnswerCompleted)
    assert told(events) == last.answer.text
    assert last.answer.report.supported


async def test_a_reader_who_leaves_ends_the_work(settings: Make, world: World) -> None:
    model = world.add(ModelServer(quoting))
    held = Held()
    world.searxng.fail(held.fault, times=None)
    async with Web(using(settings, model)) as web:
        events = ask_stream(QUESTION, web=web)
        assert (await anext(events)).type == "call_started"
        await events.aclose()
        assert [task for task in asyncio.all_tasks() if "_answer" in repr(task.get_coro())] == []
    held.release()


async def test_what_goes_wrong_is_raised_by_the_iteration(settings: Make, world: World) -> None:
    model = world.add(ModelServer(quoting))
    async with Web(using(settings, model)) as web:
        with pytest.raises(InvalidRequest, match="query"):
            [event async for event in ask_stream("  ", web=web)]
        model.fail(InjectedFault.status(401, '{"error": {"message": "no such key"}}'), times=None)
        with pytest.raises(ProviderError, match="no such key"):
            await asked(web)


async def test_an_answer_without_text_is_a_failure(settings: Make, world: World) -> None:
    writer = world.add(Writer([], []))
    async with Web(using(settings, writer)) as web:
        with pytest.raises(ProviderError, match="gave no answer: its text is empty"):
            await asked(web)


@pytest.mark.parametrize(
    ("finish", "cause"), [("length", "its limit of tokens was reached"), ("content_filter", "a filter stopped it")]
)
async def test_an_answer_that_was_cut_off_says_so(settings: Make, world: World, finish: str, cause: str) -> None:
    class Cut(EmulatedServer):
        text = ""

        def handle(self, request: Recorded) -> EmulatedResponse:
            choice = {"index": 0, "message": {"role": "assistant", "content": self.text}, "finish_reason": finish}
            return EmulatedResponse.json({"model": "m", "choices": [choice]})

    model = world.add(Cut("cut"))
    async with Web(using(settings, model)) as web:
        with pytest.raises(ProviderError, match=f"gave no answer: .*{cause}"):
            await ask(QUESTION, web=web)
        model.text = "It merges"
        answer = await ask(QUESTION, web=web)
    assert cause in " ".join(answer.warnings)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (404, '{"detail": "no such model"}', "no such model. Check answer.base_url and answer.model"),
        (400, '[{"error": {"message": "no tools here"}}]', "no tools here. Check answer.base_url"),
        (401, '{"message": "no such key"}', "no such key. Check OPENAI_API_KEY"),
        (400, '{"error": {"message": "API key not valid."}}', "not valid.. Check OPENAI_API_KEY"),
        (429, '{"error": "too fast"}', "too fast. Try again later"),
        (503, '{"error": {"message": "full"}}', "full. Try again later"),
    ],
)
async def test_an_error_of_any_form_says_why(settings: Make, world: World, status: int, body: str, words: str) -> None:
    model = world.add(ModelServer(quoting))
    model.fail(InjectedFault.status(status, body))
    async with Web(using(settings, model)) as web:
        with pytest.raises(ProviderError, match=words):
            await ask(QUESTION, web=web)


async def test_a_stream_that_fails_in_the_middle_says_so(settings: Make, world: World) -> None:
    class Broken(Writer):
        def handle(self, request: Recorded) -> EmulatedResponse:
            lines = [b'data: {"choices": [{"index": 0, "delta": {"content": "It mer"}}]}\n\n'] * (
                len(self.requests) > 1
            )
            lines.append(b'data: {"error": {"message": "out of memory", "code": 500}}\n\n')
            return EmulatedResponse(chunks=lambda: iter(lines), content_type="text/event-stream")

    writer = world.add(Broken([]))
    async with Web(using(settings, writer)) as web:
        with pytest.raises(ProviderError, match="out of memory"):
            await asked(web)
        events = await asked(web)
    last = events[-1]
    assert isinstance(last, AnswerCompleted)
    assert last.answer.text == "It mer"
    assert "out of memory" in " ".join(last.answer.warnings)
