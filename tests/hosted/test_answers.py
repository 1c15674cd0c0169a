"""Forms of answers that no recording shows, and what goes wrong inside answers and instead of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.answers import answer_in, answer_of
from components.streaming import streamed
from groundwire.errors import InvalidRequest, UnexpectedResponse
from groundwire.hosted.answers import AnswerStream, HostedAnswer, HostedCall, read_answer
from groundwire.hosted.answers.answer_builder import ByteSpans
from groundwire.hosted.answers.types import clean_url
from groundwire.hosted.answers.upstream_errors import outcome_of

URL = "https://a.example/x"

MISTRAL: dict[str, Any] = {
    "conversation_id": "conv_1",
    "object": "conversation.response",
    "outputs": [
        {
            "type": "tool.execution",
            "object": "entry",
            "id": "t1",
            "name": "web_search",
            "arguments": '{"query": "größte Stadt"}',
            "info": None,
        },
        {
            "type": "message.output",
            "object": "entry",
            "id": "m1",
            "model": "mistral-medium-latest",
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Berlin 🐻 is the largest city"},
                {"type": "tool_reference", "tool": "web_search", "title": "A", "url": URL, "favicon": None},
                {"type": "tool_reference", "tool": "web_search", "title": "B", "url": "https://b.example/"},
                {"type": "text", "text": " of Germany."},
            ],
        },
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 7, "connector_tokens": 3, "connectors": {"web_search": 2}},
}

CONVERSE: dict[str, Any] = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "look it up", "signature": "opaque"}}},
                {
                    "toolUse": {
                        "toolUseId": "u1",
                        "name": "nova_grounding",
                        "type": "server_tool_use",
                        "input": {"query": "q"},
                    }
                },
                {
                    "toolResult": {
                        "toolUseId": "u1",
                        "type": "nova_grounding_result",
                        "status": "success",
                        "content": [{"text": "[HIDDEN]"}],
                    }
                },
                {"text": "It is "},
                {
                    "citationsContent": {
                        "content": [{"text": "4.0.6"}],
                        "citations": [
                            {"title": "A", "location": {"web": {"url": URL}}, "sourceContent": [{"text": "4.0.6 is"}]}
                        ],
                    }
                },
                {"text": "."},
            ],
        }
    },
    "stopReason": "end_turn",
    "usage": {"inputTokens": 5, "outputTokens": 9, "cacheReadInputTokens": 2},
}


@pytest.mark.req("B7")
def test_mistral_tells_queries_and_references_in_the_order_of_its_chunks() -> None:
    answer = read_answer("mistral", MISTRAL)
    assert answer.text == "Berlin 🐻 is the largest city of Germany."
    assert answer.queries == ("größte Stadt",)
    assert [(one.url, one.title, one.start, one.position) for one in answer.citations] == [
        (URL, "A", None, 28),
        ("https://b.example/", "B", None, 28),
    ]
    assert (answer.sources_from, answer.usage.searches, answer.usage.input_tokens) == ("citations", 2, 13)
    assert list(answer.turn) == MISTRAL["outputs"]
    assert read_answer("mistral", MISTRAL | {"usage": None}).usage.searches == 1


@pytest.mark.req("B7")
def test_a_stream_of_mistral_gives_the_same_as_its_whole_body() -> None:
    data = streamed("mistral", MISTRAL, 3)
    answer = answer_in("mistral", [data])
    assert answer == answer_in("mistral", (data[place : place + 1] for place in range(len(data))))
    made, whole = answer_of("mistral", data), read_answer("mistral", MISTRAL)
    assert (made.text, made.citations, made.queries, made.usage) == (
        whole.text,
        whole.citations,
        whole.queries,
        whole.usage,
    )
    assert [one["type"] for one in made.turn] == ["tool.execution", "message.output"]
    assert made.turn[1]["content"] == MISTRAL["outputs"][1]["content"]


@pytest.mark.req("B7")
def test_a_chat_of_mistral_may_mix_text_and_references() -> None:
    content = MISTRAL["outputs"][1]["content"]
    body = {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": content}}]}
    answer = read_answer("mistral", body)
    assert answer.text == "Berlin 🐻 is the largest city of Germany."
    assert [one.url for one in answer.citations] == [URL, "https://b.example/"]


@pytest.mark.req("B7")
def test_bedrock_cites_blocks() -> None:
    whole = read_answer("bedrock", CONVERSE)
    assert (whole.text, whole.queries, whole.usage.input_tokens) == ("It is 4.0.6.", ("q",), 7)
    [cited] = whole.citations
    assert (cited.start, cited.end, cited.covers, cited.cited_text) == (6, 11, "block", "4.0.6 is")


@pytest.mark.req("B7")
def test_a_stream_of_bedrock_is_refused_with_what_is_read() -> None:
    with pytest.raises(UnexpectedResponse, match="Call converse with boto3"):
        AnswerStream("bedrock").feed(b"\0\0\0\x7b\0\0\0\x4b")
    with pytest.raises(UnexpectedResponse, match="Call converse, and pass its response"):
        AnswerStream("bedrock").event({"messageStart": {"role": "assistant"}})


def test_a_citation_of_bedrock_without_words_belongs_where_it_came() -> None:
    web = {"citationsContent": {"citations": [{"location": {"web": {"url": URL, "domain": "a.example"}}}]}}
    message = {"role": "assistant", "content": [{"text": "Claim"}, web, {"text": "."}]}
    [cited] = read_answer("bedrock", {"output": {"message": message}, "stopReason": "end_turn"}).citations
    assert (cited.start, cited.end, cited.position, cited.covers) == (None, None, 5, "nothing")


@pytest.mark.req("B7")
def test_venices_raised_marks_count_from_one() -> None:
    rows = [{"url": f"https://{name}.example/", "title": name} for name in "ab"]
    text = "Claim^1,2^, more^2^, and 2^8^ is none, nor ^3^."
    body = {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "venice_parameters": {"web_search_citations": rows},
    }
    found = [(text[one.start : one.end], one.title) for one in read_answer("venice", body).citations]
    assert found == [("^1,2^", "a"), ("^1,2^", "b"), ("^2^", "b")]


@pytest.mark.req("B7")
@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("They borrow.^1,2", ["^1,2", "^1,2"]),
        ("They borrow^1, 2\n", ["^1, 2", "^1, 2"]),
        ("They borrow.^2", ["^2"]),
        ("It is mc^2", []),
        ("It is 10^2", []),
        ("It is (a + b)^2", []),
        ("Not ^1,2 within", []),
    ],
)
def test_venices_last_mark_may_lack_its_end(text: str, marks: list[str]) -> None:
    rows = [{"url": f"https://{name}.example/", "title": name} for name in "ab"]
    body = {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "venice_parameters": {"web_search_citations": rows},
    }
    assert [text[one.start : one.end] for one in read_answer("venice", body).citations] == marks


def test_annotations_name_the_pages_of_a_bare_list() -> None:
    note = {"type": "url_citation", "url_citation": {"url": URL, "title": "A", "start_index": 0, "end_index": 3}}
    message = {"role": "assistant", "content": "Yes.", "annotations": [note]}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "citations": [URL, "https://b.example/"]}
    assert [(one.url, one.title) for one in read_answer("openrouter", body).sources] == [
        (URL, "A"),
        ("https://b.example/", ""),
    ]


def test_venices_marks_point_to_its_sources() -> None:
    rows = [
        {"title": "A", "url": URL, "content": "c", "date": "2026-11-01"},
        {"title": "B", "url": "https://b.example/"},
    ]
    text = "Claim[REF]1[/REF], more[REF]0, 1[/REF], none[REF]7[/REF]"
    body = {
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "venice_parameters": {"web_search_citations": rows},
    }
    answer = read_answer("venice", body)
    assert [one.title for one in answer.citations] == ["B", "A", "B"]
    assert answer.text[answer.citations[0].start : answer.citations[0].end] == "[REF]1[/REF]"
    assert (answer.sources[0].snippet, answer.sources[0].published) == ("c", "2026-11-01")


@pytest.mark.req("B7")
def test_citations_may_come_before_the_text_they_lie_in() -> None:
    note = {"type": "url_citation", "url_citation": {"url": URL, "title": "A", "start_index": 0, "end_index": 5}}
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"annotations": [note]}}]},
        {"choices": [{"index": 0, "delta": {"content": "claim"}, "finish_reason": "stop"}]},
    ]
    data = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    [cited] = answer_of("openai_chat", data).citations
    assert (cited.start, cited.end, cited.covers) == (0, 5, "link")


def test_spans_that_are_none_are_none() -> None:
    for start, end in ((0, 0), (5, 2), (-1, 3), (0, 99), ("0", "3"), (None, 3), (True, 3)):
        note = {"type": "url_citation", "url": URL, "start_index": start, "end_index": end}
        part = {"type": "output_text", "text": "claim", "annotations": [note]}
        body = {"object": "response", "output": [{"type": "message", "content": [part]}]}
        [cited] = read_answer("openai_responses", body).citations
        assert (cited.start, cited.end, cited.covers) == (None, None, "nothing")


def test_gemini_finds_words_where_the_bytes_have_drifted() -> None:
    text = "Größe zählt. Größe zählt nicht. Ende."
    spans = ByteSpans(text)
    assert spans.span(16, 35, "Größe zählt nicht.") == (13, 31)  # right as sent
    assert spans.span(13, 31, "Größe zählt nicht.") == (13, 31)  # characters where bytes belong
    assert spans.span(None, 9, "Größe zählt") == (0, 11)  # both would do; the nearest wins
    assert spans.span(40, 50, "Größe zählt") == (13, 24)
    assert spans.span(12, 24, "Größe zählt") == (13, 24)
    assert spans.span(6, 24, "Größe zählt") == (0, 11)
    assert spans.span(0, 7, "") == (0, 5)  # no words to look for
    assert spans.span(0, 700, "") is None
    assert spans.span(2, 9, "not in it") == (2, 7)
    assert ByteSpans("plain", 10).span(1, 3, "") == (11, 13)


@pytest.mark.parametrize(
    ("sent", "clean"),
    [
        ("https://a.example/?utm_source=openai", "https://a.example/"),
        ("https://a.example/?utm_source=chatgpt.com&a=1#f", "https://a.example/?a=1#f"),
        ("https://a.example/?a=1&utm_source=OpenAI#f", "https://a.example/?a=1#f"),
        ("https://a.example/?a=1&utm_source=openai&b=2", "https://a.example/?a=1&b=2"),
        ("https://a.example/?utm_source=newsletter", "https://a.example/?utm_source=newsletter"),
        ("https://a.example/?x=utm_source=openai", "https://a.example/?x=utm_source=openai"),
        ("https://a.example/?utm_source=openaix", "https://a.example/?utm_source=openaix"),
        ("https://a.example/#?utm_source=openai", "https://a.example/#?utm_source=openai"),
        (None, ""),
    ],
)
def test_the_mark_of_an_assistant_goes_and_nothing_else(sent: object, clean: str) -> None:
    assert clean_url(sent) == clean


HTTP_ERRORS: list[tuple[str, int, dict[str, Any], str, str]] = [
    (
        "anthropic",
        429,
        {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}},
        "rate_limit_error",
        "rate_limited",
    ),
    (
        "anthropic",
        529,
        {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
        "overloaded_error",
        "unavailable",
    ),
    (
        "openai_responses",
        429,
        {"error": {"code": "insufficient_quota", "type": "insufficient_quota"}},
        "insufficient_quota",
        "quota",
    ),
    (
        "openai_chat",
        401,
        {"error": {"code": "invalid_api_key", "message": "Incorrect API key: sk-abcdefgh"}},
        "invalid_api_key",
        "auth",
    ),
    (
        "gemini",
        400,
        {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "m"}},
        "INVALID_ARGUMENT",
        "bad_request",
    ),
    ("gemini", 503, {"error": {"code": 503, "status": "UNAVAILABLE"}}, "UNAVAILABLE", "unavailable"),
    (
        "xai",
        400,
        {"code": "Client specified an invalid argument", "error": "No."},
        "Client specified an invalid argument",
        "bad_request",
    ),
    ("mistral", 422, {"detail": [{"loc": ["body"], "msg": "Field required"}]}, "http_422", "bad_request"),
    (
        "mistral",
        401,
        {"object": "error", "message": "Unauthorized", "type": "unauthorized", "code": None},
        "unauthorized",
        "auth",
    ),
    ("bedrock", 429, {"message": "Too many tokens"}, "http_429", "rate_limited"),
    ("openrouter", 502, {"error": {"code": 502, "message": "upstream"}}, "502", "unavailable"),
    ("groq", 413, {"error": {"message": "m", "code": "request_too_large"}}, "request_too_large", "bad_request"),
]


@pytest.mark.parametrize(("api", "status", "body", "code", "outcome"), HTTP_ERRORS)
def test_http_errors_have_one_shape(api: str, status: int, body: dict[str, Any], code: str, outcome: str) -> None:
    answer = read_answer(api, body, status=status, headers={"Retry-After": "7"})
    assert answer.error is not None
    assert (answer.error.code, answer.error.outcome, answer.error.status) == (code, outcome, status)
    assert (answer.error.retry_after, answer.error.tool, answer.finish) == (7.0, "", "failed")
    assert answer.turn == ()
    assert "abcdefgh" not in answer.error.message
    assert read_answer(api, [body], status=status).error == read_answer(api, body, status=status).error
    # A server that is asked for a stream answers with plain JSON all the same.
    assert answer_of(api, json.dumps(body).encode(), status).error == read_answer(api, body, status=status).error


ANTHROPIC_CODES = {
    "invalid_tool_input": "bad_request",
    "unavailable": "unavailable",
    "max_uses_exceeded": "quota",
    "too_many_requests": "rate_limited",
    "query_too_long": "bad_request",
    "request_too_large": "bad_request",
    "url_too_long": "bad_request",
    "url_not_allowed": "blocked",
    "url_not_in_prior_context": "bad_request",
    "url_not_accessible": "unavailable",
    "unsupported_content_type": "unsupported",
}


@pytest.mark.req("C1")
@pytest.mark.parametrize("code", ANTHROPIC_CODES)
def test_a_failed_search_stands_beside_a_good_answer(code: str) -> None:
    error = {"type": "web_search_tool_result_error", "error_code": code}
    content = [{"type": "web_search_tool_result", "content": error}, {"type": "text", "text": "Sorry."}]
    answer = read_answer("anthropic", {"type": "message", "content": content, "stop_reason": "end_turn"})
    assert answer.error is not None
    assert (answer.error.code, answer.error.tool, answer.error.outcome) == (code, "web_search", ANTHROPIC_CODES[code])
    assert (answer.text, answer.finish) == ("Sorry.", "end")


REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("anthropic", {"type": "message", "content": [], "stop_reason": "refusal"}, "refusal"),
    ("gemini", {"candidates": [{"finishReason": "SAFETY"}]}, "SAFETY"),
    ("gemini", {"candidates": [{"finishReason": "ESCALATION"}]}, "ESCALATION"),
    ("gemini", {"candidates": [{"finishReason": "PUP_LIMITED_DISABLED"}]}, "PUP_LIMITED_DISABLED"),
    ("gemini", {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "PROHIBITED_CONTENT"),
    ("openai_chat", {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}, "content_filter"),
    (
        "openai_responses",
        {"object": "response", "status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
        "content_filter",
    ),
    ("bedrock", {"output": {"message": {}}, "stopReason": "guardrail_intervened"}, "guardrail_intervened"),
]


@pytest.mark.parametrize(("api", "body", "code"), REFUSALS)
def test_filters_are_errors_of_one_shape(api: str, body: dict[str, Any], code: str) -> None:
    answer = read_answer(api, body)
    assert answer.error is not None
    assert (answer.error.code, answer.error.outcome, answer.finish) == (code, "blocked", "refused")


def test_a_response_that_failed_keeps_what_was_said() -> None:
    part = {"type": "output_text", "text": "So far"}
    body = {
        "object": "response",
        "status": "failed",
        "error": {"code": "server_error", "message": "m"},
        "output": [{"type": "message", "content": [part]}],
    }
    answer = read_answer("openai_responses", body)
    assert answer.error is not None
    assert (answer.text, answer.error.code, answer.error.outcome) == ("So far", "server_error", "unavailable")
    assert len(answer.errors) == 1


def test_running_out_of_tokens_is_no_error() -> None:
    body = {"object": "response", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    answer = read_answer("openai_responses", body)
    assert (answer.error, answer.stop_reason, answer.finish) == (None, "incomplete", "length")
    answer = read_answer("gemini", {"candidates": [{"finishReason": "CONTINUATION"}]})
    assert (answer.error, answer.finish) == (None, "length")


CALLS: list[tuple[str, dict[str, Any], HostedCall]] = [
    (
        "anthropic",
        {
            "type": "message",
            "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}],
            "stop_reason": "tool_use",
        },
        HostedCall(id="t", name="f", arguments={"a": 1}),
    ),
    (
        "openai_responses",
        {
            "object": "response",
            "status": "completed",
            "output": [{"type": "function_call", "call_id": "t", "name": "f", "arguments": "{}"}],
        },
        HostedCall(id="t", name="f", arguments="{}"),
    ),
    (
        "openai_chat",
        {
            "choices": [
                {
                    "message": {
                        "content": None,
                        "tool_calls": [
                            {"id": "t", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
                        ],
                    },
                    "finish_reason": "tool_calls",
                }
            ]
        },
        HostedCall(id="t", name="f", arguments='{"a": 1}'),
    ),
    (
        "gemini",
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                    "finishReason": "STOP",
                }
            ]
        },
        HostedCall(id="", name="f", arguments={}),
    ),
    (
        "gemini_interactions",
        {
            "status": "requires_action",
            "steps": [{"type": "function_call", "id": "t", "name": "f", "arguments": {"a": 1}}],
        },
        HostedCall(id="t", name="f", arguments={"a": 1}),
    ),
    (
        "bedrock",
        {
            "output": {
                "message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]}
            },
            "stopReason": "tool_use",
            "usage": {},
        },
        HostedCall(id="t", name="f", arguments={}),
    ),
]


@pytest.mark.parametrize(("api", "body", "call"), CALLS)
def test_calls_of_the_callers_functions_wait(api: str, body: dict[str, Any], call: HostedCall) -> None:
    answer = read_answer(api, body)
    assert (answer.calls, answer.finish) == ((call,), "tool_calls")
    if api == "bedrock":  # whose streams are not read
        return
    made = answer_of(api, streamed(api, body, 1))
    assert (made.calls, made.finish) == ((call,), "tool_calls")
    if api == "openai_chat":  # a stream begins with an empty text where a body has null
        assert made.turn[0]["tool_calls"] == answer.turn[0]["tool_calls"]
    else:
        assert made.turn == answer.turn


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<!doctype html><title>x</title>", "a web page"),
        (b"", "an empty body"),
        (b"upstream connect error", "something that is not JSON \\(upstream connect error\\)"),
        (b"42", "JSON that is 42"),
        (b"null", "something that is not JSON \\(null\\)"),
        (b"[]", "a list, which Gemini streams without alt=sse,"),
        (b"{}", "an empty object"),
        (b'{"hello": 1}', "JSON with the fields hello"),
        (b"data: {}\n\n", "an event stream, which AnswerStream reads,"),
        (b"[" * 200_000, rf"something that is not JSON \({re.escape('[' * 80)}\)"),
    ],
)
def test_what_is_no_answer_is_named(body: bytes, says: str) -> None:
    with pytest.raises(UnexpectedResponse, match=f"openai_chat: answered with {says} instead of an answer"):
        read_answer("openai_chat", body)


@pytest.mark.parametrize("body", [b"<html>502</html>", b"", b"Bad gateway", b"null", b"[]"])
def test_a_failed_request_is_an_error_whatever_its_body(body: bytes) -> None:
    answer = read_answer("xai", body, status=502, headers={"Retry-After": "3"})
    assert answer.error is not None
    assert (answer.error.code, answer.error.outcome, answer.error.retry_after) == ("http_502", "unavailable", 3.0)
    assert answer_of("xai", body, 502).error == read_answer("xai", body, status=502).error


def test_google_says_in_its_error_when_to_try_again() -> None:
    details = [{"@type": "x"}, {"retryDelay": "34.5s"}]
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}}
    error = read_answer("gemini", body, status=429).error
    assert error is not None
    assert (error.retry_after, error.outcome) == (34.5, "rate_limited")


def test_items_are_told_apart_without_their_index() -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "item": {"type": "web_search_call", "id": "ws"}},
        {
            "type": "response.output_item.done",
            "item": {"type": "web_search_call", "id": "ws", "action": {"type": "search", "query": "q"}},
        },
        {"type": "response.output_item.added", "item": {"type": "message", "id": "m", "content": []}},
        {"type": "response.output_text.delta", "item_id": "m", "delta": "Hi"},
        {
            "type": "response.output_item.done",
            "item": {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Hi"}]},
        },
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ]
    data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    answer = answer_of("xai", data)
    assert (answer.text, answer.queries, answer.error) == ("Hi", ("q",), None)
    assert [one["id"] for one in answer.turn] == ["ws", "m"]


def test_the_last_event_of_a_response_may_tell_more() -> None:
    note = {"type": "url_citation", "url": URL, "title": "A", "start_index": 0, "end_index": 2}
    other = {**note, "url": "https://b.example/"}
    search: dict[str, Any] = {"type": "web_search_call", "id": "ws", "action": {"type": "search", "query": "q"}}
    sources = {**search["action"], "sources": [{"type": "url", "url": URL}]}

    def message(*notes: Any) -> dict[str, Any]:
        return {"type": "message", "content": [{"type": "output_text", "text": "Hi", "annotations": list(notes)}]}

    whole = {
        "object": "response",
        "status": "completed",
        "output": [{**search, "action": sources}, message(note, other)],
    }
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.done", "output_index": 0, "item": search},
        {"type": "response.output_item.done", "output_index": 1, "item": message(note)},
        {"type": "response.completed", "response": whole},
    ]
    data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    answer_in("openai_responses", [data])
    assert answer_of("openai_responses", data) == read_answer("openai_responses", whole)


def test_an_unknown_api_is_named() -> None:
    with pytest.raises(InvalidRequest, match=r"api: cannot be 'closedai'\. Pass one of: anthropic, bedrock"):
        read_answer("closedai", {})
    with pytest.raises(InvalidRequest):
        AnswerStream("closedai")


def test_geminis_citations_of_an_image_are_of_its_page() -> None:
    image = {"sourceUri": URL, "imageUri": "https://b.example/cat.png", "title": "Cats", "domain": "a.example"}
    support = {"segment": {"endIndex": 3, "text": "One"}, "groundingChunkIndices": [0]}
    grounding = {"groundingChunks": [{"image": image}], "groundingSupports": [support]}
    candidate = {"content": {"parts": [{"text": "One"}]}, "finishReason": "STOP", "groundingMetadata": grounding}
    answer = read_answer("gemini", {"candidates": [candidate]})
    assert [(source.url, source.title) for source in answer.sources] == [(URL, "Cats")]
    assert [(cited.url, cited.start, cited.end) for cited in answer.citations] == [(URL, 0, 3)]


@pytest.mark.req("B7")
def test_gemini_may_repeat_its_sources_while_it_streams() -> None:
    def chunk(uri: str) -> dict[str, Any]:
        return {"web": {"uri": uri, "title": "a.example"}}

    def piece(text: str, chunks: list[Any], supports: list[Any]) -> bytes:
        metadata = {"groundingChunks": chunks, "groundingSupports": supports}
        content = {"parts": [{"text": text}], "role": "model"}
        event = {"candidates": [{"content": content, "finishReason": "STOP", "groundingMetadata": metadata}]}
        return b"data: " + json.dumps(event).encode() + b"\r\n\r\n"

    one = {"segment": {"endIndex": 3, "text": "One"}, "groundingChunkIndices": [0]}
    two = {"segment": {"startIndex": 4, "endIndex": 7, "text": "two"}, "groundingChunkIndices": [1]}
    again = {"segment": {"startIndex": 4, "endIndex": 7, "text": "two"}, "groundingChunkIndices": [0]}
    a, b = chunk(URL), chunk("https://b.example/")
    growing = answer_of("gemini", piece("One ", [a], [one]) + piece("two", [a, b], [one, two]))
    apart = answer_of("gemini", piece("One ", [a], [one]) + piece("two", [b], [again]))
    for answer in (growing, apart):
        assert [(cited.url, cited.start, cited.end) for cited in answer.citations] == [
            (URL, 0, 3),
            ("https://b.example/", 4, 7),
        ]


def test_codes_that_nobody_knows_are_judged_by_the_status() -> None:
    assert outcome_of("weird", 500) == "unavailable"
    assert outcome_of("weird", 418) == "bad_request"
    assert outcome_of("weird") == "unavailable"
    assert outcome_of("content_filter", 400) == "blocked"
    assert outcome_of("weird", 429) == "rate_limited"


def test_half_a_surrogate_pair_does_not_spread() -> None:
    body = {"type": "message", "content": [{"type": "text", "text": "a\ud800b"}], "stop_reason": "end_turn"}
    answer: HostedAnswer = read_answer("anthropic", json.dumps(body))
    assert answer.text == "a\ufffdb"
    assert answer.turn[0]["content"] == [{"type": "text", "text": "a\ud800b"}]


def agent_search(*rows: tuple[int, str], **more: object) -> dict[str, object]:
    results = [{"id": number, "url": url, "title": url[-1].upper(), "snippet": "S"} for number, url in rows]
    return {"type": "search_results", "queries": ["x"], "results": results, **more}


def agent_says(text: str, *notes: object) -> dict[str, object]:
    part = {"type": "output_text", "text": text, "annotations": list(notes)}
    return {"type": "message", "role": "assistant", "content": [part]}


def test_openrouters_own_tools_are_searches_and_fetches() -> None:
    action = {"type": "search", "query": "cats", "sources": [{"type": "url", "url": URL}]}
    output = [
        {"type": "openrouter:web_search", "status": "completed", "action": action},
        {"type": "openrouter:web_search", "status": "failed", "error": "no engine"},
        {"type": "openrouter:web_fetch", "status": "completed", "url": "https://b.example/", "title": "B"},
        {"type": "openrouter:web_fetch", "status": "completed", "url": "https://c.example/", "error": "HTTP 404"},
    ]
    answer = read_answer("openrouter", {"object": "response", "status": "completed", "output": output})
    assert answer.queries == ("cats",)
    assert [(source.url, source.title) for source in answer.sources] == [(URL, ""), ("https://b.example/", "B")]
    assert answer.opened == ("https://b.example/",)
    assert [(error.tool, error.message) for error in answer.errors] == [
        ("web_search", "no engine"),
        ("web_fetch", "HTTP 404"),
    ]


def test_perplexitys_marks_name_the_ids_of_its_results() -> None:
    rows = agent_search((4, "https://x.test/a"), (5, "https://x.test/b"))
    body = {
        "object": "response",
        "status": "completed",
        "output": [rows, agent_says("One [5], two [web:4], none [1].")],
    }
    answer = read_answer("perplexity", body)
    assert [(answer.text[one.start : one.end], one.url) for one in answer.citations] == [
        ("[5]", "https://x.test/b"),
        ("[web:4]", "https://x.test/a"),
    ]


def test_a_number_that_two_pages_of_perplexity_share_cites_neither() -> None:
    output = [
        agent_search((1, "https://x.test/a"), (2, "https://x.test/b")),
        agent_search((1, "https://x.test/c"), (2, "https://x.test/b")),
        agent_says("One [1], two [2]."),
    ]
    body = {"object": "response", "status": "completed", "output": output}
    assert [one.url for one in read_answer("perplexity", body).citations] == ["https://x.test/b"]


def test_perplexitys_annotations_go_before_its_marks() -> None:
    note = {"type": "url_citation", "url": "https://x.test/n", "title": "N", "start_index": 0, "end_index": 3}
    output = [agent_search((1, "https://x.test/a")), agent_says("One [1].", note)]
    body = {"object": "response", "status": "completed", "output": output}
    assert [one.url for one in read_answer("perplexity", body).citations] == ["https://x.test/n"]


def test_a_search_of_perplexity_that_was_cut_off_is_no_call_of_the_caller() -> None:
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "search_web", "arguments": "{}"}
    found = agent_search((1, "https://x.test/a"), type="response.reasoning.search_results", call_id="c")
    begun = {"type": "response.output_item.added", "output_index": 0, "item": call}
    mine = {**call, "id": "g", "call_id": "d", "name": "mine"}
    done = {"type": "response.output_item.done", "output_index": 1, "item": mine}
    cases: list[tuple[str, list[str]]] = [("perplexity", ["mine"]), ("openai_responses", ["search_web", "mine"])]
    for api, calls in cases:
        stream = AnswerStream(api)
        for event in (begun, found, done):
            stream.feed(f"data: {json.dumps(event)}\n\n".encode())
        stream.close()
        assert [one.name for one in stream.answer.calls] == calls
        assert [one.url for one in stream.answer.sources] == ["https://x.test/a"]


def test_rows_without_an_address_count_in_the_marks_of_zai() -> None:
    rows = [{"title": "No link", "link": ""}, {"title": "B", "link": "https://x.test/b", "publish_date": "2026-01-02"}]
    message = {"role": "assistant", "content": "One [ref_1], two [ref_2], three [ref_3], 2 [2]."}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "web_search": rows}
    answer = read_answer("zai", body)
    assert [(answer.text[one.start : one.end], one.url) for one in answer.citations] == [
        ("[ref_2]", "https://x.test/b")
    ]
    assert [(one.url, one.published) for one in answer.sources] == [("https://x.test/b", "2026-01-02")]


@given(
    st.lists(st.tuples(st.text("aß€😀 \n", max_size=12), st.booleans()), min_size=1, max_size=4),
    st.data(),
)
def test_geminis_bytes_of_a_part_are_found_behind_thoughts_and_other_letters(
    made: list[tuple[str, bool]], data: st.DataObject
) -> None:
    made = [*made, ("so ß so 😀 so", False)]
    parts = [{"text": text, **({"thought": True} if thought else {})} for text, thought in made]
    index = data.draw(st.sampled_from([at for at, (text, thought) in enumerate(made) if text and not thought]))
    text = made[index][0]
    start = data.draw(st.integers(0, len(text) - 1))
    words = text[start : data.draw(st.integers(start + 1, len(text)))]
    first = len(text[:start].encode())
    segment: dict[str, Any] = {"partIndex": index, "startIndex": first, "endIndex": first + len(words.encode())}
    segment |= {"text": words} if data.draw(st.booleans()) else {}
    grounding = {
        "groundingChunks": [{"web": {"uri": "https://x.test/", "title": "X"}}],
        "groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]}],
    }
    candidate = {"content": {"parts": parts}, "finishReason": "STOP", "groundingMetadata": grounding}
    [cite] = read_answer("gemini", {"candidates": [candidate]}).citations
    begins = sum(len(text) for text, thought in made[:index] if not thought)
    assert (cite.start, cite.end) == (begins + start, begins + start + len(words))
