"""What goes wrong in the first hour: the failing command itself names the cause and the remedy."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import pytest

from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded

pytestmark = pytest.mark.req("B33")

Terminal = Any  # see conftest.py
QUERY = "reciprocal rank fusion"


def _isolated(
    options: list[str], script: str, terminal: Terminal, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a shell script in namespaces of its own, in which it may mount, has no network, or is another user."""
    unshare = ["unshare", *options]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this kernel does not let us make a namespace")
    environment = terminal.environment | variables
    return subprocess.run(
        [*unshare, "sh", "-c", script, sys.executable],
        env={name: value for name, value in environment.items() if value},
        cwd=terminal.home,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )


def test_no_home_and_an_unknown_user_id(terminal: Terminal) -> None:
    nowhere = {"HOME": "", "XDG_CONFIG_HOME": "", "TMPDIR": str(terminal.home)}
    user = ["--user", "--map-user=54321"]  # which is not in the password database
    done = _isolated(user, 'exec "$0" -m groundwire search fusion', terminal, **nowhere)
    assert (done.returncode, done.stdout[:4]) == (0, " 1. "), done.stderr
    assert "there is no home folder: HOME is not set, and the user id is not in the password database" in done.stderr
    assert "Set HOME to a folder that this user can write to." in done.stderr
    folder = terminal.home / "groundwire-54321"
    assert f"Settings and cache are in {folder}," in done.stderr
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)  # as one that somebody else has prepared
    done = _isolated(user, 'exec "$0" -m groundwire search fusion', terminal, **nowhere)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{folder} belongs to another user, or others may write to it, and there is no home folder" in done.stderr


def test_a_home_that_is_read_only(terminal: Terminal) -> None:
    home = terminal.home / "home"
    home.mkdir()
    script = (
        'mount -t tmpfs -o ro tmpfs "$HOME" && "$0" -m groundwire search fusion || exit 9; '
        'exec "$0" -m groundwire config set search.limit 3'
    )
    done = _isolated(["--map-root-user", "--mount"], script, terminal, HOME=str(home), XDG_CONFIG_HOME="")
    assert (done.returncode, done.stdout[:4]) == (2, " 1. "), done.stderr
    assert f"The store {home}/.cache/groundwire/store.sqlite3 cannot be used: Read-only file system." in done.stderr
    assert "set storage.url to another file" in done.stderr
    assert f"The archive {home}/.cache/groundwire/archive.db cannot be opened: Read-only file system." in done.stderr
    assert f"{home}/.config/groundwire/groundwire.toml cannot be written: Read-only file system." in done.stderr
    assert f"Check that this user may write to {home}/.config/groundwire" in done.stderr


@pytest.mark.parametrize("name", ["store.sqlite3", "archive.db"])
def test_a_damaged_store_or_archive(terminal: Terminal, name: str) -> None:
    folder = terminal.home / ".cache" / "groundwire"
    assert terminal.run("search", QUERY).returncode == 0
    (folder / name).write_bytes(b"nonsense" * 2_000)
    done = terminal.run("search", "search engines")
    assert (done.returncode, done.stdout[:4]) == (0, " 1. ")
    assert "was damaged" in done.stderr
    assert "moved aside" in done.stderr
    again = terminal.run("search", "search engines", "--refresh")
    assert (again.returncode, "damaged" in again.stderr) == (0, False)


def test_a_full_disk(terminal: Terminal) -> None:
    folder = terminal.home / "tiny"
    folder.mkdir()
    script = 'mount -t tmpfs -o size=32k tmpfs "$XDG_CACHE_HOME" && exec "$0" -m groundwire search fusion'
    done = _isolated(["--map-root-user", "--mount"], script, terminal, XDG_CACHE_HOME=str(folder))
    assert (done.returncode, done.stdout[:4]) == (0, " 1. "), done.stderr
    assert f"The store {folder}/groundwire/store.sqlite3 cannot be used" in done.stderr
    assert f"The archive {folder}/groundwire/archive.db cannot be written: database or disk is full." in done.stderr
    assert "Check its folder and the space on its disk" in done.stderr


def test_a_dead_resolver(terminal: Terminal) -> None:
    done = _isolated(["--map-root-user", "--net"], 'exec "$0" -m groundwire open https://example.com/', terminal)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "Error: example.com could not be resolved: no name server responds. Check this machine's network connection "
        "and its DNS settings.\n"
    )


class _Proxy(EmulatedServer):
    """A forward proxy that answers as a SearXNG would."""

    def handle(self, request: Recorded) -> EmulatedResponse:
        rows = [{"title": "Through the proxy", "url": "http://a.example/", "content": "Found."}]
        return EmulatedResponse.json({"query": "x", "results": rows, "unresponsive_engines": []})


def test_the_proxy_of_the_environment_and_its_exceptions(terminal: Terminal) -> None:
    proxy = terminal.world.add(_Proxy("proxy", "proxy.test"))
    company = {"GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": "http://searx.example", "HTTP_PROXY": proxy.url}
    assert "Through the proxy" in terminal.run("search", QUERY, **company).stdout
    asked = len(proxy.requests)
    direct = terminal.run("search", "another query", **company, NO_PROXY="searx.example")
    assert (direct.returncode, len(proxy.requests)) == (3, asked)
    assert "proxy" not in direct.stderr
    dead = terminal.run("search", "another query", **company | {"HTTP_PROXY": terminal.world.closed_url})
    assert (dead.returncode, dead.stdout) == (3, "")
    assert "proxy does not respond" in dead.stderr
    page = terminal.run("open", "http://nowhere.invalid/", HTTP_PROXY=proxy.url)
    assert "The proxy of HTTPS_PROXY is used for providers, not for pages." in page.stderr
    assert "groundwire config set network.proxy URL" in page.stderr


def test_no_key(terminal: Terminal) -> None:
    done = terminal.run("search", QUERY, GROUNDWIRE_SEARCH_PROVIDERS="brave")
    assert (done.returncode, done.stdout) == (2, "")
    assert "BRAVE_API_KEY" in done.stderr
    assert "groundwire setup" in done.stderr


@pytest.mark.parametrize("closed", ["<&-", "2>&-"])
def test_a_search_with_a_closed_stream(terminal: Terminal, closed: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -m groundwire search fusion --limit 1 {closed}', sys.executable],
        env=terminal.environment,
        cwd=terminal.home,
        capture_output=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stdout[:4]) == (0, b" 1. "), done.stderr


@pytest.mark.parametrize("serve", [False, True], ids=["demo", "demo --serve"])
def test_an_interrupted_demo_leaves_nothing(terminal: Terminal, serve: bool) -> None:
    temporary = terminal.home / "tmp"
    temporary.mkdir()
    terminal.python = sys.executable
    arguments = ["--serve", "--port", "0"] if serve else []
    with terminal.start("demo", *arguments, TMPDIR=str(temporary)) as process:
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=100)
    assert process.returncode in ((0,) if serve else (0, 130))
    assert list(temporary.iterdir()) == []
    assert [path.name for path in terminal.home.iterdir()] == ["tmp"]
