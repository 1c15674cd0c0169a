"""The user's folders, also without a home folder; files that are replaced atomically; and the URL of a store."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from groundwire.errors import ConfigurationError

__all__ = ["StoreAddress", "expand_user", "no_home", "parse_store_url", "read", "replace", "user_folder", "write"]

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
        folder = _without_home()
        if folder.exists() and (folder.is_symlink() or folder.stat().st_uid != os.getuid()):
            raise ConfigurationError(f"{folder} belongs to another user, and {_NO_HOME}") from None
        return folder / kind


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
    try:
        folder = Path(tempfile.gettempdir()) / f"groundwire-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        raise ConfigurationError(f"There is no temporary folder that can be written, and {_NO_HOME}") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
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


_FORMS = (
    "memory://, sqlite:// (a file in the user's cache folder), sqlite:///relative/path, sqlite:////absolute/path, "
    "valkey://HOST:PORT/DATABASE or redis://..., with TLS valkeys://... or rediss://..., "
    "a password as valkey://:PASSWORD@HOST"
)
_SERVERS: Final[Mapping[str, str]] = {"valkey": "redis", "redis": "redis", "valkeys": "rediss", "rediss": "rediss"}


class StoreAddress(NamedTuple):
    """A parsed store URL."""

    kind: Literal["memory", "sqlite", "server"]
    """The kind of store."""
    target: str = ""
    """The path of the file, empty for the default in the user's cache folder; or the server's URL, redis or rediss."""


def parse_store_url(url: str) -> StoreAddress:
    """Parse a store's URL.

    Raises:
        ConfigurationError: the URL is invalid; the message lists the supported forms and never repeats a password.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port  # the property validates it
    except ValueError as exc:
        raise _wrong("it cannot be parsed") from exc
    if parts.scheme == "memory":
        _only(parts, empty=("netloc", "path", "query", "fragment"))
        return StoreAddress("memory")
    if parts.scheme == "sqlite":
        return StoreAddress("sqlite", _path(parts))
    if parts.scheme in _SERVERS:
        return StoreAddress("server", _server(parts))
    raise _wrong(f"it begins with {parts.scheme!r}" if parts.scheme else "it has no scheme")


def _path(parts: SplitResult) -> str:
    if parts.netloc or (parts.path and not parts.path.startswith("/")):
        raise _wrong("a path follows three slashes, an absolute one four")
    _only(parts, empty=("query", "fragment"))
    text = unquote(parts.path.removeprefix("/"))
    if not text and not parts.path:
        return ""
    if not text or text.endswith("/") or "\0" in text:
        raise _wrong("the path names no file")
    if text == ":memory:":
        raise _wrong("for memory, write memory://")
    try:
        os.fsencode(text)
        return str(expand_user(text))
    except (UnicodeError, RuntimeError) as exc:  # a name that no file can have, or the home of a user there is not
        raise _wrong("the path names no file") from exc


def _server(parts: SplitResult) -> str:
    scheme = _SERVERS[parts.scheme]
    if not parts.hostname:
        raise _wrong("it has no host")
    _only(parts, empty=("fragment",))
    database = parts.path.strip("/")
    if database and not (database.isascii() and database.isdigit()):
        raise _wrong("the database is a number, such as /0")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if options and (scheme != "rediss" or options.keys() - {"ssl_ca_certs"} or not all(options.values())):
        raise _wrong("the only option is ?ssl_ca_certs=FILE, with TLS")
    return parts._replace(scheme=scheme).geturl()


def _only(parts: SplitResult, *, empty: tuple[str, ...]) -> None:
    for part in empty:
        if getattr(parts, part):
            raise _wrong(f"a {parts.scheme} address has no {'host' if part == 'netloc' else part}")


def _wrong(problem: str) -> ConfigurationError:
    return ConfigurationError(f"The store URL is invalid: {problem}. Forms: {_FORMS}.")
