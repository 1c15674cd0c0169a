"""Key storage: the operating system's keyring, or a file that only this user may read.

Whether this machine has a keyring that can be used now, and if not, why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import SecretStr

from groundwire._version import install_extra
from groundwire.errors import ConfigurationError, InvalidRequest
from groundwire.settings.schema import SERVICE, has_keyring
from groundwire.settings.sources import read_dotenv
from groundwire.settings.user_folders import os_reason, write

_KEY = re.compile(r"[\x21-\x7e]{4,2000}(?:,[\x21-\x7e]{4,2000}){0,50}")
_UNSAFE = re.compile(r"[\"'`\\#$]")  # characters with a special meaning in a dotenv file or a shell
_HEADER = "# Keys for Groundwire, written by `groundwire setup`. Only you should be able to read this file.\n"


class KeyringKeeper:
    """The operating system's keyring. Only for a machine where `keyring_state` reports it as usable."""

    @property
    def place(self) -> str:
        """The name of the keyring."""
        import keyring

        backend = keyring.get_keyring()
        return f"the keyring ({getattr(backend, 'name', type(backend).__name__)})"

    def keep(self, variable: str, value: str) -> None:
        """Store a value under the name of its variable, replacing a previous one.

        Raises:
            ConfigurationError: it cannot be stored.
        """
        import keyring
        from keyring.errors import KeyringError

        try:
            keyring.set_password(SERVICE, variable, value)
        except (KeyringError, OSError) as error:
            why = f"The keyring does not answer ({type(error).__name__}). Unlock it, or set {variable}."
            raise ConfigurationError(why) from None


class FileKeeper:
    """A file of NAME=value lines, readable and writable only by its owner.

    Args:
        path: The file, `groundwire.settings.sources.keys_file()`; its folder is made when it is missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def place(self) -> str:
        """The file's path."""
        return str(self._path)

    def keep(self, variable: str, value: str) -> None:
        """Store a value; see `KeyringKeeper.keep`. Other lines are unchanged."""
        self._write([*self._without(variable), f"{variable}={value}\n"])
        if read_dotenv(self._path, []).get(variable) != value:
            raise ConfigurationError(f"{self._path} does not hold the key that was passed; set {variable} yourself.")

    def _without(self, variable: str) -> list[str]:
        try:
            text = self._path.read_text("utf-8-sig")
        except FileNotFoundError:
            return [_HEADER]
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{self._path} cannot be read: {error}") from None
        start = re.compile(rf"\s*(?:export\s+)?{re.escape(variable)}\s*=")
        return [f"{line}\n" for line in text.removesuffix("\n").split("\n") if not start.match(line)]

    def _write(self, lines: list[str]) -> None:
        target = self._path.resolve()
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write(target, "".join(lines))
        except OSError as error:
            raise ConfigurationError(f"{target} cannot be written: {os_reason(error, target)}") from None


Keeper = KeyringKeeper | FileKeeper
"""Stores keys by the names of their variables."""


def clean_key(text: str) -> SecretStr:
    """Clean a pasted key: strip white space, quotes, the variable's name.

    Several keys of one service are separated by commas.

    Raises:
        InvalidRequest: it is not a key; the message states the reason and repeats no part of it.
    """
    value = text.strip()
    value = re.sub(r"^(?:export\s+)?[A-Z][A-Z0-9_]*=", "", value).strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1].strip()
    value = ",".join(part.strip() for part in value.split(","))
    if not value:
        raise InvalidRequest("key", "is empty", "Paste the key, or omit this provider.")
    if re.search(r"\s", value):
        raise InvalidRequest("key", "contains white space", "Paste only the key, on one line.")
    if _UNSAFE.search(value) or not _KEY.fullmatch(value):
        fix = "Copy the key again from the service's page; it has only letters, digits and characters such as - and _."
        raise InvalidRequest("key", f"does not look like a key ({len(value)} characters)", fix)
    return SecretStr(value)


_KEYRING_PROBLEMS = MappingProxyType(  # each with its fix
    {
        "usable": ("", ""),
        "not_installed": (
            "The keyring package is not installed.",
            f"{install_extra('keyring')}, or let groundwire setup store keys in a file.",
        ),
        "absent": (
            "This machine has no keyring.",
            "Nothing, if keys are in the environment; otherwise let groundwire setup store them in a file.",
        ),
        "locked": (
            "The keyring is locked.",
            "Unlock it (log in to the desktop, or: gnome-keyring-daemon --unlock), or let groundwire setup store keys "
            "in a file.",
        ),
        "failing": ("The keyring does not work.", "Let groundwire setup store keys in a file."),
    }
)
_PROBE = "GROUNDWIRE_PROBE"
"""A name without a value; looking it up shows whether the keyring works."""


@dataclass(frozen=True, slots=True)
class KeyringState:
    """The state of the keyring, determined without reading a key."""

    kind: Literal["usable", "not_installed", "absent", "locked", "failing"]
    """Whether it is usable: the package is missing, there is no backend, it is locked, or it fails."""
    detail: str = ""
    """The name of the keyring, or the failure."""

    @property
    def usable(self) -> bool:
        """Whether keys can be stored in it."""
        return self.kind == "usable"

    @property
    def problem(self) -> str:
        """Why it is not usable, as a sentence."""
        return _KEYRING_PROBLEMS[self.kind][0]

    @property
    def fix(self) -> str:
        """How to fix it; empty if it is usable."""
        return _KEYRING_PROBLEMS[self.kind][1]


def keyring_state() -> KeyringState:
    """Look up a nonexistent key. A desktop may ask its user for a password in the meantime."""
    if find_spec("keyring") is None:
        return KeyringState("not_installed", install_extra("keyring"))
    if not has_keyring():
        return KeyringState("absent", "no desktop session, and no other backend is configured")
    import keyring
    from keyring.backends.null import Keyring as NullKeyring
    from keyring.errors import InitError, KeyringLocked, NoKeyringError

    try:
        backend = keyring.get_keyring()
        if isinstance(backend, NullKeyring):
            return KeyringState("absent", "the one that is configured stores nothing")
        name = str(getattr(backend, "name", type(backend).__name__))
        keyring.get_password(SERVICE, _PROBE)
    except NoKeyringError:
        return KeyringState("absent", "no secret service runs on this machine")
    except KeyringLocked as error:
        return KeyringState("locked", str(error)[:200])
    except InitError as error:
        return KeyringState("absent", str(error)[:200])
    except Exception as error:  # noqa: BLE001 - a backend is third-party code
        return KeyringState("failing", f"{type(error).__name__}: {error}"[:200])
    return KeyringState("usable", name)
