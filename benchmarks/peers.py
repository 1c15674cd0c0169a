"""The other libraries in the benchmarks, installed in separate environments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1] / ".venv-peers"
PYTHON = _FOLDER / "bin" / "python"

_PINNED = (
    "aiohttp==3.14.5",
    "anysearch-sdk==0.2.0",
    "ddgs==9.16.1",
    "exa-py==2.28.0",
    "httpx==0.28.1",
    "langchain-core==1.7.2",
    "litellm==1.106.2",  # 1.82.7, 1.82.8 and 1.107.0 were compromised: never those
    "tavily-python==0.8.5",
    # what open-webui imports before its search functions can be used
    "aiocache==0.12.3",
    "aiosqlite==0.22.1",
    "alembic==1.20.1",
    "authlib==1.9.9",
    "bcrypt==5.0.0",
    "beautifulsoup4==4.15.0",
    "cryptography==50.0.2",
    "fastapi==0.165.0",
    "itsdangerous==2.2.0",
    "markdown==3.11.3",
    "pillow==13.0.0",
    "python-mimeparse==2.0.0",
    "python-socketio==5.18.1",
    "redis==8.1.0",
    "sqlalchemy[asyncio]==2.1.9",
    "typer==0.29.2",
    "uvicorn==0.54.0",
    "validators==0.36.0",
)
_ALONE = ("open-webui==0.12.4",)  # with all that it asks for it would weigh some gigabytes
_FALLBACKS_FOLDER = _FOLDER.with_name(".venv-peer-fallbacks")
_FALLBACKS = ("httpx==0.28.1", "langchain-core==1.7.2", "litellm==1.106.2")
_CONVERTERS_FOLDER = _FOLDER.with_name(".venv-peer-converters")
_CONVERTERS = (
    "html-to-markdown==3.19.0",
    "htmldate==1.11.0",
    "lxml_html_clean==0.4.6",
    "markdownify==1.2.3",
    "trafilatura==2.3.1",
)


def install() -> None:
    """Create the environment, unless it has exactly these packages."""
    _install(_FOLDER, _PINNED, _ALONE)


def install_fallbacks() -> Path:
    """Make an environment that has those that fall back, unless there is one, and return its Python."""
    _install(_FALLBACKS_FOLDER, _FALLBACKS)
    return _FALLBACKS_FOLDER / "bin" / "python"


def install_converters() -> Path:
    """Make an environment that has those that turn HTML to Markdown, unless there is one, and return its Python."""
    _install(_CONVERTERS_FOLDER, _CONVERTERS)
    return _CONVERTERS_FOLDER / "bin" / "python"


def _install(folder: Path, packages: tuple[str, ...], alone: tuple[str, ...] = ()) -> None:
    wanted, stamp = "\n".join((*packages, *alone)), folder / "pinned.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("installing the peers ...", file=sys.stderr)
    uv = [sys.executable, "-m", "uv", "--system-certs", "-q"]
    subprocess.run([*uv, "venv", "--clear", "-p", sys.executable, str(folder)], check=True)
    subprocess.run([*uv, "pip", "install", "-p", str(folder), *packages], check=True)
    if alone:
        subprocess.run([*uv, "pip", "install", "-p", str(folder), "--no-deps", *alone], check=True)
    stamp.write_text(wanted)
