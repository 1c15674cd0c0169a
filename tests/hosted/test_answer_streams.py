"""Event streams as servers really send them: broken, cut off, oddly framed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.answers import answer_in, answer_of, bytewise
from components.work import growth
from groundwire.errors import InvalidRequest, UnexpectedResponse
from groundwire.hosted.answers import AnswerStream, read_answer
from groundwire.hosted.answers.event_streams import EventDecoder, ServerSentEvent, TooLarge

START = {"type": "message_start", "message": {"model": "claude", "usage": {"input_tokens": 3}}}
TEXT = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
STOP = {"type": "content_block_stop", "index": 0}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}}
LAST = {"type": "message_stop"}


def said(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


def sse(*events: dict[str, Any], end: str = "\n", gap: str = " ") -> bytes:
    lines = [f"data:{gap}{json.dumps(event, ensure_ascii=False)}{end}{end}" for event in events]
    return "".join(lines).encode()


def test_work_on_a_streamed_block_grows_with_its_deltas() -> None:
    page = {"type": "web_search_result_location", "url": "https://a.example/", "title": "A", "cited_text": "text"}
    cited = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": page}}

    def read(count: int) -> None:
        answer = answer_of("anthropic", sse(START, TEXT, *[said("a"), cited] * count, STOP, END, LAST))
        assert (answer.text, len(answer.citations)) == ("a" * count, count)

    assert growth(read, 400, 800) < 2.2


WHOLE = sse(START, TEXT, said("Größe "), said("🐻 zählt"), STOP, END, LAST)


@pytest.mark.parametrize(
    "data",
    [
        WHOLE,
        WHOLE.replace(b"\n", b"\r\n"),
        WHOLE.replace(b"\n", b"\r"),
        WHOLE.rstrip(b"\n"),
        b"\xef\xbb\xbf" + WHOLE,
        b"\n\n" + WHOLE,
        b": PROCESSING\n\n" + WHOLE.replace(b"\n\n", b"\n: ping\n\n"),
        b"retry: 3000\nid: 7\n\n" + WHOLE,
        WHOLE.replace(b"data: ", b"data:"),
        WHOLE.replace(b'{"type"', b'{\ndata: "type"'),
        WHOLE.replace(b"\n\n", b"\n") + b"\n",
        WHOLE + b"data: [DONE]\n\n",
        WHOLE.replace(b"data: ", b"event: message\ndata: "),
        sse({"type": "tomorrow", "x": 1}) + WHOLE,
        WHOLE + b"data: not json\n\nevent: only a name\n\ndata\n\n",
    ],
)
def test_odd_framing_says_the_same(data: bytes) -> None:
    answer = answer_in("anthropic", [data])
    assert answer_in("anthropic", bytewise(data)) == answer
    answer = answer_of("anthropic", data)
    assert (answer.text, answer.error, answer.finish) == ("Größe 🐻 zählt", None, "end")
    assert answer.turn == ({"role": "assistant", "content": [{"type": "text", "text": "Größe 🐻 zählt"}]},)


@pytest.mark.parametrize("events", range(2, 5))
def test_a_stream_that_is_cut_off_keeps_what_had_come_and_says_so(events: int) -> None:
    sent: list[dict[str, Any]] = [START, TEXT, said("Größe "), said("🐻 zählt")]
    data = sse(*sent[:events])
    answer = answer_of("anthropic", data)
    assert answer.text == ["", "Größe ", "Größe 🐻 zählt"][events - 2]
    assert answer.error is not None
    assert (answer.error.code, answer.error.outcome, answer.finish) == ("stream_ended_early", "network", "failed")
    assert f"{len(answer.text)} characters of it had arrived" in answer.error.message
    assert answer.model == "claude"


def test_a_stream_cut_off_in_mid_event_keeps_what_had_come() -> None:
    data = sse(START, TEXT, said("Größe "), said("🐻 zählt"))
    for cut in range(len(data) - 60, len(data) - 2):
        answer = answer_of("anthropic", data[:cut])
        assert answer.text in {"Größe ", "Größe 🐻 zählt"}
        assert answer.error is not None


def test_a_stream_cut_off_in_its_first_event_says_so() -> None:
    data = sse({"candidates": [{"content": {"parts": [{"text": "So far"}]}}]})
    for cut in range(7, len(data) - 3):
        for pieces in ([data[:cut]], bytewise(data[:cut])):
            answer = answer_in("gemini", pieces)
            assert answer.error is not None
            assert (answer.text, answer.error.code) == ("", "stream_ended_early")


@pytest.mark.parametrize(
    ("api", "data"),
    [
        ("openai_responses", sse({"type": "response.output_text.delta", "output_index": 1, "delta": "So far"})),
        ("openai_chat", sse({"choices": [{"index": 0, "delta": {"content": "So far"}}]})),
        ("gemini", sse({"candidates": [{"content": {"parts": [{"text": "So far"}]}}]})),
        (
            "gemini_interactions",
            sse({"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "So far"}}),
        ),
        ("mistral", sse({"type": "message.output.delta", "output_index": 0, "content": "So far"})),
    ],
)
def test_every_apis_streams_may_be_cut_off(api: Any, data: bytes) -> None:
    answer = answer_in(api, [data])
    assert answer.text == "So far"
    assert answer.error is not None
    assert answer.error.code == "stream_ended_early"


@pytest.mark.parametrize(
    ("api", "data", "code", "outcome"),
    [
        (
            "anthropic",
            b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}\n\n',
            "overloaded_error",
            "unavailable",
        ),
        (
            "openai_responses",
            sse({"type": "error", "code": "server_error", "message": "m"}),
            "server_error",
            "unavailable",
        ),
        (
            "openai_responses",
            sse(
                {"type": "response.failed", "response": {"status": "failed", "error": {"code": "rate_limit_exceeded"}}}
            ),
            "rate_limit_exceeded",
            "rate_limited",
        ),
        ("openai_chat", sse({"error": {"message": "m", "type": "server_error"}}), "server_error", "unavailable"),
        (
            "openrouter",
            sse(
                {
                    "error": {"code": 502, "message": "m"},
                    "choices": [{"delta": {"content": ""}, "finish_reason": "error"}],
                }
            ),
            "502",
            "unavailable",
        ),
        ("gemini", sse({"error": {"code": 500, "status": "INTERNAL"}}), "INTERNAL", "unavailable"),
        ("mistral", sse({"type": "conversation.response.error", "message": "m", "code": 3}), "3", "unavailable"),
        ("gemini_interactions", sse({"event_type": "error", "error": {"code": "internal"}}), "internal", "unavailable"),
        ("groq", b"event: error\ndata: upstream failed\n\n", "error", "unavailable"),
    ],
)
def test_errors_in_a_stream_end_it_and_keep_what_had_come(api: Any, data: bytes, code: str, outcome: str) -> None:
    answer = answer_of(api, data)
    assert answer.error is not None
    assert (answer.error.code, answer.error.outcome, len(answer.errors)) == (code, outcome, 1)
    assert answer.finish == "failed"


def test_an_error_behind_text_keeps_the_text() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    answer = answer_in("anthropic", [sse(START, TEXT, said("So far"), error)])
    assert answer.text == "So far"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "an empty body"),
        (b"<html></html>", "a web page"),
        (b": keep-alive\n\n", "a stream without events"),
        (b"Bad gateway", "a stream without events"),
    ],
)
def test_what_is_no_stream_is_named(data: bytes, says: str) -> None:
    for pieces in ([data], bytewise(data)):
        with pytest.raises(UnexpectedResponse, match=f"groq: answered with {says} instead of an answer"):
            answer_in("groq", pieces)


def test_a_body_that_is_no_stream_is_read_as_one() -> None:
    body = {"type": "message", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}
    answer = answer_in("anthropic", bytewise(json.dumps(body).encode()))
    assert answer.text == "Hi"


def test_a_stream_is_used_once() -> None:
    stream = AnswerStream("anthropic")
    with pytest.raises(InvalidRequest, match="is not closed yet"):
        _ = stream.answer
    stream.feed(WHOLE)
    stream.close()
    assert stream.close() == []
    with pytest.raises(InvalidRequest, match="is closed"):
        stream.feed(b"x")


@pytest.mark.parametrize(
    ("data", "events"),
    [
        (b"data: a\r\ndata: b\r\n\r\n", [("", "a\nb")]),
        (b"data: a\rdata: b\r\rdata: c\r\r", [("", "a\nb"), ("", "c")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        (b"event: x\ndata:a\n\ndata:  b\n\n", [("x", "a"), ("", " b")]),
        (b"data\ndata\n\n", [("", "\n")]),
        (b": comment\nid: 1\nretry: 5\nunknown: x\n\n", []),
        (b"event: x\n\ndata: a", [("", "a")]),
        ("data: Größe 🐻\n\n".encode(), [("", "Größe 🐻")]),
        (b"data: \xff\xfe\n\n", [("", "\ufffd\ufffd")]),
    ],
)
def test_framing_is_that_of_the_standard(data: bytes, events: list[tuple[str, str]]) -> None:
    for pieces in ([data], list(bytewise(data))):
        decoder = EventDecoder()
        found = [event for piece in pieces for event in decoder.feed(piece)] + list(decoder.close())
        assert [(event.name, event.data) for event in found] == events


def test_done_ends_a_chat_that_gives_no_reason() -> None:
    data = sse({"choices": [{"index": 0, "delta": {"content": "Hi"}}]}) + b"data: [DONE]\n\n"
    assert answer_of("groq", data).error is None


def test_an_interaction_that_only_began_is_cut_off() -> None:
    data = sse({"event_type": "interaction.created", "interaction": {"status": "in_progress", "model": "m"}})
    answer = answer_of("gemini_interactions", data)
    assert answer.error is not None
    assert (answer.error.code, answer.model) == ("stream_ended_early", "m")


def test_one_event_has_a_bound() -> None:
    decoder = EventDecoder(max_bytes=100)
    with pytest.raises(TooLarge):
        list(decoder.feed(b"data: " + b"x" * 200))
    decoder = EventDecoder(max_bytes=100)
    assert [list(decoder.feed(b"data: 0123456789\n")) for _ in range(9)] == [[]] * 9
    with pytest.raises(TooLarge):
        list(decoder.feed(b"data: 0123456789\ndata: 0123456789\n"))


def _gemini(pieces: int) -> list[dict[str, Any]]:
    part = {"content": {"parts": [{"text": "αβγ "}]}}
    return [{"candidates": [part]}] * pieces + [{"candidates": [{"finishReason": "STOP"}]}]


def _interaction(pieces: int) -> list[dict[str, Any]]:
    delta = {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "αβγ "}}
    end = {"event_type": "interaction.completed", "interaction": {"status": "completed"}}
    return [{"event_type": "step.start", "index": 0, "step": {"type": "model_output"}}, *[delta] * pieces, end]


def _arguments(pieces: int) -> list[dict[str, Any]]:
    call = {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "αβγ "}}
    more = {"index": 0, "function": {"arguments": "αβγ "}}
    deltas = [{"tool_calls": [call]}, *[{"tool_calls": [more]}] * (pieces - 1)]
    return [{"choices": [{"delta": delta}]} for delta in deltas] + [{"choices": [{"finish_reason": "tool_calls"}]}]


def _longest_text(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return max(map(_longest_text, value.values()), default=0)
    if isinstance(value, (list, tuple)):
        return max(map(_longest_text, value), default=0)
    return _longest_text(vars(value)) if hasattr(value, "__dict__") else 0


@pytest.mark.parametrize(
    ("api", "events"),
    [
        ("gemini", _gemini),
        ("gemini_interactions", _interaction),
        ("openai_chat", _arguments),
    ],
)
def test_pieces_of_a_text_are_joined_once(api: Any, events: Callable[[int], list[dict[str, Any]]]) -> None:
    """Joining each piece with all before it would take quadratic time."""
    stream = AnswerStream(api)
    for event in events(200)[:-1]:
        stream.event(event)
        assert _longest_text(stream) < 100
    stream.event(events(200)[-1])
    stream.close()
    assert "αβγ " * 200 in json.dumps(stream.answer.turn, ensure_ascii=False)


def test_an_empty_text_of_a_stream_is_in_its_turn_as_in_that_of_a_whole_answer() -> None:
    stream = AnswerStream("deepseek")
    stream.event({"choices": [{"delta": {"role": "assistant", "content": "Yes.", "reasoning_content": ""}}]})
    stream.event({"choices": [{"delta": {"refusal": None}, "finish_reason": "stop"}]})
    stream.close()
    message = {"role": "assistant", "content": "Yes.", "reasoning_content": ""}
    assert stream.answer.turn == (message,)
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    assert stream.answer.turn == read_answer("deepseek", body).turn


def test_a_streamed_compaction_is_whole_in_the_turn_and_pauses_it() -> None:
    stream = AnswerStream("anthropic")
    stream.event({"type": "content_block_start", "index": 0, "content_block": {"type": "compaction", "content": None}})
    delta = {"type": "compaction_delta", "content": "So far: cats.", "encrypted_content": "opaque"}
    stream.event({"type": "content_block_delta", "index": 0, "delta": delta})
    stream.event({"type": "content_block_stop", "index": 0})
    stream.event({"type": "message_delta", "delta": {"stop_reason": "compaction"}})
    stream.close()
    assert stream.answer.turn == ({"role": "assistant", "content": [{**delta, "type": "compaction"}]},)
    assert stream.answer.finish == "pause"


@pytest.mark.parametrize("name", ["tool_calls", "executed_tools", "reasoning_details"])
def test_objects_that_are_nested_deeply_are_taken_as_they_are(name: str) -> None:
    deep: dict[str, Any] = {}
    for _ in range(2_000):  # more than Python's own functions may call one another
        deep = {"a": deep}
    stream = AnswerStream("openai_chat")
    for arguments in ("{", "}"):
        call = {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": arguments}, "extra": deep}
        stream.event({"choices": [{"delta": {"content": "", name: [call]}}]})
    stream.event({"choices": [{"finish_reason": "stop"}]})
    stream.close()
    ((merged,),) = (message[name] for message in stream.answer.turn)
    levels, inner = 0, merged["extra"]
    while inner:
        levels, inner = levels + 1, inner["a"]
    assert levels == 2_000
    assert merged["function"]["arguments"] == ("{}" if name == "tool_calls" else "}")


@given(
    st.lists(st.tuples(st.sampled_from(["\n", "\r", "\r\n"]), st.text(max_size=8).filter(lambda one: "\n" not in one))),
    st.data(),
)
def test_events_do_not_depend_on_how_the_bytes_are_cut(lines: list[tuple[str, str]], data: st.DataObject) -> None:
    stream = b"".join(f"data: {text}{end}".encode() + (b"\n" if len(text) % 2 else b"") for end, text in lines)
    whole = EventDecoder()
    expected = [*whole.feed(stream), *whole.close()]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    pieces = [stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    decoder = EventDecoder()
    found = [event for piece in pieces for event in decoder.feed(piece)]
    assert [*found, *decoder.close()] == expected
    assert all(isinstance(one, ServerSentEvent) for one in expected)
