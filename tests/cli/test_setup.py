"""`groundwire setup`, driven as a person drives it, on a real pseudo-terminal, and without one."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from groundwire.testing import InjectedFault

Terminal = Any  # see conftest.py


NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
SECRET = "test-key"
SERVICES = ("brave", "tavily", "wikipedia", "duckduckgo_lite")


@pytest.fixture
def clean(terminal: Terminal) -> Terminal:
    """A terminal in whose environment nothing is set up yet; the services are those of the miniature web."""
    terminal.variables |= {"GROUNDWIRE_SEARCH_PROVIDERS": "", "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": "", **NO_KEYRING}
    terminal.variables["GROUNDWIRE_STORAGE_URL"] = "memory://"
    for name in SERVICES:
        service = terminal.world.service(name)
        terminal.variables[f"GROUNDWIRE_PROVIDERS_{name.upper()}_BASE_URL"] = service.url
    return terminal


@pytest.fixture
def file(clean: Terminal) -> Path:
    return Path(clean.home, ".config", "groundwire", "groundwire.toml")


@pytest.fixture
def keys(file: Path) -> Path:
    return file.with_name("keys.env")


def speak(terminal: Terminal, *arguments: str, **variables: str) -> pexpect.spawn[str]:
    return pexpect.spawn(
        str(terminal.python),
        ["-m", "groundwire", "setup", *arguments],
        env=terminal.environment | {"TERM": "xterm"} | variables,
        cwd=str(terminal.home),
        encoding="utf-8",
        timeout=100,
        dimensions=(50, 80),
    )


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def opened(clean: Terminal) -> Path:
    """What the user's browser was asked to open."""
    log = Path(clean.home, "opened.txt")
    script = clean.home / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" >> {log}\n')
    script.chmod(0o755)
    clean.variables["BROWSER"] = f"{script} %s"
    return log


@pytest.mark.req("Y8", "Y7")
def test_a_person_sets_up_a_provider(clean: Terminal, file: Path, keys: Path, opened: Path) -> None:
    clean.python = sys.executable  # one dialog with nothing instead of the real thing
    file.parent.mkdir(parents=True)
    file.write_text('# mine\n[search]\nlimit = 7  # seven\n\n[policy]\nblocked_domains = ["example.com"]\n')
    child = speak(clean)
    child.expect("Search with")
    offers = " ".join(child.before.split())
    assert "$5.00 per 1,000; free: 5 US dollars" in offers
    assert "arxiv free: one search every three seconds; ready." in offers
    child.sendline("bravo")
    child.expect("did you mean 'brave'")
    child.sendline("brave, wikipedia")
    child.expect("Read pages with")
    assert " 1  local " in child.before  # what is in use comes first
    child.sendline("")
    child.expect("https://api-dashboard.search.brave.com/app/keys")
    child.expect("Open that page")
    child.sendline("y")
    child.expect("BRAVE_API_KEY .*: ")
    child.waitnoecho()
    child.sendline("wrong-key")
    child.expect("the key is invalid")
    child.expect("Try another key")
    child.sendline("y")
    child.expect("BRAVE_API_KEY .*: ")
    child.waitnoecho()
    child.sendline(f'BRAVE_API_KEY="{SECRET}"')
    child.expect("brave works: it answered a search")
    child.expect("wikipedia works")
    child.expect("no keyring")
    child.expect("Store them there")
    assert not keys.exists()
    child.sendline("y")
    child.expect("Write this")
    shown = child.before
    assert '+providers = ["brave", "wikipedia"]' in shown
    assert left(file.parent) == ["groundwire.toml"]
    child.sendline("y")
    child.expect("Written")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    text = file.read_text()
    assert text.startswith("# mine\n[search]\nlimit = 7  # seven\n")
    assert 'providers = ["brave", "wikipedia"]' in text
    assert 'blocked_domains = ["example.com"]' in text
    assert SECRET not in text + shown
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert f"BRAVE_API_KEY={SECRET}\n" in keys.read_text()
    (copy,) = file.parent.glob("groundwire.toml.*.bak")
    assert "providers" not in copy.read_text()
    assert opened.read_text().split() == ["https://api-dashboard.search.brave.com/app/keys"]
    found = clean.run("search", "reciprocal rank fusion", "--limit", "1")
    assert (found.returncode, clean.world.service("brave").requests[-1].headers["X-Subscription-Token"]) == (0, SECRET)


