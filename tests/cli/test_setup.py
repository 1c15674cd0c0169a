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


@pytest.mark.req("Y8", "Y7")
def test_a_person_sets_up_a_provider(clean: Terminal, file: Path, keys: Path) -> None:
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
    child.expect("BRAVE_API_KEY .*: ")
    child.waitnoecho()
    child.sendline("wrong-key")
    child.expect(r"key\s+is\s+not\s+accepted")
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
    found = clean.run("search", "reciprocal rank fusion", "--limit", "1")
    assert (found.returncode, clean.world.service("brave").requests[-1].headers["X-Subscription-Token"]) == (0, SECRET)


@pytest.mark.req("Y8")
def test_running_it_again_shows_what_is_there_and_changes_nothing(clean: Terminal, file: Path, keys: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text('[search]\nproviders = ["brave"]\n')
    first = speak(clean, "-p", "brave")
    assert answered(first, ("BRAVE_API_KEY .*: ", SECRET), ("Store them there", "y"), ("Write this", "y")) == 0
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
    child = speak(clean)
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
    child = speak(clean)
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
    child = speak(clean, "-p", "wikipedia")
    child.expect("Write this")
    child.sendline("n")
    child.expect("Nothing was written")
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, left(file.parent)) == (2, [])


@pytest.mark.parametrize("backend", ["absent.Keyring", "keyring.backends.null.Keyring"])
def test_a_keyring_that_keeps_no_key_is_not_used(backend: str, clean: Terminal, keys: Path) -> None:
    clean.python = sys.executable  # the backend is chosen once in a process
    child = speak(clean, "-p", "brave", PYTHON_KEYRING_BACKEND=backend)
    assert answered(child, ("BRAVE_API_KEY .*: ", SECRET), ("Store them there", "y"), ("Write this", "y")) == 0
    assert f"BRAVE_API_KEY={SECRET}\n" in keys.read_text()


@pytest.mark.req("Y8")
def test_without_a_terminal_it_says_what_does_the_same(clean: Terminal, file: Path) -> None:
    done = clean.run("setup", "--provider", "brave")
    assert (done.returncode, done.stdout, left(file.parent)) == (2, "", [])
    assert "GROUNDWIRE_SEARCH_PROVIDERS=brave" in done.stderr


def answered(child: pexpect.spawn[str], *answers: tuple[str, str]) -> int | None:
    """Answer the questions of a dialog to its end, and return its exit code."""
    for question, answer in answers:
        child.expect(question)
        child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    code: int | None = child.exitstatus
    return code


VERDICTS = {
    "plan": (
        InjectedFault.status(403, '{"error": {"detail": "Your plan has no web search, please upgrade"}}'),
        ("Choose a plan.*Try another key", "n"),
    ),
    "quota": (InjectedFault.status(402, "{}"), ("used up.*Store them there", "y")),
    "broken": (InjectedFault.status(500, "{}"), ("Try again later.*anyway", "n")),
}


@pytest.mark.req("Y8")
@pytest.mark.parametrize("name", VERDICTS)
def test_what_the_service_says_is_told_apart(name: str, clean: Terminal, file: Path) -> None:
    fault, answer = VERDICTS[name]
    clean.world.service("brave").fail(fault, times=None)
    child = speak(clean, "-p", "brave")
    rest = [("Write this", "y")] if name == "quota" else []
    code = answered(child, ("BRAVE_API_KEY .*: ", SECRET), answer, *rest)
    assert (code, file.exists()) == ((0, True) if name == "quota" else (2, False))


def test_a_stronger_place_is_named(clean: Terminal, file: Path) -> None:
    child = speak(clean, "-p", "wikipedia", GROUNDWIRE_SEARCH_PROVIDERS="duckduckgo")
    child.expect("Write this")
    child.sendline("y")
    child.expect(r"GROUNDWIRE_SEARCH_PROVIDERS\s+says\s+search.providers\s+=\s+duckduckgo")
    assert answered(child) == 0


def test_a_stronger_key_is_named(clean: Terminal) -> None:
    child = speak(clean, "-p", "brave", BRAVE_API_KEY="another-key")
    dialog = (("Keep it", "n"), ("BRAVE_API_KEY .*: ", SECRET), ("Store them there", "y"), ("Write this", "y"))
    for question, answer in dialog:
        child.expect(question)
        child.sendline(answer)
    child.expect(r"BRAVE_API_KEY\s+is\s+also\s+in\s+environment\s+with\s+another\s+key")
    assert answered(child) == 0


def test_a_wrong_address_is_asked_for_again(clean: Terminal, file: Path) -> None:
    child = speak(clean, "-p", "searxng")
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


@pytest.mark.parametrize("arguments", [("-p", "altavista"), ("-p", "brave", "--keys", "z")])
def test_wrong_use(arguments: tuple[str, ...], clean: Terminal, file: Path) -> None:
    done = clean.here("setup", *arguments, BRAVE_API_KEY=SECRET)
    assert (done.exit_code, left(file.parent)) == (2, [])
    assert "Traceback" not in done.stderr
