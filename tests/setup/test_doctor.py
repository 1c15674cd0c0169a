"""The doctor names each fault: on the miniature web, with real files, real TLS, real names."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import shlex
import socket
import sqlite3
import ssl
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import groundwire
from components.authority import Authority
from groundwire._version import install_extra
from groundwire.doctor import CHECKS, Check
from groundwire.setup.key_storage import KeyringState
from groundwire.storage.sqlite_db import APPLICATION_ID
from groundwire.testing import InjectedFault
from world import World, wait_until_idle

from .conftest import SECRET, Look, named

pytestmark = pytest.mark.req("B17")


async def test_nothing_is_wrong(look: Look, world: World) -> None:
    report = await look()
    assert (report.ok, named(report), named(report, "note")) == (True, [], [])
    assert len(world.service("brave").requests) == 1
    assert report.cost_usd == pytest.approx(0.005)
    assert "brave" in report.checks[-1].detail


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (InjectedFault.status(422, '{"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}'), "key-wrong"),
        (InjectedFault.status(401, f'{{"error": {{"detail": "bad key {SECRET}"}}}}'), "key-wrong"),
        (InjectedFault.status(403, '{"error": {"detail": "Your plan has no web search"}}'), "key-plan"),
        (InjectedFault.status(400, '{"error": {"code": "OPTION_NOT_IN_PLAN"}}'), "key-plan"),
        (InjectedFault.status(429, '{"error": {"code": "QUOTA_LIMITED"}}'), "quota-used-up"),
        (InjectedFault.status(402, "{}"), "quota-used-up"),
        (InjectedFault.status(403, "<html>no</html>"), "provider-blocked"),
        (InjectedFault.status(500, "{}"), "provider-failing"),
        (InjectedFault.reset(), "provider-unreachable"),
    ],
    ids=str,
)
async def test_what_a_service_says(fault: InjectedFault, name: str, look: Look, world: World) -> None:
    world.service("brave").fail(fault, times=None)
    report = await look()
    assert (named(report), report.ok) == ([name], False)
    assert "groundwire doctor" not in report.findings[0].fix


async def test_a_limit_of_now_is_only_a_note(look: Look, world: World) -> None:
    world.service("brave").fail(InjectedFault.status(429, "{}", headers={"Retry-After": "9"}), times=None)
    report = await look()
    assert (named(report), named(report, "note"), report.ok) == ([], ["rate-limited"], True)


async def test_a_key_is_told_by_its_place_and_page(look: Look, world: World) -> None:
    report = await look({"BRAVE_API_KEY": "wrong-key"})
    (finding,) = report.findings
    assert finding.fault == "key-wrong"
    assert finding.why == "The key comes from environment (BRAVE_API_KEY)."
    assert "https://api-dashboard.search.brave.com" in finding.fix


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (InjectedFault.status(429, "{}"), "searxng-limiter"),
        (InjectedFault.status(403, "<html></html>"), "searxng-limiter"),
    ],
    ids=str,
)
async def test_the_limiter_of_searxng(fault: InjectedFault, name: str, look: Look, world: World) -> None:
    world.searxng.fail(fault, times=None)
    url = {"GROUNDWIRE_SEARCH_PROVIDERS": "searxng", "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url}
    report = await look(url)
    assert named(report) == [name]
    assert "limiter.toml" in report.findings[0].fix


@pytest.mark.parametrize("seconds", [-86_400 * 3, -300, 90, 7_200])
async def test_the_clock_is_wrong(seconds: float, look: Look, world: World) -> None:
    date = formatdate(time.time() + seconds, usegmt=True)
    late = InjectedFault.reply("late", lambda reply: replace(reply, headers={**reply.headers, "Date": date}))
    world.service("brave").fail(late, times=None)
    report = await look()
    assert named(report) == ["clock-skew"]
    assert ("behind" if seconds > 0 else "ahead") in report.findings[0].what


async def test_one_service_with_a_wrong_clock_is_no_proof(look: Look, world: World) -> None:
    date = formatdate(time.time() - 9_999, usegmt=True)
    late = InjectedFault.reply("late", lambda reply: replace(reply, headers={**reply.headers, "Date": date}))
    world.service("brave").fail(late, times=None)
    tavily = {"GROUNDWIRE_PROVIDERS_TAVILY_BASE_URL": world.service("tavily").url, "TAVILY_API_KEY": SECRET}
    assert named(await look({"GROUNDWIRE_SEARCH_PROVIDERS": "brave,tavily", **tavily})) == []


SETTINGS = {
    "search]\nx = 1": "is not TOML: Expected '=' after a key in a key/value pair (at line 1, column 7)",
    "[search]\n\nlimt = 3\n": "'search.limt' is not a setting; did you mean 'search.limit'?",
    "[serch]\nlimit = 3\n": "[serch] is not a section; did you mean 'search'?",
    "[providers.searxng]\nbase_ulr = 'http://x'\n": "did you mean 'base_url'?",
    "[search]\nlimit = 3000\n": "search.limit: ",
    "[keys]\nBRAVE_API_KEY = 'x'\n": "keys do not belong in this file; set them in the environment or in .env",
}


@pytest.mark.parametrize("text", SETTINGS)
async def test_a_wrong_setting_is_named_with_its_file(text: str, look: Look, project: Path) -> None:
    path = project / "groundwire.toml"
    path.write_text(text)
    report = await look()
    (finding,) = [one for one in report.findings if one.fault == "settings-wrong"]
    assert finding.what.startswith(f"{path}: ")
    assert SETTINGS[text] in finding.what
    assert {check.name for check in report.checks if check.state == "skipped"} >= {"store", "providers", "network"}


async def test_a_wrong_variable_is_named(look: Look) -> None:
    report = await look({"GROUNDWIRE_SEARCH_LIMT": "3"})
    assert (named(report), named(report, "note")) == ([], ["settings-wrong"])
    assert "GROUNDWIRE_SEARCH_LIMIT" in report.findings[0].what


async def test_a_file_with_keys_that_others_may_read(look: Look, user_folder: Path) -> None:
    kept = user_folder / "keys.env"
    kept.write_text(f"BRAVE_API_KEY={SECRET}\n")
    kept.chmod(0o644)
    report = await look({"BRAVE_API_KEY": ""})
    assert named(report) == ["keys-file-open"]
    assert report.findings[0].fix == f"chmod 600 {kept}"
    kept.chmod(0o600)
    report = await look({"BRAVE_API_KEY": ""})
    assert (named(report), named(report, "note")) == ([], [])


async def test_a_file_with_keys_that_cannot_be_read(look: Look, user_folder: Path) -> None:
    kept = user_folder / "keys.env"
    kept.write_bytes(b"BRAVE_API_KEY=\xff\xfe\n")
    kept.chmod(0o600)
    assert named(await look()) == ["keys-file-unreadable"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is kept from root")
async def test_a_file_with_keys_of_somebody_else(look: Look, user_folder: Path) -> None:
    kept = user_folder / "keys.env"
    kept.write_text("")
    kept.chmod(0)
    assert "keys-file-unreadable" in named(await look())


def locked() -> KeyringState:
    return KeyringState("locked", "Failed to unlock the collection!")


async def test_a_locked_keyring_is_a_problem_where_a_key_is_missing(look: Look) -> None:
    assert named(await look(keyring=locked), "note") == []
    report = await look({"BRAVE_API_KEY": ""}, keyring=locked)
    assert named(report) == ["keyring-locked", "key-missing", "no-search-provider"]


async def test_a_keyring_that_waits_for_somebody_is_locked(look: Look) -> None:
    came = Event()

    def wait() -> KeyringState:
        came.wait(100)
        return KeyringState("usable")

    checks = [check for check in CHECKS if check.name == "keyring"]
    report = await look({"BRAVE_API_KEY": ""}, keyring=wait, seconds=3.0, checks=checks)
    came.set()
    assert named(report) == ["keyring-locked"]


async def test_no_keyring_is_said_where_a_key_is_missing(look: Look) -> None:
    report = await look({"BRAVE_API_KEY": ""})
    assert named(report) == ["key-missing", "no-search-provider"]
    assert named(report, "note") == ["keyring-absent"]


async def test_no_provider_is_configured(look: Look) -> None:
    report = await look({"GROUNDWIRE_SEARCH_PROVIDERS": "searxng"})
    assert named(report) == ["provider-not-set-up", "no-search-provider"]
    assert report.findings[-1].fix == "groundwire setup"


async def test_a_provider_in_the_wrong_place(look: Look) -> None:
    report = await look({"GROUNDWIRE_READ_PROVIDERS": "brave", "GROUNDWIRE_SEARCH_PROVIDERS": "brave,jina"})
    assert "settings-wrong" in named(report)


async def test_the_store_cannot_be_written(look: Look) -> None:
    report = await look({"GROUNDWIRE_STORAGE_URL": "sqlite:////proc/groundwire/store.sqlite3"})
    assert named(report) == ["store-not-writable"]


async def test_the_disk_of_the_store_and_the_archive_is_full(look: Look) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, hard))
    try:
        report = await look()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    faults = [finding.subject for finding in report.findings if finding.fault == "store-not-writable"]
    assert faults == ["store", "archive"]


def database(path: Path, *, owner: int, version: int) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("create table entries (x)")
        db.executemany("insert into entries values (?)", [(f"text {number}" * 50,) for number in range(500)])
        db.execute(f"pragma application_id = {owner}")
        db.execute(f"pragma user_version = {version}")


@pytest.mark.parametrize(
    ("owner", "version", "name"),
    [(APPLICATION_ID, 99, "store-foreign"), (7, 0, "store-foreign")],
)
@pytest.mark.parametrize("file", ["store.sqlite3", "archive.db"])
async def test_a_store_of_others(file: str, owner: int, version: int, name: str, look: Look, tmp_path: Path) -> None:
    path = tmp_path / file
    database(path, owner=owner, version=version)
    before = path.read_bytes()
    assert named(await look()) == [name]
    assert path.read_bytes() == before


@pytest.mark.parametrize("how", ["no database", "a page is overwritten"])
async def test_a_damaged_store(how: str, look: Look, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    database(path, owner=APPLICATION_ID, version=1)
    whole = path.read_bytes()
    path.write_bytes(b"x" * 5_000 if how == "no database" else whole[:8_192] + b"\xff" * 8_192 + whole[16_384:])
    damaged = path.read_bytes()
    assert named(await look()) == ["store-damaged"]
    assert path.read_bytes() == damaged


async def test_the_server_of_the_store_is_away(look: Look, world: World) -> None:
    address = world.closed_url.removeprefix("http://")
    report = await look({"GROUNDWIRE_STORAGE_URL": f"valkey://:{SECRET}@{address}/0"})
    assert named(report) == ["store-unreachable"]
    assert "valkey-cli" in report.findings[0].fix


@pytest.mark.parametrize(
    ("environment", "module"),
    [
        ({"GROUNDWIRE_STORAGE_URL": "valkey://127.0.0.1:1/0"}, "redis"),
        ({"GROUNDWIRE_READ_PROVIDERS": "local,browser"}, "playwright"),
        ({"GROUNDWIRE_READ_PROVIDERS": "local,crawl4ai"}, "crawl4ai"),
    ],
)
async def test_an_extra_is_missing(
    environment: dict[str, str], module: str, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # what Python itself takes for a package that is not there
    report = await look(environment)
    assert named(report) == ["extra-missing"]
    assert re.search(r'\binstall .*"', report.findings[0].fix)


async def test_ddgs_is_missing(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs", None)
    report = await look({"GROUNDWIRE_SEARCH_PROVIDERS": "brave,duckduckgo"})
    assert named(report) == ["extra-missing"]
    assert report.findings[0].fix == install_extra("ddgs")


async def test_no_browser(look: Look, tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    report = await look({"GROUNDWIRE_READ_PROVIDERS": "local,browser", **nowhere})
    assert named(report) == ["browser-missing"]


async def test_a_browser_that_nobody_uses_is_not_missed(look: Look, tmp_path: Path) -> None:
    assert (await look({"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)})).findings == ()


async def test_a_proxy_that_is_none(look: Look) -> None:
    report = await look({"GROUNDWIRE_NETWORK_PROXY": "socks4://proxy.example:1080"})
    assert named(report) == ["settings-wrong"]
    assert "network.proxy" in report.findings[0].what


async def test_a_database_of_the_archive_that_does_not_answer(look: Look) -> None:
    report = await look({"GROUNDWIRE_ARCHIVE_URL": "postgresql://groundwire:hunter2@127.0.0.1:1/archive"})
    (finding,) = [one for one in report.findings if one.severity == "problem"]
    assert (finding.fault, finding.subject) == ("store-unreachable", "postgresql://********@127.0.0.1:1/archive")
    assert "Start the server or correct archive.url" in finding.what
    assert "hunter2" not in f"{finding.what}{finding.why}{finding.fix}"


async def test_a_socks_proxy_without_its_package(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_socks", None)
    report = await look({"ALL_PROXY": "socks5h://proxy.example:1080"})
    problems = [one for one in report.findings if one.severity == "problem"]
    assert [(one.fault, install_extra("socks") in one.what) for one in problems] == [("settings-wrong", True)]


async def test_scripts_without_a_browser(look: Look) -> None:
    assert named(await look({"GROUNDWIRE_READ_RENDER_DOMAINS": "example.com"})) == ["settings-wrong"]


async def test_names_do_not_resolve(look: Look) -> None:
    async def nobody(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    report = await look({"GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": "http://search.example:80"}, resolver=nobody)
    assert named(report) == ["dns-failing"]


async def test_one_name_does_not_resolve(look: Look) -> None:
    async def all_but_one(host: str, port: int) -> Sequence[str]:
        if host == "example.com":
            return ["192.0.2.1"]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    report = await look({"GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": "http://search.example:80"}, resolver=all_but_one)
    assert named(report) == ["name-unknown"]


async def test_an_address_in_numbers_shows_nothing_about_names(look: Look, world: World) -> None:
    """SearXNG on this machine answers although the network is gone: no address of a service is wrong."""

    async def nobody(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    near = {
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng,wikipedia",
    }
    assert named(await look(near, resolver=nobody)) == ["dns-failing"]


@contextmanager
def over_tls(context: ssl.SSLContext) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # the client hangs up, which is what is tested
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=lambda: server.serve_forever(0.02), daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def test_somebody_looks_into_tls(look: Look, tmp_path: Path) -> None:
    folder = tmp_path / "authority"
    folder.mkdir()
    with over_tls(Authority(folder).context("localhost")) as url:
        report = await look({"GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": url})
    assert named(report) == ["tls-untrusted"]
    assert "SSL_CERT_FILE" in report.findings[0].fix


async def test_no_tls_at_all(look: Look, world: World) -> None:
    url = world.service("brave").url.replace("http://", "https://")
    assert named(await look({"GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": url})) == ["tls-failing"]


async def test_proxies_of_the_environment(look: Look, world: World) -> None:
    assert named(await look({"HTTPS_PROXY": f"http://me:{SECRET}@proxy.example:3128"})) == []
    proxy = world.closed_url.replace("//", f"//me:{SECRET}@")
    report = await look({"HTTPS_PROXY": proxy, "GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": ""})
    assert (named(report), report.findings[0].subject) == (["proxy-unreachable"], "HTTPS_PROXY")
    assert "http://********@" in report.findings[0].what


async def test_the_proxy_is_away(look: Look, world: World) -> None:
    environment = {"GROUNDWIRE_NETWORK_PROXY": world.closed_url, "GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": ""}
    report = await look(environment)
    assert named(report) == ["proxy-unreachable"]


async def test_offline_nobody_is_asked(look: Look, world: World) -> None:
    report = await look(offline=True)
    assert (report.ok, world.service("brave").requests) == (True, [])
    assert {check.name for check in report.checks if check.state == "skipped"} == {"network", "clock"}


async def test_a_service_that_hangs_does_not_hold_it_up(look: Look, world: World) -> None:
    world.service("brave").fail(InjectedFault.hang(), times=None)
    report = await look(seconds=5)
    assert named(report) == ["provider-unreachable"]
    assert next(check.detail for check in report.checks if check.name == "network").startswith("no fault in names")


async def test_a_check_that_does_not_end_is_named(look: Look) -> None:
    ended = asyncio.Event()

    async def forever(examination: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    told: list[str] = []
    checks = [*CHECKS[:1], Check("forever", "Forever", forever)]
    report = await look(
        seconds=3.0, checks=checks, on_result=lambda result: told.append(f"{result.name} {result.state}")
    )
    assert named(report) == ["not-finished"]
    assert told == ["python ok", "forever problem"]
    assert ended.is_set()


async def _forever(examination: Any) -> Any:
    await asyncio.Event().wait()


async def test_a_check_that_hangs_leaves_time_for_the_others(look: Look, world: World) -> None:
    report = await look(seconds=8.0, checks=[Check("forever", "Forever", _forever), *CHECKS[-3:]])
    assert named(report) == ["not-finished"]
    assert len(world.service("brave").requests) == 1


async def test_without_time_no_provider_is_called_or_said_to_be_unreachable(look: Look, world: World) -> None:
    checks = [*(Check(name, "Forever", _forever) for name in ("first", "second")), *CHECKS[-3:]]
    report = await look(seconds=4.0, checks=checks)
    assert [(check.name, *(finding.fault for finding in check.findings)) for check in report.checks] == [
        (name, "not-finished") for name in ("first", "second", "network", "clock", "providers")
    ]
    assert world.service("brave").requests == []


async def test_cancelled_it_leaves_nothing_behind(look: Look, world: World) -> None:
    world.service("brave").fail(InjectedFault.hang(), times=None)
    before = asyncio.all_tasks()
    task = asyncio.ensure_future(look())
    await asyncio.to_thread(world.service("brave").wait_for_requests, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before
    await asyncio.to_thread(wait_until_idle, world.service("brave"))


def test_the_checks_have_names_of_their_own() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)


HINTS = {
    "pipx": ("pipx_metadata.json", 'pipx inject home "python-calamine>='),
    "uv tool": ("uv-receipt.toml", 'uv pip install --python {python} "python-calamine>='),
    "uv": ("", 'uv pip install --python {python} "python-calamine>='),
    "a venv without pip": ("", '{base} -m pip --python {python} install "python-calamine>='),
    "a venv with pip": ("pip.py", '{python} -m pip install "python-calamine>='),
}


@pytest.mark.req("B33")
@pytest.mark.parametrize("kind", HINTS)
def test_what_is_missing_is_installed_as_the_environment_was_made(kind: str, tmp_path: Path) -> None:
    file, hint = HINTS[kind]
    home = tmp_path / "a folder" / "home"
    venv.create(home, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    source = Path(groundwire.__file__).parents[1]
    (packages / "groundwire.pth").write_text(f"{source}\n")
    known = packages / "groundwire-1.dist-info"
    known.mkdir()
    (known / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: groundwire\nVersion: 1\n"
        "Requires-Dist: mcp>=2; extra == 'mcp'\nRequires-Dist: python-calamine>=0.6; extra == 'office'\n"
    )
    if file:
        ((packages if file == "pip.py" else home) / file).touch()
    if kind.startswith("uv"):
        with (home / "pyvenv.cfg").open("a") as configuration:
            configuration.write("uv = 0.9.1\n")
    script = "from groundwire._version import install_extra; print(install_extra('office'))"
    done = subprocess.run(
        [home / "bin" / "python", "-c", script], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    base = getattr(sys, "_base_executable", sys.executable)
    said = hint.format(python=shlex.quote(str(home / "bin" / "python")), base=shlex.quote(base))
    assert done.stdout == said + '0.6"\n'


@pytest.mark.req("B33")
@pytest.mark.parametrize(
    ("origin", "hint"),
    [
        (None, '"groundwire-server=={version}"'),
        ({"url": "{folder}", "dir_info": {}}, '"{path}/packages/groundwire-server"'),
        ({"url": "{folder}", "dir_info": {"editable": True}}, '-e "{path}/packages/groundwire-server"'),
        ({"url": "{folder}/none", "dir_info": {}}, '"groundwire-server=={version}"'),
        (
            {"url": "https://a.test/g", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            '"groundwire-server @ git+https://a.test/g@c0ffee#subdirectory=packages/groundwire-server"',
        ),
        (
            {"url": "{folder}/groundwire-1-py3-none-any.whl", "archive_info": {}},
            '"{path}/groundwire_server-1-py3-none-any.whl"',
        ),
        ({"url": "{folder}/groundwire-2-py3-none-any.whl", "archive_info": {}}, '"groundwire-server=={version}"'),
    ],
    ids=[
        "an index",
        "a folder",
        "an editable folder",
        "a folder that is gone",
        "a repository",
        "a wheel",
        "another wheel",
    ],
)
def test_the_server_comes_from_where_the_library_came(origin: Any, hint: str, tmp_path: Path) -> None:
    checkout = tmp_path / "a checkout"
    (checkout / "packages" / "groundwire-server").mkdir(parents=True)
    (checkout / "groundwire_server-1-py3-none-any.whl").touch()
    known = tmp_path / "groundwire-1.dist-info"
    known.mkdir()
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: groundwire\nVersion: 1\n")
    if origin:
        url = origin["url"].format(folder=checkout.as_uri())
        (known / "direct_url.json").write_text(json.dumps({**origin, "url": url}))
    (tmp_path / "pip.py").touch()
    script = "from groundwire._version import install_server; print(install_server())"
    path = f"{tmp_path}:{Path(groundwire.__file__).parents[1]}"
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    wanted = hint.format(path=checkout, version=groundwire.__version__)
    assert done.stdout.endswith(f"{shlex.quote(sys.executable)} -m pip install {wanted}\n")


@pytest.mark.req("B33")
def test_a_python_of_the_system_is_told_the_flag_that_it_needs() -> None:
    python = Path("/usr/bin/python3")
    asked = "import sys, sysconfig; print(sys.version_info >= (3, 11), sysconfig.get_path('stdlib'))"
    if not python.exists():
        pytest.skip("There is no Python of the system.")
    told = subprocess.run([python, "-I", "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    has_pip = not subprocess.run([python, "-I", "-c", "import pip"], capture_output=True, check=False).returncode
    if told[0] != "True" or not Path(told[1], "EXTERNALLY-MANAGED").exists() or not has_pip:
        pytest.skip("The Python of the system is older, is not externally managed, or has no pip.")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from groundwire._version import install_command as c; "
        "print(c('redis>=8'))"
    )
    source = Path(groundwire.__file__).parents[1]
    done = subprocess.run([python, "-I", "-c", script, source], capture_output=True, text=True, check=True)
    assert done.stdout == f'{python} -m pip install --break-system-packages "redis>=8"\n'
