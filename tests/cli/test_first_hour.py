"""What goes wrong in the first hour: the failing command itself names the cause and the remedy."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tomllib
import venv
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import groundwire
from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from groundwire.testing.model_apis import quoting
from world.model_apis import ModelServer

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
    assert process.returncode in ((130,) if serve else (0, 130))
    assert list(temporary.iterdir()) == []
    assert [path.name for path in terminal.home.iterdir()] == ["tmp"]


@pytest.mark.parametrize(
    ("service", "named"),
    [("tavily", "TAVILY_API_KEY"), ("kagi", "KAGI_API_KEY"), ("you", "YDC_API_KEY or YOU_API_KEY")],
)
def test_a_wrong_key_names_its_variable(terminal: Terminal, service: str, named: str) -> None:
    server = terminal.world.service(service)
    server.fail(InjectedFault.status(401, "{}"), times=None)
    done = terminal.run(
        "search",
        QUERY,
        GROUNDWIRE_SEARCH_PROVIDERS=service,
        **{f"GROUNDWIRE_PROVIDERS_{service.upper()}_BASE_URL": server.url, named.split()[0]: "k" * 30},
    )
    assert (done.returncode, f"the key is not accepted (HTTP 401). Check the key in {named}" in done.stderr) == (
        3,
        True,
    )


def test_a_wrong_key_of_a_model_names_its_variable(terminal: Terminal) -> None:
    models = terminal.world.add(ModelServer(quoting, listed=("miniature",)))
    models.fail(InjectedFault.status(401, '{"error": {"message": "Incorrect API key"}}'), times=None)
    answer = {"GROUNDWIRE_ANSWER_BASE_URL": f"{models.url}/v1", "GROUNDWIRE_ANSWER_MODEL": "miniature"}
    done = terminal.run("ask", "What is BM25?", **answer, OPENAI_API_KEY="sk-wrong")
    assert (done.returncode, "Check OPENAI_API_KEY" in done.stderr) == (3, True), done.stderr


@pytest.mark.parametrize(
    ("level", "logs"), [("debug", "DEBUG"), ("INFO", "INFO groundwire"), ("off", ""), ("loud", "it is debug, info, or")]
)
def test_the_log_variable(terminal: Terminal, level: str, logs: str) -> None:
    done = terminal.run("search", QUERY, GROUNDWIRE_LOG=level)
    assert (done.returncode, done.stdout[:4], logs in done.stderr) == (0, " 1. ", True), done.stderr
    assert ("INFO" in done.stderr) == (level in ("debug", "INFO"))


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("GROUNDWIRE_SEARCH_LIMTI", "did you mean 'GROUNDWIRE_SEARCH_LIMIT'?"),
        ("GROUNDWIRE_PORT", "did you mean 'GROUNDWIRE_SERVER_PORT'?"),  # as Kubernetes sets it beside a service
        ("GROUNDWIRE_LOG_LEVEL", "did you mean 'GROUNDWIRE_LOG'?"),
        ("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_ULR", "did you mean 'base_url'?"),
        ("GROUNDWIRE_PROVIDERS_BRAVE_API_KEY", "API keys do not belong in settings"),
    ],
)
def test_an_unknown_variable_is_a_note_and_not_in_the_way(terminal: Terminal, name: str, right: str) -> None:
    done = terminal.run("search", QUERY, **{name: "tcp://10.0.0.1:80"})
    assert (done.returncode, done.stdout[:4]) == (0, " 1. ")
    assert f"Note: environment: {name} is not a" in done.stderr
    assert right in done.stderr
    (terminal.home / "groundwire.toml").write_text("[search]\nlimti = 3\n")
    assert terminal.run("search", QUERY).returncode == 2


@pytest.mark.parametrize("place", [".cache", ".cache/groundwire"])
def test_a_file_where_the_cache_should_be_is_named_once(terminal: Terminal, place: str) -> None:
    file = terminal.home / place
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    for command in (["search", QUERY], ["ask", "What is BM25?", "--quote"]):
        done = terminal.run(*command)
        assert done.returncode == 0
        notes = [line for line in done.stderr.splitlines() if line.startswith("Note: ")]
        assert (len(notes), done.stderr.count(str(file))) == (1, 1), done.stderr
        assert f"{file} is a file, not a folder. Move it away" in notes[0]
    assert f"{file} is a file, not a folder." in terminal.run("archive", "list").stderr
    assert file.read_text() == "mine"


@pytest.mark.parametrize("state", ["unwritable", "damaged"])
def test_quiet_says_nothing_of_a_store_that_fails(terminal: Terminal, state: str) -> None:
    cache = terminal.home / "cache"
    folder = cache / "groundwire"
    for option, says in (("--quiet", False), ("--refresh", True)):
        for file in (folder / "store.sqlite3", folder / "archive.db") if state == "damaged" else (cache,):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"nonsense" * 2_000)
        done = terminal.here("search", QUERY, option, XDG_CACHE_HOME=str(cache))
        assert (done.exit_code, done.stdout[:4]) == (0, " 1. ")
        assert (bool(done.stderr), "Note: " in done.stderr) == (says, says), done.stderr


def test_on_a_terminal_the_reason_stands_below_the_spinner(terminal: Terminal) -> None:
    file = terminal.home / ".cache"
    file.write_text("mine")
    shown = " ".join(terminal.on_a_terminal("search", QUERY)[0].split())
    assert (shown.count(str(file)), shown.count("is a file, not a folder"), "Searching" in shown) == (1, 1, True), shown
    assert shown.rindex("Searching") < shown.index("Note: ")


def test_a_file_where_another_folder_should_be_is_named(terminal: Terminal) -> None:
    file = terminal.home / ".config"
    file.write_text("mine")
    for command in (
        ["config", "set", "search.limit", "3"],
        ["export", "extension", f"{file}/x"],
    ):
        done = terminal.run(*command)
        assert (done.returncode in (2, 3), f"{file} is a file, not a folder" in done.stderr) == (True, True), (
            done.stderr
        )


def test_a_blocked_address_is_told_with_its_own_origin(terminal: Terminal) -> None:
    for url, origin in (
        ("http://127.0.0.1:9/x?y", "http://127.0.0.1:9"),
        ("https://LOCALHOST/", "https://localhost"),
        ("http://10.0.0.8:8080/", "http://10.0.0.8:8080"),
    ):
        done = terminal.run("open", url)
        assert done.returncode == 3
        assert f"add its origin, {origin}, to the setting policy.allowed_origins" in done.stderr
    both = terminal.run("open", "http://127.0.0.1:9/x", "http://10.0.0.8:8080/")
    assert "http://127.0.0.1:9, to the setting" in both.stderr
    assert "http://10.0.0.8:8080, to the setting" in both.stderr
    allowed = terminal.run("open", f"{terminal.corner.url}/redirect-home")
    assert "to the setting" not in allowed.stderr


def test_control_c_is_130_in_mcp(terminal: Terminal) -> None:
    terminal.python = sys.executable
    process = subprocess.Popen(
        [sys.executable, "-m", "groundwire", "mcp"],
        env=terminal.environment,
        cwd=terminal.home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    process.stdin.flush()
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=100)
    assert (process.returncode, said) == (130, b"Interrupted.\n")


def test_control_c_at_a_question_is_130(terminal: Terminal) -> None:
    terminal.python = sys.executable
    for command in (["archive", "forget", "--all"], ["mcp", "install", "cursor"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "groundwire", *command],
            env=terminal.environment,
            cwd=terminal.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        asked = b""
        while not asked.endswith(b"[y/N]: "):
            asked += (letter := process.stderr.read(1))
            assert letter, asked
        while process.poll() is None:  # the first may come just before the read that it is to end
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
        process.communicate(timeout=100)
        assert process.returncode == 130


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python in a folder with a space, with what is installed here but the MCP SDK and groundwire-server."""
    home = tmp_path_factory.mktemp("a folder") / "env"
    venv.create(home, with_pip=False, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    here = Path(groundwire.__file__).parents[1]
    own = next(Path(path) for path in sys.path if Path(path, "click").is_dir())
    for one in own.iterdir():
        if not one.name.startswith(("mcp", "groundwire", "_editable_impl_groundwire", "__pycache__", "__editable__")):
            (packages / one.name).symlink_to(one)
    for known in own.glob("groundwire-*.dist-info"):
        (packages / known.name).symlink_to(known)
    (packages / "groundwire.pth").write_text(f"{here}\n")
    return home / "bin" / "python"


def test_a_client_gets_no_server_that_cannot_start(terminal: Terminal, bare: Path) -> None:
    terminal.python = bare
    file = terminal.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"a": 1}')
    for command in (["mcp", "install", "cursor", "--yes"], ["mcp"]):
        done = terminal.run(*command)
        assert (done.returncode, done.stdout, file.read_text()) == (2, "", '{"a": 1}')
        remedy = shlex.split(done.stderr.partition("To install it: ")[2])
        assert str(bare) in remedy, done.stderr
        assert any(word.startswith("mcp") for word in remedy)
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]


