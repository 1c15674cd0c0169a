"""The options of single providers and of several instances of one."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from groundwire.settings import Settings, provider_rows


class _Desk(Protocol):
    def write(self, *, project: str = "", user: str = "", dotenv: str = "") -> None: ...
    def load(self, environment: dict[str, str] | None = None, **arguments: Any) -> Settings: ...


BACKUP = {"GROUNDWIRE_PROVIDERS_SEARXNG_BACKUP_BASE_URL": "http://backup"}


@pytest.mark.req("Y4")
def test_an_instance_in_a_file_has_options_of_its_own(desk: _Desk) -> None:
    desk.write(
        project='[providers.searxng]\nbase_url = "http://a"\n[providers."searxng:backup"]\nbase_url = "http://b"\n'
    )
    settings = desk.load()
    assert settings.providers == {"searxng": {"base_url": "http://a"}, "searxng:backup": {"base_url": "http://b"}}


@pytest.mark.parametrize("place", ["file", "list in a file", "variable", ".env", "argument"])
def test_a_variable_reaches_an_instance_that_is_named_elsewhere(place: str, desk: _Desk) -> None:
    environment = dict(BACKUP)
    arguments: dict[str, Any] = {}
    match place:
        case "file":
            desk.write(project='[providers."searxng:backup"]\nengines = "bing"\n')
        case "list in a file":
            desk.write(user='[search]\nproviders = ["searxng:backup"]\n')
        case "variable":
            environment["GROUNDWIRE_SEARCH_PROVIDERS"] = "duckduckgo, searxng:backup"
        case ".env":
            desk.write(dotenv="GROUNDWIRE_SEARCH_PROVIDERS=searxng:backup\n")
        case _:
            arguments["search_providers"] = ("searxng:backup",)
    settings = desk.load(environment, **arguments)
    assert settings.providers["searxng:backup"]["base_url"] == "http://backup"
    assert settings.origin("providers.searxng:backup.base_url") == f"environment {next(iter(BACKUP))}"


def test_an_option_of_the_provider_itself_comes_before_an_instance_of_the_same_letters(desk: _Desk) -> None:
    settings = desk.load(
        {"GROUNDWIRE_SEARCH_PROVIDERS": "searxng,searxng:base", "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": "http://a"}
    )
    assert settings.providers == {"searxng": {"base_url": "http://a"}}


def test_a_label_with_signs_that_variables_do_not_have(desk: _Desk) -> None:
    settings = desk.load(
        {
            "GROUNDWIRE_SEARCH_PROVIDERS": "searxng:my-home.2",
            "GROUNDWIRE_PROVIDERS_SEARXNG_MY_HOME_2_BASE_URL": "http://a",
        }
    )
    assert settings.providers == {"searxng:my-home.2": {"base_url": "http://a"}}


def test_every_option_of_every_provider_is_listed_with_its_default(desk: _Desk) -> None:
    settings = desk.load({"GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": "http://a"})
    rows = {row.key: row for row in provider_rows(settings)}
    assert rows["providers.searxng.base_url"].value == "http://a"
    assert rows["providers.searxng.base_url"].origin.startswith("environment ")
    assert rows["providers.duckduckgo.max_threads"].value == "16"
    assert rows["providers.duckduckgo.max_threads"].origin == "default"
