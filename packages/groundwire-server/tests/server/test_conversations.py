"""Conversations through the proxy: a number stands for one page, however the client edits what it sends."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import aiohttp
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from components.model_bodies import ADD, anthropic, chat, responses
from groundwire import Settings, Web
from groundwire.agent_loop.citation_ledger import marks_in
from groundwire.models import SearchResult
from groundwire.providers import Capabilities
from groundwire.storage.memory import MemoryStore
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, Turn
from groundwire.tools import SearchResultItem, WebSearchToolResult
from groundwire_server.openai.app import Proxy
from groundwire_server.openai.conversations import Conversations, Utterance
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

_ROW = re.compile(r"^(\d+)\. .*\n   URL:", re.MULTILINE)


class NewPages:
    """Finds new pages each time."""

    name = "new"
    capabilities = Capabilities(search=True)

    def __init__(self) -> None:
        self.made = count()

    async def search(self, query: str, **_: Any) -> list[SearchResult]:
        return [SearchResult(title=query, url=f"https://a.test/{next(self.made)}", snippet=query) for _ in range(2)]


class Client:
    """Speaks to any of several proxies with one history, by chat completions or by Responses."""

    def __init__(self, http: aiohttp.ClientSession, urls: list[str]) -> None:
        self.http, self.urls = http, urls

    async def chat(self, messages: list[Any], worker: int = 0, headers: Any = None, **more: Any) -> dict[str, Any]:
        url = f"{self.urls[worker]}/v1/chat/completions"
        async with self.http.post(url, json={"model": "m", "messages": messages, **more}, headers=headers) as reply:
            body: dict[str, Any] = await reply.json()
            assert reply.status == 200, body
            return dict(body["choices"][0]["message"])

    async def post(self, path: str, body: dict[str, Any], worker: int) -> dict[str, Any]:
        async with self.http.post(self.urls[worker] + path, json=body) as reply:
            answer: dict[str, Any] = await reply.json()
            assert reply.status == 200, answer
            return answer

    async def responses(self, items: list[Any], worker: int = 0, **more: Any) -> dict[str, Any]:
        url = f"{self.urls[worker]}/v1/responses"
        async with self.http.post(url, json={"model": "m", "input": items, **more}) as reply:
            body: dict[str, Any] = await reply.json()
            assert reply.status == 200, body
            return body


def pages(message: dict[str, Any]) -> dict[str, str]:
    """Return the addresses by the marks of a message."""
    notes = [one["url_citation"] for one in message.get("annotations", ())]
    return {message["content"][one["start_index"] : one["end_index"]]: one["url"] for one in notes}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def repeating(asked: ScriptedRequest) -> Turn:
    """Do as a model that searches when it is asked to, and then repeats every mark and every result it was shown."""
    said = asked.body.get("messages") or asked.body["input"]
    begun = max(place for place, one in enumerate(said) if one.get("role") == "user")
    results = [one for one in said[begun:] if one.get("role") == "tool" or one.get("type") == "function_call_output"]
    if "search" in _flat(said[begun]) and not results:
        return ScriptedCall("web_search", {"query": _flat(said[begun])})
    if "add" in _flat(said[begun]) and len(results) == 1:
        return (ScriptedCall("web_search", {"query": "more"}), ScriptedCall("add", {"a": 1}))
    shown = [int(number) for one in results for number in _ROW.findall(_flat(one))]
    seen = [number for one in said for _, _, found in marks_in(_flat(one)) for number in found]
    return Say(" ".join(f"The page of {_flat(said[begun])} says {one} times so [{one}]." for one in [*seen, *shown]))


def _flat(message: dict[str, Any]) -> str:
    content = message.get("content", message.get("output")) or ""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


Start = Callable[..., Any]


@pytest.fixture
async def start(world: World, settings: Callable[..., Settings], tmp_path: Path) -> AsyncIterator[Start]:
    """Serve proxies in front of one model that share a store, and give a client of them."""
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(aiohttp.ClientSession())
        provider = NewPages()

        async def make(decide: Any, workers: int = 1, keep: bool = True, base: str = "v1", name: object = "") -> Client:
            models = world.add(ModelServer(decide, name=f"model{name}"))
            urls = []
            for _ in range(workers):
                made = settings(storage={"url": f"sqlite:///{tmp_path}/store"}, cache={"enabled": False})
                web = await stack.enter_async_context(Web(made, search_providers=[provider]))
                proxy = Proxy(web if keep else web.restricted(keep=False), f"{models.url}/{base}")
                stack.push_async_callback(proxy.aclose)
                urls.append(await stack.enter_async_context(serving(proxy.app)))
            return Client(http, urls)

        yield make


def agree(first: dict[str, str], second: dict[str, str]) -> bool:
    """Tell whether no mark of two answers points to two pages."""
    return all(second.get(mark, url) == url for mark, url in first.items())


EDITS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "as it was": lambda history: history,
    "another system prompt": lambda history: [{"role": "system", "content": "It is 10:41."}, *history],
    "an answer in the middle was cut off": lambda history: [*history, user("And?"), _said("Well [1]")],
    "thoughts folded": lambda history: [history[0], _said(f"<think>Hm [7].</think>\n{_flat(history[1])}")],
    "without its question": lambda history: history[1:],
    "summarized": lambda history: [{"role": "system", "content": f"Until now: {_flat(history[1])}"}],
}


def _said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


@pytest.mark.req("B7")
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_the_second_turn_goes_on_with_the_numbers(start: Start, api: str, edit: str) -> None:
    client = await start(repeating, workers=2)
    history = [user("search one")]
    if api == "chat":
        first = await client.chat(history)
        again = EDITS[edit]([*history, {"role": "assistant", "content": first["content"]}])
        second = await client.chat([*again, user("search two")], worker=1)
    else:
        first, second = {}, {}
        body = await client.responses(history)
        first = body["output"][-1]["content"][0]
        again = EDITS[edit]([*history, {"role": "assistant", "content": first["text"]}])
        second = (await client.responses([*again, user("search two")], worker=1))["output"][-1]["content"][0]
        for one in (first, second):
            one["content"] = one["text"]
            one["annotations"] = [{"url_citation": note} for note in one["annotations"]]
    assert list(pages(first)) == ["[1]", "[2]"]
    assert agree(pages(first), pages(second))
    if edit in ("without its question", "summarized"):  # perhaps another conversation's answer
        assert list(pages(second)) == ["[3]", "[4]"]
        return
    known = ["[1]", "[2]", "[8]", "[9]"] if edit == "thoughts folded" else ["[1]", "[2]", "[3]", "[4]"]
    assert list(dict.fromkeys(pages(second))) == known
    assert len(set(pages(second).values())) == 4


async def test_a_number_of_which_nothing_is_known_goes_to_no_page(start: Start) -> None:
    client = await start(repeating)
    answer = await client.chat([user("search for what the paper says [2]")])
    assert list(pages(answer)) == ["[3]", "[4]"]


@pytest.mark.parametrize("name", ["x-groundwire-conversation", "X-OpenWebUI-Chat-Id"])
async def test_a_header_names_the_conversation(start: Start, name: str) -> None:
    client = await start(repeating, workers=2)
    first = await client.chat([user("search one")], headers={name: "c1"})
    said = {"role": "assistant", "content": f"All in other words: {' '.join(pages(first))}"}
    second = await client.chat([said, user("search two")], worker=1, headers={name: "c1"})
    assert list(dict.fromkeys(pages(second))) == ["[1]", "[2]", "[3]", "[4]"]
    assert agree(pages(first), pages(second))
    other = await client.chat([user("search one")], headers={name: "c2"})
    assert list(pages(other)) == ["[1]", "[2]"]
    assert not agree(pages(first), pages(other))


async def test_equal_conversations_with_other_pages_are_not_taken_for_each_other(start: Start) -> None:
    client = await start(repeating)
    question = user("search one")
    first, other = await client.chat([question]), await client.chat([question])
    assert first["content"] == other["content"]
    bare = [question, {"role": "assistant", "content": first["content"]}, user("search two")]
    second = await client.chat(bare)
    assert list(pages(second)) == ["[3]", "[4]"]
    annotated = await client.chat([question, first, user("search two")])
    assert agree(pages(first), pages(annotated))
    assert len(pages(annotated)) == 4


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("edit", ["another system prompt", "trimmed", "another worker"])
async def test_a_turn_with_a_function_of_the_clients_goes_on(start: Start, edit: str, keep: bool) -> None:
    client = await start(repeating, workers=2, keep=keep)
    history = [user("search and add")]
    tools = [chat("add", ADD)]
    first = await client.chat(history, tools=tools)
    [call] = first["tool_calls"]
    more = [first, {"role": "tool", "tool_call_id": call["id"], "content": "3"}]
    again = {
        "another system prompt": [{"role": "system", "content": "It is 10:41."}, *history, *more],
        "trimmed": [*more, user("Go on")],
        "another worker": [*history, *more],
    }[edit]
    other = edit == "another worker" and keep
    second = await client.chat(again, tools=tools, worker=int(other))
    assert len(pages(second)) == (0 if edit == "trimmed" else 4)  # it repeats what it saw since the last question
    follow = [*again, second, user("search three")]
    third = await client.chat(follow, tools=tools)
    assert list(dict.fromkeys(pages(third)))[-2:] == ["[5]", "[6]"]
    assert agree(pages(second), pages(third))


Step = st.tuples(
    st.integers(0, 2),  # pages that are found
    st.lists(st.integers(1, 12), max_size=4),  # marks in the answer
    st.sampled_from(["", "", "trim", "summarize", "forget", "regenerate", "mix"]),
)


async def test_an_answer_without_a_question_identifies_no_conversation() -> None:
    store, answer = MemoryStore(), Utterance("So [1].", "assistant")
    question = Utterance("Who says so?", "user")
    ledger = await Conversations(store, "me").ledger([question])
    items = (SearchResultItem(citation_id=1, title="t", url="https://a.test/1", snippet=""),)
    await ledger.assign([WebSearchToolResult(status="success", query="q", results=items)])
    await Conversations(store, "me").remember(ledger, [answer.text])
    other = await Conversations(store, "me").ledger([answer])
    assert other.get(1) is None, "another conversation may have said the same of another page"
    same = await Conversations(store, "me").ledger([question, answer])
    assert (found := same.get(1))
    assert found.url == "https://a.test/1"


@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(Step, min_size=2, max_size=8), st.booleans())
async def test_no_mark_ever_points_to_another_page(steps: list[Any], poor: bool) -> None:
    """Random conversations: cut, summarized, mixed with others, of which the store forgets some."""
    store, made = MemoryStore(), count()
    histories: list[list[tuple[Utterance, dict[int, str]]]] = [[], []]  # what was said, and where its marks lead
    for place, (found, marks, edit) in enumerate(steps):
        history = histories[place % 2]
        if edit == "trim":
            del history[: len(history) // 2]
        elif edit == "summarize" and history:
            history[:] = [
                (
                    Utterance(" ".join(said.text for said, _ in history), "user"),
                    {n: u for _, told in history for n, u in told.items()},
                )
            ]
        elif edit == "forget" and not poor:  # of two histories in the same words, one would be unknown
            store = MemoryStore()
        elif edit == "regenerate" and history:
            history.pop()
        elif edit == "mix" and histories[1 - place % 2]:
            said, told = histories[1 - place % 2][-1]
            mine = {number: url for _, known in history for number, url in known.items()}
            if all(mine.get(number, url) == url for number, url in told.items()):
                history.append((said, told))
        history.append((Utterance("Go on" if poor else f"Question {place}", "user"), {}))
        conversations = Conversations(store, "me")  # each request may come to another process
        ledger = await conversations.ledger([said for said, _ in history])
        rows = [f"https://a.test/{next(made)}" for _ in range(found)]
        items = tuple(SearchResultItem(citation_id=1, title="t", url=url, snippet="") for url in rows)
        await ledger.assign([WebSearchToolResult(status="success", query="q", results=items)])
        truth = {number: url for _, told in history for number, url in told.items()}
        for number, url in truth.items():
            source = ledger.get(number)
            assert source is None or source.url == url
        shown = {source.citation_id: source.url for source in ledger.sources if source.url in rows}
        assert not set(shown) & set(truth)
        known = {number: source.url for number in marks if (source := ledger.get(number))}
        word = "so" if poor else f"so says answer {place}"
        text = " ".join(f"{word} [{number}]." for number in known)
        await conversations.remember(ledger, [text])
        history.append((Utterance(text, "assistant"), known))


def _words(item: Any) -> list[str]:
    """Return all strings in an item of a conversation, in any API's form."""
    if isinstance(item, str):
        return [item]
    inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    return [words for one in inner for words in _words(one)]


