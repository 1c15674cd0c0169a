"""What the proxy adds to a request that needs no search, beside a bare aiohttp relay in the same run.

A model server in a process of its own answers at once with fixed bytes: a whole completion, and a stream of 30
chunks. A history with ten citation markers is looked up in the store (SQLite) before the model is called; a long one
has 200 messages. Every request has another last message. One client asks it directly, through `groundwire proxy`, and
through a relay of a dozen lines of aiohttp that looks at nothing, in turn, `--rounds` times with `--requests`
requests each. CPU is the process time of the proxy or the relay divided by the requests; the first byte is the
median, and `added` is what is above the direct one. The best round of each counts, since the machine's other work
only ever adds; where it is busy, the fastest tenth tells more. Ends with 1 when the proxy's CPU is above 3 ms a
request, or its first byte comes more than 2 ms after the model server's own; the long history, of some 23 kB, is
shown beside these, as its cost is that of reading so much JSON.

Without `--pause` a request follows the last one at once, so that its connections are still open; `--pause 1.5` waits
longer than the proxy keeps them, as people do. It does not see several clients at once.

    python benchmarks/proxy.py [--requests 200] [--rounds 5] [--pause SECONDS]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
from gateway import ROOT, serving, used

from components.processes import ReservedPort

MOST_CPU, MOST_WAIT = 3.0, 2.0  # ms

MODELS = """
import asyncio, json, sys
chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
deltas = [{"role": "assistant", "content": ""}, *({"content": f"word{n} "} for n in range(28))]
lines = [{**chunk, "choices": [{"index": 0, "delta": one, "finish_reason": None}]} for one in deltas]
lines.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
events = [b"data: " + json.dumps(one).encode() + b"\\n\\n" for one in lines] + [b"data: [DONE]\\n\\n"]
text = "".join(one.get("content", "") for one in deltas)
choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
whole = json.dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).encode()
async def answer(reader, writer):
    try:
        while head := await reader.readuntil(b"\\r\\n\\r\\n"):
            sizes = [one for one in head.split(b"\\r\\n") if one.lower().startswith(b"content-length:")]
            body = await reader.readexactly(int(sizes[0].split(b":")[1])) if sizes else b""
            if b'"stream":true' in body.replace(b" ", b""):
                writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\n")
                writer.write(b"Transfer-Encoding: chunked\\r\\n\\r\\n")
                for one in events:
                    writer.write(b"%x\\r\\n%s\\r\\n" % (len(one), one))
                    await asyncio.sleep(0)
                writer.write(b"0\\r\\n\\r\\n")
            else:
                writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\n")
                writer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(whole), whole))
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    async with await asyncio.start_server(answer, "127.0.0.1", int(sys.argv[1])) as server:
        await server.serve_forever()
asyncio.run(main())
"""

RELAY = """
import sys
import aiohttp
from aiohttp import web
async def relay(request):
    async with session.request(request.method, sys.argv[2] + request.path_qs, data=await request.read(),
                               headers={"Content-Type": "application/json"}) as answer:
        response = web.StreamResponse(status=answer.status, headers={"Content-Type": answer.headers["Content-Type"]})
        await response.prepare(request)
        async for piece in answer.content.iter_any():
            await response.write(piece)
        return response
async def main():
    global session
    session = aiohttp.ClientSession()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", relay)
    return app
