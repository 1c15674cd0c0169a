"""Settings that are right one by one and wrong together: all named at start-up, with whatever else is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire import Web
from groundwire.errors import ConfigurationError
from groundwire.settings import Settings, load
from world import World


def fault(tmp_path: Path, text: str, **environment: str) -> str:
    (tmp_path / "groundwire.toml").write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        load(environment=environment, folder=tmp_path, user_folder=tmp_path / "nobody")
    return str(raised.value)


def loaded(tmp_path: Path, text: str, arguments: dict[str, object] | None = None, **environment: str) -> Settings:
    (tmp_path / "groundwire.toml").write_text(text)
    return load(arguments, environment=environment, folder=tmp_path, user_folder=tmp_path / "nobody")


def test_everything_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    said = fault(
        tmp_path,
        '[search]\nstrategy = "hedge"\nproviders = ["brave"]\n[session]\nmax_searches = 5\nwarning_threshold = 9\n'
        '[cache]\npage_ttl = -1\n[storage]\nurl = "postgres://db"\n',
        GROUNDWIRE_CACHE_SEARCH_TTL="-3",
        GROUNDWIRE_SEARCH_LIMIT="red",
    )
    for part in (
        "groundwire.toml: search.strategy: 'hedge' needs at least two providers, but brave is the only one",
        "groundwire.toml: session.warning_threshold: 9 is more than session.max_searches = 5",
        "groundwire.toml: cache.page_ttl: input should be greater than or equal to 0",
        "environment GROUNDWIRE_CACHE_SEARCH_TTL: cache.search_ttl: input should be greater than or equal to 0",
        "groundwire.toml: storage.url: The store URL is invalid: it has none of the forms. Forms: memory://",
        "environment GROUNDWIRE_SEARCH_LIMIT: search.limit: input should be a valid integer",
    ):
        assert part in said
    assert len(said.splitlines()) == 1 + 6


@pytest.mark.parametrize(
    "text",
    [
        '[search]\nproviders = ["brave"]',
        '[search]\nproviders = ["brave"]\nstrategy = "fallback"',
        '[search]\nstrategy = "fuse"',
        "[session]\nmax_searches = 3",
        "[session]\nmax_searches = 0\nwarning_threshold = 9",
        "[search]\ntimeout = 2",
    ],
)
def test_what_stands_at_its_default_contradicts_nothing(tmp_path: Path, text: str) -> None:
    assert loaded(tmp_path, text).warnings == ()


def test_an_attempt_is_no_longer_than_the_search(tmp_path: Path) -> None:
    assert "search.attempt_timeout: 9 is more than" in fault(tmp_path, "[search]\ntimeout = 2\nattempt_timeout = 9")


def test_one_call_may_ask_one_provider_whatever_the_strategy_is(tmp_path: Path) -> None:
    assert loaded(tmp_path, '[search]\nstrategy = "hedge"', {"search.providers": ("brave",)}).search.strategy == "hedge"


@pytest.mark.req("H3")
def test_a_documents_threshold_above_the_limit_is_survived_with_a_warning(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "", WEB_SEARCH_SESSION_LIMIT="10", WEB_SEARCH_WARNING_THRESHOLD="30")
    assert (settings.session.max_searches, settings.session.warning_threshold) == (10, 10)
    assert "WEB_SEARCH_WARNING_THRESHOLD is ignored: 30 is more than session.max_searches = 10" in settings.warnings[0]


async def test_settings_made_by_hand_are_refused_by_the_web(settings: Callable[..., Settings]) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Web(settings(search={"strategy": "fuse"}, session={"max_searches": 2, "warning_threshold": 3}))
    assert "'fuse' needs at least two providers" in str(raised.value)
    assert "3 is more than session.max_searches = 2" in str(raised.value)


async def test_a_strategy_that_is_left_with_one_provider_says_why(
    settings: Callable[..., Settings], world: World
) -> None:
    chosen = {"providers": ("searxng", "brave"), "strategy": "hedge"}
    with pytest.raises(ConfigurationError, match=r"searxng is the only one.*brave needs a key: set BRAVE_API_KEY"):
        Web(settings(search=chosen))
    async with Web(settings(search={"providers": ("searxng", "brave")})) as web:
        assert len((await web.search("bm25")).results) > 0
