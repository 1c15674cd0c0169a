"""Several processes and a provider with a stated limit of one search per second: their queueing."""

from __future__ import annotations

from contextlib import ExitStack

from components.searcher import Searcher
from groundwire import Web
from groundwire.providers.base import scope
from groundwire.settings import Settings
from groundwire.storage import open_store
from world import World
from world.services.brave import Brave

_WORDS = ("bm25", "ranking", "retrieval", "index", "query", "fusion")


async def queue_at_a_slow_provider(world: World, store: str, *, processes: int) -> None:
    """Let processes that share a store make six concurrent searches, and check that they share one queue.

    How close together two requests arrive depends on the machine, so the turns are counted where they are taken: when
    each of the six had one, the next is six seconds after the first, however long the six took. Three processes with a
    queue each would take two.

    Args:
        world: Where the provider is.
        store: The store's URL.
        processes: How many; they share the searches.
    """
    brave = world.service("brave")
    assert isinstance(brave, Brave)
    brave.per_second = 0  # it says 1, and refuses none that come closer together
    settings = {
        "search": {"providers": ["brave"], "timeout": 100.0},
        "providers": {"brave": {"base_url": brave.url}},
        "keys": {"BRAVE_API_KEY": "test-key"},
        "storage": {"url": store, "timeout": 30.0},
        "cache": {"enabled": False},
        "archive": {"enabled": False},
    }
    with ExitStack() as stack:
        searchers = [
            stack.enter_context(Searcher(settings, [f"{word} wikipedia" for word in _WORDS[number::processes]]))
            for number in range(processes)
        ]
        for searcher in searchers:
            searcher.ready()
        shared = open_store(store, timeout=60)
        await shared.pace("begun", interval=float(len(_WORDS)))  # its next turn is in six seconds
        for searcher in searchers:
            searcher.go()
        answers = [answer for searcher in searchers for answer in searcher.answers()]
    assert [outcomes for _, outcomes in answers] == [["ok"]] * len(_WORDS)
    assert brave.spent == len(_WORDS)
    async with Web(Settings.model_validate(settings)) as web:
        (where,) = (scope(provider) for provider in web.__dict__["_resources"].owned if provider.name == "brave")
    turn = await shared.pace(f"pace:{where}", interval=1.0, max_wait=0.0)
    six = await shared.pace("begun", interval=1.0, max_wait=0.0)
    await shared.aclose()
    assert turn.wait >= six.wait
