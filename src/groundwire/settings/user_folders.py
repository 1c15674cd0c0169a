"""The user's folders, also for a user without a home folder, and files that are locked or replaced atomically."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Literal

from groundwire.errors import ConfigurationError

_LOCK_INTERVAL = 0.001  # seconds between two tries to get a lock, on Windows
_MOST = 20_000_000  # bytes; Claude Code keeps its history in the same file


def os_reason(error: OSError, path: Path) -> str:
    """Return why a path cannot be used: a file stands where a folder should be, else what the system says."""
    with suppress(OSError):  # of a folder without access
        nearest = next(folder for folder in path.absolute().parents if folder.exists())
        if not nearest.is_dir():
            return f"{nearest} is a file, not a folder"
    return error.strerror or str(error)


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
        why = os_reason(error, path) if isinstance(error, OSError) else error
        raise ConfigurationError(f"{path} cannot be read: {why}. Nothing was changed.") from error


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
        raise ConfigurationError(f"{target} cannot be written: {os_reason(error, target)}. {fix}") from error
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
    if sys.platform != "win32":  # where a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def lock(file: IO[bytes], *, blocking: bool = True) -> bool:
    """Lock a file among all processes until it is closed.

    Args:
        file: A file that is open for writing.
        blocking: Whether to wait for another process that has it.

    Returns:
        Whether it is locked.

    Raises:
        OSError: its file system has no locks.
    """
    if sys.platform == "win32":
        from filelock import lock_descriptor

        is_locked = lock_descriptor(file.fileno(), blocking=blocking, poll_interval=_LOCK_INTERVAL)
    else:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX if blocking else fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_locked = True
        except BlockingIOError:
            is_locked = False
    return is_locked


_NO_HOME = (
    "there is no home folder: HOME is not set, and the user id is not in the password database. "
    "Set HOME to a folder that this user can write to."
)


def user_folder(kind: Literal["config", "cache"]) -> Path:
    """Return the user's folder for settings or for the cache, following the platform's conventions.

    A container may run under a user id that has no home folder; then it is a folder of that user below the temporary
    one, and `no_home` says so.

    Raises:
        ConfigurationError: there is no home folder, and the temporary one belongs to another user.
    """
    import platformdirs

    try:
        return (
            platformdirs.user_config_path("groundwire")
            if kind == "config"
            else platformdirs.user_cache_path("groundwire")
        )
    except RuntimeError:
        return _without_home() / kind


def no_home() -> str:
    """Return a message for a user whose folders are temporary; empty for others."""
    import platformdirs

    try:
        platformdirs.user_config_path("groundwire"), platformdirs.user_cache_path("groundwire")
    except RuntimeError:
        return f"Settings and cache are in {_without_home()}, because {_NO_HOME}"
    return ""


def _without_home() -> Path:
    """Return a folder of this user in the temporary folder, which other users could have made in advance."""
    user = 0  # that of all files on Windows
    if sys.platform != "win32":
        user = os.getuid()
    try:
        folder = Path(tempfile.gettempdir()) / f"groundwire-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        raise ConfigurationError(f"There is no temporary folder that can be written, and {_NO_HOME}") from None
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != user or status.st_mode & 0o022:
        raise ConfigurationError(f"{folder} belongs to another user, or others may write to it, and {_NO_HOME}")
    return folder


def expand_user(path: str | Path) -> Path:
    """Return a path with `~` replaced by the home folder.

    Raises:
        ConfigurationError: there is no home folder. RuntimeError: it is that of a user who does not exist.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        if not str(path).startswith(("~/", "~\\")):
            raise
        raise ConfigurationError(f"{str(path)!r} cannot be expanded: {_NO_HOME}") from None