@pytest.mark.parametrize(
    "command",
    ["serve", "serve --help", "proxy --upstream http://a.test/v1", "keys create ci", "mcp --http"],
)
def test_a_command_of_the_server_says_what_to_install(terminal: Terminal, bare: Path, command: str) -> None:
    terminal.python = bare
    done = terminal.run(*command.split())
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    name = "mcp --http" if command.startswith("mcp") else command.split()[0]
    said, _, remedy = done.stderr.strip().partition(", which is not installed: ")
    assert said == f"Error: groundwire {name} needs groundwire-server"
    words = shlex.split(remedy.removesuffix("."))
    assert str(bare) in words
    assert Path(words[-1]).name == "groundwire-server"
    assert tomllib.loads(Path(words[-1], "pyproject.toml").read_text())["project"]["name"] == "groundwire-server"
    assert "-e" in words  # as Groundwire itself is installed here


def test_the_commands_of_the_server_are_listed_without_it(terminal: Terminal, bare: Path) -> None:
    listed = terminal.run("--help").stdout
    terminal.python = bare
    assert terminal.run("--help").stdout == listed


def test_a_server_of_another_version_is_not_used(terminal: Terminal) -> None:
    known = terminal.home / "groundwire_server-9.9.9.dist-info"
    known.mkdir()
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: groundwire-server\nVersion: 9.9.9\n")
    (known / "entry_points.txt").write_text("[groundwire.commands]\nserve = os:abort\n")
    done = terminal.run("serve", PYTHONPATH=os.pathsep.join([str(terminal.home), os.environ.get("PYTHONPATH", "")]))
    assert (done.returncode, done.stdout) == (2, "")
    wanted = f"groundwire serve needs groundwire-server {groundwire.__version__}; 9.9.9 is installed: "
    assert done.stderr.startswith(f"Error: {wanted}")


def test_a_web_that_nobody_closed_is_closed_with_the_program(terminal: Terminal) -> None:
    models = terminal.world.add(ModelServer(quoting, listed=("miniature",)))
    script = (
        "import atexit, groundwire\n"
        "atexit.register(lambda: print(web.is_closed, [one.closed for one in sessions]))\n"
        "import gc\n"
        "web = groundwire.SyncWeb()\n"
        "web.search('bm25')\n"
        "print(len(groundwire.ask('What is BM25?', web).sources))\n"
        "import aiohttp\n"
        "sessions = [one for one in gc.get_objects() if isinstance(one, aiohttp.ClientSession)]\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", script],
        env=terminal.environment | {"GROUNDWIRE_ANSWER_BASE_URL": f"{models.url}/v1", "PYTHONWARNINGS": "default"},
        cwd=terminal.home,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=True,
    )
    first, last = done.stdout.splitlines()
    assert int(first) > 0
    assert last.startswith("True [True")
    assert "False" not in last
    assert "Unclosed" not in done.stderr
