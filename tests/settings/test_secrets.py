"""Keys and passwords show up nowhere."""

from __future__ import annotations

import pickle
import traceback
from typing import Any, Protocol

import pytest
from pydantic import BaseModel, ValidationError

from groundwire.errors import ConfigurationError
from groundwire.settings import KEY_VARIABLES, SearchSettings, Settings, provider_rows

CANARY = "c4n4ry-pa55word"


class _Desk(Protocol):
    def write(self, *, project: str = "", user: str = "", dotenv: str = "") -> None: ...
    def load(self, environment: dict[str, str] | None = None, **arguments: Any) -> Settings: ...


@pytest.mark.req("Y7")
@pytest.mark.parametrize("place", ["environment", ".env"])
def test_a_key_shows_up_nowhere(place: str, desk: _Desk) -> None:
    keys = dict.fromkeys(KEY_VARIABLES, f" {CANARY} ")
    if place == ".env":
        desk.write(dotenv="".join(f"export {name}='{CANARY}'\n" for name in KEY_VARIABLES))
    settings = desk.load(keys if place == "environment" else {})
    shown = [
        repr(settings),
        str(settings),
        f"{settings!r:.9999}",
        str(settings.model_dump()),
        str(settings.model_dump(mode="json")),
        settings.model_dump_json(),
        str(settings.rows()),
        str(provider_rows(settings)),
        str(settings.keys),
        str(list(settings)),
    ]
    assert [text for text in shown if CANARY in text] == []
    assert all(key.get_secret_value() == CANARY for key in settings.keys.values())
    rows = {row.key: row for row in settings.rows()}
    assert {name: rows[f"keys.{name}"].origin for name in KEY_VARIABLES} == {
        name: f"{place} {name}" for name in KEY_VARIABLES
    }


@pytest.mark.req("Y7")
def test_a_password_in_an_address_is_shown_to_nobody(desk: _Desk) -> None:
    settings = desk.load(
        {
            "GROUNDWIRE_NETWORK_PROXY": f"http://me:{CANARY}/x@proxy.example:3128",
            "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": f"https://me:{CANARY}@search.example",
        }
    )
    rows = {row.key: row.value for row in (*settings.rows(), *provider_rows(settings))}
    assert rows["network.proxy"] == "http://********@proxy.example:3128"
    assert rows["providers.searxng.base_url"] == "https://********@search.example"
    assert CANARY not in repr(settings)


def test_the_user_agent_may_hold_a_mail_address(desk: _Desk) -> None:
    agent = "mine/1 (+https://example.org/bot; me@example.org)"
    rows = {row.key: row.value for row in desk.load({"GROUNDWIRE_NETWORK_USER_AGENT": agent}).rows()}
    assert rows["network.user_agent"] == agent


@pytest.mark.req("Y7")
def test_an_option_that_is_named_a_secret_is_masked(desk: _Desk) -> None:
    settings = Settings.model_validate(
        {"providers": {"elsewhere": {"api_key": CANARY, "access_token": CANARY, "n": 1}}}
    )
    rows = {row.key: row.value for row in settings.rows()}
    assert rows["providers.elsewhere.api_key"] == rows["providers.elsewhere.access_token"] == "********"
    assert rows["providers.elsewhere.n"] == "1"
    assert CANARY not in repr(settings)


@pytest.mark.req("Y7")
@pytest.mark.parametrize(
    "files",
    [
        {"project": f'[keys]\nBRAVE_API_KEY = "{CANARY}"\n'},
        {"project": f'[search]\nBRAVE_API_KEY = "{CANARY}"\n'},
        {"project": f'BRAVE_API_KEY = "{CANARY}"\n'},
        {"project": f'[providers.searxng]\napi_key = "{CANARY}"\n'},
        {"project": f'[search]\nlimit = "{CANARY}"\nsafesearch = "{CANARY}"\n[network]\nproxy = ["{CANARY}"]\n'},
        {"project": f'[providers.duckduckgo]\ndelay = "{CANARY}"\n'},
        {"dotenv": f"GROUNDWIRE_READ_TIMEOUT={CANARY}\n"},
        {"dotenv": f"GROUNDWIRE_SEARCH_LIMIT={CANARY}\n"},
    ],
)
def test_an_error_does_not_repeat_the_value(files: dict[str, str], desk: _Desk) -> None:
    desk.write(**files)
    with pytest.raises(ConfigurationError) as raised:
        desk.load()
    assert CANARY not in "".join(traceback.format_exception(raised.value))


def test_settings_stay_whole_when_they_are_copied_to_another_process(desk: _Desk) -> None:
    settings = desk.load({"BRAVE_API_KEY": CANARY, "GROUNDWIRE_SEARCH_LIMIT": "3"})
    for copy in (settings.model_copy(deep=True), pickle.loads(pickle.dumps(settings))):
        assert copy == settings
        assert copy.origin("search.limit") == "environment GROUNDWIRE_SEARCH_LIMIT"


def test_frozen(desk: _Desk) -> None:
    with pytest.raises(ValueError, match="frozen"):
        desk.load().search.limit = 3


@pytest.mark.req("Y7")
@pytest.mark.parametrize("model", [Settings, SearchSettings])
def test_settings_made_by_hand_do_not_repeat_a_wrong_value_either(model: type[BaseModel]) -> None:
    wrong = {"limit": CANARY} if model is SearchSettings else {"search": {"limit": CANARY}, "keys": CANARY}
    with pytest.raises(ValidationError) as raised:
        model.model_validate(wrong)
    assert CANARY not in str(raised.value)
