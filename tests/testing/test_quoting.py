"""The stand-in for a model that quotes what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groundwire import Settings, Web
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, quoting
from groundwire.tools import render_text, web_tools

TOOLS = ("web_search", "open_page")


def asked(*results: str, functions: tuple[str, ...] = TOOLS, **body: Any) -> ScriptedRequest:
    body = body or {"messages": [{"role": "user", "content": "what is rank fusion"}]}
    return ScriptedRequest(wire="chat", model="x", functions=functions, results=results, body=body)


async def test_it_goes_from_the_question_to_a_sentence_with_its_mark(settings: Callable[..., Settings]) -> None:
    results: list[str] = []
    async with Web(settings()) as web:
        tools = {tool.name: tool for tool in web_tools(web)}
        while isinstance(turn := quoting(asked(*results)), ScriptedCall):
            results.append(render_text(await tools[turn.name].call(**turn.arguments)))
        page = await web.open_page((await web.search("what is rank fusion")).results[0].url)
    assert len(results) == 2
    assert isinstance(turn, Say)
    assert turn.text.endswith(" [1].")
    assert turn.text.removesuffix(" [1].") in page.content.replace("*", "")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (asked("No results."), "found nothing"),
        (asked("URL: https://a.example/", "Error: it is not there."), "could not read it"),
        (asked(functions=()), "was not given the tool web_search"),
    ],
)
def test_it_says_what_it_could_not_do(request_: ScriptedRequest, said: str) -> None:
    turn = quoting(request_)
    assert isinstance(turn, Say)
    assert said in turn.text


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": "old"}, {"role": "user", "content": [{"text": "new"}]}]},
        {"input": "new"},
        {"input": [{"role": "user", "content": "new"}]},
    ],
)
def test_it_searches_for_the_last_words_of_the_user_in_every_wire(body: dict[str, Any]) -> None:
    assert quoting(asked(**body)) == ScriptedCall("web_search", {"query": "new"})
