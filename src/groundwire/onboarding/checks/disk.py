"""Room where files are kept."""

from __future__ import annotations

from pathlib import Path

import platformdirs

from groundwire.onboarding.checks.examination import Examination, Seen
from groundwire.onboarding.checks.faults import Fault
from groundwire.onboarding.checks.report import Finding
from groundwire.settings import Settings
from groundwire.settings.store_url import parse_store_url
from groundwire.storage.archive import default_path

__all__ = ["archive_path", "check_disk", "existing"]

_FULL, _LOW = 20_000_000, 500_000_000  # bytes; the cache may take 256 MB and the archive 500


async def check_disk(examination: Examination) -> Seen:
    """See whether there is room for the cache and the archive."""
    folders = {existing(platformdirs.user_cache_path("groundwire"))}
    settings = examination.settings
    if settings is not None:
        address = parse_store_url(settings.storage.url)
        if address.kind == "sqlite" and address.target:
            folders.add(existing(Path(address.target).parent))
        if settings.archive.enabled:
            folders.add(existing(archive_path(settings).parent))
    findings, seen = [], []
    for folder in sorted(folders):
        free = examination.machine.free_bytes(folder)
        seen.append(f"{free / 1e9:.1f} GB free in {folder}")
        if free < _LOW:
            findings.append(
                Finding(
                    fault=Fault.DISK_FULL if free < _FULL else Fault.DISK_LOW,
                    severity="problem" if free < _FULL else "note",
                    subject=str(folder),
                    what=f"{folder} has {free / 1e6:.0f} MB left.",
                    why="The cache and the archive are kept there; what does not fit is fetched and paid for again.",
                    fix='Make room, or move them: storage.url = "sqlite:////PATH", and archive.path.',
                )
            )
    return "; ".join(seen), findings


def archive_path(settings: Settings) -> Path:
    """Return where the archive is."""
    return Path(settings.archive.path).expanduser() if settings.archive.path else default_path()


def existing(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that is there."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder
