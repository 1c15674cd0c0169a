"""DuckDuckGo through ddgs, where ddgs is not installed; with it: `tests/real/test_duckduckgo.py`."""

from __future__ import annotations

import subprocess
import sys

from groundwire._version import install_extra

_WITHOUT = """
import sys
sys.modules["ddgs"] = None  # what Python itself takes for a package that is not there
import asyncio
from groundwire import Settings, Web
from groundwire.errors import ConfigurationError

def settings(*names):
    return Settings.model_validate({"search": {"providers": names}} if names else {})

async def main():
    async with Web(settings()) as web:
        print(len(web.skipped), any("ddgs" in reason for reason in web.skipped))
    async with Web(settings("duckduckgo", "duckduckgo_lite")) as web:
        print(*web.skipped)
    try:
        Web(settings("duckduckgo"))
    except ConfigurationError as error:
        print(error)

asyncio.run(main())
"""
_NEEDS = (
    f"duckduckgo is not configured: install ddgs: {install_extra('ddgs')}, or use duckduckgo_lite, which needs nothing"
)


def test_without_ddgs_it_is_skipped_and_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=True, timeout=100)
    usual, among_others, alone = done.stdout.splitlines()
    assert usual == "3 False"  # searxng has no address, brave and tavily have no keys
    assert among_others.startswith(_NEEDS)
    assert _NEEDS in alone
    assert "There is no provider to search with." in alone
