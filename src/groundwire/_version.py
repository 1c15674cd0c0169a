"""The version, the User-Agent sent to servers, and the command that installs what is missing."""

from __future__ import annotations

import sys
from typing import Any

__version__ = "0.1.0"
PROJECT_URL = "https://github.com/groundwire/groundwire"
USER_AGENT = f"groundwire/{__version__} (+{PROJECT_URL})"


def install_extra(extra: str) -> str:
    """Return the command that installs the packages of an extra into this environment.

    It names the packages themselves: an index need not have this version of Groundwire, and upgrades nothing else.

    Args:
        extra: The name of the extra.
    """
    import re
    from importlib import metadata
    from pathlib import Path

    try:
        every = metadata.requires("groundwire") or []
    except metadata.PackageNotFoundError:  # run from a folder that was not installed
        every = []
    mark = re.compile(rf"""extra == (['"]){re.escape(extra)}\1""")
    needed = [one.partition(";")[0].strip() for one in every if mark.search(one)]
    source = Path(__file__).resolve().parents[2]  # without an installation, the folder of its source
    return install_command(*needed or (f"{source}[{extra}]",))


def install_command(*requirements: str) -> str:
    """Return the command that installs packages into this environment, by the tool that made it, from any folder.

    Args:
        requirements: What to install, such as `mcp>=2.0`, and options.
    """
    import sysconfig
    from importlib import util
    from pathlib import Path
    from shutil import which

    home = Path(sys.prefix)
    if (home / "pipx_metadata.json").is_file():
        how = f"pipx inject {home.name}"  # which pipx repeats when it recreates the environment
    elif util.find_spec("pip") is None:
        file = home / "pyvenv.cfg"
        made_by_uv = file.is_file() and "\nuv = " in file.read_text(encoding="utf-8")
        uv = made_by_uv or which("uv")
        base = python(getattr(sys, "_base_executable", sys.executable))  # `python3` may be the one without pip
        how = f"uv pip install --python {python()}" if uv else f"{base} -m pip --python {python()} install"
    elif sys.prefix == sys.base_prefix and Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").is_file():
        how = f"{python()} -m pip install --break-system-packages"  # as Groundwire itself was installed (PEP 668)
    else:
        how = f"{python()} -m pip install"
    return " ".join([how, *(one if one.startswith("-") else f'"{one}"' for one in requirements)])


def python(path: str = sys.executable) -> str:
    """Return the path of a Python, by default of this one, quoted for the shell: it works in any folder."""
    import shlex
    import subprocess

    return subprocess.list2cmdline([path]) if sys.platform == "win32" else shlex.quote(path)


def _origin() -> Any:
    """Return where this distribution came from (PEP 610); empty if from an index."""
    import json
    from importlib import metadata
    from pathlib import Path

    try:
        return json.loads(metadata.distribution("groundwire").read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:  # run from a folder that was not installed
        return {"url": Path(__file__).resolve().parents[2].as_uri(), "dir_info": {}}


def install_server() -> str:
    """Return the command that installs groundwire-server in this version, from where this distribution came."""
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    name, folder, origin = "groundwire-server", "packages/groundwire-server", _origin()
    if "vcs_info" in origin:
        known = origin["vcs_info"]
        return install_command(f"{name} @ {known['vcs']}+{origin['url']}@{known['commit_id']}#subdirectory={folder}")
    source = Path(url2pathname(urlsplit(origin.get("url", "")).path))
    if "dir_info" in origin and (source / folder).is_dir():
        return install_command(*(["-e"] if origin["dir_info"].get("editable") else []), str(source / folder))
    wheel = source.parent / source.name.replace("groundwire-", "groundwire_server-", 1)
    return install_command(str(wheel) if "archive_info" in origin and wheel.is_file() else f"{name}=={__version__}")
