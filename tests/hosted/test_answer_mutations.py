"""Answers with fields dropped, nulled and of other types: they read as less, and nothing breaks."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from components.answers import answer_in
from components.data_sets import RECORDINGS
from components.examples import examples
from components.hosted import HostedRecording, facts, hosted, read
from groundwire.errors import UnexpectedResponse
from groundwire.hosted.answers import AnswerStream, HostedAnswer, audit, read_answer

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    1.5,
    10**30,
    float("nan"),
    "",
    "text",
    "\ud800",
    [],
    {},
    [None, 7, "x", {}, []],
    {"type": "text", "text": 5},
    {"url": ["x"], "title": {}},
    [[{"type": "text"}]],
)


@cache
def recorded() -> tuple[HostedRecording, ...]:
    return tuple(
        one for root in RECORDINGS for one in hosted(root) if len(json.dumps(one.body)) + len(one.stream) < 150_000
    )


def places(value: object, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return every container of a JSON value with a key or an index into it."""
    if isinstance(value, (dict, list)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            places(value[key], found)
    return found


def mutate(value: Any, chance: Random) -> Any:
    """Return a JSON value with some places dropped, doubled or replaced."""
    made = deepcopy(value)
    for _ in range(chance.randint(1, 4)):
        there = places(made, [])
        if not there:
            break
        container, key = chance.choice(there)
        match chance.randrange(4):
            case 0:
                del container[key]
            case 1:
                container[key] = None
            case 2:
                container[key] = deepcopy(chance.choice(ODD))
            case _ if isinstance(container, list):
                container.insert(key, deepcopy(chance.choice((*ODD, container[key]))))
            case _:
                container[chance.choice(("type", "text", "url", "content", "error", "index"))] = deepcopy(
                    chance.choice(ODD)
                )
    return made


def check(answer: HostedAnswer) -> None:
    """Check what holds of every answer."""
    answer.text.encode()
    assert len({one.url for one in answer.sources}) == len(answer.sources)
    assert len(set(answer.queries)) == len(answer.queries)
    assert all(answer.queries)
    assert (answer.error is None) == (answer.errors == ())
    for cited in answer.citations:
        assert cited.url
        assert isinstance(cited.title, str)
        if cited.start is not None:
            assert cited.end is not None
            assert 0 <= cited.start < cited.end <= len(answer.text)
    for number in (answer.usage.searches, answer.usage.input_tokens, answer.usage.output_tokens):
        assert isinstance(number, int)
        assert number >= 0
    audit(answer, ["example.com"], ["example.org"])


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**9))
def test_mutated_bodies_never_break(seed: int) -> None:
    chance = Random(seed)
    one = chance.choice([one for one in recorded() if not one.stream])
    body = mutate(one.body, chance)
    try:
        check(read_answer(one.api, body, status=one.status))
    except UnexpectedResponse:
        marks = {"choices", "candidates", "content", "output", "steps", "outputs", "error", "object", "type", "usage"}
        assert not isinstance(body, dict) or len(marks & set(body)) < 2


@settings(max_examples=examples(250), suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**9))
def test_mutated_streams_never_break(seed: int) -> None:
    chance = Random(seed)
    one = chance.choice([one for one in recorded() if one.stream])
    lines = one.stream.split(b"\n")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        data = lines[at].removeprefix(b"data:").strip()
        if data.startswith(b"{"):
            lines[at] = b"data: " + json.dumps(mutate(json.loads(data), chance)).encode()
        else:
            lines[at : at + 1] = chance.choice(([], [b""], lines[at : at + 1] * 2, [lines[at][: len(lines[at]) // 2]]))
    stream = AnswerStream(one.api)
    stream.feed(b"\n".join(lines))
    stream.close()
    check(stream.answer)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**9))
def test_streams_cut_off_anywhere_tell_what_had_come(seed: int) -> None:
    chance = Random(seed)
    one = chance.choice([one for one in recorded() if one.stream])
    data = one.stream[: chance.randrange(1, len(one.stream))]
    try:
        answer = answer_in(one.api, [data])
    except UnexpectedResponse:
        assert b"}\n" not in data.replace(b"\r", b"\n")
        return
    check(answer)


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**9))
@example(4562)  # an annotation with one more member in the final response
def test_unknown_members_and_events_change_nothing(seed: int) -> None:
    """As APIs grow: members, events and comments that are not known yet."""
    chance = Random(seed)
    one = chance.choice([one for one in recorded() if one.api != "bedrock"])  # its events have one member, their name
    if one.stream:
        lines = one.stream.split(b"\n")
        for at in sorted(chance.sample(range(len(lines)), min(len(lines), 5)), reverse=True):
            data = lines[at].removeprefix(b"data:").strip()
            if lines[at].startswith(b"data:") and data.startswith(b"{"):
                lines[at] = b"data: " + json.dumps(grown(json.loads(data), chance)).encode()
            elif not lines[at].strip() and (at == 0 or lines[at - 1].strip()):
                unknown = {"type": "x.unknown", "x": chance.choice(ODD)}
                lines[at:at] = [b"", b": a comment", b"event: x.unknown", b"data: " + json.dumps(unknown).encode()]
        made = replace(one, stream=b"\n".join(lines))
    else:
        made = replace(one, body=grown(one.body, chance))
    assert facts(read(made)) == facts(read(one)), one.name


def grown(value: Any, chance: Random) -> Any:
    """Return a JSON value whose objects have members that no API knows."""
    made = deepcopy(value)
    objects = [one for one in (made, *(holder[key] for holder, key in places(made, []))) if isinstance(one, dict)]
    for one in chance.sample(objects, min(len(objects), 6)):
        one["x_unknown"] = deepcopy(chance.choice(ODD[:-3]))
    return made
