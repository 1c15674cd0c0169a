"""The options of single providers and of several instances of one."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any, Protocol

import pytest

from groundwire.providers.registry import provider_class
from groundwire.settings import Settings, provider_rows
from groundwire.settings.provider_options import option_names, provider_entry, provider_names


class _Desk(Protocol):
    def write(self, *, project: str = "", user: str = "", dotenv: str = "") -> None: ...
    def load(self, environment: dict[str, str] | None = None, **arguments: Any) -> Settings: ...


@pytest.mark.req("Y4")
def test_an_instance_in_a_file_has_options_of_its_own(desk: _Desk) -> None:
    desk.write(
        project='[providers.searxng]\nbase_url = "http://a"\n[providers."searxng:backup"]\nbase_url = "http://b"\n'
    )
    settings = desk.load()
    assert settings.providers == {"searxng": {"base_url": "http://a"}, "searxng:backup": {"base_url": "http://b"}}


def test_every_option_of_every_provider_is_listed_with_its_default(desk: _Desk) -> None:
    settings = desk.load({"GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": "http://a"})
    rows = {row.key: row for row in provider_rows(settings)}
    assert rows["providers.searxng.base_url"].value == "http://a"
    assert rows["providers.searxng.base_url"].origin.startswith("environment ")
    assert rows["providers.duckduckgo.delay"].value == "0.0"
    assert rows["providers.duckduckgo.delay"].origin == "default"


class _Scans:
    """A finder that counts how often the metadata of the installed packages is read, and finds nothing."""

    def __init__(self) -> None:
        self.count = 0

    def find_spec(self, *_: object) -> None:
        return None

    def find_distributions(self, _: object) -> tuple[Distribution, ...]:
        self.count += 1
        return ()


def test_packages_are_read_once_for_a_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scans = _Scans()
    for name in provider_names():
        option_names(name)  # pydantic reads the metadata, too, when the first model is made
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, scans])
    monkeypatch.syspath_prepend(tmp_path)
    names = provider_names()
    assert "lookup" not in names
    for name in names:
        provider_class(name)
        option_names(name)
    assert scans.count == 1
    information = tmp_path / "more" / "lookup-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: lookup\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[groundwire.providers]\nlookup = lookup : Lookup [fast]\n")
    assert provider_names() == names
    monkeypatch.syspath_prepend(tmp_path / "more")
    assert provider_names() == tuple(sorted([*names, "lookup"]))
    assert scans.count == 2


@pytest.mark.req("Y16")
def test_a_provider_is_found_that_was_installed_while_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    assert provider_entry("lookup") is None
    information = tmp_path / "lookup-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: lookup\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[groundwire.providers]\nlookup = lookup:Lookup\n")
    assert provider_entry("lookup:backup") == "lookup:Lookup"
