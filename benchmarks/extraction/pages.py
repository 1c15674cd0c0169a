"""The developers' pages, with their type, source, and side of the split."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

FOLDS = 5
TOUCHED_ONCE, TUNING, TRAINING = 0, 1, (2, 3, 4)
"""The fold whose figures are quoted, the one that rules are chosen by, and those that are learned from."""
SETS = ("", "readability", "defuddle")
KINDS = ("article", "documentation", "forum", "product", "listing", "collection", "service")
_SECOND_LEVEL = {"co", "com", "org", "net", "ac", "gov", "edu", "or", "ne", "go"}
_TARGET = re.compile(r"\]\([^)]*\)")


@dataclass(frozen=True)
class Page:
    """One page with its reviewed text (or, of `traf-even`, with snippets only)."""

    collection: str
    name: str
    url: str
    kind: str
    path: Path
    truth: str | None
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    site: str = ""
    fold: int = field(default=0)
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Of `title`, `author` and `publish_date`, what is known."""
    html: str = ""
    """The page itself, if it has no file of its own."""

    def body(self) -> bytes:
        """Return the page as served."""
        if self.html:
            return self.html.encode()
        return gzip.decompress(self.path.read_bytes())

    def markup(self) -> str:
        """Return the page's HTML."""
        return self.body().decode("utf-8", "replace")


def read_pages(folder: Path, collection: str = "", seed: str = "g1") -> Iterator[Page]:
    """Yield the pages of one set. Pages of one site have one fold, drawn from the seed; fold 0 is held out."""
    base = folder / collection
    plain, packed = base / "truth.json", base / "truth.json.gz"
    data = json.loads(gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes())
    described = json.loads((base / "metadata.json").read_bytes()) if (base / "metadata.json").exists() else {}
    for name, entry in data.items():
        truth = entry["text"]
        if collection == "defuddle":  # Markdown with a block of metadata in front
            truth = entry["expected_md"]
            if truth.startswith("```json"):
                truth = truth[truth.find("```", 8) + 3 :]
            truth = _TARGET.sub("]", truth)
        own = collection in {"readability", "defuddle"}  # their addresses are made up
        site = f"{collection}:{name}" if own else _site(entry.get("url") or "") or name
        yield Page(
            collection=collection,
            name=name,
            url=entry.get("url") or "",
            kind=entry["type"],
            path=base / "html" / f"{name}.html.gz",
            truth=truth,
            required=tuple(entry.get("with") or ()),
            forbidden=tuple(entry.get("without") or ()),
            site=site,
            fold=_fold(seed, site),
            metadata=described.get(name) or {},
        )


def read_dated_pages(folder: Path, seed: str = "g1") -> Iterator[Page]:
    """Yield whole pages with their day of publication; folds as above."""
    for address, entry in json.loads((folder / "labels.json").read_bytes()).items():
        if not isinstance(entry["date"], str):
            continue  # no number
        site = _site(address) or address
        yield Page(
            collection="dates",
            name=entry["file"].partition(".")[0],
            url=address,
            kind="article",
            path=folder / "html" / entry["file"],
            truth=None,
            site=site,
            fold=_fold(seed, site),
            metadata={"publish_date": entry["date"]},
        )


def read_web_pages(folder: Path, seed: str = "g1") -> Iterator[Page]:
    """Yield whole pages with snippets that must be in their text and snippets that must not; folds as above."""
    for address, entry in json.loads((folder / "labels.json").read_bytes()).items():
        url = address if "://" in address else ""
        site = _site(url) or address
        yield Page(
            collection="web_pages",
            name=entry["file"].partition(".")[0],
            url=url,
            kind="article",
            path=folder / "html" / entry["file"],
            truth=None,
            required=tuple(entry["with"]),
            forbidden=tuple(entry["without"]),
            site=site,
            fold=_fold(seed, site),
        )


def read_written_pages(path: Path) -> Iterator[Page]:
    """Yield pages written for tests, with all of their metadata; an empty value means that a page has none.

    Each begins with `@@ URL` and lines of `name: value`. Every second page is kept back, as fold 0.
    """
    for number, block in enumerate(path.read_text(encoding="utf-8").split("@@ ")[1:]):
        head, mark, html = block.partition("<!doctype")
        url, *lines = head.splitlines()
        metadata = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
        metadata["publish_date"] = metadata.pop("published")
        if metadata["modified"] == metadata["publish_date"]:
            metadata["modified"] = ""  # not after the day of publication
        yield Page(
            collection="written",
            name=url,
            url=url,
            kind="article",
            path=path,
            truth=None,
            site=_site(url),
            fold=(number + 1) % 2,
            metadata=metadata,
            html=mark + html,
        )


def _fold(seed: str, site: str) -> int:
    return int(hashlib.md5((seed + site).encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


def _site(url: str) -> str:
    labels = (urlsplit(url).hostname or "").removeprefix("www.").split(".")
    deep = len(labels) > 2 and labels[-2] in _SECOND_LEVEL and len(labels[-1]) == 2
    return ".".join(labels[-3:] if deep else labels[-2:])
