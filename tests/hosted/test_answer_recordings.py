"""What model APIs answered with their own search, read as it should be, whole and streamed."""

from __future__ import annotations

import dataclasses
import itertools
import json
import subprocess
from pathlib import Path
from random import Random

import pytest

from components.answers import answer_in, bytewise
from components.data_sets import RECORDINGS, is_own, set_name
from components.hosted import APIS, FACTS, HostedRecording, facts, hosted, read, wanted
from components.streaming import MAKERS, streamed
from groundwire.hosted.answers import HostedAnswer, read_answer

CASES = [
    pytest.param(root, folder, id=f"{folder}-{set_name(root)}")
    for folder in APIS
    for root in RECORDINGS
    if is_own(root) or (root / folder).is_dir()
]
"""Every API is in our own set; the larger one lacks some."""


def of_one_api(recordings: Path, folder: str) -> list[HostedRecording]:
    found = [one for one in hosted(recordings) if one.name.startswith(folder + "/")]
    assert found, f"no recordings of {folder}"
    return found


@pytest.mark.req("C1", "B7")
@pytest.mark.parametrize(("recordings", "folder"), CASES)
def test_every_recording_reads_as_expected(recordings: Path, folder: str) -> None:
    for one in of_one_api(recordings, folder):
        answer = read(one)
        want, found = wanted(one), facts(answer)
        for fact in FACTS:
            if fact == "citations" and one.api == "gemini":
                # The expected spans are the bytes as sent; where they drift, the quoted words are right.
                assert [row[:3] for row in found[fact]] == [row[:3] for row in want[fact]], one.name  # type: ignore[index]
                for cited in answer.citations:
                    assert answer.text[cited.start : cited.end] == cited.cited_text, one.name
            else:
                assert found[fact] == want[fact], f"{one.name}: {fact}"


OWN = next(root for root in RECORDINGS if is_own(root))


@pytest.mark.req("C1", "B7")
@pytest.mark.parametrize("folder", APIS)
def test_our_own_recordings_say_more_and_that_is_read_too(folder: str) -> None:
    for one in of_one_api(OWN, folder):
        answer, want = read(one), one.want
        assert answer.model == want.get("model", answer.model), one.name
        assert {name: getattr(answer.usage, name) for name in want.get("usage", {})} == want.get("usage", {}), one.name
        assert answer.finish == want.get("finish", answer.finish), one.name
        assert [dataclasses.asdict(call) for call in answer.calls] == want.get("calls", []), one.name
        assert (answer.error.outcome if answer.error else None) == want.get("outcome"), one.name
        for field in ("snippet", "published"):
            noted = want.get(f"{field}s" if field == "snippet" else field)
            assert noted is None or [getattr(row, field) for row in answer.sources] == noted, one.name
        for cited, noted in zip(answer.citations, want["citations"], strict=True):
            for field in {"covers", "position", "site"} & set(noted):
                assert getattr(cited, field) == noted[field], f"{one.name}: {field}"


def test_our_own_set_has_answers_streams_and_failures_of_every_api() -> None:
    for folder in APIS:
        found = of_one_api(OWN, folder)
        assert APIS[folder] not in MAKERS or any(one.stream and one.want["sources"] for one in found), folder
        assert any(not one.stream and one.want["sources"] for one in found), folder
        assert any(one.want["error"] for one in found), folder
    assert any(one.want["citations"] for one in hosted(OWN) if one.stream)


@pytest.mark.req("C1", "B7")
@pytest.mark.parametrize(("recordings", "folder"), CASES)
def test_recorded_streams_split_anywhere_give_the_same_events(recordings: Path, folder: str) -> None:
    chance = Random(folder)
    for one in of_one_api(recordings, folder):
        if not one.stream:
            continue
        answer = answer_in(one.api, [one.stream])
        if len(one.stream) < 100_000:
            assert answer_in(one.api, bytewise(one.stream)) == answer, one.name
        for _ in range(3):
            cuts = sorted({0, len(one.stream), *(chance.randrange(len(one.stream)) for _ in range(50))})
            pieces = [one.stream[begin:end] for begin, end in itertools.pairwise(cuts)]
            assert answer_in(one.api, pieces) == answer, one.name


def same(streamed: HostedAnswer, whole: HostedAnswer) -> None:
    """Check that two answers are alike, but for how much of an empty field the turn repeats."""
    assert dataclasses.replace(streamed, turn=()) == dataclasses.replace(whole, turn=())


