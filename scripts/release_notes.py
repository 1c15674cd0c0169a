"""Prints what CHANGELOG.md says of a version: `python scripts/release_notes.py 0.1.0`, or `Unreleased`.

Without an argument it is the version of this checkout. The exit code is 2 when there is no such section, or one without
text.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = _ROOT / "CHANGELOG.md"
SERVER = Path("packages", "groundwire-server")
"""The folder of groundwire-server in a checkout."""
_HEADING = re.compile(r"^## (?P<name>Unreleased|\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)(?: - (?P<date>\d{4}-\d\d-\d\d))?$")
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    """Return the sections of a changelog, newest first: what stands below each heading, by its version.

    Args:
        text: `# Changelog`, then sections headed `## Unreleased` or `## 1.2.3 - 2026-01-31`.

    Raises:
        ValueError: a heading has another form, stands twice, or a version has no date.
    """
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("## "):
            lines.append(line)
            continue
        heading = _HEADING.match(line)
        if heading is None or heading["name"] in found or (heading["name"] == "Unreleased") == bool(heading["date"]):
            raise ValueError(f"line {number}: {line!r} is not '## Unreleased' or a new '## 1.2.3 - 2026-01-31'.")
        lines = found.setdefault(heading["name"], [])
    return {name: "\n".join(below).strip() for name, below in found.items()}


def current_version(root: Path = _ROOT) -> str:
    """Return the version of a checkout."""
    found = _VERSION.search((root / "src" / "groundwire" / "_version.py").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError("src/groundwire/_version.py has no line __version__ = ...")
    return found[1]


def main() -> None:
    """Print the section, or say which ones there are."""
    name = sys.argv[1] if len(sys.argv) > 1 else current_version()
    try:
        known = sections(CHANGELOG.read_text(encoding="utf-8"))
    except ValueError as error:
        print(f"CHANGELOG.md, {error}", file=sys.stderr)
        sys.exit(2)
    if not known.get(name):
        print(f"CHANGELOG.md says nothing of {name}; there are: {', '.join(known)}.", file=sys.stderr)
        sys.exit(2)
    print(known[name])


if __name__ == "__main__":
    main()
