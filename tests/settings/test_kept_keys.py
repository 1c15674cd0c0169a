"""Keys in `keys.env`, where `groundwire setup` puts them on a machine without a keyring."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from groundwire.settings import Settings
from groundwire.settings.schema import has_keyring

Desk = Any  # see conftest.py


@pytest.fixture
def kept(desk: Desk) -> Path:
    path: Path = desk.user_folder / "keys.env"
    path.touch(0o600)
    path.chmod(0o600)
    return path


def key(settings: Settings, name: str = "BRAVE_API_KEY") -> str:
    found = settings.secret(name)
    assert isinstance(found, SecretStr)
    return found.get_secret_value()


@pytest.mark.req("Y7")
def test_every_other_place_is_stronger(kept: Path, desk: Desk) -> None:
    kept.write_text("BRAVE_API_KEY=kept\nMINE_API_KEY=third-party\n")
    settings = desk.load()
    assert (key(settings), settings.origin("keys.BRAVE_API_KEY")) == ("kept", f"{kept} BRAVE_API_KEY")
    assert key(settings, "MINE_API_KEY") == "third-party"
    assert settings.warnings == ()
    desk.write(dotenv="BRAVE_API_KEY=dotenv\n")
    assert key(desk.load()) == "dotenv"
    assert key(desk.load({"BRAVE_API_KEY": "environment"})) == "environment"
    assert key(desk.load({"BRAVE_API_KEY": ""})) == "dotenv"
    assert "kept" not in repr(settings) + str(settings.model_dump())


def test_it_holds_keys_and_nothing_else(kept: Path, desk: Desk) -> None:
    kept.write_text("GROUNDWIRE_SEARCH_LIMIT=3\nPATH=x\n")
    assert desk.load().search.limit == 5


@pytest.mark.req("Y7")
def test_others_may_not_read_it(kept: Path, desk: Desk) -> None:
    kept.write_text("BRAVE_API_KEY=kept\n")
    kept.chmod(0o640)
    (warning,) = desk.load().warnings
    assert warning.endswith(f"run: chmod 600 {kept}")
    assert "BRAVE" not in warning


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="they have a keyring always")
def test_a_machine_has_a_keyring_by_its_bus_or_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DBUS_SESSION_BUS_ADDRESS", "PYTHON_KEYRING_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert not has_keyring()
    (tmp_path / "bus").touch()
    assert has_keyring()
    (tmp_path / "bus").unlink()
    (tmp_path / "python_keyring").mkdir()
    (tmp_path / "python_keyring" / "keyringrc.cfg").touch()
    assert has_keyring()
    (tmp_path / "python_keyring" / "keyringrc.cfg").unlink()
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "my.Backend")
    assert has_keyring()
