"""Builds the sdist and the wheel, from the sdist, of both distributions into `dist`: `python scripts/make_dist.py`.

The backend is that of this environment, as `requirements/dev.txt` pins it, so nothing is fetched. The files bear the
moment of the last commit: whoever builds the same commit with the same backend gets the same bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from release_notes import SERVER

_ROOT = Path(__file__).resolve().parents[1]


def build(root: Path, target: Path, *, epoch: int, wheel_from_tree: bool = False) -> None:
    """Build an sdist and a wheel of both distributions.

    Args:
        root: The checkout.
        target: The folder that gets them.
        epoch: The moment that their files bear, in seconds since 1970 (SOURCE_DATE_EPOCH).
        wheel_from_tree: Build the wheel from the checkout instead of the sdist.

    Raises:
        subprocess.CalledProcessError: they cannot be built.
    """
    kinds = ("--sdist", "--wheel") if wheel_from_tree else ()
    command = [sys.executable, "-m", "uv", "build", "--quiet", "--no-build-isolation", "--python", sys.executable]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    for folder in (root, root / SERVER):
        subprocess.run([*command, *kinds, "--out-dir", str(target), str(folder)], env=environment, check=True)


def main() -> None:
    """Build the last commit into `dist`, which is emptied first."""
    git = ["git", "-C", str(_ROOT)]
    if subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True).stdout:
        print("There are changes that are not committed: this is no release.", file=sys.stderr)
    last = subprocess.run([*git, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=True).stdout
    target = _ROOT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    build(_ROOT, target, epoch=int(last))
    print(*sorted(path.relative_to(_ROOT) for path in target.glob("groundwire*")), sep="\n")


if __name__ == "__main__":
    main()
