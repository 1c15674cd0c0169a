"""A keyring that waits for its user's password and never responds."""

from __future__ import annotations

import threading
from typing import ClassVar

from keyring.backend import KeyringBackend


class StuckKeyring(KeyringBackend):
    """Waits until the process ends."""

    priority: ClassVar[float] = 1

    def get_password(self, service: str, username: str) -> str | None:
        """Wait."""
        threading.Event().wait(60)
        return None

    def set_password(self, service: str, username: str, password: str) -> None:
        """Wait."""
        threading.Event().wait(60)

    def delete_password(self, service: str, username: str) -> None:
        """Wait."""
        threading.Event().wait(60)
