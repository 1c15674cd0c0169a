"""ZIP archives of files: a list of them, and the text of those that can be read."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from groundwire.reading.documents.office_package import GZIP, SafeZip
from groundwire.reading.documents.tabular import to_table
from groundwire.reading.encoding.content_type import media_type
from groundwire.reading.extracted import MAX_CONTENT, Extracted, UnreadableDocument
from groundwire.reading.markdown.escaping import escape_text

_MAX_LISTED: Final = 1_000  # files
_MAX_FILES: Final = 200  # that are read
_MAX_FILE: Final = 20_000_000  # bytes
_MAX_TOTAL: Final = 60_000_000  # bytes that are unpacked
TextOf = Callable[[bytes, str, float], str]
"""Returns the text of a file by its content, address, and time limit in seconds; empty if it has none."""


def read_archive(body: bytes, text_of: TextOf, *, seconds: float) -> Extracted:
    """Return the names and sizes of the files in a ZIP archive, and the text of each in their order.

    Archives in it, pictures and other files without text are only listed. Links of a page in it that lead to other
    files of the archive have no target.

    Args:
        body: The whole file.
        text_of: Reads a file of it.
        seconds: The time limit; the files read by then are returned.

    Raises:
        UnreadableDocument: it is damaged, encrypted, or has too many parts.
    """
    until = time.monotonic() + seconds
    archive = SafeZip(body, "a ZIP archive")
    files = [
        (name, escape_text(" ".join(name.split())), size) for name, size in archive.sizes() if not name.endswith("/")
    ]
    parts, total, count = list[str](), 0, 0
    for name, label, size in files:
        total += size
        if max(sum(map(len, parts)) / MAX_CONTENT, total / _MAX_TOTAL, len(parts) / _MAX_FILES) >= 1:
            break
        if (remaining_seconds := until - time.monotonic()) <= 0:
            break
        count += 1
        if 0 < size <= _MAX_FILE and _is_authored(name) and (text := _text(archive, name, text_of, remaining_seconds)):
            parts.append(f"## {label}\n\n{text}")
    rows = [["File", "Bytes"], *([label, f"{size:,}"] for _, label, size in files[:_MAX_LISTED])]
    content = "\n\n".join([to_table(rows), *parts]) if files else ""
    warnings = []
    if len(files) > _MAX_LISTED:
        warnings.append(f"the archive has {len(files):,} files; the first {_MAX_LISTED:,} are listed")
    if count < len(files):
        warnings.append(f"the first {count:,} of {len(files):,} files were read")
    if unread := count - len(parts):
        warnings.append(f"files without text, only listed: {unread}")
    return Extracted(
        content=content[:MAX_CONTENT],
        kind="listing",
        cut=len(files) > min(_MAX_LISTED, count) or len(content) > MAX_CONTENT,
        warnings=tuple(warnings),
    )


def _text(archive: SafeZip, name: str, text_of: TextOf, seconds: float) -> str:
    """Return the text of a file; empty if it has none."""
    try:
        body = archive.read(name)
    except UnreadableDocument:
        return ""
    address = f"archive:///{quote(name)}"
    if body.startswith(GZIP) or media_type("", body[:4_096], address).kind in {"archive", "binary"}:
        return ""
    return text_of(body, address, seconds).strip()


def _is_authored(name: str) -> bool:
    """Return whether a file is one that its author put there, not one of the operating system's."""
    return not name.startswith("__MACOSX/") and not name.rpartition("/")[2].startswith(".")
