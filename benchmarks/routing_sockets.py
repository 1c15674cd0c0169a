"""The routing benchmark over HTTP: the miniature web's services with seeded faults, and their callers.

Each contender is a process of its own and has three services of its own, so that its requests alone count as tries.
All run at once. The services misbehave at `scale`: at 0.1 a second takes a tenth of one. Our own process runs on a
clock that is as much faster, since the numbers of its policy are seconds; the others get their timeouts scaled. What
the machine itself takes counts ten times then, for everybody alike.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import peers
from aiohttp import web
from fates import PAID, TRICKLE, Fate, Fates
from scores import SEQUENTIAL, Score

from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from groundwire.testing.http_messages import Wire
from world import World

HERE = Path(__file__).parent
SERVICES = ("duckduckgo_lite", "brave", "tavily")
CONTENDERS = {
    SEQUENTIAL: (None, "asking_peers.py", "chain"),
    "circuit breaker": (None, "asking_peers.py", "breaker"),
    "race of all": (None, "asking_peers.py", "race"),
    "LangChain with_fallbacks": (None, "asking_peers.py", "langchain"),
    "LiteLLM Router fallbacks": (None, "asking_peers.py", "litellm"),
    "groundwire fallback": (Path(sys.executable), "asking_ours.py", "fallback"),
    "groundwire hedge": (Path(sys.executable), "asking_ours.py", "hedge"),
    "groundwire fuse": (Path(sys.executable), "asking_ours.py", "fuse"),
}
CANARY = -1
WARM_UP = "warm up"  # the end of a query that always fares well


class Fated(EmulatedServer):
    """A service of the miniature web with a seeded fault for each request.

    Args:
        inner: The service; it makes each kind of answer once, so that it costs little.
        place: Which of the three it is.
        fates: What befalls requests.
        scale: How long a second takes, in seconds.
    """

    def __init__(self, inner: EmulatedServer, place: int, fates: Fates, scale: float) -> None:
        super().__init__(f"{inner.name}-fated")
        self._inner = inner
        self._place = place
        self._fates = fates
        self._scale = scale
        self._tries: Counter[int] = Counter()
        self._state: dict[str, object] = {}
        self._began = math.nan
        self.sent: list[float] = []
        self._good: EmulatedResponse | None = None
        self.billed = 0

    def handle(self, request: Recorded) -> EmulatedResponse:
        words = request.params.get("q") or json.loads(request.body or b"{}").get("query", "")
        if self._good is None:
            self._good = replace(self._inner.handle(request), headers={})  # no limit of one a second
        if words.endswith(WARM_UP):
            return self._good
        now = time.monotonic() / self._scale
        if math.isnan(self._began):
            self._began = now
        number = int(words.split()[-1]) if words.split()[-1].isdigit() else CANARY
        fate = self._fates.of(self._place, number, self._tries[number], now - self._began, self._state)
        self._tries[number] += 1
        self.sent.append(now)
        self.billed += fate.kind == "ok" and PAID[self._place]
        return replace(self._good, fault=self._fault(fate))

    def _fault(self, fate: Fate) -> InjectedFault:
        kind, seconds = fate.kind, fate.seconds * self._scale
        headers = {} if fate.retry_after is None else {"Retry-After": f"{fate.retry_after:g}"}
        faults = {
            "ok": InjectedFault.delay(seconds),
            "429": InjectedFault.status(429, headers=headers),
            "202": InjectedFault.status(202, "<!doctype html><title>DuckDuckGo</title>"),
            "403": InjectedFault.status(403, "<h1>Forbidden</h1>"),
            "500": InjectedFault.status(500),
            "malformed": InjectedFault.wrong_json(),
            "unproven": InjectedFault.reply("empty", lambda _: self._nothing()),
            "hang": InjectedFault.hang(),
            "trickle": _trickle(TRICKLE * self._scale),
            "reset": InjectedFault.reset(),
        }
        fault = faults[kind]
        return fault if kind in {"ok", "hang", "trickle"} else _after(seconds, fault)

    def _nothing(self) -> EmulatedResponse:
        """Return the answer to a query that has no results, in the service's own form."""
        bodies = {
            "duckduckgo_lite": "<!doctype html><html><body><form action='/lite/'><input name='q'></form></body></html>",
            "brave": '{"type": "search", "query": {"original": "q"}}',
            "tavily": '{"query": "q", "results": [], "response_time": 0.1}',
        }
        body = bodies[self._inner.name]
        return EmulatedResponse(body=body.encode(), content_type="application/json" if body[0] == "{" else "text/html")


def _after(seconds: float, fault: InjectedFault) -> InjectedFault:
    async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await fault.play(wire, reply)

    return InjectedFault(fault.label, play)


def _trickle(seconds: float) -> InjectedFault:
    """Return a fault that sends the body in sixty pieces: byte by byte would keep the machine busy."""

    async def play(wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
        await wire.raw(reply.head(Content_Length=str(len(reply.body)), Connection="close"))
        step = max(1, math.ceil(len(reply.body) / 60))
        for start in range(0, len(reply.body), step):
            await asyncio.sleep(seconds / 60)
            await wire.raw(reply.body[start : start + step])
        await wire.close()

    return InjectedFault("trickle", play)


def run(fates: Fates, queries: int, scale: float) -> dict[str, Score]:
    """Run all queries with all contenders, and return the results."""
    theirs = peers.install_fallbacks()
    clean = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    clean["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it asks the web for prices otherwise
    scores = {}
    with ExitStack() as stack:
        started = {}
        for name, (python, script, what) in CONTENDERS.items():
            world = stack.enter_context(World())
            services = [
                world.add(Fated(world.service(service), place, fates, scale)) for place, service in enumerate(SERVICES)
            ]
            urls = json.dumps([service.url for service in services])
            command = [str(python or theirs), str(HERE / script), what, urls, str(queries), str(scale)]
            command.append(str(fates.scenario.rate))
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            started[name] = (subprocess.Popen(command, text=True, env=clean, **pipes), services)
        for name, (process, _) in started.items():
            assert process.stdout is not None
            if not process.stdout.readline():  # it has loaded what it needs, and waits
                sys.exit(f"{name} failed:\n{process.communicate()[1][-3000:]}")
        for process, _ in started.values():
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for name, (process, services) in started.items():
            output, errors = process.communicate()
            if process.returncode:
                sys.exit(f"{name} failed:\n{errors[-3000:]}")
            score = scores[name] = _score(json.loads(output.splitlines()[-1]))
            score.billed = sum(service.billed for service in services)
            sent = sorted(at for service in services for at in service.sent)
            score.requests = [at - sent[0] for at in sent]
    return scores


def _score(rows: list[list[object]]) -> Score:
    score = Score()
    for began, seconds, provider, told in rows:
        score.spans.append((float(str(began)), float(str(began)) + float(str(seconds))))
        score.answered += bool(provider)
        score.empties += not provider and not told
    return score
