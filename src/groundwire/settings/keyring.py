"""Keys from the operating system's keyring, if the package `keyring` is installed (extra `keyring`)."""

from __future__ import annotations

from importlib.util import find_spec

from pydantic import SecretStr

__all__ = ["SERVICE", "key_from_keyring"]

SERVICE = "groundwire"
"""The name under which keys are kept: `keyring set groundwire BRAVE_API_KEY`."""


def key_from_keyring(variable: str) -> SecretStr | None:
    """Return the key kept under a variable's name, or None: no keyring, a locked one, or no such entry.

    Args:
        variable: The name of the environment variable that would hold the key.
    """
    if find_spec("keyring") is None:
        return None
    import keyring  # takes a quarter of a second, so it waits until a provider asks for a key
    from keyring.errors import KeyringError

    try:
        value = keyring.get_password(SERVICE, variable)
    except (KeyringError, OSError, RuntimeError):  # no desktop, no session bus, locked, a user without a home folder
        return None  # the environment is asked instead
    return SecretStr(value.strip()) if value and value.strip() else None
