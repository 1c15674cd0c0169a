"""Pages written to disk, with a state file by which an interrupted run goes on.

A page is on disk before the state file has its line, so that a process may be killed at any point: what has no line is
read again, and takes the place of what was written of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from groundwire.errors import InvalidRequest
from groundwire.models import Page
from groundwire.settings.user_folders import lock

_LINE_SUFFIXES: Final = frozenset({".jsonl", ".ndjson"})
_STATE: Final = ".groundwire-state.jsonl"
_UNSAFE_CHARACTERS: Final = re.compile(r"[^A-Za-z0-9._-]{1,200}")
_MAX_NAME_CHARS: Final = 120  # characters, before the hash; file systems allow 255 bytes
_OMITTED_FIELDS: Final = frozenset(
    {"citation_id", "start", "end", "status", "error", "sections", "excerpts", "matches", "match_count", "next_cursor"}
)


class PageOutput:
    """A folder with a Markdown file per page, or a file with a line of JSON per page.

    Args:
        path: A file if its name ends in `.jsonl` or `.ndjson`, else a folder.

    Raises:
        InvalidRequest: another process writes there, or the file is not one of earlier runs. OSError.
    """

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.failed: int = 0
        """The pages that earlier runs could not read, and that are not tried again."""
        self._is_file = path.suffix.lower() in _LINE_SUFFIXES
        self._state_path = path.with_name(path.name + ".state") if self._is_file else path / _STATE
        self.digests: set[bytes] = set()
        """The digests of the addresses that are dealt with."""
        self._unsynced: list[Path] = []
        if not self._is_file and path.is_file():
            raise InvalidRequest("output", f"{path} is a file", "Name a folder, or a file that ends in .jsonl.")
        (path.parent if self._is_file else path).mkdir(parents=True, exist_ok=True)
        if self._is_file and path.exists() and path.stat().st_size and not self._state_path.exists():
            raise InvalidRequest("output", f"{path} exists and has no state file", "Choose another file, or delete it.")
        self._state = self._state_path.open("a+b")
        if not lock(self._state, blocking=False):
            self._state.close()
            raise InvalidRequest(
                "output", f"another process writes to {path}", "Wait for it, or choose another output."
            )
        size = self._load()
        self._lines: IO[bytes] | None = None
        if self._is_file:
            self._lines = path.open("a+b")
            self._lines.truncate(size)

    def close(self) -> None:
        """Sync and close the files."""
        self.sync()
        self._state.close()
        if self._lines is not None:
            self._lines.close()

    def write(self, url: str, page: Page) -> None:
        """Write a page, and its line in the state file.

        Args:
            url: The address that was asked for.
            page: The whole page.

        Raises:
            OSError: the disk is full or gone.
        """
        if self._lines is not None:
            self._lines.write(json.dumps(page_record(page), ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            self._lines.flush()
            self._add({"url": url, "end": self._lines.tell()})
            return
        path = self.path / _file_name(url)
        path.parent.mkdir(exist_ok=True)
        text = _markdown(page).encode("utf-8", "replace")
        part = path.with_name(f"{path.name}.part")
        part.write_bytes(text)
        part.replace(path)
        self._unsynced.append(path)
        self._add({"url": url, "file": path.relative_to(self.path).as_posix(), "size": len(text)})

    def fail(self, url: str, error: str, *, is_final: bool) -> None:
        """Write down that a page could not be read.

        Args:
            url: Its address.
            error: Why.
            is_final: Whether a later run need not try again.
        """
        self._add({"url": url, "error": error, "final": is_final})

    def sync(self) -> None:
        """Make everything so far outlast a power failure: first the pages, then the lines about them."""
        paths, self._unsynced = self._unsynced, []
        for path in paths:
            with suppress(FileNotFoundError), path.open("rb") as file:
                os.fsync(file.fileno())
        if self._lines is not None:
            os.fsync(self._lines.fileno())
        os.fsync(self._state.fileno())

    def _add(self, line: dict[str, Any]) -> None:
        self._state.write(json.dumps(line).encode() + b"\n")
        self._state.flush()

    def _load(self) -> int:
        """Read the state file, cut off an unfinished last line, and return the size of the file with the pages."""
        self._state.seek(0)
        size = complete_bytes = 0
        failed: set[bytes] = set()
        for line in self._state:
            if not line.endswith(b"\n"):
                break
            complete_bytes += len(line)
            try:
                row = json.loads(line)
                digest = url_digest(row["url"])
            except (ValueError, KeyError, TypeError):
                continue  # a damaged line: its page is read again
            if "end" in row:
                size = int(row["end"])
            if "error" in row:
                failed |= {digest} if row.get("final") else set()
            elif self._is_file or self._is_whole(row):
                self.digests.add(digest)
        self.failed = len(failed - self.digests)
        self.digests |= failed
        self._state.truncate(complete_bytes)
        return size

    def _is_whole(self, row: dict[str, Any]) -> bool:
        """Return whether a file is there as it was written; a power failure may have left an empty one."""
        path = self.path / str(row.get("file", ""))
        return path.is_file() and path.stat().st_size == row.get("size")


def page_record(page: Page) -> dict[str, Any]:
    """Return a page as JSON data, with the time at which it was fetched unless that was earlier."""
    fetched = {} if page.cached or page.stale else {"fetched": _now()}
    return page.model_dump(mode="json", exclude=set(_OMITTED_FIELDS), exclude_defaults=True) | fetched


def _markdown(page: Page) -> str:
    """Return a page with front matter in YAML, whose strings are those of JSON."""
    facts = {
        "url": page.final_url or page.url,
        "title": page.title,
        "day": (page.published or "")[:10],
        "fetched": "" if page.cached or page.stale else _now(),
        "warnings": list(page.warnings),
    }
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in facts.items() if value)
    return "\n".join(("---", *lines, "---", "", page.content.strip(), ""))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def url_digest(url: str) -> bytes:
    """Return what stands for an address in memory: a short hash."""
    return hashlib.sha256(url.encode("utf-8", "replace")).digest()[:16]


def _file_name(url: str) -> str:
    """Return the path of a page's file: its host, and a name that no other URL has."""
    host, _, path = url.partition("://")[2].partition("/")
    name = _UNSAFE_CHARACTERS.sub("-", path[: 4 * _MAX_NAME_CHARS]).strip("-.")[:_MAX_NAME_CHARS]
    folder = _UNSAFE_CHARACTERS.sub("-", host[:_MAX_NAME_CHARS]).strip("-.") or "-"
    return f"{folder}/{name or 'index'}-{url_digest(url).hex()[:10]}.md"