def echoing(asked: ScriptedRequest) -> Turn:
    """Do as `repeating`, in any API: search, then repeat every number that was shown or said."""
    said = next(asked.body[key] for key in ("messages", "input", "contents") if key in asked.body)
    told = ["\n".join(_words(one)) for one in ([{"role": "user", "content": said}] if isinstance(said, str) else said)]
    begun = max(place for place, text in enumerate(told) if "Question" in text)
    shown = [number for text in told[begun:] for number in _ROW.findall(text)]
    search = ScriptedCall("web_search", {"query": told[begun][-20:]})
    if not shown and "Question: search" in told[begun]:
        return search
    if not shown and "Question: mix" in told[begun]:
        return (search, ScriptedCall("add", {"a": 1}))
    seen = [str(number) for text in told for _, _, found in marks_in(text) for number in found]
    numbers = dict.fromkeys([*seen, *shown])
    return Say(" ".join(f"The page says {number} times so [{number}]." for number in numbers) or "Nothing.")


class ProxiedApi(NamedTuple):
    """One API of the proxy: its path, the body for a history and a system prompt, and what an answer adds to it."""

    path: str
    body: Callable[[list[Any], str], dict[str, Any]]
    own: Callable[[Any], list[Any]]


def _system(prompt: str, history: list[Any]) -> list[Any]:
    return [{"role": "system", "content": prompt}, *history]