web.run_app(main(), host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
"""

TALK = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "What is rank fusion?"},
    {"role": "assistant", "content": "Rank fusion merges several ranked lists into one. " * 5},
    {"role": "user", "content": "Say that again, shorter."},
]
CITED = [{**one, "content": one["content"].replace("one.", "one, as the paper says [1] [2].")} for one in TALK]
LONG = "whole, a history of 200 messages"
BODIES: dict[str, dict[str, Any]] = {
    "whole": {"model": "m", "messages": TALK},
    "whole, a history with markers": {"model": "m", "messages": CITED},
    "streamed": {"model": "m", "messages": TALK, "stream": True},
    LONG: {"model": "m", "messages": [one for _ in range(50) for one in TALK]},
}
NUMBERS = itertools.count()


async def ask(http: aiohttp.ClientSession, url: str, body: dict[str, Any], pause: float = 0.0) -> float:
    """Send a request with a last message of its own, and return the seconds until the first byte of the body."""
    body = {**body, "messages": [*body["messages"], {"role": "user", "content": f"And number {next(NUMBERS)}?"}]}
    await asyncio.sleep(pause)
    began = time.perf_counter()
    async with http.post(f"{url}/v1/chat/completions", json=body) as response:
        await response.content.readany()
        first = time.perf_counter() - began
        await response.read()
        assert response.status == 200, response.status
    return first


async def measure(
    url: str, pid: int | None, body: dict[str, Any], requests: int, pause: float
) -> tuple[float, float, float]:
    """Return the milliseconds of CPU of a request, and the median and the tenth percentile until the first byte."""
    async with aiohttp.ClientSession(trust_env=False) as http:
        for _ in range(5):
            await ask(http, url, body)
        before = used(pid) if pid else 0.0
        waits = [await ask(http, url, body, pause) for _ in range(requests)]
        cpu = (used(pid) - before if pid else 0.0) / requests
    return cpu * 1_000, statistics.median(waits) * 1_000, statistics.quantiles(waits, n=10)[0] * 1_000


@contextmanager
def script(name: str, code: str, folder: Path, *arguments: str) -> Iterator[tuple[str, int]]:
    """Run a small server while the block runs."""
    reserved = ReservedPort()
    url = f"http://127.0.0.1:{reserved.number}"
    command = [sys.executable, "-c", code, str(reserved.number), *arguments]
    with serving(name, command, {}, f"{url}/v1/models", folder) as pid:
        yield url, pid


@contextmanager
def proxy(upstream: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Run `groundwire proxy` with its default storage."""
    reserved = ReservedPort()
    url = f"http://127.0.0.1:{reserved.number}"
    command = [sys.executable, "-m", "groundwire", "proxy", "--upstream", f"{upstream}/v1"]
    env = {"PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with serving("proxy", [*command, "--port", str(reserved.number)], env, f"{url}/readyz", folder) as pid:
        yield url, pid


def main() -> int:
    """Ask in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=200, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds before each request")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        models, _ = stack.enter_context(script("models", MODELS, folder))
        servers: dict[str, tuple[str, int | None]] = {
            "the model server": (models, None),
            "bare aiohttp relay": stack.enter_context(script("relay", RELAY, folder, models)),
            "groundwire proxy": stack.enter_context(proxy(models, folder)),
        }
        best: dict[tuple[str, str], list[float]] = {}
        for _ in range(options.rounds):
            for kind in BODIES:
                body = BODIES[kind]
                for name, (url, pid) in servers.items():
                    found = asyncio.run(measure(url, pid, body, options.requests, options.pause))
                    known = best.setdefault((name, kind), list(found))
                    best[name, kind] = [min(pair) for pair in zip(known, found, strict=True)]
    print("| server | response | CPU ms a request | first byte, ms | added ms | added, the fastest tenth |")
    print(f"|{' --- |' * 6}")
    for (name, kind), (cpu, wait, fast) in best.items():
        _, own, fastest = best["the model server", kind]
        print(f"| {name} | {kind} | {cpu:.2f} | {wait:.2f} | {wait - own:.2f} | {fast - fastest:.2f} |")
    ours = {kind: best["groundwire proxy", kind] for kind in BODIES if kind != LONG}
    late = {kind: wait - best["the model server", kind][1] for kind, (_, wait, _) in ours.items()}
    fine = all(cpu <= MOST_CPU for cpu, _, _ in ours.values()) and all(wait <= MOST_WAIT for wait in late.values())
    print(f"\nAt most {MOST_CPU:g} ms of CPU and {MOST_WAIT:g} ms to the first byte: {'met' if fine else 'NOT met'}.")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
