"""Whether this machine has a keyring that can be used now, and if not, why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from groundwire.settings.keyring import SERVICE

__all__ = ["KeyringState", "keyring_state"]

_PROBE = "GROUNDWIRE_PROBE"
"""A name under which nothing is kept; asking for it shows whether the keyring answers."""


@dataclass(frozen=True, slots=True)
class KeyringState:
    """What can be said of the keyring without reading a key."""

    kind: Literal["usable", "not_installed", "absent", "locked", "failing"]
    """Whether it can be used: the package is missing, there is no service behind it, it is locked, or it fails."""
    detail: str = ""
    """Whose keyring it is, or what failed."""

    @property
    def usable(self) -> bool:
        """Whether keys can be kept in it."""
        return self.kind == "usable"


def _is_installed() -> bool:
    return find_spec("keyring") is not None


def keyring_state(installed: Callable[[], bool] = _is_installed) -> KeyringState:
    """Ask the keyring for a key that is not there. A desktop may ask its user for a password meanwhile.

    Args:
        installed: Tells whether the package `keyring` is there.
    """
    if not installed():
        return KeyringState("not_installed", 'pip install "groundwire[keyring]"')
    import keyring
    from keyring.errors import InitError, KeyringError, KeyringLocked, NoKeyringError

    try:
        backend = keyring.get_keyring()
        name = str(getattr(backend, "name", type(backend).__name__))
        keyring.get_password(SERVICE, _PROBE)
    except NoKeyringError:
        return KeyringState("absent", "no service that keeps secrets runs on this machine")
    except KeyringLocked as error:
        return KeyringState("locked", str(error)[:200])
    except InitError as error:
        return KeyringState("absent", str(error)[:200])
    except (KeyringError, OSError, ImportError, RuntimeError) as error:
        return KeyringState("failing", f"{type(error).__name__}: {error}"[:200])
    return KeyringState("usable", name)