@pytest.mark.req("C1", "B7")
@pytest.mark.parametrize(("recordings", "folder"), CASES)
def test_streams_made_of_whole_answers_give_the_same_answers(recordings: Path, folder: str) -> None:
    for seed, one in enumerate(of_one_api(recordings, folder)):
        if one.stream or one.status != 200 or one.api not in MAKERS:
            continue
        whole = read(one)
        data = streamed(one.api, one.body, seed)
        answer = answer_in(one.api, [data])
        same(answer, whole)
        if MAKERS[one.api] is not MAKERS["openai_chat"]:
            assert answer.turn == whole.turn, one.name
        if len(data) < 60_000:
            assert answer_in(one.api, bytewise(data)) == answer, one.name


@pytest.mark.req("C1")
@pytest.mark.parametrize(("recordings", "folder"), CASES)
def test_what_must_be_sent_back_is_as_received(recordings: Path, folder: str) -> None:
    for one in of_one_api(recordings, folder):
        if one.status != 200:
            assert read(one).turn == ()
            continue
        turn = read(one).turn
        if one.name.startswith("perplexity_agent/"):  # its input has no search results, nor parts of its answers
            assert turn == ({"type": "message", "role": "assistant", "content": read(one).text},), one.name
        elif one.stream:
            again = sent_back(one, turn)
            assert facts(again)["citations"] == facts(read(one))["citations"], one.name
            assert again.text == read(one).text, one.name
        else:
            assert list(turn) == received(one.body), one.name


@pytest.mark.req("B7")
def test_the_benchmark_finds_nothing_missing(recordings: Path, warm_python: Path) -> None:
    script = Path(__file__).resolve().parents[2] / "benchmarks" / "hosted_answers.py"
    done = subprocess.run([warm_python, script, recordings], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def received(body: dict[str, object]) -> list[object]:
    """Return the turn of a whole body, looked up by hand."""
    match body:
        case {"choices": [{"message": message}, *_]}:
            return [message]
        case {"candidates": [{"content": {"parts": parts}}, *_]}:
            return [{"role": "model", "parts": parts}]
        case {"steps": list(steps)} | {"output": list(steps)} | {"outputs": list(steps)}:
            return steps
        case {"output": {"message": message}}:
            return [message]
    return [{"role": "assistant", "content": body["content"]}]


def sent_back(one: HostedRecording, turn: tuple[dict[str, object], ...]) -> HostedAnswer:
    """Return what the turn of a stream reads as when it stands in a whole body."""
    match one.api:
        case "anthropic" | "deepseek":
            return read_answer(one.api, {**turn[0], "type": "message"})
        case "gemini":
            return read_answer(one.api, last_metadata(one) | {"candidates": [candidate(one, turn[0])]})
        case "openai_responses" | "qwen_responses" | "xai":
            return read_answer(one.api, {"object": "response", "output": list(turn)})
        case "gemini_interactions":
            return read_answer(one.api, {"object": "interaction", "steps": list(turn)})
        case "mistral":
            return read_answer(one.api, {"object": "conversation.response", "outputs": list(turn)})
    body = {name: value for chunk in chunks(one) for name, value in chunk.items()}  # Z.ai lists its pages once
    choice = {"index": 0, "message": turn[0], "finish_reason": "stop"}
    return read_answer(one.api, {**body, "choices": [choice]})


def chunks(one: HostedRecording) -> list[dict[str, object]]:
    found = [line[5:] for line in one.stream.decode().splitlines() if line.startswith("data:")]
    return [json.loads(line) for line in found if line.strip() != "[DONE]"]


def last_metadata(one: HostedRecording) -> dict[str, object]:
    return chunks(one)[-1]


def candidate(one: HostedRecording, content: dict[str, object]) -> dict[str, object]:
    last = last_metadata(one)["candidates"]
    assert isinstance(last, list)
    return {**last[0], "content": content}


@pytest.mark.req("B7")
def test_streams_of_responses_give_what_their_last_event_holds_whole(recordings: Path) -> None:
    seen = 0
    for one in of_one_api(recordings, "openai_responses"):
        if one.stream:
            body = last_metadata(one)["response"]
            assert read(one) == read_answer(one.api, body), one.name
            seen += 1
    assert seen >= 5
