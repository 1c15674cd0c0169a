"""The real hosts of `docs/guides/hosts.md`: unpacked from their archives, each in an environment of its own pins.

The archives are not part of this repository. HOST_ARCHIVES names the folder with NAME.tar.xz for each of them; a Python
host has `pins.txt` in it, the versions that it runs with.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

from components.environment import locked, npm_packages
from components.processes import Unavailable
from components.pythons import interpreter, uv

_RUNTIMES = ("bun@1.3.9", "node@22.23.3")


_PYTHONS = {"yodoca": "3.12", "haytham": "3.11", "squidbot": "3.14"}
_OTHER_SYSTEM = "pywin32=="  # in the pins, and for Windows alone
_BUILDING = 1_200  # seconds


def host_folder(name: str, parent: Path) -> Path:
    """Unpack a host into a folder, over what is there, and return its own folder.

    Raises:
        Unavailable: Its archive is not here.
    """
    archives = os.environ.get("HOST_ARCHIVES", "")
    archive = Path(archives, f"{name}.tar.xz")
    if not archives or not archive.is_file():
        raise Unavailable(f"set HOST_ARCHIVES to a folder with {name}.tar.xz")
    with tarfile.open(archive) as packed:
        packed.extractall(parent, filter="data")
    return parent / name


def host_python(name: str, cache: Path, folder: Path, say: Callable[[str], None]) -> Path:
    """Return the Python of an environment with exactly a host's pins, made on its first use and kept.

    Args:
        name: The host.
        cache: Where environments are kept between runs.
        folder: The host's own folder.
        say: Is told when something takes time.

    Raises:
        Unavailable: The Python that it needs is not on this machine.
    """
    wanted = os.environ.get(f"PYTHON_OF_{name.upper()}") or interpreter(_PYTHONS[name])
    if wanted is None:
        raise Unavailable(f"{name} needs Python {_PYTHONS[name]}; set PYTHON_OF_{name.upper()} to one")
    lines = (folder / "pins.txt").read_text("utf-8").splitlines()
    pins = folder / "pins-here.txt"
    pins.write_text("\n".join(line for line in lines if not line.startswith(_OTHER_SYSTEM)) + "\n", "utf-8")
    cache.mkdir(exist_ok=True)
    root = cache / name
    with locked(cache / f"{name}.lock"):
        if not (root / "bin" / "python").exists():
            say(f"installing {name}'s pins (once, up to two minutes)")
            uv("venv", "--clear", "--python", wanted, root)
        uv("pip", "sync", "--python", root / "bin" / "python", pins)  # without what a run before has added
    return root / "bin" / "python"


def moved_packages(python: Path, before: set[str]) -> set[str]:
    """Return the packages of before that are there no longer, or in another version.

    Raises:
        AssertionError: Packages contradict one another.
    """
    uv("pip", "check", "--python", python)
    return before - set(uv("pip", "freeze", "--python", python).splitlines())


def built_codelia(cache: Path, say: Callable[[str], None]) -> tuple[Path, Path]:
    """Return codelia's folder, built on its first use and unpacked anew, and the folder of the programs that run it.

    Raises:
        Unavailable: It cannot be built here.
    """
    cache.mkdir(exist_ok=True)
    programs = npm_packages(cache / "runtimes", _RUNTIMES, "about 20 s", say) / ".bin"
    with locked(cache / "codelia.lock"):
        folder, marker = cache / "codelia", cache / "codelia.complete"
        if not marker.exists():
            shutil.rmtree(folder, ignore_errors=True)
        host_folder("codelia", cache)
        if not marker.exists():
            say("building codelia (once, some minutes)")
            environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
            for command in (["install", "--ignore-scripts"], ["run", "--filter", "@codelia/*", "build"]):
                done = subprocess.run(
                    [programs / "bun", *command],
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=_BUILDING,
                    check=False,
                )
                if done.returncode:
                    raise Unavailable(f"codelia cannot be built here: {done.stderr[-300:]}")
            marker.touch()
    return folder, programs


def pip_program(path: Path, python: Path, root: Path) -> None:
    """Write a `pip` that installs into an environment, and takes this checkout for `/path/to/groundwire`."""
    path.write_text(
        "#!/bin/bash\nmade=()\n"
        'for one in "${@:2}"; do\n'
        f'  [[ $one == */groundwire* ]] && one="${{one##*/}} @ file://{root}"\n'
        '  made+=("$one")\ndone\n'
        f'exec "{sys.executable}" -m uv -q --system-certs pip install --python "{python}" "${{made[@]}}"\n'
    )
    path.chmod(0o755)
