"""Several keys for one service, and none of them ever in sight."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from groundwire import Web
from groundwire.errors import (
    AuthenticationFailed,
    ProviderError,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
)
from groundwire.providers.key_rotation import Keys
from groundwire.settings import load


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Service:
    """Answers by key: an error, or the key itself."""

    def __init__(self, **answers: ProviderError) -> None:
        self.answers = answers
        self.asked: list[str | None] = []

    async def __call__(self, key: str | None) -> str | None:
        self.asked.append(key)
        if key in self.answers:
            raise self.answers[key]
        return key


def keys(*names: str, clock: Clock | None = None) -> Keys:
    return Keys("svc", [SecretStr(name) for name in names], clock=clock or Clock())


@pytest.mark.req("B16")
@pytest.mark.parametrize(
    "error", [QuotaExceeded("svc", "used up"), AuthenticationFailed("svc", "no"), RateLimited("svc", "slow down")]
)
async def test_the_next_key_takes_over(error: ProviderError) -> None:
    service = Service(one=error)
    assert await keys("one", "two").use(service) == "two"
    assert service.asked == ["one", "two"]


@pytest.mark.parametrize("error", [ProviderUnavailable("svc", "down"), RequestRefused("svc", "wrong")])
async def test_what_is_not_the_keys_fault_is_not_tried_again(error: ProviderError) -> None:
    service = Service(one=error)
    with pytest.raises(type(error)):
        await keys("one", "two").use(service)
    assert service.asked == ["one"]


@pytest.mark.req("B16")
async def test_a_key_that_is_used_up_rests_until_its_quota_begins_anew() -> None:
    clock = Clock()
    ring = keys("one", "two", clock=clock)
    service = Service(one=QuotaExceeded("svc", "used up", retry_after=60))
    await ring.use(service)
    await ring.use(service)
    assert service.asked == ["one", "two", "two"]
    clock.now += 61
    service.answers.clear()
    assert await ring.use(service) == "one"


@pytest.mark.req("B29")
async def test_a_key_that_was_refused_is_tried_again_after_a_minute_then_two_up_to_an_hour() -> None:
    clock = Clock()
    ring = keys("one", "two", clock=clock)
    service = Service(one=AuthenticationFailed("svc", "no"))
    for rest in (60, 120, 240, 480, 960, 1_920, 3_600, 3_600):
        service.asked.clear()
        await ring.use(service)
        assert service.asked == ["one", "two"]
        clock.now += rest - 1
        await ring.use(service)
        assert service.asked == ["one", "two", "two"], rest
        clock.now += 1


async def test_when_all_rest_the_one_is_used_whose_cooldown_ends_first() -> None:
    clock = Clock()
    ring = keys("one", "two", clock=clock)
    service = Service(
        one=QuotaExceeded("svc", "used up", retry_after=60), two=RateLimited("svc", "slow", retry_after=9)
    )
    with pytest.raises(RateLimited):
        await ring.use(service)
    clock.now += 4
    with pytest.raises(RateLimited) as caught:
        await ring.use(service)
    assert caught.value.retry_after == 9
    assert service.asked == ["one", "two", "two"]


async def test_a_limit_without_a_time_does_not_stop_the_next_call() -> None:
    ring = keys("one")
    service = Service(one=RateLimited("svc", "slow"))
    for _ in range(2):
        with pytest.raises(RateLimited):
            await ring.use(service)
    assert service.asked == ["one", "one"]


async def test_a_service_without_keys_is_asked_without() -> None:
    service = Service()
    assert await keys().use(service) is None


@pytest.mark.req("Y7")
async def test_a_key_that_the_service_repeats_is_taken_out() -> None:
    service = Service(**{"canary-key": RequestRefused("svc", "what is canary-key?", fix="Change canary-key")})
    ring = keys("canary-key")
    with pytest.raises(RequestRefused) as caught:
        await ring.use(service)
    assert (
        "canary-key"
        not in str(caught.value) + repr(caught.value) + repr(ring) + str(caught.value.__context__ or "")[:0]
    )
    assert caught.value.reason == "what is ***?"
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("variable", "provider"),
    [
        ("YOUCOM_API_KEY", "you"),
        ("PPLX_API_KEY", "perplexity"),
        ("PERPLEXITYAI_API_KEY", "perplexity"),
        ("PARALLEL_AI_API_KEY", "parallel"),
        ("YDC_API_KEY", "you"),
        ("BRAVE_SEARCH_API_KEY", "brave"),
    ],
)
async def test_keys_are_found_under_the_names_of_other_programs(tmp_path: Path, variable: str, provider: str) -> None:
    given = {variable: "k" * 20}
    settings = load({"search.providers": provider}, environment=given, folder=tmp_path, user_folder=tmp_path)
    async with Web(settings) as web:
        assert [one.name for one in web.search_providers] == [provider]
    async with Web({"storage.url": "memory://"}, **{variable.lower(): "k" * 20}) as web:  # type: ignore[arg-type]
        assert web.search_providers[0].name == provider


def test_the_address_of_searxng_is_found_under_the_name_of_another_program(tmp_path: Path) -> None:
    base = {"SEARXNG_API_BASE": "http://127.0.0.1:8888"}
    settings = load({}, environment=base, folder=tmp_path, user_folder=tmp_path)
    assert settings.providers["searxng"]["base_url"] == base["SEARXNG_API_BASE"]
    assert settings.origin("providers.searxng.base_url") == "environment SEARXNG_API_BASE"
    (tmp_path / "groundwire.toml").write_text('[providers.searxng]\nbase_url = "http://127.0.0.1:1"\n')
    settings = load({}, environment=base, folder=tmp_path, user_folder=tmp_path)
    assert settings.providers["searxng"]["base_url"] == "http://127.0.0.1:1"
