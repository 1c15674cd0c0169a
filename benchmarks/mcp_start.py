"""Startup time of `groundwire mcp` to the first `tools/list` response, and its memory, beside peers.

Every server is installed into an environment of its own, as a client would start it. They take turns, so that whatever
else the machine does meets all of them alike. It ends with 1 unless Groundwire is faster than both.

`python benchmarks/mcp_start.py [--rounds 15]`
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PEERS = {"mcp-server-fetch": "mcp-server-fetch==2026.10.24", "duckduckgo-mcp-server": "duckduckgo-mcp-server==0.7.0"}
MCP = "mcp==2.3.0"  # the same SDK for all

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


class Start(NamedTuple):
    wall: float
    """Seconds from starting the process to the answer."""
    cpu: float
    """Seconds of processor time that it used until then."""
    memory: float
    """Its most memory until then, in MB."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv-mcp-start", help="where the servers are installed")
    options = parser.parse_args()
    commands = {"groundwire": [*_installed(options.folder, "groundwire", f"{ROOT}[mcp]"), "mcp"]}
    commands |= {name: _installed(options.folder, name, package) for name, package in PEERS.items()}
    for command in commands.values():
        start(command)  # the first start writes bytecode
    starts: dict[str, list[Start]] = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            starts[name].append(start(command))
    ours = statistics.median(one.wall for one in starts["groundwire"])
    print(f"{'server':24}{'median':>10}{'fastest':>10}{'processor':>11}{'memory':>10}{'ratio':>8}")
    for name, rows in starts.items():
        wall = statistics.median(row.wall for row in rows)
        print(
            f"{name:24}{wall:>8.3f} s{min(row.wall for row in rows):>8.3f} s"
            f"{statistics.median(row.cpu for row in rows):>9.2f} s{max(row.memory for row in rows):>7.0f} MB"
            f"{wall / ours:>8.2f}"
        )
    return int(any(ours >= statistics.median(row.wall for row in starts[name]) for name in PEERS))


def start(command: list[str]) -> Start:
    """Start a server, ask for its tools, and end it by closing its input."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        for message, answer in ((HELLO, True), (READY, False), (LIST, True)):
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            said = json.loads(server.stdout.readline()) if answer else {}
        wall = time.perf_counter() - began
        assert said["result"]["tools"]
        fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{server.pid}/status").read_text()
        (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        server.stdin.close()
        server.wait(10)
    return Start(wall, (int(fields[11]) + int(fields[12])) / 100, int(peak) / 1024)


def _installed(folder: Path, program: str, package: str) -> list[str]:
    root = folder / program
    path = root / "bin" / program
    if not path.exists():
        print(f"installing {program} ...", file=sys.stderr)
        uv = [sys.executable, "-m", "uv", "--quiet", "--system-certs"]
        subprocess.run([*uv, "venv", "--clear", "--python", sys.executable, str(root)], check=True)
        subprocess.run([*uv, "pip", "install", "--python", str(root / "bin/python"), MCP, package], check=True)
    return [str(path)]


if __name__ == "__main__":
    sys.exit(main())
