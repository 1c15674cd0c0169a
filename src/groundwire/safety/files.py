"""Local files: which of them a call may read, and reading one without being led elsewhere.

A `pathlib.Path` is a file that a person or a program named: any file may be read so. The text of a `file:` URL may come
from a model or from a page, so it is read only below folders that the user allows. No JSON is ever a `Path`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes
from urllib.request import url2pathname

from groundwire.errors import (
    InvalidRequest,
    PageNotFound,
    PageRefused,
    PageTooLarge,
    PermissionDenied,
    UnsupportedContent,
)

MOST_ENTRIES: Final = 50_000
"""Entries of a folder, with those of its subfolders, above which it is refused: a user's whole disk is no library."""
_PRIVATE: Final = (
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.kdbx"),
    *("*.keystore", "*.env", "credentials", "credentials.*", "secret.*", "secrets.*", "client_secret*", "htpasswd"),
    *("*.kdb", "*.ovpn", "*.keychain", "*.tfvars", "*.rdp", "kubeconfig*"),  # as scanners of repositories know them
    *("service-account*", "service_account*", "*.tfstate", "wallet.dat", "authorized_keys", "known_hosts", "*_history"),
)
"""Names of files that hold secrets, in lower case; what begins with a dot is hidden anyway."""
HOW_TO_ALLOW: Final = (
    "The operator can allow folders: with the setting policy.files, or for a key of the gateway with "
    "`groundwire keys create NAME --files FOLDER`."
)
_HEAD: Final = 4_096  # bytes by which the kind of a file is recognized
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0)
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
"""Opening a pipe must not wait for a writer."""


def is_file_url(text: object) -> bool:
    """Return whether a text is meant as the URL of a local file."""
    return isinstance(text, str) and text[:5].lower() == "file:"


def path_of(url: str) -> Path:
    """Return the path that a `file:` URL names; a fragment, such as a page, is left out.

    Raises:
        InvalidRequest: it names no whole path on this machine.
    """
    path_text = url[5:].partition("#")[0]
    if path_text.startswith("//"):
        host, slash, path_text = path_text[2:].partition("/")
        path_text = slash + path_text if host.lower() in {"", "localhost"} else ""
    try:
        text = url2pathname(path_text) if os.name == "nt" else os.fsdecode(unquote_to_bytes(path_text))
    except (OSError, ValueError):
        text = ""
    path = Path(text)
    if not text or "\0" in text or not path.is_absolute() or text.startswith(("//", "\\\\")):
        raise InvalidRequest("url", "names no file on this machine", "Write file:/// and the whole path of the file.")
    return path


def is_private(name: str) -> bool:
    """Return whether the name of a file or folder is one of hidden files or of secrets."""
    low = name.lower()
    return name.startswith(".") or any(fnmatchcase(low, pattern) for pattern in _PRIVATE)


