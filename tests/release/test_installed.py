"""The wheel in clean environments: with each Python of this machine and no extra; as a tool; as a bill of materials."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from components.authority import Authority
from components.chromium import executable_or_skip
from components.distributions import Distributions
from components.needs import needed
from components.office import word, workbook
from components.papers import report
from components.pythons import VERSIONS, interpreter, uv
from components.valkey import Valkey, redis_server_program
from components.wire import Wire
from groundwire import __version__
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from release_notes import SERVER
from sbom import write_sbom
from world import World

ROOT = Path(__file__).resolve().parents[2]
PINS = ROOT / "requirements" / "dev.txt"

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

_IMPORT = """
import asyncio, json, sys
before = set(sys.modules)
import groundwire
loaded = len(set(sys.modules) - before)
web = groundwire.Web
print(json.dumps([groundwire.__version__, groundwire.__file__, loaded, web.__name__]))
"""
_NEEDED = """
import re
from importlib.metadata import distributions
for one in distributions():
    if one.name != "groundwire":
        print(*(re.match(r"[A-Za-z0-9._-]+", line)[0].lower() for line in one.requires or ()))
"""
_HELP = """
import click
from click.testing import CliRunner
from groundwire.cli import group
from groundwire.cli.server_commands import SERVER_COMMANDS
def look(command, path):
    done = CliRunner().invoke(group, [*path, "--help"], prog_name="groundwire")
    assert done.exit_code == 0, (path, done.output, done.exception)
    print(*path)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in (name for name in command.list_commands(context) if path or name not in SERVER_COMMANDS):
            look(command.get_command(context, name), [*path, name])