@pytest.mark.req("Y8")
def test_running_it_again_shows_what_is_there_and_changes_nothing(clean: Terminal, file: Path, keys: Path) -> None:
    first = clean.run("setup", "-p", "brave", "--only", "--key-from-env", "MY_KEY", "--yes", MY_KEY=SECRET)
    assert (first.returncode, SECRET in first.stdout + first.stderr) == (0, False), first.stderr
    before = file.read_bytes(), keys.read_bytes(), left(file.parent)
    child = speak(clean)
    child.expect(r"Search with .*\[brave\]")
    assert "key: keys.env" in child.before
    child.sendline("")
    child.expect("Read pages with")
    child.sendline("")
    child.expect("brave has a key .*Keep it")
    child.sendline("")
    child.expect("brave works")
    child.expect("already up to date")
    child.expect("Nothing was changed")
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, (file.read_bytes(), keys.read_bytes(), left(file.parent))) == (0, before)


@pytest.mark.req("Y8")
@pytest.mark.parametrize("moment", ["BRAVE_API_KEY .*: ", "Write this"])
def test_control_c_leaves_nothing_half_written(moment: str, clean: Terminal, file: Path) -> None:
    answers = [
        ("Search with", "brave"),
        ("Read pages with", ""),
        ("BRAVE_API_KEY .*: ", SECRET),
        ("Store them there", "y"),
        ("Write this", ""),
    ]
    clean.python = sys.executable  # the terminal that controls it sends the signal
    child = speak(clean, "--no-browser")
    for question, answer in answers:
        child.expect(question)
        if question == moment:
            break
        child.sendline(answer)
    for _ in range(5):  # click alone loses some 3 % of those that come as its prompt appears
        child.sendintr()
        if child.expect(["Interrupted", pexpect.TIMEOUT], timeout=10) == 0:
            break
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, left(file.parent)) == (130, [])


def test_an_empty_key_leaves_the_provider_out(clean: Terminal, file: Path) -> None:
    child = speak(clean, "--no-browser")
    for question, answer in (
        ("Search with", "brave wikipedia"),
        ("Read pages with", ""),
        ("BRAVE_API_KEY .*: ", ""),
        ("Write this", "y"),
    ):
        child.expect(question)
        child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert 'providers = ["wikipedia"]' in file.read_text()


def test_saying_no_writes_nothing(clean: Terminal, file: Path) -> None:
    child = speak(clean, "-p", "wikipedia", "--no-browser")
    child.expect("Write this")
    child.sendline("n")
    child.expect("Nothing was written")
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, left(file.parent)) == (2, [])


@pytest.mark.req("Y8")
def test_without_a_terminal_it_says_what_does_the_same(clean: Terminal, file: Path) -> None:
    done = clean.run("setup")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--provider brave --key-from-env BRAVE_API_KEY --yes" in done.stderr
    assert "GROUNDWIRE_SEARCH_PROVIDERS=brave" in done.stderr
    lacking = clean.run("setup", "--provider", "brave", "--yes")
    assert (lacking.returncode, left(file.parent)) == (2, [])
    assert "--key-from-env brave=BRAVE_API_KEY" in lacking.stderr
    assert "--yes" in clean.run("setup", "--provider", "brave").stderr


