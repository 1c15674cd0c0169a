"""The npm package: its own tests run in Node.js against a real server, and what is packed is what users need."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from components.environment import development_modules
from components.processes import Unavailable
from groundwire import Settings
from groundwire_server.api import build_gateway
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import make_key
from groundwire_server.uvicorn_runner import serving
from world import World

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guides" / "javascript.md"


@pytest.fixture(scope="module")
def dependencies(say: Callable[[str], None]) -> Path:
    """What the package is developed with, and nothing else."""
    try:
        return development_modules(say)
    except Unavailable as exc:
        pytest.skip(f"the npm package cannot be tested here: {exc}")


@pytest.mark.req("B30")
async def test_the_npm_package(
    modules: Path, dependencies: Path, settings: Callable[..., Settings], world: World, tmp_path: Path
) -> None:
    package = tmp_path / "packages" / "groundwire-js"
    shutil.copy(ROOT / "LICENSE", tmp_path)
    shutil.copytree(ROOT / "packages" / "groundwire-js", package, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (package / "node_modules").symlink_to(dependencies)
    key, record = make_key("js", datetime.now(UTC))
    KeyFile(tmp_path / "keys.json").add(record)
    urls = {"searxng": world.searxng.url, "duckduckgo_lite": world.service("duckduckgo_lite").url}
    made = settings(
        server={"key_file": str(tmp_path / "keys.json")},
        providers={name: {"base_url": url} for name, url in urls.items()},
    )

    async with build_gateway(made) as gateway, serving(gateway) as url:
        environment = {
            **os.environ,
            "PATH": f"{modules / '.bin'}{os.pathsep}{os.environ['PATH']}",
            "GROUNDWIRE_URL": url,
            "GROUNDWIRE_KEY": key,
            "PAGE_URL": world.site("articles").page("reciprocal-rank-fusion"),
        }

        async def npm(*arguments: str) -> str:
            process = await asyncio.create_subprocess_exec(
                "npm", *arguments, cwd=package, env=environment, stdout=asyncio.subprocess.PIPE
            )
            said = (await process.communicate())[0].decode()
            assert process.returncode == 0, said
            return said

        assert "# pass 7" in await npm("test")
        (code,) = re.findall(r"```js\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
        code = code.replace("http://127.0.0.1:8780", url).replace("session:", f'apiKey: "{key}", session:')
        (package / "guide.mjs").write_text(code, "utf-8")
        assert "Reciprocal rank fusion" in await npm("exec", "--offline", "--", "node", "guide.mjs")
        (packed,) = json.loads(await npm("pack", "--dry-run", "--json"))
    names = {"index", "api", "ai", "langchain", "mastra"}
    built = {f"dist/{name}{ending}" for name in names for ending in (".js", ".d.ts")}
    assert {file["path"] for file in packed["files"]} == built | {"LICENSE", "README.md", "package.json"}
