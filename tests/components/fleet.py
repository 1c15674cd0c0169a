"""Several processes and one provider that serves one search a second: what they do to it."""

from __future__ import annotations

from contextlib import ExitStack

from components.searcher import Searcher
from groundwire.testing.services.brave import Brave
from groundwire.testing.world import World

__all__ = ["queue_at_a_slow_provider"]

_WORDS = ("bm25", "ranking", "retrieval", "index", "query", "fusion", "search", "tokens", "weights", "evaluation")


def queue_at_a_slow_provider(world: World, store: str, *, processes: int) -> None:
    """Let processes that share a store ask ten searches at once, and check that they queue and none is refused.

    Args:
        world: Where the provider is.
        store: The store's URL.
        processes: How many; they share the ten searches.
    """
    brave = world.service("brave")
    assert isinstance(brave, Brave)
    brave.per_second = 1
    settings = {
        "search": {"providers": ["brave"], "timeout": 40.0},
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
            searcher.go()
        answers = [answer for searcher in searchers for answer in searcher.answers()]
    assert brave.refused == 0, answers
    assert [outcomes[-1] for _, outcomes in answers if len(outcomes) > 1] == []
    assert brave.spent == len(answers) == len(_WORDS)
