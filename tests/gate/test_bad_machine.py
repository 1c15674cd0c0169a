"""A machine that lacks something: each time one sentence says what to do."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from components.environment import environment_with
from components.needs import require, system_program
from components.processes import ReservedPort, Unavailable
from doctor_dev import VERSIONS, install_line, interpreter, packages

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("sniffio==1.3.1",)


def prepared(folder: Path) -> list[str]:
    """Make an environment, and return what was said meanwhile."""
    said: list[str] = []
    environment_with(folder, PACKAGES, "a second", said.append)
    return said


def doctor(*arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Run `make doctor-dev`'s script with another PATH."""
    command = [sys.executable, str(ROOT / "scripts" / "doctor_dev.py"), *arguments]
    return subprocess.run(command, env={"PATH": str(path)}, capture_output=True, text=True, check=False)


def test_each_debian_package_is_named_with_what_it_brings() -> None:
    assert len(packages()) > 10
    assert len(set(packages().values())) == len(packages())


def test_a_missing_program_is_named_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    line = install_line(["redis-server"])
    with pytest.raises(Unavailable, match=f"^redis-server is missing; install it with: {line}$"):
        system_program("redis-server")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=line):
        require("redis-server")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=line) as failed:
        require("redis-server")
    assert not failed.value.pytrace


def test_the_doctor_names_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "fish").write_text("#!/bin/sh\n")
    (tmp_path / "fish").chmod(0o755)
    missing = doctor("--packages", path=tmp_path).stdout.split()
    assert {"redis-server", "zsh"} <= set(missing)
    assert "fish" not in missing
    done = doctor(path=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert install_line(missing) in done.stdout
    assert "Python 3.14: " in done.stdout


def test_a_python_on_the_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ((version, interpreter(version)) for version in VERSIONS)
    version, program = next(
        ((name, path) for name, path in found if path not in {None, Path(sys.executable)}), ("", None)
    )
    if program is None:
        pytest.skip("there is no other Python on this machine")
    (tmp_path / f"python{version}").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "none"))
    assert interpreter(version) is not None


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(Unavailable, match=rf"^port {port} of .* cannot be used .*: end what listens there"):
            ReservedPort(port)


def test_a_reserved_port_is_only_for_its_owner() -> None:
    port = ReservedPort()
    with pytest.raises(Unavailable):
        ReservedPort(port.number)
    with socket.create_server(("127.0.0.1", port.number)) as server:  # a program that was told the number
        assert server.getsockname()[1] == port.number
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port.number), 5)
    port.release()
    ReservedPort(port.number).release()


@pytest.mark.real
def test_an_incomplete_environment_is_made_anew(tmp_path: Path) -> None:
    assert len(prepared(tmp_path)) == 1
    assert prepared(tmp_path) == []
    (module,) = tmp_path.glob("env/lib/python*/site-packages/sniffio/_impl.py")
    module.unlink()
    assert len(prepared(tmp_path)) == 1
    assert module.exists()
    (tmp_path / "env" / "bin" / "python").unlink()
    assert len(prepared(tmp_path)) == 1


@pytest.mark.real
def test_two_workers_that_start_together_install_once(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from components.environment import environment_with; "
        f"environment_with(Path(sys.argv[1]), {PACKAGES!r}, 'a second', print)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "tests", ROOT / "scripts")))}
    workers = [
        subprocess.Popen([sys.executable, "-c", script, tmp_path], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [worker.communicate(timeout=250)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert sorted(map(bool, said)) == [False, True]


@pytest.mark.real
def test_without_a_package_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    nowhere = ReservedPort()
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://127.0.0.1:{nowhere.number}/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    with pytest.raises(Unavailable, match=r"^uv pip failed; check the connection to the package index") as failed:
        prepared(tmp_path / "environment")
    assert "\n" not in str(failed.value)


def gate(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the gate in a folder that has its files and nothing else of the checkout."""
    checkout = folder / "checkout"
    for name in (".ci/run", "README.md", "scripts/doctor_dev.py", "requirements/debian.txt", "requirements/dev.txt"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    command = ["bash", str(checkout / ".ci" / "run")]
    return subprocess.run(command, env={**kept, **variables}, capture_output=True, text=True, timeout=250, check=False)


def test_the_gate_names_packages_that_it_cannot_install(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(Path(sys.executable).resolve())
    for name in ("bash", "awk", "dirname"):
        (programs / name).symlink_to(shutil.which(name) or name)
    (programs / "apt-get").write_text("#!/bin/sh\nexit 100\n")
    (programs / "apt-get").chmod(0o755)
    done = gate(tmp_path, PATH=str(programs))
    assert done.returncode == 1
    assert "as root, run: apt-get install -y --no-install-recommends" in done.stderr
    assert "zsh" in done.stderr.splitlines()[-1]


def test_the_gate_says_that_it_cannot_reach_the_package_index(tmp_path: Path) -> None:
    nowhere = ReservedPort()
    programs = tmp_path / "programs"
    programs.mkdir()
    for brings in filter(lambda brings: not brings.startswith("/"), packages().values()):
        (programs / brings).touch(0o755)
    (programs / "apt-get").symlink_to("/bin/true")
    index = f"http://127.0.0.1:{nowhere.number}/simple"
    done = gate(
        tmp_path, PATH=f"{os.environ['PATH']}:{programs}", PIP_INDEX_URL=index, PIP_RETRIES="0", PIP_NO_CACHE_DIR="1"
    )
    assert done.returncode == 1, done.stdout
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("== The requirements could not be installed: check the connection to the package index")
