"""The links of an answer, in a conversation through the proxy."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from groundwire.testing.model_apis import Say, ScriptedCall, script
from groundwire_server.api import build_gateway
from groundwire_server.uvicorn_runner import serving
from test_exfiltration import Attacker, Make
from test_exfiltration import attacker as attacker
from world import World
from world.model_apis import ModelServer


@pytest.mark.req("B10", "B24")
@pytest.mark.parametrize("mark", ["!", ""], ids=["image", "link"])
@pytest.mark.parametrize(("question", "kept"), [("Look around.", False), ("Look at {}.", True)])
async def test_the_proxy_remembers_it_for_the_conversation(
    attacker: Attacker, world: World, settings: Make, question: str, kept: bool, mark: str
) -> None:
    url = f"{attacker.url}/mentioned"
    image = f"{mark}[status]({url})"
    said = f"It says so, in the words of the page [1]. {image}"
    turns = script(ScriptedCall("open_page", {"url": url}), end=Say(said))
    model = world.add(ModelServer(turns, name="model"))
    gateway = build_gateway(settings(policy={"untrusted_links": "drop"}), upstream=f"{model.url}/v1")
    async with gateway, serving(gateway) as address, aiohttp.ClientSession(address) as client:
        talk: list[dict[str, Any]] = [{"role": "user", "content": question.format(url)}]
        for _ in range(2):
            body = {"model": "m", "messages": talk}
            async with client.post("/openai/v1/chat/completions", json=body) as reply:
                answer = (await reply.json())["choices"][0]["message"]["content"]
            assert (image in answer) == kept, answer
            model.decide = lambda asked: Say(said)
            talk += [{"role": "assistant", "content": answer}, {"role": "user", "content": "Once more."}]
