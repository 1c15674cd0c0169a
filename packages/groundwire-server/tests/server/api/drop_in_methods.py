"""Calls every public method of a client of another API at a gateway, and prints what became of each as JSON.

`python drop_in_methods.py CLIENT BASE_URL PAGE_URL KIND`, with the client installed; CLIENT is a distribution, KIND
`sync` or `async`. A method's outcome is `works`, `client` if nothing was sent, else the error's text; with it come the
statuses and media types.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

WORDS = "reciprocal rank fusion"
LISTS = ("list", "sequence", "iterable")
LOCAL = {"close", "copy", "qs", "request", "timeout", "with_options", "wrap"}
LOCAL |= {"delete", "get", "get_api_list", "patch", "post", "put"}
"""Members of the client itself that ask nothing of the service, or anything that they are told."""
SILENT = {"watcher"}
"""Members that end without an error whatever the service responds."""


def methods(owner: object, name: str = "", depth: int = 0) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public methods of a client and of the objects that it groups them in."""
    for member in sorted(set(dir(owner)) - SILENT - (set() if depth else LOCAL)):
        value = None if member.startswith(("_", "with_")) else getattr(owner, member, None)
        full = f"{name}.{member}".lstrip(".")
        if inspect.isroutine(value):
            yield full, value
        elif depth < 3 and type(value).__module__.partition(".")[0] == type(owner).__module__.partition(".")[0]:
            yield from methods(value, full, depth + 1)


def arguments(method: Callable[..., Any], page: str) -> dict[str, Any]:
    """Return a value for each argument that a method requires, and for a query or page that it can have."""
    known: dict[str, Any] = dict.fromkeys(("query", "q", "input", "prompt", "instructions"), WORDS)
    known |= {"url": page, "urls": [page], "ids": [page]}
    given: dict[str, Any] = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.default is parameter.empty or name in ("query", "url", "urls"):
            form = str(parameter.annotation).lower()
            plain = ["x1"] if any(word in form for word in LISTS) else {"a": "b"} if "dict" in form else "x1"
            given[name] = known.get(name, plain)
    return given


def made(client: str, base: str, kind: str) -> object:
    """Return a client of the gateway."""
    prefix = "Async" if kind == "async" else ""
    if client == "tavily-python":
        return getattr(import_module("tavily"), f"{prefix}TavilyClient")(api_key="tvly-any", api_base_url=base)
    if client == "exa-py":
        return getattr(import_module("exa_py"), f"{prefix}Exa")("any", base)
    if client == "firecrawl-py":
        return getattr(import_module("firecrawl"), f"{prefix}Firecrawl")(api_key="any", api_url=base)
    return getattr(import_module("perplexity"), f"{prefix}Perplexity")(api_key="any", base_url=base, max_retries=0)


async def awaited(answer: Any) -> Any:
    """Return the answer of an async client, read to its end."""
    if inspect.isawaitable(answer):
        answer = await answer
    if hasattr(answer, "__aiter__"):
        async for _ in answer:
            pass
    return answer


def finished(method: Callable[..., Any], options: dict[str, Any], loop: asyncio.AbstractEventLoop | None) -> None:
    """Call a method, and read its answer to the end; some of Firecrawl's return what failed."""
    answer = method(**options)
    if loop:
        answer = loop.run_until_complete(awaited(answer))
    elif inspect.isgenerator(answer):
        list(answer)
    if getattr(answer, "success", None) is False:
        raise ValueError(answer.error)


async def yielded(seconds: float, result: object = None) -> object:
    """Stand for `asyncio.sleep` between the tries of a client."""
    await asyncio.get_running_loop().run_in_executor(None, int)
    return result


def main(client: str, base: str, page: str, kind: str) -> None:
    """Print the outcome of each method."""
    warnings.simplefilter("ignore")
    clock: Any = time
    clock.sleep = lambda seconds: None  # between the tries of a client
    loops: Any = asyncio
    loops.sleep = yielded
    sent: list[tuple[int, str]] = []

    def record(response: Any) -> Any:
        sent.append((response.status_code, response.headers.get("content-type", "")))
        return response

    for package, name in (("requests", "Session"), ("httpx", "Client"), ("httpx", "AsyncClient")):
        try:
            owner = getattr(import_module(package), name)
        except ImportError:
            continue
        send = owner.send

        def counted(self: Any, request: Any, _send: Any = send, **options: Any) -> Any:
            return record(_send(self, request, **options))

        async def counted_later(self: Any, request: Any, _send: Any = send, **options: Any) -> Any:
            return record(await _send(self, request, **options))

        owner.send = counted_later if inspect.iscoroutinefunction(send) else counted
    outcomes = {}
    loop = asyncio.new_event_loop() if kind == "async" else None
    with ThreadPoolExecutor(1) as pool:
        for name, method in methods(made(client, base, kind)):
            sent.clear()
            error = pool.submit(finished, method, arguments(method, page), loop).exception()
            outcome = "client" if not sent else "works" if error is None else str(error)
            outcomes[name] = [outcome, sorted({status for status, _ in sent}), sorted({kind for _, kind in sent})]
    print(json.dumps(outcomes))


main(*sys.argv[1:])