look(group, [])
"""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel and what it needs."""

    root: Path
    home: Path

    def run(self, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, with nothing of ours around it."""
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LC_ALL": "C.UTF-8", "PYTHONWARNINGS": "error"}
        environment["GROUNDWIRE_STORAGE_TIMEOUT"] = "60"  # a busy disk adds a note to what must be silent
        environment |= variables
        program, *arguments = command
        return subprocess.run(
            [self.root / "bin" / program, *arguments],
            env=environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )


_OLDEST = "the oldest versions"
_OLDEST_EXTRAS = "the oldest versions, of the extras and the server too"
_EXTRAS = (
    "browser",
    "ddgs",
    "embeddings",
    "keyring",
    "mcp",
    "office",
    "otel",
    "postgres",
    "prometheus",
    "socks",
    "valkey",
)
"""The extras that fit into one environment; those of frameworks: `tests/frameworks/test_shapes.py`."""
_RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(scope="session")
def environment(
    distributions: Distributions, server_distributions: Distributions, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Installed | None]:
    """A function that makes an environment for a version once; None when there is no such Python."""

    @cache
    def make(version: str) -> Installed | None:
        oldest = version in {_OLDEST, _OLDEST_EXTRAS}
        found = interpreter(VERSIONS[0] if oldest else version)
        if found is None:
            return None
        root, home = tmp_path_factory.mktemp("environment") / "venv", tmp_path_factory.mktemp("home")
        python = root / "bin" / "python"
        uv("venv", "--python", found, root)
        if oldest:  # uv takes the lowest version of what a project needs, and not of what a wheel does
            needs = ("--resolution", "lowest-direct", "--requirements", ROOT / "pyproject.toml")
            extras = [f"--extra={one}" for one in _EXTRAS if version == _OLDEST_EXTRAS]
            sdk = ["opentelemetry-sdk"] if extras else []
            uv("pip", "install", "--python", python, *needs, *extras, *sdk)
        if version == _OLDEST_EXTRAS:
            needs = ("--resolution", "lowest-direct", "--requirements", ROOT / SERVER / "pyproject.toml")
            uv("pip", "install", "--python", python, *needs, "--no-sources", "--find-links", distributions.wheel.parent)
        rest = ("--no-deps",) if oldest else ("--constraint", PINS)
        server = [server_distributions.wheel] if version == _OLDEST_EXTRAS else []
        uv("pip", "install", "--python", python, *rest, distributions.wheel, *server)
        return Installed(root, home)

    return make


def _together(version: str) -> pytest.MarkDecorator:
    """Keep the tests of an environment on one worker, so that it is made once."""
    return pytest.mark.xdist_group(f"wheel, {version}")


@pytest.fixture(
    params=[
        pytest.param(one, marks=[_together(one), *([] if one == _RUNNING else [pytest.mark.slow])])
        for one in (_RUNNING, *(one for one in (*VERSIONS, _OLDEST) if one != _RUNNING))
    ]
)
def installed(request: pytest.FixtureRequest, environment: Callable[[str], Installed | None]) -> Installed:
    """An environment of each Python, and one with the oldest versions that the wheel says it can do with."""
    made = environment(request.param)
    if made is None:
        pytest.skip(f"there is no Python {request.param} on this machine")
    return made


def test_it_says_its_version_and_is_light(installed: Installed) -> None:
    for command in (("groundwire",), ("python", "-m", "groundwire")):
        done = installed.run(*command, "--version")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"groundwire, version {__version__}\n", "")
    done = installed.run("python", "-c", _IMPORT)
    assert done.returncode == 0, done.stderr
    version, file, loaded, web = json.loads(done.stdout)
    assert (version, web) == (__version__, "Web")
    assert Path(file).is_relative_to(installed.root)
    assert loaded < 10


def test_nothing_is_there_that_it_does_not_need(installed: Installed, distributions: Distributions) -> None:
    there = {line.partition("==")[0] for line in uv("pip", "freeze", "--python", installed.root / "bin/python").split()}
    assert distributions.needs(extras=False) <= there
    done = installed.run("python", "-c", _NEEDED)
    assert done.returncode == 0, done.stderr
    assert not (distributions.needs(extras=True) & there) - set(done.stdout.split())  # what others need may be there


def test_its_demo_runs(installed: Installed) -> None:
    done = installed.run("groundwire", "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[1] Reciprocal rank fusion" in done.stdout
    assert done.stderr == ""


class Shelf(EmulatedServer):
    """Documents of three kinds."""

    def handle(self, request: Recorded) -> EmulatedResponse:
        if request.path == "/report.pdf":
            return EmulatedResponse(body=report(), content_type="application/pdf")
        if request.path == "/lamps.xlsx":
            return EmulatedResponse(body=workbook({"Lamps": [["lit", 7]]}), content_type="application/zip")
        return EmulatedResponse(
            body=word("<w:p><w:r><w:t>The lamp was lit.</w:t></w:r></w:p>"), content_type="application/zip"
        )


_HOSTS = {
    "yodoca": "aiohttp==3.13.3 click==8.3.1 idna==3.11 lxml==6.0.2 platformdirs==4.9.4 pydantic==2.12.5 "
    "filelock==3.24.3 virtualenv==21.2.0 python-dotenv==1.2.1 rich==14.3.2 keyring==25.7.0 ddgs==9.10.0 primp==1.1.3",
    "haytham": "aiohttp==3.13.2 click==8.3.0 idna==3.11 lxml==6.0.2 platformdirs==4.7.1 pydantic==2.12.4 "
    "filelock==3.21.2 virtualenv==20.36.1 python-dotenv==1.2.1 rich==14.2.0 ddgs==9.10.0 primp==0.15.0",
    "squidbot": "aiohttp==3.13.3 click==8.3.1 idna==3.11 lxml==6.0.2 pydantic==2.12.5 python-dotenv==1.2.1 "
    "rich==14.3.3",
}
"""What hosts have pinned of the packages that we need, too."""


@pytest.mark.req("B31")
@pytest.mark.parametrize(
    "host", ["yodoca", *(pytest.param(one, marks=pytest.mark.slow) for one in ("haytham", "squidbot"))]
)
def test_no_package_of_a_host_is_moved(host: str, distributions: Distributions, tmp_path: Path) -> None:
    root, pins = tmp_path / "venv", _HOSTS[host].split()
    python = root / "bin" / "python"
    uv("venv", "--python", sys.executable, root)
    uv("pip", "install", "--python", python, *pins)
    before = set(uv("pip", "freeze", "--python", python).split())
    extras = ",".join(one for one in ("ddgs", "keyring") if one in _HOSTS[host])
    uv("pip", "install", "--python", python, f"groundwire[{extras}] @ {distributions.wheel.as_uri()}")
    assert set(pins) <= before <= set(uv("pip", "freeze", "--python", python).split())
    uv("pip", "check", "--python", python)
    done = Installed(root, tmp_path).run("groundwire", "demo")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.req("B31")
@_together(_OLDEST)
def test_pages_and_documents_are_read_with_the_oldest_versions(
    environment: Callable[[str], Installed | None], world: World
) -> None:
    installed = environment(_OLDEST)
    if installed is None:
        pytest.skip(f"there is no Python {VERSIONS[0]} on this machine")
    shelf = world.add(Shelf("shelf"))
    for url, words in {
        world.site("articles").page("bm25"): "# ",
        f"{shelf.url}/report.pdf": "lantern",
        f"{shelf.url}/lamp.docx": "The lamp was lit.",
    }.items():
        done = installed.run("groundwire", "open", url, GROUNDWIRE_POLICY_ALLOWED_ORIGINS=",".join(world.origins))
        assert (done.returncode, done.stderr) == (0, ""), url
        assert words in done.stdout


def _exchange(process: subprocess.Popen[str], *messages: Mapping[str, object]) -> dict[str, Any]:
    """Send messages of MCP, a line each, and return the answer to the last one."""
    assert process.stdin
    assert process.stdout
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


@pytest.mark.req("B31")
@_together(_OLDEST_EXTRAS)
def test_the_servers_run_with_the_oldest_versions(
    environment: Callable[[str], Installed | None], world: World, tmp_path: Path
) -> None:
    installed = environment(_OLDEST_EXTRAS)
    if installed is None:
        pytest.skip(f"there is no Python {VERSIONS[0]} on this machine")
    variables = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
    }

    def started(*arguments: str) -> subprocess.Popen[str]:
        command: list[str | Path] = [installed.root / "bin" / "groundwire", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, env=variables, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8"
        )

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "web_search", "arguments": {"query": "reciprocal rank fusion"}}
    with started("mcp") as process:
        assert _exchange(process, {"id": 0, "method": "initialize", "params": hello})["id"] == 0
        ready = {"method": "notifications/initialized"}
        found = _exchange(process, ready, {"id": 1, "method": "tools/call", "params": call})
        assert found["result"]["structuredContent"]["results"]
        process.kill()
    with started("serve", "--port", "0") as process:
        assert process.stderr
        (url,) = re.findall(r"http://\S+:\d+", process.stderr.readline())
        with urlopen(url) as page:
            assert "<html" in page.read().decode()
        asked = Request(
            f"{url}/v1/search", json.dumps({"query": "bm25"}).encode(), {"Content-Type": "application/json"}
        )
        with urlopen(asked) as answer:
            assert json.load(answer)["results"]
        accepts = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        with urlopen(Request(f"{url}/mcp", json.dumps(body).encode(), accepts)) as answer:
            assert b"groundwire" in answer.read()
        process.kill()


_DDGS = """
import asyncio, os, sys
from groundwire import Settings, Web
from groundwire.errors import ProviderError
from groundwire.providers.duckduckgo import DuckDuckGoOptions, DuckDuckGoSearchProvider
from groundwire.deadline import Deadline

wire, ca_file = sys.argv[1:]

def settings():
    options, network = {"ca_file": ca_file}, {"proxy": wire}
    search = {"providers": ["duckduckgo"], "timeout": 60}  # seconds, for a busy machine
    return Settings.model_validate({"search": search, "network": network, "providers": {"duckduckgo": options}})

async def main():
    async with Web(settings()) as web:
        print((await web.search("reciprocal rank fusion", limit=2)).results[1].url)
    os.environ["HTTPS_PROXY"] = os.environ["ALL_PROXY"] = wire
    alone = DuckDuckGoSearchProvider(DuckDuckGoOptions(ca_file=ca_file))
    try:
        await alone.search("secret", deadline=Deadline.after(2))
    except ProviderError:
        print("no proxy")

asyncio.run(main())
"""


@pytest.mark.req("B31")
@_together(_OLDEST_EXTRAS)
def test_the_oldest_ddgs_searches(environment: Callable[[str], Installed | None], tmp_path: Path) -> None:
    installed = environment(_OLDEST_EXTRAS)
    if installed is None:
        pytest.skip(f"there is no Python {VERSIONS[0]} on this machine")
    with closing(Wire(Authority(tmp_path))) as wire:
        done = installed.run("python", "-c", _DDGS, wire.url, str(wire.ca_file), PYTHONWARNINGS="")
        asked = {request.form["q"] for request in wire.log}  # a slow answer is asked for again
    assert done.returncode == 0, done.stderr
    found, last = done.stdout.splitlines()
    assert (found, last) == ("https://site1.example/", "no proxy")
    assert asked == {"reciprocal rank fusion"}  # the one for which no proxy is set went past that of the environment


_BACKEND = """
import json, pathlib
from keyring.backend import KeyringBackend

class Keyring(KeyringBackend):
    priority = 9
    kept = pathlib.Path("keys.json")

    def get_password(self, service, username):
        return json.loads(self.kept.read_text()).get(f"{service} {username}") if self.kept.exists() else None

    def set_password(self, service, username, password):
        self.kept.write_text(json.dumps({f"{service} {username}": password}))
"""
_EXTRAS_IN_USE = """
import asyncio, sys
import keyring
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from groundwire import Web
from groundwire.settings import load
from groundwire.telemetry import Spans

exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
keyring.set_password("groundwire", "BRAVE_API_KEY", "from the keyring")

async def main():
    async with Web(load(), call_listeners=[Spans(provider)]) as web:
        for _ in range(2):
            found = await web.search("reciprocal rank fusion")
        print(found.cached)
        print("lit" in (await web.open_page(sys.argv[1])).content)
        print(web.settings.secret("BRAVE_API_KEY").get_secret_value())

asyncio.run(main())
print(*sorted({span.name for span in exporter.get_finished_spans()}))
"""


@pytest.mark.req("B31")
@_together(_OLDEST_EXTRAS)
def test_the_oldest_versions_of_other_extras_work(
    environment: Callable[[str], Installed | None], world: World, tmp_path: Path
) -> None:
    installed = environment(_OLDEST_EXTRAS)
    if installed is None:
        pytest.skip(f"there is no Python {VERSIONS[0]} on this machine")
    (tmp_path / "kept_keys.py").write_text(_BACKEND)
    shelf = world.add(Shelf("shelf"))
    server = Valkey(needed(redis_server_program), tmp_path)
    done = installed.run(
        "python",
        "-c",
        _EXTRAS_IN_USE,
        f"{shelf.url}/lamps.xlsx",
        PYTHONPATH=str(tmp_path),
        PYTHON_KEYRING_BACKEND="kept_keys.Keyring",
        GROUNDWIRE_SEARCH_PROVIDERS="searxng",
        GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL=world.searxng.url,
        GROUNDWIRE_POLICY_ALLOWED_ORIGINS=",".join(world.origins),
        GROUNDWIRE_STORAGE_URL=server.url,
    )
    kept = server.command("DBSIZE")
    server.stop()
    assert done.returncode == 0, done.stderr
    names = "execute_tool open_page execute_tool web_search read local search searxng"
    assert done.stdout.splitlines() == ["True", "True", "from the keyring", names]
    assert int(kept.removeprefix(":")) > 0


@pytest.mark.req("B31")
@_together(_OLDEST_EXTRAS)
def test_the_oldest_playwright_reads_with_the_browser_of_the_machine(
    environment: Callable[[str], Installed | None], world: World
) -> None:
    installed = environment(_OLDEST_EXTRAS)
    if installed is None:
        pytest.skip(f"there is no Python {VERSIONS[0]} on this machine")
    done = installed.run(
        "groundwire",
        "open",
        "--json",
        world.site("articles").page("reciprocal-rank-fusion"),
        GROUNDWIRE_READ_PROVIDERS="browser",
        GROUNDWIRE_PROVIDERS_BROWSER_EXECUTABLE=str(executable_or_skip()),
        GROUNDWIRE_POLICY_ALLOWED_ORIGINS=",".join(world.origins),
    )
    assert (done.returncode, done.stderr) == (0, "")
    page = json.loads(done.stdout)
    assert (page["reader"], page["title"]) == ("browser", "Reciprocal rank fusion")


def test_every_command_says_what_it_does_without_any_extra(installed: Installed) -> None:
    done = installed.run("python", "-c", _HELP)
    assert done.returncode == 0, done.stderr
    assert {"search", "open", "archive search", "mcp install"} <= set(done.stdout.splitlines())


@_together(_RUNNING)
def test_the_server_is_installed_as_the_library_says(
    environment: Callable[[str], Installed | None], tmp_path: Path
) -> None:
    first = environment(_RUNNING)
    assert first
    for command in ("serve", "proxy --upstream http://a.test/v1", "keys list", "mcp --http"):
        done = first.run("groundwire", *command.split())
        assert (done.returncode, done.stdout) == (2, "")
        assert ", which is not installed: " in done.stderr
    remedy = shlex.split(done.stderr.strip().removesuffix(".").partition(", which is not installed: ")[2])
    installed = Installed(tmp_path / "venv", tmp_path)
    shutil.copytree(first.root, installed.root, symlinks=True)
    python = str(installed.root / "bin" / "python")
    assert str(first.root / "bin" / "python") in remedy
    uv("pip", "install", "--python", python, "--constraint", PINS, remedy[-1])
    for command in ("serve", "proxy", "keys"):
        done = installed.run("python", "-m", "groundwire", command, "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"Usage: groundwire {command}")


def test_the_manual_knows_it(installed: Installed) -> None:
    page = installed.root / "share" / "man" / "man1" / "groundwire.1"
    assert f'"groundwire {__version__}"' in page.read_text()


def _tool(*arguments: str | Path, folder: Path) -> Sequence[str]:
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin"), "HOME": str(folder)}
    return uv("tool", *arguments, **places).splitlines()


@pytest.mark.slow  # the next test does it in one environment instead of two
def test_it_runs_as_a_tool_that_is_not_installed(distributions: Distributions, tmp_path: Path) -> None:
    said = _tool(
        "run", "--python", sys.executable, "--from", distributions.wheel, "groundwire", "--version", folder=tmp_path
    )
    assert said == [f"groundwire, version {__version__}"]
    with_extra = f"groundwire[mcp] @ {distributions.wheel.as_uri()}"
    said = _tool(
        "run", "--python", sys.executable, "--from", with_extra, "groundwire", "mcp", "--help", folder=tmp_path
    )
    assert said[0].startswith("Usage: groundwire mcp")
    assert not (tmp_path / "bin").exists()


def test_it_is_installed_as_a_tool_and_goes_without_a_trace(distributions: Distributions, tmp_path: Path) -> None:
    _tool("install", "--python", sys.executable, distributions.wheel, folder=tmp_path)
    command = tmp_path / "bin" / "groundwire"
    done = subprocess.run([command, "--version"], env={"PATH": os.environ["PATH"]}, capture_output=True, check=True)
    assert done.stdout.decode() == f"groundwire, version {__version__}\n"
    _tool("uninstall", "groundwire", folder=tmp_path)
    assert [*(tmp_path / "tools").glob("groundwire*"), *(tmp_path / "bin").iterdir()] == []


def test_the_bill_of_materials_of_the_server(server_distributions: Distributions, tmp_path: Path) -> None:
    write_sbom(server_distributions.wheel, target := tmp_path / "server.cdx.json")
    bill = json.loads(target.read_text())
    assert (bill["metadata"]["component"]["name"], bill["metadata"]["component"]["version"]) == (
        "groundwire-server",
        __version__,
    )
    names = {part["name"].lower().replace("_", "-") for part in bill["components"]}
    assert server_distributions.needs(extras=False) <= names


def test_the_bill_of_materials(distributions: Distributions, tmp_path: Path) -> None:
    target = tmp_path / "groundwire.cdx.json"
    write_sbom(distributions.wheel, target)
    text = target.read_text()
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    root = bill["metadata"]["component"]
    assert (root["name"], root["version"]) == ("groundwire", __version__)
    assert root["hashes"] == [
        {"alg": "SHA-256", "content": hashlib.sha256(distributions.wheel.read_bytes()).hexdigest()}
    ]
    names = {part["name"].lower().replace("_", "-"): part for part in bill["components"]}
    needed = distributions.needs(extras=False)
    assert needed <= set(names)
    assert "pytest" not in names
    assert [name for name, part in names.items() if not part.get("purl") or not part.get("version")] == []
    assert [name for name, part in names.items() if not part.get("licenses")] == []
    (direct,) = (one["dependsOn"] for one in bill["dependencies"] if one["ref"] == root["bom-ref"])
    named = {ref.partition("==")[0].lower() for ref in direct}
    assert needed <= named <= needed | distributions.needs(extras=True)
    assert "file:" not in text
    assert str(tmp_path) not in text
    assert not {"serialNumber", "timestamp"} & {*bill, *bill["metadata"]}  # the same wheel has the same bill
