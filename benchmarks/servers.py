"""The servers of `throughput.py`, the stand-in that they search through, and how to ask them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from gateway import RESULTS, ROOT, family, serving, used

from components.processes import ReservedPort
from components.searxng_settings import write_settings

LITELLM = """
search_tools:
  - search_tool_name: engine
    litellm_params: {{search_provider: tavily, api_key: test-key, api_base: "{tavily}"}}
general_settings: {{master_key: sk-benchmark}}
"""
_GRANIAN = "--interface wsgi --no-ws --blocking-threads 4 --host 127.0.0.1"  # as in SearXNG's own container


@dataclass(frozen=True)
class Server:
    """A server, how to ask it, and its process."""

    name: str
    url: str
    body: dict[str, Any]
    pid: int
    headers: dict[str, str] = field(default_factory=dict)

    async def ask(self, http: aiohttp.ClientSession, number: int) -> str:
        """Search once, and return the outcome."""
        query = f"engines {number:08}"
        asked: dict[str, Any] = {"json": self.body | {"query": query}}
        if "format" in self.body:
            asked = {"params": self.body | {"q": query}}
        try:
            async with http.request("POST" if "json" in asked else "GET", self.url, **asked) as response:
                answer = await response.json()
                if response.status != 200:
                    return "refused" if "Retry-After" in response.headers else f"status {response.status}"
        except TimeoutError:
            return "late"
        except (aiohttp.ClientError, OSError) as error:
            return f"reset: {type(error).__name__}"
        titles = [result["title"] for result in answer["results"]]
        if len(titles) != RESULTS:
            return f"{len(titles)} results"
        return "answered" if all(query in title for title in titles) else "wrong"

    def cpu(self) -> float:
        """Return the seconds of CPU that its processes have used."""
        return sum((used(pid) for pid in family(self.pid)), 0.0)


def serve(port: int, delay: float, upstream: str) -> None:
    """Serve as a stand-in, or as a bare handler that asks `upstream`."""

    def results(query: str) -> list[dict[str, str]]:
        words = [f"{query} part {part} of {query[-4:]}{part * 7919}" for part in range(RESULTS)]
        places = (f"https://site{part}.example/{query.replace(' ', '/')}" for part in range(RESULTS))
        pairs = zip(words, places, strict=True)
        return [{"title": text, "url": url, "content": f"What {text} says. " * 8} for text, url in pairs]

    async def stand_in(request: web.Request) -> web.Response:
        query = request.query["q"] if request.method == "GET" else (await request.json())["query"]
        await asyncio.sleep(delay)
        found = results(query)
        return web.json_response({"query": query, "results": found, "items": [one | {"text": ""} for one in found]})

    async def bare(request: web.Request) -> web.Response:
        body = {"query": (await request.json())["query"], "max_results": RESULTS}
        async with request.app[session].post(f"{upstream}/search", json=body) as response:
            return web.json_response({"results": (await response.json())["results"]})

    async def opened(app: web.Application) -> Any:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as app[session]:
            yield

    session, app = web.AppKey("session", aiohttp.ClientSession), web.Application()
    app.cleanup_ctx.append(opened)
    app.router.add_post("/search", bare if upstream else stand_in)
    app.router.add_get("/json", stand_in)
    web.run_app(app, host="127.0.0.1", port=port, access_log=None, backlog=4_096, print=None)


@contextmanager
def aiohttp_server(folder: Path, delay: float, upstream: str = "") -> Iterator[tuple[str, int]]:
    """Run a stand-in, or a bare handler."""
    reserved = ReservedPort()
    url = f"http://127.0.0.1:{reserved.number}"
    code = f"import servers; servers.serve({reserved.number}, {delay}, {upstream!r})"
    paths = os.pathsep.join(str(ROOT / name) for name in ("src", "tests", "benchmarks"))
    command, health = [sys.executable, "-c", code], f"{url}/json?q=health"
    with serving("bare" if upstream else "stand-in", command, {"PYTHONPATH": paths}, health, folder) as pid:
        yield url, pid


@contextmanager
def litellm(tavily: str, folder: Path, environment: Path) -> Iterator[Server]:
    """Run litellm's proxy."""
    settings, reserved = folder / "litellm.yaml", ReservedPort()
    settings.write_text(LITELLM.format(tavily=tavily))
    url = f"http://127.0.0.1:{reserved.number}"
    options = f"--config {settings} --host 127.0.0.1 --port {reserved.number} --num_workers 1"
    command = [str(environment / "bin" / "litellm"), *options.split()]
    env = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "LITELLM_MODE": "PRODUCTION"}
    with serving("litellm", command, env, f"{url}/health/liveliness", folder) as pid:
        headers = {"Authorization": "Bearer sk-benchmark"}
        yield Server("litellm proxy", f"{url}/v1/search/engine", {"max_results": RESULTS}, pid, headers)


@contextmanager
def searxng(upstream: str, folder: Path, checkout: Path) -> Iterator[Server]:
    """Run a SearXNG."""
    reserved = ReservedPort()
    settings = write_settings(folder, upstream=upstream, port=reserved.number, json_format=True, limiter=None)
    text = json.loads(settings.read_text())
    text["engines"] = text["engines"][:1]  # its newest versions fail at those that are for tests
    settings.write_text(json.dumps(text))
    command = [str(checkout / ".venv" / "bin" / "granian"), *_GRANIAN.split(), "--port", str(reserved.number)]
    url = f"http://127.0.0.1:{reserved.number}"
    env = {"SEARXNG_SETTINGS_PATH": str(settings), "PYTHONPATH": str(checkout)}
    with serving("searxng", [*command, "searx.webapp:app"], env, f"{url}/healthz", folder) as pid:
        yield Server("SearXNG", f"{url}/search", {"format": "json", "engines": "localjson"}, pid)
