"""The guide's commands make secrets that the deployed files, the gateway and a real Valkey take."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from components.environment import Environment
from components.processes import Program, ReservedPort
from groundwire.settings import load
from groundwire.storage import open_store
from groundwire.storage.base import Count
from groundwire.storage.valkey import ValkeyStore

_ROOT = Path(__file__).resolve().parents[3]
_GUIDE = (_ROOT / "docs" / "guides" / "fleet.md").read_text("utf-8")
_STARTED = 100.0  # seconds


@pytest.mark.req("Y8")
@pytest.mark.skipif(os.getuid() != 0, reason="the commands are root's")
async def test_its_commands_make_what_the_services_take(tmp_path: Path, installed: Environment) -> None:
    shutil.copytree(_ROOT / "deploy", tmp_path / "deploy", ignore=shutil.ignore_patterns("secrets", "keys"))
    (commands,) = re.findall(r"^```sh\n(.*?)^```", _GUIDE, re.MULTILINE | re.DOTALL)
    said = _run(commands, tmp_path)
    assert re.search(r"gw_[a-z2-7]{8}_\w{43}", said)

    secrets, keys = tmp_path / "deploy" / "secrets", tmp_path / "deploy" / "keys"
    owners = {path.name: (path.stat().st_uid, path.stat().st_mode & 0o777) for path in (*secrets.iterdir(), keys)}
    assert owners == {"valkey.conf": (999, 0o400), "gateway.env": (10_001, 0o400), "keys": (10_001, 0o711)}
    inside = tmp_path / "inside"
    inside.mkdir()
    shutil.copy(secrets / "gateway.env", inside / ".env")
    shutil.copy(tmp_path / "deploy" / "groundwire.toml", inside)
    settings = load(environment={}, folder=inside)
    assert (secret := settings.secret("TAVILY_API_KEY"))
    assert secret.get_secret_value() == "one-of-mine"
    assert settings.server.trusted_proxies

    reserved = ReservedPort()
    port = str(reserved.number)
    valkey = Program(
        "valkey",
        [str(installed.valkey_server), str(secrets / "valkey.conf"), "--port", port, "--bind", "127.0.0.1"],
        env={},
        log=tmp_path / "valkey.log",
    )
    try:
        valkey.wait_until(lambda: "Ready to accept connections" in (tmp_path / "valkey.log").read_text(), _STARTED)
        here = settings.storage.url.replace("valkey:6379", f"127.0.0.1:{port}").replace("valkey://", "redis://")
        store = ValkeyStore(here, timeout=60)
        assert await store.count("c", 1) == Count(True, 1)
        await store.aclose()
    finally:
        valkey.stop()
    await open_store(settings.storage.url).aclose()


def _run(commands: str, folder: Path) -> str:
    """Run commands of a shell, in which groundwire is this one, and return what they print."""
    ours = f'groundwire() {{ "{sys.executable}" -m groundwire "$@"; }}'
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{ours}\n{commands}"],
        cwd=folder,
        env={**os.environ, "TAVILY_API_KEY": "one-of-mine"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + done.stderr


def test_it_names_every_file_of_the_folder() -> None:
    there = {path.name for path in (_ROOT / "deploy").iterdir()} - {"secrets", "keys"}
    named = {name.rstrip("/") for name in re.findall(r"^\| `([^`]+)` \|", _GUIDE, re.MULTILINE)}
    assert named == there
