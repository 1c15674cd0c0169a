"""Real components as fixtures; each starts when the first test asks for it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from components.authority import Authority
from components.environment import Environment, node_modules, prepare
from components.needs import needed
from components.processes import Unavailable
from components.searxng import SearXNG
from components.valkey import Valkey, redis_server_program
from components.wire import Wire

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_CACHE = _ROOT / ".venv-searxng"
_BROWSERS = {"test_browser", "test_browser_guide", "test_crawl4ai", "test_doctor"}
_SHARED = {
    "_fleet": "fleet",
    "_searxng": "searxng",
    "_searxng_json_off": "searxng",
    "_searxng_limited": "searxng",
}
_FIRST_USE = 600  # seconds; the first test of a run also waits for what it needs to be installed and started


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark this folder's tests, so that `-m "not real"` leaves them out, give them time, and keep sharers together."""
    here = f"{_HERE}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            if group := _group(item):
                item.add_marker(pytest.mark.xdist_group(group))
            item.add_marker(pytest.mark.real)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(_FIRST_USE))


def _group(item: pytest.Item) -> str:
    """Return the worker group of a test: those that start something heavy, or count browsers, share one worker."""
    if item.path.stem in _BROWSERS:
        return "browser"
    fixtures = getattr(item, "fixturenames", ())
    return next((group for fixture, group in _SHARED.items() if fixture in fixtures), "")


@pytest.fixture(autouse=True)
def _own_temporary_folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the browsers of a test homes of their own, by which they are told from those of other workers."""
    if request.path.stem in _BROWSERS:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture(scope="session")
def say(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """A function that tells the person at the terminal what is being waited for."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    capture = request.config.pluginmanager.get_plugin("capturemanager")

    def write(text: str) -> None:
        if reporter is not None and capture is not None:
            with capture.global_and_fixture_disabled():
                reporter.write_line(f"\n[real components] {text}")

    return write


@pytest.fixture(scope="session")
def installed(say: Callable[[str], None]) -> Environment:
    """SearXNG and Valkey, installed once and kept in the repository's cache folder."""
    return needed(lambda: prepare(_CACHE, say))


@pytest.fixture(scope="session")
def modules(say: Callable[[str], None]) -> Path:
    """What is there of npm, with Node.js; it may be missing: nothing else here needs Node.js."""
    try:
        return node_modules(say)
    except Unavailable as exc:
        pytest.skip(f"what runs in Node.js cannot be tested here: {exc}")


@pytest.fixture(scope="session")
def valkey_server(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    """A real Valkey with `url`, `command`, `flush`, `stop` and `restart`; tests share it."""
    yield from _server(lambda: installed.valkey_server, tmp_path_factory)


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    """The same with the machine's own Redis."""
    yield from _server(redis_server_program, tmp_path_factory)


@pytest.fixture(scope="session")
def valkey(valkey_server: Valkey) -> str:
    """The URL of a real Valkey; tests share it, so give keys a prefix of your own."""
    return valkey_server.url


@pytest.fixture(scope="session")
def _limiter_valkey(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    yield from _server(lambda: installed.valkey_server, tmp_path_factory)


@pytest.fixture(scope="session")
def _searxng(
    installed: Environment, tmp_path_factory: pytest.TempPathFactory, say: Callable[[str], None]
) -> Iterator[SearXNG]:
    yield from _served(say, lambda: SearXNG(installed, tmp_path_factory.mktemp("searxng")))


@pytest.fixture(scope="session")
def _searxng_json_off(
    installed: Environment, tmp_path_factory: pytest.TempPathFactory, say: Callable[[str], None]
) -> Iterator[SearXNG]:
    folder = tmp_path_factory.mktemp("searxng_json_off")
    yield from _served(say, lambda: SearXNG(installed, folder, json_format=False))


@pytest.fixture(scope="session")
def _searxng_limited(
    installed: Environment,
    _limiter_valkey: Valkey,
    tmp_path_factory: pytest.TempPathFactory,
    say: Callable[[str], None],
) -> Iterator[SearXNG]:
    folder = tmp_path_factory.mktemp("searxng_limited")
    yield from _served(say, lambda: SearXNG(installed, folder, limiter=_limiter_valkey))


@pytest.fixture
def searxng(_searxng: SearXNG) -> SearXNG:
    """A real SearXNG that answers in JSON, with its log and rows as new."""
    _searxng.reset()
    return _searxng


@pytest.fixture
def searxng_json_off(_searxng_json_off: SearXNG) -> SearXNG:
    """A real SearXNG as it comes: it answers 403 to `format=json`."""
    _searxng_json_off.reset()
    return _searxng_json_off


@pytest.fixture
def searxng_limited(_searxng_limited: SearXNG) -> SearXNG:
    """A real SearXNG with its rate limiter on and nothing counted yet: 4 JSON requests, then 429."""
    _searxng_limited.reset()
    return _searxng_limited


@pytest.fixture(scope="session")
def _authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def ddgs_wire(_authority: Authority) -> Iterator[Wire]:
    """The search engines of ddgs on loopback, behind real TLS: `DDGS(proxy=wire.url, verify=wire.ca_file)`."""
    wire = Wire(_authority)
    yield wire
    wire.close()
    assert not wire.faults


def _server(program: Callable[[], Path], folders: pytest.TempPathFactory) -> Iterator[Valkey]:
    server = needed(lambda: Valkey(program(), folders.mktemp("server")))
    yield server
    server.stop()


def _served(say: Callable[[str], None], start: Callable[[], SearXNG]) -> Iterator[SearXNG]:
    say("starting SearXNG (2 to 11 s)")
    server = needed(start)
    yield server
    server.close()