APIS = {
    "chat": ProxiedApi(
        "/v1/chat/completions",
        lambda history, prompt: {"model": "m", "messages": _system(prompt, history), "tools": [chat("add", ADD)]},
        lambda body: [body["choices"][0]["message"]],
    ),
    "responses": ProxiedApi(
        "/v1/responses",
        lambda history, prompt: {
            "model": "m",
            "input": history,
            "instructions": prompt,
            "tools": [responses("add", ADD)],
        },
        lambda body: list(body["output"]),
    ),
    "messages": ProxiedApi(
        "/v1/messages",
        lambda history, prompt: {
            "model": "m",
            "max_tokens": 999,
            "system": prompt,
            "messages": history,
            "tools": [{"type": "web_search_20250305", "name": "web_search"}, anthropic("add", ADD)],
        },
        lambda body: [{"role": "assistant", "content": body["content"]}],
    ),
    "ollama": ProxiedApi(
        "/api/chat",
        lambda history, prompt: {
            "model": "m",
            "stream": False,
            "messages": _system(prompt, history),
            "tools": [chat("add", ADD)],
        },
        lambda body: [body["message"]],
    ),
    "gemini": ProxiedApi(
        "/v1beta/models/gemini-3.8-flash:generateContent",
        lambda history, prompt: {
            "contents": history,
            "systemInstruction": {"parts": [{"text": prompt}]},
            "tools": [{"google_search": {}}, {"functionDeclarations": [{"name": "add", "parametersJsonSchema": ADD}]}],
        },
        lambda body: [body["candidates"][0]["content"]],
    ),
}
_COUNTED = re.compile(r"(\d+) times so(?: \[\d+\])?")


