"""Finding a Chromium (the configured one, the machine's, or Playwright's own), and its command-line switches.

Source: Chromium's list of switches (https://peter.sh/experiments/chromium-command-line-switches, `--help` does not show
    them) and the traffic of its processes without them.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from groundwire._version import python
from groundwire.settings.user_folders import expand_user

HINT: Final = (
    "install one (Debian, Ubuntu: apt install chromium-headless-shell or chromium; elsewhere: "
    f"{python()} -m playwright install --only-shell chromium), or set providers.browser.executable to its path"
)
"""The remedy when there is no browser."""

_SHELLS: Final = ("chromium-headless-shell", "chrome-headless-shell", "headless_shell")
_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
_FOLDERS: Mapping[str, str] = {"darwin": "~/Library/Caches/ms-playwright", "win32": "~/AppData/Local/ms-playwright"}
_NAMES: Final = frozenset(
    {"Chromium", "Google Chrome for Testing", "chrome", "chrome-headless-shell", "headless_shell"}
)
_APPLICATIONS: Final = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def has_playwright() -> bool:
    """Return whether Playwright is installed, without importing it."""
    return find_spec("playwright") is not None


def find_chromium() -> Path | None:
    """Return a Chromium of this machine, or None.

    A headless shell is preferred: it starts faster than a full browser and contacts no update servers. The order is: a
    shell on the PATH, what `playwright install` has brought (a shell first, the latest first), a browser on the PATH.
    """
    folder = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or _FOLDERS.get(sys.platform, "~/.cache/ms-playwright")
    installed = sorted(expand_user(folder).glob("chromium*/**/*"), reverse=True)
    for program in (
        *(shutil.which(name) for name in _SHELLS),
        *(file for file in installed if file.stem in _NAMES and file.is_file() and os.access(file, os.X_OK)),
        *(shutil.which(name) for name in _BROWSERS),
        *(name for name in _APPLICATIONS if sys.platform == "darwin" and Path(name).exists()),
    ):
        if program is not None:
            return Path(program)
    return None


NOWHERE: Final = "http://127.0.0.1:9"
"""The proxy for everything that does not belong to a page: the discard port (RFC 863), which has no listener."""

FLAGS: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # it resolves nothing; the proxy does
    "--disable-quic",  # UDP would bypass the proxy
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--no-pings",
    "--no-first-run",
    "--mute-audio",
    "--disable-remote-fonts",
    "--disable-gpu",
    "--disable-3d-apis",
    "--js-flags=--max-old-space-size=512",  # megabytes for a page's scripts
    "--blink-settings=imagesEnabled=false",  # they are not read
)
"""The command-line switches."""
