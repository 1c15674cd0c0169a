"""Pin the third-party images of a deployment to their digests, as a registry gives them today.

A tag can be moved; a digest names one image for good. The registry is asked through whatever tool the machine has, as a
command that prints the digest of the image that is its last argument.

    python scripts/pin_images.py deploy --inspect "skopeo inspect --format {{.Digest}} docker://{}"
    python scripts/pin_images.py deploy --check      # fails where an image is named by a tag alone

The gateway's own image is the one that you build: it is left as it is.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

_OWN = "groundwire"
_IMAGE = re.compile(
    r"^(?P<before>\s*(?:-\s+)?image:\s*|ARG PYTHON=)(?P<name>[\w./:-]+)(?P<digest>@sha256:[0-9a-f]{64})?", re.MULTILINE
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_BASE = "ARG PYTHON="


def unpinned(text: str) -> list[str]:
    """Return the images in a file that are named by a tag alone."""
    return [_full(found) for found in _IMAGE.finditer(text) if not found["digest"] and not _is_own(found)]


def pinned(text: str, digest_of: Callable[[str], str]) -> str:
    """Return a file with the digest of each image behind its tag.

    Args:
        text: The file.
        digest_of: Returns the digest of an image, as `sha256:` and 64 hexadecimal digits.

    Raises:
        ValueError: what it returns is none.
    """

    def with_digest(found: re.Match[str]) -> str:
        if _is_own(found):
            return found[0]
        digest = digest_of(_full(found)).strip()
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"{digest[:80]!r} is no digest of {_full(found)}")
        return f"{found['before']}{found['name']}@{digest}"

    return _IMAGE.sub(with_digest, text)


def _full(found: re.Match[str]) -> str:
    return f"python:{found['name']}" if found["before"] == _BASE else found["name"]


def _is_own(found: re.Match[str]) -> bool:
    return found["before"] != _BASE and found["name"].partition(":")[0] == _OWN


def main(arguments: list[str] | None = None) -> int:
    """Pin the images of a folder, or check that they are pinned; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--inspect", default="", help="prints the digest of the image that stands for {}")
    parser.add_argument("--check", action="store_true", help="change nothing; fail where an image has no digest")
    asked = parser.parse_args(arguments)
    files = [
        path
        for path in sorted(asked.folder.rglob("*"))
        if path.suffix in {".yaml", ".yml"} or path.name == "Containerfile"
    ]
    if asked.check:
        loose = [f"{path}: {image}" for path in files for image in unpinned(path.read_text("utf-8"))]
        print("\n".join(loose) or "Every image has its digest.")
        return bool(loose)
    if "{}" not in asked.inspect:
        parser.error("--inspect needs a command with {} for the image")

    def digest_of(image: str) -> str:
        command = [part.replace("{}", image) for part in shlex.split(asked.inspect)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    texts = {path: pinned(path.read_text("utf-8"), digest_of) for path in files}
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
