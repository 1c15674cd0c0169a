"""Random conversations by every API that the proxy speaks: a mark points to the page that it was given."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from components.examples import examples
from groundwire import Settings, Web
from groundwire.models import SearchResult
from groundwire.providers import Capabilities
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, Turn
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

_ROW = re.compile(r"(\d+)\. .*?URL: https://a\.test/(\d+)\b", re.DOTALL)
_CLAIM = re.compile(r"page (\d+) says so(?= ?\[(\d+)\])")
_ABOUT = re.compile(r"page (\d+) says so$")
_PAGE = "https://a.test/"


class NewPages:
    """Finds new pages each time."""

    name = "new"
    capabilities = Capabilities(search=True)

    def __init__(self) -> None:
        self.made = count()

    async def search(self, query: str, **_: Any) -> list[SearchResult]:
        return [SearchResult(title=query, url=f"{_PAGE}{next(self.made)}", snippet=query) for _ in range(2)]


def repeating(asked: ScriptedRequest) -> Turn:
    """Do as a model that searches when it is asked to, and says again what it reads in its conversation."""
    said = asked.body.get("messages") or asked.body.get("contents") or asked.body["input"]
    text = "\n".join(_texts(said))
    if "search" in text.rpartition("QUESTION")[2] and not _ROW.search(text.rpartition("QUESTION")[2]):
        return ScriptedCall("web_search", {"query": "anything"})
    claims = [*_CLAIM.findall(text), *((page, number) for number, page in _ROW.findall(text))]
    last = dict.fromkeys(claims[-6:])
    return Say(" ".join(f"The page {page} says so [{number}]." for page, number in last) or "Nothing [7].")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for key in ("content", "parts", "text", "output", "functionResponse", "response"):
            yield from _texts(value.get(key))


Cited = list[tuple[str, str]]
"""Claims, and the address that each is said to be from."""


@dataclass
class Face:
    """One API as a client speaks it."""

    path: str
    question: Callable[[str], Any]
    body: Callable[[list[Any], bool], dict[str, Any]]
    read: Callable[[bytes, bool], tuple[list[Any], Cited]]
    """Returns what goes into the history, and what is cited."""
    streamed_path: str = ""
    history: list[Any] = field(default_factory=list)


def _objects(data: bytes, streamed: bool) -> list[Any]:
    if not streamed:
        return [json.loads(data)]
    lines = [line.removeprefix(b"data: ") for line in data.splitlines() if not line.startswith((b"event:", b":"))]
    return [json.loads(line) for line in lines if line.strip() and line != b"[DONE]"]


def _marks(text: str, notes: list[Any]) -> Cited:
    return [(text[: one["start_index"]].rstrip(), one["url"]) for one in notes]


def _read_chat(data: bytes, streamed: bool) -> tuple[list[Any], Cited]:
    choices = [one["choices"][0] for one in _objects(data, streamed) if one["choices"]]
    parts = [one.get("delta") or one.get("message") or {} for one in choices]
    text = "".join(one.get("content") or "" for one in parts)
    notes = [note["url_citation"] for one in parts for note in one.get("annotations") or ()]
    return [{"role": "assistant", "content": text}], _marks(text, notes)


def _read_ollama(data: bytes, streamed: bool) -> tuple[list[Any], Cited]:
    parts = [one["message"] for one in _objects(data, streamed)]
    text = "".join(one.get("content") or "" for one in parts)
    notes = [note["url_citation"] for one in parts for note in one.get("annotations") or ()]
    return [{"role": "assistant", "content": text}], _marks(text, notes)


def _read_responses(data: bytes, streamed: bool) -> tuple[list[Any], Cited]:
    last = _objects(data, streamed)[-1]
    [part] = last.get("response", last)["output"][-1]["content"]
    return [{"role": "assistant", "content": part["text"]}], _marks(part["text"], part["annotations"])


def _read_messages(data: bytes, streamed: bool) -> tuple[list[Any], Cited]:
    blocks: list[Any] = []
    for one in _objects(data, streamed):
        if not streamed:
            blocks = one["content"]
        elif one["type"] == "content_block_start":
            blocks.append(one["content_block"] | ({"input": ""} if "input" in one["content_block"] else {}))
        elif one["type"] == "content_block_delta":
            block, delta = blocks[one["index"]], one["delta"]
            block["text"] = block.get("text", "") + delta.get("text", "")
            block["input"] = block.get("input", "") + delta.get("partial_json", "")
            block["citations"] = [*block.get("citations", ()), *filter(None, [delta.get("citation")])]
    for block in blocks:
        wanted = ("input",) if "tool_use" in block["type"] else ("text", "citations")
        for name in {"text", "input", "citations"} - {*wanted}:
            block.pop(name, None)
        if isinstance(block.get("input"), str):
            block["input"] = json.loads(block["input"])
    cited = [(one["text"].rstrip(), cite["url"]) for one in blocks for cite in one.get("citations") or ()]
    return [{"role": "assistant", "content": blocks}], cited


def _read_gemini(data: bytes, streamed: bool) -> tuple[list[Any], Cited]:
    candidates = [one["candidates"][0] for one in _objects(data, streamed)]
    about = candidates[-1].get("groundingMetadata", {})
    pages = [one["web"]["uri"] for one in about.get("groundingChunks", ())]
    text = "".join(part.get("text", "") for one in candidates for part in one["content"]["parts"]).encode()
    cited = []
    for one in about.get("groundingSupports", ()):
        segment = one["segment"]
        assert text[segment.get("startIndex", 0) : segment["endIndex"]].decode() == segment["text"]
        cited += [(segment["text"], pages[place]) for place in one["groundingChunkIndices"]]
    return [one["content"] for one in candidates], cited


def _user(text: str) -> Any:
    return {"role": "user", "content": text}


def faces() -> list[Face]:
    server_tool = {"type": "web_search_20250305", "name": "web_search"}
    gemini = "/v1beta/models/g:"
    return [
        Face("/v1/chat/completions", _user, lambda said, on: {"messages": said, "stream": on}, _read_chat),
        Face("/v1/responses", _user, lambda said, on: {"input": said, "stream": on}, _read_responses),
        Face(
            "/v1/messages",
            _user,
            lambda said, on: {"messages": said, "max_tokens": 9, "tools": [server_tool], "stream": on},
            _read_messages,
        ),
        Face("/api/chat", _user, lambda said, on: {"messages": said, "stream": on}, _read_ollama),
        Face(
            f"{gemini}generateContent",
            lambda text: {"role": "user", "parts": [{"text": text}]},
            lambda said, _: {"contents": said, "tools": [{"googleSearch": {}}]},
            _read_gemini,
            f"{gemini}streamGenerateContent?alt=sse",
        ),
    ]


def templated(asked: ScriptedRequest) -> Turn:
    """Do as a model that says the same words in all conversations."""
    said = asked.body.get("messages") or asked.body.get("contents") or asked.body["input"]
    before, _, now = "\n".join(_texts(said)).rpartition("QUESTION")
    rows, marks = _ROW.findall(now), re.findall(r"\[(\d+)\]", before)
    if "search" in now and not rows:
        return ScriptedCall("web_search", {"query": "anything"})
    old = f"As said before [{marks[-1]}]." if marks else "It is known [1]."
    return Say(
        f"{old} It merges lists [{rows[0][0]}]." if rows and marks else f"It merges [{rows[0][0]}]." if rows else old
    )


@pytest.fixture
def provider() -> NewPages:
    return NewPages()


@pytest.fixture
def decide() -> Any:
    return repeating


@pytest.fixture
async def urls(
    world: World, settings: Callable[..., Settings], tmp_path: Path, provider: NewPages, decide: Any
) -> AsyncIterator[list[str]]:
    """Two proxies in front of one model, which share a store."""
    models = world.add(ModelServer(decide, name="model"))
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(2):
            chosen = settings(storage={"url": f"sqlite:///{tmp_path}/store"}, cache={"enabled": False})
            web = await stack.enter_async_context(Web(chosen, search_providers=[provider]))
            proxy = Proxy(web, f"{models.url}/v1")
            stack.push_async_callback(proxy.aclose)
            made.append(await stack.enter_async_context(serving(proxy.app)))
        yield made


@pytest.mark.req("B27", "B7")
@pytest.mark.parametrize("conversations", [10, pytest.param(200, marks=pytest.mark.slow)])
async def test_no_mark_ever_points_to_another_page(urls: list[str], conversations: int) -> None:
    chance = Random(26)
    seen, again = {face.path: 0 for face in faces()}, 0
    async with aiohttp.ClientSession() as http:
        for number in range(conversations):
            face = faces()[number % 5]
            known: set[str] = set()
            for _ in range(chance.randint(2, 4)):
                edit = chance.choice(["", "", "trim", "time", "regenerate"])
                if edit == "trim":
                    face.history = face.history[len(face.history) // 2 :]
                    while face.history and face.history[0]["role"] != "user":  # as clients cut
                        del face.history[0]
                elif edit == "regenerate" and face.history:
                    while face.history and face.history.pop()["role"] != "user":
                        pass
                words = chance.choice(["QUESTION: search for it", "QUESTION: what [3] says; search", "QUESTION: sure?"])
                face.history.append(face.question(f"{words} {chance.random():.2f}"))
                streamed = chance.random() < 0.5
                body = {"model": "m", **face.body(face.history, streamed)}
                if edit == "time" and "max_tokens" not in body and "messages" in body:
                    body["messages"] = [{"role": "system", "content": f"It is {chance.random()}"}, *body["messages"]]
                path = (streamed and face.streamed_path) or face.path
                async with http.post(chance.choice(urls) + path, json=body) as reply:
                    data = await reply.read()
                    assert reply.status == 200, data
                added, cited = face.read(data, streamed)
                face.history += added
                for claim, url in cited:
                    about = _ABOUT.search(claim)
                    assert about, (face.path, claim, url)
                    assert url == f"{_PAGE}{about[1]}", (face.path, streamed, claim, url, data)
                    seen[face.path] += 1
                    again += url in known
                known |= {url for _, url in cited}
    assert min(seen.values()) >= conversations // 4
    assert again >= conversations // 2


@dataclass
class Conversation:
    """One conversation of several that say the same words."""

    face: Face
    owned: set[str] = field(default_factory=set)
    """The pages that its searches found."""
    last: str = ""
    """The page of the last mark in it; empty if it has none."""
    is_whole: bool = True
    """Whether its history differs from all others."""


_examples = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["search", "search", "sure?"]), st.booleans(), st.booleans()),
    min_size=3,
    max_size=9,
)


@pytest.mark.req("B27")
@pytest.mark.parametrize("face", range(5))
@pytest.mark.parametrize("decide", [templated])
@hypothesis_settings(max_examples=examples(120), deadline=None, suppress_health_check=list(HealthCheck))
@given(_examples, st.booleans())
async def test_equal_words_lead_to_no_page_of_another_conversation(
    urls: list[str], provider: NewPages, face: int, steps: list[tuple[int, str, bool, bool]], alike: bool
) -> None:
    talks = [Conversation(faces()[face]) for _ in range(3)]
    for place, words, streamed, trims in steps:
        talk, one = talks[place], talks[place].face
        topic = "the tides" if alike else f"the tides of place {next(provider.made)}"
        if trims and alike and one.history:
            asked = [at for at, said in enumerate(one.history) if said["role"] == "user"]
            del one.history[: asked[-1]]
        talk.is_whole = talk.is_whole and not alike
        one.history.append(one.question(f"QUESTION: {words} {'' if one.history else topic}"))
        first = next(provider.made)
        body = {"model": "m", **one.body(one.history, streamed)}
        path = (streamed and one.streamed_path) or one.path
        async with aiohttp.ClientSession() as http, http.post(urls[place % 2] + path, json=body) as reply:
            data = await reply.read()
            assert reply.status == 200, data
        talk.owned |= {f"{_PAGE}{number}" for number in range(first + 1, next(provider.made))}
        added, cited = one.read(data, streamed)
        one.history += added
        pages = [url for _, url in cited]
        assert talk.owned.issuperset(pages), (one.path, streamed, pages, data)
        if talk.is_whole:
            expected = [talk.last] if talk.last else []
            assert pages[: len(expected)] == expected, (one.path, streamed, data)
            assert len(pages) == len(expected) + (words == "search")
            talk.last = pages[-1] if pages else ""
