"""Writes `docs/reference.md` and the pages below `docs/reference/` from the code, and the types of the npm package.

`python docs/generate.py` writes them; `python docs/generate.py --check` says whether they are up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from generating.api import module_page, python_page
from generating.commands import commands
from generating.errors import error_page
from generating.http import http_page
from generating.providers import providers
from generating.settings import settings
from generating.tools import tool_page
from generating.typescript import typescript_types

DOCS = Path(__file__).parent

OVERVIEW = """# Reference

These pages are generated from the code by `make docs`; a test fails if they are out of date.

| page | content |
| --- | --- |
| [Commands](reference/commands.md) | every command with its options, and the exit codes |
| [Settings](reference/settings.md) | every setting with its default and its environment variable |
| [Providers](reference/providers.md) | every provider with its capabilities, options, and keys |
| [Tools](reference/tools.md) | the schemas of `web_search` and `open_page`, and their results |
| [Errors and outcomes](reference/errors.md) | the exception classes, and the outcome that each belongs to |
| [HTTP API](reference/http.md) | the endpoints of `groundwire serve` with their requests and responses |
| [Package `groundwire`](reference/python.md) | the classes and functions of the package, such as `Web` and `search` |
| [Modules](reference/modules.md) | the other public modules, such as `groundwire.tools` with `web_tools` |

The [glossary](glossary.md) explains the terms.
"""


def pages() -> dict[Path, str]:
    """Return every page by its file."""
    made = {
        "reference.md": OVERVIEW,
        "reference/commands.md": commands(),
        "reference/settings.md": settings(),
        "reference/providers.md": providers(),
        "reference/tools.md": tool_page(),
        "reference/errors.md": error_page(),
        "reference/http.md": http_page(),
        "reference/python.md": python_page(),
        "reference/modules.md": module_page(),
    }
    written = {DOCS / name: text.strip("\n") + "\n" for name, text in made.items()}
    return written | {DOCS.parent / "packages/groundwire-js/src/api.ts": typescript_types()}


def main() -> None:
    """Write the pages, or check them."""
    made = pages()
    if "--check" in sys.argv[1:]:
        there = {DOCS / "reference.md", *(DOCS / "reference").rglob("*.md")}
        old = sorted(
            file.relative_to(DOCS.parent).as_posix()
            for file in made.keys() | there
            if not file.is_file() or file.read_text(encoding="utf-8") != made.get(file)
        )
        if old:
            sys.exit(f"Out of date: {', '.join(old)}. Run `make docs`.")
        return
    for file, text in made.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
