from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner, Result

from groundwire.cli import group
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from world import World

_STEERING = "\x1b]0;owned\x07\x1b[2Jtitle\x9b31m \u202egnorw"


class Corner(EmulatedServer):
    """Pages that the miniature web has no use for elsewhere."""

    def handle(self, request: Recorded) -> EmulatedResponse:
        match request.path:
            case "/204":
                return EmulatedResponse(status=204, content_type=None)
            case "/image":
                return EmulatedResponse(body=b"\x89PNG\r\n\x1a\n" + bytes(100), content_type="image/png")
            case "/empty":
                return EmulatedResponse.html("")
            case "/steering":
                return EmulatedResponse.html(
                    f"<title>{_STEERING}</title><article><p>{_STEERING}</p><p>More text.</p></article>"
                )
            case "/long":
                return EmulatedResponse.text("A line of a long page.\n\n" * 50_000)
            case "/search":
                rows = [{"title": _STEERING, "url": "http://a.example/", "content": _STEERING, "engine": _STEERING}]
                return EmulatedResponse.json(
                    {"query": "x", "results": rows, "unresponsive_engines": [["bing", _STEERING]]}
                )
        return EmulatedResponse.html("<title>404</title>", status=404)


@dataclass
class Terminal:
    """The command line, in this process or in one of its own, with nothing around it but the miniature web."""

    world: World
    corner: Corner
    home: Path
    python: str | Path
    """What runs a process of its own: a warm Python; tests of its start, its end or its terminal set the real one."""
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "PYTHONWARNINGS": "error",
            "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
            "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": self.world.searxng.url,
            "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join((*self.world.origins, self.corner.url)),
            **self.variables,
        }

    def here(self, *arguments: str | os.PathLike[str], typed: str = "", **variables: str) -> Result:
        """Run in this process, with something on standard input."""
        runner = CliRunner(env=self.environment | variables)
        return runner.invoke(group, [os.fspath(one) for one in arguments], input=typed, prog_name="groundwire")

    def run(self, *arguments: str | bytes, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run in a process of its own."""
        return subprocess.run(
            [self.python, "-m", "groundwire", *arguments],
            env=self.environment | variables,
            cwd=self.home,
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )

    def on_a_terminal(self, *arguments: str, **variables: str) -> tuple[str, int | None]:
        """Run on a pseudo-terminal, without answering; return what is on its screen, and the exit code."""
        child = pexpect.spawn(
            str(self.python),
            ["-m", "groundwire", *arguments],
            env=self.environment | {"TERM": "xterm-256color"} | variables,
            cwd=str(self.home),
            encoding="utf-8",
            timeout=100,
            dimensions=(60, 80),
        )
        child.expect(pexpect.EOF)
        child.close()
        return child.before or "", child.exitstatus

    def start(self, *arguments: str, stdout: int = subprocess.PIPE, **variables: str) -> subprocess.Popen[bytes]:
        """Start in a process of its own and do not wait."""
        return subprocess.Popen(
            [self.python, "-m", "groundwire", *arguments],
            env=self.environment | variables,
            cwd=self.home,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )


@pytest.fixture
def terminal(world: World, tmp_path: Path, warm_python: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(tmp_path)
    return Terminal(world, world.add(Corner("corner", "corner.test")), tmp_path, warm_python)
