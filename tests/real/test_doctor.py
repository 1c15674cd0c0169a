"""The doctor and the set-up with real things: SearXNG as it comes, its limiter, Valkey, Chromium, gnome-keyring."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.chromium import executable_or_skip
from components.needs import require
from components.searxng import SearXNG
from components.valkey import Valkey
from groundwire.doctor import CHECKS, DoctorReport, examine
from groundwire.setup.key_storage import KeyringState

NEEDED = ("dbus-run-session", "gnome-keyring-daemon")


def at(instance: SearXNG) -> dict[str, str]:
    return {"GROUNDWIRE_SEARCH_PROVIDERS": "searxng", "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": instance.url}


async def look(folder: Path, *names: str, **environment: str) -> DoctorReport:
    usual = {"GROUNDWIRE_STORAGE_URL": "memory://", "GROUNDWIRE_ARCHIVE_ENABLED": "false"}
    checks = [check for check in CHECKS if not names or check.name in names]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in {**usual, "XDG_CONFIG_HOME": str(folder), **environment}.items():
            patch.setenv(name, value)
        return await examine(checks=checks, keyring=lambda: KeyringState("absent"))


def named(report: DoctorReport) -> list[str]:
    return [str(one.fault) for one in report.findings if one.severity == "problem"]


@pytest.mark.req("B17")
async def test_a_searxng_that_is_well(searxng: SearXNG, tmp_path: Path) -> None:
    report = await look(tmp_path, **at(searxng))
    assert named(report) == []
    assert report.ok


@pytest.mark.req("B17")
async def test_a_searxng_as_it_comes(searxng_json_off: SearXNG, tmp_path: Path) -> None:
    report = await look(tmp_path, **at(searxng_json_off))
    assert named(report) == ["searxng-json-off"]
    (finding,) = report.findings
    assert "settings.yml" in finding.fix
    assert "formats: [html, json]" in finding.fix


@pytest.mark.req("B17")
async def test_the_limiter_of_a_searxng(searxng_limited: SearXNG, tmp_path: Path) -> None:
    for _ in range(6):  # four an hour are let through
        report = await look(tmp_path, "providers", **at(searxng_limited))
    assert named(report) == ["searxng-limiter"]
    assert "limiter.toml" in report.findings[0].fix


@pytest.mark.req("B17")
async def test_a_valkey_that_is_well_away_or_wants_a_password(valkey_server: Valkey, tmp_path: Path) -> None:
    url = valkey_server.url.replace("redis://", "valkey://")
    report = await look(tmp_path, "store", GROUNDWIRE_STORAGE_URL=url)
    assert (named(report), "answers in" in report.checks[0].detail) == ([], True)
    valkey_server.command("CONFIG", "SET", "requirepass", "secret-word")
    try:
        report = await look(tmp_path, "store", GROUNDWIRE_STORAGE_URL=url)
        wrong = await look(tmp_path, "store", GROUNDWIRE_STORAGE_URL=url.replace("//", "//:wrong-word@"))
        right = await look(tmp_path, "store", GROUNDWIRE_STORAGE_URL=url.replace("//", "//:secret-word@"))
    finally:
        valkey_server.stop()  # begun anew, it has no password
    assert (named(report), named(wrong), named(right)) == (["store-unreachable"], ["store-unreachable"], [])
    assert "wrong-word" not in repr(wrong)
    try:
        report = await look(tmp_path, "store", GROUNDWIRE_STORAGE_URL=url)
    finally:
        valkey_server.restart()
    assert named(report) == ["store-unreachable"]


@pytest.mark.req("B17")
async def test_a_chromium_that_starts(tmp_path: Path) -> None:
    executable = executable_or_skip()
    report = await look(
        tmp_path,
        "extras",
        GROUNDWIRE_READ_PROVIDERS="local,browser",
        GROUNDWIRE_PROVIDERS_BROWSER_EXECUTABLE=str(executable),
    )
    assert (named(report), "Chromium starts" in report.checks[0].detail) == ([], True)


@pytest.mark.req("B17")
async def test_a_browser_that_lacks_a_library(tmp_path: Path) -> None:
    """A program whose library was taken away after it was linked: the loader itself says so."""
    require("cc")
    (tmp_path / "library.c").write_text("int used(void) { return 0; }\n")
    (tmp_path / "browser.c").write_text("int used(void); int main(void) { return used(); }\n")
    for arguments in (
        ["-shared", "-fPIC", "-o", "libgone.so", "library.c"],
        ["-o", "browser", "browser.c", "-L.", "-lgone"],
    ):
        await asyncio.to_thread(subprocess.run, ["cc", *arguments], cwd=tmp_path, check=True)
    (tmp_path / "libgone.so").unlink()
    report = await look(
        tmp_path,
        "extras",
        GROUNDWIRE_READ_PROVIDERS="local,browser",
        GROUNDWIRE_PROVIDERS_BROWSER_EXECUTABLE=str(tmp_path / "browser"),
    )
    assert named(report) == ["browser-libraries"]
    assert "libgone.so" in report.findings[0].what
    assert "install-deps" in report.findings[0].fix


def in_session(folder: Path, command: str, *, unlocked: bool) -> subprocess.CompletedProcess[str]:
    """Run a command on a session bus of its own with a gnome-keyring, which has a password and is locked or not."""
    require(*NEEDED)
    start = 'printf "pw\\n" | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1'
    lock = (
        ""
        if unlocked
        else 'keyring set groundwire OTHER <<< "x"; '
        "dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets "
        "org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login >/dev/null; "
    )
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "GROUNDWIRE_SEARCH_PROVIDERS": "brave",
        "GROUNDWIRE_STORAGE_URL": "memory://",
        "MY_KEY": "test-key",
    }
    whole = f"{start}; {lock}{command}"
    return subprocess.run(
        ["dbus-run-session", "--", "bash", "-c", whole],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.req("Y7", "Y8")
def test_a_key_is_kept_in_the_keyring(tmp_path: Path) -> None:
    keep = "import groundwire.setup.key_storage as s, os; s.KeyringKeeper().keep('BRAVE_API_KEY', os.environ['MY_KEY'])"
    done = in_session(
        tmp_path,
        f'{sys.executable} -c "{keep}" && {sys.executable} -m groundwire providers',
        unlocked=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ready (keyring)" in done.stdout
    assert "test-key" not in done.stdout + done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix in {".toml", ".env"}] == []


@pytest.mark.req("B17")
def test_a_keyring_that_is_locked(tmp_path: Path) -> None:
    done = in_session(tmp_path, f"{sys.executable} -m groundwire doctor --offline --json", unlocked=False)
    assert '"keyring-locked"' in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1