@pytest.mark.req("Y8")
def test_a_key_comes_from_standard_input(clean: Terminal, file: Path, keys: Path) -> None:
    import subprocess

    done = subprocess.run(
        [clean.python, "-m", "groundwire", "setup", "-p", "brave", "--key-file", "-", "--yes"],
        input=f"{SECRET}\n",
        env=clean.environment,
        cwd=clean.home,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "not encrypted" in done.stderr
    assert SECRET not in done.stdout + done.stderr + file.read_text()
    assert SECRET in keys.read_text()
    assert 'providers = ["brave", "you_free", "parallel_free", "exa_free", ' in file.read_text()


VERDICTS = {
    "wrong": (
        InjectedFault.status(422, '{"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}'),
        3,
        "The key is not accepted",
    ),
    "plan": (
        InjectedFault.status(403, '{"error": {"detail": "Your plan has no web search, please upgrade"}}'),
        3,
        "Choose a plan",
    ),
    "quota": (InjectedFault.status(402, "{}"), 0, "used up"),
    "fast": (InjectedFault.status(429, "{}", headers={"Retry-After": "7"}), 0, "7 seconds"),
    "broken": (InjectedFault.status(500, "{}"), 3, "Try again later"),
    "reset": (InjectedFault.reset(), 0, "fix the network first"),
}


@pytest.mark.req("Y8")
@pytest.mark.parametrize("name", VERDICTS)
def test_what_the_service_says_is_told_apart(name: str, clean: Terminal, file: Path) -> None:
    fault, code, words = VERDICTS[name]
    clean.world.service("brave").fail(fault, times=None)
    done = clean.here("setup", "-p", "brave", "--key-from-env", "K", "--yes", K=SECRET)
    assert done.exit_code == code, done.stderr
    assert words in done.stderr
    assert SECRET not in done.output
    assert file.exists() == (code == 0)


def test_a_second_key_does_not_stand_in_for_a_wrong_one(clean: Terminal) -> None:
    done = clean.here(
        "setup", "-p", "brave", "--key-from-env", "K", "--yes", K="wrong-key", BRAVE_SEARCH_API_KEY=SECRET
    )
    assert done.exit_code == 3
    assert "The key is not accepted" in done.stderr


def test_several_providers_and_an_address(clean: Terminal, file: Path, keys: Path) -> None:
    arguments = ("setup", "-p", "searxng", "-p", "brave,tavily", "--address", clean.world.searxng.url, "--only", "-y")
    ambiguous = clean.here(*arguments, "--key-from-env", "K", K=SECRET)
    assert (ambiguous.exit_code, "--key-from-env searxng=K" in ambiguous.stderr) == (2, True)
    done = clean.here(*arguments, "--key-from-env", "brave=K", "--key-from-env", "tavily=K", K=SECRET)
    assert done.exit_code == 0, done.stderr
    text = file.read_text()
    assert 'providers = ["searxng", "brave", "tavily"]' in text
    assert f'[providers.searxng]\nbase_url = "{clean.world.searxng.url}"' in text
    assert keys.read_text().count(SECRET) == 2
    assert clean.here("search", "fusion", "--json").exit_code == 0


def test_a_stronger_place_is_named(clean: Terminal, file: Path) -> None:
    done = clean.here("setup", "-p", "wikipedia", "--yes", GROUNDWIRE_SEARCH_PROVIDERS="duckduckgo")
    assert done.exit_code == 0
    assert "GROUNDWIRE_SEARCH_PROVIDERS says search.providers = duckduckgo" in done.stderr


def test_a_stronger_key_is_named(clean: Terminal) -> None:
    done = clean.here("setup", "-p", "brave", "--key-from-env", "K", "--yes", K=SECRET, BRAVE_API_KEY="another-key")
    assert done.exit_code == 0
    assert "BRAVE_API_KEY is also in environment with another key" in done.stderr
    assert "another-key" not in done.output


def test_a_wrong_address_is_asked_for_again(clean: Terminal, file: Path) -> None:
    child = speak(clean, "-p", "searxng", "--only")
    for question, answer in (
        ("Address of searxng", clean.world.closed_url),
        ("SEARXNG_API_KEY .*: ", ""),
        (r"base_url is its\s+address.*Try another address", "y"),
        ("Address of searxng", clean.world.searxng.url),
        ("SEARXNG_API_KEY .*: ", ""),
        ("searxng works.*Write this", "y"),
    ):
        child.expect(question)
        child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert f'base_url = "{clean.world.searxng.url}"' in file.read_text()


def test_what_would_contradict_is_not_written(clean: Terminal, file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text('[search]\nproviders = ["wikipedia", "duckduckgo"]\nstrategy = "fuse"\n')
    done = clean.here("setup", "-p", "wikipedia", "--only", "--yes")
    assert done.exit_code == 2
    assert f"{file}: search.strategy: 'fuse' needs at least two providers" in done.stderr
    assert '"duckduckgo"' in file.read_text()


def test_a_key_that_cannot_be_kept_is_taken_back(clean: Terminal, file: Path, keys: Path) -> None:
    keys.parent.mkdir(parents=True)
    keys.write_text("EXA_API_KEY=other\nBRAVE_API_KEY=old-key\n")
    keys.chmod(0o600)
    file.mkdir()  # a folder where the file should be
    done = clean.here("setup", "-p", "brave", "--key-from-env", "K", "--yes", "--no-verify", K=SECRET)
    assert done.exit_code == 2
    assert sorted(keys.read_text().split()) == ["BRAVE_API_KEY=old-key", "EXA_API_KEY=other"]


@pytest.mark.parametrize(
    "arguments", [("-p", "altavista"), ("-p", "local"), ("-r", "brave"), ("-p", "x", "--keep", "z")]
)
def test_wrong_use(arguments: tuple[str, ...], clean: Terminal, file: Path) -> None:
    done = clean.here("setup", *arguments, "--yes", BRAVE_API_KEY=SECRET)
    expected = 0 if arguments == ("-p", "local") else 2
    assert done.exit_code == expected, done.stderr
    assert "Traceback" not in done.stderr


def test_a_project_has_a_file_of_its_own(clean: Terminal, file: Path) -> None:
    done = clean.here("setup", "-p", "wikipedia", "--project", "--yes")
    assert done.exit_code == 0, done.stderr
    assert "wikipedia" in (clean.home / "groundwire.toml").read_text()
    assert not file.exists()