class LocalFile(NamedTuple):
    """A local file that a call wants to read."""

    path: Path
    """The file."""
    folders: tuple[str, ...] | None
    """The folders in which it must be; None for a file that a person or a program named."""

    @classmethod
    def of(cls, url: str | Path, folders: tuple[str, ...]) -> LocalFile:
        """Return the file that a caller means.

        Args:
            url: A path, which the caller names, or a `file:` URL, which may come from anywhere.
            folders: The folders in which those of URLs must be.

        Raises:
            InvalidRequest: it names no file.
        """
        if not isinstance(url, Path):
            return cls(path_of(url), folders)
        try:
            return cls(Path(os.path.realpath(url.expanduser())), None)
        except (RuntimeError, ValueError) as error:  # there is no such user; a NUL
            raise InvalidRequest("url", f"names no file: {error}", "Pass the path of a file.") from None

    @property
    def url(self) -> str:
        """The `file:` URL of the file."""
        return self.path.as_uri()

    def read(self, inspect: Callable[[bytes], int]) -> tuple[bytes, datetime]:
        """Return the content of the file, and when it was last changed.

        Args:
            inspect: Takes its first bytes and returns how many bytes it may have; its exceptions pass.

        Raises:
            PermissionDenied: the file may not be read. PageError: it cannot be read.
        """
        with self._open() as descriptor:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                fix = 'Search its files with `groundwire search --in FOLDER "question"`, or name one of them.'
                raise UnsupportedContent(self.url, f"{self.path} is a folder. {fix}")
            if not stat.S_ISREG(status.st_mode):
                raise UnsupportedContent(self.url, f"{self.path} is a device or a pipe, not a file.")
            with open(descriptor, "rb", closefd=False) as file:
                head = file.read(_HEAD)
                most = inspect(head)
                body = head + file.read(max(0, most + 1 - len(head))) if status.st_size <= most else b""
        if status.st_size > most or len(body) > most:
            raise PageTooLarge(self.url, f"The file has more than {most:,} bytes, the most that is read of this kind.")
        return body, _moment(status.st_mtime)

    @contextmanager
    def _open(self) -> Iterator[int]:
        """Open the file, and close it at the end."""
        try:
            descriptor = os.open(self.path, _FLAGS) if self.folders is None else _open_below(*self._place())
            try:
                yield descriptor
            finally:
                os.close(descriptor)
        except (FileNotFoundError, NotADirectoryError):
            raise PageNotFound(self.url, f"There is no file {self.path}. Check its path.") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise PageRefused(self.url, f"The file {self.path} cannot be read: {why}.") from error

    def _place(self) -> tuple[Path, tuple[str, ...]]:
        """Return the allowed folder that really has the file, and the names from there to it.

        Nothing is looked up of a path that does not begin with an allowed folder: the answer tells nothing about it.

        Raises:
            PermissionDenied: it is in none of them, or hidden.
        """
        if not self.folders:
            raise PermissionDenied(f"Local files are not opened here: no folder is allowed. {HOW_TO_ALLOW}")
        normalized = Path(os.path.normpath(self.path))
        roots = [(Path(folder), Path(os.path.realpath(folder))) for folder in self.folders]
        if ".." in self.path.parts or not any(normalized.is_relative_to(root) for pair in roots for root in pair):
            raise PermissionDenied(f"The file is in none of the folders that are allowed. {HOW_TO_ALLOW}")
        real = Path(os.path.realpath(normalized))
        root = next((real_root for _, real_root in roots if real.is_relative_to(real_root)), None)
        if root is None:
            raise PermissionDenied(f"The file is a link that leaves the folders that are allowed. {HOW_TO_ALLOW}")
        inner = next(normalized.relative_to(base) for pair in roots for base in pair if normalized.is_relative_to(base))
        parts = real.relative_to(root).parts
        if any(map(is_private, (*inner.parts, *parts))):
            raise PermissionDenied(
                "Hidden files, keys and files of passwords are never opened for a model, not even below a folder that "
                "the setting policy.files allows."
            )
        return root, parts


def files_below(folder: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of a folder and its subfolders, each with a stamp of its size and time; links are not followed.

    Hidden files and secrets are left out, and so is what this user may not list.

    Raises:
        InvalidRequest: there is no such folder, or it has too many entries.
    """
    count, waiting = 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if (count := count + 1) > MOST_ENTRIES:
                        raise _bad(folder, f"has more than {MOST_ENTRIES:,} files and folders", "Name one below it.")
                    if is_private(entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        yield Path(entry.path), f"{status.st_size} {status.st_mtime_ns}"
        except OSError as error:
            if not count and not waiting:
                raise _bad(folder, f"cannot be read: {error.strerror}", "Name a folder that exists.") from error


def _bad(folder: str, problem: str, fix: str) -> InvalidRequest:
    return InvalidRequest("policy.files", f"{folder} {problem}", fix)


def _open_below(root: Path, parts: tuple[str, ...]) -> int:
    """Open a file by its names from a folder on, following no link: one may have been put there since."""
    if os.open not in os.supports_dir_fd:  # Windows, where making a link takes a privilege
        descriptor = os.open(root.joinpath(*parts), _FLAGS)
        if os.path.realpath(root.joinpath(*parts)) != str(root.joinpath(*parts)):
            os.close(descriptor)
            raise PermissionDenied(f"The file is a link that leaves the folders that are allowed. {HOW_TO_ALLOW}")
        return descriptor
    descriptor = os.open(root, _FLAGS | _FOLDER)
    for folders_left, name in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
        try:
            below = os.open(name, _FLAGS | _NO_FOLLOW | (_FOLDER if folders_left else 0), dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def _moment(seconds: float) -> datetime:
    """Return a file's time; some file systems have nonsense there."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), 4_102_444_800.0), UTC)
