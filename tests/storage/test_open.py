"""One URL chooses the store, and a wrong one is told what there is."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire._version import install_extra
from groundwire.errors import ConfigurationError
from groundwire.storage import Count, MemoryStore, open_store


def found(folder: Path, pattern: str) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob(pattern)}


async def test_memory() -> None:
    assert isinstance(open_store("memory://"), MemoryStore)


async def test_an_absolute_and_a_relative_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for url in (f"sqlite:///{tmp_path}/a/absolute.db", "sqlite:///b/with%20space.db", "sqlite:///~/home.db"):
        store = open_store(url)
        await store.count("c", 1)
        await store.aclose()
    assert found(tmp_path, "*.db") == {"a/absolute.db", "b/with space.db", "home/home.db"}


async def test_the_file_in_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    store = open_store("sqlite://")
    assert found(tmp_path, "*") == set()
    assert await store.count("c", 1) == Count(True, 1)
    await store.aclose()
    assert len(found(tmp_path, "groundwire/store.sqlite3")) == 1


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "none of the forms"),
        ("store.db", "none of the forms"),
        ("postgres://localhost/x", "none of the forms"),
        ("memory://somewhere", "none of the forms"),
        ("sqlite://store.db", "none of the forms"),
        ("sqlite:store.db", "names no file"),
        ("sqlite:///", "names no file"),
        ("sqlite:///~nobody-of-that-name/store.db", "names no file"),
        ("sqlite:////var/cache/", "names no file"),
        ("sqlite:///a%00b", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:///a.db?mode=ro", "none of the forms"),
        ("valkey://", "none of the forms"),
        ("valkey://:hunter2@host:port/0", "cannot be parsed"),
        ("valkey://:hunter2@host:99999/0", "cannot be parsed"),
        ("redis://:hunter2@host/name", "the database is a number"),
        ("redis://:hunter2@host/0?db=1", "the only option"),
        ("rediss://:hunter2@host/0?ssl_cert_reqs=none", "the only option"),
        ("redis://:hunter2@[::1/0", "cannot be parsed"),
    ],
)
def test_a_wrong_url_says_which_forms_there_are(url: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem) as caught:
        open_store(url)
    assert "Forms: memory://, sqlite://" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["valkey://h", "redis://h:1/2", "valkeys://:p%40ss@h", "rediss://u:p@[::1]:1/0"])
async def test_servers(url: str) -> None:
    await open_store(url).aclose()


@given(st.text() | st.builds("{}:{}".format, st.sampled_from(["memory", "sqlite", "redis", "valkeys"]), st.text()))
def test_any_text_is_a_store_or_a_configuration_error(url: str) -> None:
    with suppress(ConfigurationError):
        open_store(url)


@pytest.mark.parametrize(
    ("url", "lazy"),
    [
        ("", ["sqlite3", "redis", "platformdirs"]),
        ("memory://", ["sqlite3", "redis", "platformdirs"]),
        ("sqlite:///x", ["redis", "platformdirs"]),
        ("valkey://h", ["sqlite3", "platformdirs"]),
    ],
)
def test_nothing_is_imported_before_it_is_needed(url: str, lazy: list[str]) -> None:
    use = f"groundwire.storage.open_store({url!r})" if url else "pass"
    code = f"import groundwire.storage, sys; {use}; assert not set({lazy}) & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_package_is_named_with_the_line_that_installs_it() -> None:
    code = "import sys; sys.modules['redis'] = None; from groundwire.storage import open_store; open_store('redis://h')"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert f"ConfigurationError: The store needs the package redis: {install_extra('valkey')}" in told
