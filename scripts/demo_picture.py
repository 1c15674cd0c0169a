"""Draw what `groundwire demo` prints on a terminal as docs/images/demo.svg, shortened where it says `...`.

python scripts/demo_picture.py
"""

from __future__ import annotations

import html
import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "demo.svg"
_WIDTH = 100  # columns
_CELL = 12.2  # units of the picture, the width of a character
_SKIPPED = re.compile(r"^    \[2\].*?(?=^\S)|^    \| (?!#).*?(?=^\S)", re.DOTALL | re.MULTILINE)
"""The second result and those after it, and the page below its headline."""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def recorded() -> str:
    """Run the demo on a terminal of its own and return what it printed, with its colors."""
    ours, theirs = os.openpty()
    environment = os.environ | {"COLUMNS": str(_WIDTH), "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "groundwire", "demo"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, env=environment) as process:
        os.close(theirs)
        printed = b""
        try:
            while piece := os.read(ours, 65_536):
                printed += piece
        except OSError:  # Linux ends a terminal that has no other side with EIO
            pass
        os.close(ours)
    if process.returncode:
        raise SystemExit(f"groundwire demo ended with {process.returncode}")
    return printed.decode().replace("\r\n", "\n")


def draw(printed: str) -> str:
    """Return the demo's output as SVG, without its last hint and with the skipped parts as `...`."""
    plain = printed.partition("\nNow the real web")[0]
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(_SKIPPED.sub("    ...\n\n", plain).rstrip()), no_wrap=True)
    svg = console.export_svg(title="groundwire demo", theme=MONOKAI, unique_id="demo")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # no font of a foreign host


def text_of(svg: str) -> str:
    """Return the text of a picture, line by line, without the empty lines."""
    lines: dict[float, str] = {}
    for x, y, text in re.findall(r'<text class="demo-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        before = lines.get(float(y), "").ljust(round(float(x) / _CELL))
        lines[float(y)] = before + html.unescape(text).replace("\xa0", " ")
    return "\n".join(text.rstrip() for _, text in sorted(lines.items())) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(recorded()), encoding="utf-8")
    print(f"{PICTURE} shows:\n\n{text_of(PICTURE.read_text(encoding='utf-8'))}")
