"""Reading of a configuration file, Groundwire's or another program's, and its atomic replacement."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from groundwire.errors import ConfigurationError

__all__ = ["read", "replace", "write"]

_MOST = 20_000_000  # bytes; Claude Code keeps its history in the same file


def read(path: Path) -> str:
    """Return the text of a configuration with its line endings; empty for a missing file.

    Raises:
        ConfigurationError: it cannot be read.
    """
    try:
        if path.stat().st_size > _MOST:
            raise ConfigurationError(f"{path} is too large to be a configuration.")
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}. Nothing was changed.") from error


def replace(path: Path, text: str, now: datetime) -> Path | None:
    """Write a configuration atomically, and return the backup of the previous one, if any.

    A link is followed, so that a configuration that is kept elsewhere stays there.

    Args:
        path: The configuration.
        text: What it is to be.
        now: The moment, for the copy's name.

    Raises:
        ConfigurationError: it cannot be written.
    """
    target = path.resolve()
    copy: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            copy = target.with_name(f"{target.name}.{now:%Y%m%d-%H%M%S}.bak")
            shutil.copy2(target, copy)
        write(target, text, like=copy)
    except OSError as error:
        fix = f"Check that this user may write to {target.parent}, and that its disk is not full."
        raise ConfigurationError(f"{target} cannot be written: {error.strerror or error}. {fix}") from error
    return copy


def write(path: Path, text: str, *, like: Path | None = None) -> None:
    """Replace a file atomically, even on a power failure.

    Args:
        path: The file; its folder exists.
        text: What it is to hold.
        like: A file with the permissions that it gets; by default only its owner may read it.

    Raises:
        OSError: it cannot be written; the file is unchanged.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())  # otherwise a power failure leaves an empty file under the name
        if like is not None:
            shutil.copymode(like, name)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