def cited(api: str, body: dict[str, Any]) -> dict[str, set[str]]:
    """Return the pages that an answer cites for each number that the model said."""
    claims: list[tuple[str, str]] = []
    if api == "messages":
        blocks = [one for one in body["content"] if one["type"] == "text"]
        claims = [(one["text"], cite["url"]) for one in blocks for cite in one.get("citations") or ()]
    elif api == "gemini":
        about = body["candidates"][0].get("groundingMetadata", {})
        for one in about.get("groundingSupports", ()):
            uris = [about["groundingChunks"][at]["web"]["uri"] for at in one["groundingChunkIndices"]]
            claims += [(one["segment"]["text"], uri) for uri in uris]
    else:
        message = APIS[api].own(body)[-1]
        parts = [message] if api != "responses" else message["content"]
        for part in parts:
            text = part.get("content") or part.get("text") or ""
            for note in part.get("annotations", ()):
                note = note.get("url_citation", note)
                claims.append((text[: note["end_index"]], note["url"]))
    made: dict[str, set[str]] = {}
    for text, url in claims:
        made.setdefault(_COUNTED.findall(text)[-1], set()).add(url)
    return made


_EDITS = ["", "", "trim", "summarize"]


async def _converse(start: Start, api: str, chance: Random, talks: int) -> int:
    """Have random conversations, and return how many citations were compared."""
    proxied, checked, begun = APIS[api], 0, count()

    async def served() -> Client:
        base = "v1beta/openai" if api == "gemini" else "v1"
        made: Client = await start(echoing, workers=2, base=base, name=next(begun))
        return made

    client = await served()
    for talk in range(talks):
        history: list[Any] = []
        known: dict[str, set[str]] = {}
        for turn in range(4):
            asked = [at for at, one in enumerate(history) if any("Question" in text for text in _words(one))]
            edit = chance.choice([*_EDITS, "restart"] if chance.random() < 0.1 else _EDITS) if asked else ""
            if edit == "trim":
                del history[: chance.choice(asked)]
            elif edit == "summarize":
                summary = f"Until now: {' '.join(_words(history[-1]))}"
                history = [_user(api, summary)]
                if not any(True for _ in marks_in(summary)):  # the texts of Messages have no marks
                    known.clear()
            elif edit == "restart":
                client = await served()
            history.append(_user(api, f"Question: {chance.choice(['search', 'search', 'mix', 'say'])} {talk} {turn}"))
            for _ in range(3):  # a turn with a function of the client's has two requests
                prompt = f"It is {chance.random()}."
                body = await client.post(proxied.path, proxied.body(history, prompt), chance.randrange(2))
                history += proxied.own(body)
                results = _results(api, body)
                if not results:
                    break
                history += results
            for number, urls in cited(api, body).items():
                assert len(urls) == 1, (number, talk, turn, edit)
                assert known.setdefault(number, urls) == urls, (number, talk, turn, edit)
                checked += 1
    return checked


def _user(api: str, text: str) -> dict[str, Any]:
    return {"role": "user", **({"parts": [{"text": text}]} if api == "gemini" else {"content": text})}


def _results(api: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the client adds for the calls of its function."""
    items = APIS[api].own(body)
    if api == "responses":
        calls = [one["call_id"] for one in items if one["type"] == "function_call"]
        return [{"type": "function_call_output", "call_id": id_, "output": "3"} for id_ in calls]
    if api == "messages":
        ids = [one["id"] for one in body["content"] if one["type"] == "tool_use"]
        made = [{"type": "tool_result", "tool_use_id": id_, "content": "3"} for id_ in ids]
        return [{"role": "user", "content": made}] if made else []
    if api == "gemini":
        named = [part["functionCall"]["name"] for part in items[0]["parts"] if "functionCall" in part]
        parts = [{"functionResponse": {"name": name, "response": {"result": 3}}} for name in named]
        return [{"role": "user", "parts": parts}] if parts else []
    calls = list(items[0].get("tool_calls") or ())
    about = [{"tool_name": "add"} if api == "ollama" else {"tool_call_id": call["id"]} for call in calls]
    return [{"role": "tool", "content": "3", **one} for one in about]


@pytest.mark.req("B28")
@pytest.mark.parametrize("api", APIS)
async def test_no_number_points_to_another_page_in_any_api(start: Start, api: str) -> None:
    """Conversations by way of two workers and restarts, cut, summarized, and with another system prompt each time."""
    assert await _converse(start, api, Random(api), 8) > 50


@pytest.mark.slow
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("api", APIS)
async def test_200_conversations(start: Start, api: str) -> None:
    seed = Random().randrange(1_000_000)
    checked = await _converse(start, api, Random(seed), 200)
    print(f"{api}, seed {seed}: 200 conversations, {checked} citations, none to another page")
    assert checked > 1_000
