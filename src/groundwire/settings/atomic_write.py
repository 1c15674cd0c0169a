"""Reading a configuration, ours or another program's, and putting a changed one in its place in one go."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from groundwire.errors import ConfigurationError

__all__ = ["read", "replace"]

_MOST = 20_000_000  # bytes; Claude Code keeps its history in the same file


def read(path: Path) -> str:
    """Return the text of a configuration with its line ends; nothing for a file that is not there.

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
    """Write a configuration in one go, and return the copy of what it was, if it was.

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
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # readable by its owner only
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())  # or a power failure leaves an empty file under the name
            if copy is not None:
                shutil.copymode(copy, name)
            Path(name).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise ConfigurationError(f"{target} cannot be written: {error.strerror or error}.") from error
    return copy
