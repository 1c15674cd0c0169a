"""How faithfully litellm translates Anthropic Messages for a server that speaks OpenAI's API.

A server answers with fixed chat completions, whole and streamed; litellm is asked for a message (its adapter for
`/v1/messages`), and the blocks and the stop reason that it returns are compared with what the completion says:
thinking, text, calls with their arguments. Ends with 1 when something is lost, as of 1.106.2 it is.

    python benchmarks/messages_adapter.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from components.environment import environment_with
from groundwire.testing.http_messages import EmulatedResponse, Recorded
from world import World
from world.model_apis import ModelServer

PACKAGES = ("litellm==1.106.2", "mcp==2.3.0")  # the adapter imports mcp, which litellm does not declare

ASK = """
import asyncio, json, sys
import litellm
litellm.use_chat_completions_url_for_anthropic_messages = True
tool = {"name": "add", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
async def ask(url, streamed):
    made = await litellm.anthropic.messages.acreate(
        model="openai/m", api_base=url, api_key="k", max_tokens=99, stream=streamed, tools=[tool],
        messages=[{"role": "user", "content": "Hi"}])
    return "".join([piece.decode() async for piece in made]) if streamed else dict(made)
async def main():
    for line in sys.stdin:
        print("answer:" + json.dumps(await ask(*json.loads(line)), default=str), flush=True)
asyncio.run(main())
"""

Facts = tuple[str, str, list[Any], object]
"""The thinking, the text, the calls, and the stop reason."""


def call(index: int, id_: str, arguments: str) -> dict[str, Any]:
    return {"index": index, "id": id_, "type": "function", "function": {"name": "add", "arguments": arguments}}


def more(index: int, arguments: str) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


def calls(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": list(entries)}


CASES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "text": ("stop", [{"content": ""}, {"content": "Hi"}, {"content": " there."}]),
    "text beside empty tool_calls": ("stop", [{"content": "Hi", **calls()}, {"content": " there.", **calls()}]),
    "text cut off by max_tokens": ("length", [{"content": "Hi"}]),
    "reasoning_content, then text": ("stop", [{"reasoning_content": "Hm"}, {"content": "Hi."}]),
    "reasoning, then text": ("stop", [{"reasoning": "Hm"}, {"content": "Hi."}]),
    "a call at once": ("tool_calls", [calls(call(0, "c1", '{"a":1}'))]),
    "a call in pieces": ("tool_calls", [calls(call(0, "c1", "")), calls(more(0, '{"a"')), calls(more(0, ":1}"))]),
    "text, then a call": ("tool_calls", [{"content": "So:"}, calls(call(0, "c1", '{"a":1}'))]),
    "two calls, one after the other": (
        "tool_calls",
        [calls(call(0, "c1", '{"a":1}')), calls(call(1, "c2", '{"a":2}'))],
    ),
    "two calls in one chunk": ("tool_calls", [calls(call(0, "c1", '{"a":1}'), call(1, "c2", '{"a":2}'))]),
    "two calls, interleaved": (
        "tool_calls",
        [calls(call(0, "c1", ""), call(1, "c2", "")), calls(more(0, '{"a":1}'), more(1, '{"a":2}'))],
    ),
}
STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


def message_of(deltas: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the message that deltas add up to."""
    made: dict[str, Any] = {"role": "assistant", "content": None}
    found: dict[int, dict[str, Any]] = {}
    for delta in deltas:
        for name in ("content", "reasoning", "reasoning_content"):
            if delta.get(name):
                made[name] = (made.get(name) or "") + delta[name]
        for entry in delta.get("tool_calls", ()):
            kept = found.setdefault(entry["index"], {**entry, "function": {**entry["function"], "arguments": ""}})
            kept["function"]["arguments"] += entry["function"]["arguments"]
    return {**made, **({"tool_calls": list(found.values())} if found else {})}


def completion(finish: str, deltas: list[dict[str, Any]], *, streamed: bool) -> bytes:
    """Return what the server sends."""
    head = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    if not streamed:
        choice = {"index": 0, "message": message_of(deltas), "finish_reason": finish}
        return json.dumps({**head, "choices": [choice], "usage": usage}).encode()
    head["object"] += ".chunk"
    parts = [{"role": "assistant", **deltas[0]}, *deltas[1:]]
    choices: list[dict[str, Any]] = [{"index": 0, "delta": part, "finish_reason": None} for part in parts]
    chunks = [{**head, "choices": [one]} for one in [*choices, {"index": 0, "delta": {}, "finish_reason": finish}]]
    lines = [json.dumps(one) for one in [*chunks, {**head, "choices": [], "usage": usage}]]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


def wanted(finish: str, deltas: list[dict[str, Any]]) -> Facts:
    """Return what an answer should say."""
    message = message_of(deltas)
    made = [(one["id"], json.loads(one["function"]["arguments"])) for one in message.get("tool_calls", ())]
    thought = message.get("reasoning_content") or message.get("reasoning") or ""
    return thought, message["content"] or "", made, STOPS[finish]


def found(answer: Any) -> Facts:
    """Return what an answer says: a message, or the events of one."""
    blocks, stop = (answer["content"], answer["stop_reason"]) if isinstance(answer, dict) else _merged(answer)
    said = {kind: [one for one in blocks if one["type"] == kind] for kind in ("thinking", "text", "tool_use")}
    thought = "".join(one["thinking"] for one in said["thinking"])
    text = "".join(one["text"] or "" for one in said["text"])
    return thought, text, [(one["id"], one["input"]) for one in said["tool_use"]], stop


def _merged(stream: str) -> tuple[list[dict[str, Any]], object]:
    blocks: dict[int, dict[str, Any]] = {}
    stop: object = None
    for event in _events(stream):
        if event["type"] == "content_block_start":
            blocks[event["index"]] = {**event["content_block"], "json": ""}
        elif event["type"] == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            for name, key in (("text", "text"), ("thinking", "thinking"), ("partial_json", "json")):
                if name in delta:
                    block[key] = block.get(key, "") + delta[name]
        elif event["type"] == "message_delta":
            stop = event["delta"].get("stop_reason") or stop
    for block in blocks.values():
        if block["json"]:
            try:
                block["input"] = json.loads(block["json"])
            except ValueError:
                block["input"] = block["json"]
    return list(blocks.values()), stop


def _events(stream: str) -> Iterator[dict[str, Any]]:
    return (json.loads(line[5:]) for line in stream.split("\n") if line.startswith("data:"))


class Fixed(ModelServer):
    """A server that answers with the same bytes."""

    answer = b""

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Answer."""
        kind = "application/json" if self.answer.startswith(b"{") else "text/event-stream"
        return EmulatedResponse(body=self.answer, content_type=kind)


def main() -> int:
    """Ask for each case, and print the table."""
    python = environment_with(ROOT / ".venv-adapter", PACKAGES, "about 20 s", print) / "bin" / "python"
    env = {"PATH": os.environ["PATH"], "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    lost = 0
    with World() as world:
        server = Fixed(name="fixed")
        world.add(server)
        with subprocess.Popen([python, "-c", ASK], stdin=-1, stdout=-1, stderr=-3, text=True, env=env) as process:
            assert process.stdin
            assert process.stdout
            print("| completion | whole | streamed |\n| --- | --- | --- |")
            for name, (finish, deltas) in CASES.items():
                cells = []
                for streamed in (False, True):
                    server.answer = completion(finish, deltas, streamed=streamed)
                    process.stdin.write(json.dumps([f"{server.url}/v1", streamed]) + "\n")
                    process.stdin.flush()
                    line = next(one for one in process.stdout if one.startswith("answer:"))
                    made = found(json.loads(line.removeprefix("answer:")))
                    cells.append("same" if made == wanted(finish, deltas) else f"`{made}`")
                    lost += cells[-1] != "same"
                print(f"| {name} | {' | '.join(cells)} |", flush=True)
            process.stdin.close()
    print(f"\n{lost} of {2 * len(CASES)} are translated wrongly.")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
