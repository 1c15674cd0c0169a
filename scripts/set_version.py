"""Makes a checkout ready for a release: `python scripts/set_version.py 0.2.0`.

The version is written into `src/groundwire/_version.py`, its one place, into `server.json`, which clients read without
Python, and into the `pyproject.toml` of groundwire-server, which needs the same version of the library. What both
changelogs say under Unreleased becomes the section of the version.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from release_notes import SERVER, current_version, sections

_FORM = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")


def set_version(root: Path, version: str, date: str) -> None:
    """Write a version everywhere it stands; nothing is written if anything is wrong.

    Args:
        root: The checkout.
        version: Such as 1.2.3 or 1.2.3rc1 (PEP 440).
        date: Of the release, as YYYY-MM-DD.

    Raises:
        ValueError: the version has another form or was released before, or there is nothing to release.
    """
    if not _FORM.fullmatch(version):
        raise ValueError(f"{version!r} is no version such as 1.2.3 or 1.2.3rc1.")
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    known = sections(text)
    if version in known:
        raise ValueError(f"CHANGELOG.md has a section of {version} already.")
    if not known.get("Unreleased"):
        raise ValueError("CHANGELOG.md has nothing under Unreleased.")
    before = current_version(root)
    own = root / "src" / "groundwire" / "_version.py"
    manifest = root / "server.json"
    server = json.loads(manifest.read_text(encoding="utf-8"))
    server["version"] = version
    for package in server["packages"]:
        package["version"] = version
        for argument in package["runtimeArguments"]:
            argument["value"] = argument["value"].replace(f"=={before}", f"=={version}")
    own.write_text(own.read_text(encoding="utf-8").replace(f'"{before}"', f'"{version}"'), encoding="utf-8")
    manifest.write_text(json.dumps(server, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    project = root / SERVER / "pyproject.toml"
    project.write_text(
        project.read_text(encoding="utf-8")
        .replace(f'\nversion = "{before}"', f'\nversion = "{version}"', 1)
        .replace(f'=={before}"', f'=={version}"', 1),
        encoding="utf-8",
    )
    for file in (changelog, root / SERVER / "CHANGELOG.md"):
        text = file.read_text(encoding="utf-8")
        new = text.replace("## Unreleased\n", f"## Unreleased\n\n## {version} - {date}\n", 1)
        file.write_text(new, encoding="utf-8")


def main() -> None:
    """Write the version that was named."""
    if len(sys.argv) != 2:
        sys.exit("Say the version: python scripts/set_version.py 1.2.3")
    try:
        set_version(Path(__file__).resolve().parents[1], sys.argv[1], f"{datetime.now(UTC):%Y-%m-%d}")
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
