"""The version, the User-Agent sent to servers, and the command that installs what is missing."""

from __future__ import annotations

import sys

__all__ = ["PROJECT_URL", "USER_AGENT", "__version__", "install_command", "install_extra"]

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

    try:
        every = metadata.requires("groundwire") or []
    except metadata.PackageNotFoundError:  # run from a folder that was not installed
        every = []
    mark = re.compile(rf"""extra == (['"]){re.escape(extra)}\1""")
    needed = [one.partition(";")[0].strip() for one in every if mark.search(one)]
    return install_command(*needed or (f"groundwire[{extra}]",))


def install_command(*requirements: str) -> str:
    """Return the command that installs packages into this environment, by the tool that made it.

    It has no path of this machine, as it is part of messages that may leave it.

    Args:
        requirements: What to install, such as `mcp>=2.0`.
    """
    import sysconfig
    from importlib import util
    from pathlib import Path

    home = Path(sys.prefix)
    if (home / "pipx_metadata.json").is_file():
        how = f"pipx inject {home.name}"
    elif (home / "uv-receipt.toml").is_file():
        how = f'uv pip install --python "$(uv tool dir)/{home.name}"'
    elif util.find_spec("pip") is None:
        how = "uv pip install"
    elif sys.prefix == sys.base_prefix and Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").is_file():
        how = "pip install --break-system-packages"  # PEP 668: Groundwire itself was installed in this way
    else:
        how = "pip install"
    return " ".join([how, *(f'"{one}"' for one in requirements)])
