"""Keys in a real Secret Service: gnome-keyring on a session bus of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.needs import require

NEEDED = ("dbus-run-session", "gnome-keyring-daemon")

SCRIPT = """
import sys
import keyring
from groundwire.settings import load

keyring.set_password("groundwire", "BRAVE_API_KEY", "from-the-keyring")
environment = {"BRAVE_API_KEY": "from-the-environment", "TAVILY_API_KEY": "only-in-the-environment"}
settings = load(environment=environment)
given = load({"keys.BRAVE_API_KEY": "from-the-caller"}, environment=environment)
for settings, name in ((settings, "BRAVE_API_KEY"), (settings, "TAVILY_API_KEY"), (given, "BRAVE_API_KEY")):
    print(settings.secret(name).get_secret_value())
print(settings.secret("EXA_API_KEY"), "from-the-keyring" in repr(settings) + str(settings.rows()))
"""


def run(script: str, folder: Path, *, bus: bool) -> list[str]:
    inner = (
        f'printf "pw\\n" | gnome-keyring-daemon --unlock --components=secrets >/dev/null; {sys.executable} -c "$SCRIPT"'
    )
    command = ["dbus-run-session", "--", "bash", "-c", inner] if bus else [sys.executable, "-c", script]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SCRIPT": script}
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.req("Y7")
def test_the_order_is_caller_keyring_environment(tmp_path: Path) -> None:
    require(*NEEDED)
    assert run(SCRIPT, tmp_path, bus=True) == [
        "from-the-keyring",
        "only-in-the-environment",
        "from-the-caller",
        "None False",
    ]


@pytest.mark.req("Y7")
def test_without_a_keyring_the_environment_is_asked(tmp_path: Path) -> None:
    script = (
        "from groundwire.settings import load;"
        "print(load(environment={'BRAVE_API_KEY': 'x'}).secret('BRAVE_API_KEY').get_secret_value())"
    )
    assert run(script, tmp_path, bus=False) == ["x"]
