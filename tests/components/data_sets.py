"""The data sets of the tests: a small one in the repository, and a larger one beside the checkout if present."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

OWN = Path(__file__).resolve().parents[1]
"""The folder of tests, with the small sets."""
BESIDE = OWN.parents[1] / "shared" / "data"
"""The folder of the larger sets, with the same layout; optional."""


def _both(own: str, beside: str) -> tuple[Path, ...]:
    """Return the small set, and the larger one if present.

    Raises:
        FileNotFoundError: our own set is missing or empty, so that its tests would vanish without a word.
    """
    first, second = OWN / own, BESIDE / beside
    if not (any(first.iterdir()) if first.is_dir() else first.is_file()):
        raise FileNotFoundError(f"{first} is part of the repository, but it is not here")
    return (first, second) if second.exists() else (first,)


def is_own(path: Path) -> bool:
    """Return whether a file or folder belongs to the small sets."""
    return path.is_relative_to(OWN)


def set_name(path: Path) -> str:
    """Return the name of a set for the ID of a test."""
    return "own" if is_own(path) else "beside"


RECORDINGS = _both("recordings", "recordings")
"""Folders of recorded exchanges; see `recordings/README.md`."""
HOSTILE_PAGES = _both("reading/hostile_pages", "hostile_pages")
"""Folders of pages that try to smuggle text past the reader, with `expectations.json`."""
SAVED_PAGES = _both("reading/saved_pages", "extraction")
"""Folders of ordinary pages, with `truth.json`."""
SSRF_VECTORS = _both("safety/ssrf_vectors.json", "ssrf_vectors.json")
"""Files of addresses with the guard's verdict."""


class HostilePage:
    """A page that tries to smuggle text past the reader.

    Args:
        folder: Where it lies.
        row: What `expectations.json` says of it.
    """

    def __init__(self, folder: Path, row: dict[str, Any]) -> None:
        self.name = f"{set_name(folder)}/{row['file']}"
        self.body = (folder / row["file"]).read_bytes()
        self.row = row


def hostile_pages() -> list[HostilePage]:
    """Return the hostile pages of every set."""
    return [
        HostilePage(folder, row)
        for folder in HOSTILE_PAGES
        for row in json.loads((folder / "expectations.json").read_text(encoding="utf-8"))
        if "file" in row
    ]


class SavedPages:
    """A set of ordinary pages: `truth.json` lists them with their `url` and `text`, `html/` has the pages.

    Args:
        folder: The set.
    """

    def __init__(self, folder: Path) -> None:
        self.is_own = is_own(folder)
        self.truth: dict[str, dict[str, str]] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
        self.addresses = [page["url"] for page in self.truth.values()]
        """Where the pages are from, and further addresses of ordinary pages."""
        further = folder / "addresses.txt"
        if further.is_file():
            self.addresses += further.read_text(encoding="utf-8").split()
        self._folder = folder / "html"

    def body(self, name: str) -> bytes:
        """Return a page as received; it may be stored compressed."""
        plain = self._folder / f"{name}.html"
        if plain.is_file():
            return plain.read_bytes()
        return gzip.decompress((self._folder / f"{name}.html.gz").read_bytes())
